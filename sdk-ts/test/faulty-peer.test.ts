import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const PEER = fileURLToPath(new URL("faulty-peer/peer.js", import.meta.url));

function run(argument: string): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, [PEER, argument], { input: "", encoding: "utf8" });
}

test("the faulty peer lists its faults", () => {
  const rows = run("--list").stdout.trim().split("\n").map((line) => JSON.parse(line) as Record<string, string>);
  assert.ok(rows.length >= 40);
  assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
  for (const { rule, api, doc } of rows) {
    assert.match(`${String(rule)} ${String(api)} ${String(doc)}`, /^EXT04-[A-Z]+-\d{3} 0\.4 ./u);
  }
});

test("the faulty peer plays a sound one, and no fault that it does not have", () => {
  const sound = run("none");
  assert.deepEqual([sound.status, sound.stdout], [0, ""]);
  const unknown = run("no-such-fault");
  assert.equal(unknown.status, 1);
  assert.match(unknown.stderr, /no fault is called "no-such-fault"/u);
});
