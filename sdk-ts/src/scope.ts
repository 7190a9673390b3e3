/** What a handler gets: the session it runs in, and the request of the host that it serves. */

import type { KnownCapability } from "./_generated/canonical-wire.js";
import type { HostState, KnownFeature } from "./_generated/feature-wire.js";
import type { JsonValue } from "./_generated/json.js";
import type { ScopeServices } from "./caller.js";
import type { DynamicTools } from "./dynamic-tools.js";
import type { Owner } from "./owner.js";

/** A session that is open. It may be kept for as long as the session lasts. */
export interface SessionHandle {
  /** The API version of the session. */
  readonly api: string;
  /** Root of the workspace. */
  readonly workspace: string;
  /** The extension's command-line flags by name. */
  readonly flags: Readonly<Record<string, JsonValue>>;
  /** The features, on API 0.3 the capabilities, that were negotiated. */
  readonly features: ReadonlySet<string>;
  /** What the host said about itself; empty where it said nothing. */
  readonly host: HostState;
  /** Aborted, with a CancelledError, when the work is cancelled or the session ends. */
  readonly signal: AbortSignal;
  /** What the extension may ask of the host. */
  readonly services: ScopeServices;
  /** Tools that come and go while the session lasts. */
  readonly dynamicTools: DynamicTools;
}

/** The name of something that a session negotiates. */
export type Negotiable = KnownFeature | KnownCapability;

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

/** What stands beside the label of a decoration. */
export interface DecorationOptions {
  readonly detail?: string;
}

/** How a notification is shown; level info where it is left out. */
export interface NotifyOptions {
  readonly level?: "info" | "success" | "warning" | "error";
  readonly title?: string;
}

/** One request of the host, as its handler sees it. */
export interface Scope extends SessionHandle {
  /** The execution context as the host sent it; an empty object where the method carries none. */
  readonly context: JsonValue;
  /** The owner of the session the request belongs to, all three parts; undefined where no session owns it. */
  readonly owner: Owner | undefined;
  /** Scope of tool execution; null where there is none. */
  readonly executionScope: string | null;

  /**
   * Shows where the work stands. Nothing is sent when the host did not offer progress or the request has its
   * answer. The promise never rejects; it resolves when the host takes more, so awaiting it paces a loop.
   * Throws NotNegotiated where the API has no progress, and LocalProtocolError for illegal numbers.
   */
  progress(message: string, options?: ProgressOptions): Promise<void>;

  /** Shows output of the work as it appears, under the same rules as {@link progress}. */
  output(text: string, options?: OutputOptions): Promise<void>;

  /** Labels the work while it runs, under the same rules as {@link progress}; replaces the label before. */
  decorate(label: string, options?: DecorationOptions): Promise<void>;

  /**
   * Shows a message to the person. Control characters other than line feed and tab are left out. Throws
   * NotNegotiated where the API has no notifications or the manifest does not declare them.
   */
  notify(message: string, options?: NotifyOptions): Promise<void>;

  /**
   * Runs a function once the answer to this request was sent, with a scope of its own for what may only follow an
   * answer. What it throws is logged. It does not run when the request is cancelled or answered with an error.
   */
  after(work: (scope: Scope) => unknown): void;

  /**
   * Returns the value that this factory made for the owner of this request, and makes it where there is none. It
   * is forgotten when the session settles or another instance or generation takes it over.
   */
  memory<T>(factory: () => T): T;

  /** Throws CancelledError once the request is cancelled. */
  throwIfCancelled(): void;
}

/** One running call of a tool. */
export interface ToolCall extends Scope {
  /** Name of the tool. */
  readonly name: string;
}

/** One running command. */
export interface CommandCall extends Scope {
  /** Name of the command, without a slash. */
  readonly name: string;
}

/** One question of the host before or after it acts. */
export interface HookCall extends Scope {
  /** Name of the hook. */
  readonly name: string;
  /** The private leaf of the session that some hooks get; undefined elsewhere. */
  readonly sessionLeaf: JsonValue | undefined;
}
