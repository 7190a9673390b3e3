/** The extension SDK for octet. */

export type { EventHandler } from "./_generated/events.js";
export type { HookHandler } from "./_generated/hooks.js";
export type { JsonObject, JsonValue } from "./_generated/json.js";
export type { ServiceName, ServiceOptions } from "./_generated/services.js";
export { Violation } from "./_generated/wire.js";
export { canonicalJson } from "./canonical.js";
export type { ScopeServices } from "./caller.js";
export type { Change, DynamicTools } from "./dynamic-tools.js";
export {
  CancelledError,
  FrameFault,
  HostError,
  InvalidParams,
  LocalProtocolError,
  NoParent,
  NotNegotiated,
  RemoteProtocolError,
  SchemaMismatch,
  TooLarge,
  ToolError,
} from "./errors.js";
export type { Api, ExtensionOptions, SessionEnd, SessionStart } from "./extension.js";
export { ExtensionDefinition } from "./extension.js";
export { Extension } from "./node/extension.js";
export type { Owner } from "./owner.js";
export type { ProviderStream } from "./provider-stream.js";
export type {
  AutocompleteHandler,
  CommandHandler,
  CommandReply,
  CommandSpec,
  ContextHandler,
  DisposeHandler,
  InterceptHandler,
  MenuHandler,
  MigrationAdapter,
  ProviderHandler,
  RenderHandler,
  Rendering,
  ShortcutHandler,
  ShortcutSpec,
  StatusHandler,
} from "./registry.js";
export type { EventRegistrations, HookRegistrations } from "./registrations.js";
export type { FailedReply, MediaPart, Reply, StructuredReply, TextReply } from "./reply.js";
export type { ArrayOptions, Infer, JsonSchema, Members, NumberOptions, ObjectOf, Presence, StringOptions } from "./schema.js";
export { s, Schema } from "./schema.js";
export type { CommandCall, DecorationOptions, HookCall, Negotiable, NotifyOptions, OutputOptions, ProgressOptions, Scope, SessionHandle, ToolCall } from "./scope.js";
export { fileSources } from "./node/source.js";
export type { Source, Sources } from "./source.js";
export type { Tool, ToolHandler, ToolSpec } from "./tool.js";
export { defineTool } from "./tool.js";
