/** The answer to session/open, and what it is taken for where an older server leaves something out. */

import type { JsonValue } from "./_generated/json.js";
import { isObject } from "./_generated/json.js";
import type { ServerCapabilities, SessionOpened } from "./_generated/oup-wire.js";
import { CAPABILITIES_SCHEMA_VERSION, FEATURES, METHOD_SESSION_OPEN, METHODS, MODELS, PROTOCOL, SCHEMA_VERSION } from "./_generated/oup-wire.js";
import type { Codec } from "./_generated/wire.js";
import { Violation } from "./_generated/wire.js";
import { ProtocolError } from "./errors.js";

const NO_TOKENS = "no_tokens";

/** What a connection that named no feature can count on. */
export const DEFAULT_CAPABILITIES: ServerCapabilities = {
  version: { protocol: PROTOCOL.identifier, schema_version: SCHEMA_VERSION, jsonrpc: PROTOCOL.jsonrpc },
  capabilities_schema_version: CAPABILITIES_SCHEMA_VERSION,
  supported_methods: METHODS.filter(({ direction, notification }) => direction === "client_to_server" && !notification).map(({ name }) => name),
  supported_notifications: METHODS.filter(({ direction, notification }) => direction === "server_to_client" && notification).map(({ name }) => name),
  supported_features: FEATURES.filter(({ sets }) => sets?.includes(NO_TOKENS) === true).map(({ name }) => name),
};

/** Reads an opened session. Throws ProtocolError. */
export function readOpened(value: JsonValue, capabilities: ServerCapabilities = DEFAULT_CAPABILITIES): SessionOpened {
  const whole = isObject(value) && value["capabilities"] === undefined ? { ...value, capabilities: capabilities as unknown as JsonValue } : value;
  return readResult(METHOD_SESSION_OPEN, whole, MODELS.SessionOpened);
}

/** Reads a result by its model. Throws ProtocolError. */
export function readResult<T>(method: string, value: JsonValue, codec: Codec<T>): T {
  return judged(method, value, (result) => codec.read(result));
}

/** Reads a result in a way that throws Violation. Throws ProtocolError instead. */
export function judged<T>(method: string, value: JsonValue, read: (value: JsonValue) => T): T {
  try {
    return read(value);
  } catch (fault) {
    throw fault instanceof Violation ? new ProtocolError(`the answer to ${method} breaks its model: ${fault.message}`, { cause: fault }) : fault;
  }
}
