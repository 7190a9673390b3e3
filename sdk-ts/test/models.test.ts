/** The codecs of every wire: what they refuse and how, and what they keep. */

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import * as canonical from "../src/_generated/canonical-wire.js";
import * as feature from "../src/_generated/feature-wire.js";
import { JsonSyntaxError } from "../src/_generated/json.js";
import * as manifest from "../src/_generated/manifest-doc.js";
import type { Codec } from "../src/_generated/wire.js";
import { Violation } from "../src/_generated/wire.js";

const wires = [canonical, feature, manifest];
const codecs: readonly Codec<unknown>[] = wires.flatMap((wire) => Object.values(wire.MODELS) as readonly Codec<unknown>[]);

/** JSON whose member names are those the wires use, so that models are met more than half way. */
const names = [...new Set(wires.flatMap((wire) => [...wire.WIRE.models.values()]).flatMap((model) => (model.kind === "record" ? model.fields.map((field) => field.name) : [])))];
const words = [...new Set(wires.flatMap((wire) => [...wire.WIRE.models.values()]).flatMap((model) => (model.kind === "enum" ? model.values : [])))];
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom("null", "true", "false", "0", "-1", "1.5", "2e3", "9007199254740992", '""', "[]", "{}"),
    fc.constantFrom(...words, "2.0", "text", "status", "output").map((word) => JSON.stringify(word)),
    fc.array(tie("any"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
    fc.uniqueArray(fc.tuple(fc.constantFrom(...names, "__proto__", "x"), tie("any")), { maxLength: 6, selector: ([name]) => name }).map(
      (members) => `{${members.map(([name, one]) => `${JSON.stringify(name)}:${String(one)}`).join(",")}}`,
    ),
  ),
})).any;

test("a model accepts a text and writes it back, or refuses it with a place and an error of its wire", () => {
  const errors = new Set(wires.flatMap((wire) => [...wire.WIRE.errors.values(), wire.WIRE.envelopeError]));
  fc.assert(
    fc.property(fc.constantFrom(...codecs), value, (codec, text) => {
      try {
        const encoded = codec.encode(codec.decode(text));
        assert.equal(codec.encode(codec.decode(encoded)), encoded);
      } catch (fault) {
        assert.ok(fault instanceof Violation, `${codec.model} ${text}: ${String(fault)}`);
        assert.match(fault.pointer, /^(?:\/(?:[^~/]|~[01])*)*$/u);
        assert.ok(errors.has(fault.error), fault.error);
      }
    }),
    { numRuns: 3000 },
  );
});

test("text that is no JSON is a syntax error for every model", () => {
  for (const codec of codecs) {
    assert.throws(() => codec.decode("{"), JsonSyntaxError);
    assert.throws(() => codec.decode(Uint8Array.of(0xff)), JsonSyntaxError);
  }
});

test("absent, null, empty and unknown stay apart", () => {
  for (const text of [
    '{"content":[{"text":"","type":"text"}],"is_error":false}',
    '{"content":[{"text":"","type":"text"}],"is_error":false,"metadata":null}',
    '{"content":[{"text":"","type":"text"}],"is_error":false,"metadata":{}}',
  ]) {
    assert.equal(feature.encodeToolCallResult(feature.decodeToolCallResult(text)), text);
  }
  const open = '{"active_skills":[],"__proto__":{"a":1.50},"10":0,"9":{"z":1,"a":18446744073709551615}}';
  assert.equal(
    feature.encodeHostState(feature.decodeHostState(open)),
    '{"10":0,"9":{"a":18446744073709551615,"z":1},"__proto__":{"a":1.50},"active_skills":[]}',
  );
});

test("a number is judged by its spelling and its whole value", () => {
  const limits = (max: string): string => `{"max_concurrent_requests":${max},"max_frame_bytes":1,"max_tools":1}`;
  const at = "/max_concurrent_requests";
  for (const [text, violation] of [["9007199254740992", "range"], ["9007199254740993", "range"], ["1".repeat(400), "range"], ["-1", "range"], ["1.0", "type"], ["1e0", "type"], ["null", "null"], ['"1"', "type"]] as const) {
    assert.throws(() => canonical.decodeProtocolLimits(limits(text)), { name: "Violation", violation, pointer: at }, text);
  }
  assert.equal(canonical.decodeProtocolLimits(limits("9007199254740991")).max_concurrent_requests, Number.MAX_SAFE_INTEGER);
  assert.equal(canonical.encodeProtocolLimits(canonical.decodeProtocolLimits(limits("-0"))), limits("0"));
});

test("of several faults the first in the order of the model is reported", () => {
  const refuse = (text: string): string => {
    try {
      canonical.decodeToolCallResult(text);
    } catch (fault) {
      return fault instanceof Violation ? `${fault.violation} ${fault.pointer} ${fault.error}` : String(fault);
    }
    return "accepted";
  };
  assert.equal(refuse("[]"), "not_object  invalid_params");
  assert.equal(refuse('{"zz":1,"b/b":1,"content":7}'), "unknown /b~1b invalid_params");
  assert.equal(refuse("{}"), "missing /content invalid_params");
  assert.equal(refuse('{"content":[{"type":"text"}],"is_error":0}'), "missing /content/0/text invalid_params");
  assert.equal(refuse('{"content":[{"type":"image"}]}'), "deferred /content/0/type capability_mismatch");
  assert.equal(refuse('{"content":[{"type":"__proto__"}]}'), "tag /content/0/type invalid_params");
  assert.equal(refuse('{"content":[null]}'), "null /content/0 invalid_params");
  const many = Array.from({ length: 257 }, () => '{"text":"","type":"text"}').join(",");
  assert.equal(refuse(`{"content":[${many}],"is_error":0}`), "items /content resource_exhausted");
});

test("what an encoder is given is judged as well", () => {
  assert.throws(() => feature.encodeToolCallResult({ content: [], is_error: false }), { name: "Violation", violation: "items" });
  assert.throws(() => feature.encodeNotification({ message: "\ud800" }), TypeError);
  assert.equal(feature.encodeNotification({ message: "m", title: undefined } as unknown as feature.Notification), '{"message":"m"}');
});

test("bounds count bytes, and an integer is one by its spelling", () => {
  const refuse = (codec: Codec<never>, text: string): string => {
    try {
      codec.decode(text);
    } catch (fault) {
      return fault instanceof Violation ? `${fault.violation} ${fault.pointer}` : String(fault);
    }
    return "accepted";
  };
  const digest = feature.MODELS.ApprovalToken as Codec<never>;
  assert.equal(refuse(digest, `"${"ø".repeat(32)}"`), "pattern ");
  assert.equal(refuse(digest, `"${"ø".repeat(31)}a"`), "bytes ");
  assert.equal(refuse(digest, `"${"a".repeat(63)}"`), "bytes ");
  const call = (revision: string): string => refuse(feature.MODELS.ToolCallParams as Codec<never>, `{"arguments":{},"catalog_revision":${revision},"context":{"execution_scope":null,"host":{},"workspace":"/"},"name":"t"}`);
  assert.deepEqual(["0", "9007199254740991", "-0", "9007199254740993", "100000000000000000000", "1000000000000000000000", "1e+21", "1e3", "1.0", "1.5", "-1"].map(call), [
    "accepted",
    "accepted",
    "accepted",
    "range /catalog_revision",
    "range /catalog_revision",
    "range /catalog_revision",
    "type /catalog_revision",
    "type /catalog_revision",
    "type /catalog_revision",
    "type /catalog_revision",
    "range /catalog_revision",
  ]);
});
