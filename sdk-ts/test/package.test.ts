/** The package as an author gets it: packed, installed into an empty project, compiled against and run. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { initializeParams } from "../src/testing/host-side.js";
import { Child } from "./child.js";
import { callRequest } from "./session.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const GUIDE = readFileSync(new URL("../../../docs/guide/typescript.md", import.meta.url), "utf8");
const TSC = join(ROOT, "node_modules", "typescript", "bin", "tsc");

interface Block {
  readonly language: string;
  /** Undefined for commands. */
  readonly file: string | undefined;
  readonly text: string;
}

/** The code blocks of the guide, as they stand. A file is named on its first line, or behind what starts it. */
const blocks: readonly Block[] = [...GUIDE.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gmu)].map(([, language = "", text = ""]) => {
  const name = /^(?:#!.*\n)?(?:\/\/|#) ([\w.-]+\.\w+)\n/u.exec(text);
  return { language, file: name?.[1], text };
});

let project = "";

before(() => {
  project = mkdtempSync(join(tmpdir(), "octet-extension-"));
  const run = (command: string, args: readonly string[], cwd: string): string => execFileSync(command, args, { cwd, encoding: "utf8", env: { ...process.env, npm_config_cache: join(project, ".npm") } });
  const tarball = run("npm", ["pack", "--silent", "--pack-destination", project], ROOT).trim();
  writeFileSync(join(project, "package.json"), '{"name":"greet","private":true,"type":"module"}\n');
  run("npm", ["install", "--offline", "--no-audit", "--no-fund", "--silent", join(project, tarball)], project);
  for (const { file, text } of blocks) {
    if (file !== undefined) {
      writeFileSync(join(project, file), text);
    }
  }
  const strict = {
    compilerOptions: {
      strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, noUnusedLocals: true, noUnusedParameters: true, noImplicitReturns: true,
      target: "ES2022", module: "NodeNext", outDir: "dist", rootDir: ".", skipLibCheck: false, types: ["node"], typeRoots: [join(ROOT, "node_modules", "@types")],
    },
    include: ["*.ts"],
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(strict));
});

after(() => {
  rmSync(project, { recursive: true, force: true });
});

/** Runs Node in the project; what it says is the message of the failure. */
function node(args: readonly string[]): string {
  try {
    return execFileSync(process.execPath, args, { cwd: project, encoding: "utf8", env: { PATH: process.env["PATH"] ?? "" } });
  } catch (fault) {
    const { stdout, stderr } = fault as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${stdout}\n${stderr}`, { cause: fault });
  }
}

test("the guide has its files, and every block is one or a command", () => {
  assert.ok(blocks.length >= 14, String(blocks.length));
  for (const { language, file, text } of blocks) {
    assert.ok(["ts", "js", "toml", "sh"].includes(language), language);
    assert.equal(file === undefined, language === "sh", text.slice(0, 60));
  }
  assert.equal(GUIDE.match(/^```/gmu)?.length, blocks.length * 2);
});

test("every file of the guide compiles in strict mode, and its tests pass", () => {
  node([TSC, "--project", "tsconfig.json"]);
  const report = node(["--test", "--test-reporter=tap", "dist/guide.test.js"]);
  assert.match(report, /^# pass 6$/mu);
  assert.match(report, /^# fail 0$/mu);
});

test("the commands of the guide build the extension, which runs from the empty project", async () => {
  const commands = blocks.filter(({ language }) => language === "sh").flatMap(({ text }) => text.trim().split("\n"));
  assert.deepEqual(commands, ["tsc --strict --target es2022 --module nodenext --outDir dist greet.ts main.ts", "chmod +x greet.mjs"]);
  node([TSC, ...(commands[0] ?? "").split(" ").slice(1)]);
  chmodSync(join(project, "greet.mjs"), 0o755);
  const child = new Child(join(project, "greet.mjs"), [], { cwd: tmpdir(), env: { OCTET_EXTENSION_API_VERSION: "0.4" } });
  await child.ask({ id: 0, jsonrpc: "2.0", method: "initialize", params: initializeParams("0.4", ["greet"], {}) });
  assert.match(JSON.stringify(await child.ask(callRequest(1, "greet", { name: "Ada" }))), /"Hello Ada"/u);
  await child.ask({ id: 2, jsonrpc: "2.0", method: "shutdown", params: {} });
  assert.equal(await child.ended, 0);
});

test("the manifest of the guide names what its extension is and has", () => {
  const manifest = blocks.find(({ language }) => language === "toml")?.text ?? "";
  assert.match(manifest, /^name = "greet" /mu);
  assert.match(manifest, /^api_version = "0\.4"$/mu);
  assert.match(manifest, /command = "greet\.mjs"/u);
  assert.match(manifest, /tools = \["greet"\]/u);
});

test("the package holds what is published and no test", () => {
  const listed = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json"], { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })) as { files: { path: string }[] }[];
  const paths = listed[0]?.files.map(({ path }) => path) ?? [];
  for (const wanted of ["LICENSE", "README.md", "dist/src/index.js", "dist/src/index.d.ts", "dist/src/testing.js", "dist/src/_generated/feature-wire.js", "dist/src/testee.js"]) {
    assert.ok(paths.includes(wanted), wanted);
  }
  assert.deepEqual(paths.filter((path) => !path.startsWith("dist/src/") && !["LICENSE", "README.md", "package.json"].includes(path)), []);
});
