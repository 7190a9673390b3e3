/** Events and shortcuts: what the host tells, in order, one at a time, and never while it is read. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsonObject } from "../src/_generated/json.js";
import { ExtensionDefinition } from "../src/extension.js";
import type { SessionHandle } from "../src/scope.js";
import { ErrorAnswer, TestHost } from "../src/testing.js";
import { callRequest, deferred, initializeRequest, refused, sent } from "./session.js";

const TURN: JsonObject = { session_id: "s", run_id: "r", turn_id: "t" };

test("events are handled in the order they came, one at a time, behind the reading", async () => {
  const gate = deferred();
  const done = deferred();
  const seen: string[] = [];
  const extension = new ExtensionDefinition();
  extension.events.turnStarted(async ({ turn_id: id }) => {
    seen.push(`begin ${id}`);
    await gate.promise;
    seen.push(`end ${id}`);
    throw new Error("a handler that fails");
  });
  extension.events.turnStarted((_event, session) => seen.push(`second ${session.api}`));
  extension.events.turnSettled(({ outcome }) => {
    seen.push(outcome);
    done.resolve();
  });
  const host = await TestHost.start(extension);
  host.event("turn_started", TURN);
  host.event("turn_settled", { ...TURN, outcome: "completed", duration_ms: 1 });
  assert.deepEqual(seen, [], "a handler ran while the host was read");
  gate.resolve();
  await done.promise;
  assert.deepEqual(seen, ["begin t", "end t", "second 0.4", "completed"]);
  assert.ok(host.logs.some((line) => line.includes('event "turn/started": Error: a handler that fails')));
  const protocol = (host.frames[0]?.["result"] as JsonObject)["protocol"] as JsonObject;
  assert.deepEqual(protocol["lifecycle_events"], ["turn/started", "turn/settled"]);
});

test("what is malformed, unknown or not negotiated is logged and dropped", async () => {
  const seen: unknown[] = [];
  const extension = new ExtensionDefinition({ uses: ["lifecycle_events"] });
  extension.events.turnStarted((event) => seen.push(event));
  const host = await TestHost.start(extension);
  for (const [method, params, line] of [
    ["turn/started", {}, 'malformed "turn/started": "/session_id" is missing'],
    ["turn/started", { ...TURN, turn_id: 7 }, 'malformed "turn/started": "/turn_id" must be a string'],
    ["message/started", { message_id: "m" }, 'ignored the notification "message/started", which was not negotiated'],
    ["no/such", {}, "which API 0.4 does not have"],
    ["bus/event", {}, "which API 0.4 does not have"],
    ["tool/call", {}, "which API 0.4 does not have"],
  ] as const) {
    const before = host.logs.length;
    host.notify(method, params);
    assert.ok(host.logs.slice(before).join("\n").includes(line), `${method}: ${host.logs.slice(before).join("\n")}`);
  }
  assert.deepEqual(sent(host, { jsonrpc: "2.0", method: "turn/started" }), []);
  assert.equal(await host.shutdown(), 0);
  assert.deepEqual(seen, []);
});

test("a flood of events is bounded, said once, and the session goes on", async () => {
  const gate = deferred();
  let handled = 0;
  const extension = new ExtensionDefinition();
  extension.events.turnStarted(async () => {
    handled++;
    await gate.promise;
  });
  extension.tool("one", { description: "d" }, () => "alive");
  const host = await TestHost.start(extension);
  for (let i = 0; i < 5000; i++) {
    host.event("turn_started", TURN);
  }
  assert.equal((await host.call("one")).text, "alive");
  assert.equal(host.logs.filter((line) => line.includes("events are dropped")).length, 1);
  gate.resolve();
  await host.shutdown();
  assert.ok(handled < 1100, String(handled));
});

test("after the end of the stream no event is handled any more", async () => {
  const gate = deferred();
  const seen: number[] = [];
  const extension = new ExtensionDefinition();
  extension.events.turnStarted(async () => {
    seen.push(seen.length);
    await gate.promise;
  });
  const host = await TestHost.start(extension);
  host.event("turn_started", TURN);
  host.event("turn_started", TURN);
  await Promise.resolve();
  const ended = host.close();
  gate.resolve();
  await ended;
  await Promise.resolve();
  assert.deepEqual(seen, [0]);
});

test("all six lifecycle events are heard without a list; no list goes without the feature", async () => {
  const heard = (host: TestHost): unknown => ((host.frames[0]?.["result"] as JsonObject)["protocol"] as JsonObject)["lifecycle_events"];
  const all = new ExtensionDefinition();
  all.events.sessionStarted(() => 0).sessionSettled(() => 0).turnStarted(() => 0).turnSettled(() => 0).toolStarted(() => 0).toolSettled(() => 0);
  assert.equal(heard(await TestHost.start(all)), undefined);
  const some = new ExtensionDefinition();
  some.events.toolStarted(() => 0);
  assert.equal(heard(await TestHost.start(some, { features: [] })), undefined);
});

/** An extension with two shortcuts that note their triggers. */
function shortcuts(): { readonly extension: ExtensionDefinition; readonly pressed: string[] } {
  const pressed: string[] = [];
  const extension = new ExtensionDefinition();
  for (const id of ["a", "b"]) {
    extension.shortcut(id, { key: `ctrl+${id}`, description: `Presses ${id}` }, (session: SessionHandle) => pressed.push(`${id} ${session.api}`));
  }
  extension.tool("one", { description: "d" }, () => "alive");
  return { extension, pressed };
}

test("shortcuts are offered inside initialize; a refused one never runs", async () => {
  const { extension, pressed } = shortcuts();
  const host = TestHost.connect(extension);
  host.on("shortcuts.register", (params) => {
    if (params["id"] === "b") {
      throw new ErrorAnswer(-32602, "invalid_request taken");
    }
    return {};
  });
  await host.initialize();
  const order = host.frames.map((frame) => frame["method"] ?? frame["id"]);
  assert.deepEqual(order, ["shortcut/register", "shortcut/register", 1]);
  assert.equal(JSON.stringify(host.sent[0]?.params), '{"description":"Presses a","id":"a","key":"ctrl+a","parent_request_id":1}');
  for (const id of ["a", "b", "nobody"]) {
    host.event("shortcut_trigger", { id });
  }
  await host.call("one");
  assert.deepEqual(pressed, ["a 0.4"]);
  assert.ok(host.logs.some((line) => line.includes('the shortcut "b" is not available')));
  assert.ok(host.logs.some((line) => line.includes('the shortcut "nobody", which was not admitted')));
});

test("while shortcuts are judged nothing else is served, and the host may give up", async () => {
  const { extension } = shortcuts();
  const host = TestHost.connect(extension);
  host.on("shortcuts.register", () => deferred<JsonObject>().promise);
  const request = { ...initializeRequest("0.4", { features: ["shortcuts"] }), id: 7 };
  assert.equal(sent(host, request).length, 2);
  assert.deepEqual(refused(host, callRequest(8, "one")), { id: 8, code: -32600 });
  assert.deepEqual(refused(host, { ...request, id: 9 }), { id: 9, code: -32600 });
  assert.deepEqual(sent(host, { jsonrpc: "2.0", method: "$/cancelRequest", params: { id: "c-1" } }), []);
  host.send({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id: "c-2" } });
  assert.ok((await host.frame((frame) => frame["id"] === 7))["result"]);
  assert.equal((await host.call("one")).text, "alive");
});

test("the end of the stream while shortcuts are judged ends the session", async () => {
  const { extension } = shortcuts();
  const host = TestHost.connect(extension);
  host.on("shortcuts.register", () => deferred<JsonObject>().promise);
  host.send({ ...initializeRequest("0.4", { features: ["shortcuts"] }), id: 7 });
  assert.equal(await host.close(), 0);
  assert.ok(!host.frames.some((frame) => frame["id"] === 7));
});

test("the handle of onReady lasts as long as the session, and what it throws is logged", async () => {
  const ready = deferred<SessionHandle>();
  const extension = new ExtensionDefinition();
  extension.onReady(ready.resolve).onReady(() => { throw new Error("not ready"); });
  const host = await TestHost.start(extension, { flags: { deep: 3 }, host: { model: "m" } });
  const session = await ready.promise;
  await Promise.resolve();
  assert.ok(host.logs.some((line) => line.includes("onReady: Error: not ready")));
  assert.deepEqual([session.api, session.workspace, session.flags["deep"], session.host.model, session.signal.aborted], ["0.4", "/workspace", 3, "m", false]);
  assert.ok(session.features.has("content_parts"));
  await host.shutdown();
  assert.ok(session.signal.aborted);
  await assert.rejects(session.services.notifications.show({ message: "late" }), { name: "CancelledError" });
});
