/** Static types: this file compiles, or the types are wrong. The directives fail when nothing is wrong below them. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Infer, Reply } from "../src/index.js";
import { ExtensionDefinition, s } from "../src/index.js";

/** True for types that fit each other both ways. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

function same<A, B>(proof: Same<A, B>): Same<A, B> {
  return proof;
}

const args = s.object({
  text: s.string(),
  unique: s.boolean().default(false),
  level: s.enum(["low", "high"]).optional(),
  tags: s.array(s.integer()).nullable(),
  inner: s.object({ any: s.json().optional() }),
});

test("schemas give the types of their values", () => {
  same<Infer<typeof args>["text"], string>(true);
  same<Infer<typeof args>["unique"], boolean>(true);
  same<Infer<typeof args>["tags"], readonly number[] | null>(true);
  // @ts-expect-error -- a number is not a string
  same<Infer<typeof args>["text"], number>(true);
  const least: Infer<typeof args> = { text: "", unique: true, tags: null, inner: {} };
  const most: Infer<typeof args> = { ...least, level: "low", inner: { any: [1] } };
  // @ts-expect-error -- not one of the alternatives
  const wrong: Infer<typeof args> = { ...least, level: "mid" };
  // @ts-expect-error -- a member with a default is always there
  const absent: Infer<typeof args> = { text: "", tags: null, inner: {} };
  assert.ok([least, most, wrong, absent].length === 4);
});

test("handlers get the types of their arguments and owe those of their output", () => {
  const extension = new ExtensionDefinition();
  extension.tool("typed", { description: "d", args }, (_call, given) => {
    same<typeof given.unique, boolean>(true);
    // @ts-expect-error -- not in the schema
    return String(given.missing);
  });
  extension.tool("none", { description: "d" }, () => "text");
  extension.tool("output", { description: "d", output: s.object({ n: s.integer() }) }, () => ({ structured: { n: 1 } }));
  extension.tool("failing", { description: "d", output: s.object({ n: s.integer() }) }, () => ({ isError: true, text: "no" }));
  // @ts-expect-error -- the output schema wants a number
  extension.tool("wrong", { description: "d", output: s.object({ n: s.integer() }) }, () => ({ structured: { n: "1" } }));
  // @ts-expect-error -- text alone is no structured content
  extension.tool("text", { description: "d", output: s.object({ n: s.integer() }) }, () => "1");
  // @ts-expect-error -- no output schema, no structured content
  extension.tool("bare", { description: "d" }, () => ({ text: "x", structured: {} }));
  // @ts-expect-error -- an API version that does not exist
  assert.throws(() => new ExtensionDefinition({ api: "0.5" }));
  const reply: Reply = { text: ["a"], metadata: { k: [1, null] } };
  assert.ok(reply);
});
