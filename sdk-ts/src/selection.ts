/** What an extension wants of an offer: what its registrations imply, and what its author lists. */

import * as canonical from "./_generated/canonical-wire.js";
import * as feature from "./_generated/feature-wire.js";
import type { Method } from "./_generated/wire.js";
import { LocalProtocolError } from "./errors.js";
import { gateOf } from "./gates.js";
import type { Registry } from "./registry.js";
import type { Tool } from "./tool.js";

/** Features that are of use only together with a registration. */
const WITH_REGISTRATION: ReadonlySet<string> = new Set([
  feature.FEATURE_AUTOCOMPLETE,
  feature.FEATURE_AUTOCOMPLETE_EDIT_V1,
  feature.FEATURE_TERMINAL_INPUT_INTERCEPT_V1,
  ...feature.HOOKS.flatMap((hook) => (hook.feature === hook.name ? [hook.feature] : [])),
  feature.FEATURE_RESOURCE_PATHS_V1,
]);

/** Members of a tool definition that need a feature, and the versions that know the member. */
export const TOOL_MEMBERS: ReadonlyMap<string, { readonly feature: string; readonly versions: readonly string[] }> = new Map([
  ["prompt_snippet", versioned(feature.FEATURE_TOOL_PROMPT_METADATA_V1)],
  ["prompt_guidelines", versioned(feature.FEATURE_TOOL_PROMPT_METADATA_V1)],
  ["composition", versioned(feature.FEATURE_TOOL_COMPOSITION_V1)],
  ["operation", versioned(feature.FEATURE_OPERATION_DESCRIPTORS_V1)],
]);

function versioned(name: string): { readonly feature: string; readonly versions: readonly string[] } {
  return { feature: name, versions: feature.FEATURES.find((row) => row.name === name)?.versions ?? [] };
}

/** The gates of the events that an author handles. */
function eventGates(registry: Registry, methods: readonly Method[]): readonly string[] {
  const gates = methods.flatMap((row) => (row.service !== undefined && registry.events.has(verbOf(row.service)) ? [gateOf(row).name] : []));
  return [...new Set(gates)];
}

/** The verb of a service name. */
export function verbOf(service: string): string {
  return service.slice(service.indexOf(".") + 1);
}

/** The features that registrations imply, dependencies left out. */
export function impliedFeatures(registry: Registry, api: string): ReadonlySet<string> {
  const implied = new Set<string>([feature.FEATURE_REQUEST_PROGRESS, feature.FEATURE_PROGRESS_DECORATION]);
  const add = (condition: boolean, name: string): void => {
    if (condition) {
      implied.add(name);
    }
  };
  add(registry.runtimeCommands, feature.FEATURE_RUNTIME_COMMANDS);
  add(registry.shortcuts.size > 0, feature.FEATURE_SHORTCUTS);
  add(registry.autocomplete !== undefined, feature.FEATURE_AUTOCOMPLETE);
  add(registry.intercept !== undefined, feature.FEATURE_TERMINAL_INPUT_INTERCEPT_V1);
  add(registry.dispose !== undefined, feature.FEATURE_RESOURCE_REFS_V1);
  for (const hook of feature.HOOKS) {
    add(registry.hooks.has(hook.name) && hook.feature !== "-" && hook.versions.includes(api), hook.feature);
  }
  for (const gate of eventGates(registry, feature.METHODS)) {
    add(feature.FEATURES.some((row) => row.name === gate), gate);
  }
  for (const tool of registry.tools.values()) {
    for (const name of toolFeatures(tool)) {
      implied.add(name);
    }
  }
  return implied;
}

function toolFeatures(tool: Tool): readonly string[] {
  const names = Object.keys(tool.extras).flatMap((member) => TOOL_MEMBERS.get(member)?.feature ?? []);
  return "operation" in tool.extras ? [...names, feature.FEATURE_RESOURCE_REFS_V1] : names;
}

/** A choice of features, and what the author should know about it. */
export interface Choice {
  readonly features: readonly string[];
  readonly warnings: readonly string[];
}

/** Chooses from what a host offers. Required features are not looked at. */
export function chooseFeatures(registry: Registry, api: feature.Version, offered: ReadonlySet<string>): Choice {
  const rows = feature.FEATURES.filter((row) => row.versions.includes(api) && !row.required);
  const implied = impliedFeatures(registry, api);
  const listed = registry.uses;
  const wanted = new Set(
    rows.map((row) => row.name).filter((name) => implied.has(name) || (listed === "all" ? !WITH_REGISTRATION.has(name) : (listed as readonly string[]).includes(name))),
  );
  if (listed === "all" && implied.has(feature.FEATURE_AUTOCOMPLETE)) {
    wanted.add(feature.FEATURE_AUTOCOMPLETE_EDIT_V1);
  }
  for (const name of wanted) {
    for (const other of rows.find((row) => row.name === name)?.dependsOn ?? []) {
      wanted.add(other);
    }
  }
  const has = (name: string): boolean => offered.has(name) && (rows.find((row) => row.name === name)?.dependsOn ?? []).every(has);
  const features = rows.map((row) => row.name).filter((name) => wanted.has(name) && has(name));
  const quiet: readonly string[] = [feature.FEATURE_REQUEST_PROGRESS, feature.FEATURE_PROGRESS_DECORATION];
  const absent = listed === "all" ? [...implied] : [...implied, ...listed];
  const warnings = [...new Set(absent)]
    .filter((name) => !features.includes(name) && !quiet.includes(name) && rows.some((row) => row.name === name))
    .map((name) => `the host does not offer the feature ${JSON.stringify(name)}: what needs it is left out`);
  return { features, warnings };
}

/** Chooses capabilities and methods from what a host offers beside the required ones. */
export function chooseCapabilities(registry: Registry, offer: canonical.ContractOffer, hooks: boolean): { readonly capabilities: readonly string[]; readonly methods: readonly string[]; readonly warnings: readonly string[] } {
  const wanted = new Set<string>();
  const rows = canonical.CAPABILITIES.filter((row) => row.offer === "optional");
  if (registry.migration !== undefined) {
    wanted.add(canonical.CAPABILITY_MIGRATION_ADAPTER_V1);
  }
  if (registry.provider !== undefined) {
    wanted.add(canonical.CAPABILITY_PROVIDER_STREAM);
  }
  for (const gate of eventGates(registry, canonical.METHODS)) {
    wanted.add(gate);
  }
  const implied = [...wanted];
  for (const row of rows) {
    const listed = registry.uses === "all" ? !SERVED.has(row.name) : (registry.uses as readonly string[]).includes(row.name);
    if (listed) {
      wanted.add(row.name);
    }
  }
  // Session hooks go by the declaration of the manifest, which must agree with the selection.
  wanted.delete(canonical.CAPABILITY_LIFECYCLE_EVENTS);
  if (hooks) {
    wanted.add(canonical.CAPABILITY_LIFECYCLE_EVENTS);
  }
  const capabilities = rows
    .filter((row) => wanted.has(row.name) && offer.optional_capabilities.includes(row.name) && row.needs.every((name) => offer.optional_methods.includes(name)))
    .map((row) => row.name);
  const methods = canonical.METHODS.filter((row) => capabilities.includes(row.gate) && offer.optional_methods.includes(row.name)).map((row) => row.name);
  const absent = registry.uses === "all" ? implied : [...implied, ...registry.uses];
  const warnings = [...new Set<string>(absent)]
    .filter((name) => !capabilities.includes(name) && rows.some((row) => row.name === name))
    .map((name) => `the host does not offer the capability ${JSON.stringify(name)}: what needs it is left out`);
  return { capabilities, methods, warnings };
}

/** Capabilities under which the host asks, so that they are of no use without a handler. */
const SERVED: ReadonlySet<string> = new Set([canonical.CAPABILITY_MIGRATION_ADAPTER_V1, canonical.CAPABILITY_PROVIDER_STREAM]);

/** Throws LocalProtocolError for a name in `uses` that the API version does not know. */
export function assertKnown(uses: Registry["uses"], api: string, canonicalApi: boolean): void {
  if (uses === "all") {
    return;
  }
  const known = canonicalApi ? canonical.CAPABILITIES.filter((row) => row.offer !== "unavailable").map((row) => row.name) : feature.FEATURES.filter((row) => row.versions.includes(api)).map((row) => row.name);
  const unknown = uses.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new LocalProtocolError(`option uses: API ${api} knows no ${JSON.stringify(unknown)}: use another API version, or leave it out`);
  }
}
