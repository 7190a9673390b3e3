/** Sessions on the feature wire, frame by frame. The rule each test holds stands in its name. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsonObject } from "../src/_generated/json.js";
import { ExtensionDefinition } from "../src/extension.js";
import { s } from "../src/schema.js";
import { TestHost } from "../src/testing.js";
import { answers, callRequest, deferred, fixture, initializeRequest, refused, sent } from "./session.js";

const VERSIONS = ["0.1", "0.2", "0.4"] as const;
const NEGOTIATED = ["0.2", "0.4"] as const;

for (const api of VERSIONS) {
  test(`${api}: initialize names the version and the tools, a call is answered, shutdown comes last`, async () => {
    const host = TestHost.connect(fixture(api).extension);
    const [answer] = sent(host, initializeRequest(api));
    const result = answer?.["result"] as JsonObject;
    assert.equal(answer?.["id"], "init");
    assert.equal(result["api_version"], api);
    assert.deepEqual((result["tools"] as JsonObject[]).map((tool) => tool["name"]), ["echo", "wait"]);
    assert.equal(api === "0.1", result["protocol"] === undefined);
    host.send(callRequest(2, "echo", { text: "hello" }));
    const reply = await host.frame(answers(2));
    const content = api === "0.1" ? "hello" : [{ text: "hello", type: "text" }];
    assert.equal(JSON.stringify(reply["result"]), JSON.stringify({ content, is_error: false }));
    assert.equal(await host.shutdown(), 0);
    assert.deepEqual(sent(host, callRequest(3, "echo", { text: "late" })), []);
  });

  test(`${api}: EXT04-ORDER-002, -007 another request first is refused and initialize still accepted`, () => {
    const host = TestHost.connect(fixture(api).extension);
    assert.deepEqual(refused(host, callRequest(1, "echo", { text: "" })), { id: 1, code: -32600 });
    assert.ok(sent(host, initializeRequest(api))[0]?.["result"]);
  });

  test(`${api}: EXT04-ORDER-003 a second initialize is refused and the session goes on`, async () => {
    const host = await TestHost.start(fixture(api).extension);
    assert.deepEqual(refused(host, initializeRequest(api)), { id: "init", code: -32600 });
    assert.equal((await host.call("echo", { text: "on" })).text, "on");
  });

  test(`${api}: EXT04-INIT-004, -005, -007 another version is refused and the session over`, async () => {
    const host = TestHost.connect(fixture(api).extension);
    const other = initializeRequest(api, {}, (params) => {
      params["api_version"] = "9.9";
    });
    assert.deepEqual(refused(host, other), { id: "init", code: -32000 });
    assert.equal(await host.ended, 1);
  });

  test(`${api}: EXT04-ORDER-004, -006 a live id is refused and its call undisturbed`, async () => {
    const { extension, entered, release } = fixture(api);
    const host = await TestHost.start(extension);
    host.send(callRequest("a", "wait"));
    await entered(1);
    assert.deepEqual(refused(host, callRequest("a", "echo", { text: "" })), { id: "a", code: -32600 });
    release();
    assert.ok((await host.frame((frame) => frame["id"] === "a" && frame["result"] !== undefined))["result"]);
  });

  test(`${api}: EXT04-ERR-001, EXT04-CALL-001, -002 unknown names and bad parameters are refused`, async () => {
    const host = await TestHost.start(fixture(api).extension);
    assert.deepEqual(refused(host, { id: 5, jsonrpc: "2.0", method: "no/such", params: {} }), { id: 5, code: -32601 });
    assert.deepEqual(refused(host, callRequest(6, "no_such")), { id: 6, code: -32601 });
    assert.deepEqual(refused(host, callRequest(7, "echo", [])), { id: 7, code: -32602 });
    assert.deepEqual(refused(host, callRequest(8, "echo", { text: 1 })), { id: 8, code: -32602 });
    assert.deepEqual(refused(host, { id: 9, jsonrpc: "2.0", method: "tool/call" }), { id: 9, code: -32602 });
    assert.equal((await host.call("echo", { text: "on" })).text, "on");
  });

  test(`${api}: EXT04-ERR-003, -004 a line that is no message is answered and the next one served`, async () => {
    const host = await TestHost.start(fixture(api).extension);
    assert.deepEqual(refused(host, "nonsense"), { id: null, code: -32700 });
    assert.deepEqual(refused(host, '{"id":1,"id":2}'), { id: null, code: -32700 });
    assert.deepEqual(refused(host, "[]"), { id: null, code: -32600 });
    assert.deepEqual(refused(host, { id: 3, jsonrpc: "1.0", method: "shutdown" }), { id: 3, code: -32600 });
    assert.deepEqual(refused(host, { id: 4, jsonrpc: "2.0", method: 7 }), { id: 4, code: -32600 });
    assert.deepEqual(refused(host, { id: null, jsonrpc: "2.0", method: "shutdown" }), { id: null, code: -32600 });
    host.sendBytes(Uint8Array.of(0x22, 0xff, 0x22, 0x0a));
    assert.equal((host.frames.at(-1)?.["error"] as JsonObject)["code"], -32700);
    assert.equal((await host.call("echo", { text: "on" })).text, "on");
  });

  test(`${api}: a request with a lone surrogate or a member given twice below its envelope is refused under its id`, async () => {
    const host = await TestHost.start(fixture(api).extension);
    for (const text of [String.raw`"\ud800"`, '{"a":1,"a":2}', String.raw`["\udfff"]`, String.raw`{"\ud800":[]}`]) {
      const [answer] = sent(host, `{"jsonrpc":"2.0","id":7,"method":"tool/call","params":{"name":${text}}}`);
      const error = answer?.["error"] as JsonObject;
      assert.deepEqual([answer?.["id"], error["code"]], [7, -32602]);
      assert.match(JSON.stringify(error["message"]), /\/name/u);
      assert.deepEqual(sent(host, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":${text}}}`), []);
    }
    for (const line of ['{"jsonrpc":"2.0","id":7,"id":8,"method":"tool/call","params":{}}', String.raw`{"jsonrpc":"2.0","id":"\ud800","method":"tool/call"}`, String.raw`["\ud800"]`, `{"jsonrpc":"2.0","id":7,"method":"tool/call","params":{"a":1,"a":${"[".repeat(600)}${"]".repeat(600)}}}`]) {
      assert.deepEqual(refused(host, line), { id: null, code: -32700 });
    }
    assert.equal((await host.call("echo", { text: "on" })).text, "on");
  });

  test(`${api}: EXT04-ENV-007 notifications and answers from the host are never answered`, async () => {
    const host = await TestHost.start(fixture(api).extension);
    assert.deepEqual(sent(host, { jsonrpc: "2.0", method: "no/such", params: {} }), []);
    assert.deepEqual(sent(host, { jsonrpc: "2.0", method: 7 }), []);
    assert.deepEqual(sent(host, { jsonrpc: "2.0", id: 4, result: {} }), []);
    assert.deepEqual(sent(host, { jsonrpc: "2.0", id: 4, result: {}, error: {} }), []);
    assert.equal((await host.call("echo", { text: "on" })).text, "on");
  });

  test(`${api}: EXT04-FRAME-005, -007 spelling and pieces do not matter`, async () => {
    const host = await TestHost.start(fixture(api).extension);
    const text = ' { "method" : "tool/call","jsonrpc":"2.0", "id":"\\u0061" ,"params":{"name":"echo","arguments":{"text":"\\/"},"context":{"workspace":"/w","execution_scope":null,"host":{}}}}\r\n\r\n \n';
    for (const byte of Buffer.from(text)) {
      host.sendBytes(Uint8Array.of(byte));
    }
    assert.ok((await host.frame(answers("a")))["result"]);
    assert.equal(host.frames.length, 2, "a blank line was answered");
  });

  test(`${api}: EXT04-FRAME-006, -010 a line at the bound is served, one byte more ends the session`, async () => {
    const host = await TestHost.start(fixture(api).extension);
    const base = JSON.stringify(callRequest(2, "echo", { text: "" }));
    host.send(base.replace('"text":""', `"text":"${"x".repeat(1_048_576 - base.length)}"`));
    assert.equal((((await host.frame(answers(2)))["error"] ?? {}) as JsonObject)["code"], undefined);
    host.send(base.replace('"text":""', `"text":"${"x".repeat(1_048_577 - base.length)}"`));
    assert.equal(await host.ended, 1);
  });

  test(`${api}: EXT04-SHUT-003, -004, -006 live calls are answered before shutdown`, async () => {
    const { extension, entered, signals } = fixture(api);
    const host = await TestHost.start(extension);
    host.send(callRequest("a", "wait"));
    host.send(callRequest("b", "wait"));
    await entered(2);
    const frames = sent(host, { id: "z", jsonrpc: "2.0", method: "shutdown" });
    const code = api === "0.1" ? -32000 : -32800;
    assert.deepEqual(
      frames.map((frame) => [frame["id"], (frame["error"] as JsonObject | undefined)?.["code"]]),
      [["a", code], ["b", code], ["z", undefined]],
    );
    assert.equal(await host.ended, 0);
    assert.ok(signals.every((signal) => signal.aborted));
  });

  test(`${api}: the end of the stream lets running calls finish, then ends`, async () => {
    const { extension, entered, release } = fixture(api);
    const host = await TestHost.start(extension);
    host.send(callRequest("a", "wait"));
    await entered(1);
    const ended = host.close();
    assert.deepEqual(sent(host, callRequest("b", "echo", { text: "" })), []);
    release();
    assert.equal(await ended, 0);
    assert.ok(host.frames.at(-1)?.["result"]);
  });

  test(`${api}: calls that outlast the end of the stream are aborted without an answer`, async () => {
    const { extension, entered, signals } = fixture(api);
    const host = await TestHost.start(extension);
    host.send(callRequest("a", "wait"));
    await entered(1);
    const before = host.frames.length;
    void host.close();
    assert.equal(await host.abandon(), 0);
    assert.ok(signals[0]?.aborted);
    assert.equal(host.frames.length, before);
  });

  test(`${api}: bytes without a line feed at the end are not served`, async () => {
    const host = await TestHost.start(fixture(api).extension);
    host.sendBytes(Buffer.from('{"id":1,"jsonrpc":"2.0","method":"shutdown"}'));
    const before = host.frames.length;
    assert.equal(await host.close(), 1);
    assert.equal(host.frames.length, before);
  });

  test(`${api}: EXT04-LIMIT-001 as many calls as the bound allows are answered together`, async () => {
    const { extension, entered, release } = fixture(api);
    const host = await TestHost.start(extension);
    for (let i = 0; i < 64; i++) {
      host.send(callRequest(`c-${String(i)}`, "wait"));
    }
    await entered(64);
    assert.deepEqual(refused(host, callRequest("over", "wait")), { id: "over", code: -32000 });
    release();
    await Promise.all(Array.from({ length: 64 }, (_, i) => host.frame(answers(`c-${String(i)}`))));
    assert.equal(host.frames.filter((frame) => frame["result"] !== undefined).length, 65);
  });

  test(`${api}: EXT04-CALL-005, -006 a tool that throws fails its call and nothing else`, async () => {
    const extension = new ExtensionDefinition({ api });
    extension.tool("boom", { description: "Throws." }, () => {
      throw new TypeError("broken on purpose");
    });
    extension.tool("odd", { description: "Throws no error." }, () => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- what a careless author may do
      throw 7;
    });
    const host = await TestHost.start(extension);
    const result = await host.call("boom");
    assert.deepEqual([result.isError, result.text], [true, "broken on purpose"]);
    assert.match(host.logs.join("\n"), /"boom" threw: TypeError: broken on purpose/u);
    assert.equal((await host.call("odd")).text, "the tool failed: 7");
  });

  test(`${api}: EXT04-FRAME-004 a result over the bound becomes a failure of the tool`, async () => {
    const extension = new ExtensionDefinition({ api });
    extension.tool("big", { description: "Returns a lot." }, () => "x".repeat(1_048_576));
    const host = await TestHost.start(extension);
    const result = await host.call("big");
    assert.deepEqual([result.isError, result.text], [true, "the result does not fit a frame of 1048576 bytes"]);
  });
}

test("0.1: EXT01-INIT-002 protocol in the request is refused", async () => {
  const host = TestHost.connect(fixture("0.1").extension);
  const request = initializeRequest("0.1", {}, (params) => {
    params["protocol"] = {};
  });
  assert.deepEqual(refused(host, request), { id: "init", code: -32602 });
  assert.equal(await host.ended, 1);
});

test("0.1: EXT01-CANCEL-001 a cancellation has no effect", async () => {
  const { extension, entered, release } = fixture("0.1");
  const host = await TestHost.start(extension);
  host.send(callRequest("a", "wait"));
  await entered(1);
  assert.deepEqual(sent(host, { jsonrpc: "2.0", method: "$/cancelRequest", params: { id: "a" } }), []);
  release();
  assert.ok((await host.frame(answers("a")))["result"]);
});

test("0.1: EXT01-TOOL-001 an output schema stays at home and the text carries the result", async () => {
  const extension = new ExtensionDefinition({ api: "0.1" });
  extension.tool("n", { description: "Counts.", output: s.object({ n: s.integer() }) }, () => ({ structured: { n: 1 } }));
  const host = TestHost.connect(extension);
  const [answer] = sent(host, initializeRequest("0.1"));
  assert.equal(((answer?.["result"] as JsonObject)["tools"] as JsonObject[])[0]?.["output_schema"], undefined);
  host.send(callRequest(1, "n"));
  assert.equal(((await host.frame(answers(1)))["result"] as JsonObject)["content"], '{"n":1}');
});

for (const api of NEGOTIATED) {
  test(`${api}: EXT04-NEG-001 to -007 the selection takes what is required and what it can use`, () => {
    const host = TestHost.connect(fixture(api).extension);
    const options = { features: ["made_up_v9", "request_progress", "artifacts"], maxConcurrent: 3 };
    const [answer] = sent(host, initializeRequest(api, options));
    assert.equal(
      JSON.stringify((answer?.["result"] as JsonObject)["protocol"]),
      JSON.stringify({ features: ["request_cancellation", "content_parts", "request_progress"], limits: { max_concurrent_requests: 3 }, version: api }),
    );
  });

  test(`${api}: EXT04-NEG-008, -009 a required feature it does not know is refused by name`, async () => {
    const host = TestHost.connect(fixture(api).extension);
    const request = initializeRequest(api, {}, (params) => {
      const protocol = params["protocol"] as JsonObject;
      params["protocol"] = { ...protocol, required_features: ["request_cancellation", "content_parts", "made_up_v9"] };
    });
    const [answer] = sent(host, request);
    const error = answer?.["error"] as JsonObject;
    assert.equal(error["code"], -32000);
    assert.equal(JSON.stringify(error["data"]), '{"unsupported_features":["made_up_v9"]}');
    assert.equal(await host.ended, 1);
  });

  test(`${api}: EXT04-CALL-003 a catalog revision is refused`, async () => {
    const host = await TestHost.start(fixture(api).extension);
    const call = callRequest(1, "echo", { text: "" });
    const params = { ...(call["params"] as JsonObject), catalog_revision: 0 };
    assert.deepEqual(refused(host, { ...call, params }), { id: 1, code: -32602 });
  });

  test(`${api}: EXT04-CANCEL-001 to -009 a cancelled call is answered once, at once`, async () => {
    const { extension, entered, release, signals } = fixture(api);
    const host = await TestHost.start(extension);
    assert.deepEqual(sent(host, { jsonrpc: "2.0", method: "$/cancelRequest", params: { id: "a" } }), []);
    host.send(callRequest("a", "wait"));
    host.send(callRequest("b", "wait"));
    await entered(2);
    const cancel = { jsonrpc: "2.0", method: "$/cancelRequest", params: { id: "a", reason: "user" } };
    const [answer] = sent(host, cancel);
    assert.equal(JSON.stringify(answer), '{"error":{"code":-32800,"data":{"reason":"user"},"message":"request cancelled"},"id":"a","jsonrpc":"2.0"}');
    assert.deepEqual(sent(host, cancel), []);
    assert.deepEqual(signals.map((signal) => signal.aborted), [true, false]);
    assert.deepEqual(sent(host, { jsonrpc: "2.0", method: "$/cancelRequest", params: { id: [] } }), []);
    release();
    assert.ok((await host.frame(answers("b")))["result"]);
    assert.equal(host.frames.filter(answers("a")).length, 1);
    assert.equal((await host.call("echo", { text: "on" })).text, "on");
  });

  test(`${api}: a cancellation that follows its call in the same bytes still gets one answer`, async () => {
    const host = await TestHost.start(fixture(api).extension);
    const frames = [callRequest("a", "wait"), { jsonrpc: "2.0", method: "$/cancelRequest", params: { id: "a" } }];
    const before = host.frames.length;
    host.sendBytes(Buffer.from(frames.map((one) => `${JSON.stringify(one)}\n`).join("")));
    assert.deepEqual(host.frames.slice(before).map((frame) => (frame["error"] as JsonObject)["code"]), [-32800]);
  });

  test(`${api}: a result that is ready when the cancellation arrives wins or loses, never both`, async () => {
    const done = deferred();
    const extension = new ExtensionDefinition({ api });
    extension.tool("race", { description: "Returns when told." }, async () => {
      await done.promise;
      return "won";
    });
    const host = await TestHost.start(extension);
    host.send(callRequest("a", "race"));
    done.resolve();
    host.send({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id: "a" } });
    await host.frame(answers("a"));
    await host.request("shutdown", {});
    assert.equal(host.frames.filter(answers("a")).length, 1);
  });
}
