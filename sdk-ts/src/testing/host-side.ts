/** What a host sends and how it judges what comes back, for both wires. */

import * as canonical from "../_generated/canonical-wire.js";
import * as feature from "../_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "../_generated/json.js";
import { HOOK_PAIRS } from "../_generated/manifest-doc.js";
import { LocalProtocolError } from "../errors.js";
import type { Api } from "../extension.js";
import { opaque } from "../local.js";
import { checkContract, checkFeatures } from "../negotiation.js";
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
  const contributes: feature.Contributes = {
    tools,
    commands: [],
    hooks: [],
    ui: [],
    context: false,
    tool_renderers: [],
    notifications: options.notifications ?? true,
    confirmations: false,
  };
  const base = {
    api_version: api,
    octet_version: "0.8.0",
    extension: { name: "test", version: "1.0.0", manifest_path: "/extensions/test/extension.toml", source: "explicit" as const },
    workspace: options.workspace ?? "/workspace",
    capabilities: { filesystem: "none" as const, process: false, network: false },
    contributes,
    host: {},
  };
  if (api === "0.1") {
    return opaque(base);
  }
  const protocol: feature.ProtocolOffer = {
    version: api,
    required_features: feature.FEATURES.filter((row) => row.required).map((row) => row.name),
    optional_features: options.features ?? [feature.FEATURE_REQUEST_PROGRESS],
    limits: { max_concurrent_requests: options.maxConcurrent ?? feature.MAX_CONCURRENT_REQUESTS },
  };
  const flags = flagValues(options);
  const params: feature.InitializeParams = { ...base, protocol, ...(flags.length > 0 ? { flag_values: flags } : {}) };
  return opaque(params);
}

function canonicalParams(tools: readonly string[], options: HostOptions): JsonObject {
  const offered = (rows: readonly { readonly name: string; readonly offer?: string }[]): string[] =>
    rows.filter((row) => row.offer === "required").map((row) => row.name);
  const hooks = options.sessionHooks === true;
  const [pair] = HOOK_PAIRS;
  const contract: canonical.ContractOffer = {
    ...canonical.CONTRACT_IDENTITY,
    required_capabilities: offered(canonical.CAPABILITIES),
    optional_capabilities: [canonical.CAPABILITY_LIFECYCLE_EVENTS],
    required_methods: offered(canonical.METHODS),
    optional_methods: [canonical.METHOD_HOOK_RUN],
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
    host: {},
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

/** A notification of the extension. */
export type Judged =
  | { readonly kind: "progress"; readonly params: feature.ProgressParams }
  | { readonly kind: "notification"; readonly params: feature.Notification };

/** Refuses a notification that the wire does not carry from an extension, or that breaks its model. */
export function judgeNotification(api: Api, method: string, params: JsonValue | undefined): Judged {
  if (api !== CANONICAL && method === feature.METHOD_NOTIFICATION) {
    return { kind: "notification", params: feature.MODELS.Notification.read(params ?? {}) };
  }
  if (api !== CANONICAL && api !== "0.1" && method === feature.METHOD_PROGRESS) {
    return { kind: "progress", params: feature.MODELS.ProgressParams.read(params ?? {}) };
  }
  throw new LocalProtocolError(`the extension sent ${JSON.stringify(method)}, which API ${api} does not carry`);
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
