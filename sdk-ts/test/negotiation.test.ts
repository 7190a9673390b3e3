import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import * as canonical from "../src/_generated/canonical-wire.js";
import * as feature from "../src/_generated/feature-wire.js";
import { checkContract, checkFeatures, selectContract, selectFeatures } from "../src/negotiation.js";
import { Refusal } from "../src/refusal.js";

const REQUIRED = ["request_cancellation", "content_parts"];

test("what is selected of any feature offer passes the host's check", () => {
  const optional = fc.subarray([...feature.FEATURES.filter((row) => !row.required).map((row) => row.name), "made_up_v9"]);
  fc.assert(
    fc.property(fc.constantFrom("0.2" as const, "0.4" as const), optional, fc.integer({ min: 1, max: 1000 }), (version, names, bound) => {
      const offer = { version, required_features: REQUIRED, optional_features: names, limits: { max_concurrent_requests: bound } };
      const selection = selectFeatures(offer, version, [...REQUIRED, "request_progress"], 64);
      assert.equal(checkFeatures(version, offer, selection), undefined);
      assert.ok(selection.limits.max_concurrent_requests <= Math.min(64, bound));
    }),
  );
});

test("an offer for another version is refused", () => {
  const offer = { version: "0.2", required_features: REQUIRED, optional_features: [], limits: { max_concurrent_requests: 1 } };
  assert.throws(() => selectFeatures(offer, "0.4", REQUIRED, 64), Refusal);
});

test("what is selected of any contract offer passes the host's check", () => {
  const limits = fc.record({ max_frame_bytes: fc.integer({ min: 1, max: 1_048_576 }), max_concurrent_requests: fc.integer({ min: 1, max: 64 }), max_tools: fc.integer({ min: 1, max: 256 }) });
  const optional = fc.subarray(canonical.CAPABILITIES.filter((row) => row.offer === "optional").map((row) => row.name));
  fc.assert(
    fc.property(limits, optional, (bounds, capabilities) => {
      const offer: canonical.ContractOffer = {
        ...canonical.CONTRACT_IDENTITY,
        required_capabilities: canonical.CAPABILITIES.filter((row) => row.offer === "required").map((row) => row.name),
        optional_capabilities: capabilities,
        required_methods: canonical.METHODS.filter((row) => row.offer === "required").map((row) => row.name),
        optional_methods: canonical.METHODS.filter((row) => row.offer === "optional" && capabilities.includes(row.gate)).map((row) => row.name),
        limits: bounds,
      };
      checkContract(offer, selectContract(offer, 8));
    }),
  );
});
