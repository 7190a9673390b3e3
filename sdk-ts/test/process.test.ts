/** What only a process can show: streams, exit statuses, stray output. */

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import type { JsonObject } from "../src/_generated/json.js";
import { initializeParams } from "../src/testing/host-side.js";
import type { ChildOptions } from "./child.js";
import { Child } from "./child.js";
import { callRequest } from "./session.js";

function start(name: string, options: ChildOptions = {}): Child {
  return new Child(process.execPath, [fileURLToPath(new URL(`fixtures/${name}.js`, import.meta.url))], options);
}

const STRAY = ["stray", "hang", "flood", "long", "echo"];
const INITIALIZE: JsonObject = { id: 0, jsonrpc: "2.0", method: "initialize", params: initializeParams("0.4", STRAY, {}) };
const SHUTDOWN: JsonObject = { id: "z", jsonrpc: "2.0", method: "shutdown", params: {} };
const UNDER_HOST = { OCTET_EXTENSION_API_VERSION: "0.4" };

/** Starts a program between two pipes; a child has sockets otherwise. Standard error goes to a file. The first pipe ends with standard input. */
function piped(name: string, env: Readonly<Record<string, string>>, before = "cat |"): { readonly child: Child; readonly stderr: () => string } {
  const file = join(mkdtempSync(join(tmpdir(), "octet-")), "stderr");
  const program = fileURLToPath(new URL(`fixtures/${name}.js`, import.meta.url));
  const script = `${before} { "$0" "$1"; echo "status $?" >&2; } 2>>"$2" | cat`;
  return { child: new Child("sh", ["-c", script, process.execPath, program, file], { env }), stderr: () => readFileSync(file, "utf8") };
}

function textOf(answer: JsonObject): unknown {
  return ((answer["result"] as JsonObject)["content"] as JsonObject[])[0]?.["text"];
}

const MOVES = process.platform === "linux" || process.platform === "darwin";

test("nothing but frames is on stdout: prints go to stderr, and errors outside a call end nothing", async () => {
  const child = start("stray", { env: UNDER_HOST });
  await child.ask(INITIALIZE);
  const answer = await child.ask(callRequest(1, "stray"));
  assert.equal(((answer["result"] as JsonObject)["content"] as JsonObject[])[0]?.["text"], "alive");
  await child.ask(SHUTDOWN);
  assert.equal(await child.ended, 0);
  assert.equal(child.lines.length, 3);
  for (const text of ["printed while loading", "printed by console", "written to stdout", "thrown in a microtask", "rejected unseen"]) {
    assert.ok(child.stderr.includes(text), text);
  }
});

test("shutdown exits with 0 while stdin is open and a call hangs, after its answer", async () => {
  const child = start("stray", { env: UNDER_HOST });
  await child.ask(INITIALIZE);
  const started = child.frame((frame) => frame["method"] === "$/progress");
  child.send(callRequest(1, "hang"));
  await started;
  child.send(SHUTDOWN);
  assert.equal(await child.ended, 0);
  assert.deepEqual(child.lines.slice(-2).map((line) => (JSON.parse(line) as JsonObject)["id"]), [1, "z"]);
});

test("the end of stdin ends the process: before initialize, idle, and with a call that hangs", async () => {
  const early = start("stray", { env: UNDER_HOST });
  early.process.stdin.end();
  assert.equal(await early.ended, 0);
  const idle = start("stray", { env: UNDER_HOST });
  await idle.ask(INITIALIZE);
  idle.process.stdin.end();
  assert.equal(await idle.ended, 0);
  const busy = start("stray", { env: UNDER_HOST });
  await busy.ask(INITIALIZE);
  const started = busy.frame((frame) => frame["method"] === "$/progress");
  busy.send(callRequest(1, "hang"));
  await started;
  busy.process.stdin.end();
  assert.equal(await busy.ended, 0);
  assert.match(busy.stderr, /calls were still running/u);
});

test("a lost stdout ends the process, a socket and a pipe", async () => {
  const { child: inPipes, stderr } = piped("stray", UNDER_HOST, "");
  const inSockets = start("stray", { env: UNDER_HOST });
  for (const child of [inSockets, inPipes]) {
    await child.ask(INITIALIZE);
    child.process.stdout.destroy();
    child.send(callRequest(1, "flood"));
    await child.ended;
  }
  assert.equal(await inSockets.ended, 1);
  assert.match(inSockets.stderr, /standard output is gone/u);
  assert.match(stderr(), /standard output is gone.*EPIPE[^]*status 1/u);
});

for (const [kind, begin] of [["sockets", () => start("stray", { env: UNDER_HOST })], ["pipes", () => piped("stray", UNDER_HOST).child]] as const) {
  test(`output waits for a host that does not read, and nothing of it is lost or reordered: ${kind}`, async () => {
    const child = begin();
    await child.ask(INITIALIZE);
    child.process.stdout.pause();
    const answer = child.frame((frame) => frame["id"] === 1);
    child.send(callRequest(1, "flood"));
    child.process.stdout.resume();
    await answer;
    const sequences = child.lines.map((line) => JSON.parse(line) as JsonObject).flatMap((frame) => (frame["method"] === undefined ? [] : [(frame["params"] as JsonObject)["sequence"]]));
    assert.deepEqual(sequences, Array.from({ length: 200 }, (_, i) => i + 1));
    await child.ask(SHUTDOWN);
    child.process.stdin.end();
    assert.equal(await child.ended, 0);
  });

  test(`answers that a slow host has not read when it asks for shutdown reach it: ${kind}`, async () => {
    const child = begin();
    await child.ask(INITIALIZE);
    child.process.stdout.pause();
    const last = child.frame((frame) => frame["id"] === "z");
    for (let id = 1; id <= 40; id++) {
      child.send(callRequest(id, "long"));
    }
    child.send(SHUTDOWN);
    child.process.stdin.end();
    child.process.stdout.resume();
    await last;
    assert.equal(await child.ended, 0);
    const answered = child.lines.map((line) => (JSON.parse(line) as JsonObject)["id"]);
    assert.deepEqual(answered, [0, ...Array.from({ length: 40 }, (_, i) => i + 1), "z"]);
  });

  test(`a frame that arrives in many pieces, and others behind it in the last of them: ${kind}`, async () => {
    const child = begin();
    await child.ask(INITIALIZE);
    const text = "ø\u0001 ".repeat(60_000);
    const second = child.frame((frame) => frame["id"] === 2);
    const first = child.ask(callRequest(1, "echo", { text }));
    child.send(callRequest(2, "echo", { text: "short" }));
    assert.equal(textOf(await first), text);
    assert.equal(textOf(await second), "short");
    child.process.stdin.end();
    assert.equal(await child.ended, 0);
  });
}

test("another API version in the environment is refused with status 2, without reading or writing", async () => {
  const child = start("canonical", { env: UNDER_HOST });
  assert.equal(await child.ended, 2);
  assert.deepEqual(child.lines, []);
  assert.match(child.stderr, /the host speaks API "0\.4", this extension 0\.3/u);
});

test("without the variable the extension serves its version, in any working directory", async () => {
  const child = start("canonical", { cwd: tmpdir() });
  const answer = await child.ask({ id: 0, jsonrpc: "2.0", method: "initialize", params: initializeParams("0.3", ["one"], {}) });
  assert.ok(answer["result"]);
  await child.ask(SHUTDOWN);
  assert.equal(await child.ended, 0);
});

test("a frame that is not canonical ends the process with 1 and says so on stderr", async () => {
  const child = start("canonical");
  child.process.stdin.write("{ }\n");
  assert.equal(await child.ended, 1);
  assert.deepEqual(child.lines, []);
  assert.match(child.stderr, /no canonical JSON: offset 1: white space/u);
});

test("descriptor 1 and children that inherit it lead to stderr, and a child left behind does not keep the stream open", { skip: !MOVES, timeout: 40_000 }, async () => {
  const { child, stderr } = piped("descriptors", UNDER_HOST);
  await child.ask(INITIALIZE);
  assert.equal(textOf(await child.ask(callRequest(1, "stray"))), "alive");
  assert.equal(textOf(await child.ask(callRequest(2, "hang"))), "left");
  await child.ask(SHUTDOWN);
  child.process.stdin.end();
  assert.equal(await child.ended, 0);
  assert.equal(child.lines.length, 4);
  for (const text of ["written to descriptor 1", "printed by a child", "status 0"]) {
    assert.ok(stderr().includes(text), text);
  }
});

test("a handler that ends the standard streams ends nothing, in pipes and in sockets", { skip: !MOVES }, async () => {
  const { child, stderr } = piped("descriptors", { ...UNDER_HOST, CLOSES: "yes" });
  for (const one of [child, start("descriptors", { env: UNDER_HOST })]) {
    await one.ask(INITIALIZE);
    assert.equal(textOf(await one.ask(callRequest(1, "flood"))), "ended");
    assert.equal(textOf(await one.ask(callRequest(2, "flood"))), "ended");
    await one.ask(SHUTDOWN);
    one.process.stdin.end();
    assert.equal(await one.ended, 0);
  }
  assert.match(stderr(), /status 0/u);
});
