/** What an author writes: tools, commands, hooks and whatever else the host may ask for, on one API version. */

import * as canonical from "./_generated/canonical-wire.js";
import * as feature from "./_generated/feature-wire.js";
import { CanonicalDialect } from "./canonical-dialect.js";
import type { Service } from "./connection.js";
import type { Dialect } from "./dialect.js";
import type { DynamicTools } from "./dynamic-tools.js";
import { LocalProtocolError } from "./errors.js";
import { FeatureDialect } from "./feature-dialect.js";
import { encodeLocal } from "./local.js";
import { EventRegistrations, HookRegistrations } from "./registrations.js";
import type {
  AutocompleteHandler,
  Command,
  CommandHandler,
  CommandSpec,
  ContextHandler,
  DisposeHandler,
  InterceptHandler,
  MenuHandler,
  MigrationAdapter,
  ProviderHandler,
  Registry,
  RenderHandler,
  Shortcut,
  ShortcutHandler,
  ShortcutSpec,
  StatusHandler,
} from "./registry.js";
import type { Negotiable, SessionHandle } from "./scope.js";
import { assertKnown } from "./selection.js";
import type { Tool, ToolHandler, ToolSpec } from "./tool.js";
import { defineTool } from "./tool.js";

/** The API versions an extension can speak. The manifest names the same one. */
export type Api = feature.Version | canonical.Version;

/** What new extensions declare. */
const CURRENT: Api = "0.4";

/** The one version on the canonical wire. */
const CANONICAL: Api = canonical.VERSIONS[0];

/** Options of an extension; every one may be left out. */
export interface ExtensionOptions {
  /** API version; 0.4 where it is left out. */
  readonly api?: Api;
  /** Most calls at one time. What the host offers where it is left out, and never more than that. */
  readonly maxConcurrent?: number;
  /**
   * Features, on API 0.3 capabilities, to select where the host offers them, beside those that the registrations
   * imply; "all" for every one the SDK serves. None where it is left out.
   */
  readonly uses?: readonly Negotiable[] | "all";
  /** Whether the commands may differ from those of the manifest, where the host lets them. */
  readonly runtimeCommands?: boolean;
}

/** A session that starts. API 0.3 only. */
export interface SessionStart {
  readonly hook: "session_start";
  readonly sessionId: string;
}

/** A session that ended. API 0.3 only. */
export interface SessionEnd {
  readonly hook: "session_end";
  readonly sessionId: string;
  readonly outcome: canonical.SessionOutcome;
  readonly reason: canonical.SessionEndReason;
  readonly durationMs: number;
}

/** One handler of a kind. */
type Single = "context" | "menu" | "autocomplete" | "intercept" | "dispose" | "migration" | "provider";

/**
 * The definition of an extension, with no process around it: `TestHost` runs it in memory, `Extension.run`
 * on standard input and output. Registering throws LocalProtocolError for what the API version does not have,
 * for what the wire cannot carry, and for a name that is taken.
 */
export class ExtensionDefinition {
  /** The API version it speaks. */
  readonly api: Api;
  /** Handlers of what the host asks before and after it acts. */
  readonly hooks: HookRegistrations;
  /** Handlers of what the host tells. */
  readonly events: EventRegistrations;
  private readonly dialect: Dialect;
  private readonly options: Required<Pick<ExtensionOptions, "maxConcurrent" | "uses" | "runtimeCommands">>;
  private readonly tools = new Map<string, Tool>();
  private readonly commands = new Map<string, Command>();
  private readonly surfaces = new Map<string, StatusHandler>();
  private readonly renderers = new Map<string, RenderHandler>();
  private readonly shortcuts = new Map<string, Shortcut>();
  private readonly readyHandlers: ((session: SessionHandle) => unknown)[] = [];
  private readonly single: { -readonly [K in Single]?: NonNullable<Registry[K]> } = {};
  private opened: DynamicTools | undefined;

  /** Throws LocalProtocolError for an option out of range. */
  constructor(options: ExtensionOptions = {}) {
    const { api = CURRENT, maxConcurrent = feature.MAX_CONCURRENT_REQUESTS, uses = [], runtimeCommands = false } = options;
    const known: readonly string[] = [...feature.VERSIONS, ...canonical.VERSIONS];
    if (!known.includes(api)) {
      throw new LocalProtocolError(`option api must be one of ${known.join(", ")}, got ${JSON.stringify(api)}`);
    }
    if (!Number.isSafeInteger(maxConcurrent) || maxConcurrent < 1) {
      throw new LocalProtocolError(`option maxConcurrent must be a whole number from 1, got ${String(maxConcurrent)} (${typeof maxConcurrent})`);
    }
    assertKnown(uses, api, api === CANONICAL);
    this.api = api;
    this.options = { maxConcurrent, uses, runtimeCommands };
    this.dialect = api === CANONICAL ? new CanonicalDialect() : new FeatureDialect(api as feature.Version);
    this.hooks = new HookRegistrations(this.dialect);
    this.events = new EventRegistrations(this.dialect);
  }

  /** Adds a tool. The manifest lists the same name under `contributes.tools`. */
  tool<A = Readonly<Record<string, never>>, O = undefined>(name: string, spec: ToolSpec<A, O>, handler: ToolHandler<A, NoInfer<O>>): this {
    const tool = defineTool(name, spec, handler);
    encodeLocal(feature.MODELS.ToolName, name);
    this.dialect.checkTool(tool);
    add(this.tools, "tool", name, tool, feature.MAX_TOOLS);
    return this;
  }

  /** Adds a command, which a person calls by its name. The manifest lists it under `contributes.commands`. */
  command(name: string, spec: CommandSpec, handler: CommandHandler): this {
    this.assertFeatureWire("commands");
    const { description, usage } = spec;
    const command = { name, description, ...(usage === undefined ? {} : { usage }) };
    encodeLocal(feature.MODELS.CommandDefinition, command);
    add(this.commands, "command", name, { ...command, run: handler }, feature.MAX_COMMANDS);
    return this;
  }

  /** Contributes context to every prompt. The manifest sets `contributes.context`. */
  context(handler: ContextHandler): this {
    return this.once("context", feature.METHOD_CONTEXT_COLLECT, handler);
  }

  /** Says what a surface shows. The manifest lists the surface under `contributes.ui`. */
  status(surface: feature.UiSurface, handler: StatusHandler): this {
    this.assertMethod(feature.METHOD_STATUS_COLLECT);
    encodeLocal(feature.MODELS.UiSurface, surface);
    add(this.surfaces, "status", surface, handler, Number.POSITIVE_INFINITY);
    return this;
  }

  /** Says what the menu of the extension holds. The manifest sets `contributes.menu`. */
  menu(handler: MenuHandler): this {
    return this.once("menu", feature.METHOD_MENU_COLLECT, handler);
  }

  /** Shows the calls of a tool. The manifest lists the tool under `contributes.tool_renderers`. */
  renderer(tool: string, handler: RenderHandler): this {
    this.assertMethod(feature.METHOD_TOOL_RENDER);
    encodeLocal(feature.MODELS.ToolName, tool);
    add(this.renderers, "renderer", tool, handler, feature.MAX_TOOLS);
    return this;
  }

  /** Adds a shortcut. It is offered to the host while the session starts; one that is refused is logged and never runs. */
  shortcut(id: string, spec: ShortcutSpec, handler: ShortcutHandler): this {
    this.assertMethod(feature.METHOD_SHORTCUT_REGISTER);
    const { key, description } = spec;
    encodeLocal(feature.MODELS.ShortcutRegisterParams, { parent_request_id: 0, id, key, description });
    add(this.shortcuts, "shortcut", id, { id, key, description, run: handler }, feature.MAX_SHORTCUTS);
    return this;
  }

  /**
   * Completes what a person types. The host asks once a revision is registered, with
   * `session.services.autocomplete.register`, for instance in {@link onReady}.
   */
  autocomplete(handler: AutocompleteHandler): this {
    return this.once("autocomplete", feature.METHOD_UI_AUTOCOMPLETE_COMPLETE, handler);
  }

  /** Sees what a person types in the terminal, and may change it. */
  interceptInput(handler: InterceptHandler): this {
    return this.once("intercept", feature.METHOD_UI_TERMINAL_INPUT_INTERCEPT, handler);
  }

  /** Lets go of native resources that nobody needs any more. Where it is left out, every one counts as let go. */
  onDispose(handler: DisposeHandler): this {
    return this.once("dispose", feature.METHOD_RESOURCE_DISPOSE, handler);
  }

  /** Reads the set-up of another program. API 0.3 only. */
  migration(adapter: MigrationAdapter): this {
    return this.once("migration", canonical.METHOD_MIGRATION_DETECT, adapter);
  }

  /** Answers for the models of a provider. API 0.3 only; `services.providers.register` declares them. */
  provider(handler: ProviderHandler): this {
    return this.once("provider", canonical.METHOD_PROVIDER_STREAM, handler);
  }

  /** Runs when the session is open; the handle may be kept. What it throws is logged. */
  onReady(handler: (session: SessionHandle) => unknown): this {
    this.readyHandlers.push(handler);
    return this;
  }

  /**
   * Calls the handler when a session starts. API 0.3 only, where the manifest declares the session hooks and the
   * host offers them. What it throws is logged; the session goes on.
   */
  onSessionStart(handler: (event: SessionStart) => unknown): this {
    this.hooks.observe("session_start", async (payload) => {
      const { binding } = payload as unknown as canonical.SessionStart;
      await handler({ hook: "session_start", sessionId: binding.session_id });
    });
    return this;
  }

  /** Calls the handler when a session has ended, under the same rules as {@link onSessionStart}. */
  onSessionEnd(handler: (event: SessionEnd) => unknown): this {
    this.hooks.observe("session_end", async (payload) => {
      const { binding, outcome, reason, duration_ms: durationMs } = payload as unknown as canonical.SessionEnd;
      await handler({ hook: "session_end", sessionId: binding.session_id, outcome, reason, durationMs });
    });
    return this;
  }

  /** Tools that come and go. Throws LocalProtocolError before a session is open; list `dynamic_tools` in uses. */
  get dynamicTools(): DynamicTools {
    if (this.opened === undefined) {
      throw new LocalProtocolError("no session is open: change tools in a handler or in onReady");
    }
    return this.opened;
  }

  private once<K extends Single>(kind: K, method: string, handler: NonNullable<Registry[K]>): this {
    this.assertMethod(method);
    if (this.single[kind] !== undefined) {
      throw new LocalProtocolError(`${kind} is registered twice: keep one handler`);
    }
    this.single[kind] = handler as never;
    return this;
  }

  private assertMethod(method: string): void {
    const rows = [...feature.METHODS, ...canonical.METHODS].filter((row) => row.name === method && row.status !== "deferred");
    const versions = rows.flatMap((row) => row.versions);
    if (!versions.includes(this.api)) {
      throw new LocalProtocolError(`API ${this.api} has no ${JSON.stringify(method)}: use API ${versions.join(" or ")}`);
    }
  }

  private assertFeatureWire(what: string): void {
    if (this.api === CANONICAL) {
      throw new LocalProtocolError(`API ${this.api} has no ${what}: use API ${CURRENT}`);
    }
  }

  /** What a connection serves. @internal */
  service(): Service {
    const registry: Registry = {
      tools: new Map(this.tools),
      commands: new Map(this.commands),
      hooks: this.hooks.handlers(),
      events: this.events.handlers(),
      context: this.single.context,
      status: new Map(this.surfaces),
      menu: this.single.menu,
      renderers: new Map(this.renderers),
      shortcuts: new Map(this.shortcuts),
      autocomplete: this.single.autocomplete,
      intercept: this.single.intercept,
      dispose: this.single.dispose,
      migration: this.single.migration,
      provider: this.single.provider,
      ready: [...this.readyHandlers],
      ...this.options,
    };
    return {
      dialect: this.dialect,
      registry,
      opened: (tools) => {
        this.opened = tools;
      },
    };
  }
}

function add<T>(map: Map<string, T>, what: string, name: string, value: T, max: number): void {
  if (map.has(name)) {
    throw new LocalProtocolError(`${what} ${JSON.stringify(name)} is registered twice: rename one`);
  }
  if (map.size >= max) {
    throw new LocalProtocolError(`${what} ${JSON.stringify(name)} is one too many: an extension has at most ${String(max)}`);
  }
  map.set(name, value);
}
