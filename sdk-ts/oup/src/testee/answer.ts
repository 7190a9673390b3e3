/** What the testee answers to one request. */

import type { JsonObject, JsonValue } from "../_generated/json.js";
import { isObject, JsonSyntaxError, readJson, writeJson } from "../_generated/json.js";
import { MAX_TEXT_FRAME_BYTES, MODELS, VERSIONS, WIRE } from "../_generated/oup-wire.js";
import type { Codec } from "../_generated/wire.js";
import { Violation } from "../_generated/wire.js";
import { classify } from "../envelope.js";
import { FrameFault, readLine } from "../frames.js";
import { checkCapabilities, Mismatch } from "../negotiation.js";

/** Version of the testee protocol. */
const PROTOCOL = 1;

/** Nesting of a request line: a vector's value lies inside it. */
const REQUEST_DEPTH = 600;

const LF = 0x0a;

type Answer = Readonly<Record<string, JsonValue>>;

const UNSUPPORTED: Answer = { verdict: "unsupported" };

const OPERATIONS: ReadonlyMap<string, (request: JsonObject) => Answer> = new Map([
  ["hello", hello],
  ["frame", frame],
  ["model", model],
  ["envelope", envelope],
  ["negotiate", negotiate],
]);

const CODECS: ReadonlyMap<JsonValue, Codec<unknown>> = new Map<JsonValue, Codec<unknown>>(Object.entries(MODELS));

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
  return { ok: true, name: "octet sdk-ts oup", protocol: PROTOCOL, ops, wires: [WIRE.name] };
}

function frame(request: JsonObject): Answer {
  const { wire, base64, bound } = request;
  if (wire !== WIRE.name || typeof base64 !== "string") {
    return UNSUPPORTED;
  }
  const bytes = Buffer.from(base64, "base64");
  const end = bytes.indexOf(LF);
  const first = end < 0 ? bytes : bytes.subarray(0, end + 1);
  try {
    if (first.length > 0) {
      readLine(first, typeof bound === "number" ? bound : MAX_TEXT_FRAME_BYTES);
    }
    return { verdict: "accept" };
  } catch (fault) {
    if (fault instanceof FrameFault) {
      return { verdict: "reject" };
    }
    throw fault;
  }
}

function model(request: JsonObject): Answer {
  const codec = request["wire"] === WIRE.name ? CODECS.get(request["model"] ?? null) : undefined;
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
  const { wire, text } = request;
  if (wire !== WIRE.name || typeof text !== "string") {
    return UNSUPPORTED;
  }
  try {
    return { verdict: classify(readJson(text, { maxDepth: WIRE.maxDepth })) ?? "invalid" };
  } catch (fault) {
    if (fault instanceof JsonSyntaxError) {
      return { verdict: "invalid" };
    }
    throw fault;
  }
}

function negotiate(request: JsonObject): Answer {
  const { api, offer = null, selection = null } = request;
  if (!VERSIONS.some((version) => version === api) || !isObject(offer)) {
    return UNSUPPORTED;
  }
  const requested = tokens(offer["requested"]);
  const required = tokens(offer["required"]);
  if (requested === undefined || required === undefined) {
    return UNSUPPORTED;
  }
  try {
    checkCapabilities(selection, { requested, required });
    return { verdict: "accept" };
  } catch (fault) {
    if (fault instanceof Mismatch) {
      return { verdict: "reject", error: fault.error };
    }
    throw fault;
  }
}

function tokens(value: JsonValue | undefined): readonly string[] | undefined {
  if (value === undefined) {
    return [];
  }
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined;
}
