/** Negotiation as pure functions: what to select of an offer, and whether a selection fits its offer. */

import * as canonical from "./_generated/canonical-wire.js";
import * as feature from "./_generated/feature-wire.js";
import { utf8Length } from "./_generated/json.js";
import { Refusal } from "./refusal.js";

/** The error under which a broken feature negotiation is reported by {@link checkFeatures}. */
export const INVALID_NEGOTIATION = "invalid_negotiation";

/** Most concurrent requests that may ever be selected on the feature wire. */
const MOST_CONCURRENT = feature.MAX_CONCURRENT_REQUESTS;

/**
 * Selects from a feature offer: what is required, and of the optional features those in `wanted`. Throws a
 * Refusal when the offer requires a feature that is not in `supported`, or is for another version.
 */
export function selectFeatures(
  offer: feature.ProtocolOffer,
  api: feature.Version,
  supported: readonly string[],
  maxConcurrent: number,
): feature.ProtocolSelection {
  if (offer.version !== api) {
    throw new Refusal("invalid_params", `protocol version ${JSON.stringify(offer.version)} differs from the API version ${JSON.stringify(api)}`);
  }
  const unsupported = offer.required_features.filter((name) => !supported.includes(name));
  if (unsupported.length > 0) {
    throw new Refusal("server_error", `required API ${api} features are unsupported`, { unsupported_features: unsupported });
  }
  const optional = offer.optional_features.filter((name) => supported.includes(name));
  return {
    version: api,
    features: [...new Set([...offer.required_features, ...optional])],
    limits: { max_concurrent_requests: Math.min(offer.limits.max_concurrent_requests, maxConcurrent, MOST_CONCURRENT) },
  };
}

/**
 * Judges a selection of features the way a host must. Returns undefined, or the reason of the refusal, whose
 * error is always {@link INVALID_NEGOTIATION}. Both values have passed their models.
 */
export function checkFeatures(
  api: feature.Version,
  offer: feature.ProtocolOffer,
  selection: feature.ProtocolSelection,
): string | undefined {
  const selected = new Set<string>(selection.features);
  const offered = new Set<string>([...offer.required_features, ...offer.optional_features]);
  if (offer.version !== api || selection.version !== offer.version) {
    return `version ${JSON.stringify(selection.version)} was not the one requested`;
  }
  if (selected.size !== selection.features.length) {
    return "a feature is selected twice";
  }
  const missing = offer.required_features.find((name) => !selected.has(name));
  if (missing !== undefined) {
    return `required feature ${JSON.stringify(missing)} is not selected`;
  }
  for (const name of selected) {
    const row = feature.FEATURES.find((one) => one.name === name && one.versions.includes(api));
    if (row === undefined || !offered.has(name)) {
      return `feature ${JSON.stringify(name)} was not offered`;
    }
    const absent = row.dependsOn.find((other) => !selected.has(other));
    if (absent !== undefined) {
      return `feature ${JSON.stringify(name)} needs ${JSON.stringify(absent)}`;
    }
  }
  if ((selection.lifecycle_events ?? []).length > 0 && !selected.has(feature.FEATURE_LIFECYCLE_EVENTS)) {
    return "lifecycle events are subscribed without the feature";
  }
  return undefined;
}

/** Judges what a host offers. Throws a Refusal. */
export function checkOffer(offer: canonical.ContractOffer): void {
  checkIdentity(offer);
  const capabilities = checkLists(
    "capability",
    offer.required_capabilities,
    offer.optional_capabilities,
    canonical.CAPABILITIES,
    canonical.MAX_CAPABILITY_NAME_BYTES,
  );
  const methods = checkLists("method", offer.required_methods, offer.optional_methods, canonical.METHODS, canonical.MAX_METHOD_NAME_BYTES);
  checkOwners(methods, capabilities);
  checkLimits(offer.limits);
}

/** Selects the minimum of an offer that has been checked: the required names and the offered limits. */
export function selectContract(offer: canonical.ContractOffer, maxConcurrent: number): canonical.ContractSelection {
  return {
    schema: offer.schema,
    encoding: offer.encoding,
    capabilities: offer.required_capabilities,
    methods: offer.required_methods,
    limits: {
      ...offer.limits,
      max_concurrent_requests: Math.min(offer.limits.max_concurrent_requests, maxConcurrent),
    },
  };
}

/** Judges a selection against its offer the way a host must. Throws a Refusal. Both have passed their models. */
export function checkContract(offer: canonical.ContractOffer, selection: canonical.ContractSelection): void {
  checkOffer(offer);
  checkIdentity(selection);
  checkNames("capability", selection.capabilities, canonical.CAPABILITIES, canonical.MAX_CAPABILITY_NAME_BYTES);
  checkNames("method", selection.methods, canonical.METHODS, canonical.MAX_METHOD_NAME_BYTES);
  checkAvailable("capability", selection.capabilities, canonical.CAPABILITIES);
  checkAvailable("method", selection.methods, canonical.METHODS);
  checkOwners(selection.methods, selection.capabilities);
  checkLimits(selection.limits);
  checkSubset("capability", selection.capabilities, offer.required_capabilities, offer.optional_capabilities);
  checkSubset("method", selection.methods, offer.required_methods, offer.optional_methods);
  for (const capability of canonical.CAPABILITIES) {
    const absent = capability.needs.find((name) => !selection.methods.includes(name));
    if (absent !== undefined && selection.capabilities.includes(capability.name)) {
      throw mismatch(`capability ${JSON.stringify(capability.name)} is selected without its method ${JSON.stringify(absent)}`, {
        capability: capability.name,
      });
    }
  }
  for (const name of LIMIT_NAMES) {
    if (selection.limits[name] > offer.limits[name]) {
      throw mismatch(`limit ${name} is selected above the offer`, { limit: name });
    }
  }
}

const MAXIMA: Readonly<Record<keyof canonical.ProtocolLimits, number>> = {
  max_frame_bytes: canonical.MAX_FRAME_BYTES,
  max_concurrent_requests: canonical.MAX_CONCURRENT_REQUESTS,
  max_tools: canonical.MAX_TOOLS,
};

const LIMIT_NAMES = Object.keys(MAXIMA) as readonly (keyof canonical.ProtocolLimits)[];

/** A row of the capability or the method table. */
interface Named {
  readonly name: string;
  readonly offer?: string;
}

function mismatch(message: string, data: Record<string, string>): Refusal {
  return new Refusal("capability_mismatch", message, data);
}

function checkIdentity(contract: { readonly schema: string; readonly encoding: string }): void {
  const { schema, encoding } = canonical.CONTRACT_IDENTITY;
  if (contract.schema !== schema) {
    throw new Refusal("version_mismatch", "the contract names another schema", { expected: schema, received: contract.schema });
  }
  if (contract.encoding !== encoding) {
    throw new Refusal("invalid_params", "the contract names another encoding", { expected: encoding, received: contract.encoding });
  }
}

/** Every name is legal, known, callable and listed once. */
function checkNames(what: string, names: readonly string[], table: readonly Named[], maxBytes: number): void {
  const wrong = names.find((name) => name === "" || utf8Length(name) > maxBytes);
  if (wrong !== undefined) {
    throw new Refusal("invalid_params", `a ${what} name must have 1 to ${String(maxBytes)} bytes`, { [what]: wrong.slice(0, maxBytes) });
  }
  const seen = new Set<string>();
  for (const name of names) {
    const known = table.some((one) => one.name === name);
    if (!known || seen.has(name)) {
      throw mismatch(`${what} ${JSON.stringify(name)} ${known ? "is listed twice" : "is unknown"}`, { [what]: name });
    }
    seen.add(name);
  }
}

/** No name is one that the API keeps for later. */
function checkAvailable(what: string, names: readonly string[], table: readonly Named[]): void {
  const deferred = names.find((name) => table.find((one) => one.name === name)?.offer === "unavailable");
  if (deferred !== undefined) {
    throw mismatch(`${what} ${JSON.stringify(deferred)} may be neither offered nor selected`, { [what]: deferred });
  }
}

/** Checks the two lists of an offer and returns them joined. */
function checkLists(
  what: string,
  required: readonly string[],
  optional: readonly string[],
  table: readonly Named[],
  maxBytes: number,
): readonly string[] {
  checkNames(what, required, table, maxBytes);
  checkNames(what, optional, table, maxBytes);
  const twice = optional.find((name) => required.includes(name));
  if (twice !== undefined) {
    throw mismatch(`${what} ${JSON.stringify(twice)} is offered as required and as optional`, { [what]: twice });
  }
  for (const row of table) {
    const due = row.offer === "required";
    if (due !== required.includes(row.name)) {
      throw mismatch(`${what} ${JSON.stringify(row.name)} ${due ? "must" : "must not"} be offered as required`, { [what]: row.name });
    }
  }
  checkAvailable(what, optional, table);
  return [...required, ...optional];
}

function checkOwners(methods: readonly string[], capabilities: readonly string[]): void {
  for (const row of canonical.METHODS) {
    if (methods.includes(row.name) && !capabilities.includes(row.gate)) {
      throw mismatch(`method ${JSON.stringify(row.name)} is listed without its capability ${JSON.stringify(row.gate)}`, { method: row.name });
    }
  }
}

function checkSubset(what: string, selected: readonly string[], required: readonly string[], optional: readonly string[]): void {
  const missing = required.find((name) => !selected.includes(name));
  if (missing !== undefined) {
    throw mismatch(`required ${what} ${JSON.stringify(missing)} is not selected`, { [what]: missing });
  }
  const extra = selected.find((name) => !required.includes(name) && !optional.includes(name));
  if (extra !== undefined) {
    throw mismatch(`${what} ${JSON.stringify(extra)} was not offered`, { [what]: extra });
  }
}

function checkLimits(limits: canonical.ProtocolLimits): void {
  for (const name of LIMIT_NAMES) {
    if (limits[name] < 1) {
      throw new Refusal("invalid_params", `limit ${name} must be at least 1`, { limit: name });
    }
    if (limits[name] > MAXIMA[name]) {
      throw new Refusal("resource_exhausted", `limit ${name} must be at most ${String(MAXIMA[name])}`, { limit: name });
    }
  }
}
