/** Every reader of what a host sends, given bytes that nobody wrote: nothing but the errors they announce. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as canonical from "../src/_generated/canonical-wire.js";
import * as feature from "../src/_generated/feature-wire.js";
import type { JsonValue } from "../src/_generated/json.js";
import { decodeUtf8, JsonSyntaxError, readJson, writeJson } from "../src/_generated/json.js";
import * as manifest from "../src/_generated/manifest-doc.js";
import type { Codec } from "../src/_generated/wire.js";
import { Violation } from "../src/_generated/wire.js";
import { decode, encode } from "../src/canonical.js";
import { Connection } from "../src/connection.js";
import { classify } from "../src/envelope.js";
import { FrameFault } from "../src/errors.js";
import type { Api } from "../src/extension.js";
import { ExtensionDefinition } from "../src/extension.js";
import { FrameReader } from "../src/frames.js";
import { answer } from "../src/testee/answer.js";
import { contributesOf, initializeParams } from "../src/testing/host-side.js";
import { equip } from "../showcase/showcase.js";
import { drive, mutated, vectors } from "./mutated.js";

const SEEDS = vectors(new URL("../../../spec/vectors/", import.meta.url), canonical.WIRE.name, feature.WIRE.name, manifest.WIRE.name);
const FRAMES = SEEDS.filter(({ op }) => op !== "model");
const CODECS: ReadonlyMap<string, ReadonlyMap<string, Codec<unknown>>> = new Map(
  [canonical, feature, manifest].map((wire) => [wire.WIRE.name, new Map<string, Codec<unknown>>(Object.entries(wire.MODELS))]),
);
const DEPTH = 128;

/** What a reader makes of something, or undefined for an error of a kind that it announces. */
function tried<T>(read: () => T, ...kinds: readonly (new (...args: never[]) => Error)[]): T | undefined {
  try {
    return read();
  } catch (fault) {
    if (kinds.some((kind) => fault instanceof kind)) {
      return undefined;
    }
    throw fault;
  }
}

function parsed(bytes: Uint8Array): JsonValue | undefined {
  return tried(() => readJson(decodeUtf8(bytes), { maxDepth: DEPTH }), JsonSyntaxError);
}

test("json", async () => {
  await drive("typescript json", mutated(SEEDS), ({ bytes }) => {
    const value = parsed(bytes);
    if (value !== undefined) {
      const text = writeJson(value, DEPTH);
      assert.equal(writeJson(readJson(text, { maxDepth: DEPTH }), DEPTH), text);
    }
  });
});

test("canonical", async () => {
  await drive("typescript canonical", mutated(SEEDS), ({ bytes }) => {
    const value = tried(() => decode(bytes), JsonSyntaxError);
    if (value !== undefined) {
      assert.deepEqual(Buffer.from(encode(value)), bytes);
    }
  });
});

test("frames", async () => {
  await drive("typescript frames", mutated(SEEDS), ({ bytes }) => {
    const [size = 0, bound = 0] = bytes;
    const lines = bytes.toString("latin1").split("\n");
    for (const strict of [false, true]) {
      const reader = new FrameReader({ bound, strict });
      const got: Uint8Array[] = [];
      tried(() => {
        for (let at = 0; at < bytes.length; at += (size % 9) + 1) {
          reader.push(bytes.subarray(at, at + (size % 9) + 1));
          for (let frame = reader.next(); frame !== undefined; frame = reader.next()) {
            got.push(Uint8Array.from(frame));
          }
        }
        reader.end();
      }, FrameFault);
      for (const frame of got) {
        assert.ok(frame.length <= bound && lines.includes(Buffer.from(frame).toString("latin1")));
      }
    }
  });
});

test("models", async () => {
  await drive("typescript models", mutated(SEEDS.filter(({ model }) => model !== undefined)), ({ wire, model, bytes }) => {
    const codec = CODECS.get(wire)?.get(model ?? "");
    assert.ok(codec !== undefined, `${wire} has no model ${String(model)}`);
    const text = tried(() => codec.encode(codec.decode(bytes.toString())), JsonSyntaxError, Violation);
    if (text !== undefined) {
      assert.equal(codec.encode(codec.decode(text)), text);
    }
  });
});

test("envelopes", async () => {
  await drive("typescript envelopes", mutated(FRAMES), ({ bytes }) => {
    const value = parsed(bytes);
    for (const wire of ["extension-canonical", "extension-feature"] as const) {
      if (value !== undefined) {
        assert.match(classify(wire, value).kind, /^(request|notification|result|error|invalid)$/u);
      }
    }
  });
});

test("testee", async () => {
  const asked = SEEDS.map(({ bytes, ...seed }) => ({ bytes: Buffer.from(JSON.stringify({ seq: 1, ...seed, text: bytes.toString() })) }));
  await drive("typescript testee", mutated(asked), ({ bytes }) => {
    assert.match(answer(bytes.toString()), /"verdict":|"ok":/u);
  });
});

/** Feeds an open session, in two pieces. Whatever it says is lines of JSON. */
async function session(api: Api, bytes: Buffer): Promise<void> {
  const service = equip(new ExtensionDefinition({ api, uses: "all", runtimeCommands: true })).service();
  const said: string[] = [];
  const connection = new Connection(service, {
    write: (text) => said.push(text) > 0,
    ready: () => Promise.resolve(),
    log: () => undefined,
    end: () => undefined,
  });
  const params = initializeParams(api, [...service.registry.tools.keys()], { contributes: contributesOf(service.registry, api), sessionHooks: true });
  connection.receive(Buffer.from(`${writeJson({ id: 1, jsonrpc: "2.0", method: "initialize", params }, 1000)}\n`));
  const half = bytes.length >> 1;
  connection.receive(bytes.subarray(0, half));
  await new Promise(setImmediate);
  connection.receive(bytes.subarray(half));
  await new Promise(setImmediate);
  connection.end();
  connection.abandon("the test ends");
  assert.ok(said.length > 0);
  for (const line of said) {
    assert.match(line, /^\{.*\}$/u);
    JSON.parse(line);
  }
}

for (const api of ["0.2", "0.3", "0.4"] as const) {
  test(`session ${api}`, async () => {
    await drive(`typescript session-${api}`, mutated(FRAMES), ({ bytes }) => session(api, bytes));
  });
}
