/** What the connection leaves to the wire it speaks. */

import type { JsonObject, JsonValue } from "./_generated/json.js";
import type { RpcId } from "./_generated/wire.js";
import type { WireName } from "./envelope.js";
import type { Outcome } from "./reply.js";
import type { ErrorName } from "./refusal.js";
import type { NotifyOptions, Tool } from "./tool.js";

/** One event of progress. */
export type ProgressEvent =
  | { readonly type: "status"; readonly message: string; readonly current?: number; readonly total?: number; readonly unit?: string }
  | { readonly type: "output"; readonly stream: "stdout" | "stderr"; readonly encoding: "utf8"; readonly data: string };

/** What was agreed at initialize. */
export interface Session {
  /** The initialize result, encoded. */
  readonly result: string;
  /** Most bytes of a frame, both ways, from the initialize answer on. */
  readonly bound: number;
  /** Most calls at one time. */
  readonly maxConcurrent: number;
  readonly workspace: string;
  readonly flags: Readonly<Record<string, JsonValue>>;
  /** Whether the host takes progress. */
  readonly progress: boolean;
  /** Whether the manifest declares notifications. */
  readonly notifications: boolean;
  /** Whether session hooks were selected. */
  readonly sessionHooks: boolean;
  /** What the author should know, for the log. */
  readonly warnings: readonly string[];
}

/** The parameters of a tool call that passed their model. */
export interface CallRequest {
  readonly name: string;
  readonly args: JsonValue;
  readonly context: JsonValue;
  readonly workspace: string | undefined;
}

/** The parameters of a cancellation that passed their model. */
export interface CancelRequest {
  readonly id: RpcId;
  readonly reason: string | undefined;
}

/** An error answer. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonValue;
}

/** A session hook as the author's handler gets it. */
export type SessionHook =
  | { readonly hook: "session_start"; readonly sessionId: string }
  | {
      readonly hook: "session_end";
      readonly sessionId: string;
      readonly outcome: string;
      readonly reason: string;
      readonly durationMs: number;
    };

/**
 * The rules of one wire. Methods that judge what the host sent throw Violation or Refusal; methods that
 * encode what the extension sends throw LocalProtocolError. Encoded text is canonical JSON.
 */
export interface Dialect {
  readonly wire: WireName;
  readonly api: string;
  /** Bound of every frame up to the initialize answer. */
  readonly firstBound: number;
  /** Deepest level of a value in a frame. */
  readonly maxDepth: number;
  /**
   * Canonical behaviour: a frame that cannot be read ends the stream, as does every fault before
   * negotiation is complete. Otherwise such a line is answered and reading goes on.
   */
  readonly strict: boolean;
  /** Whether the host may cancel. */
  readonly cancellation: boolean;

  /** Refuses a tool that this wire cannot carry. Throws LocalProtocolError. */
  checkTool(tool: Tool): void;
  initialize(params: JsonValue | undefined, tools: readonly Tool[], maxConcurrent: number): Session;
  call(params: JsonValue | undefined): CallRequest;
  cancel(params: JsonValue | undefined): CancelRequest;
  /** Judges the parameters of shutdown and returns its result, encoded. */
  shutdown(params: JsonValue | undefined): string;
  /** Undefined on a wire without session hooks. */
  hook?(params: JsonValue | undefined): SessionHook;
  /** The answer to every session hook, encoded. */
  hookResult?(): string;

  /** Encodes the result of a call. */
  result(outcome: Outcome): string;
  /** Encodes progress. Throws NotNegotiated on a wire that has none. */
  progress(id: RpcId, sequence: number, event: ProgressEvent): string;
  /** Encodes a notification. Throws NotNegotiated on a wire that has none. */
  notification(message: string, options: NotifyOptions): string;

  error(name: ErrorName, message: string, data: JsonObject | undefined): WireError;
  /** The error that answers a cancelled call. */
  cancelled(reason: string | undefined): WireError;
  /** The error that answers a call which shutdown interrupts. */
  interrupted(): WireError;
  /** The error that answers a call whose result does not fit a frame. */
  tooLarge(message: string): WireError;
}
