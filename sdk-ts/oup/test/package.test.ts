/** The package as an author gets it: packed, installed into an empty project, compiled without Node's types, and run. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TSC = join(ROOT, "..", "node_modules", "typescript", "bin", "tsc");
const README = readFileSync(join(ROOT, "README.md"), "utf8");

let project = "";

before(() => {
  project = mkdtempSync(join(tmpdir(), "octet-oup-"));
  const run = (command: string, args: readonly string[], cwd: string): string =>
    execFileSync(command, args, { cwd, encoding: "utf8", env: { ...process.env, npm_config_cache: join(project, ".npm") } });
  const tarball = run("npm", ["pack", "--silent", "--pack-destination", project], ROOT).trim();
  writeFileSync(join(project, "package.json"), '{"name":"page","private":true,"type":"module"}\n');
  run("npm", ["install", "--offline", "--no-audit", "--no-fund", "--silent", join(project, tarball)], project);
  writeFileSync(join(project, "main.ts"), /^```ts\n([\s\S]*?)^```$/mu.exec(README)?.[1] ?? "");
  const options = {
    strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, target: "ES2022", module: "NodeNext",
    lib: ["ES2023", "DOM"], types: [], skipLibCheck: false, rootDir: ".", outDir: "dist",
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["main.ts"] }));
});

after(() => {
  rmSync(project, { recursive: true, force: true });
});

test("what the README shows compiles against browser types and runs", () => {
  execFileSync(process.execPath, [TSC, "--project", "tsconfig.json"], { cwd: project, encoding: "utf8" });
  const said = execFileSync(process.execPath, [join("dist", "main.js")], { cwd: project, encoding: "utf8" });
  assert.match(said, /^ada:local:desk \{"input":\[\],"session_id":"ada:local:desk","turn_id":"[0-9a-f-]+"\}$/mu);
  assert.match(said, /name: 'turn\/start'/u);
  assert.match(said, /\[ '\/session_id', 'type', 'invalid_params' \]/u);
});

test("the testee is a command of the package", () => {
  const said = execFileSync(join(project, "node_modules", ".bin", "octet-oup-testee"), { input: '{"seq":1,"op":"hello","protocol":1}\n', encoding: "utf8" });
  assert.match(said, /"wires":\["oup"\]/u);
});
