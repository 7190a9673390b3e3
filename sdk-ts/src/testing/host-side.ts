/** What a host sends and how it judges what comes back, for both wires. */

import * as canonical from "../_generated/canonical-wire.js";
import * as feature from "../_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "../_generated/json.js";
import { HOOK_PAIRS } from "../_generated/manifest-doc.js";
import type { Method } from "../_generated/wire.js";
import { Codec } from "../_generated/wire.js";
import { shapeOf } from "../caller.js";
import { LocalProtocolError } from "../errors.js";
import type { Api } from "../extension.js";
import { opaque } from "../local.js";
import { checkContract, checkFeatures } from "../negotiation.js";
import type { Registry } from "../registry.js";
import type { CallResult, HostOptions } from "../testing.js";

const CANONICAL = canonical.VERSIONS[0];

/** Builds the parameters of initialize. */
export function initializeParams(api: Api, tools: readonly string[], options: HostOptions): JsonObject {
  return api === CANONICAL ? canonicalParams(tools, options) : featureParams(api, tools, options);
}

function flagValues(options: HostOptions): readonly { readonly name: string; readonly value: boolean | string | number }[] {
  const flags = Object.entries(options.flags ?? {}).map(([name, value]) => ({ name, value }));
  return flags.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function featureParams(api: feature.Version, tools: readonly string[], options: HostOptions): JsonObject {
  const plain: feature.ContributesV01 = {
    tools,
    commands: [],
    hooks: [],
    ui: [],
    context: false,
    tool_renderers: [],
    notifications: options.notifications ?? true,
    confirmations: false,
  };
  const contributes: feature.Contributes = { ...plain, ...options.contributes };
  const base = {
    api_version: api,
    octet_version: "0.8.0",
    extension: { name: "test", version: "1.0.0", manifest_path: "/extensions/test/extension.toml", source: "explicit" as const },
    workspace: options.workspace ?? "/workspace",
    capabilities: { filesystem: "none" as const, process: false, network: false },
    contributes,
    host: options.host ?? {},
  };
  if (api === "0.1") {
    return opaque(base);
  }
  const protocol: feature.ProtocolOffer = {
    version: api,
    required_features: feature.FEATURES.filter((row) => row.required).map((row) => row.name),
    optional_features: options.features ?? offeredFeatures(api, contributes.hooks),
    limits: { max_concurrent_requests: options.maxConcurrent ?? feature.MAX_CONCURRENT_REQUESTS },
  };
  const flags = flagValues(options);
  const params: feature.InitializeParams = { ...base, protocol, ...(flags.length > 0 ? { flag_values: flags } : {}) };
  return opaque(params);
}

/** Every optional feature; those of a hook only where the hook is declared. */
function offeredFeatures(api: feature.Version, hooks: readonly string[]): readonly string[] {
  const rows = feature.FEATURES.filter((row) => !row.required && row.versions.includes(api));
  const hidden = feature.HOOKS.filter((hook) => hook.feature === hook.name && !hooks.includes(hook.name)).map((hook) => hook.name);
  return rows.map((row) => row.name).filter((name) => !hidden.includes(name));
}

function canonicalParams(tools: readonly string[], options: HostOptions): JsonObject {
  const named = (rows: readonly { readonly name: string; readonly offer?: string }[], offer: string): string[] =>
    rows.filter((row) => row.offer === offer).map((row) => row.name);
  const wanted = options.features ?? named(canonical.CAPABILITIES, "optional");
  const optional = canonical.METHODS.filter((row) => row.offer === "optional" && wanted.includes(row.gate)).map((row) => row.name);
  const hooks = options.sessionHooks === true;
  const [pair] = HOOK_PAIRS;
  const contract: canonical.ContractOffer = {
    ...canonical.CONTRACT_IDENTITY,
    required_capabilities: named(canonical.CAPABILITIES, "required"),
    optional_capabilities: wanted,
    required_methods: named(canonical.METHODS, "required"),
    optional_methods: optional,
    limits: {
      max_frame_bytes: options.maxFrameBytes ?? canonical.MAX_FRAME_BYTES,
      max_concurrent_requests: options.maxConcurrent ?? canonical.MAX_CONCURRENT_REQUESTS,
      max_tools: canonical.MAX_TOOLS,
    },
  };
  const params: canonical.InitializeRequest = {
    api_version: CANONICAL,
    octet_version: "0.8.0",
    extension: { name: "test", version: "1.0.0" },
    workspace: options.workspace ?? "/workspace",
    capabilities: { filesystem: "none", process: false, network: false },
    contributes: { tools, hooks: hooks ? pair.slice(0, 2) : [] },
    flag_values: flagValues(options),
    host: opaque(options.host ?? {}),
    contract,
  };
  return opaque(params);
}

/** Refuses an initialize result that a host would refuse. */
export function judgeInitialize(api: Api, params: JsonValue, result: JsonValue): void {
  if (api === CANONICAL) {
    const { contract } = canonical.MODELS.InitializeRequest.read(params);
    checkContract(contract, canonical.MODELS.InitializeResponse.read(result).contract);
    return;
  }
  if (api === "0.1") {
    feature.MODELS.InitializeResultV01.read(result);
    return;
  }
  const { protocol } = feature.MODELS.InitializeParams.read(params);
  const reason = checkFeatures(api, protocol, feature.MODELS.InitializeResult.read(result).protocol);
  if (reason !== undefined) {
    throw new LocalProtocolError(`the initialize result breaks the offer: ${reason}`);
  }
}

/** What the manifest of an extension would declare for what it registered. */
export function contributesOf(registry: Registry, api: Api): Partial<feature.Contributes> {
  const plain = {
    commands: [...registry.commands.keys()],
    hooks: [...registry.hooks.keys()],
    ui: [...registry.status.keys()] as feature.UiSurface[],
    context: registry.context !== undefined,
    tool_renderers: [...registry.renderers.keys()],
    confirmations: true,
  };
  return api === "0.1" ? plain : { ...plain, presentation: true, ...(registry.menu === undefined ? {} : { menu: true }) };
}

/** A message of the extension that asks or tells the host something. */
export interface Outgoing {
  /** The name an SDK gives it; undefined for progress. */
  readonly service: string | undefined;
  readonly method: string;
  readonly params: JsonObject;
  readonly notification: boolean;
}

/** Refuses a message that the wire does not carry from an extension, or that breaks its model. */
export function judgeOutgoing(api: Api, method: string, params: JsonValue | undefined, notification: boolean): Outgoing {
  const wire = api === CANONICAL ? canonical : feature;
  const row = (wire.METHODS).find(
    (one) => one.name === method && one.versions.includes(api) && one.direction !== "host_to_extension" && one.status !== "deferred",
  );
  if (row?.notification !== notification) {
    throw new LocalProtocolError(`the extension sent ${JSON.stringify(method)}, which API ${api} does not carry`);
  }
  const judged = new Codec<JsonObject>(wire.WIRE, shapeOf(row, api)?.params ?? "").read(params ?? {});
  return { service: row.service, method, params: judged, notification };
}

/** Returns the method behind a service or an event of an API version. */
export function namedMethod(api: Api, service: string): Method {
  const rows: readonly Method[] = api === CANONICAL ? canonical.METHODS : feature.METHODS;
  const row = rows.find((one) => one.service === service && one.versions.includes(api));
  if (row === undefined) {
    throw new LocalProtocolError(`API ${api} has no ${service}: use another API version, or leave it out`);
  }
  return row;
}

/** Reads the result of a call on any API. Throws Violation for what a host would refuse. */
export function readResult(api: Api, result: JsonValue): CallResult {
  if (api === "0.1") {
    const { content, is_error: isError, metadata } = feature.MODELS.ToolCallResultV01.read(result);
    return { text: content, isError, structured: undefined, metadata };
  }
  const models = api === CANONICAL ? canonical.MODELS : feature.MODELS;
  const { content, is_error: isError, structured_content: structured, metadata } = models.ToolCallResult.read(result);
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return { text: texts.join("\n"), isError, structured, metadata: metadata ?? undefined };
}
