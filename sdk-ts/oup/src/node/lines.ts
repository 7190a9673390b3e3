/** Lines out of bytes, whatever pieces they come in. */

import { MAX_TEXT_FRAME_BYTES } from "../_generated/oup-wire.js";
import { ProtocolError } from "../errors.js";

const LF = 0x0a;
const CR = 0x0d;

/** Gathers bytes until a line is whole. Holds at most one frame. */
export class Lines {
  private parts: Buffer[] = [];
  private size = 0;

  /** The lines that a piece completes, without their ends. Throws ProtocolError for a line over the bound, and for one that is no UTF-8. */
  *push(chunk: Buffer): Generator<string> {
    let begin = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, begin)) {
      this.keep(chunk.subarray(begin, end));
      begin = end + 1;
      yield this.take();
    }
    this.keep(chunk.subarray(begin));
  }

  /** What stands behind the last line end, as a line of its own; undefined where nothing does. */
  rest(): string | undefined {
    return this.size === 0 ? undefined : this.take();
  }

  private keep(part: Buffer): void {
    this.size += part.length;
    // A carriage return before the line end does not count.
    if (this.size > MAX_TEXT_FRAME_BYTES + 1) {
      throw new ProtocolError(`a line of the server has more than ${String(MAX_TEXT_FRAME_BYTES)} bytes`);
    }
    if (part.length > 0) {
      this.parts.push(part);
    }
  }

  private take(): string {
    const [first] = this.parts;
    const whole = this.parts.length === 1 && first !== undefined ? first : Buffer.concat(this.parts, this.size);
    this.parts = [];
    this.size = 0;
    const line = whole.at(-1) === CR ? whole.subarray(0, -1) : whole;
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(line);
    } catch (fault) {
      throw new ProtocolError("a line of the server is not UTF-8", { cause: fault });
    }
  }
}
