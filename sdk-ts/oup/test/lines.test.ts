/** Lines of a process, whatever pieces they come in. */

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { MAX_TEXT_FRAME_BYTES, ProtocolError } from "../src/index.js";
import { Lines } from "../src/node/lines.js";

test("any cut of the bytes gives the same lines", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" }).map((text) => text.replace(/[\n\r]/gu, ""))), fc.array(fc.nat(40)), fc.boolean(), (lines, cuts, carriage) => {
      const bytes = Buffer.from(lines.map((line) => `${line}${carriage ? "\r" : ""}\n`).join(""));
      const reader = new Lines();
      const got: string[] = [];
      let at = 0;
      for (const cut of [...cuts, bytes.length]) {
        got.push(...reader.push(bytes.subarray(at, at + cut)));
        at = Math.min(bytes.length, at + cut);
      }
      assert.deepEqual(got, lines.map((line) => line.toWellFormed()));
      assert.equal(reader.rest(), undefined);
    }),
  );
});

test("one byte at a time, and an end without a line end", () => {
  const reader = new Lines();
  const got: string[] = [];
  for (const byte of Buffer.from('{"a":"é"}\r\n\nrest')) {
    got.push(...reader.push(Buffer.from([byte])));
  }
  assert.deepEqual(got, ['{"a":"é"}', ""]);
  assert.equal(reader.rest(), "rest");
});

test("a line of the greatest size is one, and one byte more is none", () => {
  const greatest = Buffer.alloc(MAX_TEXT_FRAME_BYTES, "x");
  assert.equal([...new Lines().push(Buffer.concat([greatest, Buffer.from("\r\n")]))][0]?.length, MAX_TEXT_FRAME_BYTES);
  assert.throws(() => [...new Lines().push(Buffer.concat([greatest, Buffer.from("xx\n")]))], ProtocolError);
  const endless = new Lines();
  assert.throws(() => {
    for (;;) {
      assert.deepEqual([...endless.push(greatest)], []);
    }
  }, ProtocolError);
});

test("bytes that are no UTF-8 are no line", () => {
  assert.throws(() => [...new Lines().push(Buffer.from([0xff, 0x0a]))], ProtocolError);
});
