/** The canonical wire, API 0.3: contract negotiation and its closed models. */

import * as wire from "./_generated/canonical-wire.js";
import type { JsonObject, JsonValue } from "./_generated/json.js";
import { isObject } from "./_generated/json.js";
import { HOOK_PAIRS } from "./_generated/manifest-doc.js";
import type { Codec } from "./_generated/wire.js";
import { encodeText } from "./canonical.js";
import type { CallRequest, CancelRequest, Dialect, Session, SessionHook, WireError } from "./dialect.js";
import { NotNegotiated } from "./errors.js";
import { encodeLocal, flagsOf } from "./local.js";
import { checkOffer, selectContract } from "./negotiation.js";
import type { ErrorName } from "./refusal.js";
import { Refusal } from "./refusal.js";
import type { Outcome } from "./reply.js";
import type { Tool } from "./tool.js";

const models = wire.MODELS;

/** Speaks API 0.3. */
export class CanonicalDialect implements Dialect {
  readonly wire = "extension-canonical";
  readonly api: wire.Version = "0.3";
  readonly firstBound = wire.MAX_FRAME_BYTES;
  readonly maxDepth = wire.MAX_JSON_DEPTH;
  readonly strict = true;
  readonly cancellation = true;

  checkTool(tool: Tool): void {
    encode(models.ToolDefinition, definition(tool));
  }

  initialize(params: JsonValue | undefined, tools: readonly Tool[], maxConcurrent: number): Session {
    const received = isObject(params) ? params["api_version"] : undefined;
    if (typeof received === "string" && received !== this.api) {
      throw new Refusal("version_mismatch", "another API version", { expected: this.api, received });
    }
    const request = models.InitializeRequest.read(params ?? null);
    checkOffer(request.contract);
    const hooks = declaresSessionHooks(request.contributes) && offersSessionHooks(request.contract);
    const contract = select(request.contract, maxConcurrent, hooks);
    if (tools.length > contract.limits.max_tools) {
      throw new Refusal("resource_exhausted", "more tools than the selected bound", { limit: "max_tools" });
    }
    const catalog = tools.map((tool) => definition(tool));
    return {
      result: encode(models.InitializeResponse, { api_version: this.api, tools: catalog, contract }),
      bound: contract.limits.max_frame_bytes,
      maxConcurrent: contract.limits.max_concurrent_requests,
      workspace: request.workspace,
      flags: flagsOf(request.flag_values),
      progress: false,
      notifications: false,
      sessionHooks: hooks,
      warnings: [],
    };
  }

  call(params: JsonValue | undefined): CallRequest {
    const { name, arguments: args, context } = models.ToolCallParams.read(params ?? null);
    const workspace = isObject(context) ? context["workspace"] : undefined;
    return { name, args, context, workspace: typeof workspace === "string" ? workspace : undefined };
  }

  cancel(params: JsonValue | undefined): CancelRequest {
    const { id, reason } = models.CancelRequestParams.read(params ?? null);
    return { id, reason };
  }

  shutdown(params: JsonValue | undefined): string {
    models.ShutdownParams.read(params ?? null);
    return models.ShutdownResult.encode({ terminal: "shutdown" });
  }

  hook(params: JsonValue | undefined): SessionHook {
    const request = models.SessionHookParams.read(params ?? null);
    const sessionId = request.payload.binding.session_id;
    if (request.hook === "session_start") {
      return { hook: request.hook, sessionId };
    }
    const { outcome, reason, duration_ms: durationMs } = request.payload;
    return { hook: request.hook, sessionId, outcome, reason, durationMs };
  }

  hookResult(): string {
    return models.SessionHookResult.encode({ disposition: { kind: "continue" } });
  }

  result(outcome: Outcome): string {
    const texts = outcome.texts.length > 0 || outcome.structured === undefined ? outcome.texts : [encodeText(outcome.structured)];
    return encode(models.ToolCallResult, {
      content: texts.map((text) => ({ type: "text" as const, text })),
      is_error: outcome.isError,
      metadata: outcome.metadata ?? null,
      ...(outcome.structured === undefined ? {} : { structured_content: outcome.structured }),
    });
  }

  progress(): string {
    throw new NotNegotiated(`API ${this.api} carries no progress: leave it out, or use API 0.4`);
  }

  notification(): string {
    throw new NotNegotiated(`API ${this.api} carries no notifications: leave them out, or use API 0.4`);
  }

  error(name: ErrorName, message: string, data: JsonObject | undefined): WireError {
    const row = wire.ERRORS.find((one) => one.name === name) ?? wire.ERROR_INTERNAL_ERROR;
    return { code: row.code, message: row.message, data: data ?? { reason: message } };
  }

  cancelled(reason: string | undefined): WireError {
    const fact: wire.CancelRequestResult = { terminal: "cancelled", ...(reason === undefined ? {} : { reason }) };
    const { code, message } = wire.ERROR_REQUEST_CANCELLED;
    return { code, message, data: { ...fact } };
  }

  interrupted(): WireError {
    return this.cancelled("the extension is shutting down");
  }

  tooLarge(message: string): WireError {
    return this.error("resource_exhausted", message, undefined);
  }
}

function definition(tool: Tool): wire.ToolDefinition {
  return {
    name: tool.name,
    description: tool.description,
    parameters: tool.args.json,
    ...(tool.output === undefined ? {} : { output_schema: tool.output.json }),
  };
}

/** Encodes what must be canonical down to its opaque parts. */
function encode<T>(codec: Codec<T>, value: T): string {
  encodeLocal(codec, value);
  return encodeText(value as JsonValue);
}

const PAIRS: readonly (readonly string[])[] = HOOK_PAIRS;

/** Session hooks are declared as a pair, which the host hands on in its opaque metadata. */
function declaresSessionHooks(contributes: JsonValue): boolean {
  const hooks = isObject(contributes) ? contributes["hooks"] : undefined;
  const declared: readonly unknown[] = Array.isArray(hooks) ? hooks : [];
  return PAIRS.some(([first, second]) => declared.includes(first) && declared.includes(second));
}

function offersSessionHooks(offer: wire.ContractOffer): boolean {
  return offer.optional_capabilities.includes(wire.CAPABILITY_LIFECYCLE_EVENTS) && offer.optional_methods.includes(wire.METHOD_HOOK_RUN);
}

function select(offer: wire.ContractOffer, maxConcurrent: number, hooks: boolean): wire.ContractSelection {
  const least = selectContract(offer, maxConcurrent);
  if (!hooks) {
    return least;
  }
  return {
    ...least,
    capabilities: [...least.capabilities, wire.CAPABILITY_LIFECYCLE_EVENTS],
    methods: [...least.methods, wire.METHOD_HOOK_RUN],
  };
}
