/** Tools that come and go: transactions, epochs and what the host does to them. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsonObject } from "../src/_generated/json.js";
import { HostError, LocalProtocolError, NotNegotiated, RemoteProtocolError } from "../src/errors.js";
import { ExtensionDefinition } from "../src/extension.js";
import type { SessionHandle } from "../src/scope.js";
import { defineTool } from "../src/tool.js";
import { ErrorAnswer, TestHost } from "../src/testing.js";
import { CONTEXT, deferred, refused } from "./session.js";

/** A tool that answers its own text. */
function saying(name: string, text = name): ReturnType<typeof defineTool> {
  return defineTool(name, { description: `Says ${text}.` }, () => text);
}

async function open(options: Parameters<typeof TestHost.start>[1] = {}): Promise<{ readonly host: TestHost; readonly session: SessionHandle }> {
  const ready = deferred<SessionHandle>();
  const extension = new ExtensionDefinition({ uses: ["dynamic_tools"] }).tool("first", { description: "Is there." }, () => "first");
  extension.onReady(ready.resolve);
  const host = await TestHost.start(extension, options);
  const session = await ready.promise;
  assert.equal(extension.dynamicTools, session.dynamicTools);
  return { host, session };
}

test("each change makes the next epoch, and a call finds the tools its model saw", async () => {
  const { host, session } = await open();
  const { dynamicTools: tools } = session;
  assert.deepEqual([tools.revision, tools.names], [0, ["first"]]);
  assert.deepEqual(await tools.register(saying("b"), saying("a")), { revision: 1, tools: ["a", "b", "first"] });
  assert.deepEqual(await tools.register(saying("a", "new")), { revision: 2, tools: ["a", "b", "first"] });
  assert.deepEqual(await tools.unregister("b", "nobody"), { revision: 3, tools: ["a", "first"] });
  assert.deepEqual([tools.revision, tools.names], [3, ["a", "first"]]);
  const say = async (name: string, revision?: number): Promise<string> => (await host.call(name, {}, revision === undefined ? {} : { revision })).text;
  assert.deepEqual([await say("a", 1), await say("a", 2), await say("a"), await say("b", 2), await say("first", 0)], ["a", "new", "new", "b", "first"]);
  await assert.rejects(say("b", 3), (fault) => fault instanceof ErrorAnswer && fault.code === -32601);
  await assert.rejects(say("a", 0), (fault) => fault instanceof ErrorAnswer && fault.code === -32601);
  await assert.rejects(say("a", 42), (fault) => fault instanceof ErrorAnswer && fault.code === -32602 && fault.message === "unknown or retired tool catalog revision: 42");
  assert.equal(JSON.stringify(host.sent[0]?.params), JSON.stringify({ tools: ["b", "a"].map((name) => ({ description: `Says ${name}.`, name, parameters: { additionalProperties: false, properties: {}, type: "object" } })) }).replace("additionalProperties", "additionalProperties"));
});

test("eight epochs stay callable", async () => {
  const { host, session } = await open();
  for (let i = 1; i <= 8; i++) {
    await session.dynamicTools.register(saying("a", String(i)));
  }
  assert.equal((await host.call("a", {}, { revision: 1 })).text, "1");
  await assert.rejects(host.call("first", {}, { revision: 0 }), /unknown or retired tool catalog revision: 0/u);
});

test("an epoch is callable while the host has not acknowledged it, and gone when it refuses", async () => {
  const { host, session } = await open();
  const gate = deferred<JsonObject>();
  host.on("tools.register", () => gate.promise);
  const change = session.dynamicTools.register(saying("a"));
  await host.frame((frame) => frame["method"] === "tools/register");
  assert.equal((await host.call("a", {}, { revision: 1 })).text, "a");
  gate.reject(new ErrorAnswer(-32602, "invalid_request the name is taken"));
  await assert.rejects(change, (fault) => fault instanceof HostError && fault.token === "invalid_request");
  await assert.rejects(host.call("a", {}, { revision: 1 }), /retired/u);
  assert.deepEqual([session.dynamicTools.revision, session.dynamicTools.names], [0, ["first"]]);
});

test("only what the host accepts comes into force", async () => {
  const { host, session } = await open();
  host.on("tools.register", () => ({ revision: 1, tools: ["first", "a"] }));
  assert.deepEqual(await session.dynamicTools.register(saying("a"), saying("b")), { revision: 1, tools: ["a", "first"] });
  await assert.rejects(host.call("b"), /unknown tool: b/u);
});

test("changes wait for each other", async () => {
  const { host, session } = await open();
  const revisions = await Promise.all([session.dynamicTools.register(saying("a")), session.dynamicTools.unregister("a"), session.dynamicTools.register(saying("c"))]);
  assert.deepEqual(revisions.map(({ revision, tools }) => `${String(revision)} ${tools.join(" ")}`), ["1 a first", "2 first", "3 c first"]);
  assert.equal(host.sent.length, 3);
});

for (const [what, answer] of [
  ["skips an epoch", { revision: 2, tools: ["a", "first"] }],
  ["repeats an epoch", { revision: 0, tools: ["a", "first"] }],
  ["invents a tool", { revision: 1, tools: ["a", "first", "b"] }],
  ["breaks the model", { revision: -1, tools: [] }],
  ["says nothing", {}],
] as const) {
  test(`a host that ${what} changes nothing`, async () => {
    const { host, session } = await open();
    host.on("tools.register", () => answer);
    await assert.rejects(session.dynamicTools.register(saying("a")), (fault) => fault instanceof RemoteProtocolError);
    assert.deepEqual(session.dynamicTools.names, ["first"]);
    assert.equal((await host.call("first")).text, "first");
  });
}

test("what makes no sense is refused here", async () => {
  const { host, session } = await open();
  const { dynamicTools: tools } = session;
  await assert.rejects(tools.register(), LocalProtocolError);
  await assert.rejects(tools.unregister(), LocalProtocolError);
  await assert.rejects(tools.register(saying("not a name")), LocalProtocolError);
  await assert.rejects(tools.register(defineTool("a", { description: "" }, () => "x")), LocalProtocolError);
  await assert.rejects(tools.register(...Array.from({ length: 256 }, (_, i) => saying(`t${String(i)}`))), /257 tools are more than 256/u);
  assert.deepEqual(host.sent, []);
});

test("without the feature tools stay as they are, and an epoch in a call is refused", async () => {
  const { host, session } = await open({ features: [] });
  await assert.rejects(session.dynamicTools.register(saying("a")), (fault) => fault instanceof NotNegotiated && fault.method === "tools/register");
  const call = { id: 9, jsonrpc: "2.0", method: "tool/call", params: { name: "first", arguments: {}, catalog_revision: 0, context: CONTEXT } };
  assert.deepEqual(refused(host, call), { id: 9, code: -32602 });
});

test("members of a definition go with their features, and are refused on a version that knows none", async () => {
  const spec = { description: "Does.", promptSnippet: "Do it", promptGuidelines: ["Often"], composition: { mode: "on", inline_budget: 0 } as const };
  const define = (options: Parameters<typeof TestHost.start>[1]): Promise<TestHost> =>
    TestHost.start(new ExtensionDefinition().tool("do", spec, () => "x"), options);
  const tool = (host: TestHost): string => JSON.stringify(((host.frames[0]?.["result"] as JsonObject)["tools"] as JsonObject[])[0]);
  const full = await define({});
  assert.match(tool(full), /"composition":\{"inline_budget":0,"mode":"on"\}.*"prompt_guidelines":\["Often"\],"prompt_snippet":"Do it"/u);
  const bare = await define({ features: ["tool_composition_v1"] });
  assert.doesNotMatch(tool(bare), /prompt_/u);
  assert.match(tool(bare), /"composition"/u);
  assert.ok(bare.logs.some((line) => line.includes('prompt_snippet is left out, the feature "tool_prompt_metadata_v1" was not negotiated')));
  for (const api of ["0.1", "0.2", "0.3"] as const) {
    assert.throws(() => new ExtensionDefinition({ api }).tool("do", spec, () => "x"), LocalProtocolError);
  }
});
