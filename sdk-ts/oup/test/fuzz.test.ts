/** Every reader of what a server sends, given bytes that nobody wrote: nothing but the errors they announce. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { JsonSyntaxError, readJson } from "../src/_generated/json.js";
import { MODELS, WIRE } from "../src/_generated/oup-wire.js";
import type { Codec } from "../src/_generated/wire.js";
import { Violation } from "../src/_generated/wire.js";
import { Connection } from "../src/connection.js";
import { classify } from "../src/envelope.js";
import { ProtocolError } from "../src/index.js";
import { Lines } from "../src/node/lines.js";
import { answer } from "../src/testee/answer.js";
import { FakeClock } from "./fake.js";
import { drive, mutated, vectors } from "./mutated.js";

const SEEDS = vectors(new URL("../../../../spec/vectors/", import.meta.url), WIRE.name);
const CODECS: ReadonlyMap<string, Codec<unknown>> = new Map<string, Codec<unknown>>(Object.entries(MODELS));
const FRAMES = [
  ...SEEDS.filter(({ op }) => op !== "model"),
  ...[
    '{"jsonrpc":"2.0","id":"1","result":{}}',
    '{"jsonrpc":"2.0","id":"1","error":{"code":-32160,"message":"no","data":{"kind":"unknown_turn"}}}',
    '{"jsonrpc":"2.0","method":"session/open","params":{"session_id":"local:lab"}}',
  ].map((text) => ({ bytes: Buffer.from(text) })),
];

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

test("lines", async () => {
  await drive("typescript oup lines", mutated(SEEDS), ({ bytes }) => {
    const [size = 0] = bytes;
    const reader = new Lines();
    tried(() => {
      for (let at = 0; at < bytes.length; at += (size % 9) + 1) {
        for (const line of reader.push(bytes.subarray(at, at + (size % 9) + 1))) {
          assert.ok(!line.includes("\n"));
        }
      }
      reader.rest();
    }, ProtocolError);
  });
});

test("envelopes", async () => {
  await drive("typescript oup envelopes", mutated(FRAMES), ({ bytes }) => {
    const value = tried(() => readJson(bytes.toString(), { maxDepth: WIRE.maxDepth }), JsonSyntaxError);
    if (value !== undefined) {
      classify(value);
    }
  });
});

test("models", async () => {
  await drive("typescript oup models", mutated(SEEDS.filter(({ model }) => model !== undefined)), ({ model, bytes }) => {
    const codec = CODECS.get(model ?? "");
    assert.ok(codec !== undefined, `there is no model ${String(model)}`);
    const text = tried(() => codec.encode(codec.decode(bytes.toString())), JsonSyntaxError, Violation);
    if (text !== undefined) {
      assert.equal(codec.encode(codec.decode(text)), text);
    }
  });
});

test("testee", async () => {
  const asked = SEEDS.map(({ bytes, ...seed }) => ({ bytes: Buffer.from(JSON.stringify({ seq: 1, ...seed, text: bytes.toString() })) }));
  await drive("typescript oup testee", mutated(asked), ({ bytes }) => {
    assert.match(answer(bytes.toString()), /"verdict":|"ok":/u);
  });
});

// A request in flight settles once, whatever the server says and however it goes.
test("connections", async () => {
  await drive("typescript oup connections", mutated(FRAMES), async ({ bytes }) => {
    let settled = 0;
    let ends = 0;
    const connection = new Connection(new FakeClock(), {
      notified: (method) => {
        assert.ok(method !== "");
      },
      expects: () => undefined,
      ended: () => {
        ends += 1;
      },
    });
    connection.request({
      method: "config/capabilities/list",
      params: "{}",
      timeoutMs: Infinity,
      settle: () => {
        settled += 1;
      },
    });
    for (const line of bytes.toString().split("\n")) {
      connection.receive(line);
    }
    await connection.close("the test ends");
    assert.deepEqual([settled, ends], [1, 1]);
  });
});
