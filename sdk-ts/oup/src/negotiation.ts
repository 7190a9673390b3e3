/** Whether what a server advertises fits what a client asked for and needs. */

import type { JsonValue } from "./_generated/json.js";
import type { ServerCapabilities } from "./_generated/oup-wire.js";
import { FEATURES, MODELS, PROTOCOL, SCHEMA_VERSION } from "./_generated/oup-wire.js";
import type { Feature } from "./_generated/wire.js";
import { Violation } from "./_generated/wire.js";

/** Why a server does not fit, in one word for programs. */
export type MismatchKind = "malformed_result" | "incompatible_protocol" | "missing_features" | "unrequested_feature" | "unmet_dependency";

/** A server does not fit. */
export class Mismatch extends Error {
  override readonly name = "Mismatch";
  constructor(
    readonly error: MismatchKind,
    detail: string,
  ) {
    super(detail);
  }
}

/** What a client asks of a server. */
export interface Wishes {
  /** The tokens that the client sent; empty where it sent none. */
  readonly requested: readonly string[];
  /** The tokens that it cannot do without. */
  readonly required: readonly string[];
}

const ROWS: ReadonlyMap<string, Feature> = new Map(FEATURES.map((row) => [row.name, row]));
const REGISTRY = "registry";

/** Reads the capabilities of a server and holds them against what a client wishes. Throws Mismatch. */
export function checkCapabilities(value: JsonValue, wishes: Wishes): ServerCapabilities {
  const capabilities = read(value);
  const { protocol, schema_version: schema } = capabilities.version;
  if (protocol !== PROTOCOL.identifier || schema < SCHEMA_VERSION) {
    throw new Mismatch("incompatible_protocol", `the server speaks "${protocol}" with schema ${String(schema)}, which is not ours`);
  }
  const supported = new Set(capabilities.supported_features ?? []);
  const missing = wishes.required.find((token) => !supported.has(token));
  if (missing !== undefined) {
    throw new Mismatch("missing_features", `the server lacks "${missing}"`);
  }
  const unasked = [...supported].find((token) => ROWS.get(token)?.origin === REGISTRY && !wishes.requested.includes(token));
  if (unasked !== undefined && wishes.requested.length > 0) {
    throw new Mismatch("unrequested_feature", `the server turned on "${unasked}", which was not asked for`);
  }
  for (const token of supported) {
    const unmet = ROWS.get(token)?.dependsOn.find((name) => !supported.has(name));
    if (unmet !== undefined) {
      throw new Mismatch("unmet_dependency", `"${token}" needs "${unmet}", which the server did not turn on`);
    }
  }
  return capabilities;
}

function read(value: JsonValue): ServerCapabilities {
  try {
    return MODELS.ServerCapabilities.read(value);
  } catch (fault) {
    if (fault instanceof Violation) {
      throw new Mismatch("malformed_result", `the capabilities break their model: ${fault.message}`);
    }
    throw fault;
  }
}
