/** What the testee answers to one request. */

import { check } from "../canonical.js";
import * as canonical from "../_generated/canonical-wire.js";
import * as feature from "../_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "../_generated/json.js";
import { decodeUtf8, isObject, JsonSyntaxError, readJson, writeJson } from "../_generated/json.js";
import * as manifest from "../_generated/manifest-doc.js";
import type { Codec } from "../_generated/wire.js";
import { Violation } from "../_generated/wire.js";
import type { WireName } from "../envelope.js";
import { classify } from "../envelope.js";
import { FrameFault } from "../errors.js";
import { FrameReader, isBlank } from "../frames.js";
import { checkContract, checkFeatures, checkOffer, INVALID_NEGOTIATION } from "../negotiation.js";
import { Refusal } from "../refusal.js";

/** Version of the testee protocol. */
const PROTOCOL = 1;

/** Nesting of a request line: a vector's value lies inside it. */
const REQUEST_DEPTH = 600;

type Answer = Readonly<Record<string, JsonValue>>;

const UNSUPPORTED: Answer = { verdict: "unsupported" };

const OPERATIONS: ReadonlyMap<string, (request: JsonObject) => Answer> = new Map([
  ["hello", hello],
  ["frame", frame],
  ["model", model],
  ["envelope", envelope],
  ["negotiate", negotiate],
]);

/** Answers one request line. A line that is no request gets the verdict `unsupported` too. */
export function answer(line: string): string {
  let request: JsonValue;
  try {
    request = readJson(line, { maxDepth: REQUEST_DEPTH });
  } catch {
    return writeJson({ seq: null, ...UNSUPPORTED }, REQUEST_DEPTH);
  }
  const members = isObject(request) ? request : {};
  const op = members["op"];
  const operation = typeof op === "string" ? OPERATIONS.get(op) : undefined;
  const verdict = operation?.(members) ?? UNSUPPORTED;
  return writeJson({ seq: members["seq"] ?? null, ...verdict }, REQUEST_DEPTH);
}

function hello(request: JsonObject): Answer {
  if (request["protocol"] !== PROTOCOL) {
    return UNSUPPORTED;
  }
  const ops = [...OPERATIONS.keys()].filter((op) => op !== "hello").sort();
  return { ok: true, name: "octet sdk-ts", protocol: PROTOCOL, ops, wires: [...CODECS.keys()].sort() };
}

function wireOf(request: JsonObject): WireName | undefined {
  const wire = request["wire"];
  return wire === canonical.WIRE.name || wire === feature.WIRE.name ? (wire as WireName) : undefined;
}

function frame(request: JsonObject): Answer {
  const wire = wireOf(request);
  const { base64, bound } = request;
  if (wire === undefined || typeof base64 !== "string") {
    return UNSUPPORTED;
  }
  const strict = wire === "extension-canonical";
  const most = strict ? canonical.MAX_FRAME_BYTES : feature.MAX_LINE_BYTES;
  const reader = new FrameReader({ bound: typeof bound === "number" ? bound : most, strict });
  try {
    reader.push(Buffer.from(base64, "base64"));
    let bytes = reader.next();
    while (!strict && bytes !== undefined && isBlank(bytes)) {
      bytes = reader.next();
    }
    if (bytes === undefined) {
      reader.end();
      return { verdict: "accept" };
    }
    return { verdict: payload(strict, bytes) };
  } catch (fault) {
    if (fault instanceof FrameFault) {
      return { verdict: "terminate" };
    }
    throw fault;
  }
}

function payload(strict: boolean, bytes: Uint8Array): "accept" | "reject" {
  try {
    if (strict) {
      check(bytes);
      return "accept";
    }
    return isObject(readJson(decodeUtf8(bytes), { maxDepth: feature.WIRE.maxDepth })) ? "accept" : "reject";
  } catch (fault) {
    if (fault instanceof JsonSyntaxError) {
      return "reject";
    }
    throw fault;
  }
}

/** The codecs of every wire, by its name. */
const CODECS: ReadonlyMap<JsonValue, ReadonlyMap<JsonValue, Codec<unknown>>> = new Map<JsonValue, ReadonlyMap<JsonValue, Codec<unknown>>>(
  [canonical, feature, manifest].map((wire) => [wire.WIRE.name, new Map(Object.entries(wire.MODELS))]),
);

function model(request: JsonObject): Answer {
  const codec = CODECS.get(request["wire"] ?? null)?.get(request["model"] ?? null);
  const text = request["text"];
  if (codec === undefined || typeof text !== "string") {
    return UNSUPPORTED;
  }
  try {
    return { verdict: "accept", encoded: codec.encode(codec.decode(text)) };
  } catch (fault) {
    if (fault instanceof Violation) {
      return { verdict: "reject", pointer: fault.pointer, violation: fault.violation, error: fault.error };
    }
    if (fault instanceof JsonSyntaxError) {
      return { verdict: "malformed" };
    }
    throw fault;
  }
}

function envelope(request: JsonObject): Answer {
  const wire = wireOf(request);
  const text = request["text"];
  if (wire === undefined || typeof text !== "string") {
    return UNSUPPORTED;
  }
  const strict = wire === "extension-canonical";
  const maxDepth = strict ? canonical.WIRE.maxDepth : feature.WIRE.maxDepth;
  try {
    return { verdict: classify(wire, readJson(text, { maxDepth, canonical: strict })).kind };
  } catch (fault) {
    if (fault instanceof JsonSyntaxError) {
      return { verdict: "invalid" };
    }
    throw fault;
  }
}

function negotiate(request: JsonObject): Answer {
  const { api, offer = null, selection = null } = request;
  if (canonical.VERSIONS.some((version) => version === api)) {
    return negotiateContract(offer, selection);
  }
  const version = feature.VERSIONS.find((one) => one === api && feature.FEATURES.some((row) => row.versions.includes(one)));
  return version === undefined ? UNSUPPORTED : negotiateFeatures(version, offer, selection);
}

function negotiateContract(offer: JsonValue, selection: JsonValue): Answer {
  try {
    const offered = canonical.MODELS.ContractOffer.read(offer);
    checkOffer(offered);
    checkContract(offered, canonical.MODELS.ContractSelection.read(selection));
    return { verdict: "accept" };
  } catch (fault) {
    if (fault instanceof Violation || fault instanceof Refusal) {
      return { verdict: "reject", error: fault.error };
    }
    throw fault;
  }
}

function negotiateFeatures(version: feature.Version, offer: JsonValue, selection: JsonValue): Answer {
  try {
    const models = feature.MODELS;
    const reason = checkFeatures(version, models.ProtocolOffer.read(offer), models.ProtocolSelection.read(selection));
    return reason === undefined ? { verdict: "accept" } : { verdict: "reject", error: INVALID_NEGOTIATION };
  } catch (fault) {
    if (fault instanceof Violation) {
      return { verdict: "reject", error: INVALID_NEGOTIATION };
    }
    throw fault;
  }
}
