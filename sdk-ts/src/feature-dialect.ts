/** The feature-negotiated wire: API 0.1, 0.2 and 0.4. */

import * as wire from "./_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "./_generated/json.js";
import { isObject, utf8Length, writeJson } from "./_generated/json.js";
import type { Method, RpcId } from "./_generated/wire.js";
import type { CancelRequest, Dialect, ProgressEvent, Serving, Session, WireError, Work } from "./dialect.js";
import { eventMethods, namedMethods } from "./dialect.js";
import { LocalProtocolError, NotNegotiated, TooLarge } from "./errors.js";
import { contextOf, openRequest } from "./feature-work.js";
import type { Extent } from "./local.js";
import { encodeLocal, flagsOf, measure, opaque } from "./local.js";
import { selectFeatures } from "./negotiation.js";
import type { ErrorName } from "./refusal.js";
import { Refusal } from "./refusal.js";
import type { Registry } from "./registry.js";
import type { Outcome } from "./reply.js";
import { assertKeywords } from "./schema.js";
import type { NotifyOptions } from "./scope.js";
import { chooseFeatures, TOOL_MEMBERS, verbOf } from "./selection.js";
import { TextResult } from "./text-result.js";
import { ToolWork } from "./tool-work.js";
import type { Tool } from "./tool.js";

const models = wire.MODELS;

/** Bounds of structured content and of metadata. */
const EXTENT = { levels: wire.MAX_STRUCTURED_DEPTH, nodes: wire.MAX_STRUCTURED_NODES };

const TEXT_RESULT = new TextResult(models.ToolCallResult, { content: [{ type: "text", text: "" }], is_error: false });

/** Speaks one version of the feature wire. */
export class FeatureDialect implements Dialect {
  readonly wire = "extension-feature";
  readonly tables = wire.WIRE;
  readonly firstBound = wire.MAX_LINE_BYTES;
  readonly maxDepth = wire.MAX_JSON_DEPTH;
  readonly strict = false;
  readonly cancellation: boolean;
  readonly services: ReadonlyMap<string, Method>;
  readonly events: ReadonlyMap<string, Method>;
  readonly hookNames: readonly string[];
  /** API 0.1 negotiates nothing and answers in text. */
  private readonly plain: boolean;

  constructor(readonly api: wire.Version) {
    this.plain = api === "0.1";
    this.cancellation = !this.plain;
    this.services = namedMethods(wire.METHODS, api, "extension_to_host");
    this.events = eventMethods(wire.METHODS, api);
    this.hookNames = wire.HOOKS.filter((row) => row.versions.includes(api)).map((row) => row.name);
  }

  checkTool(tool: Tool): void {
    for (const member of Object.keys(tool.extras)) {
      const versions = TOOL_MEMBERS.get(member)?.versions ?? wire.VERSIONS.slice(1);
      if (!versions.includes(this.api)) {
        throw new LocalProtocolError(`tool ${JSON.stringify(tool.name)}: API ${this.api} knows no ${member}: leave it out, or use API ${versions.join(" or ")}`);
      }
    }
    encodeLocal(models.ToolDefinition, full(tool));
    if (tool.output !== undefined) {
      assertKeywords(tool.output.json, new Set(wire.OUTPUT_SCHEMA_KEYWORDS));
      assertExtent("output schema", tool.output.json, { levels: wire.MAX_OUTPUT_SCHEMA_DEPTH, nodes: Number.POSITIVE_INFINITY });
      assertKeys("output schema", tool.output.json, wire.MAX_OUTPUT_SCHEMA_KEY_BYTES);
    }
  }

  initialize(params: JsonValue | undefined, registry: Registry): Session {
    const received = isObject(params) ? params["api_version"] : undefined;
    if (typeof received === "string" && received !== this.api) {
      throw new Refusal("server_error", `unsupported API version: ${JSON.stringify(received)}, this extension speaks ${this.api}`);
    }
    return this.plain ? this.initializeV01(params, registry) : this.negotiate(params, registry);
  }

  private initializeV01(params: JsonValue | undefined, registry: Registry): Session {
    const request = models.InitializeParamsV01.read(params ?? {});
    const tools = [...registry.tools.values()].map((tool) => definition(tool));
    return {
      ...agreed(request),
      result: encodeLocal(models.InitializeResultV01, { api_version: this.api, tools, commands: commandsOf(registry) }),
      flags: {},
      features: new Set(),
      offered: new Set(),
      warnings: differences(registry, request.contributes, new Set()),
      maxConcurrent: wire.MAX_CONCURRENT_REQUESTS,
    };
  }

  private negotiate(params: JsonValue | undefined, registry: Registry): Session {
    const request = models.InitializeParams.read(params ?? {});
    const offered = new Set<string>([...request.protocol.required_features, ...request.protocol.optional_features]);
    const choice = chooseFeatures(registry, this.api, offered);
    const selected = selectFeatures(request.protocol, this.api, [...REQUIRED, ...choice.features], registry.maxConcurrent);
    const features = new Set(selected.features);
    const warnings = [...choice.warnings];
    const tools = [...registry.tools.values()].map((tool) => this.definition(tool, features, (line) => warnings.push(line)));
    const protocol = { ...selected, ...subscriptions(registry, features) };
    return {
      ...agreed(request),
      result: encodeLocal(models.InitializeResult, {
        api_version: this.api,
        tools: tools as unknown as readonly wire.ToolDefinition[],
        commands: commandsOf(registry),
        protocol,
      }),
      flags: flagsOf(request.flag_values ?? []),
      features,
      offered,
      warnings: [...warnings, ...differences(registry, request.contributes, features)],
      maxConcurrent: selected.limits.max_concurrent_requests,
    };
  }

  open(method: string, params: JsonValue | undefined, serving: Serving): Work {
    return method === wire.METHOD_TOOL_CALL ? this.call(params, serving) : openRequest(this.api, method, params, serving);
  }

  private call(params: JsonValue | undefined, { session, dynamicTools }: Serving): Work {
    const model = this.plain ? models.ToolCallParamsV01 : models.ToolCallParams;
    const { name, arguments: args, context, catalog_revision: revision } = model.read(params ?? {}) as wire.ToolCallParams;
    if (revision !== undefined && !session.features.has(wire.FEATURE_DYNAMIC_TOOLS)) {
      throw new Refusal("invalid_params", "tool/call catalog_revision requires negotiated dynamic_tools");
    }
    const tool = dynamicTools.find(name, revision);
    if (tool === null) {
      throw new Refusal("invalid_params", `unknown or retired tool catalog revision: ${String(revision)}`);
    }
    if (tool === undefined) {
      throw new Refusal("unknown_method", `unknown tool: ${name}`, { method: name });
    }
    return new ToolWork(this, tool, args, contextOf(context), session.features, true);
  }

  definition(tool: Tool, features: ReadonlySet<string>, log: (line: string) => void): JsonObject {
    const kept = Object.entries(full(tool)).filter(([member]) => {
      const needs = TOOL_MEMBERS.get(member)?.feature;
      const left = needs !== undefined && !features.has(needs);
      if (left) {
        log(`tool ${JSON.stringify(tool.name)}: ${member} is left out, the feature ${JSON.stringify(needs)} was not negotiated`);
      }
      return !left;
    });
    return Object.fromEntries<JsonValue>(kept);
  }

  cancel(params: JsonValue | undefined): CancelRequest {
    const { id, reason } = models.CancelRequestParams.read(params ?? {});
    return { id, reason };
  }

  shutdown(params: JsonValue | undefined): string {
    models.ShutdownParams.read(params ?? {});
    return models.ShutdownResult.encode({});
  }

  result(outcome: Outcome, features: ReadonlySet<string>): string {
    if (outcome.media.length > 0 && !features.has(wire.FEATURE_ARTIFACTS)) {
      throw new LocalProtocolError(`media needs the feature ${JSON.stringify(wire.FEATURE_ARTIFACTS)}, which was not negotiated: return text alone`);
    }
    if (this.plain) {
      const texts = outcome.structured === undefined ? outcome.texts : textsOf(outcome);
      return encodeLocal(models.ToolCallResultV01, { content: texts.join("\n"), is_error: outcome.isError });
    }
    const short = TEXT_RESULT.of(outcome);
    if (short !== undefined) {
      return short;
    }
    assertExtent("structured content", outcome.structured, EXTENT);
    assertExtent("metadata", outcome.metadata, EXTENT);
    assertKeys("metadata", outcome.metadata, wire.MAX_METADATA_KEY_BYTES);
    const texts = textsOf(outcome).map((text) => ({ type: "text" as const, text }));
    return encodeLocal(models.ToolCallResult, {
      content: outcome.media.length > 0 ? [...texts, ...outcome.media] : texts,
      is_error: outcome.isError,
      ...(outcome.structured === undefined ? {} : { structured_content: outcome.structured }),
      ...(outcome.metadata === undefined ? {} : { metadata: outcome.metadata }),
    });
  }

  progress(id: RpcId, sequence: number, event: ProgressEvent): string {
    if (this.plain) {
      throw new NotNegotiated(`API ${this.api} carries no progress: leave it out, or use API 0.4`);
    }
    return encodeLocal(models.ProgressParams, { request_id: id, sequence, event });
  }

  notification(message: string, options: NotifyOptions): string {
    return encodeLocal(models.Notification, {
      level: options.level ?? "info",
      ...(options.title === undefined ? {} : { title: plainText(options.title) }),
      message: plainText(message),
    });
  }

  error(name: ErrorName, message: string, data: JsonObject | undefined): WireError {
    const row = wire.ERRORS.find((one) => one.name === name) ?? wire.ERROR_SERVER_ERROR;
    return { code: row.code, message, ...(data === undefined ? {} : { data }) };
  }

  broken(): WireError {
    return this.error("internal_error", "internal error", undefined);
  }

  cancelled(reason: string | undefined): WireError {
    const { code, message } = wire.ERROR_REQUEST_CANCELLED;
    return { code, message, data: { reason: reason ?? "cancelled" } };
  }

  interrupted(): WireError {
    return this.plain ? this.error("server_error", "extension stopped", undefined) : this.cancelled("the extension is shutting down");
  }

  tooLarge(message: string): WireError {
    return this.error("internal_error", message, undefined);
  }
}

const REQUIRED: readonly string[] = wire.FEATURES.filter((row) => row.required).map((row) => row.name);

/** What every version agrees on. */
function agreed(request: wire.InitializeParams | wire.InitializeParamsV01): Pick<Session, "bound" | "context" | "methods" | "contributes"> {
  return {
    bound: wire.MAX_LINE_BYTES,
    context: { workspace: request.workspace, raw: {}, owner: undefined, executionScope: null, host: request.host },
    methods: undefined,
    contributes: opaque(request.contributes),
  };
}

function definition(tool: Tool): wire.ToolDefinitionV01 {
  return { name: tool.name, description: tool.description, parameters: tool.args.json };
}

function full(tool: Tool): wire.ToolDefinition {
  return { ...definition(tool), ...(tool.output === undefined ? {} : { output_schema: tool.output.json }), ...tool.extras };
}

function commandsOf(registry: Registry): readonly wire.CommandDefinition[] {
  return [...registry.commands.values()].map(({ name, description, usage }) => ({ name, description, ...(usage === undefined ? {} : { usage }) }));
}

/** Of the lifecycle events those that have a handler; all of them where none has, because memory goes by them too. */
function subscriptions(registry: Registry, features: ReadonlySet<string>): Pick<wire.ProtocolSelection, "lifecycle_events"> {
  const all = wire.METHODS.filter((row) => row.gate.split(" ", 1)[0] === wire.FEATURE_LIFECYCLE_EVENTS);
  const handled = all.filter((row) => row.service !== undefined && registry.events.has(verbOf(row.service))).map((row) => row.name as wire.LifecycleEvent);
  return features.has(wire.FEATURE_LIFECYCLE_EVENTS) && handled.length > 0 && handled.length < all.length ? { lifecycle_events: handled } : {};
}

/** A result needs at least one text. */
function textsOf(outcome: Outcome): readonly string[] {
  if (outcome.texts.length > 0) {
    return outcome.texts;
  }
  return [outcome.structured === undefined ? "" : writeJson(outcome.structured, wire.MAX_JSON_DEPTH)];
}

function assertExtent(what: string, value: JsonValue | undefined, bounds: Extent): void {
  const extent = value === undefined ? { levels: 0, nodes: 0 } : measure(value, bounds);
  if (extent.levels > bounds.levels) {
    throw new TooLarge(`${what} has more than ${String(bounds.levels)} levels, or holds itself: nest less`);
  }
  if (extent.nodes > bounds.nodes) {
    throw new TooLarge(`${what} has more than ${String(bounds.nodes)} values: return less`);
  }
}

function assertKeys(what: string, value: JsonValue | undefined, maxBytes: number): void {
  if (typeof value !== "object" || value === null) {
    return;
  }
  for (const [key, member] of Object.entries(value as JsonObject)) {
    if (utf8Length(key) > maxBytes) {
      throw new TooLarge(`${what} has a key of more than ${String(maxBytes)} bytes: shorten it`);
    }
    assertKeys(what, member, maxBytes);
  }
}

/** Takes terminal control out of a text: escape sequences, and control characters other than line feed and tab. */
function plainText(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what this removes
  const sequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/gu;
  // eslint-disable-next-line no-control-regex -- as above
  return text.replaceAll(sequences, "").replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu, "");
}

/** Says where what was registered differs from what the manifest declares: the host will refuse it, or never ask. */
function differences(registry: Registry, contributes: wire.Contributes | wire.ContributesV01, features: ReadonlySet<string>): readonly string[] {
  const given: readonly (readonly [what: string, member: string, registered: Iterable<string>, declared: readonly string[]])[] = [
    ["tool", "tools", registry.tools.keys(), features.has(wire.FEATURE_DYNAMIC_TOOLS) ? [...registry.tools.keys()] : contributes.tools],
    ["command", "commands", registry.commands.keys(), features.has(wire.FEATURE_RUNTIME_COMMANDS) ? [...registry.commands.keys()] : contributes.commands],
    ["hook", "hooks", registry.hooks.keys(), contributes.hooks],
  ];
  return given.flatMap(([what, member, registered, declared]) => {
    const names = [...registered];
    const extra = names.filter((name) => !declared.includes(name)).map((name) => `${what} ${JSON.stringify(name)} is not declared in the manifest: add it to contributes.${member}`);
    const absent = declared.filter((name) => !names.includes(name)).map((name) => `the manifest declares the ${what} ${JSON.stringify(name)}: register it`);
    return [...extra, ...absent];
  });
}
