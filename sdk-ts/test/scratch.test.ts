/** Results of composition that come as a file of the scratch directory (EXT04-NEST-004). */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { MAX_COMPOSITION_FILE_BYTES, MAX_JSON_DEPTH } from "../src/_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "../src/_generated/json.js";
import { RemoteProtocolError } from "../src/errors.js";
import { ExtensionDefinition } from "../src/extension.js";
import { TestHost } from "../src/testing.js";
import { initializeParams } from "../src/testing/host-side.js";
import { Child } from "./child.js";
import { callRequest } from "./session.js";

const RECORD = { limits: { max_calls: 256, timeout_ms: 30_000 }, store: { k: 1 }, tools: [{ description: "d", name: "read", parameters: {} }] };
const SECRET = '"s3cret"';

/** A child that composes, its scratch directory, and what of that is asked. */
class Composer {
  private id = 0;

  private constructor(
    private readonly child: Child,
    readonly scratch: string,
  ) {}

  static async start(t: TestContext, environment?: (scratch: string) => Record<string, string>): Promise<Composer> {
    const parent = mkdtempSync(join(tmpdir(), "octet-scratch-"));
    const scratch = join(parent, "scratch");
    mkdirSync(scratch);
    const env = environment?.(scratch) ?? { OCTET_EXTENSION_SCRATCH: scratch };
    const child = new Child(process.execPath, [fileURLToPath(new URL("fixtures/compose.js", import.meta.url))], { env: { OCTET_EXTENSION_API_VERSION: "0.4", ...env }, cwd: parent });
    t.after(async () => {
      child.process.stdin.end();
      await child.ended;
      rmSync(parent, { recursive: true });
    });
    await child.ask({ id: 0, jsonrpc: "2.0", method: "initialize", params: initializeParams("0.4", ["compose"], {}) });
    return new Composer(child, scratch);
  }

  /** Has the host answer with one result, and returns what the author got. */
  async ask(nested: boolean, result: JsonObject): Promise<Record<string, JsonValue>> {
    const method = nested ? "composition/call" : "composition/context";
    const asked = this.child.frame((frame) => frame["method"] === method);
    const answered = this.child.ask(callRequest(++this.id, "compose", { nested }));
    this.child.send({ id: (await asked)["id"] ?? null, jsonrpc: "2.0", result });
    const { content } = (await answered)["result"] as { readonly content: readonly { readonly text: string }[] };
    return JSON.parse(content[0]?.text ?? "") as Record<string, JsonValue>;
  }

  context(file: JsonObject): Promise<Record<string, JsonValue>> {
    return this.ask(false, { context_file: file });
  }

  value(file: JsonObject): Promise<Record<string, JsonValue>> {
    return this.ask(true, { value_file: file });
  }

  write(content: string | Uint8Array, name = "f"): void {
    writeFileSync(join(this.scratch, name), content);
  }

  get left(): readonly string[] {
    return readdirSync(this.scratch);
  }
}

function described(content: string | Uint8Array, changes: JsonObject = {}): JsonObject {
  const bytes = Buffer.from(content);
  return { path: "f", bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex"), ...changes };
}

/** Demands a fault of the host at one place, which tells nothing of what a file holds. */
function malformed(found: Record<string, JsonValue>, pointer: string, violation: string, word: string): void {
  assert.deepEqual([found["pointer"], found["violation"]], [pointer, violation], JSON.stringify(found));
  const message = found["message"];
  assert.ok(typeof message === "string");
  assert.ok(message.includes(word), message);
  assert.ok(!message.includes("s3cret"), message);
}

test("the author does not see that a result came as a file, which is gone then", async (t) => {
  const composer = await Composer.start(t);
  const content = JSON.stringify(RECORD);
  composer.write(content, "answer-1");
  assert.deepEqual(await composer.context(described(content, { path: "answer-1" })), { result: RECORD });
  for (const value of ["text", { value_file: 1 }, null, [1, "ü"]]) {
    composer.write(JSON.stringify(value));
    assert.deepEqual(await composer.value(described(JSON.stringify(value))), { result: { value } });
  }
  assert.deepEqual(composer.left, []);
  assert.deepEqual(await composer.ask(false, RECORD), { result: RECORD });
});

const deep = "[".repeat(MAX_JSON_DEPTH + 1) + "]".repeat(MAX_JSON_DEPTH + 1);
const wrongBytes = Buffer.from('"s3cret\xff"', "latin1");
const BAD: readonly (readonly [string, string | Uint8Array, JsonObject, string, string, string])[] = [
  ["size", SECRET, described(SECRET, { bytes: 9 }), "/bytes", "value", "has 8 bytes and not 9"],
  ["digest", SECRET, described('"S3cret"'), "/sha256", "value", "digest"],
  ["nothing", "", described(""), "/bytes", "range", "/value_file/bytes"],
  ["too large", SECRET, described(SECRET, { bytes: MAX_COMPOSITION_FILE_BYTES + 1 }), "/bytes", "range", "/value_file/bytes"],
  ["more than is told", " ".repeat(MAX_COMPOSITION_FILE_BYTES) + SECRET, described(SECRET), "/bytes", "value", "and not 8"],
  ["no UTF-8", wrongBytes, described(wrongBytes), "", "value", "UTF-8"],
  ["a member twice", '{"s3cret":1,"s3cret":2}', described('{"s3cret":1,"s3cret":2}'), "", "value", "strict JSON"],
  ["two values", '1,"s3cret":2', described('1,"s3cret":2'), "", "value", "strict JSON"],
  ["too deep", deep, described(deep), "", "value", "strict JSON"],
];

test("a bad file is the fault of the host, and goes", async (t) => {
  const composer = await Composer.start(t);
  for (const [name, content, file, pointer, violation, word] of BAD) {
    composer.write(content);
    malformed(await composer.value(file), `/value_file${pointer}`, violation, word);
    assert.deepEqual(composer.left, [], name);
  }
});

test("a link is not followed and goes, a directory stays, and what is not there is not found", async (t) => {
  const composer = await Composer.start(t);
  composer.write(SECRET, "other");
  symlinkSync("other", join(composer.scratch, "f"));
  malformed(await composer.value(described(SECRET)), "/value_file/path", "value", "no regular file");
  assert.deepEqual(composer.left, ["other"]);
  malformed(await composer.value(described(SECRET)), "/value_file/path", "value", "is not in the scratch directory");
  mkdirSync(join(composer.scratch, "f"));
  malformed(await composer.value(described(SECRET)), "/value_file/path", "value", "no regular file");
  assert.ok(statSync(join(composer.scratch, "f")).isDirectory());
});

test("a name that leads elsewhere is refused", async (t) => {
  const composer = await Composer.start(t);
  composer.write(SECRET, "../f");
  for (const path of ["..", ".", "../f", "/f", "a\\f", ""]) {
    malformed(await composer.value(described(SECRET, { path })), "/value_file/path", path === "" ? "bytes" : "pattern", "/value_file/path");
  }
  assert.ok(existsSync(join(composer.scratch, "../f")));
});

test("a context in a file is judged by its model", async (t) => {
  const composer = await Composer.start(t);
  for (const [content, pointer, violation] of [
    ['{"tools":[{"description":"s3cret","name":"","parameters":{}}]}', "/tools/0/name", "bytes"],
    ['{"store":{"s3cret":1}}', "/tools", "missing"],
    ['["s3cret"]', "", "not_object"],
    [JSON.stringify({ context_file: described(SECRET) }), "/context_file", "forbidden"],
  ] as const) {
    composer.write(content);
    malformed(await composer.context(described(content)), pointer, violation, 'the file "f"');
    assert.deepEqual(composer.left, []);
  }
});

test("without a scratch directory nothing is read", async (t) => {
  for (const environment of [{}, { OCTET_EXTENSION_SCRATCH: "" }]) {
    const composer = await Composer.start(t, () => environment);
    composer.write(SECRET, "../f");
    malformed(await composer.value(described(SECRET)), "/value_file/path", "value", "OCTET_EXTENSION_SCRATCH");
    malformed(await composer.value(described(SECRET, { bytes: 0 })), "/value_file/bytes", "range", "/value_file/bytes");
    assert.ok(existsSync(join(composer.scratch, "../f")));
  }
});

test("a host in memory has no scratch directory", async () => {
  let thrown: unknown;
  const extension = new ExtensionDefinition({ uses: ["tool_composition_v1"] }).tool("one", { description: "Asks." }, async (call) => {
    thrown = await call.services.composition.context().catch((fault: unknown) => fault);
    return "done";
  });
  const host = await TestHost.start(extension);
  host.on("composition.context", () => ({ context_file: described(SECRET) }));
  await host.call("one");
  assert.ok(thrown instanceof RemoteProtocolError);
  assert.match(thrown.message, /the file "f" cannot be read, because OCTET_EXTENSION_SCRATCH names no directory/u);
});
