/** Hosts that break the rules: no frame of theirs crashes, hangs or corrupts a session. */

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import * as canonical from "../src/_generated/canonical-wire.js";
import * as feature from "../src/_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "../src/_generated/json.js";
import { writeJson } from "../src/_generated/json.js";
import { Connection } from "../src/connection.js";
import type { Api } from "../src/extension.js";
import { ExtensionDefinition } from "../src/extension.js";
import { initializeParams } from "../src/testing/host-side.js";
import { contributesOf } from "../src/testing/host-side.js";
import { equip } from "../showcase/showcase.js";

/** A session whose frames and end are kept, and whose sink would notice a throw. */
class Held {
  readonly frames: JsonObject[] = [];
  ended = false;
  private readonly connection: Connection;

  private constructor(private readonly api: Api) {
    const extension = equip(new ExtensionDefinition({ api, uses: "all", runtimeCommands: true }));
    const service = extension.service();
    this.connection = new Connection(service, {
      write: (text) => this.frames.push(JSON.parse(text) as JsonObject) > 0,
      ready: () => Promise.resolve(),
      log: () => undefined,
      end: () => {
        this.ended = true;
      },
    });
    const contributes = contributesOf(service.registry, api);
    this.send({ id: 1, jsonrpc: "2.0", method: "initialize", params: initializeParams(api, [...service.registry.tools.keys()], { contributes, sessionHooks: true }) });
    for (const frame of this.frames.filter((one) => one["method"] === "shortcut/register")) {
      this.send({ id: frame["id"] ?? null, jsonrpc: "2.0", result: {} });
    }
  }

  /** A session that is open: the host has judged its shortcuts. */
  static async open(api: Api): Promise<Held> {
    const held = new Held(api);
    await settled();
    assert.ok(held.frames.some((frame) => frame["id"] === 1 && frame["result"] !== undefined), JSON.stringify(held.frames));
    return held;
  }

  send(message: JsonValue): void {
    this.connection.receive(new TextEncoder().encode(`${writeJson(message, 1000)}\n`));
  }

  end(): void {
    this.connection.end();
    this.connection.abandon("the test ends");
  }

  /** Every request so far has at most one answer. */
  assertSound(): void {
    const answered = this.frames.filter((frame) => frame["method"] === undefined && Number(frame["id"]) >= 100).map((frame) => frame["id"]);
    assert.equal(new Set(answered).size, answered.length, `${this.api}: an id was answered twice`);
  }
}

/** Resolves when everything that waits for nobody has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

const scalar = fc.constantFrom<JsonValue>(null, true, 0, 1, -1, 9007199254740991, "", "a", "c-1", "c-2", "count", "use", "composer.get", "showcase:hello", "s1");
const anything = fc.letrec<{ readonly value: JsonValue }>((tie) => ({
  value: fc.oneof({ maxDepth: 2 }, scalar, fc.array(tie("value"), { maxLength: 3 }), fc.dictionary(fc.constantFrom("id", "text", "service", "with", "name", "hook", "session_id", "revision", "tools"), tie("value"), { maxKeys: 4 })),
})).value;

const OWNER = { session_id: "o1", extension_instance_id: "i1", process_generation: 1 };
const context = fc.constantFrom<JsonObject>(
  { workspace: "/w", execution_scope: null, host: {} },
  { workspace: "/w", execution_scope: null, host: { session_id: "s1" }, resource_owner: OWNER },
);

function hostMethods(api: Api): readonly string[] {
  const rows = api === "0.3" ? canonical.METHODS : feature.METHODS;
  return rows.filter((row) => row.direction !== "extension_to_host" && row.name !== "initialize" && row.name !== "shutdown").map((row) => row.name);
}

/** A message of a host that knows the words and not the grammar. */
function message(api: Api, id: number): fc.Arbitrary<JsonValue> {
  const method = fc.constantFrom(...hostMethods(api), "no/such");
  const params = fc.oneof(
    anything,
    fc.record({ name: fc.constantFrom("use", "child", "later", "wait", "count", "learn", "seen", "fail"), arguments: fc.record({ service: fc.constantFrom("composer.get", "tools.register", "session.create", "nope"), word: scalar, name: fc.constant("a"), message: fc.constant("m") }, { requiredKeys: [] }), context }) as fc.Arbitrary<JsonValue>,
    fc.record({ hook: fc.constantFrom("before_prompt", "session_start", "nope"), payload: anything, context }) as fc.Arbitrary<JsonValue>,
  );
  return fc.oneof(
    fc.record({ id: fc.constant(id), jsonrpc: fc.constant("2.0"), method, params }) as fc.Arbitrary<JsonValue>,
    fc.record({ jsonrpc: fc.constant("2.0"), method, params }) as fc.Arbitrary<JsonValue>,
    fc.record({ id: fc.constantFrom<JsonValue>("c-1", "c-2", "c-3", 7), jsonrpc: fc.constant("2.0"), result: anything }) as fc.Arbitrary<JsonValue>,
    fc.record({ id: fc.constantFrom<JsonValue>("c-1", "c-2"), jsonrpc: fc.constant("2.0"), error: fc.record({ code: fc.constantFrom(-32602, -32800), message: fc.constantFrom("invalid params", "request cancelled", "x") }) }) as fc.Arbitrary<JsonValue>,
    fc.record({ jsonrpc: fc.constant("2.0"), method: fc.constant("$/cancelRequest"), params: fc.record({ id: fc.constantFrom<JsonValue>("c-1", 100, 101, null) }) }) as fc.Arbitrary<JsonValue>,
    anything,
  );
}

for (const api of ["0.1", "0.2", "0.3", "0.4"] as const) {
  test(`${api}: a conversation of nonsense leaves a session that still ends`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.tuple(...Array.from({ length: 12 }, (_, i) => message(api, 100 + i))), async (messages) => {
        const held = await Held.open(api);
        for (const one of messages) {
          held.send(one);
          await Promise.resolve();
        }
        await settled();
        held.assertSound();
        held.end();
        assert.ok(held.ended);
      }),
      { numRuns: 300 },
    );
  });
}

test("0.4: a well-behaved call is served in the middle of nonsense", async () => {
  await fc.assert(
    fc.asyncProperty(fc.tuple(...Array.from({ length: 8 }, (_, i) => message("0.4", 200 + i))), async (messages) => {
      const held = await Held.open("0.4");
      for (const one of messages) {
        held.send(one);
      }
      held.send({ id: 999, jsonrpc: "2.0", method: "tool/call", params: { name: "count", arguments: { word: "ab" }, context: { workspace: "/w", execution_scope: null, host: {} } } });
      await settled();
      const answer = held.frames.find((frame) => frame["id"] === 999);
      assert.match(JSON.stringify(answer), /"2 letters"/u);
      held.end();
    }),
    { numRuns: 200 },
  );
});

test("owners without number cost no more memory than the bound", async () => {
  const held = await Held.open("0.4");
  for (let i = 0; i < 2000; i++) {
    const resource_owner = { ...OWNER, session_id: `s${String(i)}` };
    held.send({ id: i + 10, jsonrpc: "2.0", method: "tool/call", params: { name: "remember", arguments: {}, context: { workspace: "/w", execution_scope: null, host: {}, resource_owner } } });
    await Promise.resolve();
  }
  await settled();
  const ask = async (id: number, session: string): Promise<string> => {
    held.send({ id, jsonrpc: "2.0", method: "tool/call", params: { name: "remember", arguments: {}, context: { workspace: "/w", execution_scope: null, host: {}, resource_owner: { ...OWNER, session_id: session } } } });
    await settled();
    return JSON.stringify(held.frames.find((frame) => frame["id"] === id));
  };
  assert.match(await ask(9001, "s1999"), /"text":"2"/u);
  assert.match(await ask(9002, "s0"), /"text":"1"/u, "the oldest owner was kept");
});
