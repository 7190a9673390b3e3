import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { ErrorAnswer, TestHost } from "octet-extension/testing";

import { Child } from "../../test/child.js";
import { callRequest } from "../../test/session.js";
import { initializeParams } from "../../src/testing/host-side.js";
import { extension } from "./extension.js";

const FOLDER = new URL("../../../examples/word-count-canonical/", import.meta.url);
const TOOLS = ["count_words", "count_slowly"];

test("count_words counts words, or different words", async () => {
  const host = await TestHost.start(extension);
  assert.equal((await host.call("count_words", { text: "one two two" })).text, "3 words");
  assert.equal((await host.call("count_words", { text: "one two two", unique: true })).text, "2 words");
  assert.equal(await host.shutdown(), 0);
});

test("an empty text fails the tool, wrong arguments fail the call", async () => {
  const host = await TestHost.start(extension);
  for (const tool of TOOLS) {
    const result = await host.call(tool, { text: " \n" });
    assert.deepEqual([result.isError, result.text], [true, "text is empty: pass at least one word"]);
  }
  await assert.rejects(host.call("count_words", { text: 1 }), ErrorAnswer);
  await assert.rejects(host.call("count_slowly", { text: "x", delay_ms: 10_001 }), ErrorAnswer);
});

test("count_slowly counts without progress", async () => {
  const host = await TestHost.start(extension);
  assert.equal((await host.call("count_slowly", { text: "one two", delay_ms: 0 })).text, "2 words");
});

test("the process serves a call, gives up a slow one when told, and ends", async () => {
  const child = new Child(fileURLToPath(new URL("word-count-canonical.mjs", FOLDER)), [], { env: { OCTET_EXTENSION_API_VERSION: "0.3" } });
  await child.ask({ id: 0, jsonrpc: "2.0", method: "initialize", params: initializeParams("0.3", TOOLS, {}) });
  const answer = await child.ask(callRequest(1, "count_words", { text: "a b" }));
  assert.match(JSON.stringify(answer), /"2 words"/u);
  const slow = child.ask(callRequest(2, "count_slowly", { text: "a b c d", delay_ms: 10_000 }));
  child.send({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id: 2 } });
  assert.match(JSON.stringify(await slow), /-32800/u);
  await child.ask({ id: 3, jsonrpc: "2.0", method: "shutdown", params: {} });
  assert.equal(await child.ended, 0);
});

test("the manifest names the folder, the version and the tools", () => {
  const manifest = readFileSync(new URL("extension.toml", FOLDER), "utf8");
  assert.match(manifest, /^name = "word-count-canonical"$/mu);
  assert.match(manifest, /^api_version = "0.3"$/mu);
  assert.ok(manifest.includes(`tools = [${TOOLS.map((name) => JSON.stringify(name)).join(", ")}]`));
  assert.equal(extension.api, "0.3");
});
