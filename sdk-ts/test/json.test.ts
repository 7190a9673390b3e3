import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { MAX_JSON_DEPTH } from "../src/_generated/canonical-wire.js";
import type { JsonObject, JsonValue } from "../src/_generated/json.js";
import { compareNames, decodeUtf8, isObject, JsonSyntaxError, Numeral, readJson, utf8Length, writeJson } from "../src/_generated/json.js";
import { check, decode, encode } from "../src/canonical.js";
import { LocalProtocolError } from "../src/errors.js";

const STRICT = { maxDepth: 128 };

/** JSON values whose numbers are portable integers, with hostile names among the members. */
const portable = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger().map((n) => (Object.is(n, -0) ? 0 : n)),
    fc.string({ unit: "binary" }),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("__proto__", "constructor", "10", "9", "")), tie("value"), { maxKeys: 5 }),
  ),
})).value;

/** Objects without prototypes, for comparing by content. */
function bare(value: JsonValue): unknown {
  if (Array.isArray(value)) {
    return value.map((one: JsonValue) => bare(one));
  }
  return isObject(value) ? Object.assign(Object.create(null) as object, Object.fromEntries(Object.entries(value).map(([k, v]) => [k, bare(v)]))) : value;
}

test("what the canonical encoder writes is canonical and reads back the same", () => {
  fc.assert(
    fc.property(portable, (value) => {
      const bytes = encode(value);
      check(bytes);
      const again = decode(bytes);
      assert.deepEqual(entries(again), entries(value));
      assert.deepEqual(encode(again), bytes);
    }),
  );
});

/** A value with every object as sorted pairs, so that __proto__ counts as a member. */
function entries(value: JsonValue): unknown {
  if (Array.isArray(value)) {
    return value.map((one: JsonValue) => entries(one));
  }
  return isObject(value)
    ? Object.keys(value)
        .sort(compareNames)
        .map((name) => [name, entries(value[name] ?? null)])
    : value;
}

test("any bytes are read or refused with a JsonSyntaxError, never anything else", () => {
  const anyBytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    portable.chain((value) => mutated(encode(value))),
    fc.string({ unit: fc.constantFrom(...'{}[]",:0123456789.eE+-\\u tfn\n'.split("")) }).map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      for (const canonical of [false, true]) {
        try {
          const value = readJson(decodeUtf8(bytes), { ...STRICT, canonical });
          if (canonical) {
            assert.equal(writeJson(value, 128), decodeUtf8(bytes));
          }
        } catch (fault) {
          assert.ok(fault instanceof JsonSyntaxError, String(fault));
        }
      }
    }),
    { numRuns: 2000 },
  );
});

function mutated(bytes: Uint8Array): fc.Arbitrary<Uint8Array> {
  return fc.record({ at: fc.nat({ max: bytes.length }), byte: fc.nat({ max: 255 }) }).map(({ at, byte }) => {
    const copy = Uint8Array.from(bytes);
    copy[Math.min(at, copy.length - 1)] = byte;
    return copy;
  });
}

test("strict JSON agrees with JSON.parse wherever no name repeats", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      assert.deepEqual(bare(plainNumbers(readJson(text, STRICT))), bare(JSON.parse(text) as JsonValue));
    }),
  );
});

function plainNumbers(value: JsonValue): JsonValue {
  if (value instanceof Numeral) {
    return Number(value);
  }
  if (Array.isArray(value)) {
    return value.map((one: JsonValue) => plainNumbers(one));
  }
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plainNumbers(v)])) : value;
}

test("names are ordered by scalar value, as their bytes are", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
      assert.equal(Math.sign(compareNames(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)));
      assert.equal(utf8Length(a), Buffer.byteLength(a));
    }),
  );
});

test("__proto__ is a member like any other", () => {
  const value = readJson('{"__proto__":{"polluted":true},"constructor":1}', STRICT) as JsonObject;
  assert.equal(Object.getPrototypeOf(value), null);
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  assert.equal(writeJson(value, 128), '{"__proto__":{"polluted":true},"constructor":1}');
});

test("numbers that JavaScript would round or respell keep their spelling", () => {
  for (const text of ["2.0", "1e3", "9007199254740993", "-0.0", "1E+2", "123456789012345678901234567890"]) {
    const value = readJson(text, STRICT);
    assert.ok(value instanceof Numeral, text);
    assert.equal(writeJson(value, 1), text);
  }
  assert.equal(readJson("-0", STRICT), -0);
  assert.equal(writeJson(-0, 1), "0");
  assert.throws(() => new Numeral("01"), TypeError);
  assert.throws(() => new Numeral("1 "), TypeError);
});

test("depth is counted from 0 at the root, scalars included", () => {
  const nested = (levels: number, inner: string): Uint8Array => Buffer.from("[".repeat(levels) + inner + "]".repeat(levels));
  check(nested(MAX_JSON_DEPTH, "1"));
  check(nested(MAX_JSON_DEPTH + 1, ""));
  assert.throws(() => {
    check(nested(MAX_JSON_DEPTH + 1, "1"));
  }, JsonSyntaxError);
  assert.throws(() => {
    check(nested(MAX_JSON_DEPTH + 2, ""));
  }, JsonSyntaxError);
  assert.throws(() => readJson("[".repeat(1_000_000), STRICT), JsonSyntaxError);
});

test("the encoder refuses what has no canonical spelling", () => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  for (const value of [0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, new Numeral("2.0"), "\ud800", { "\udc00": 1 }, cycle, new Date(0), 1n, { f: () => 1 }]) {
    assert.throws(() => encode(value as JsonValue), LocalProtocolError);
  }
  assert.equal(decodeUtf8(encode({ b: 1, a: undefined } as unknown as JsonValue)), '{"b":1}');
});

test("a syntax error says what and where", () => {
  assert.throws(() => readJson('{"a":1,"a":2}', STRICT), { name: "JsonSyntaxError", message: 'offset 7: member "a" is given twice', offset: 7 });
  assert.throws(() => readJson("\ud800", STRICT), { name: "JsonSyntaxError" });
  for (const escapes of ["\\ud800", "\\udc00", "\\udc00\\udc00", "\\ud800\\ud800", "\\ud800x", "\\ud800\\u0041"]) {
    assert.throws(() => readJson(`"${escapes}"`, STRICT), { name: "JsonSyntaxError", reason: "lone surrogate" }, escapes);
  }
});

test("long strings are read and written like short ones", () => {
  const special = fc.constantFrom("", '"', "\\", "\n", "\u0000", "\u001f", "ø", "\u2028", "🐧");
  // Up to and beyond what is looked at as bytes in one go.
  const plain = fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 0, max: 200 }) }, { weight: 1, arbitrary: fc.integer({ min: 10_900, max: 10_940 }) }).map((count) => "octet ".repeat(count));
  fc.assert(
    fc.property(plain, special, plain, (head, middle, tail) => {
      const text = JSON.stringify({ a: [`${head}${middle}${tail}`, head], b: middle });
      assert.deepEqual(readJson(text, { maxDepth: 8, canonical: true }), readJson(text, { maxDepth: 8 }));
      assert.equal(writeJson(readJson(text, { maxDepth: 8, canonical: true }), 8), text);
    }),
  );
});

test("a long string may hold no control character and must end, wherever the fault stands", () => {
  for (let length = 480; length < 500; length++) {
    for (const head of ["x".repeat(length), "ø".repeat(length), "x".repeat(70_000 + length)]) {
      for (const [broken, offset] of [[`${head}\u0000${head}"`, 0], [`${head}\u001f"`, 0], [head, 0], [`${head}\\q"`, 0], [`${head}\\"`, 2], [`${head}\\u00e9"`, 0], [`${head}\\n\n${head}"`, 2]] as const) {
        assert.throws(() => readJson(`"${broken}`, { maxDepth: 8, canonical: true }), { name: "JsonSyntaxError", offset: 1 + head.length + offset }, JSON.stringify(broken.slice(-20)));
      }
    }
  }
});

test("a long string of many escapes comes back as it was", () => {
  const text = JSON.stringify(`${"x".repeat(70)}\n`.repeat(14_000));
  assert.equal(writeJson(readJson(text, { maxDepth: 8, canonical: true }), 8), text);
});

test("whole numbers are read by their digits, up to where they must keep their spelling", () => {
  for (const text of ["0", "7", "999999999999999", "9007199254740991", "9007199254740993", "123456789012345678901", "1.5", "1e3", "10E2", "-1", "-0"]) {
    const value = readJson(text, { maxDepth: 8 });
    assert.equal(writeJson(value, 8), text === "-0" ? "0" : text);
    assert.equal(Number(value), Number(text));
  }
  for (const text of ["01", "00", "1.", "1e", "-", "+1", "1x", ".5"]) {
    assert.throws(() => readJson(text, { maxDepth: 8 }), JsonSyntaxError, text);
  }
});
