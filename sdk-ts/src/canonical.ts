/** The encoding of the canonical wire: every value has exactly one legal spelling. */

import { MAX_JSON_DEPTH } from "./_generated/canonical-wire.js";
import type { JsonValue } from "./_generated/json.js";
import { decodeUtf8, Numeral, readJson, writeJson } from "./_generated/json.js";
import { LocalProtocolError } from "./errors.js";

/** Nesting that no wire allows. */
const ANY_DEPTH = 1024;

const UTF8 = new TextEncoder();

/**
 * Reads the one value that canonical bytes spell. Throws JsonSyntaxError for anything else: strict JSON in
 * another spelling, a number that is not a portable integer, a value nested too deep.
 */
export function decode(bytes: Uint8Array): JsonValue {
  return readJson(decodeUtf8(bytes), { maxDepth: MAX_JSON_DEPTH, canonical: true });
}

/** Judges canonical bytes without keeping the value. Throws JsonSyntaxError. */
export function check(bytes: Uint8Array): void {
  decode(bytes);
}

/** Writes a value as canonical bytes. Throws LocalProtocolError for a value that has no canonical spelling. */
export function encode(value: JsonValue): Uint8Array {
  return UTF8.encode(encodeText(value));
}

/** The same as {@link encode}, as text. */
export function encodeText(value: JsonValue): string {
  assertPortable(value);
  try {
    return writeJson(value, MAX_JSON_DEPTH);
  } catch (cause) {
    throw new LocalProtocolError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Refuses numbers that are not portable integers, at any depth the writer would reach. */
function assertPortable(value: unknown, level = 0): void {
  if (typeof value === "number" ? !Number.isSafeInteger(value) : value instanceof Numeral) {
    throw new LocalProtocolError(
      `${value instanceof Numeral ? value.text : String(value)} is not a portable integer: send larger or fractional numbers as strings`,
    );
  }
  if (typeof value !== "object" || value === null || level > MAX_JSON_DEPTH) {
    return;
  }
  for (const member of Object.values(value)) {
    assertPortable(member, level + 1);
  }
}

/** Writes any JSON value with its members ascending and no white space. Throws LocalProtocolError for what is no JSON. */
export function canonicalJson(value: JsonValue): string {
  try {
    return writeJson(value, ANY_DEPTH);
  } catch (cause) {
    throw new LocalProtocolError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
