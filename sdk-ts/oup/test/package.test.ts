/** The package as an author gets it: packed, installed into an empty project, compiled against and run, the guide with it. */

import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { Home, OCTET } from "./served.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MODULES = join(ROOT, "..", "node_modules");
const GUIDE = readFileSync(new URL("../../../../docs/guide/oup-typescript.md", import.meta.url), "utf8");
const README = readFileSync(join(ROOT, "README.md"), "utf8");

/** The blocks of the guide, by the file that each names in its first line. */
const files = new Map([...GUIDE.matchAll(/^```(?:ts|yaml)\n((?:\/\/|#) (\S+)\n[\s\S]*?)^```$/gmu)].map(([, text = "", name = ""]) => [name, text]));

let project = "";
const home = new Home();

before(() => {
  project = mkdtempSync(join(tmpdir(), "octet-oup-"));
  const npm = (args: readonly string[], cwd: string): string => execFileSync("npm", args, { cwd, encoding: "utf8", env: { ...process.env, npm_config_cache: join(project, ".npm") } });
  // What the package needs comes from beside it, so that nothing is downloaded.
  const tarballs = [ROOT, join(MODULES, "ws")].map((folder) => join(project, npm(["pack", "--silent", "--ignore-scripts", "--pack-destination", project], folder).trim()));
  writeFileSync(join(project, "package.json"), '{"name":"guide","private":true,"type":"module"}\n');
  npm(["install", "--offline", "--no-audit", "--no-fund", "--silent", ...tarballs], project);
  for (const [name, text] of files) {
    writeFileSync(join(project, name), text);
  }
  const readme = /^```js\n([\s\S]*?)^```$/mu.exec(README)?.[1] ?? "";
  mkdirSync(join(project, "work")); // which the README has for a workspace
  writeFileSync(join(project, "readme.mts"), readme);
  const strict = {
    strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, noUnusedLocals: true, noUnusedParameters: true,
    target: "ES2022", module: "NodeNext", skipLibCheck: false, rootDir: ".", outDir: "dist",
  };
  const node = { ...strict, types: ["node"], typeRoots: [join(MODULES, "@types")] };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: node, include: ["*.ts", "*.mts"], exclude: ["page.ts"] }));
  writeFileSync(join(project, "page.json"), JSON.stringify({ compilerOptions: { ...strict, types: [], lib: ["ES2023", "DOM"] }, files: ["page.ts"] }));
  for (const config of ["tsconfig.json", "page.json"]) {
    run([join(MODULES, "typescript", "bin", "tsc"), "--project", config]);
  }
});

after(async () => {
  rmSync(project, { recursive: true, force: true });
  await home.clear();
});

/** Runs Node in the project; what it says is the message of the failure. */
function run(args: readonly string[]): string {
  const env = { HOME: home.folder, PATH: `${dirname(OCTET)}${delimiter}${process.env["PATH"] ?? ""}` };
  try {
    return execFileSync(process.execPath, args, { cwd: project, encoding: "utf8", env, stdio: ["ignore", "pipe", "pipe"] });
  } catch (fault) {
    const { stdout, stderr } = fault as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${stdout}\n${stderr}`, { cause: fault });
  }
}

/** The command of a server of its own, as the page has it. */
function server(): readonly string[] {
  return [OCTET, "serve", "--stdio", "--model", "scripted:script.yaml", "--data-dir", mkdtempSync(join(home.folder, "data-")), "--cwd", home.work];
}

/** Runs a file of the guide. */
function guided(name: string): string {
  return run([join("dist", name), ...server()]);
}

test("the guide has its files, and every block is one", () => {
  assert.deepEqual([...files.keys()], ["script.yaml", "controller.ts", "watch.ts", "person.ts", "stop.ts", "keep.ts", "page.ts", "more.ts"]);
  assert.equal(GUIDE.match(/^```/gmu)?.length, files.size * 2);
});

test("a turn in five minutes, and the example that does one job", () => {
  assert.match(guided("controller.js"), /^completed I count\.\n\nThere are two of them\. /u);
  const example = readFileSync(join(ROOT, "examples", "controller.mjs"), "utf8");
  assert.ok(example.trim().split("\n").length <= 22, "it stays small");
  writeFileSync(join(project, "example.mjs"), example);
  const said = run(["example.mjs", "how many files are here?", ...server()]);
  assert.equal(said, "completed: I count.\n\nThere are two of them.\nshell complete\n");
});

test("the client that is judged does one turn and says how it ended", () => {
  writeFileSync(join(project, "judged.mjs"), readFileSync(join(ROOT, "examples", "judged.mjs"), "utf8"));
  assert.equal(run(["judged.mjs", "_main:local:judged", "hello", "deny", ...server()]), "completed: You said hello.\n");
});

test("watching, deciding, stopping and everything else", () => {
  assert.match(guided("watch.js"), /\[shell .*ls \| wc -l.*\]\n\[complete: [\s\S]*There are two of them\.\ncompleted\n$/u);
  assert.equal(guided("stop.js"), "interrupted interrupted\n");
  assert.match(guided("more.js"), /^workspace_write\n[\s\S]*not here: loop\/list\nunknown_preview -32103 /u);
});

for (const [word, end] of [["no", "skipped"], ["always", "complete"]] as const) {
  test(`a person says ${word}`, async () => {
    const person = spawn(process.execPath, [join("dist", "person.js"), ...server()], { cwd: project, stdio: ["pipe", "pipe", "inherit"] });
    let said = "";
    person.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (text.includes("yes, always or no? ")) {
        person.stdin.write(`${word}\n`);
      }
    });
    await once(person, "close");
    assert.match(said, new RegExp(`shell: ${end}\n$`, "u"));
  });
}

test("many clients: the cursor that was kept, and a page's WebSocket", async () => {
  writeFileSync(join(home.folder, "script.yaml"), files.get("script.yaml") ?? "");
  const url = await home.listen("--auth-token", "secret");
  const keep = async (): Promise<string> => (await promisify(execFile)(process.execPath, [join("dist", "keep.js"), url, "secret"], { cwd: project })).stdout;
  assert.equal(await keep(), "You said good morning.\n");
  assert.ok(existsSync(join(project, "cursor.json")));
  assert.equal(await keep(), "You said good morning.\n", "nothing comes twice");
  await home.end("SIGTERM");
  const open = await home.listen();
  writeFileSync(join(project, "window.mjs"), 'import { WebSocket } from "ws";\nglobalThis.WebSocket ??= WebSocket;\nconst { greet } = await import("./dist/page.js");\nawait greet(process.argv[2], (text) => console.log(text));\n');
  assert.equal((await promisify(execFile)(process.execPath, ["window.mjs", open], { cwd: project })).stdout, "You said hello.\n");
});

test("what the README shows runs", () => {
  assert.match(run([join("dist", "readme.mjs")]), /^I count\.\n\[complete\]\nThere are two of them\.\n$/u);
});

test("what a page imports needs no module of Node, and no package", () => {
  const seen = new Set<string>();
  const open = [join(project, "node_modules", "octet-oup", "dist", "src", "index.js")];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (!seen.has(file)) {
      seen.add(file);
      for (const [, name = "import()"] of readFileSync(file, "utf8").matchAll(/^(?:import|export)\s+(?:[\w*{},\s]+?\sfrom\s+)?"([^"]+)"|\bimport\(([^)]*)\)/gmu)) {
        assert.match(name, /^\.{1,2}\/[\w./-]+\.js$/u, `${file} imports "${name}"`);
        assert.ok(!name.includes("node"), `${file} imports "${name}"`);
        open.push(join(dirname(file), name));
      }
    }
  }
  assert.ok(seen.size > 15, String(seen.size));
});

test("the package holds what is published and no test, and the testee is a command of it", () => {
  const installed = join(project, "node_modules", "octet-oup");
  assert.ok(existsSync(join(installed, "dist", "src", "node", "index.d.ts")) && existsSync(join(installed, "LICENSE")));
  assert.ok(!existsSync(join(installed, "dist", "test")) && !existsSync(join(installed, "dist", "examples")));
  const said = execFileSync(join(project, "node_modules", ".bin", "octet-oup-testee"), { input: '{"seq":1,"op":"hello","protocol":1}\n', encoding: "utf8" });
  assert.match(said, /"wires":\["oup"\]/u);
});
