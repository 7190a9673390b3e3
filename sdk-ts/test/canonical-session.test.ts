/** Sessions on the canonical wire, frame by frame. The rule each test holds stands in its name. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsonObject, JsonValue } from "../src/_generated/json.js";
import { ExtensionDefinition } from "../src/extension.js";
import { NotNegotiated } from "../src/errors.js";
import { s } from "../src/schema.js";
import type { ToolCall } from "../src/scope.js";
import { ErrorAnswer, TestHost } from "../src/testing.js";
import { answers, callRequest, deferred, fixture, initializeRequest, refused, sent } from "./session.js";

const API = "0.3";

test("initialize, a call and shutdown", async () => {
  const host = TestHost.connect(fixture(API).extension);
  const [answer] = sent(host, initializeRequest(API, { maxConcurrent: 5, maxFrameBytes: 9000 }));
  const result = answer?.["result"] as JsonObject;
  assert.deepEqual(Object.keys(result), ["api_version", "contract", "tools"]);
  assert.equal(
    JSON.stringify(result["contract"]),
    JSON.stringify({
      capabilities: ["content_parts", "core", "request_cancellation", "tool_call"],
      encoding: "octet-canonical-json-v1",
      limits: { max_concurrent_requests: 5, max_frame_bytes: 9000, max_tools: 256 },
      methods: ["initialize", "shutdown", "tool/call", "$/cancelRequest"],
      schema: "octet.extension.api/0.3",
    }),
  );
  host.send(callRequest(0, "echo", { text: "hello" }));
  assert.equal(JSON.stringify((await host.frame(answers(0)))["result"]), '{"content":[{"text":"hello","type":"text"}],"is_error":false,"metadata":null}');
  assert.equal(JSON.stringify(sent(host, { id: 1, jsonrpc: "2.0", method: "shutdown", params: {} })), '[{"id":1,"jsonrpc":"2.0","result":{"terminal":"shutdown"}}]');
  assert.equal(await host.ended, 0);
});

test("EXT03-READ-001 to -018 a frame that is not canonical ends the session without an answer", async () => {
  const good = '{"id":1,"jsonrpc":"2.0","method":"shutdown","params":{}}';
  const bad = [
    `${good}\r`, "", `${good}${good}`, `\ufeff${good}`, ` ${good}`, '{"jsonrpc":"2.0","id":1,"method":"shutdown","params":{}}',
    good.replace('"params":{}', '"params":{"a":1,"a":2}'), good.replace("{}", '{"a":"\\u0041"}'), good.replace("{}", '{"a":1.0}'),
    good.replace("{}", '{"a":-0}'), good.replace("{}", '{"a":9007199254740992}'), good.replace("{}", '{"a":"\\ud800"}'),
    good.replace("{}", `${"[".repeat(33)}1${"]".repeat(33)}`), "nonsense", "x".repeat(1_048_577),
  ];
  for (const text of bad) {
    const host = await TestHost.start(fixture(API).extension);
    const before = host.frames.length;
    host.sendBytes(Buffer.from(`${text}\n${good}\n`));
    assert.equal(await host.ended, 1, text.slice(0, 80));
    assert.equal(host.frames.length, before, text.slice(0, 80));
    assert.ok(host.logs.length > 0);
  }
});

test("EXT03-READ-003 the selected bound holds for what already arrived behind initialize", async () => {
  const host = TestHost.connect(fixture(API).extension);
  const call = JSON.stringify(callRequest(1, "echo", { text: "x".repeat(5000) }));
  host.sendBytes(Buffer.concat([initializeRequest(API, { maxFrameBytes: 4000 }), callRequest(1, "echo", { text: "x".repeat(5000) })].map((one) => Buffer.from(`${canonical(one)}\n`))));
  assert.ok(call.length > 4000);
  assert.equal(await host.ended, 1);
  assert.equal(host.frames.length, 1);
});

/** JSON with its members sorted, which for these messages is canonical. */
function canonical(value: JsonValue): string {
  return JSON.stringify(value, (_name, one: JsonValue) =>
    typeof one === "object" && one !== null && !Array.isArray(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one,
  );
}

test("EXT03-ENV-008 to -013 a request with a wrong envelope is refused and the session goes on", async () => {
  const host = await TestHost.start(fixture(API).extension);
  const good = { id: 1, jsonrpc: "2.0", method: "tool/call", params: {} };
  const wrong: JsonObject[] = [
    { ...good, trace: 1 }, { ...good, jsonrpc: "1.0" }, { id: 1, jsonrpc: "2.0", method: "shutdown" }, { ...good, params: null },
    { ...good, method: 7 }, { ...good, method: "m".repeat(129) }, { ...good, method: "" }, { ...good, result: {} }, { ...good, error: {} },
    { ...good, method: "$/cancelRequest", params: { id: 9 } }, { id: 1, jsonrpc: "2.0" },
  ];
  for (const message of wrong) {
    assert.deepEqual(refused(host, message), { id: 1, code: -32600 }, JSON.stringify(message));
  }
  const silent: JsonValue[] = [
    { jsonrpc: "2.0", method: "shutdown", params: {} }, { ...good, id: null }, { ...good, id: "" }, { ...good, id: -1 }, { ...good, id: "x".repeat(257) },
    { ...good, id: true }, [good], 7, { id: 1, jsonrpc: "2.0", result: null }, { id: 1, jsonrpc: "2.0", result: {}, error: {} },
    { jsonrpc: "2.0", method: "no/such", params: {} }, { jsonrpc: "2.0", method: "$/cancelRequest", params: { id: 1, x: 1 } },
    { jsonrpc: "2.0", method: "$/cancelRequest", params: { id: 1, reason: "r".repeat(4097) } },
  ];
  for (const message of silent) {
    assert.deepEqual(sent(host, canonical(message)), [], JSON.stringify(message).slice(0, 100));
  }
  assert.equal((await host.call("echo", { text: "on" })).text, "on");
});

test("EXT03-ENV-018 an answer to an id never issued ends the session", async () => {
  const host = await TestHost.start(fixture(API).extension);
  assert.deepEqual(sent(host, { id: 1, jsonrpc: "2.0", result: {} }), []);
  assert.equal(await host.ended, 1);
});

test("EXT03-ERR-001 to -008 errors have the code and message of their row, detail goes to data", async () => {
  const host = await TestHost.start(fixture(API).extension);
  const error = (message: JsonObject): string => JSON.stringify(sent(host, message)[0]?.["error"]);
  assert.equal(error({ id: 1, jsonrpc: "2.0", method: "hook/run", params: {} }), '{"code":-32601,"data":{"method":"hook/run"},"message":"unknown or unnegotiated method"}');
  assert.equal(error(callRequest(1, "no_such")), '{"code":-32601,"data":{"method":"no_such"},"message":"unknown or unnegotiated method"}');
  assert.equal(
    error(callRequest(1, "echo", { text: 1 })),
    '{"code":-32602,"data":{"pointer":"/text","reason":"must be a string"},"message":"invalid params"}',
  );
});

for (const [what, code, change] of [
  ["EXT03-INIT-010 another version, whatever else is wrong", -32010, (p) => { p["api_version"] = "0.4"; delete p["contract"]; }],
  ["EXT03-INIT-011 another schema", -32010, (p) => { contract(p, "schema", "octet.extension.api/0.2"); }],
  ["EXT03-INIT-012 another encoding", -32602, (p) => { contract(p, "encoding", "json"); }],
  ["EXT03-INIT-013 an unlisted member", -32602, (p) => { p["extra"] = 1; }],
  ["EXT03-INIT-013 a missing member", -32602, (p) => { delete p["host"]; }],
  ["EXT03-INIT-014 too many flags", -32012, (p) => { p["flag_values"] = Array.from({ length: 65 }, (_, i) => ({ name: `f${String(i)}`, value: true })); }],
  ["EXT03-INIT-015 an empty name", -32602, (p) => { contract(p, "optional_methods", [""]); }],
  ["EXT03-INIT-016 an unknown name", -32011, (p) => { contract(p, "optional_methods", ["no/such"]); }],
  ["EXT03-INIT-017 a missing required name", -32011, (p) => { contract(p, "required_methods", ["initialize", "shutdown", "tool/call"]); }],
  ["EXT03-INIT-018 a limit of zero", -32602, (p) => { contract(p, "limits", { max_frame_bytes: 1, max_concurrent_requests: 0, max_tools: 1 }); }],
  ["EXT03-INIT-019 a limit above the maximum", -32012, (p) => { contract(p, "limits", { max_frame_bytes: 1048577, max_concurrent_requests: 1, max_tools: 1 }); }],
  ["more tools than the offer", -32012, (p) => { contract(p, "limits", { max_frame_bytes: 1048576, max_concurrent_requests: 1, max_tools: 1 }); }],
] as readonly [string, number, (params: Record<string, JsonValue>) => void][]) {
  test(`${what} is refused, and EXT03-INIT-020 the session over`, async () => {
    const host = TestHost.connect(fixture(API).extension);
    assert.deepEqual(refused(host, initializeRequest(API, {}, change)), { id: "init", code });
    assert.equal(await host.ended, 1);
  });
}

function contract(params: Record<string, JsonValue>, name: string, value: JsonValue): void {
  params["contract"] = { ...(params["contract"] as JsonObject), [name]: value };
}

test("EXT03-INIT-021, -022 a second initialize is refused and the session over", async () => {
  const host = await TestHost.start(fixture(API).extension);
  assert.deepEqual(refused(host, initializeRequest(API)), { id: "init", code: -32600 });
  assert.equal(await host.ended, 1);
});

test("EXT03-INIT-023, -024 another request first is refused and the session over", async () => {
  const host = TestHost.connect(fixture(API).extension);
  assert.deepEqual(refused(host, callRequest(1, "echo")), { id: 1, code: -32601 });
  assert.equal(await host.ended, 1);
  const mute = TestHost.connect(fixture(API).extension);
  assert.deepEqual(sent(mute, { jsonrpc: "2.0", method: "shutdown", params: {} }), []);
  assert.equal(await mute.ended, 1);
});

test("EXT03-FRAME-006 an initialize answer over the offered bound is not sent", async () => {
  const host = TestHost.connect(fixture(API).extension);
  const frames = sent(host, initializeRequest(API, { maxFrameBytes: 100 }));
  assert.equal(JSON.stringify(frames), '[{"error":{"code":-32012,"message":"extension resource exhausted"},"id":"init","jsonrpc":"2.0"}]');
  assert.equal(await host.ended, 1);
  const tiny = TestHost.connect(fixture(API).extension);
  assert.deepEqual(sent(tiny, initializeRequest(API, { maxFrameBytes: 10 })), []);
  assert.equal(await tiny.ended, 1);
});

test("EXT03-TOOL-011, -012, -014 calls that break their model are refused", async () => {
  const { extension, entered, release } = fixture(API);
  const host = await TestHost.start(extension);
  const params = { name: "echo", arguments: { text: "" }, context: {} };
  const call = (change: JsonObject): JsonObject => ({ id: 1, jsonrpc: "2.0", method: "tool/call", params: { ...params, ...change } });
  for (const change of [{ name: null }, { arguments: null }, { context: null }, { extra: 1 }, { name: 7 }]) {
    assert.deepEqual(refused(host, call(change)), { id: 1, code: -32602 }, JSON.stringify(change));
  }
  assert.deepEqual(refused(host, { id: 1, jsonrpc: "2.0", method: "tool/call", params: [] }), { id: 1, code: -32602 });
  assert.deepEqual(refused(host, call({ name: "x".repeat(129) })), { id: 1, code: -32012 });
  host.send(callRequest("a", "wait"));
  await entered(1);
  assert.deepEqual(refused(host, callRequest("a", "wait")), { id: "a", code: -32600 });
  release();
  assert.ok((await host.frame((frame) => frame["id"] === "a" && frame["result"] !== undefined))["result"]);
});

test("EXT03-CANCEL-001 to -008 the string id and the integer id are two requests", async () => {
  const { extension, entered, release } = fixture(API);
  const host = await TestHost.start(extension);
  host.send(callRequest(1, "wait"));
  host.send(callRequest("1", "wait"));
  await entered(2);
  const frames = sent(host, { jsonrpc: "2.0", method: "$/cancelRequest", params: { id: "1", reason: "user" } });
  assert.equal(JSON.stringify(frames), '[{"error":{"code":-32800,"data":{"reason":"user","terminal":"cancelled"},"message":"request cancelled"},"id":"1","jsonrpc":"2.0"}]');
  assert.deepEqual(sent(host, { jsonrpc: "2.0", method: "$/cancelRequest", params: { id: "1" } }), []);
  release();
  assert.ok((await host.frame(answers(1)))["result"]);
});

test("EXT03-SHUT-004, -007 bad parameters are refused; running calls are answered first", async () => {
  const { extension, entered } = fixture(API);
  const host = await TestHost.start(extension);
  host.send(callRequest("a", "wait"));
  await entered(1);
  assert.deepEqual(refused(host, { id: 1, jsonrpc: "2.0", method: "shutdown", params: { x: 1 } }), { id: 1, code: -32602 });
  const frames = sent(host, { id: 2, jsonrpc: "2.0", method: "shutdown", params: {} });
  assert.deepEqual(frames.map((frame) => frame["id"]), ["a", 2]);
  assert.deepEqual(sent(host, callRequest(3, "echo", { text: "" })), []);
  assert.equal(await host.ended, 0);
});

test("EXT03-LIMIT-001 to -004 the bounds of the selection hold", async () => {
  const { extension, entered, release } = fixture(API);
  extension.tool("big", { description: "Returns a lot." }, () => "x".repeat(9000));
  const host = await TestHost.start(extension, { maxConcurrent: 2, maxFrameBytes: 9000 });
  host.send(callRequest("a", "wait"));
  host.send(callRequest("b", "wait"));
  await entered(2);
  assert.deepEqual(refused(host, callRequest("c", "wait")), { id: "c", code: -32012 });
  assert.equal(sent(host, { jsonrpc: "2.0", method: "$/cancelRequest", params: { id: "a" } }).length, 1);
  release();
  await host.frame(answers("b"));
  await assert.rejects(host.call("big"), (fault) => fault instanceof ErrorAnswer && fault.code === -32012);
});

test("progress and notifications are not negotiated", async () => {
  const extension = new ExtensionDefinition({ api: API });
  const attempts: readonly [string, (call: ToolCall) => unknown][] = [
    ["progress", (call) => call.progress("x")],
    ["output", (call) => call.output("x")],
    ["notify", (call) => call.notify("x")],
  ];
  for (const [name, attempt] of attempts) {
    extension.tool(name, { description: name }, (call) => {
      assert.throws(() => attempt(call), NotNegotiated);
      return "refused";
    });
  }
  const host = await TestHost.start(extension);
  for (const [name] of attempts) {
    assert.equal((await host.call(name)).text, "refused");
  }
});

test("structured content travels with an output schema, and must be canonical", async () => {
  const extension = new ExtensionDefinition({ api: API });
  extension.tool("n", { description: "Counts.", output: s.object({ n: s.number() }), args: s.object({ n: s.number() }) }, (_call, { n }) => ({ structured: { n } }));
  const host = await TestHost.start(extension);
  const result = await host.call("n", { n: 2 });
  assert.equal(JSON.stringify(result.structured), '{"n":2}');
  assert.equal(result.text, '{"n":2}');
  const half = new ExtensionDefinition({ api: API });
  half.tool("half", { description: "Halves.", output: s.object({ n: s.number() }) }, () => ({ structured: { n: 0.5 } }));
  const second = await TestHost.start(half);
  await assert.rejects(second.call("half"), (fault) => fault instanceof ErrorAnswer && fault.code === -32603);
});

test("EXT03-CONTRACT-009 to -011, -014 session hooks are selected as a pair, when declared and offered", async () => {
  const seen: unknown[] = [];
  const started = deferred();
  const extension = fixture(API).extension;
  extension.onSessionStart((event) => {
    seen.push(event);
    started.resolve();
    throw new Error("a hook that fails");
  });
  extension.onSessionEnd((event) => seen.push(event));
  const host = TestHost.connect(extension);
  const [answer] = sent(host, initializeRequest(API, { sessionHooks: true }));
  const selected = (answer?.["result"] as JsonObject)["contract"] as JsonObject;
  assert.ok((selected["capabilities"] as string[]).includes("lifecycle_events"));
  assert.ok((selected["methods"] as string[]).includes("hook/run"));
  const binding = { session_id: "s", extension_instance_id: "i", process_generation: 1 };
  const run = (id: number, hook: string, payload: JsonObject): JsonObject => ({ id, jsonrpc: "2.0", method: "hook/run", params: { hook, payload } });
  host.send(run(1, "session_start", { binding }));
  await started.promise;
  assert.equal(JSON.stringify(await host.frame(answers(1))), '{"error":{"code":-32603,"message":"internal error"},"id":1,"jsonrpc":"2.0"}');
  assert.deepEqual(refused(host, run(2, "session_middle", { binding })), { id: 2, code: -32602 });
  host.send(run(3, "session_end", { binding, outcome: "completed", reason: "shutdown", duration_ms: 5 }));
  assert.equal(JSON.stringify(await host.frame(answers(3))), '{"id":3,"jsonrpc":"2.0","result":{"disposition":{"kind":"continue"}}}');
  assert.deepEqual(seen, [
    { hook: "session_start", sessionId: "s" },
    { hook: "session_end", sessionId: "s", outcome: "completed", reason: "shutdown", durationMs: 5 },
  ]);
  assert.match(host.logs.join("\n"), /hook "session_start": Error: a hook that fails/u);

  const declined = TestHost.connect(fixture(API).extension);
  const [plain] = sent(declined, initializeRequest(API, { sessionHooks: true }, (params) => {
    contract(params, "optional_capabilities", []);
    contract(params, "optional_methods", []);
  }));
  assert.equal(((plain?.["result"] as JsonObject)["contract"] as { capabilities: string[] }).capabilities.length, 4);
});

test("flags and the workspace reach the call", async () => {
  const extension = new ExtensionDefinition({ api: API });
  extension.tool("show", { description: "Shows." }, (call) => `${call.name} ${call.workspace} ${JSON.stringify(call.flags["deep"])} ${JSON.stringify(call.flags["none"] ?? "none")}`);
  const host = await TestHost.start(extension, { flags: { deep: 3 } });
  assert.equal((await host.call("show")).text, 'show /workspace 3 "none"');
});
