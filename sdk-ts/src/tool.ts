/** Tools as an author declares them, and the call a handler gets. */

import type { JsonValue } from "./_generated/json.js";
import type { Reply } from "./reply.js";
import type { Schema } from "./schema.js";

/** How far a call is, beside the message. Whole numbers from 0. */
export interface ProgressOptions {
  readonly current?: number;
  readonly total?: number;
  readonly unit?: string;
}

/** Where output comes from; stdout where it is left out. */
export interface OutputOptions {
  readonly stream?: "stdout" | "stderr";
}

/** How a notification is shown; level info where it is left out. */
export interface NotifyOptions {
  readonly level?: "info" | "success" | "warning" | "error";
  readonly title?: string;
}

/** One running call of a tool. */
export interface ToolCall {
  /** Name of the tool. */
  readonly name: string;
  /** Aborted when the host cancels the call or the session ends. The reason is a CancelledError. */
  readonly signal: AbortSignal;
  /** Root of the active workspace. */
  readonly workspace: string;
  /** The execution context as the host sent it. */
  readonly context: JsonValue;
  /** The extension's command-line flags by name. */
  readonly flags: Readonly<Record<string, JsonValue>>;

  /**
   * Shows where the work stands. Nothing is sent when the host did not offer progress or the call has its
   * answer. The promise never rejects; it resolves when the host takes more, so awaiting it paces a loop.
   * Throws NotNegotiated where the API has no progress, and LocalProtocolError for illegal numbers.
   */
  progress(message: string, options?: ProgressOptions): Promise<void>;

  /** Shows output of the work as it appears, under the same rules as {@link progress}. */
  output(text: string, options?: OutputOptions): Promise<void>;

  /**
   * Shows a message to the person. Control characters other than line feed and tab are left out. Throws
   * NotNegotiated where the API has no notifications or the manifest does not declare them.
   */
  notify(message: string, options?: NotifyOptions): Promise<void>;

  /** Throws CancelledError once the call is cancelled. */
  throwIfCancelled(): void;
}

/** What a tool is. */
export interface ToolSpec<A, O> {
  /** What the tool does, for the model. */
  readonly description: string;
  /** Schema of the arguments, made with `s.object`. No arguments where it is left out. */
  readonly args?: Schema<A>;
  /** Schema of the structured content. Not carried by API 0.1. */
  readonly output?: Schema<O>;
}

/** Runs a tool. What it throws becomes a result that says the tool failed. */
export type ToolHandler<A, O> = (call: ToolCall, args: A) => Reply<O> | Promise<Reply<O>>;

/** A registered tool, its types forgotten. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly args: Schema<unknown>;
  readonly output: Schema<unknown> | undefined;
  readonly run: (call: ToolCall, args: unknown) => unknown;
}
