/** Servers that are processes, also such as do harm. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import type { Client, StdioOptions } from "../src/node/index.js";
import { Disconnected, ProtocolError, stdio, TimedOut } from "../src/node/index.js";
import { FakeClock } from "./fake.js";

const HOSTILE = fileURLToPath(new URL("hostile.js", import.meta.url));

function start(deed: string, options: StdioOptions = {}): Promise<Client> {
  return stdio([process.execPath, HOSTILE, deed], options);
}

/** Whether a process is there. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("several frames in one write, and one byte a write", async () => {
  const notes: string[] = [];
  const together = await start("together", { onNotification: (method) => notes.push(method) });
  assert.equal(await together.call("x"), "done");
  await together.close();
  assert.deepEqual(notes, ["one", "two"]);
  const bytes = await start("bytes");
  assert.equal(await bytes.call("x"), "dé");
  await bytes.close();
});

for (const deed of ["large", "noise"]) {
  test(`a server that breaks the frames fails what waits: ${deed}`, async () => {
    const client = await start(deed);
    await assert.rejects(client.call("x"), (fault: unknown) => fault instanceof Disconnected && fault.cause instanceof ProtocolError && fault.sent);
    assert.equal(client.state, "closed");
    await client.close();
  });
}

test("the end of the server fails what waits, and says how it ended; its last words are passed on", async () => {
  let said = "";
  const client = await start("dies", { stderr: (text) => { said += text; } });
  const calls = [client.call("session/fork"), client.call("session/list")];
  for (const outcome of await Promise.allSettled(calls)) {
    assert.ok(outcome.status === "rejected" && outcome.reason instanceof Disconnected && outcome.reason.sent);
    assert.match(outcome.reason.message, /ended with status 7/u);
  }
  await client.close();
  assert.equal(said, "cannot go on\n");
});

test("a server that never answers is waited for as long as was asked", async () => {
  const clock = new FakeClock();
  const client = await start("silent", { clock, requestTimeoutMs: 500 });
  const verdict = assert.rejects(client.call("x"), TimedOut);
  await clock.pass(500);
  await verdict;
  await client.close();
  assert.equal(clock.set, 0);
});

test("what a server leaves behind ends with it: its child holds the output, and would hold up the end for ever", async () => {
  const client = await start("leaves");
  assert.ok(Number(await client.call("x")) > 0);
  await assert.rejects(client.call("y"), (fault: unknown) => fault instanceof Disconnected && fault.message.includes("status 3"));
  await client.close();
});

test("a server that does not end by itself is asked, and then ended", async () => {
  const clock = new FakeClock();
  const client = await start("stubborn", { clock, graceMs: 1000 });
  const pid = Number(await client.call("x"));
  const closing = client.close();
  await clock.pass(1000);
  assert.ok(lives(pid), "it was asked to end");
  await clock.pass(1000);
  await closing;
  assert.ok(!lives(pid));
});

test("a command that is not there is told by name", async () => {
  await assert.rejects(stdio(["/no/such/octet"]), (fault: unknown) => fault instanceof Disconnected && fault.message.includes('"/no/such/octet"'));
  await assert.rejects(stdio([]), TypeError);
});
