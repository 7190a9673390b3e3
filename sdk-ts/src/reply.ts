/** What a tool returns, before its wire has given it a shape. */

import type { AudioPart, ImagePart } from "./_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "./_generated/json.js";
import { LocalProtocolError, SchemaMismatch } from "./errors.js";
import type { Schema } from "./schema.js";

/** A part of a reply that shows or plays an artifact which was published before. API 0.2 and 0.4. */
export type MediaPart = ImagePart | AudioPart;

/** A reply of text parts. */
export interface TextReply {
  /** The text the model reads; several texts become several parts. */
  readonly text: string | readonly string[];
  /** Parts behind the texts. */
  readonly media?: readonly MediaPart[];
  /** The tool failed; the text says why. */
  readonly isError?: boolean;
  /** Detail for the host, never shown to the model. */
  readonly metadata?: JsonObject;
  /** Structured content needs an output schema. */
  readonly structured?: never;
}

/** A reply of a tool with an output schema. */
export interface StructuredReply<O> {
  /** What the output schema describes. */
  readonly structured: O;
  /** The text the model reads; the structured content as JSON where it is left out. */
  readonly text?: string | readonly string[];
  /** Parts behind the texts. */
  readonly media?: readonly MediaPart[];
  readonly isError?: false;
  readonly metadata?: JsonObject;
}

/** A reply that says the tool failed. */
export interface FailedReply extends TextReply {
  readonly isError: true;
}

/** What the handler of a tool returns: text, or parts; with an output schema the structured content, or a failure. */
export type Reply<O = undefined> = [O] extends [undefined] ? string | TextReply : StructuredReply<O> | FailedReply;

/** A reply in one form. */
export interface Outcome {
  readonly texts: readonly string[];
  readonly media: readonly MediaPart[];
  readonly isError: boolean;
  readonly metadata: JsonObject | undefined;
  /** Undefined where the tool has no output schema or failed. */
  readonly structured: JsonValue | undefined;
}

/** Makes the outcome of a failure. */
export function failure(text: string): Outcome {
  return { texts: [text], media: [], isError: true, metadata: undefined, structured: undefined };
}

/**
 * Judges what a handler returned and brings it into one form. Throws LocalProtocolError for anything that is
 * no reply of this tool.
 */
export function outcome(reply: unknown, output: Schema<unknown> | undefined): Outcome {
  if (output === undefined && isNothing(reply)) {
    reply = "";
  }
  if (typeof reply === "string") {
    reply = { text: reply };
  }
  if (typeof reply !== "object" || reply === null) {
    throw new LocalProtocolError(`a tool returned ${reply === null ? "null" : `a ${typeof reply}`}: return a string or an object with text`);
  }
  const given = reply as Partial<Omit<TextReply, "structured"> & { structured: JsonValue }>;
  const isError = given.isError ?? false;
  const structured = isError ? undefined : structuredOf(given.structured, output);
  const texts = given.text === undefined ? [] : typeof given.text === "string" ? [given.text] : given.text;
  if (!Array.isArray(texts) || !texts.every((text) => typeof text === "string")) {
    throw new LocalProtocolError("a tool returned text that is no string: return a string or an array of strings");
  }
  if (structured === undefined && given.text === undefined) {
    throw new LocalProtocolError("a tool returned neither text nor structured content: return one of them");
  }
  const media = given.media ?? [];
  if (!Array.isArray(media)) {
    throw new LocalProtocolError("a tool returned media that is no array: return an array of parts");
  }
  return { texts, media, isError, metadata: given.metadata, structured };
}

/** Whether a handler returned nothing at all, which is one empty text. */
function isNothing(reply: unknown): boolean {
  return reply === undefined || reply === null || (typeof reply === "object" && Object.getPrototypeOf(reply) === Object.prototype && Object.keys(reply).length === 0);
}

function structuredOf(value: JsonValue | undefined, output: Schema<unknown> | undefined): JsonValue | undefined {
  if (output === undefined) {
    if (value !== undefined) {
      throw new LocalProtocolError("a tool without an output schema returned structured content: declare output");
    }
    return undefined;
  }
  if (value === undefined) {
    throw new LocalProtocolError("a tool with an output schema returned no structured content: return structured, or isError");
  }
  try {
    return output.parse(value) as JsonValue;
  } catch (fault) {
    if (fault instanceof SchemaMismatch) {
      throw new LocalProtocolError(`structured content breaks the output schema: ${fault.message}`, { cause: fault });
    }
    throw fault;
  }
}
