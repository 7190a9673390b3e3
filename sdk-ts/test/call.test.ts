/** What a handler can do with its call on API 0.4. */

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { ProgressEvent } from "../src/_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "../src/_generated/json.js";
import { pieces } from "../src/running.js";
import { CancelledError, LocalProtocolError, NotNegotiated, ToolError } from "../src/errors.js";
import { ExtensionDefinition } from "../src/extension.js";
import { s } from "../src/schema.js";
import { ErrorAnswer, TestHost } from "../src/testing.js";
import type { ToolCall } from "../src/scope.js";
import { deferred } from "./session.js";

/** An extension with one tool. */
function one(run: (call: ToolCall) => string | Promise<string>): ExtensionDefinition {
  return new ExtensionDefinition().tool("one", { description: "Runs the test." }, (call) => run(call));
}

test("progress carries its numbers and grows its sequence from 1", async () => {
  const host = await TestHost.start(
    one(async (call) => {
      await call.progress("first");
      await call.progress("second", { current: 1, total: 2, unit: "files" });
      return "done";
    }),
  );
  const events: ProgressEvent[] = [];
  await host.call("one", {}, { onProgress: (event) => events.push(event) });
  assert.equal(
    JSON.stringify(events),
    '[{"message":"first","type":"status"},{"current":1,"message":"second","total":2,"type":"status","unit":"files"}]',
  );
  const sequences = host.frames.filter((frame) => frame["method"] === "$/progress").map((frame) => (frame["params"] as JsonObject)["sequence"]);
  assert.deepEqual(sequences, [1, 2]);
});

test("progress is left out when the host does not offer it", async () => {
  const host = await TestHost.start(one(async (call) => {
    await call.progress("unseen");
    await call.output("unseen");
    return "done";
  }), { features: [] });
  assert.equal((await host.call("one")).text, "done");
  assert.equal(host.frames.filter((frame) => frame["method"] !== undefined).length, 0);
});

test("progress on API 0.1 is not negotiated", async () => {
  const extension = new ExtensionDefinition({ api: "0.1" });
  extension.tool("one", { description: "Tries." }, (call) => {
    assert.throws(() => call.progress("x"), NotNegotiated);
    assert.throws(() => call.output("x"), NotNegotiated);
    return "refused";
  });
  const host = await TestHost.start(extension);
  assert.equal((await host.call("one")).text, "refused");
});

test("illegal numbers in progress are the handler's fault, and nothing is sent", async () => {
  const host = await TestHost.start(
    one((call) => {
      for (const current of [0.5, -1, 2 ** 53, Number.NaN]) {
        assert.throws(() => call.progress("x", { current }), LocalProtocolError);
      }
      assert.throws(() => call.output("\ud800"), LocalProtocolError);
      return "done";
    }),
  );
  assert.equal((await host.call("one")).text, "done");
  assert.equal(host.frames.filter((frame) => frame["method"] !== undefined).length, 0);
});

test("progress after the answer is not sent", async () => {
  const calls: ToolCall[] = [];
  const host = await TestHost.start(one((call) => {
    calls.push(call);
    return "done";
  }));
  await host.call("one");
  await calls[0]?.progress("late");
  assert.equal(host.frames.filter((frame) => frame["method"] !== undefined).length, 0);
});

test("output is cut into pieces that the wire allows, never inside a character", async () => {
  const text = `${"x".repeat(8191)}é🐧`;
  const host = await TestHost.start(one(async (call) => {
    await call.output(text, { stream: "stderr" });
    return "done";
  }));
  const data: string[] = [];
  await host.call("one", {}, {
    onProgress: (event) => {
      assert.ok(event.type === "output" && event.stream === "stderr" && event.encoding === "utf8");
      data.push(event.data);
    },
  });
  assert.deepEqual(data.map((piece) => Buffer.byteLength(piece)), [8191, 6]);
  assert.equal(data.join(""), text);
});

test("pieces lose nothing and keep their bound", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.integer({ min: 4, max: 12 }), (text, max) => {
      const parts = [...pieces(text, max)];
      assert.equal(parts.join(""), text);
      assert.ok(parts.every((part) => Buffer.byteLength(part) <= max));
    }),
  );
});

test("notifications are plain text", async () => {
  const host = await TestHost.start(one(async (call) => {
    await call.notify("\u001b[31mred\u001b[0m\tand\n\u0007plain", { level: "warning", title: "\u001b]0;title\u0007T" });
    await call.notify("second");
    return "done";
  }));
  await host.call("one");
  assert.equal(
    JSON.stringify(host.notifications),
    '[{"level":"warning","message":"red\\tand\\nplain","title":"T"},{"level":"info","message":"second"}]',
  );
});

test("notifications the manifest does not declare are not negotiated", async () => {
  const host = await TestHost.start(one((call) => {
    assert.throws(() => call.notify("x"), NotNegotiated);
    return "refused";
  }), { notifications: false });
  assert.equal((await host.call("one")).text, "refused");
});

test("cancelling aborts the signal with the reason", async () => {
  const seen = deferred<unknown>();
  const entered = deferred();
  const host = await TestHost.start(one((call) => new Promise((_resolve, reject) => {
    call.throwIfCancelled();
    entered.resolve();
    call.signal.addEventListener("abort", () => {
      seen.resolve(call.signal.reason);
      try {
        call.throwIfCancelled();
      } catch (fault) {
        reject(fault instanceof Error ? fault : new Error("no error"));
      }
    });
  })));
  const controller = new AbortController();
  const call = host.call("one", {}, { signal: controller.signal });
  await entered.promise;
  controller.abort("enough");
  await assert.rejects(call, (fault) => fault instanceof ErrorAnswer && fault.code === -32800);
  const reason = await seen.promise;
  assert.ok(reason instanceof CancelledError);
  assert.equal(reason.reason, "enough");
});

test("a ToolError says what it says, without a stack in the log", async () => {
  const host = await TestHost.start(one(() => {
    throw new ToolError("no such file: pass another");
  }));
  const result = await host.call("one");
  assert.deepEqual([result.isError, result.text], [true, "no such file: pass another"]);
  assert.deepEqual(host.logs, []);
});

test("whatever a tool throws becomes a failure that can be read", async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const getter = Object.defineProperty(new Error("hidden"), "message", {
    get: () => {
      throw new Error("no message");
    },
  });
  const number = Object.defineProperty(new Error("hidden"), "message", { value: 7 });
  const mute = {
    toString: () => {
      throw new Error("no text");
    },
  };
  const thrown: readonly (readonly [unknown, RegExp])[] = [
    [new Error("lone \ud800 surrogate"), /^lone \ufffd surrogate$/u],
    [number, /^7$/u],
    [getter, /cannot be read/u],
    [mute, /cannot be read/u],
    [proxy, /cannot be read/u],
    [Object.create(null), /cannot be read/u],
    [Symbol("sign"), /Symbol\(sign\)/u],
    [new Error("\u20ac".repeat(100_000)), /^\u20ac{1365}$/u],
  ];
  for (const [what, text] of thrown) {
    const host = await TestHost.start(
      one(() => {
        throw what as Error;
      }),
    );
    const result = await host.call("one");
    assert.equal(result.isError, true);
    assert.match(result.text, text);
  }
});

test("structured content is judged by its schema", async () => {
  const extension = new ExtensionDefinition();
  const output = s.object({ n: s.integer() });
  const args = s.object({ reply: s.json() });
  extension.tool("reply", { description: "Returns its argument.", args, output }, (_call, { reply }) => reply as { structured: { n: number } });
  extension.tool("bare", { description: "The same without a schema.", args }, (_call, { reply }) => reply as string);
  const host = await TestHost.start(extension);
  const good = await host.call("reply", { reply: { structured: { n: 1 }, text: ["a", "b"], metadata: { k: null } } });
  assert.equal(JSON.stringify(good), '{"text":"a\\nb","isError":false,"structured":{"n":1},"metadata":{"k":null}}');
  assert.equal((await host.call("reply", { reply: { structured: { n: 1 } } })).text, '{"n":1}');
  assert.equal((await host.call("reply", { reply: { isError: true, text: "no" } })).structured, undefined);
  const bad: readonly [string, JsonValue][] = [
    ["reply", "text alone"], ["reply", { structured: { n: "x" } }], ["reply", { text: "x" }], ["bare", { text: "x", structured: {} }],
    ["bare", []], ["bare", { other: 1 }], ["bare", 7], ["bare", { text: "x", isError: "no" }], ["bare", { text: 7 }], ["bare", { text: "x", metadata: [] }],
  ];
  for (const [tool, reply] of bad) {
    await assert.rejects(host.call(tool, { reply }), (fault) => fault instanceof ErrorAnswer && fault.code === -32603, JSON.stringify(reply).slice(0, 60));
  }
  const large: readonly [string, JsonValue][] = [
    ["bare", { text: Array.from({ length: 257 }, () => "x") }], ["bare", { text: "x", metadata: { ["k".repeat(257)]: 1 } }],
    ["bare", { text: "x", metadata: { much: "x".repeat(65_536) } }], ["bare", { text: "x", metadata: nested(31) }],
    ["bare", { text: "x", metadata: { many: Array.from({ length: 16_384 }, () => 0) } }],
  ];
  for (const [tool, reply] of large) {
    const result = await host.call(tool, { reply });
    assert.deepEqual([result.isError, result.text.startsWith("the result is too large: ")], [true, true], JSON.stringify(reply).slice(0, 60));
  }
  assert.equal((await host.call("bare", { reply: { text: "x", metadata: nested(30) } })).text, "x");
});

function cyclic(): object {
  const found: Record<string, unknown> = {};
  found["self"] = found;
  return found;
}

for (const api of ["0.1", "0.2", "0.3", "0.4"] as const) {
  test(`${api}: a tool that returns nothing answers one empty text`, async () => {
    for (const reply of [undefined, null, {}]) {
      const extension = new ExtensionDefinition({ api });
      extension.tool("none", { description: "Returns nothing." }, () => reply as string);
      const host = await TestHost.start(extension);
      const { isError, text } = await host.call("none");
      assert.deepEqual([isError, text], [false, ""]);
      const result = host.frames.at(-1)?.["result"] as JsonObject;
      assert.equal(JSON.stringify(result["content"]), api === "0.1" ? '""' : '[{"text":"","type":"text"}]');
    }
  });

  test(`${api}: a result that is no JSON names the tool, the rule and the remedy`, async () => {
    const odd: readonly (readonly [unknown, RegExp])[] = [
      ["\ud800", /lone surrogate.*: return well-formed text/u],
      [{ text: ["a", "\udfff"] }, /lone surrogate.*: return well-formed text/u],
      ...(api === "0.1" ? [] : [
        [{ text: "x", metadata: { a: Number.NaN } }, /NaN.*: return well-formed text/u],
        [{ text: "x", metadata: { a: () => 1 } }, /function.*: return well-formed text/u],
        [{ text: "x", metadata: { "\ud800": 1 } }, /lone surrogate.*: return well-formed text/u],
        [{ text: "x", metadata: { a: new Map() } }, /plain objects.*: return well-formed text/u],
        [{ text: "x", metadata: cyclic() }, /more than 32 levels.*holds itself.*: nest less/u],
      ] as const),
    ];
    for (const [reply, rule] of odd) {
      const extension = new ExtensionDefinition({ api });
      extension.tool("odd", { description: "Returns what no frame can carry." }, () => reply as string);
      extension.tool("echo", { description: "Says." }, () => "next");
      const host = await TestHost.start(extension);
      if (api === "0.3") {
        await assert.rejects(host.call("odd"), (fault) => fault instanceof ErrorAnswer && fault.code === -32603);
      } else {
        const result = await host.call("odd");
        assert.equal(result.isError, true);
        assert.match(result.text, /tool "odd"/u);
        assert.match(result.text, rule);
      }
      assert.equal((await host.call("echo")).text, "next");
    }
  });
}

function nested(levels: number): JsonValue {
  return levels === 0 ? { end: 1 } : { inner: nested(levels - 1) };
}

test("registration refuses what the wire cannot carry", () => {
  const plain = { description: "d" };
  const run = (): string => "x";
  const cases: readonly (() => unknown)[] = [
    () => new ExtensionDefinition({ api: "9.9" as "0.4" }),
    () => new ExtensionDefinition({ maxConcurrent: 0 }),
    () => new ExtensionDefinition({ maxConcurrent: 1.5 }),
    () => new ExtensionDefinition().tool("a b", plain, run),
    () => new ExtensionDefinition().tool("x".repeat(129), plain, run),
    () => new ExtensionDefinition().tool("", plain, run),
    () => new ExtensionDefinition().tool("a", { description: "" }, run),
    () => new ExtensionDefinition({ api: "0.3" }).tool("a", { description: "d".repeat(4097) }, run),
    () => new ExtensionDefinition().tool("a", plain, run).tool("a", plain, run),
    () => new ExtensionDefinition().tool("a", { ...plain, args: s.string() }, run),
    () => new ExtensionDefinition().tool("a", { ...plain, output: s.object({ x: s.string({ pattern: "x" }) }) }, () => ({ structured: { x: "x" } })),
    () => new ExtensionDefinition().onSessionStart(run),
    () => new ExtensionDefinition().onSessionEnd(run),
  ];
  cases.forEach((attempt, i) => {
    assert.throws(attempt, LocalProtocolError, `case ${String(i)}`);
  });
  const full = new ExtensionDefinition();
  for (let i = 0; i < 256; i++) {
    full.tool(`t${String(i)}`, plain, run);
  }
  assert.throws(() => full.tool("t256", plain, run), LocalProtocolError);
});

test("the author is told where the tools differ from the manifest", async () => {
  const host = TestHost.connect(one(() => "x"));
  await host.initialize();
  assert.deepEqual(host.logs, []);
  const other = TestHost.connect(one(() => "x"));
  const { initializeParams } = await import("../src/testing/host-side.js");
  await other.request("initialize", initializeParams("0.4", ["declared"], {}));
  assert.deepEqual(other.logs, [
    'tool "one" is not declared in the manifest: add it to contributes.tools',
    'the manifest declares the tool "declared": register it',
  ]);
});
