/** What kind of message a value is. */

import type { JsonValue } from "./_generated/json.js";
import { isObject } from "./_generated/json.js";
import { MODELS } from "./_generated/oup-wire.js";
import { Violation } from "./_generated/wire.js";

/** What a message does. */
export type MessageKind = "request" | "notification" | "result" | "error";

const CODECS = {
  request: MODELS.JsonRpcRequest,
  notification: MODELS.JsonRpcNotification,
  result: MODELS.JsonRpcSuccessResponse,
  error: MODELS.JsonRpcErrorResponse,
} as const;

/** Names the kind of a message; undefined for what is no message of OUP. */
export function classify(value: JsonValue): MessageKind | undefined {
  if (!isObject(value)) {
    return undefined;
  }
  const [first, ...others] = (["method", "result", "error"] as const).filter((name) => Object.hasOwn(value, name));
  if (first === undefined || others.length > 0) {
    return undefined;
  }
  const kind = first === "method" ? (Object.hasOwn(value, "id") ? "request" : "notification") : first;
  try {
    CODECS[kind].read(value);
    return kind;
  } catch (fault) {
    if (fault instanceof Violation) {
      return undefined;
    }
    throw fault;
  }
}
