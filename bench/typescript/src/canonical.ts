/** How fast a frame is checked to be canonical: ours, and the public ways, which write it again and compare. */

import canonicalize from "canonicalize";

import { check } from "../../../sdk-ts/dist/src/canonical.js";

/** The frames, by the words of the report. */
export const SIZES: ReadonlyMap<string, number> = new Map([
  ["64 B", 64],
  ["1 KiB", 1 << 10],
  ["16 KiB", 16 << 10],
  ["256 KiB", 256 << 10],
  ["1 MiB", 1 << 20],
]);
const ROUNDS = 5;
/** The part of the time of a case that is not counted. */
const WARM_UP = 0.25;

type Check = (frame: Buffer) => boolean;

/** The checks, ours first. */
export const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["octet-extension", ours],
  ["JSON.stringify", (frame) => stringified(JSON.parse(frame.toString())) === frame.toString()],
  ["canonicalize", (frame) => canonicalize(JSON.parse(frame.toString())) === frame.toString()],
]);

function ours(frame: Buffer): boolean {
  check(frame);
  return true;
}

/** The shortest thing that people write: members sorted by a replacer. */
function stringified(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) {
      return member;
    }
    const members = member as Record<string, unknown>;
    return Object.fromEntries(Object.keys(members).sort().map((name) => [name, members[name]]));
  });
}

/** Returns a canonical frame of so many bytes: rows of numbers and text, like the argument of a tool. */
export function frame(size: number): Buffer {
  const head = '{"rows":[';
  const tail = "]}";
  const rows: string[] = [];
  for (let room = size - head.length - tail.length; room > 0; ) {
    const row = `{"line":${String(rows.length)},"ok":true,"text":"a \\"line\\" of tøxt"}`;
    const taken = Buffer.byteLength(row) + 1;
    if (room - taken < 16) {
      rows.push(`{"t":"${"x".repeat(room - 8)}"}`);
      break;
    }
    rows.push(row);
    room -= taken;
  }
  return Buffer.from(head + rows.join(",") + tail);
}

/** Returns megabytes a second, the median of some rounds, and how many frames were checked in them. */
export function throughput(accepts: Check, size: number, seconds: number): { readonly value: number; readonly count: number } {
  const sent = frame(size);
  if (sent.length !== size || !accepts(sent)) {
    throw new Error(`the frame of ${String(size)} bytes is not accepted`);
  }
  if (!refuses(accepts, Buffer.concat([sent.subarray(0, -1), Buffer.from(" }")]))) {
    throw new Error("a frame that is not canonical is accepted");
  }
  let count = 0;
  for (const end = performance.now() + WARM_UP * seconds * 1000; performance.now() < end; count++) {
    accepts(sent);
  }
  const repeat = Math.max(1, Math.round(((count / WARM_UP) * (1 - WARM_UP)) / ROUNDS));
  const took = Array.from({ length: ROUNDS }, () => {
    const began = performance.now();
    for (let i = 0; i < repeat; i++) {
      accepts(sent);
    }
    return performance.now() - began;
  }).sort((a, b) => a - b);
  return { value: (repeat * size) / (took[ROUNDS >> 1] ?? Number.NaN) / 1000, count: repeat * ROUNDS };
}

function refuses(accepts: Check, sent: Buffer): boolean {
  try {
    return !accepts(sent);
  } catch {
    return true;
  }
}
