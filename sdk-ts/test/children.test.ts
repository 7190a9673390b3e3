/** Child requests: each settles once, whatever the host does. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsonObject } from "../src/_generated/json.js";
import { CancelledError, LocalProtocolError, RemoteProtocolError } from "../src/errors.js";
import type { Api } from "../src/extension.js";
import { ExtensionDefinition } from "../src/extension.js";
import type { ToolCall } from "../src/scope.js";
import { TestHost } from "../src/testing.js";
import { answers, callRequest, deferred, sent } from "./session.js";

/** An extension whose tool asks once and tells what became of it. */
function asking(api: Api): { readonly extension: ExtensionDefinition; readonly outcome: Promise<unknown> } {
  const outcome = deferred<unknown>();
  const extension = new ExtensionDefinition({ api, uses: "all" });
  extension.tool("ask", { description: "Asks." }, async (call) => {
    outcome.resolve(await ask(call).catch((fault: unknown) => fault));
    return "asked";
  });
  return { extension, outcome: outcome.promise };
}

function ask(call: ToolCall, signal?: AbortSignal): Promise<unknown> {
  const options = signal === undefined ? {} : { signal };
  return call.api === "0.3" ? call.services.session.create({}, options) : call.services.composer.get(options);
}

const asked = (frame: JsonObject): boolean => frame["id"] === "c-1";
const RESULT: Readonly<Record<string, JsonObject>> = { "0.3": { session_id: "s" }, "0.4": { text: "t" } };

/** Starts an extension and its tool without a host that answers. */
async function started(api: Api, extension: ExtensionDefinition): Promise<TestHost> {
  const host = await TestHost.start(extension);
  host.on(api === "0.3" ? "session.create" : "composer.get", () => deferred<JsonObject>().promise);
  host.send(callRequest(50, "ask"));
  await host.frame(asked);
  return host;
}

for (const body of [String.raw`"result":{"text":"\ud800"}`, '"result":{"text":"t","text":"t"}', String.raw`"error":{"code":1,"message":"\ud800"}`]) {
  test(`0.4: an answer with a fault below its envelope fails the child it names: ${body}`, { timeout: 60_000 }, async () => {
    const { extension, outcome } = asking("0.4");
    const host = await started("0.4", extension);
    assert.deepEqual(sent(host, `{"jsonrpc":"2.0","id":"c-1",${body}}`), []);
    assert.ok((await outcome) instanceof RemoteProtocolError);
  });

  test(`0.3: an answer with a fault below its envelope still ends the session: ${body}`, async () => {
    const { extension } = asking("0.3");
    const host = await started("0.3", extension);
    host.send(`{"id":"c-1","jsonrpc":"2.0",${body}}`);
    assert.equal(await host.ended, 1);
  });
}

for (const api of ["0.3", "0.4"] as const) {
  test(`${api}: a message with neither result nor error fails the child it names, and gets no answer`, async () => {
    const { extension, outcome } = asking(api);
    const host = await started(api, extension);
    assert.deepEqual(sent(host, { id: "c-1", jsonrpc: "2.0" }), []);
    assert.ok((await outcome) instanceof RemoteProtocolError);
  });

  test(`${api}: a request whose method fills the line has an answer`, async () => {
    const host = await TestHost.start(asking(api).extension);
    const method = "m".repeat(1024 * 1024 - 200);
    const frames = sent(host, JSON.stringify({ id: 7, jsonrpc: "2.0", method, params: {} }));
    assert.deepEqual(frames.map((frame) => [frame["id"], frame["error"] !== undefined]), [[7, true]]);
  });

  test(`${api}: the host cancels the request: its child is given up first, and a late answer ignored`, async () => {
    const { extension, outcome } = asking(api);
    const host = await started(api, extension);
    const frames = sent(host, { jsonrpc: "2.0", method: "$/cancelRequest", params: { id: 50, reason: "user" } });
    assert.deepEqual(frames.map((frame) => [frame["method"] ?? frame["id"], (frame["params"] as JsonObject | undefined)?.["id"]]), [["$/cancelRequest", "c-1"], [50, undefined]]);
    assert.ok((await outcome) instanceof CancelledError);
    assert.deepEqual(sent(host, { id: "c-1", jsonrpc: "2.0", result: RESULT[api] ?? {} }), []);
    assert.match(host.logs.at(-1) ?? "", /too late/u);
    assert.deepEqual(sent(host, { jsonrpc: "2.0", method: "$/cancelRequest", params: { id: 50 } }), []);
    assert.equal(await host.shutdown(), 0);
  });

  test(`${api}: the host cancels the child alone: the handler goes on`, async () => {
    const { extension, outcome } = asking(api);
    const host = await started(api, extension);
    assert.deepEqual(sent(host, { jsonrpc: "2.0", method: "$/cancelRequest", params: { id: "c-1", reason: "gone" } }), []);
    assert.equal(((await outcome) as CancelledError).reason, "gone");
    assert.ok((await host.frame(answers(50)))["result"]);
  });

  test(`${api}: an answer that is none fails the child at once`, async () => {
    for (const answer of [{ id: "c-1", jsonrpc: "2.0", result: RESULT[api] ?? {}, error: { code: -32603, message: "internal error" } }, { id: "c-1", jsonrpc: "1.0", result: RESULT[api] ?? {} }]) {
      const { extension, outcome } = asking(api);
      const host = await started(api, extension);
      host.send(answer);
      assert.equal(((await outcome) as Error).name, "RemoteProtocolError");
      assert.ok((await host.frame(answers(50)))["result"]);
      assert.equal(await host.shutdown(), 0);
    }
  });

  test(`${api}: the session ends: the child is cancelled without a word`, async () => {
    for (const end of [(host: TestHost) => host.close(), (host: TestHost) => host.abandon(), (host: TestHost) => host.shutdown()]) {
      const { extension, outcome } = asking(api);
      const host = await started(api, extension);
      const ended = end(host);
      assert.ok((await outcome) instanceof CancelledError);
      await ended;
      assert.ok(!host.frames.some((frame) => frame["method"] === "$/cancelRequest"));
    }
  });

  test(`${api}: the author gives up: the host is told once`, async () => {
    const stop = new AbortController();
    const outcome = deferred<unknown>();
    const extension = new ExtensionDefinition({ api, uses: "all" });
    extension.tool("ask", { description: "Asks." }, async (call) => {
      outcome.resolve(await ask(call, stop.signal).catch((fault: unknown) => fault));
      await assert.rejects(ask(call, stop.signal), CancelledError);
      return "asked";
    });
    const host = await started(api, extension);
    stop.abort("enough");
    assert.equal(((await outcome.promise) as CancelledError).reason, "enough");
    await host.frame(answers(50));
    const cancels = host.frames.filter((frame) => frame["method"] === "$/cancelRequest");
    assert.deepEqual(cancels.map((frame) => JSON.stringify(frame["params"])), ['{"id":"c-1","reason":"enough"}']);
  });

  test(`${api}: an answer ends the children that are left, silently`, async () => {
    const outcome = deferred<unknown>();
    const extension = new ExtensionDefinition({ api, uses: "all" });
    extension.tool("ask", { description: "Asks and does not wait." }, (call) => {
      ask(call).catch((fault: unknown) => {
        outcome.resolve(fault);
      });
      return "asked";
    });
    const host = await started(api, extension);
    await host.frame(answers(50));
    assert.ok((await outcome.promise) instanceof CancelledError);
    assert.deepEqual(sent(host, { error: { code: -32603, message: "internal error" }, id: "c-1", jsonrpc: "2.0" }), []);
    assert.ok(!host.frames.some((frame) => frame["method"] === "$/cancelRequest"));
  });
}

test("0.4: an answer nobody waits for is ignored; 0.3: it ends the stream", async () => {
  const feature = await TestHost.start(asking("0.4").extension);
  assert.deepEqual(sent(feature, { id: "c-9", jsonrpc: "2.0", result: {} }), []);
  assert.equal(await feature.shutdown(), 0);
  const canonical = await TestHost.start(asking("0.3").extension);
  canonical.send({ id: "c-9", jsonrpc: "2.0", result: {} });
  assert.equal(await canonical.ended, 1);
});

test("0.3: the second answer to one request ends the stream", async () => {
  const { extension, outcome } = asking("0.3");
  const host = await started("0.3", extension);
  host.send({ id: "c-1", jsonrpc: "2.0", result: { session_id: "s" } });
  await outcome;
  host.send({ id: "c-1", jsonrpc: "2.0", result: { session_id: "s" } });
  assert.equal(await host.ended, 1);
});

test("128 requests may be outstanding, and no more", async () => {
  const outcome = deferred<unknown>();
  const extension = new ExtensionDefinition({ uses: ["composer"] });
  extension.tool("ask", { description: "Asks a lot." }, async (call) => {
    const all = Array.from({ length: 129 }, () => call.services.composer.get());
    outcome.resolve(await (all.pop() ?? Promise.resolve()).catch((fault: unknown) => fault));
    await Promise.all(all);
    return "asked";
  });
  const host = await TestHost.start(extension);
  const open = deferred<JsonObject>();
  host.on("composer.get", () => open.promise);
  const call = host.call("ask");
  const fault = await outcome.promise;
  assert.ok(fault instanceof LocalProtocolError);
  assert.match(fault.message, /128 requests to the host are outstanding/u);
  open.resolve({ text: "" });
  assert.equal((await call).text, "asked");
  assert.equal(host.sent.length, 128);
});

test("65,536 requests may be sent by one process, and no more", async () => {
  const extension = new ExtensionDefinition({ uses: ["composer"] });
  let fault: unknown;
  extension.tool("ask", { description: "Asks for ever." }, async (call) => {
    for (let i = 0; i < 65_536; i++) {
      await call.services.composer.get();
    }
    fault = await call.services.composer.get().catch((one: unknown) => one);
    return "asked";
  });
  const host = await TestHost.start(extension);
  host.on("composer.get", () => ({ text: "" }));
  await host.call("ask");
  assert.match((fault as Error).message, /65536 requests were sent/u);
});

test("a handler that was cancelled cannot ask any more, and one that was answered only in its own name", async () => {
  const gate = deferred();
  const outcome = deferred<unknown>();
  const extension = new ExtensionDefinition({ uses: "all" });
  extension.tool("ask", { description: "Asks late." }, async (call) => {
    await gate.promise;
    outcome.resolve(await call.services.composer.get().catch((fault: unknown) => fault));
    return "late";
  });
  const host = await TestHost.start(extension);
  host.send(callRequest(50, "ask"));
  host.notify("$/cancelRequest", { id: 50 });
  gate.resolve();
  assert.ok((await outcome.promise) instanceof CancelledError);
  assert.deepEqual(host.sent, []);
});
