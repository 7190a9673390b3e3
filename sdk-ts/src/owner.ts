/** Who a request of the host belongs to, and what an extension remembers for them. */

import * as feature from "./_generated/feature-wire.js";
import type { JsonValue } from "./_generated/json.js";
import { isObject } from "./_generated/json.js";

/** The owner of a session's resources: session, instance and generation together. */
export type Owner = feature.ResourceOwner;

/** What a request of the host tells about where it comes from. */
export interface RequestContext {
  /** Root of the active workspace. */
  readonly workspace: string;
  /** The context as the host sent it; an empty object where the method carries none. */
  readonly raw: JsonValue;
  /** Undefined where no session owns the request. */
  readonly owner: Owner | undefined;
  /** Scope of tool execution; null where there is none. */
  readonly executionScope: string | null;
  /** What the host says about itself; empty where it says nothing. */
  readonly host: feature.HostState;
}

/** Reads what it can of a context that no model of the wire has judged. */
export function looseContext(raw: JsonValue, workspace: string): RequestContext {
  const members = isObject(raw) ? raw : {};
  const { workspace: named, execution_scope: scope, resource_owner: owner, host } = members;
  return {
    workspace: typeof named === "string" ? named : workspace,
    raw,
    owner: legal(feature.MODELS.ResourceOwner, owner),
    executionScope: typeof scope === "string" ? scope : null,
    host: legal(feature.MODELS.HostState, host) ?? {},
  };
}

function legal<T>(codec: { read(value: JsonValue): T }, value: JsonValue | undefined): T | undefined {
  try {
    return value === undefined ? undefined : codec.read(value);
  } catch {
    return undefined;
  }
}

/** Most owners whose memory is kept; the one that was used longest ago goes first. */
const MAX_OWNERS = 256;

interface Entry {
  readonly owner: Owner | undefined;
  readonly values: Map<() => unknown, unknown>;
  /** The session as the host calls it, which is not the session of the owner. */
  session: string | undefined;
}

/** Values of an extension, apart for every owner. */
export class Memory {
  private readonly entries = new Map<string, Entry>();

  /** Forgets the owners that another instance or generation of the same session replaces. */
  meet(context: RequestContext): void {
    const { owner } = context;
    if (owner === undefined || this.entries.size === 0) {
      return;
    }
    const current = key(owner);
    for (const [one, entry] of this.entries) {
      if (one !== current && entry.owner?.session_id === owner.session_id) {
        this.entries.delete(one);
      }
    }
    const known = this.entries.get(current);
    if (known !== undefined) {
      known.session = context.host.session_id ?? known.session;
    }
  }

  /** Returns the value of this owner, made by the factory when it is asked for first. */
  value<T>(context: RequestContext, factory: () => T): T {
    const current = key(context.owner);
    const entry = this.entries.get(current) ?? { owner: context.owner, values: new Map(), session: context.host.session_id ?? undefined };
    this.entries.delete(current);
    this.entries.set(current, entry);
    const oldest = this.entries.size > MAX_OWNERS ? this.entries.keys().next().value : undefined;
    if (oldest !== undefined) {
      this.entries.delete(oldest);
    }
    if (!entry.values.has(factory)) {
      entry.values.set(factory, factory());
    }
    return entry.values.get(factory) as T;
  }

  /** Forgets the owners of a session that has settled. */
  settle(session: string): void {
    for (const [one, entry] of this.entries) {
      if (entry.owner !== undefined && (entry.session === session || entry.owner.session_id === session)) {
        this.entries.delete(one);
      }
    }
  }
}

function key(owner: Owner | undefined): string {
  return owner === undefined ? "" : JSON.stringify([owner.session_id, owner.extension_instance_id, owner.process_generation]);
}
