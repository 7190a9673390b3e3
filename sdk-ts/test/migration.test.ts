/** The migration adapter: what the SDK answers in the author's place, and what it does not let out. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { test } from "node:test";

import type { MigrationImportResult } from "../src/_generated/canonical-wire.js";
import { ExtensionDefinition } from "../src/extension.js";
import { fileSources } from "../src/node/source.js";
import { ErrorAnswer, TestHost } from "../src/testing.js";

const V03 = { api: "0.3" } as const;
const OPTIONS = { sources: fileSources };
const NOTHING: MigrationImportResult = { models: [], skills: [], mcp_servers: [], diagnostics: [] };

/** A source root with a file, a directory and links. */
function setup(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), "octet-source-"));
  t.after(() => { rmSync(root, { recursive: true }); });
  writeFileSync(join(root, "a.json"), "{}");
  mkdirSync(join(root, "sub"));
  writeFileSync(join(root, "sub", "b.json"), '{"b":1}');
  symlinkSync("a.json", join(root, "link.json"));
  symlinkSync("sub", join(root, "way"));
  return root;
}

/** Detects what it is told to, where it is there or wrong, and answers an import with a skill. */
function adapter(detect: readonly string[], skill?: string): ExtensionDefinition {
  return new ExtensionDefinition(V03).migration({
    detect: async (_scope, _request, source) => {
      const there = await Promise.all(detect.map(async (path) => path === "gone.json" || (await source.kind(path).catch(() => "wrong")) !== undefined));
      const found = detect.filter((_, at) => there[at]);
      return { detected: found.length > 0, config_paths: found, diagnostics: [] };
    },
    import: async (_scope, { config_paths: paths }, source) => {
      if (skill === "fail") {
        throw new Error("secret detail");
      }
      const read = await Promise.all(paths.map((path) => source.readFile(path)));
      const gone = paths.filter((_, at) => read[at] === undefined);
      return {
        ...NOTHING,
        skills: skill === undefined ? [] : [{ path: skill, name: "n", content: "c" }],
        diagnostics: gone.map((path) => ({ path, severity: "warning", reason: "gone" }) as const),
      };
    },
  });
}

function fails(asked: Promise<unknown>, code: number): Promise<void> {
  return assert.rejects(asked, (fault) => fault instanceof ErrorAnswer && fault.code === code && !fault.message.includes("secret"));
}

test("a detection reports what is there", async (t) => {
  const host = await TestHost.start(adapter(["a.json", "sub/b.json", "none.json"]), OPTIONS);
  const found = await host.request("migration/detect", { source_root: setup(t) });
  assert.deepEqual({ ...(found as object) }, { detected: true, config_paths: ["a.json", "sub/b.json"], diagnostics: [] });
});

test("a root that is no directory of its own is refused", async (t) => {
  const root = setup(t);
  const host = await TestHost.start(adapter([]), OPTIONS);
  for (const path of ["", "relative", join(root, "none"), join(root, "a.json"), join(root, "way")]) {
    await fails(host.request("migration/detect", { source_root: path }), -32602);
    await fails(host.request("migration/import", { source_root: path, config_paths: [] }), -32602);
  }
  await fails(host.request("migration/detect", {}), -32602);
  const blind = await TestHost.start(adapter([]));
  await fails(blind.request("migration/detect", { source_root: root }), -32602);
  const without = await TestHost.start(new ExtensionDefinition(V03));
  await fails(without.request("migration/detect", { source_root: root }), -32601);
});

test("no unsound detection goes out", async (t) => {
  const root = setup(t);
  for (const detect of [["a.json", "a.json"], ["../a.json"], ["/etc/passwd"], ["link.json"], ["way/b.json"], ["gone.json"], ["c:a"]]) {
    const host = await TestHost.start(adapter(detect), OPTIONS);
    await fails(host.request("migration/detect", { source_root: root }), -32603);
  }
});

test("an import is of what detection reports, and its answer stays below the root", async (t) => {
  const root = setup(t);
  const cases: readonly (readonly [readonly string[], string | undefined, number])[] = [
    [["a.json", "a.json"], undefined, -32602],
    [["../a.json"], undefined, -32602],
    [["sub"], undefined, -32602],
    [["a.json"], "../x", -32603],
    [["a.json"], "fail", -32603],
  ];
  for (const [paths, skill, code] of cases) {
    const host = await TestHost.start(adapter(["a.json"], skill), OPTIONS);
    await fails(host.request("migration/import", { source_root: root, config_paths: [...paths] }), code);
  }
});

test("what was detected may have vanished", async (t) => {
  const root = setup(t);
  const host = await TestHost.start(adapter(["a.json"], "sub/b.json"), OPTIONS);
  const asked = { source_root: root, config_paths: ["a.json"] };
  const skills = [{ content: "c", name: "n", path: "sub/b.json" }];
  assert.equal(JSON.stringify(await host.request("migration/import", asked)), JSON.stringify({ diagnostics: [], mcp_servers: [], models: [], skills }));
  unlinkSync(join(root, "a.json"));
  const diagnostics = [{ path: "a.json", reason: "gone", severity: "warning" }];
  assert.equal(JSON.stringify(await host.request("migration/import", asked)), JSON.stringify({ diagnostics, mcp_servers: [], models: [], skills }));
});

test("a source reads below its root alone", async (t) => {
  const source = await fileSources.open(setup(t));
  assert.equal(new TextDecoder().decode(await source.readFile("sub/b.json")), '{"b":1}');
  assert.deepEqual(await source.readDir(), ["a.json", "link.json", "sub", "way"]);
  assert.deepEqual(await source.readDir("sub"), ["b.json"]);
  assert.equal(await source.readFile("none"), undefined);
  for (const path of ["link.json", "way/b.json", "../x", "/etc/passwd", "sub", "", "."]) {
    await assert.rejects(source.readFile(path));
  }
  await assert.rejects(source.readDir("way"));
});
