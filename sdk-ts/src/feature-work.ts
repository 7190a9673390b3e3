/** The requests of a host on the feature wire, each judged and handed to what the author registered. */

import * as wire from "./_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "./_generated/json.js";
import { isObject, utf8Length, writeJson } from "./_generated/json.js";
import type { Hook } from "./_generated/wire.js";
import { Codec, readShape, Violation } from "./_generated/wire.js";
import { shapeOf } from "./caller.js";
import type { Serving, Work } from "./dialect.js";
import { LocalProtocolError } from "./errors.js";
import { gateOf } from "./gates.js";
import { encodeLocal } from "./local.js";
import type { RequestContext } from "./owner.js";
import { looseContext } from "./owner.js";
import { Refusal } from "./refusal.js";
import type { RunningRequest } from "./running.js";

/** What a method makes of a request: everything of a work that differs from method to method. */
interface Plan {
  readonly label: string;
  readonly name?: string;
  readonly context: RequestContext;
  readonly sessionLeaf?: JsonValue | undefined;
  run(scope: RunningRequest): unknown;
  /** Encodes a value; by the model of the method's result where it is left out. */
  encode?(value: unknown): string;
}

type Opener = (api: wire.Version, params: JsonObject, serving: Serving) => Plan;

const OPENERS: ReadonlyMap<string, Opener> = new Map<string, Opener>([
  [wire.METHOD_COMMAND_EXECUTE, command],
  [wire.METHOD_HOOK_RUN, hook],
  [wire.METHOD_CONTEXT_COLLECT, context],
  [wire.METHOD_STATUS_COLLECT, status],
  [wire.METHOD_MENU_COLLECT, menu],
  [wire.METHOD_TOOL_RENDER, render],
  [wire.METHOD_UI_AUTOCOMPLETE_COMPLETE, autocomplete],
  [wire.METHOD_UI_TERMINAL_INPUT_INTERCEPT, intercept],
  [wire.METHOD_RESOURCE_DISPOSE, dispose],
]);

/** Judges any request but tool/call. Throws Violation or Refusal. */
export function openRequest(api: wire.Version, method: string, params: JsonValue | undefined, serving: Serving): Work {
  const opener = OPENERS.get(method);
  const row = wire.METHODS.find((one) => one.name === method && one.versions.includes(api));
  if (opener === undefined || row === undefined) {
    throw unknown(method);
  }
  const gate = gateOf(row);
  if (gate.kind === "manifest" && serving.session.contributes[gate.name] === false) {
    throw unknown(method);
  }
  if (gate.kind === "feature" && !serving.session.features.has(gate.name)) {
    throw new Refusal("unknown_method", `unsupported_feature ${method}`, { method });
  }
  const shape = shapeOf(row, api);
  const judged = new Codec<JsonObject>(wire.WIRE, shape?.params ?? "").read(params ?? {});
  const plan = opener(api, judged, serving);
  return {
    ...plan,
    name: plan.name ?? method,
    run: (scope) => plan.run(scope),
    encode: (value) => (plan.encode === undefined ? encodeResult(method, shape, value) : plan.encode(value)),
    tooLargeIsFailure: false,
  };
}

function unknown(method: string): Refusal {
  return new Refusal("unknown_method", `unknown method: ${method}`, { method });
}

/** Whether the manifest lists a name under a member of contributes. */
function lists(session: Serving["session"], member: string, name: string): boolean {
  const declared = session.contributes[member];
  return Array.isArray(declared) && declared.includes(name);
}

/** Encodes a result by the shape the method table gives. What breaks it is the extension's own fault. */
function encodeResult(method: string, shape: ReturnType<typeof shapeOf>, value: unknown): string {
  try {
    if (shape?.result === undefined) {
      throw new TypeError("the method has no result");
    }
    return writeJson(readShape(wire.WIRE, { type: shape.result, nullable: shape.nullable ?? false }, value as JsonValue), wire.MAX_JSON_DEPTH);
  } catch (cause) {
    if (cause instanceof Violation || cause instanceof TypeError) {
      throw new LocalProtocolError(`result of ${JSON.stringify(method)}: ${cause.message}`, { cause });
    }
    throw cause;
  }
}

/** Reads the context of a request that has passed its model. */
export function contextOf(context: wire.ExecutionContext): RequestContext {
  return {
    workspace: context.workspace,
    raw: context as unknown as JsonValue,
    owner: context.resource_owner,
    executionScope: context.execution_scope,
    host: context.host,
  };
}

function command(_api: wire.Version, params: JsonObject, { registry }: Serving): Plan {
  const { name, arguments: args, context: given } = params as unknown as wire.CommandExecuteParams;
  const found = registry.commands.get(name);
  if (found === undefined) {
    throw new Refusal("unknown_method", `unknown command: ${name}`, { method: name });
  }
  return {
    label: `command ${JSON.stringify(name)}`,
    name,
    context: contextOf(given),
    run: (scope) => found.run(scope, args),
    encode: (reply) => encodeLocal(wire.MODELS.CommandExecuteResult, commandResult(reply)),
  };
}

/** Every member is sent, so that a host needs no defaults. */
function commandResult(reply: unknown): wire.CommandExecuteResult {
  const given = (typeof reply === "string" ? { text: reply } : reply) as wire.CommandExecuteResult;
  return { notifications: [], context: [], ...given };
}

function hook(api: wire.Version, params: JsonObject, { registry, session }: Serving): Plan {
  const { hook: name, payload, context: given, session_leaf: leaf } = params as unknown as wire.HookRunParams;
  const row = wire.HOOKS.find((one) => one.name === name && one.versions.includes(api));
  const handler = registry.hooks.get(name);
  if (row === undefined || handler === undefined || !lists(session, "hooks", name)) {
    throw new Refusal("invalid_params", `the hook ${JSON.stringify(name)} is not one of this extension`);
  }
  if (row.feature !== "-" && !session.features.has(row.feature)) {
    throw new Refusal("invalid_params", `the hook ${JSON.stringify(name)} needs the feature ${JSON.stringify(row.feature)}, which was not negotiated`);
  }
  const judged = payloadOf(row, payload);
  return {
    label: `hook ${JSON.stringify(name)}`,
    name,
    context: contextOf(given),
    sessionLeaf: leaf,
    run: (scope) => handler(scope, judged as never),
    encode: (answer) => encodeLocal(new Codec<object>(wire.WIRE, row.result), ownMembers(row, answer ?? {})),
  };
}

/** Returns the answer of a hook, which holds what its model names and nothing else. Throws LocalProtocolError. */
function ownMembers(row: Hook, answer: object): object {
  const model = wire.WIRE.models.get(row.result);
  const members = answer as Partial<Record<string, JsonValue>>;
  const surplus = Object.keys(members).find((name) => members[name] !== undefined && model?.kind === "record" && !model.fields.some((field) => field.name === name));
  if (surplus !== undefined) {
    const place = `/${surplus.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    throw new LocalProtocolError(`${row.result}: ${JSON.stringify(place)} is not a member of this answer: leave it out`);
  }
  return answer;
}

function payloadOf(row: Hook, payload: JsonObject): unknown {
  try {
    return new Codec(wire.WIRE, row.payload).read(payload);
  } catch (cause) {
    if (cause instanceof Violation) {
      throw new Violation(cause.violation, `/payload${cause.pointer}`, cause.error, cause.reason);
    }
    throw cause;
  }
}

function context(_api: wire.Version, params: JsonObject, { registry }: Serving): Plan {
  const { prompt, context: given } = params as unknown as wire.ContextCollectParams;
  const { context: handler } = registry;
  if (handler === undefined) {
    throw unknown(wire.METHOD_CONTEXT_COLLECT);
  }
  return { label: "context", context: contextOf(given), run: (scope) => handler(scope, prompt) };
}

function status(_api: wire.Version, params: JsonObject, { registry, session }: Serving): Plan {
  const { surface, context: given } = params as unknown as wire.StatusCollectParams;
  const handler = registry.status.get(surface);
  if (handler === undefined || !lists(session, "ui", surface)) {
    throw new Refusal("unknown_method", `the surface ${JSON.stringify(surface)} is not one of this extension`, { method: wire.METHOD_STATUS_COLLECT });
  }
  return {
    label: `status ${JSON.stringify(surface)}`,
    name: surface,
    context: contextOf(given),
    run: async (scope) => {
      const answer = await handler(scope);
      return answer === null ? null : { ...answer, surface };
    },
  };
}

function menu(_api: wire.Version, params: JsonObject, { registry }: Serving): Plan {
  const { context: given } = params as unknown as wire.MenuCollectParams;
  const { menu: handler } = registry;
  if (handler === undefined) {
    throw unknown(wire.METHOD_MENU_COLLECT);
  }
  return { label: "menu", context: contextOf(given), run: (scope) => handler(scope) };
}

function render(_api: wire.Version, params: JsonObject, { registry, session }: Serving): Plan {
  const { name, arguments: args, output, is_error: isError, context: given } = params as unknown as wire.ToolRenderParams;
  const handler = registry.renderers.get(name);
  if (handler === undefined || !lists(session, "tool_renderers", name)) {
    throw new Refusal("unknown_method", `unknown tool renderer: ${name}`, { method: name });
  }
  return {
    label: `renderer of ${JSON.stringify(name)}`,
    name,
    context: contextOf(given),
    run: async (scope) => ({ segments: await handler(scope, { arguments: args, output, isError }) }),
  };
}

function autocomplete(_api: wire.Version, params: JsonObject, { registry, session }: Serving): Plan {
  const request = params as unknown as wire.UiAutocompleteCompleteParams;
  const { autocomplete: handler } = registry;
  if (handler === undefined) {
    throw unknown(wire.METHOD_UI_AUTOCOMPLETE_COMPLETE);
  }
  if (request.cursor > utf8Length(request.text)) {
    throw new Violation("range", "/cursor", "invalid_params", "must be at most the bytes of the text");
  }
  const edits = session.features.has(wire.FEATURE_AUTOCOMPLETE_EDIT_V1);
  return {
    label: "autocomplete",
    context: looseContext({}, session.context.workspace),
    run: (scope) => handler(scope, request),
    encode: (answer) => encodeLocal<object>(edits ? wire.MODELS.UiAutocompleteCompleteResult : wire.MODELS.UiAutocompleteCompleteResultV02, answer as wire.UiAutocompleteCompleteResult),
  };
}

function intercept(_api: wire.Version, params: JsonObject, { registry, session }: Serving): Plan {
  const { data, resource_owner: owner } = params as unknown as wire.UiTerminalInputInterceptParams;
  const { intercept: handler } = registry;
  if (handler === undefined) {
    throw unknown(wire.METHOD_UI_TERMINAL_INPUT_INTERCEPT);
  }
  return {
    label: "terminal input",
    context: looseContext({ resource_owner: owner as unknown as JsonValue }, session.context.workspace),
    run: async (scope) => ({ data: await handler(scope, data) }),
  };
}

function dispose(_api: wire.Version, params: JsonObject, { registry, session }: Serving): Plan {
  const request = params as unknown as wire.ResourceDisposeParams;
  return {
    label: "resource disposal",
    context: looseContext({}, session.context.workspace),
    run: async (scope) => {
      const said = (await registry.dispose?.(scope, request)) ?? [];
      const results = request.resources.map((resource) => ({ resource, status: said.find((one) => same(one.resource, resource))?.status ?? "completed" }));
      return { results };
    },
  };
}

function same(one: wire.ResourceRef, other: wire.ResourceRef): boolean {
  return isObject(one) && one.$resource === other.$resource && one.type === other.type;
}
