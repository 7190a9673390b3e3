/** Every vector of spec/vectors, through the testee. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import type { JsonObject, JsonValue } from "../src/_generated/json.js";
import { readJson, writeJson } from "../src/_generated/json.js";
import { answer } from "../src/testee/answer.js";

const FOLDER = new URL("../../../spec/vectors/", import.meta.url);
const DEPTH = 1000;

interface Vector {
  readonly id: string;
  readonly text?: string;
  readonly hex?: string;
  readonly bound?: number;
  readonly model?: string;
  readonly api?: string;
  readonly offer?: JsonValue;
  readonly selection?: JsonValue;
  readonly verdict: string;
  readonly encoded?: string;
  readonly pointer?: string;
  readonly violation?: string;
  readonly error?: string;
}

interface VectorFile {
  readonly wire: string;
  readonly op: string;
  readonly vectors: readonly Vector[];
}

/** Writes out `@@REP:X:N@@`, N copies of X. */
function expand(text: string): string {
  return text.replaceAll(/@@REP:(.*?):([0-9]+)@@/gsu, (_all, copy: string, count: string) => copy.repeat(Number(count)));
}

function bytesOf(vector: Vector): Buffer {
  return vector.hex === undefined ? Buffer.from(expand(vector.text ?? ""), "utf8") : Buffer.from(vector.hex, "hex");
}

function requestOf(file: VectorFile, vector: Vector): string {
  const payload =
    file.op === "frame"
      ? { base64: bytesOf(vector).toString("base64"), bound: vector.bound }
      : file.op === "negotiate"
        ? { api: vector.api, offer: vector.offer, selection: vector.selection }
        : { model: vector.model, text: expand(vector.text ?? "") };
  return writeJson({ seq: 7, op: file.op, wire: file.wire, ...payload }, DEPTH);
}

const WIRES = ["extension-canonical", "extension-feature", "manifest"]; // oup/test runs those of OUP

const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json") && WIRES.includes(load(name).wire));

test("there are vectors for both wires and every operation", () => {
  const seen = new Set(files.map((name) => load(name)).map((file) => `${file.wire} ${file.op}`));
  for (const wire of ["extension-canonical", "extension-feature"]) {
    for (const op of ["envelope", "frame", "model", "negotiate"]) {
      assert.ok(seen.has(`${wire} ${op}`), `no vectors for ${wire} ${op}`);
    }
  }
});

function load(name: string): VectorFile {
  return readJson(readFileSync(new URL(name, FOLDER), "utf8"), { maxDepth: DEPTH }) as unknown as VectorFile;
}

for (const name of files) {
  test(name, async (t) => {
    const file = load(name);
    assert.ok(file.vectors.length > 0);
    for (const vector of file.vectors) {
      await t.test(vector.id, () => {
        const got = readJson(answer(requestOf(file, vector)), { maxDepth: DEPTH }) as JsonObject;
        const want: Record<string, JsonValue> = { seq: 7, verdict: vector.verdict };
        for (const member of ["pointer", "violation", "error"] as const) {
          if (vector[member] !== undefined) {
            want[member] = vector[member];
          }
        }
        if (vector.encoded !== undefined) {
          want["encoded"] = expand(vector.encoded);
        } else if (got["encoded"] !== undefined) {
          want["encoded"] = got["encoded"];
        }
        assert.deepEqual({ ...got }, want);
      });
    }
  });
}
