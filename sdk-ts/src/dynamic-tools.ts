/**
 * Tools that come and go. The catalog has epochs: 0 is that of initialize, and every change that the host accepts
 * makes the next one. A call names the epoch the model saw, so a few of them stay callable; while a change waits
 * for its answer, the epoch it makes is callable too, because the host publishes before it answers.
 */

import { FEATURE_DYNAMIC_TOOLS, MAX_RETAINED_CATALOGS, MAX_TOOLS, METHOD_TOOLS_REGISTER, METHOD_TOOLS_UNREGISTER } from "./_generated/feature-wire.js";
import type { ToolsRegisterParams, ToolsRegisterResult, ToolsUnregisterParams } from "./_generated/feature-wire.js";
import { LocalProtocolError, NotNegotiated, RemoteProtocolError } from "./errors.js";
import type { Tool } from "./tool.js";

type Catalog = ReadonlyMap<string, Tool>;

/** What the tools need of their session. */
export interface CatalogWire {
  readonly api: string;
  readonly features: ReadonlySet<string>;
  /** Refuses a tool that the wire cannot carry. */
  check(tool: Tool): void;
  definition(tool: Tool): ToolsRegisterParams["tools"][number];
  register(params: ToolsRegisterParams): Promise<ToolsRegisterResult>;
  unregister(params: ToolsUnregisterParams): Promise<ToolsRegisterResult>;
}

/** A catalog that the host accepted. */
export interface Change {
  /** The epoch. */
  readonly revision: number;
  /** Names of every tool the host accepted, ascending. */
  readonly tools: readonly string[];
}

/** The tools of one session. */
export class DynamicTools {
  private readonly epochs = new Map<number, Catalog>();
  private staged: { readonly revision: number; readonly catalog: Catalog } | undefined;
  private current = 0;
  private last: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(
    tools: Catalog,
    private readonly wire: () => CatalogWire,
  ) {
    this.epochs.set(0, tools);
  }

  /** The epoch in force. */
  get revision(): number {
    return this.current;
  }

  /** Names of the tools in force, ascending. */
  get names(): readonly string[] {
    return [...this.catalog().keys()].sort();
  }

  /**
   * Adds tools, or replaces those of the same name; make them with `defineTool`. All of them or, where the host
   * refuses, none. Changes happen one after the other. Rejects with NotNegotiated, HostError, and LocalProtocolError
   * for tools the wire cannot carry.
   */
  register(...tools: readonly Tool[]): Promise<Change> {
    return this.change(METHOD_TOOLS_REGISTER, tools.length, (wire, next) => {
      for (const tool of tools) {
        wire.check(tool);
        next.set(tool.name, tool);
      }
      if (next.size > MAX_TOOLS) {
        throw new LocalProtocolError(`${String(next.size)} tools are more than ${String(MAX_TOOLS)}: unregister some first`);
      }
      return () => wire.register({ tools: tools.map((tool) => wire.definition(tool)) });
    });
  }

  /** Takes tools away; names that are not there do no harm. The rules are those of {@link register}. */
  unregister(...names: readonly string[]): Promise<Change> {
    return this.change(METHOD_TOOLS_UNREGISTER, names.length, (wire, next) => {
      for (const name of names) {
        next.delete(name);
      }
      return () => wire.unregister({ names });
    });
  }

  /** Returns a tool of an epoch, or of the one in force; null where the epoch is unknown or retired. @internal */
  find(name: string, revision: number | undefined): Tool | undefined | null {
    if (revision === undefined) {
      return this.catalog().get(name);
    }
    const catalog = revision === this.staged?.revision ? this.staged.catalog : this.epochs.get(revision);
    return catalog === undefined ? null : catalog.get(name);
  }

  private catalog(): Catalog {
    return this.epochs.get(this.current) ?? new Map();
  }

  private change(method: string, count: number, prepare: (wire: CatalogWire, next: Map<string, Tool>) => () => Promise<ToolsRegisterResult>): Promise<Change> {
    const run = async (): Promise<Change> => {
      const wire = this.wire();
      if (!wire.features.has(FEATURE_DYNAMIC_TOOLS)) {
        throw new NotNegotiated(`API ${wire.api}: the feature ${JSON.stringify(FEATURE_DYNAMIC_TOOLS)} was not negotiated: list it in the option uses`, method);
      }
      if (count === 0) {
        throw new LocalProtocolError("a change of the tools without a tool: name at least one");
      }
      const next = new Map(this.catalog());
      const send = prepare(wire, next);
      this.staged = { revision: this.current + 1, catalog: next };
      try {
        return this.commit(this.staged.revision, next, await send());
      } finally {
        this.staged = undefined;
      }
    };
    const result = this.last.then(run, run);
    this.last = result;
    return result;
  }

  private commit(revision: number, next: Catalog, accepted: ToolsRegisterResult): Change {
    if (accepted.revision !== revision) {
      throw new RemoteProtocolError(`the host names the catalog epoch ${String(accepted.revision)}, which is not the next one, ${String(revision)}`);
    }
    const foreign = accepted.tools.find((name) => !next.has(name));
    if (foreign !== undefined) {
      throw new RemoteProtocolError(`the host accepted the tool ${JSON.stringify(foreign)}, which was not registered`);
    }
    this.epochs.set(revision, new Map([...next].filter(([name]) => accepted.tools.includes(name))));
    this.current = revision;
    for (const old of this.epochs.keys()) {
      if (this.epochs.size > MAX_RETAINED_CATALOGS) {
        this.epochs.delete(old);
      }
    }
    return { revision, tools: [...accepted.tools].sort() };
  }
}
