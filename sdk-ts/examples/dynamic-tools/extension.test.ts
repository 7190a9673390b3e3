import assert from "node:assert/strict";
import { test } from "node:test";

import { ErrorAnswer, TestHost } from "octet-extension/testing";

import { extension } from "./extension.js";

test("a greeting becomes a tool, and goes again", async () => {
  const host = await TestHost.start(extension);
  assert.equal((await host.call("learn_greeting", { language: "danish", greeting: "Hej" })).text, "learnt danish, in catalog 1");
  assert.equal((await host.call("greet_in_danish", { name: "Ada" }, { revision: 1 })).text, "Hej Ada");
  assert.equal((await host.call("forget_greeting", { language: "danish" })).text, "forgot danish, 2 tools are left");
  await assert.rejects(host.call("greet_in_danish", { name: "Ada" }), ErrorAnswer);
  assert.equal((await host.call("greet_in_danish", { name: "Bo" }, { revision: 1 })).text, "Hej Bo", "a call that was under way lost its tool");
});

test("a host without dynamic tools is told apart from a fault", async () => {
  const host = await TestHost.start(extension, { features: [] });
  const result = await host.call("learn_greeting", { language: "danish", greeting: "Hej" });
  assert.deepEqual([result.isError, result.text], [true, "this host does not let tools come and go"]);
});
