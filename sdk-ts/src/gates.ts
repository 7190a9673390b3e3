/** What opens a method: a negotiated feature or capability, or a declaration of the manifest. */

import * as feature from "./_generated/feature-wire.js";
import type { JsonObject } from "./_generated/json.js";
import { isObject } from "./_generated/json.js";
import type { Method } from "./_generated/wire.js";
import type { Session } from "./dialect.js";
import { NotNegotiated } from "./errors.js";

const MANIFEST = "contributes.";
const FEATURES: ReadonlySet<string> = new Set(feature.FEATURES.map((row) => row.name));

/** What the gate column of a method table says, taken apart. Whatever follows the first word explains. */
export function gateOf(method: Method): { readonly kind: "feature" | "manifest" | "open"; readonly name: string } {
  const word = method.gate.split(" ", 1)[0] ?? "";
  if (word.startsWith(MANIFEST)) {
    return { kind: "manifest", name: word.slice(MANIFEST.length) };
  }
  return FEATURES.has(word) ? { kind: "feature", name: word } : { kind: "open", name: word };
}

/** Throws NotNegotiated for a service that this session does not have. */
export function assertOpen(method: Method, session: Session): void {
  if (session.methods !== undefined) {
    if (!session.methods.has(method.name)) {
      throw missing(method.name, "capability", method.gate, session.offered.has(method.gate));
    }
    return;
  }
  const gate = gateOf(method);
  if (gate.kind === "feature" && !session.features.has(gate.name)) {
    throw missing(method.name, "feature", gate.name, session.offered.has(gate.name));
  }
  if (gate.kind === "manifest" && !declared(session.contributes[gate.name])) {
    const value = gate.name === "ui" ? 'ui = ["status"]' : `${gate.name} = true`;
    throw new NotNegotiated(`${JSON.stringify(method.name)}: the manifest declares no ${gate.name}: set ${value} under [contributes]`, method.name);
  }
}

function declared(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value === true;
}

function missing(method: string, kind: string, name: string, offered: boolean): NotNegotiated {
  const why = offered ? `list ${JSON.stringify(name)} in the option uses` : "the host did not offer it, do without it here";
  return new NotNegotiated(`${JSON.stringify(method)}: the ${kind} ${JSON.stringify(name)} was not negotiated: ${why}`, method);
}

/** Members of parameters that need a feature of their own: method, path of the member, feature. */
const MEMBERS: readonly (readonly [method: string, path: readonly string[], feature: string])[] = [
  [feature.METHOD_POLICY_EVALUATE, ["approval_token"], feature.FEATURE_APPROVALS],
  [feature.METHOD_AGENT_SPAWN, ["policy", "model_selection"], feature.FEATURE_AGENT_MODEL_SELECTION_V1],
  [feature.METHOD_COMPOSER_SET, ["editor_checkpoint"], feature.FEATURE_REMOTE_UI],
];

/** Throws NotNegotiated for a member that this session does not have. Null counts as absent. */
export function assertMembers(method: string, params: JsonObject, session: Session): void {
  for (const [name, path, needs] of MEMBERS) {
    if (name === method && session.methods === undefined && !session.features.has(needs) && present(params, path)) {
      throw new NotNegotiated(
        `${JSON.stringify(method)}: ${path.join(".")} needs the feature ${JSON.stringify(needs)}, which was not negotiated: leave the member out`,
        method,
      );
    }
  }
}

function present(params: JsonObject, path: readonly string[]): boolean {
  let value: unknown = params;
  for (const name of path) {
    value = isObject(value) ? (value)[name] : undefined;
  }
  return value !== undefined && value !== null;
}
