/** The results that most tools give: one text and nothing else. */

import { writeJson } from "./_generated/json.js";
import type { Codec } from "./_generated/wire.js";
import { encodeLocal } from "./local.js";
import type { Outcome } from "./reply.js";

/**
 * Encodes results of one text. The model judges and spells one with an empty text, once; what stands around the text
 * is the same for every other, as long as the model takes any text.
 */
export class TextResult<T> {
  /** Name of the model. */
  readonly model: string;
  private readonly before: string;
  private readonly behind: string;

  constructor(codec: Codec<T>, empty: T) {
    const spelled = codec.encode(empty);
    const at = spelled.indexOf(EMPTY_TEXT);
    this.model = codec.model;
    this.before = spelled.slice(0, at);
    this.behind = spelled.slice(at + EMPTY_TEXT.length);
  }

  /** Encodes an outcome that is one text; undefined for any other. Throws NoJson for a text that cannot be written. */
  of({ texts, media, isError, metadata, structured }: Outcome): string | undefined {
    const [text] = texts;
    const alone = texts.length === 1 && media.length === 0 && !isError && metadata === undefined && structured === undefined;
    return alone && text !== undefined ? encodeLocal(this, text) : undefined;
  }

  encode(text: string): string {
    return this.before + writeJson(text, 0) + this.behind;
  }
}

const EMPTY_TEXT = '""';
