/** OUP, the protocol between an application and an octet server: a client, and the bindings beneath it. */

export * from "./_generated/oup-wire.js";
export { JsonSyntaxError, Numeral } from "./_generated/json.js";
export type { JsonNumber, JsonObject, JsonValue } from "./_generated/json.js";
export { Codec, Violation } from "./_generated/wire.js";
export type { ErrorCode, Feature, Limit, Method, OpenString, ViolationKind } from "./_generated/wire.js";
export type { Calls } from "./_generated/oup-calls.js";
export type { Answers, AskContext, Callbacks, Decision, OnApproval, OnQuestion } from "./asks.js";
export type { ReconnectOptions } from "./backoff.js";
export { Client, UNDERSTOOD } from "./client.js";
export type { Clock } from "./environment.js";
export { AuthError, Disconnected, ProtocolError, ServerError, TimedOut, Unsupported } from "./errors.js";
export type { KnownKind } from "./errors.js";
export type { Gap, OupEvent, Terminal } from "./events.js";
export type { Dial, Link, LinkEnd, LinkEvents } from "./link.js";
export { Mismatch } from "./negotiation.js";
export type { CallOptions, ClientOptions, ClientState, StateDetail } from "./options.js";
export { eventsOf } from "./snapshot.js";
export type { OpenOptions, Session } from "./session.js";
export type { Input, ToolCall, Turn, TurnOptions, TurnResult } from "./turn.js";
export { websocket } from "./websocket.js";
export type { WebSocketOptions } from "./websocket.js";
