/** Whole conversations from random messages in random pieces: nothing a host sends breaks an extension. */

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { JsonObject, JsonValue } from "../src/_generated/json.js";
import { writeJson } from "../src/_generated/json.js";
import type { Api } from "../src/extension.js";
import { ErrorAnswer, TestHost } from "../src/testing.js";
import { callRequest, fixture, initializeRequest } from "./session.js";

const ids = fc.constantFrom<JsonValue>(1, 2, "1", "x", 0, null, -1, "", true);

const message: fc.Arbitrary<JsonObject> = fc.oneof(
  ids.map((id) => ({ ...callRequest(1, "echo", { text: "t" }), id })),
  ids.map((id) => ({ ...callRequest(1, "wait"), id })),
  ids.map((id) => ({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id } })),
  fc.tuple(ids, fc.constantFrom("no/such", "initialize", "hook/run", "__proto__", "")).map(([id, method]) => ({ id, jsonrpc: "2.0", method, params: {} })),
  fc.tuple(ids, fc.jsonValue({ maxDepth: 1 })).map(([id, result]) => ({ id, jsonrpc: "2.0", result: result as JsonValue })),
  fc.dictionary(fc.constantFrom("id", "jsonrpc", "method", "params", "result", "error", "other"), fc.jsonValue({ maxDepth: 1 })) as fc.Arbitrary<JsonObject>,
);

const line = fc.oneof(
  { weight: 8, arbitrary: message.map((one) => writeJson(one, 100)) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 20 }).map((text) => text.replaceAll("\n", "")) },
);

for (const api of ["0.1", "0.2", "0.3", "0.4"] as const satisfies readonly Api[]) {
  test(`${api}: every id is answered at most once, in frames a host accepts, however the bytes arrive`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.array(line, { maxLength: 12 }), fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), async (early, lines, sizes) => {
        const { extension, release } = fixture(api);
        const host = TestHost.connect(extension);
        const all = [...(early ? [] : [writeJson(initializeRequest(api), 100)]), ...lines];
        const bytes = Buffer.from(all.map((one) => `${one}\n`).join(""));
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = sizes[i % sizes.length] ?? 1;
          host.sendBytes(bytes.subarray(at, at + size));
          at += size;
        }
        release();
        const status = await host.close();
        assert.ok(status === 0 || status === 1);
        // A broken frame of the extension would be the reason here, in place of the end of the session.
        await assert.rejects(host.request("shutdown", {}), (fault) => !(fault instanceof ErrorAnswer) && fault instanceof Error && fault.message.startsWith("the session ended"));
        const asked = (id: JsonValue | undefined): number => all.filter((one) => one.includes(`"id":${JSON.stringify(id)}`)).length;
        for (const frame of host.frames) {
          const same = host.frames.filter((other) => JSON.stringify(other["id"]) === JSON.stringify(frame["id"])).length;
          assert.ok(frame["id"] === null || same <= asked(frame["id"]), JSON.stringify(frame));
        }
      }),
      { numRuns: 150 },
    );
  });
}
