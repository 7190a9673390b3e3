/**
 * Bytes to frames. A frame is what stands in front of an LF; how long one may be is the caller's bound,
 * which may change between two frames. There is no other limit, and no more than twice the bound and one
 * chunk is ever kept.
 */

import { FrameFault } from "./errors.js";

const LF = 0x0a;
const CR = 0x0d;

/** How frames are told apart. */
export interface FrameOptions {
  /** Most bytes of one frame, LF not counted. */
  readonly bound: number;
  /**
   * Canonical framing: a CR in front of the LF, an empty line and bytes without an LF at the end are faults.
   * Otherwise that CR stays in the frame, where it is white space, and blank lines are frames that
   * {@link isBlank} recognizes.
   */
  readonly strict: boolean;
}

const NOTHING = new Uint8Array(0);

/** Cuts a byte stream into frames. Not usable after it has thrown. */
export class FrameReader {
  private readonly strict: boolean;
  private bound: number;
  /** The chunk at hand, of which the bytes in front of `at` are done. */
  private chunk: Uint8Array = NOTHING;
  private at = 0;
  /** The bytes that came before, of a frame whose LF is still to come, in memory that is used again. */
  private head: Uint8Array = NOTHING;
  private headLength = 0;

  constructor(options: FrameOptions) {
    this.bound = options.bound;
    this.strict = options.strict;
  }

  /** Changes the bound for every frame that `next` has not returned yet, bytes that already arrived included. */
  setBound(bound: number): void {
    this.bound = bound;
  }

  /** Takes bytes as they arrive. They are the caller's again as soon as `next` has returned undefined. */
  push(chunk: Uint8Array): void {
    const open = this.chunk.subarray(this.at);
    this.chunk = open.length === 0 ? chunk : join(open, chunk);
    this.at = 0;
  }

  /**
   * Returns the next frame without its LF, or undefined until more bytes arrive. The frame is lent until the reader is
   * used again. Throws FrameFault.
   */
  next(): Uint8Array | undefined {
    const { chunk, at } = this;
    const end = chunk.indexOf(LF, at);
    if (end < 0) {
      this.keep(chunk.length);
      this.chunk = NOTHING;
      this.at = 0;
      this.checkLength(this.headLength);
      return undefined;
    }
    this.checkLength(this.headLength + end - at);
    if (this.headLength === 0) {
      this.at = end + 1;
      return this.check(chunk.subarray(at, end));
    }
    this.keep(end);
    this.at = end + 1;
    const whole = this.head.subarray(0, this.headLength);
    this.headLength = 0;
    return this.check(whole);
  }

  /** Tells the reader that no byte follows. Throws FrameFault if a frame was left open; white space is none unless framing is strict. */
  end(): void {
    this.keep(this.chunk.length);
    if (this.headLength > 0 && (this.strict || !isBlank(this.head.subarray(0, this.headLength)))) {
      throw new FrameFault(`stream ends after ${String(this.headLength)} bytes without a line feed: end every frame with one`);
    }
  }

  /** Copies what the chunk holds in front of a place. */
  private keep(end: number): void {
    const part = this.chunk.subarray(this.at, end);
    const length = this.headLength + part.length;
    if (length > this.head.length) {
      const grown = new Uint8Array(Math.max(length, 2 * this.head.length));
      grown.set(this.head.subarray(0, this.headLength));
      this.head = grown;
    }
    this.head.set(part, this.headLength);
    this.headLength = length;
    this.at = end;
  }

  private checkLength(length: number): void {
    if (length > this.bound) {
      throw new FrameFault(`frame of ${String(length)} or more bytes: the bound in force is ${String(this.bound)}`);
    }
  }

  private check(frame: Uint8Array): Uint8Array {
    if (this.strict && frame.length === 0) {
      throw new FrameFault("empty line: send one value on every line");
    }
    if (this.strict && frame[frame.length - 1] === CR) {
      throw new FrameFault("carriage return in front of the line feed: end frames with a line feed alone");
    }
    return frame;
  }
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

/** Reports whether a frame holds nothing but white space. */
export function isBlank(frame: Uint8Array): boolean {
  return frame.every((byte) => byte === 0x20 || byte === 0x09 || byte === CR);
}

const UTF8 = new TextEncoder();

/** Makes a frame of a text, LF included; undefined where the text has more UTF-8 bytes than the bound. */
export function frame(text: string, bound: number): Uint8Array | undefined {
  const bytes = UTF8.encode(`${text}\n`);
  return bytes.length - 1 > bound ? undefined : bytes;
}
