import assert from "node:assert/strict";
import { test } from "node:test";

import { TestHost } from "octet-extension/testing";

import { extension } from "./extension.js";

const binding = (session: string): Record<string, string | number> => ({ session_id: session, extension_instance_id: "i", process_generation: 1 });

test("sessions are listed with how they ended", async () => {
  const host = await TestHost.start(extension);
  assert.equal((await host.call("list_sessions")).text, "no session yet");
  for (const session of ["a", "b"]) {
    const answer = await host.request("hook/run", { hook: "session_start", payload: { binding: binding(session) } });
    assert.equal(JSON.stringify(answer), '{"disposition":{"kind":"continue"}}');
  }
  await host.request("hook/run", { hook: "session_end", payload: { binding: binding("a"), outcome: "completed", reason: "shutdown", duration_ms: 5 } });
  assert.equal((await host.call("list_sessions")).text, "a: completed after 5 ms\nb: running");
});

test("no more sessions are kept than a hundred", async () => {
  const host = await TestHost.start(extension);
  for (let i = 0; i < 150; i++) {
    await host.request("hook/run", { hook: "session_start", payload: { binding: binding(`s${String(i)}`) } });
  }
  const lines = (await host.call("list_sessions")).text.split("\n");
  assert.deepEqual([lines.length, lines[0], lines.at(-1)], [100, "s50: running", "s149: running"]);
});
