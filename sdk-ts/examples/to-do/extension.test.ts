import assert from "node:assert/strict";
import { test } from "node:test";

import { TestHost } from "octet-extension/testing";

import { extension } from "./extension.js";

test("the command keeps a list, and the model is shown it", async () => {
  const host = await TestHost.start(extension);
  assert.equal((await host.command("to-do")).text, "nothing to do");
  assert.deepEqual(await host.collectContext("hello"), []);
  await host.command("to-do", ["write", "the notes"]);
  assert.equal((await host.command("to-do", ["test"])).text, "1. write the notes\n2. test");
  assert.equal(
    JSON.stringify(await host.collectContext(null)),
    '[{"content":"To do: write the notes; test","label":"to do","placement":"system_suffix"}]',
  );
});

test("the menu shows the list", async () => {
  const host = await TestHost.start(extension);
  const { items } = await host.collectMenu();
  assert.equal(JSON.stringify(items), '[{"command":"to-do","id":"show","label":"Show the list"}]');
});
