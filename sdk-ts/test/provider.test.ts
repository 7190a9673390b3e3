/** What only API 0.3 has: provider streams, the bus, session hooks that answer. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsonObject } from "../src/_generated/json.js";
import type { ExtensionOptions } from "../src/extension.js";
import { ExtensionDefinition } from "../src/extension.js";
import type { ProviderStream } from "../src/provider-stream.js";
import { TestHost } from "../src/testing.js";
import { deferred, sent } from "./session.js";

const V03: ExtensionOptions = { api: "0.3" };
const REQUEST: JsonObject = { stream_id: "st", provider_id: "p", model_id: "m", request: {} };

/** The events of a stream, once the last one has arrived. */
async function eventsOf(host: TestHost): Promise<readonly string[]> {
  await host.frame((frame) => ["finished", "error"].includes(((frame["params"] ?? {}) as JsonObject)["kind"] as string));
  return host.sent.filter(({ service }) => service === "provider_stream.event").map(({ params }) => `${String(params["sequence"] as number)} ${params["kind"] as string} ${JSON.stringify(params["payload"])}`);
}

function providing(stream: (stream: ProviderStream) => unknown, refuse?: () => string | undefined): ExtensionDefinition {
  return new ExtensionDefinition(V03).provider({ stream: (one) => stream(one), ...(refuse === undefined ? {} : { refuse }) });
}

test("a stream is accepted first, its events are numbered, and nothing follows the last", async () => {
  const behind = deferred<unknown>();
  const host = await TestHost.start(providing(async (stream) => {
    assert.equal(stream.id, "st");
    void stream.event("started", {});
    await stream.event("nonsense" as never, {}).catch(() => undefined);
    await stream.event("text_delta", { text: "hello" });
    await stream.event("finished", {});
    behind.resolve(await stream.event("usage", {}).catch((fault: unknown) => fault));
  }));
  assert.equal(JSON.stringify(await host.request("provider/stream", REQUEST)), '{"accepted":true,"stream_id":"st"}');
  assert.deepEqual(await eventsOf(host), ["0 started {}", '1 text_delta {"text":"hello"}', "2 finished {}"]);
  assert.match(String(await behind.promise), /has ended/u);
});

test("a stream that is refused says why; one whose handler returns or throws is ended", async () => {
  const refused = await TestHost.start(providing(() => undefined, () => "no such model"));
  assert.equal(JSON.stringify(await refused.request("provider/stream", REQUEST)), '{"accepted":false,"reason":"no such model","stream_id":"st"}');
  const returned = await TestHost.start(providing(() => undefined));
  await returned.request("provider/stream", REQUEST);
  assert.deepEqual(await eventsOf(returned), ["0 finished {}"]);
  const thrown = await TestHost.start(providing(() => { throw new Error("out of luck"); }));
  await thrown.request("provider/stream", REQUEST);
  assert.deepEqual(await eventsOf(thrown), ['0 error {"message":"out of luck"}']);
});

test("the host cancels a stream: its signal tells, no event but the last goes out", async () => {
  const reached = deferred();
  const host = await TestHost.start(providing(async (stream) => {
    await stream.event("started", {});
    reached.resolve();
    await new Promise((resolve) => { stream.signal.addEventListener("abort", resolve); });
    await stream.event("text_delta", {});
  }));
  await host.request("provider/stream", REQUEST);
  await reached.promise;
  host.notify("provider/cancel", { stream_id: "other" });
  host.notify("provider/cancel", { stream_id: "st", reason: "user" });
  assert.deepEqual(await eventsOf(host), ["0 started {}", '1 error {"message":"the call was cancelled: user"}']);
});

test("bus events of another binding are dropped", async () => {
  const seen: unknown[] = [];
  const extension = new ExtensionDefinition(V03);
  extension.events.busEvent(({ binding_id: id }) => seen.push(id)).busLifecycle(({ kind }) => seen.push(kind));
  extension.tool("one", { description: "d" }, () => "x");
  const host = await TestHost.start(extension);
  const event = { topic: "bus.a.b", publisher: "a", publisher_instance_id: "i", process_generation: 1, sequence: 1, published_at_ms: 1, payload: {} };
  host.event("bus_event", { ...event, binding_id: "b1" });
  host.event("bus_lifecycle", { kind: "binding", binding_id: "b1", binding_revision: 1 });
  host.event("bus_event", { ...event, binding_id: "b1" });
  host.event("bus_lifecycle", { kind: "binding", binding_id: "b2", binding_revision: 2 });
  host.event("bus_event", { ...event, binding_id: "b1" });
  host.event("bus_event", { ...event, binding_id: "b2" });
  await host.call("one");
  await Promise.resolve();
  await host.call("one");
  assert.deepEqual(seen, ["binding", "b1", "binding", "b2"]);
});

test("a session hook answers a disposition, and owns what it remembers", async () => {
  const extension = new ExtensionDefinition(V03);
  extension.hooks.sessionStart((hook, { binding }) => ({ disposition: { kind: "defer", reason: `${hook.owner?.session_id ?? ""} ${binding.session_id}` } }));
  const host = await TestHost.start(extension);
  const binding = { session_id: "s", extension_instance_id: "i", process_generation: 1 };
  const answer = await host.request("hook/run", { hook: "session_start", payload: { binding } });
  assert.equal(JSON.stringify(answer), '{"disposition":{"kind":"defer","reason":"s s"}}');
});

test("capabilities are selected where they are wanted and offered, with their methods", async () => {
  const contract = (host: TestHost): JsonObject => ((host.frames[0]?.["result"] as JsonObject)["contract"] ?? {}) as JsonObject;
  const all = await TestHost.start(new ExtensionDefinition({ ...V03, uses: "all" }));
  assert.deepEqual((contract(all)["capabilities"] as string[]).filter((name) => ["event_bus", "provider_stream", "session_lifecycle", "theme_selection", "lifecycle_events"].includes(name)).sort(), ["event_bus", "session_lifecycle", "theme_selection"]);
  const some = await TestHost.start(new ExtensionDefinition({ ...V03, uses: ["theme_selection", "event_bus"] }), { features: ["theme_selection"] });
  assert.ok((contract(some)["methods"] as string[]).includes("theme/select"));
  assert.ok(!(contract(some)["methods"] as string[]).some((name) => name.startsWith("bus/")));
  assert.ok(some.logs.some((line) => line.includes('does not offer the capability "event_bus"')));
  assert.deepEqual(sent(some, { jsonrpc: "2.0", method: "bus/event", params: {} }), []);
  assert.equal(await some.shutdown(), 0);
});
