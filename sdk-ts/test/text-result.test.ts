/** The short way to a result of one text gives what the model gives. */

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import * as canonical from "../src/_generated/canonical-wire.js";
import * as feature from "../src/_generated/feature-wire.js";
import { CanonicalDialect } from "../src/canonical-dialect.js";
import { FeatureDialect } from "../src/feature-dialect.js";
import { NoJson } from "../src/local.js";
import { outcome } from "../src/reply.js";

const FULL = new Map([
  ["0.4", (text: string) => feature.MODELS.ToolCallResult.encode({ content: [{ type: "text", text }], is_error: false })],
  ["0.3", (text: string) => canonical.MODELS.ToolCallResult.encode({ content: [{ type: "text", text }], is_error: false, metadata: null })],
]);

for (const [api, full] of FULL) {
  const dialect = api === "0.3" ? new CanonicalDialect() : new FeatureDialect("0.4");
  const result = (text: string): string => dialect.result(outcome(text, undefined), new Set());

  test(`API ${api}: any text, also one as long as a frame, is spelled as the model spells it`, () => {
    const unit = fc.constantFrom('""', '"', "\\", "\n", "\u0000", "ø", "🐧", "text");
    fc.assert(fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
      assert.equal(result(text), full(text));
    }));
    for (const text of ["", '""', "octet ".repeat(170_000), "🐧".repeat(250_000)]) {
      assert.ok(result(text) === full(text));
    }
  });

  test(`API ${api}: a text that cannot be written is refused like any other value`, () => {
    assert.throws(() => result("\ud800"), NoJson);
  });
}
