/** How the validator judges members that exclude each other, choices, control characters and encoded arrays. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Field, Model, Type, ViolationKind, WireTables } from "../src/_generated/wire.js";
import { Codec, Violation } from "../src/_generated/wire.js";

const KINDS: readonly ViolationKind[] = ["not_object", "unknown", "forbidden", "missing", "null", "type", "range", "items", "bytes", "value", "pattern", "duplicate", "tag", "deferred", "id"];
const ROUTE: Type = { kind: "ref", model: "Route" };
const FLAG: Type = { kind: "boolean" };

function member(name: string, type: Type, flags: { readonly required?: boolean; readonly nullable?: boolean } = {}): Field {
  return { name, type, required: flags.required ?? false, nullable: flags.nullable ?? false };
}

const MODELS: readonly (readonly [string, Model])[] = [
  ["Speed", { kind: "enum", open: false, values: ["slow", "fast"] }],
  ["Plan", { kind: "record", closed: true, fields: [member("legs", { kind: "array", element: ROUTE, maxEncodedBytes: 64 }, { required: true }), member("next", ROUTE, { nullable: true })] }],
  ["Route", { kind: "choice", word: "Speed", object: "Plan" }],
  [
    "Notice",
    {
      kind: "record",
      closed: true,
      exactlyOne: ["by_road", "by_sea", "by_air"],
      atMostOne: ["gift", "bill"],
      fields: [
        member("line", { kind: "string", controls: "none" }, { required: true }),
        member("text", { kind: "string", controls: "text" }),
        member("draft", { kind: "string", controls: "edit" }, { nullable: true }),
        member("by_road", ROUTE),
        member("by_sea", ROUTE, { nullable: true }),
        member("by_air", FLAG),
        member("gift", FLAG),
        member("bill", FLAG, { nullable: true }),
      ],
    },
  ],
];

const TABLES: WireTables = { name: "parcel", maxDepth: 32, envelopeError: "", errors: new Map(KINDS.map((kind) => [kind, "invalid_params"])), models: new Map(MODELS) };

const long = '"slow",'.repeat(9);

for (const [model, text, want] of [
  ["Notice", '{"line":"a","by_road":"slow"}', ""],
  ["Notice", '{"line":"a","by_road":"slow","by_sea":null}', ""],
  ["Notice", '{"line":"a","by_sea":{"legs":[]},"gift":true,"bill":null}', ""],
  ["Notice", '{"line":"a"}', "missing /by_road"],
  ["Notice", '{"line":"a","by_sea":null}', "missing /by_road"],
  ["Notice", '{"by_air":true,"line":"a","by_road":"slow"}', "forbidden /by_air"],
  ["Notice", '{"line":"a","by_air":true,"by_sea":"fast","by_road":"slow"}', "forbidden /by_sea"],
  ["Notice", '{"line":"a","by_air":true,"bill":true,"gift":false}', "forbidden /bill"],
  ["Notice", '{"line":"a","bill":true,"gift":false}', "missing /by_road"],
  ["Notice", '{"by_road":7,"by_air":true}', "missing /line"],
  ["Notice", '{"line":"a","by_road":7,"by_air":true}', "type /by_road"],
  ["Notice", '{"line":"a\\tb","by_air":true}', "pattern /line"],
  ["Notice", '{"line":"a\\u0080b","by_air":true}', "pattern /line"],
  ["Notice", '{"line":"a\\u00a0b","by_air":true}', ""],
  ["Notice", '{"line":"","text":"a\\tb\\nc","draft":"a\\tb\\r\\n","by_air":true}', ""],
  ["Notice", '{"line":"","text":"a\\r","by_air":true}', "pattern /text"],
  ["Notice", '{"line":"","draft":"\\u001b","by_air":true}', "pattern /draft"],
  ["Notice", '{"line":"","draft":"\\u009f","by_air":true}', "pattern /draft"],
  ["Notice", '{"line":"","text":"\\u007f","by_air":true}', "pattern /text"],
  ["Route", '"slow"', ""],
  ["Route", '{"legs":["fast",{"legs":[]}],"next":null}', ""],
  ["Route", '"medium"', "value "],
  ["Route", '{"legs":[{}]}', "missing /legs/0/legs"],
  ["Route", '{"legs":[],"next":{"legs":["warp"]}}', "value /next/legs/0"],
  ["Route", "[]", "type "],
  ["Route", "null", "type "],
  ["Plan", `{"legs":[${long.slice(0, -1)}]}`, ""],
  ["Plan", `{"legs":[${long}"slow"]}`, "bytes /legs"],
  ["Plan", `{"legs":[${long}1]}`, "type /legs/9"],
] as const) {
  test(`${model} ${text.slice(0, 80)} is ${want === "" ? "legal" : want}`, () => {
    const codec = new Codec(TABLES, model);
    let found = "";
    try {
      codec.encode(codec.decode(text));
    } catch (fault) {
      assert.ok(fault instanceof Violation, String(fault));
      found = `${fault.violation} ${fault.pointer}`;
    }
    assert.equal(found, want);
  });
}
