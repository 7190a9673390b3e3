/** What the host asks beside tool calls, on the feature wire. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsonObject, JsonValue } from "../src/_generated/json.js";
import { LocalProtocolError } from "../src/errors.js";
import { ExtensionDefinition } from "../src/extension.js";
import { ErrorAnswer, TestHost } from "../src/testing.js";
import { CONTEXT, deferred, refused } from "./session.js";

/** What an error answer says, without the stack of anything. */
async function failureOf(answer: Promise<unknown>): Promise<readonly [number, string]> {
  const fault: unknown = await answer.then((value) => new Error(`answered ${JSON.stringify(value)}`), (one: unknown) => one);
  assert.ok(fault instanceof ErrorAnswer, String(fault));
  return [fault.code, fault.message];
}

const INTERNAL = [-32603, "internal error"] as const;

for (const api of ["0.1", "0.2", "0.4"] as const) {
  test(`${api}: a command answers a text, or a text with company; a fault tells nothing of itself`, async () => {
    const extension = new ExtensionDefinition({ api });
    extension.command("say", { description: "Says.", usage: "/say WORD" }, (call, args) => `${call.name} ${args.join("+")} ${call.workspace}`);
    extension.command("more", { description: "Says more." }, () => ({ text: "t", notifications: [{ message: "n" }] }));
    extension.command("fail", { description: "Fails." }, () => { throw new Error("a secret path"); });
    extension.command("wrong", { description: "Answers nonsense." }, () => ({ text: 7 }) as never);
    const host = await TestHost.start(extension);
    assert.equal(JSON.stringify(await host.command("say", ["a", "b"])), '{"context":[],"notifications":[],"text":"say a+b /workspace"}');
    assert.equal(JSON.stringify(await host.command("more")), '{"context":[],"notifications":[{"message":"n"}],"text":"t"}');
    assert.deepEqual(await failureOf(host.command("fail")), INTERNAL);
    assert.ok(host.logs.some((line) => line.includes("a secret path")));
    assert.equal((await failureOf(host.command("wrong")))[0], -32603);
    assert.deepEqual(await failureOf(host.command("none")), [-32601, "unknown command: none"]);
    const catalog = (host.frames[0]?.["result"] as JsonObject)["commands"];
    assert.equal(JSON.stringify((catalog as JsonValue[])[0]), '{"description":"Says.","name":"say","usage":"/say WORD"}');
  });

  test(`${api}: a hook gets its payload and answers what its model allows`, async () => {
    const extension = new ExtensionDefinition({ api });
    extension.hooks.beforePrompt((hook, { prompt }) => (prompt === "no" ? { disposition: { action: "deny", reason: hook.name } } : undefined));
    extension.hooks.afterResponse(() => { throw new Error("a secret path"); });
    extension.hooks.afterToolCall(() => ({ disposition: { action: "maybe" } }) as never);
    const host = await TestHost.start(extension);
    assert.equal(JSON.stringify(await host.hook("before_prompt", { prompt: "no" })), '{"disposition":{"action":"deny","reason":"before_prompt"}}');
    assert.equal(JSON.stringify(await host.hook("before_prompt", { prompt: "yes" })), "{}");
    assert.deepEqual(await failureOf(host.hook("after_response", { response: "r" })), INTERNAL);
    assert.equal((await failureOf(host.hook("after_tool_call", { name: "n", arguments: {}, output: "", is_error: false })))[0], -32603);
    const broken: unknown = await host.hook("before_prompt", { prompt: 1 }).catch((fault: unknown) => fault);
    assert.equal(JSON.stringify((broken as ErrorAnswer).data), '{"pointer":"/payload/prompt","reason":"must be a string"}');
    assert.equal((await failureOf(host.hook("before_tool_call", { name: "n", arguments: {} })))[0], -32602);
    assert.equal((await failureOf(host.hook("no_such_hook", {})))[0], -32602);
    const undeclared = await TestHost.start(extension, { contributes: { hooks: [] } });
    assert.equal((await failureOf(undeclared.hook("before_prompt", { prompt: "no" })))[0], -32602);
  });

  test(`${api}: a hook answers with its own members alone`, async () => {
    for (const member of ["value", "nothing_of_the_kind", "a/b"]) {
      const extension = new ExtensionDefinition({ api });
      extension.hooks.beforePrompt(() => ({ [member]: {}, disposition: undefined }) as never);
      const host = await TestHost.start(extension);
      assert.equal((await failureOf(host.hook("before_prompt", { prompt: "p" })))[0], -32603);
      const place = `"/${member.replace("/", "~1")}"`;
      assert.ok(host.logs.some((line) => line.includes(`hook "before_prompt"`) && line.includes(place)), host.logs.join("\n"));
      assert.ok(!host.frames.some((frame) => frame["id"] !== "init" && frame["result"] !== undefined && JSON.stringify(frame).includes(member)));
    }
  });

  test(`${api}: context, status and renderers are collected, where the manifest declares them`, async () => {
    const extension = new ExtensionDefinition({ api });
    extension.context((scope, prompt) => [{ label: scope.workspace, content: prompt ?? "none" }]);
    extension.status("status", () => ({ text: "ready", priority: 1 }));
    extension.status("header", () => null);
    extension.status("footer", () => { throw new Error("no"); });
    extension.renderer("count", (_scope, { output, isError }) => [{ text: `${output} ${String(isError)}` }]);
    const host = await TestHost.start(extension);
    assert.equal(JSON.stringify(await host.collectContext(null)), '[{"content":"none","label":"/workspace"}]');
    assert.equal(JSON.stringify(await host.collectStatus("status")), '{"priority":1,"surface":"status","text":"ready"}');
    assert.equal(await host.collectStatus("header"), null);
    assert.deepEqual(await failureOf(host.collectStatus("footer")), INTERNAL);
    assert.equal(JSON.stringify(await host.render("count", { word: "a" }, "1")), '[{"text":"1 false"}]');
    assert.equal((await failureOf(host.render("other", {}, "")))[0], -32601);

    const undeclared = await TestHost.start(extension, { contributes: { context: false, ui: [], tool_renderers: [], hooks: [] } });
    assert.equal((await failureOf(undeclared.collectContext(null)))[0], -32601);
    assert.equal((await failureOf(undeclared.collectStatus("status")))[0], -32601);
    assert.equal((await failureOf(undeclared.render("count", {}, "")))[0], -32601);
  });

  test(`${api}: what nobody registered is an unknown method`, async () => {
    const host = await TestHost.start(new ExtensionDefinition({ api }), { contributes: { context: true, ui: ["status"], tool_renderers: ["t"] } });
    for (const [method, params] of [["context/collect", { prompt: null }], ["status/collect", { surface: "status" }], ["tool/render", { name: "t", arguments: {}, output: "", is_error: false }]] as const) {
      assert.deepEqual(refused(host, { id: 9, jsonrpc: "2.0", method, params: { ...params, context: CONTEXT } }), { id: 9, code: -32601 });
    }
  });
}

test("the menu is collected, and a result over its bound is refused here", async () => {
  let title = "Menu";
  const extension = new ExtensionDefinition();
  extension.menu(() => ({ title, items: [{ id: "a", label: "A", items: [{ id: "b", label: "B", command: "c" }] }] }));
  const host = await TestHost.start(extension);
  assert.equal(JSON.stringify(await host.collectMenu()), '{"items":[{"id":"a","items":[{"command":"c","id":"b","label":"B"}],"label":"A"}],"title":"Menu"}');
  title = "x".repeat(257);
  const [code, message] = await failureOf(host.collectMenu());
  assert.equal(code, -32603);
  assert.match(message, /"\/title"/u);
});

test("completions go without the members that were not negotiated", async () => {
  const extension = (): ExtensionDefinition => new ExtensionDefinition({ uses: "all" }).autocomplete((_scope, { text, cursor }) => ({
    prefix: text.slice(0, cursor),
    items: [{ value: "v", label: "l", description: null, ...(text === "plain" ? {} : { cursor_offset_bytes: 0 }) }],
  }));
  const ask = (host: TestHost, text: string, cursor: number): Promise<JsonValue> => host.request("ui/autocomplete/complete", { text, cursor, revision: 1 });
  const edits = await TestHost.start(extension());
  assert.equal(JSON.stringify(await ask(edits, "edit", 2)), '{"items":[{"cursor_offset_bytes":0,"description":null,"label":"l","value":"v"}],"prefix":"ed"}');
  assert.equal((await failureOf(ask(edits, "é", 3)))[0], -32602);
  const plain = await TestHost.start(extension(), { features: ["autocomplete"] });
  assert.equal(JSON.stringify(await ask(plain, "plain", 0)), '{"items":[{"description":null,"label":"l","value":"v"}],"prefix":""}');
  assert.equal((await failureOf(ask(plain, "edit", 0)))[0], -32603);
  const none = await TestHost.start(extension(), { features: [] });
  assert.deepEqual(await failureOf(ask(none, "plain", 0)), [-32601, "unsupported_feature ui/autocomplete/complete"]);
});

test("typed input is intercepted for its owner; resources are let go", async () => {
  const owner = { session_id: "o", extension_instance_id: "i", process_generation: 3 };
  const extension = new ExtensionDefinition({ uses: "all" });
  extension.interceptInput((scope, data) => `${data}${scope.owner?.session_id ?? ""}`);
  extension.onDispose((_scope, { resources }) => resources.slice(0, 1).map((resource) => ({ resource, status: "failed" as const })));
  const host = await TestHost.start(extension);
  assert.equal(JSON.stringify(await host.request("ui/terminal-input/intercept", { data: "q", resource_owner: owner })), '{"data":"qo"}');
  const resources = [{ $resource: "a", type: "t" }, { $resource: "b", type: "t" }];
  const results = [{ resource: resources[0], status: "failed" }, { resource: resources[1], status: "completed" }];
  assert.equal(JSON.stringify(await host.request("resource/dispose", { resources, reason: "retired" })), JSON.stringify({ results }));
  const idle = await TestHost.start(new ExtensionDefinition({ uses: ["resource_refs_v1"] }));
  assert.match(JSON.stringify(await idle.request("resource/dispose", { resources, reason: "retired" })), /"completed".*"completed"/u);
});

test("a hook of a session operation gets its leaf and may ask in its name", async () => {
  const extension = new ExtensionDefinition({ uses: "all" });
  extension.hooks.modelTurnStart(async (hook) => {
    await hook.services.session.appendEntry({ entry_type: "note", data: { leaf: hook.sessionLeaf ?? null } });
    return { session_operation: { action: "continue" } };
  });
  const host = await TestHost.start(extension);
  host.on("session.append_entry", () => ({ entry_id: "e" }));
  const payload = { kind: "model_turn_start", run_id: "run:1", turn_index: 0, timestamp_ms: 1 };
  const answer = await host.ask("hook/run", { hook: "model_turn_start", payload, session_leaf: { grant: 1 } });
  assert.equal(JSON.stringify(answer), '{"session_operation":{"action":"continue"}}');
  assert.match(JSON.stringify(host.sent[0]?.params), /"data":\{"leaf":\{"grant":1\}\}.*"parent_request_id":2/u);
});

test("a hook whose feature was not offered is not asked, and the extension starts", async () => {
  const extension = new ExtensionDefinition();
  extension.hooks.cacheWarmingDecision(() => ({ cache_warming_decision: "stop" }));
  const host = await TestHost.start(extension, { features: [], contributes: { hooks: ["cache_warming_decision"] } });
  assert.ok(host.logs.some((line) => line.includes('does not offer the feature "cache_warming_decision"')));
  assert.equal((await failureOf(host.hook("cache_warming_decision", {})))[0], -32602);
});

test("progress, output and labels of a command reach the host", async () => {
  const extension = new ExtensionDefinition();
  extension.command("work", { description: "Works." }, async (call) => {
    await call.progress("half");
    await call.decorate("Indexing", { detail: "src" });
    assert.throws(() => call.decorate(""), LocalProtocolError);
    return "done";
  });
  const host = await TestHost.start(extension);
  const events: unknown[] = [];
  await host.command("work", [], { onProgress: (event) => events.push(event) });
  assert.equal(JSON.stringify(events), '[{"message":"half","type":"status"},{"detail":"src","label":"Indexing","type":"decoration"}]');
  const plain = await TestHost.start(extension, { features: ["request_progress"] });
  await plain.command("work");
  assert.equal(plain.frames.filter((frame) => frame["method"] !== undefined).length, 1);
});

test("after() runs behind an answer only, with errors logged, and ends with the session", async () => {
  const order: string[] = [];
  const ended = deferred<unknown>();
  const extension = new ExtensionDefinition({ uses: "all" });
  extension.command("fail", { description: "d" }, (call) => {
    call.after(() => order.push("after a failure"));
    throw new Error("x");
  });
  extension.command("work", { description: "d" }, (call) => {
    call.after(() => { throw new Error("broke behind"); });
    call.after(async (scope) => {
      order.push("after");
      assert.throws(() => { scope.after(() => undefined); }, LocalProtocolError);
      await scope.progress("unseen");
      await new Promise((resolve) => { scope.signal.addEventListener("abort", resolve); });
      ended.resolve(scope.signal.reason);
    });
    return "done";
  });
  const host = await TestHost.start(extension);
  await assert.rejects(host.command("fail"));
  await host.command("work");
  order.push("answered");
  await host.command("fail").catch(() => undefined);
  assert.deepEqual(order, ["after", "answered"]);
  assert.ok(host.logs.some((line) => line.includes("after(): Error: broke behind")));
  await host.shutdown();
  assert.equal((await ended.promise as Error).name, "CancelledError");
});

test("registering refuses what the version does not have and what is taken", () => {
  const v01 = new ExtensionDefinition({ api: "0.1" });
  const v03 = new ExtensionDefinition({ api: "0.3" });
  const v04 = new ExtensionDefinition();
  v04.command("a", { description: "d" }, () => "x").status("status", () => null).menu(() => ({ items: [] }));
  v04.hooks.beforePrompt(() => undefined);
  for (const wrong of [
    () => v01.menu(() => ({ items: [] })),
    () => v01.hooks.providerRetry(() => undefined),
    () => v01.events.turnStarted(() => undefined),
    () => v01.shortcut("i", { key: "k", description: "d" }, () => undefined),
    () => v03.command("a", { description: "d" }, () => "x"),
    () => v03.context(() => []),
    () => v03.hooks.beforePrompt(() => undefined),
    () => v04.hooks.sessionStart(() => undefined),
    () => v04.onSessionStart(() => undefined),
    () => v04.migration({ detect: () => ({ detected: false, config_paths: [], diagnostics: [] }), import: () => ({ models: [], skills: [], mcp_servers: [], diagnostics: [] }) }),
    () => v04.command("a", { description: "d" }, () => "x"),
    () => v04.command("/b", { description: "d" }, () => "x"),
    () => v04.status("status", () => null),
    () => v04.status("nowhere" as never, () => null),
    () => v04.menu(() => ({ items: [] })),
    () => v04.hooks.beforePrompt(() => undefined),
    () => v04.shortcut("i".repeat(129), { key: "k", description: "d" }, () => undefined),
    () => v04.dynamicTools,
    () => new ExtensionDefinition({ uses: ["event_bus"] }),
    () => new ExtensionDefinition({ api: "0.3", uses: ["composer"] }),
    () => new ExtensionDefinition({ api: "0.2", uses: ["remote_ui"] }),
  ]) {
    assert.throws(wrong, LocalProtocolError, String(wrong));
  }
});
