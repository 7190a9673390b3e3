import assert from "node:assert/strict";
import { test } from "node:test";

import { OWNER, TestHost } from "octet-extension/testing";

import { extension } from "./extension.js";

test("a prompt with a key is denied, another one passes", async () => {
  const host = await TestHost.start(extension);
  const denied = await host.hook("before_prompt", { prompt: "use sk-0123456789abcdef please" });
  assert.equal(JSON.stringify(denied["disposition"]), '{"action":"deny","reason":"the prompt holds a key: take it out and send it again"}');
  assert.equal(JSON.stringify(await host.hook("before_prompt", { prompt: "count the words" })), "{}");
});

test("deletions of folders are denied, and counted for their session", async () => {
  const host = await TestHost.start(extension);
  for (const [name, command, stopped] of [["bash", "rm -rf x", true], ["bash", "ls", false], ["read", "rm -rf x", false], ["bash", 7, false]] as const) {
    const answer = await host.hook("before_tool_call", { name, arguments: { command } });
    assert.equal(answer["disposition"] !== undefined, stopped, `${name} ${String(command)}`);
  }
  assert.equal((await host.command("guard")).text, "1 stopped");
  assert.equal((await host.command("guard", [], { owner: { ...OWNER, session_id: "other" } })).text, "nothing was stopped");
});
