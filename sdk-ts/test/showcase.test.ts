/** The showcase, in memory and as a process, on every API version. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import type { JsonObject } from "../src/_generated/json.js";
import type { Api } from "../src/extension.js";
import { ExtensionDefinition } from "../src/extension.js";
import type { HostOptions } from "../src/testing.js";
import { ErrorAnswer, TestHost } from "../src/testing.js";
import { contributesOf, initializeParams } from "../src/testing/host-side.js";
import { equip } from "../showcase/showcase.js";
import { Child } from "./child.js";
import { callRequest, deferred } from "./session.js";

const ALL = ["0.1", "0.2", "0.3", "0.4"] as const;
const FEATURE = ["0.1", "0.2", "0.4"] as const;

function make(api: Api): ExtensionDefinition {
  return equip(new ExtensionDefinition({ api, uses: "all", runtimeCommands: true }));
}

function start(api: Api, options: HostOptions = {}): Promise<TestHost> {
  return TestHost.start(make(api), options);
}

for (const api of ALL) {
  test(`${api}: the manifest declares what the showcase has`, () => {
    const text = readFileSync(new URL(`../../showcase/manifests/${api}/showcase/extension.toml`, import.meta.url), "utf8");
    const { registry } = make(api).service();
    const listed = (member: string): readonly string[] => [...(new RegExp(`^${member} = \\[(.*)\\]$`, "mu").exec(text)?.[1] ?? "").matchAll(/"([^"]+)"/gu)].map((match) => match[1] ?? "").sort();
    assert.deepEqual(listed("tools"), [...registry.tools.keys()].sort());
    assert.deepEqual(listed("commands"), [...registry.commands.keys()].sort());
    assert.deepEqual(listed("hooks"), [...registry.hooks.keys()].sort());
    assert.match(text, new RegExp(`^api_version = "${api}"$`, "mu"));
    assert.ok([...registry.tools.values()].every(({ name, description }) => description === `Showcase: ${name}.`));
  });

  test(`${api}: the simple tools`, async () => {
    const host = await start(api);
    assert.equal((await host.call("count", { word: "a🐧b" })).text, "3 letters");
    assert.equal((await host.call("big", { bytes: 1000 })).text.length, 1000);
    assert.deepEqual([(await host.call("remember")).text, (await host.call("remember")).text], ["1", "2"]);
    for (const tool of ["fail", "refuse"]) {
      const result = await host.call(tool, { message: "no luck" });
      assert.deepEqual([result.isError, result.text], [true, "no luck"]);
    }
    assert.equal((await host.call("seen")).text, "[]");
  });

  test(`${api}: waiting ends with the cancellation`, async () => {
    const host = await start(api);
    if (api === "0.1") {
      const waiting = host.call("wait");
      await host.shutdown();
      await assert.rejects(waiting, ErrorAnswer);
      return;
    }
    const stop = new AbortController();
    const waiting = host.call("wait", {}, { signal: stop.signal });
    stop.abort("user");
    await assert.rejects(waiting, (fault) => fault instanceof ErrorAnswer && fault.code === -32800);
  });

  test(`${api}: a process serves it, prints to nobody and ends`, async () => {
    const { registry } = make(api).service();
    const child = new Child(fileURLToPath(new URL(`../../showcase/manifests/${api}/showcase/showcase.mjs`, import.meta.url)), []);
    const params = initializeParams(api, [...registry.tools.keys()], { contributes: contributesOf(registry, api), sessionHooks: true, features: [] });
    await child.ask({ id: 0, jsonrpc: "2.0", method: "initialize", params });
    assert.match(JSON.stringify(await child.ask(callRequest(1, "print", { text: "to nobody" }))), /printed/u);
    await child.ask({ id: 2, jsonrpc: "2.0", method: "shutdown", params: {} });
    assert.equal(await child.ended, 0);
    assert.equal(child.lines.length, 3);
    assert.match(child.stderr, /to nobody/u);
  });
}

test("use says what came of a service", async () => {
  const host = await start("0.4", { features: ["composer"] });
  host.on("composer.get", () => ({ text: "draft" })).on("composer.insert", () => ({}));
  const use = async (service: string, given: JsonObject = {}): Promise<string> => (await host.call("use", { service, with: given })).text;
  assert.equal(await use("composer.get"), '{"text":"draft"}');
  assert.equal(await use("composer.insert", { text: "x" }), "{}");
  assert.equal(await use("notifications.show", { message: "m" }), "{}");
  assert.equal(await use("composer.set", { text: 1 }), "Invalid /text type");
  assert.equal(await use("composer.set", { text: "x" }), "HostError -32601 unsupported_feature composer/set");
  assert.equal(await use("artifacts.publish"), "NotNegotiated artifact/publish");
  assert.equal(await use("shortcuts.register", { id: "i", key: "k", description: "d" }), "NotNegotiated shortcut/register");
  const full = await start("0.4");
  assert.equal((await full.call("use", { service: "session.compact" })).text, "NoParent session/compact");
});

test("later asks behind its answer, and the child of a cancelled call is given up", async () => {
  const host = await start("0.4");
  host.on("session.compact", () => ({ entry_id: "e", summary: "s", first_kept: "f" }));
  assert.equal((await host.call("later", { service: "session.compact" })).text, "later");
  await host.frame((frame) => frame["method"] === "notification");
  assert.equal(JSON.stringify(host.notifications), '[{"level":"info","message":"{\\"entry_id\\":\\"e\\",\\"first_kept\\":\\"f\\",\\"summary\\":\\"s\\"}","title":"later"}]');
  const stop = new AbortController();
  host.on("composer.get", () => deferred<JsonObject>().promise);
  const child = host.call("child", { service: "composer.get" }, { signal: stop.signal });
  await host.frame((frame) => frame["method"] === "composer/get");
  stop.abort();
  await assert.rejects(child, (fault) => fault instanceof ErrorAnswer && fault.code === -32800);
});

test("tools are learnt and forgotten, media is published, progress reported", async () => {
  const host = await start("0.4");
  assert.equal((await host.call("learn", { name: "fly" })).text.slice(0, 20), "epoch 1: big, child,");
  assert.equal((await host.call("fly", {}, { revision: 1 })).text, "fly in epoch 1");
  assert.ok(!(await host.call("forget", { name: "fly" })).text.includes("fly"));
  host.on("artifacts.publish", () => ({ artifact_id: "art-1" }));
  await host.call("media");
  assert.match(JSON.stringify(host.frames.at(-1)), /\{"alt":"grey dot","artifact_id":"art-1","mime_type":"image\/png","type":"image"\}/u);
  const events: string[] = [];
  await host.call("report", {}, { onProgress: (event) => events.push(event.type) });
  assert.deepEqual(events, ["status", "output", "decoration"]);
  assert.equal((await host.call("ready")).text, "shown");
  assert.equal(JSON.stringify(host.notifications.at(-1)), '{"level":"success","message":"ready"}');
});

for (const api of FEATURE) {
  test(`${api}: commands, hooks and collectors`, async () => {
    const host = await start(api);
    assert.equal(JSON.stringify(await host.command("echo", ["a", "b"])), '{"context":[{"content":"a b","label":"echo"}],"notifications":[{"level":"info","message":"echoed"}],"text":"a b"}');
    await assert.rejects(host.command("fail"), (fault) => fault instanceof ErrorAnswer && fault.code === -32603);
    assert.match(JSON.stringify(await host.hook("before_prompt", { prompt: "a secret" })), /no secrets/u);
    assert.match(JSON.stringify(await host.hook("before_prompt", { prompt: "a" })), /"content":"seen"/u);
    assert.match(JSON.stringify(await host.hook("before_tool_call", { name: "bash", arguments: {} })), /deletes files/u);
    assert.equal(JSON.stringify(await host.collectContext("p")), '[{"content":"p","label":"showcase","placement":"system_suffix"}]');
    assert.equal(JSON.stringify(await host.collectStatus("status")), '{"priority":1,"surface":"status","text":"ready"}');
    assert.equal(await host.collectStatus("header"), null);
    await assert.rejects(host.collectStatus("footer"), ErrorAnswer);
    assert.equal(JSON.stringify(await host.render("count", {}, "o")), '[{"style_role":null,"text":"o"}]');
  });
}

test("every hook of 0.4 gets an answer that its model allows", async () => {
  const host = await start("0.4");
  const decision = { phase: "idle", warm_cost_microdollars: 1, miss_cost_microdollars: 1, continuation_probability: 1, expected_savings_microdollars: 1, economics_available: true, action: "warm" };
  for (const [hook, payload, want] of [
    ["after_response", { response: "r" }, '{"notifications":[{"level":"info","message":"heard"}]}'],
    ["after_tool_call", { name: "n", arguments: {}, output: "o", is_error: false }, '{"disposition":{"action":"continue"}}'],
    ["provider_retry", { kind: "stream_start", max_attempts: null, operation: null }, '{"provider_retry":{"delay":{"additional_delay_ms":500}}}'],
    ["provider_retry", { kind: "before_generation", max_attempts: 1, operation: null }, '{"provider_retry":"retry"}'],
    ["before_persistence", { run_id: "r", model: "m", protocol: "p", stop_reason: "s", text_bytes: 1, tool_call_count: 0, reasoning_part_count: 0, media_part_count: 0 }, '{"persistence_metadata":{"public":true,"value":{"run":"r"}}}'],
    ["post_mutation", { mutation_id: "mutation:1", kind: "resource", affected_resources: ["resource:settings"], generation: 1, state: "committed" }, '{"post_mutation":{"action":"request_rescan","resource_ids":["resource:settings"]}}'],
    ["cache_warming_decision", { decision, model: "m" }, '{"cache_warming_decision":"stop"}'],
    ["cache_warming_decision", { decision: { ...decision, action: "stop" }, model: "m" }, '{"cache_warming_decision":null}'],
    ["resources_discover", { cwd: "/w", reason: "startup" }, '{"resource_paths":{"skill_paths":["/w/skills"]}}'],
    ["session_compact", {}, '{"session_operation":{"action":"continue"}}'],
  ] as const) {
    assert.equal(JSON.stringify(await host.hook(hook, payload)), want, hook);
  }
  assert.match(JSON.stringify(await host.hook("compaction_strategy", { model_id: "m", text: "t" })), /^\{"compaction_frames":\["iVBOR/u);
  assert.match(JSON.stringify(await host.collectMenu()), /"title":"Showcase"/u);
});

test("what the host tells is seen", async () => {
  const host = await start("0.4");
  host.event("turn_started", { session_id: "s", run_id: "r", turn_id: "t" });
  host.event("shortcut_trigger", { id: "showcase:hello" });
  await host.call("remember");
  await host.request("resource/dispose", { resources: [{ $resource: "a", type: "t" }], reason: "retired" });
  assert.equal(
    (await host.call("seen")).text,
    '[["turn/started",{"run_id":"r","session_id":"s","turn_id":"t"}],["shortcut/trigger",{"id":"showcase:hello"}],["resource/dispose",{"reason":"retired","resources":[{"$resource":"a","type":"t"}]}]]',
  );
  assert.equal(JSON.stringify(await host.request("ui/autocomplete/complete", { text: "x/he", cursor: 4, revision: 1 })), '{"items":[{"description":null,"label":"/hello","value":"/hello"}],"prefix":"/he"}');
});
