import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { JsonValue } from "../src/_generated/json.js";
import { readJson } from "../src/_generated/json.js";
import { LocalProtocolError, SchemaMismatch } from "../src/errors.js";
import { assertKeywords, s } from "../src/schema.js";
import type { Infer } from "../src/schema.js";

const sample = s.object({
  text: s.string({ description: "what to count", minLength: 1, maxLength: 5, pattern: "^[a-z]+$" }),
  unique: s.boolean().default(false),
  level: s.enum(["low", "high"]).optional(),
  count: s.integer({ minimum: 0, maximum: 10 }).nullable(),
  tags: s.array(s.string(), { maxItems: 2 }).default([]),
});

test("a schema describes itself as JSON Schema", () => {
  assert.deepEqual(sample.json, {
    type: "object",
    properties: {
      text: { type: "string", description: "what to count", minLength: 1, maxLength: 5, pattern: "^[a-z]+$" },
      unique: { type: "boolean", default: false },
      level: { type: "string", enum: ["low", "high"] },
      count: { type: ["integer", "null"], minimum: 0, maximum: 10 },
      tags: { type: "array", items: { type: "string" }, maxItems: 2, default: [] },
    },
    required: ["text", "count"],
    additionalProperties: false,
  });
  assert.deepEqual(s.enum(["a"]).nullable().json, { anyOf: [{ type: "string", enum: ["a"] }, { type: "null" }] });
  assert.deepEqual(s.string("one").examples("a", "b").describe("two").json, { type: "string", description: "two", examples: ["a", "b"] });
});

test("a value that fits is returned with its defaults", () => {
  const value: Infer<typeof sample> = sample.parse({ text: "abc", count: null });
  assert.deepEqual(value, { text: "abc", unique: false, count: null, tags: [] });
  assert.deepEqual(sample.parse({ text: "abc", count: 3, level: "high", unique: true, tags: ["x"] }), {
    text: "abc",
    unique: true,
    level: "high",
    count: 3,
    tags: ["x"],
  });
});

test("a value that does not fit is refused at its place", () => {
  const good = { text: "abc", count: 1 };
  const cases: readonly [JsonValue, string, string][] = [
    [[], "", "must be an object"],
    [{ count: 1 }, "/text", "is missing"],
    [{ ...good, text: 1 }, "/text", "must be a string"],
    [{ ...good, text: "" }, "/text", "at least 1 characters"],
    [{ ...good, text: "abcdef" }, "/text", "at most 5 characters"],
    [{ ...good, text: "ABC" }, "/text", "must match"],
    [{ ...good, unique: 1 }, "/unique", "true or false"],
    [{ ...good, level: "mid" }, "/level", 'must be one of "low", "high"'],
    [{ ...good, level: null }, "/level", "must be one of"],
    [{ ...good, count: 1.5 }, "/count", "whole number"],
    [{ ...good, count: -1 }, "/count", "at least 0"],
    [{ ...good, count: 11 }, "/count", "at most 10"],
    [{ ...good, tags: "x" }, "/tags", "must be an array"],
    [{ ...good, tags: ["x", 2] }, "/tags/1", "must be a string"],
    [{ ...good, tags: ["x", "y", "z"] }, "/tags", "at most 2 items"],
    [{ ...good, "a/b~": 1 }, "/a~1b~0", "is not a member"],
  ];
  for (const [value, pointer, reason] of cases) {
    assert.throws(
      () => sample.parse(value),
      (fault) => fault instanceof SchemaMismatch && fault.pointer === pointer && fault.reason.includes(reason),
      JSON.stringify(value),
    );
  }
});

test("characters are counted, not UTF-16 units", () => {
  assert.equal(s.string({ maxLength: 1 }).parse("🐧"), "🐧");
});

test("numbers in any legal spelling are accepted where their value fits", () => {
  const read = (text: string): JsonValue => readJson(text, { maxDepth: 10 });
  assert.equal(s.integer().parse(read("2.0")), 2);
  assert.equal(s.number().parse(read("1e1")), 10);
  assert.throws(() => s.integer().parse(read("9007199254740993")), SchemaMismatch);
  assert.throws(() => s.number().parse(read("1e999")), SchemaMismatch);
  assert.deepEqual(s.json().parse(read('{"a":[1.50,{"__proto__":1}]}')), { a: [1.5, Object.fromEntries([["__proto__", 1]])] });
});

test("a parsed object has the members of its schema and no others, whatever they are called", () => {
  const odd = s.object({ ["__proto__"]: s.string(), constructor: s.string().optional() });
  const value = odd.parse(readJson('{"__proto__":"x"}', { maxDepth: 3 }));
  assert.deepEqual(Object.entries(value), [["__proto__", "x"]]);
  assert.throws(() => s.object({}).parse({ toString: 1 }), SchemaMismatch);
});

test("parsing throws nothing but SchemaMismatch", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      try {
        sample.parse(value as JsonValue);
      } catch (fault) {
        assert.ok(fault instanceof SchemaMismatch);
      }
    }),
  );
});

test("keywords outside a list are found at any depth", () => {
  const allowed = new Set(["type", "properties", "items", "anyOf", "required", "additionalProperties"]);
  assertKeywords(s.object({ pattern: s.string() }).json, allowed);
  const bad = s.object({ list: s.array(s.object({ name: s.string({ pattern: "x" }) })).nullable() });
  assert.throws(() => {
    assertKeywords(bad.json, allowed);
  }, new LocalProtocolError('output schema uses "/properties/list/items/properties/name/pattern": the wire does not allow this keyword, leave it out'));
});
