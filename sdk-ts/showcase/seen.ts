/** What the host told and asked since somebody looked. */

import type { JsonValue } from "octet-extension";
import { canonicalJson } from "octet-extension";

export class Seen {
  private notes: JsonValue[] = [];

  note(method: string, params: object): void {
    this.notes.push([method, params as JsonValue]);
  }

  /** Returns the notes as canonical JSON and forgets them. */
  take(): string {
    const text = canonicalJson(this.notes);
    this.notes = [];
    return text;
  }
}
