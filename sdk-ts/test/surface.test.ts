/** The exported names are a golden list, so that growth shows in review. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import ts from "typescript";

const ROOT = new URL("../../", import.meta.url);
const GOLDEN = new URL("test/surface.golden.txt", ROOT);

/** Every name an entry point exports, types included, as the compiler sees them. */
function exportsOf(file: string): readonly string[] {
  const path = new URL(file, ROOT).pathname;
  const program = ts.createProgram([path], { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, noLib: true, types: [] });
  const source = program.getSourceFile(path);
  const symbol = source === undefined ? undefined : program.getTypeChecker().getSymbolAtLocation(source);
  assert.ok(symbol, `${file} is no module`);
  return program.getTypeChecker().getExportsOfModule(symbol).map((one) => one.name).sort();
}

test("the exported names are those of the golden list", () => {
  const manifest = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8")) as { exports: Record<string, { types: string }> };
  const hand = Object.entries(manifest.exports).filter(([, { types }]) => !types.includes("_generated"));
  const lines = hand.flatMap(([entry, { types }]) => exportsOf(types).map((name) => `${entry} ${name}`));
  assert.equal(`${lines.join("\n")}\n`, readFileSync(GOLDEN, "utf8"));
});

test("every entry point can be imported by its name, and has no default export", async () => {
  const manifest = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8")) as { name: string; exports: Record<string, unknown> };
  for (const entry of Object.keys(manifest.exports)) {
    const module = (await import(manifest.name + entry.slice(1))) as Record<string, unknown>;
    assert.ok(Object.keys(module).length > 0, entry);
    assert.ok(!("default" in module), entry);
  }
});
