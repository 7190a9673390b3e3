/** The feature-negotiated wire: API 0.1, 0.2 and 0.4. */

import * as wire from "./_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "./_generated/json.js";
import { isObject, utf8Length, writeJson } from "./_generated/json.js";
import type { RpcId } from "./_generated/wire.js";
import type { CallRequest, CancelRequest, Dialect, ProgressEvent, Session, WireError } from "./dialect.js";
import { LocalProtocolError, NotNegotiated } from "./errors.js";
import type { Extent } from "./local.js";
import { encodeLocal, flagsOf, measure, opaque } from "./local.js";
import { selectFeatures } from "./negotiation.js";
import type { ErrorName } from "./refusal.js";
import { Refusal } from "./refusal.js";
import type { Outcome } from "./reply.js";
import { assertKeywords } from "./schema.js";
import type { NotifyOptions, Tool } from "./tool.js";

const models = wire.MODELS;

/** What this SDK can do on the wire. */
const SUPPORTED: readonly string[] = [wire.FEATURE_REQUEST_CANCELLATION, wire.FEATURE_CONTENT_PARTS, wire.FEATURE_REQUEST_PROGRESS];

/** Bounds of structured content and of metadata. */
const EXTENT = { levels: wire.MAX_STRUCTURED_DEPTH, nodes: wire.MAX_STRUCTURED_NODES };

/** Speaks one version of the feature wire. */
export class FeatureDialect implements Dialect {
  readonly wire = "extension-feature";
  readonly firstBound = wire.MAX_LINE_BYTES;
  readonly maxDepth = wire.MAX_JSON_DEPTH;
  readonly strict = false;
  readonly cancellation: boolean;
  /** API 0.1 negotiates nothing and answers in text. */
  private readonly plain: boolean;

  constructor(readonly api: wire.Version) {
    this.plain = api === "0.1";
    this.cancellation = !this.plain;
  }

  checkTool(tool: Tool): void {
    encodeLocal(models.ToolDefinition, full(tool));
    if (tool.output !== undefined) {
      assertKeywords(tool.output.json, new Set(wire.OUTPUT_SCHEMA_KEYWORDS));
      assertExtent("output schema", tool.output.json, { levels: wire.MAX_OUTPUT_SCHEMA_DEPTH, nodes: Number.POSITIVE_INFINITY });
      assertKeys("output schema", tool.output.json, wire.MAX_OUTPUT_SCHEMA_KEY_BYTES);
    }
  }

  initialize(params: JsonValue | undefined, tools: readonly Tool[], maxConcurrent: number): Session {
    const received = isObject(params) ? params["api_version"] : undefined;
    if (typeof received === "string" && received !== this.api) {
      throw new Refusal("server_error", `unsupported API version: ${JSON.stringify(received)}, this extension speaks ${this.api}`);
    }
    return this.plain ? this.initializeV01(params, tools) : this.negotiate(params, tools, maxConcurrent);
  }

  private initializeV01(params: JsonValue | undefined, tools: readonly Tool[]): Session {
    const request = models.InitializeParamsV01.read(params ?? {});
    const result = { api_version: this.api, tools: tools.map((tool) => definition(tool)), commands: [] };
    return {
      ...agreed(request, tools),
      result: encodeLocal(models.InitializeResultV01, result),
      flags: {},
      progress: false,
      maxConcurrent: wire.MAX_CONCURRENT_REQUESTS,
    };
  }

  private negotiate(params: JsonValue | undefined, tools: readonly Tool[], maxConcurrent: number): Session {
    const request = models.InitializeParams.read(params ?? {});
    const protocol = selectFeatures(request.protocol, this.api, SUPPORTED, maxConcurrent);
    const definitions = tools.map((tool) => full(tool));
    return {
      ...agreed(request, tools),
      result: encodeLocal(models.InitializeResult, { api_version: this.api, tools: definitions, commands: [], protocol }),
      flags: flagsOf(request.flag_values ?? []),
      progress: protocol.features.includes(wire.FEATURE_REQUEST_PROGRESS),
      maxConcurrent: protocol.limits.max_concurrent_requests,
    };
  }

  call(params: JsonValue | undefined): CallRequest {
    if (this.plain) {
      const { name, arguments: args, context } = models.ToolCallParamsV01.read(params ?? {});
      return { name, args, context: opaque(context), workspace: context.workspace };
    }
    const { name, arguments: args, context, catalog_revision: revision } = models.ToolCallParams.read(params ?? {});
    if (revision !== undefined) {
      throw new Refusal("invalid_params", "catalog_revision requires the feature dynamic_tools, which was not selected");
    }
    return { name, args, context: opaque(context), workspace: context.workspace };
  }

  cancel(params: JsonValue | undefined): CancelRequest {
    const { id, reason } = models.CancelRequestParams.read(params ?? {});
    return { id, reason };
  }

  shutdown(params: JsonValue | undefined): string {
    models.ShutdownParams.read(params ?? {});
    return models.ShutdownResult.encode({});
  }

  result(outcome: Outcome): string {
    if (this.plain) {
      const texts = outcome.structured === undefined ? outcome.texts : textsOf(outcome);
      return encodeLocal(models.ToolCallResultV01, { content: texts.join("\n"), is_error: outcome.isError });
    }
    assertExtent("structured content", outcome.structured, EXTENT);
    assertExtent("metadata", outcome.metadata, EXTENT);
    assertKeys("metadata", outcome.metadata, wire.MAX_METADATA_KEY_BYTES);
    const texts = textsOf(outcome);
    return encodeLocal(models.ToolCallResult, {
      content: texts.map((text) => ({ type: "text" as const, text })),
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

/** What every version agrees on. */
function agreed(request: wire.InitializeParams | wire.InitializeParamsV01, tools: readonly Tool[]): Omit<Session, "result" | "flags" | "progress" | "maxConcurrent"> {
  return {
    bound: wire.MAX_LINE_BYTES,
    workspace: request.workspace,
    notifications: request.contributes.notifications,
    sessionHooks: false,
    warnings: differences(tools, request.contributes.tools),
  };
}

function definition(tool: Tool): wire.ToolDefinitionV01 {
  return { name: tool.name, description: tool.description, parameters: tool.args.json };
}

function full(tool: Tool): wire.ToolDefinition {
  return { ...definition(tool), ...(tool.output === undefined ? {} : { output_schema: tool.output.json }) };
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
    throw new LocalProtocolError(`${what} has more than ${String(bounds.levels)} levels: nest less`);
  }
  if (extent.nodes > bounds.nodes) {
    throw new LocalProtocolError(`${what} has more than ${String(bounds.nodes)} values: return less`);
  }
}

function assertKeys(what: string, value: JsonValue | undefined, maxBytes: number): void {
  if (typeof value !== "object" || value === null) {
    return;
  }
  for (const [key, member] of Object.entries(value as JsonObject)) {
    if (utf8Length(key) > maxBytes) {
      throw new LocalProtocolError(`${what} has a key of more than ${String(maxBytes)} bytes: shorten it`);
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

/** Says where the registered tools differ from those the manifest declares: the host will refuse the extension. */
function differences(tools: readonly Tool[], declared: readonly string[]): readonly string[] {
  const names = tools.map((tool) => tool.name);
  const extra = names.filter((name) => !declared.includes(name)).map((name) => `tool ${JSON.stringify(name)} is not declared in the manifest: add it to contributes.tools`);
  const absent = declared.filter((name) => !names.includes(name)).map((name) => `the manifest declares the tool ${JSON.stringify(name)}: register it`);
  return [...extra, ...absent];
}
