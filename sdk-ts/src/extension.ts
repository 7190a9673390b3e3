/** What an author writes: an extension is a set of tools on one API version. */

import * as canonical from "./_generated/canonical-wire.js";
import * as feature from "./_generated/feature-wire.js";
import { CanonicalDialect } from "./canonical-dialect.js";
import type { Service } from "./connection.js";
import type { Dialect, SessionHook } from "./dialect.js";
import { LocalProtocolError } from "./errors.js";
import { FeatureDialect } from "./feature-dialect.js";
import { encodeLocal } from "./local.js";
import { s } from "./schema.js";
import type { Tool, ToolHandler, ToolSpec } from "./tool.js";

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
}

/** A session that starts. API 0.3 only. */
export type SessionStart = Extract<SessionHook, { hook: "session_start" }>;
/** A session that ended. API 0.3 only. */
export type SessionEnd = Extract<SessionHook, { hook: "session_end" }>;

/**
 * The definition of an extension, with no process around it: `TestHost` runs it in memory, `Extension.run`
 * on standard input and output.
 */
export class ExtensionDefinition {
  /** The API version it speaks. */
  readonly api: Api;
  private readonly dialect: Dialect;
  private readonly tools = new Map<string, Tool>();
  private readonly maxConcurrent: number;
  private startHandler: (event: SessionStart) => unknown = () => undefined;
  private endHandler: (event: SessionEnd) => unknown = () => undefined;

  /** Throws LocalProtocolError for an option out of range. */
  constructor(options: ExtensionOptions = {}) {
    const { api = CURRENT, maxConcurrent = feature.MAX_CONCURRENT_REQUESTS } = options;
    const known: readonly string[] = [...feature.VERSIONS, ...canonical.VERSIONS];
    if (!known.includes(api)) {
      throw new LocalProtocolError(`option api must be one of ${known.join(", ")}, got ${JSON.stringify(api)}`);
    }
    if (!Number.isSafeInteger(maxConcurrent) || maxConcurrent < 1) {
      throw new LocalProtocolError(`option maxConcurrent must be a whole number from 1, got ${String(maxConcurrent)} (${typeof maxConcurrent})`);
    }
    this.api = api;
    this.maxConcurrent = maxConcurrent;
    this.dialect = api === CANONICAL ? new CanonicalDialect() : new FeatureDialect(api as feature.Version);
  }

  /**
   * Adds a tool. The manifest lists the same name under `contributes.tools`. Throws LocalProtocolError for a
   * name, description or schema the wire cannot carry, and for a name that is taken.
   */
  tool<A = Readonly<Record<string, never>>, O = undefined>(name: string, spec: ToolSpec<A, O>, handler: ToolHandler<A, NoInfer<O>>): this {
    const tool: Tool = {
      name,
      description: spec.description,
      args: spec.args ?? s.object({}),
      output: spec.output,
      run: (call, args) => handler(call, args as A),
    };
    encodeLocal(feature.MODELS.ToolName, name);
    if (tool.args.json["type"] !== "object") {
      throw new LocalProtocolError(`tool ${JSON.stringify(name)}: args must describe an object, make it with s.object`);
    }
    this.dialect.checkTool(tool);
    if (this.tools.has(name)) {
      throw new LocalProtocolError(`tool ${JSON.stringify(name)} is registered twice: rename one`);
    }
    if (this.tools.size >= feature.MAX_TOOLS) {
      throw new LocalProtocolError(`tool ${JSON.stringify(name)} is one too many: an extension has at most ${String(feature.MAX_TOOLS)}`);
    }
    this.tools.set(name, tool);
    return this;
  }

  /**
   * Calls the handler when a session starts. API 0.3 only, where the manifest declares the session hooks and the
   * host offers them. What the handler throws is logged. Throws LocalProtocolError on another API.
   */
  onSessionStart(handler: (event: SessionStart) => unknown): this {
    this.assertSessionHooks();
    this.startHandler = handler;
    return this;
  }

  /** Calls the handler when a session has ended, under the same rules as {@link onSessionStart}. */
  onSessionEnd(handler: (event: SessionEnd) => unknown): this {
    this.assertSessionHooks();
    this.endHandler = handler;
    return this;
  }

  private assertSessionHooks(): void {
    if (this.dialect.hook === undefined) {
      throw new LocalProtocolError(`API ${this.api} delivers no session hooks: use API ${CANONICAL}`);
    }
  }

  /** What a connection serves. @internal */
  service(): Service {
    return {
      dialect: this.dialect,
      tools: new Map(this.tools),
      maxConcurrent: this.maxConcurrent,
      onHook: (event) => (event.hook === "session_start" ? this.startHandler(event) : this.endHandler(event)),
    };
  }
}
