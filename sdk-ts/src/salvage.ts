/** What can still be told of a line that strict JSON refuses: its envelope, where only something inside it is wrong. */

import type { JsonObject, JsonValue } from "./_generated/json.js";
import { decodeUtf8, JsonSyntaxError, readJson } from "./_generated/json.js";
import { Violation } from "./_generated/wire.js";

/** An envelope, and what is wrong below it. */
export interface Salvage {
  readonly envelope: JsonObject;
  /** Located from the parameters where the fault is in them, otherwise from the line. */
  readonly fault: Violation;
}

/**
 * Reads the envelope around a text with a lone surrogate or a member that is given twice. Undefined for a line that
 * is no JSON object or nested too deep, and for one whose own members or id cannot be told.
 */
export function salvage(bytes: Uint8Array, maxDepth: number): Salvage | undefined {
  let text: string;
  try {
    text = decodeUtf8(bytes);
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return new Walk(text, maxDepth).envelope();
}

/** Finds the first fault of a text whose grammar is right. */
class Walk {
  private at = 0;
  private fault: Violation | undefined;
  private tooDeep = false;
  /** A member of the envelope is given twice, or the id is no text that can be written. */
  private unclear = false;

  constructor(
    private readonly text: string,
    private readonly maxDepth: number,
  ) {}

  envelope(): Salvage | undefined {
    const members = Object.create(null) as Record<string, JsonValue>;
    this.space();
    if (this.text[this.at] !== "{") {
      return undefined;
    }
    this.object("", 0, (name, spelling) => {
      const value = this.lenient(spelling);
      this.unclear ||= name in members || (name === "id" && typeof value === "string" && !value.isWellFormed());
      members[name] = value;
    });
    return this.unclear || this.tooDeep || this.fault === undefined ? undefined : { envelope: members, fault: this.fault };
  }

  private lenient(spelling: string): JsonValue {
    try {
      return readJson(spelling, { maxDepth: this.maxDepth });
    } catch (fault) {
      if (!(fault instanceof JsonSyntaxError)) {
        throw fault;
      }
      return JSON.parse(spelling) as JsonValue;
    }
  }

  private note(pointer: string, reason: string): void {
    this.fault ??= new Violation("value", pointer.replace(/^\/params(?=\/|$)/u, "").toWellFormed(), "invalid_params", reason);
  }

  private value(pointer: string, level: number): void {
    if (level > this.maxDepth || this.tooDeep) {
      this.tooDeep = true;
      return;
    }
    switch (this.text[this.at]) {
      case "{":
        this.object(pointer, level);
        return;
      case "[":
        this.array(pointer, level);
        return;
      case '"':
        this.wellFormed(this.string(), pointer);
        return;
      default:
        while (/[-+.\w]/u.test(this.text[this.at] ?? "")) {
          this.at++;
        }
    }
  }

  private object(pointer: string, level: number, took?: (name: string, spelling: string) => void): void {
    const names = new Set<string>();
    this.at++;
    while (this.more("}")) {
      const name = this.string();
      const place = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      if (names.has(name)) {
        this.note(place, "is given twice");
      }
      names.add(name);
      this.wellFormed(name, place);
      this.space();
      this.at++;
      this.space();
      const start = this.at;
      this.value(place, level + 1);
      if (!this.tooDeep) {
        took?.(name, this.text.slice(start, this.at));
      }
    }
  }

  private array(pointer: string, level: number): void {
    this.at++;
    for (let i = 0; this.more("]"); i++) {
      this.value(`${pointer}/${String(i)}`, level + 1);
    }
  }

  /** Moves to the next element or behind the end. */
  private more(end: string): boolean {
    if (this.tooDeep) {
      return false;
    }
    this.space();
    if (this.text[this.at] === ",") {
      this.at++;
      this.space();
    }
    if (this.text[this.at] !== end) {
      return true;
    }
    this.at++;
    return false;
  }

  private wellFormed(text: string, pointer: string): void {
    if (!text.isWellFormed()) {
      this.note(pointer, "has a lone surrogate");
    }
  }

  private string(): string {
    const start = this.at++;
    while (this.text[this.at] !== '"') {
      this.at += this.text[this.at] === "\\" ? 2 : 1;
    }
    this.at++;
    return JSON.parse(this.text.slice(start, this.at)) as string;
  }

  private space(): void {
    while (/[ \n\r\t]/u.test(this.text[this.at] ?? "")) {
      this.at++;
    }
  }
}
