/** Tools as an author declares them. */

import type { ToolComposition } from "./_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "./_generated/json.js";
import { LocalProtocolError } from "./errors.js";
import type { Reply } from "./reply.js";
import type { Schema } from "./schema.js";
import { s } from "./schema.js";
import type { ToolCall } from "./scope.js";

/** What a tool is. */
export interface ToolSpec<A, O> {
  /** What the tool does, for the model. */
  readonly description: string;
  /** Schema of the arguments, made with `s.object`. No arguments where it is left out. */
  readonly args?: Schema<A>;
  /** Schema of the structured content. Not carried by API 0.1. */
  readonly output?: Schema<O>;
  /** One line about the tool for the prompt. API 0.4. */
  readonly promptSnippet?: string;
  /** How the model should use the tool, for the prompt. API 0.4. */
  readonly promptGuidelines?: readonly string[];
  /** How tools are called from inside this one. API 0.4. */
  readonly composition?: ToolComposition;
  /** Which native resources the tool takes and gives. API 0.4. */
  readonly operation?: JsonObject;
  /** A grammar for the arguments, as the provider wants it. API 0.2 and 0.4. */
  readonly constrainedSampling?: JsonValue;
}

/** Runs a tool. What it throws becomes a result that says the tool failed. */
export type ToolHandler<A, O> = (call: ToolCall, args: A) => Reply<O> | Promise<Reply<O>>;

/** A registered tool, its types forgotten. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly args: Schema<unknown>;
  readonly output: Schema<unknown> | undefined;
  /** What else the definition carries: members by their names on the wire. */
  readonly extras: Readonly<Record<string, JsonValue>>;
  readonly run: (call: ToolCall, args: unknown) => unknown;
}

/**
 * Makes a tool without registering it, for `dynamicTools.register`. Throws LocalProtocolError where the arguments
 * are not described as an object.
 */
export function defineTool<A = Readonly<Record<string, never>>, O = undefined>(name: string, spec: ToolSpec<A, O>, handler: ToolHandler<A, NoInfer<O>>): Tool {
  const tool: Tool = {
    name,
    description: spec.description,
    args: spec.args ?? s.object({}),
    output: spec.output,
    extras: extrasOf(spec),
    run: (call, args) => handler(call, args as A),
  };
  if (tool.args.json["type"] !== "object") {
    throw new LocalProtocolError(`tool ${JSON.stringify(name)}: args must describe an object, make it with s.object`);
  }
  return tool;
}

function extrasOf(spec: Omit<ToolSpec<unknown, unknown>, "args" | "output">): Readonly<Record<string, JsonValue>> {
  const { promptSnippet, promptGuidelines, composition, operation, constrainedSampling } = spec;
  return {
    ...(promptSnippet === undefined ? {} : { prompt_snippet: promptSnippet }),
    ...(promptGuidelines === undefined ? {} : { prompt_guidelines: promptGuidelines }),
    ...(composition === undefined ? {} : { composition: { ...composition } }),
    ...(operation === undefined ? {} : { operation }),
    ...(constrainedSampling === undefined ? {} : { constrained_sampling: constrainedSampling }),
  };
}
