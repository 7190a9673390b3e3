/** What stands on one line of stdio: a JSON object, bounded, in UTF-8. */

import type { JsonObject } from "./_generated/json.js";
import { decodeUtf8, isObject, JsonSyntaxError, readJson } from "./_generated/json.js";
import { MAX_TEXT_FRAME_BYTES, WIRE } from "./_generated/oup-wire.js";

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** A line is no frame. The next line may be one: reading goes on behind it. */
export class FrameFault extends Error {
  override readonly name = "FrameFault";
}

/** Reads a line with or without its line end; bound is the most bytes before it. Throws FrameFault. */
export function readLine(line: Uint8Array, bound: number = MAX_TEXT_FRAME_BYTES): JsonObject {
  const payload = withoutEnd(line);
  if (payload.length > bound) {
    throw new FrameFault(`a line has more than ${String(bound)} bytes: send less in one frame`);
  }
  if (payload.every((byte) => byte === SPACE || byte === TAB || byte === CR)) {
    throw new FrameFault("a line is blank: send one object a line");
  }
  if (payload.includes(CR) || payload.includes(LF)) {
    throw new FrameFault("a line holds a line break: write it as an escape");
  }
  try {
    const value = readJson(decodeUtf8(payload), { maxDepth: WIRE.maxDepth });
    if (!isObject(value)) {
      throw new FrameFault("a line is no object: send one message a line");
    }
    return value;
  } catch (fault) {
    throw fault instanceof JsonSyntaxError ? new FrameFault(`a line is not strict JSON: ${fault.message}`) : fault;
  }
}

function withoutEnd(line: Uint8Array): Uint8Array {
  let end = line.length;
  if (line[end - 1] === LF) {
    end -= 1;
    if (line[end - 1] === CR) {
      end -= 1;
    }
  }
  return line.subarray(0, end);
}
