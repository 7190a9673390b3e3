/** JSON-RPC envelopes: what kind of message a frame is, and whether its wire allows it. */

import * as canonical from "./_generated/canonical-wire.js";
import * as feature from "./_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "./_generated/json.js";
import { isObject } from "./_generated/json.js";
import type { RpcId } from "./_generated/wire.js";
import { Violation } from "./_generated/wire.js";

/** The two families of wires. */
export type WireName = "extension-feature" | "extension-canonical";

/** A message whose envelope is legal. What it carries is judged later. */
export type Message =
  | { readonly kind: "request"; readonly id: RpcId; readonly method: string; readonly params: JsonValue | undefined }
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonValue | undefined }
  | { readonly kind: "result"; readonly id: RpcId; readonly result: JsonValue }
  | { readonly kind: "error"; readonly id: RpcId | null; readonly error: feature.ErrorObject };

/** A message whose envelope is not legal. */
export interface BadEnvelope {
  readonly kind: "invalid";
  /** The id, where there is a legal one. */
  readonly id: RpcId | undefined;
  /**
   * Whether somebody may wait for an answer: the frame has an id, legal or not, and is not itself an answer;
   * or it is no object at all.
   */
  readonly asks: boolean;
  /** Whether it names no method, so that it can only be meant as an answer. */
  readonly answers: boolean;
  readonly reason: string;
}

/** Says what a frame is. Which of the four envelopes is meant depends only on which members are present. */
export function classify(wire: WireName, value: JsonValue): Message | BadEnvelope {
  if (!isObject(value)) {
    return { kind: "invalid", id: undefined, asks: true, answers: false, reason: "the frame is not an object" };
  }
  try {
    return wire === "extension-canonical" ? canonicalMessage(value) : featureMessage(value);
  } catch (fault) {
    if (fault instanceof Violation) {
      return bad(value, fault.message);
    }
    throw fault;
  }
}

function bad(value: JsonObject, reason: string): BadEnvelope {
  const answers = value["method"] === undefined;
  const answer = answers && (value["result"] !== undefined || value["error"] !== undefined);
  return { kind: "invalid", id: legalId(value["id"]), asks: value["id"] !== undefined && !answer, answers, reason };
}

/** Returns an id that an answer may carry. */
function legalId(id: JsonValue | undefined): RpcId | undefined {
  try {
    const probe = { jsonrpc: "2.0", id: id ?? null, result: {} } as const;
    return canonical.MODELS.JsonRpcSuccessResponse.read(probe).id;
  } catch {
    return undefined;
  }
}

function featureMessage(value: JsonObject): Message {
  const models = feature.MODELS;
  if (value["method"] !== undefined) {
    if (value["id"] === undefined) {
      const { method, params } = models.JsonRpcNotification.read(value);
      return { kind: "notification", method, params };
    }
    const { id, method, params } = models.JsonRpcRequest.read(value);
    return { kind: "request", id, method, params };
  }
  if (value["error"] !== undefined) {
    const { id, error } = models.JsonRpcErrorResponse.read(value);
    if (id === null && error.code !== feature.ERROR_PARSE_ERROR.code && error.code !== feature.ERROR_INVALID_REQUEST.code) {
      throw new Violation("id", "/id", feature.WIRE.envelopeError, "is null only in an error about a message that could not be read");
    }
    return { kind: "error", id, error };
  }
  const { id, result } = models.JsonRpcSuccessResponse.read(value);
  return { kind: "result", id, result };
}

function canonicalMessage(value: JsonObject): Message {
  const models = canonical.MODELS;
  if (value["method"] !== undefined) {
    if (value["id"] === undefined) {
      const { method, params } = models.JsonRpcNotification.read(value);
      assertKind(method, true);
      return { kind: "notification", method, params };
    }
    const { id, method, params } = models.JsonRpcRequest.read(value);
    assertKind(method, false);
    return { kind: "request", id, method, params };
  }
  if (value["error"] !== undefined) {
    const { id, error } = models.JsonRpcErrorResponse.read(value);
    assertRow(error);
    return { kind: "error", id, error };
  }
  const { id, result } = models.JsonRpcSuccessResponse.read(value);
  return { kind: "result", id, result };
}

/** A known method is a notification or a request, never the other. */
function assertKind(method: string, notification: boolean): void {
  const row = canonical.METHODS.find((one) => one.name === method);
  if (row !== undefined && row.notification !== notification) {
    const rule = row.notification ? "is a notification and carries no id" : "is a request and carries an id";
    throw new Violation("value", "/method", canonical.WIRE.envelopeError, `${JSON.stringify(method)} ${rule}`);
  }
}

/** An error is a row of the table: code and message belong together. */
function assertRow(error: canonical.ErrorObject): void {
  const row = canonical.ERRORS.find((one) => one.code === error.code);
  if (row?.message !== error.message) {
    throw new Violation("value", "/error", canonical.WIRE.envelopeError, "must have code and message of one row of the error table");
  }
}
