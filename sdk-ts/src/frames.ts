/**
 * Bytes to frames. A frame is what stands in front of an LF; how long one may be is the caller's bound,
 * which may change between two frames. There is no other limit, and no more than the bound plus one chunk
 * is ever kept.
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

/** Cuts a byte stream into frames. Not usable after it has thrown. */
export class FrameReader {
  private readonly strict: boolean;
  private bound: number;
  private readonly chunks: Uint8Array[] = [];
  /** Chunks in front of this index, and bytes in front of `at` in the chunk under it, hold no LF. */
  private scanned = 0;
  private length = 0;

  constructor(options: FrameOptions) {
    this.bound = options.bound;
    this.strict = options.strict;
  }

  /** Changes the bound for every frame that `next` has not returned yet, bytes that already arrived included. */
  setBound(bound: number): void {
    this.bound = bound;
  }

  /** Takes bytes as they arrive. The reader keeps the chunk until its frames were returned. */
  push(chunk: Uint8Array): void {
    if (chunk.length > 0) {
      this.chunks.push(chunk);
    }
  }

  /**
   * Returns the next frame without its LF, or undefined until more bytes arrive. The frame is the caller's;
   * it may share memory with the chunk it came from. Throws FrameFault.
   */
  next(): Uint8Array | undefined {
    for (;;) {
      const chunk = this.chunks[this.scanned];
      if (chunk === undefined) {
        this.checkLength(this.length);
        return undefined;
      }
      const end = chunk.indexOf(LF);
      if (end < 0) {
        this.scanned++;
        this.length += chunk.length;
        this.checkLength(this.length);
        continue;
      }
      this.checkLength(this.length + end);
      return this.check(this.take(chunk, end));
    }
  }

  /** Tells the reader that no byte follows. Throws FrameFault if a frame was left open; white space is none unless framing is strict. */
  end(): void {
    if (this.length > 0 && (this.strict || !this.chunks.every(isBlank))) {
      throw new FrameFault(`stream ends after ${String(this.length)} bytes without a line feed: end every frame with one`);
    }
  }

  private take(last: Uint8Array, end: number): Uint8Array {
    const head = this.chunks.splice(0, this.scanned + 1).slice(0, -1);
    if (end + 1 < last.length) {
      this.chunks.unshift(last.subarray(end + 1));
    }
    const tail = last.subarray(0, end);
    const length = this.length;
    this.scanned = 0;
    this.length = 0;
    return head.length === 0 ? tail : join(head, tail, length + end);
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

function join(head: readonly Uint8Array[], tail: Uint8Array, length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of head) {
    whole.set(part, at);
    at += part.length;
  }
  whole.set(tail, at);
  return whole;
}

/** Reports whether a frame holds nothing but white space. */
export function isBlank(frame: Uint8Array): boolean {
  return frame.every((byte) => byte === 0x20 || byte === 0x09 || byte === CR);
}

const UTF8 = new TextEncoder();

/**
 * Makes a frame of a text, LF included. Throws a RangeError if the text has more UTF-8 bytes than the bound.
 */
export function frame(text: string, bound: number): Uint8Array {
  const bytes = UTF8.encode(`${text}\n`);
  if (bytes.length - 1 > bound) {
    throw new RangeError(`frame of ${String(bytes.length - 1)} bytes: the bound in force is ${String(bound)}`);
  }
  return bytes;
}
