import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { FrameFault } from "../src/errors.js";
import { frame, FrameReader, isBlank } from "../src/frames.js";

function drain(reader: FrameReader): string[] {
  const frames: string[] = [];
  for (let one = reader.next(); one !== undefined; one = reader.next()) {
    frames.push(Buffer.from(one).toString("latin1"));
  }
  return frames;
}

test("frames do not depend on how their bytes arrive", () => {
  const line = fc.string({ unit: fc.constantFrom("a", "\r", " ", "é"), minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (lines, sizes) => {
      const bytes = Buffer.from(lines.map((one) => `${one}\n`).join(""));
      const reader = new FrameReader({ bound: 100, strict: false });
      const got: string[] = [];
      const lent = Buffer.alloc(9);
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const size = sizes[i % sizes.length] ?? 1;
        reader.push(lent.subarray(0, bytes.copy(lent, 0, at, at + size)));
        at += size;
        got.push(...drain(reader));
        lent.fill("!");
      }
      reader.end();
      assert.deepEqual(got, lines.map((one) => Buffer.from(one).toString("latin1")));
    }),
  );
});

test("chunks that are pushed before the last one is read up stay in order", () => {
  const reader = new FrameReader({ bound: 100, strict: true });
  reader.push(Buffer.from("one\ntwo\nth"));
  assert.equal(reader.next()?.length, 3);
  reader.push(Buffer.from("ree\nfour\n"));
  assert.deepEqual(drain(reader), ["two", "three", "four"]);
});

test("a frame at the bound passes, one byte more does not, with or without its line feed", () => {
  const at = new FrameReader({ bound: 4, strict: true });
  at.push(Buffer.from("1234\n"));
  assert.deepEqual(drain(at), ["1234"]);
  for (const text of ["12345\n", "12345"]) {
    const over = new FrameReader({ bound: 4, strict: true });
    over.push(Buffer.from(text));
    assert.throws(() => over.next(), FrameFault);
  }
});

test("a frame that never ends is refused as soon as it passes the bound", () => {
  const reader = new FrameReader({ bound: 10, strict: false });
  reader.push(Buffer.from("123456"));
  assert.equal(reader.next(), undefined);
  reader.push(Buffer.from("78901"));
  assert.throws(() => reader.next(), FrameFault);
});

test("a new bound holds for bytes that already arrived", () => {
  const reader = new FrameReader({ bound: 100, strict: true });
  reader.push(Buffer.from("first\nsecond, longer\n"));
  assert.equal(reader.next()?.length, 5);
  reader.setBound(6);
  assert.throws(() => reader.next(), FrameFault);
});

test("strict framing refuses empty lines, carriage returns and an open end", () => {
  for (const text of ["\n", "1\r\n", "\r\n"]) {
    const reader = new FrameReader({ bound: 100, strict: true });
    reader.push(Buffer.from(text));
    assert.throws(() => reader.next(), FrameFault, JSON.stringify(text));
  }
  const open = new FrameReader({ bound: 100, strict: true });
  open.push(Buffer.from("{}"));
  assert.equal(open.next(), undefined);
  assert.throws(() => {
    open.end();
  }, FrameFault);
});

test("blank lines are recognized", () => {
  assert.deepEqual(["", " \t\r", "{}", "\f"].map((text) => isBlank(Buffer.from(text))), [true, true, false, false]);
});

test("a frame counts its UTF-8 bytes without the line feed", () => {
  assert.equal(Buffer.from(frame("éé", 4) ?? []).toString(), "éé\n");
  assert.equal(frame("éé", 3), undefined);
});
