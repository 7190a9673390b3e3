/** What an author registered, as a session serves it. */

import type * as canonical from "./_generated/canonical-wire.js";
import type * as feature from "./_generated/feature-wire.js";
import type { JsonObject } from "./_generated/json.js";
import type { ProviderStream } from "./provider-stream.js";
import type { Source } from "./source.js";
import type { CommandCall, HookCall, Negotiable, Scope, SessionHandle } from "./scope.js";
import type { Tool } from "./tool.js";

/** A value, or a promise of it. */
export type Eventually<T> = T | Promise<T>;

/** What a command answers: a text, or a text with what the person or the model sees beside it. */
export type CommandReply = string | feature.CommandExecuteResult;

/** Runs a command with the words behind its name. */
export type CommandHandler = (call: CommandCall, args: readonly string[]) => Eventually<CommandReply>;

/** What a command is. */
export interface CommandSpec {
  readonly description: string;
  /** How it is called, with its slash. */
  readonly usage?: string;
}

/** A registered command. */
export interface Command extends CommandSpec {
  readonly name: string;
  readonly run: CommandHandler;
}

/** Contributes context for a prompt, which is null where there is none yet. */
export type ContextHandler = (scope: Scope, prompt: string | null) => Eventually<readonly feature.ContextContribution[]>;

/** Says what a surface shows; null for nothing. */
export type StatusHandler = (scope: Scope) => Eventually<Omit<feature.StatusContribution, "surface"> | null>;

/** Says what the menu of the extension holds. */
export type MenuHandler = (scope: Scope) => Eventually<feature.MenuCollectResult>;

/** A call of a tool that is to be shown. */
export interface Rendering {
  readonly arguments: JsonObject;
  readonly output: string;
  readonly isError: boolean;
}

/** Shows a call of a tool. */
export type RenderHandler = (scope: Scope, call: Rendering) => Eventually<readonly feature.ToolRenderSegment[]>;

/** What a shortcut is. */
export interface ShortcutSpec {
  /** The keys, joined by `+`. */
  readonly key: string;
  readonly description: string;
}

/** Runs when the keys of a shortcut are pressed. */
export type ShortcutHandler = (session: SessionHandle) => unknown;

/** A registered shortcut. */
export interface Shortcut extends ShortcutSpec {
  readonly id: string;
  readonly run: ShortcutHandler;
}

/** Completes a text at the cursor, a byte offset. */
export type AutocompleteHandler = (scope: Scope, request: feature.UiAutocompleteCompleteParams) => Eventually<feature.UiAutocompleteCompleteResult>;

/** Sees what is typed in the terminal, and returns what takes its place; an empty text takes it away. */
export type InterceptHandler = (scope: Scope, data: string) => Eventually<string>;

/** Lets go of native resources. What it does not name, or all where it returns nothing, counts as completed. */
export type DisposeHandler = (scope: Scope, request: feature.ResourceDisposeParams) => Eventually<readonly feature.DisposedResource[] | undefined>;

/**
 * Reads the set-up of another program. API 0.3. The SDK refuses a source root that is no directory of its own, and an
 * import of what `detect` does not report. It lets no answer out whose paths leave the root, nor a detection of a file
 * twice, of one that is not there, or of one behind a symbolic link.
 */
export interface MigrationAdapter {
  readonly detect: (scope: Scope, request: canonical.MigrationDetectParams, source: Source) => Eventually<canonical.MigrationDetectResult>;
  readonly import: (scope: Scope, request: canonical.MigrationImportParams, source: Source) => Eventually<canonical.MigrationImportResult>;
}

/** Answers for the models of a provider. API 0.3. */
export interface ProviderHandler {
  /** Says why a stream is not taken; undefined takes it, and so does leaving this out. */
  readonly refuse?: (scope: Scope, request: canonical.ProviderStreamRequest) => Eventually<string | undefined>;
  /** Sends the events of a stream that was taken. What it throws ends the stream with an error. */
  readonly stream: (stream: ProviderStream, request: canonical.ProviderStreamRequest) => unknown;
}

/** A hook as registered, its types forgotten. */
export type AnyHook = (hook: HookCall, payload: never) => unknown;

/** A handler of an event, its types forgotten. */
export type AnyEvent = (event: never, session: SessionHandle) => unknown;

/** Everything an author registered. */
export interface Registry {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly commands: ReadonlyMap<string, Command>;
  readonly hooks: ReadonlyMap<string, AnyHook>;
  /** By the verb of the service noun `events`. */
  readonly events: ReadonlyMap<string, readonly AnyEvent[]>;
  readonly context: ContextHandler | undefined;
  readonly status: ReadonlyMap<string, StatusHandler>;
  readonly menu: MenuHandler | undefined;
  readonly renderers: ReadonlyMap<string, RenderHandler>;
  readonly shortcuts: ReadonlyMap<string, Shortcut>;
  readonly autocomplete: AutocompleteHandler | undefined;
  readonly intercept: InterceptHandler | undefined;
  readonly dispose: DisposeHandler | undefined;
  readonly migration: MigrationAdapter | undefined;
  readonly provider: ProviderHandler | undefined;
  readonly ready: readonly ((session: SessionHandle) => unknown)[];
  /** What the author wants beside what the registrations imply. */
  readonly uses: readonly Negotiable[] | "all";
  /** Whether the commands need not be those of the manifest. */
  readonly runtimeCommands: boolean;
  /** Most calls at one time that the extension wants, whatever the host offers. */
  readonly maxConcurrent: number;
}

