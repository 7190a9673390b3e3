/** The canonical wire, API 0.3: contract negotiation and its closed models. */

import * as wire from "./_generated/canonical-wire.js";
import type { JsonObject, JsonValue } from "./_generated/json.js";
import { isObject } from "./_generated/json.js";
import { HOOK_PAIRS } from "./_generated/manifest-doc.js";
import type { Method } from "./_generated/wire.js";
import { encodeText } from "./canonical.js";
import { encode, openRequest } from "./canonical-work.js";
import type { CancelRequest, Dialect, Serving, Session, WireError, Work } from "./dialect.js";
import { eventMethods, namedMethods } from "./dialect.js";
import { LocalProtocolError, NotNegotiated } from "./errors.js";
import { flagsOf } from "./local.js";
import { checkOffer, selectContract } from "./negotiation.js";
import { looseContext } from "./owner.js";
import type { ErrorName } from "./refusal.js";
import { Refusal } from "./refusal.js";
import type { Registry } from "./registry.js";
import type { Outcome } from "./reply.js";
import { chooseCapabilities } from "./selection.js";
import { TextResult } from "./text-result.js";
import { ToolWork } from "./tool-work.js";
import type { Tool } from "./tool.js";

const models = wire.MODELS;

const TEXT_RESULT = new TextResult(models.ToolCallResult, { content: [{ type: "text", text: "" }], is_error: false, metadata: null });

/** Speaks API 0.3. */
export class CanonicalDialect implements Dialect {
  readonly wire = "extension-canonical";
  readonly tables = wire.WIRE;
  readonly api: wire.Version = "0.3";
  readonly firstBound = wire.MAX_FRAME_BYTES;
  readonly maxDepth = wire.MAX_JSON_DEPTH;
  readonly strict = true;
  readonly cancellation = true;
  readonly services: ReadonlyMap<string, Method> = namedMethods(wire.METHODS, this.api, "extension_to_host");
  readonly events: ReadonlyMap<string, Method> = eventMethods(wire.METHODS, this.api);
  readonly hookNames: readonly string[] = PAIRS.flatMap((pair) => pair.slice(0, 2));

  checkTool(tool: Tool): void {
    const [member] = Object.keys(tool.extras);
    if (member !== undefined) {
      throw new LocalProtocolError(`tool ${JSON.stringify(tool.name)}: API ${this.api} knows no ${member}: leave it out, or use API 0.4`);
    }
    encode(models.ToolDefinition, definition(tool));
  }

  initialize(params: JsonValue | undefined, registry: Registry): Session {
    const received = isObject(params) ? params["api_version"] : undefined;
    if (typeof received === "string" && received !== this.api) {
      throw new Refusal("version_mismatch", "another API version", { expected: this.api, received });
    }
    const request = models.InitializeRequest.read(params ?? null);
    checkOffer(request.contract);
    const hooks = declaresSessionHooks(request.contributes) && offersSessionHooks(request.contract);
    const least = selectContract(request.contract, registry.maxConcurrent);
    const choice = chooseCapabilities(registry, request.contract, hooks);
    const contract = { ...least, capabilities: [...least.capabilities, ...choice.capabilities], methods: [...least.methods, ...choice.methods] };
    const tools = [...registry.tools.values()].map((tool) => definition(tool));
    if (tools.length > contract.limits.max_tools) {
      throw new Refusal("resource_exhausted", "more tools than the selected bound", { limit: "max_tools" });
    }
    return {
      result: encode(models.InitializeResponse, { api_version: this.api, tools, contract }),
      bound: contract.limits.max_frame_bytes,
      maxConcurrent: contract.limits.max_concurrent_requests,
      context: looseContext({ host: request.host }, request.workspace),
      flags: flagsOf(request.flag_values),
      features: new Set(contract.capabilities),
      offered: new Set([...request.contract.required_capabilities, ...request.contract.optional_capabilities]),
      methods: new Set(contract.methods),
      contributes: isObject(request.contributes) ? request.contributes : {},
      warnings: choice.warnings,
    };
  }

  open(method: string, params: JsonValue | undefined, serving: Serving): Work {
    if (method !== wire.METHOD_TOOL_CALL) {
      return openRequest(method, params, serving);
    }
    const { name, arguments: args, context } = models.ToolCallParams.read(params ?? null);
    const tool = serving.dynamicTools.find(name, undefined);
    if (!tool) {
      throw new Refusal("unknown_method", `unknown tool: ${name}`, { method: name });
    }
    const { session } = serving;
    return new ToolWork(this, tool, args, looseContext(context, session.context.workspace), session.features, false);
  }

  definition(tool: Tool): JsonObject {
    return { ...definition(tool) };
  }

  cancel(params: JsonValue | undefined): CancelRequest {
    const { id, reason } = models.CancelRequestParams.read(params ?? null);
    return { id, reason };
  }

  shutdown(params: JsonValue | undefined): string {
    models.ShutdownParams.read(params ?? null);
    return models.ShutdownResult.encode({ terminal: "shutdown" });
  }

  result(outcome: Outcome): string {
    if (outcome.media.length > 0) {
      throw new LocalProtocolError(`API ${this.api} carries no media: return text alone, or use API 0.4`);
    }
    const short = TEXT_RESULT.of(outcome);
    if (short !== undefined) {
      return short;
    }
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

  broken(): WireError {
    const { code, message } = wire.ERROR_INTERNAL_ERROR;
    return { code, message };
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
