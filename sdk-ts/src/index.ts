/** The extension SDK for octet. */

export type { JsonObject, JsonValue } from "./_generated/json.js";
export { CancelledError, FrameFault, LocalProtocolError, NotNegotiated, RemoteProtocolError, SchemaMismatch, ToolError } from "./errors.js";
export type { Api, ExtensionOptions, SessionEnd, SessionStart } from "./extension.js";
export { ExtensionDefinition } from "./extension.js";
export { Extension } from "./node/extension.js";
export type { FailedReply, Reply, StructuredReply, TextReply } from "./reply.js";
export type { ArrayOptions, Infer, JsonSchema, Members, NumberOptions, ObjectOf, Presence, StringOptions } from "./schema.js";
export { s, Schema } from "./schema.js";
export type { NotifyOptions, OutputOptions, ProgressOptions, ToolCall, ToolHandler, ToolSpec } from "./tool.js";
