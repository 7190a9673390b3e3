/** Services: what a scope may ask, in whose name, and what comes back. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { ServiceName } from "../src/_generated/services.js";
import { CancelledError, HostError, InvalidParams, LocalProtocolError, NoParent, NotNegotiated, RemoteProtocolError, TooLarge } from "../src/errors.js";
import type { Api, ExtensionOptions } from "../src/extension.js";
import { ExtensionDefinition } from "../src/extension.js";
import type { Owner } from "../src/owner.js";
import type { Scope, SessionHandle, ToolCall } from "../src/scope.js";
import { ErrorAnswer, OWNER, TestHost } from "../src/testing.js";
import { answers, CONTEXT, deferred } from "./session.js";

const USES: ExtensionOptions = { uses: "all" };

/** An extension with one tool. */
function one(run: (call: ToolCall) => string | Promise<string>, options: ExtensionOptions = USES): ExtensionDefinition {
  return new ExtensionDefinition(options).tool("one", { description: "Runs the test." }, (call) => run(call));
}

/** Runs something inside a tool and returns what it threw. */
async function thrownBy(options: ExtensionOptions, run: (call: ToolCall) => unknown, prepare: (host: TestHost) => unknown = () => undefined, host?: Parameters<typeof TestHost.start>[1]): Promise<unknown> {
  let thrown: unknown;
  const extension = one(async (call) => {
    try {
      await run(call);
    } catch (fault) {
      thrown = fault;
    }
    return "done";
  }, options);
  const started = await TestHost.start(extension, host);
  prepare(started);
  await started.call("one");
  return thrown;
}

test("a request carries its parent and resolves to its result; an empty result is nothing", async () => {
  const host = await TestHost.start(one(async (call) => {
    const { text } = await call.services.composer.get();
    await call.services.composer.insert({ text: "b" });
    return `${text} ${JSON.stringify(await call.services.invoke("composer.get"))} ${typeof (await call.services.invoke("composer.insert", { text: "c" }))}`;
  }));
  host.on("composer.get", () => ({ text: "a" })).on("composer.insert", () => ({}));
  assert.equal((await host.call("one")).text, 'a {"text":"a"} undefined');
  assert.deepEqual(host.sent.map(({ service, params }) => [service, JSON.stringify(params)]), [
    ["composer.get", '{"parent_request_id":2}'],
    ["composer.insert", '{"parent_request_id":2,"text":"b"}'],
    ["composer.get", '{"parent_request_id":2}'],
    ["composer.insert", '{"parent_request_id":2,"text":"c"}'],
  ]);
  const ids = host.frames.filter((frame) => frame["method"] !== undefined).map((frame) => frame["id"]);
  assert.deepEqual(ids, ["c-1", "c-2", "c-3", "c-4"]);
});

test("what this session does not have refuses, and says what to do", async () => {
  const cases: readonly [Api, ExtensionOptions, ServiceName, RegExp, Parameters<typeof TestHost.start>[1]?][] = [
    ["0.1", {}, "composer.get", /API 0\.1 has no composer\.get: use API 0\.2 or 0\.4/u],
    ["0.2", { uses: [] }, "composer.get", /"composer\/get": the feature "composer" was not negotiated: list "composer" in the option uses/u],
    ["0.4", { uses: ["composer"] }, "composer.get", /the host did not offer it/u, { features: [] }],
    ["0.4", {}, "tools.register", /the feature "dynamic_tools" was not negotiated/u],
    ["0.4", {}, "confirmations.ask", /declares no confirmations: set confirmations = true/u, { contributes: { confirmations: false } }],
    ["0.3", {}, "composer.get", /API 0\.3 has no composer\.get/u],
    ["0.3", {}, "theme.select", /the capability "theme_selection" was not negotiated/u],
    ["0.4", {}, "bus.publish", /API 0\.4 has no bus\.publish: use API 0\.3/u],
  ];
  for (const [api, options, service, text, offer] of cases) {
    const thrown = await thrownBy({ ...options, api }, (call) => call.services.invoke(service, {}), () => undefined, offer);
    assert.ok(thrown instanceof NotNegotiated, `${api} ${service}: ${String(thrown)}`);
    assert.match(thrown.message, text);
    assert.ok(thrown.method?.includes("/"), thrown.method);
  }
});

test("a feature brings what it depends on, and goes where that is not offered", async () => {
  const extension = (): ExtensionDefinition => new ExtensionDefinition({ uses: ["agent_model_selection_v1", "session_compaction_v1"] });
  const selected = (host: TestHost): readonly string[] => (((host.frames[0]?.["result"] ?? {}) as { protocol?: { features: string[] } }).protocol?.features ?? []).filter((name) => /^(?:agent|session)_/u.test(name));
  assert.deepEqual(selected(await TestHost.start(extension())), ["agent_sessions", "agent_model_selection_v1", "session_control_v1", "session_compaction_v1"]);
  const partly = await TestHost.start(extension(), { features: ["agent_model_selection_v1", "session_control_v1", "session_compaction_v1"] });
  assert.deepEqual(selected(partly), ["session_control_v1", "session_compaction_v1"]);
  assert.ok(partly.logs.some((line) => line.includes('does not offer the feature "agent_model_selection_v1"')));
});

test("members that need a feature of their own refuse without it, and null counts as absent", async () => {
  const uses: ExtensionOptions = { uses: ["policy_intents", "composer"] };
  const intent = { kind: "k", operation: "o", target: {} };
  assert.ok((await thrownBy(uses, (call) => call.services.policy.evaluate({ intent, approval_token: "0".repeat(64) }))) instanceof NotNegotiated);
  const sent = await thrownBy(uses, (call) => call.services.policy.evaluate({ intent }), (host) => host.on("policy.evaluate", () => ({ decision: "deny" })));
  assert.equal(sent, undefined);
});

test("parameters are judged before anything is sent", async () => {
  const extension = one(async (call) => {
    await assert.rejects(call.services.invoke("composer.set", { text: 7 }), (fault) => fault instanceof InvalidParams && fault.pointer === "/text" && fault.violation === "type" && fault.method === "composer/set");
    await assert.rejects(call.services.invoke("composer.set", { text: "\u0007" }), { violation: "pattern" });
    await assert.rejects(call.services.composer.set({ text: "\ud800" }), InvalidParams);
    await assert.rejects(call.services.composer.set({ text: "x".repeat(262_145) }), { violation: "bytes" });
    await assert.rejects(call.services.invoke("no.such"), /there is no service "no\.such"/u);
    await assert.rejects(call.services.invoke("tools.register", { tools: [] }), /use dynamicTools/u);
    return "done";
  });
  const host = await TestHost.start(extension);
  assert.equal((await host.call("one")).text, "done");
  assert.deepEqual(host.sent, []);
});

test("an error of the host is a HostError with its token, -32800 a cancellation, a broken result the host's fault", async () => {
  const refused = new ErrorAnswer(-32002, "not_foreground_owner another session", { a: 1 });
  const thrown = await thrownBy(USES, (call) => call.services.composer.get(), (host) => host.on("composer.get", () => { throw refused; }));
  assert.ok(thrown instanceof HostError);
  assert.deepEqual([thrown.code, thrown.token, thrown.text, JSON.stringify(thrown.data), thrown.method], [-32002, "not_foreground_owner", "not_foreground_owner another session", '{"a":1}', "composer/get"]);
  const cancelled = await thrownBy(USES, (call) => call.services.composer.get(), (host) => host.on("composer.get", () => { throw new ErrorAnswer(-32800, "request cancelled"); }));
  assert.ok(cancelled instanceof CancelledError);
  for (const broken of [{}, { text: 1 }, { text: "\u0000" }]) {
    const fault = await thrownBy(USES, (call) => call.services.composer.get(), (host) => host.on("composer.get", () => broken));
    assert.ok(fault instanceof RemoteProtocolError && !(fault instanceof LocalProtocolError), JSON.stringify(broken));
  }
});

test("a request over the frame is refused here", async () => {
  const uses: ExtensionOptions = { api: "0.3", uses: ["provider_catalog"] };
  const models = Array.from({ length: 20 }, (_, i) => ({
    id: `m${String(i)}`, api_name: "x", protocol: "openai_chat" as const, context_window: 1, max_output_tokens: 1,
    capabilities: { tools: true, parallel_tool_calls: true, structured_output: true, reasoning: true },
  }));
  const thrown = await thrownBy(uses, (call) => call.services.providers.register({ provider: { id: "p", label: "P", auth: { kind: "none" } }, models }), () => undefined, { maxFrameBytes: 2048 });
  assert.ok(thrown instanceof TooLarge, String(thrown));
});

test("the parent classes: live, settled, session, tool call, owner", async () => {
  const outcome = deferred<Scope>();
  let session: SessionHandle | undefined;
  const extension = one((call) => {
    call.after((scope) => {
      outcome.resolve(scope);
      return deferred().promise;
    });
    return "done";
  });
  extension.onReady((handle) => { session = handle; });
  extension.command("cmd", { description: "d" }, async (call) => {
    await assert.rejects(call.services.composition.context(), NoParent);
    return "done";
  });
  const host = await TestHost.start(extension);
  for (const service of ["composer.get", "session.compact"] as const) {
    host.on(service, () => (service === "composer.get" ? { text: "" } : { entry_id: "e", summary: "s", first_kept: "f" }));
  }
  await host.call("one");
  const settled = await outcome.promise;
  assert.deepEqual([{ ...settled.owner }, { ...settled.host }], [OWNER, {}]);
  await settled.services.composer.get();
  await settled.services.session.compact({ custom_instructions: "Keep names." });
  await assert.rejects(settled.services.input.ask({ prompt: "p", secret: false }), NoParent);
  await settled.services.presentation.update({ snapshot: { revision: 1 } });
  await settled.services.ui.frame({ surface_id: "s", revision: 1, columns: 1, rows: 1, lines: [] });
  const owner = '"resource_owner":{"extension_instance_id":"instance","process_generation":1,"session_id":"owner"}';
  const params = (service: string): string | undefined => JSON.stringify(host.sent.find((one) => one.service === service)?.params);
  assert.equal(params("composer.get"), `{"parent_request_id":2,${owner}}`);
  assert.equal(params("session.compact"), `{"custom_instructions":"Keep names.","parent_request_id":2,${owner}}`);
  assert.equal(params("presentation.update"), `{${owner},"snapshot":{"revision":1}}`);
  assert.match(params("ui.frame") ?? "", /"resource_owner"/u);
  assert.ok(session);
  await assert.rejects(session.services.composer.get(), NoParent);
  await assert.rejects(session.services.ui.frame({ surface_id: "s", revision: 1, columns: 1, rows: 1, lines: [] }), NoParent);
  await session.services.presentation.update({ snapshot: { revision: 2 } });
  assert.equal(JSON.stringify(host.sent.at(-1)?.params), '{"snapshot":{"revision":2}}');
  await session.services.notifications.show({ message: "m" });
  await host.command("cmd");
});

test("a live request refuses what may only follow its answer, and a shortcut is not for handlers", async () => {
  const thrown = await thrownBy(USES, async (call) => {
    await assert.rejects(call.services.session.compact({}), NoParent);
    await assert.rejects(call.services.shortcuts.register({ id: "i", key: "k", description: "d" }), NoParent);
  });
  assert.equal(thrown, undefined);
});

test("without an owner, or under an id that is no number, nothing is sent in somebody's name", async () => {
  const outcome = deferred<unknown>();
  const extension = one(async (call) => {
    await assert.rejects(call.services.composer.setHistory({ entries: [] }), NoParent);
    call.after(async (scope) => {
      outcome.resolve(await scope.services.composer.get().catch((fault: unknown) => fault));
    });
    return "done";
  });
  const host = await TestHost.start(extension);
  await host.call("one", {}, { owner: null });
  assert.ok((await outcome.promise) instanceof NoParent);
  host.send({ id: "text", jsonrpc: "2.0", method: "tool/call", params: { name: "one", arguments: {}, context: CONTEXT } });
  await host.frame(answers("text"));
  assert.deepEqual(host.sent, []);
});

test("agents carry the owner with the lifetime feature, and only then outlive their request", async () => {
  for (const [uses, live, later] of [
    [["agent_sessions"], false, "NoParent"],
    [["agent_sessions", "agent_session_lifetime_v1"], true, "HostError"],
  ] as const) {
    const outcome = deferred<string>();
    const extension = one(async (call) => {
      await call.services.agents.list().catch(() => undefined);
      call.after(async (scope) => {
        outcome.resolve(await scope.services.agents.list().then(() => "sent", (fault: unknown) => (fault as Error).name));
      });
      return "done";
    }, { uses });
    const host = await TestHost.start(extension);
    await host.call("one");
    assert.equal(await outcome.promise, later);
    assert.equal(host.sent[0]?.params["resource_owner"] !== undefined, live);
  }
});

test("API 0.1 asks without a parent, and only while its request is open", async () => {
  const later = deferred<unknown>();
  const extension = one(async (call) => {
    const { confirmed } = await call.services.confirmations.ask({ prompt: "Sure?", detail: null, destructive: true, default: false });
    call.after(async (scope) => {
      later.resolve(await scope.services.confirmations.ask({ prompt: "p", detail: null, destructive: false, default: false }).catch((fault: unknown) => fault));
    });
    return String(confirmed);
  }, { api: "0.1" });
  const host = await TestHost.start(extension);
  host.on("confirmations.ask", () => ({ confirmed: true }));
  assert.equal((await host.call("one")).text, "true");
  assert.equal(JSON.stringify(host.sent[0]?.params), '{"default":false,"destructive":true,"detail":null,"prompt":"Sure?"}');
  assert.ok((await later.promise) instanceof NoParent);
});

test("memory is kept apart for every owner, and forgotten with its session or generation", async () => {
  const extension = one((call) => String(++call.memory(counter).n), { uses: ["lifecycle_events"] });
  const host = await TestHost.start(extension);
  const ask = async (owner: Owner | null, session = "s1"): Promise<string> => (await host.call("one", {}, { owner, host: { session_id: session } })).text;
  const other: Owner = { ...OWNER, session_id: "other" };
  assert.deepEqual([await ask(OWNER), await ask(OWNER), await ask(other), await ask(null), await ask(null)], ["1", "2", "1", "1", "2"]);
  assert.equal(await ask({ ...OWNER, process_generation: 2 }), "1");
  assert.equal(await ask(OWNER), "1", "the generation before was kept");
  host.event("session_settled", { session_id: "s1", outcome: "completed", duration_ms: 1 });
  assert.equal(await ask(OWNER), "1", "a settled session was remembered");
  assert.equal(await ask(null), "3");
});

function counter(): { n: number } {
  return { n: 0 };
}
