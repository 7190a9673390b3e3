/** Registrations of hooks and events, as typed methods on top of the generated ones. */

import type { SessionEnd, SessionHookResult, SessionStart } from "./_generated/canonical-wire.js";
import type { EventHandler } from "./_generated/events.js";
import { Events } from "./_generated/events.js";
import type { HookHandler } from "./_generated/hooks.js";
import { Hooks } from "./_generated/hooks.js";
import type { JsonValue } from "./_generated/json.js";
import { HOOK_PAIRS } from "./_generated/manifest-doc.js";
import type { Dialect } from "./dialect.js";
import { LocalProtocolError } from "./errors.js";
import type { AnyEvent, AnyHook } from "./registry.js";
import type { HookCall, SessionHandle } from "./scope.js";
import { verbOf } from "./selection.js";

const [[SESSION_START, SESSION_END]] = HOOK_PAIRS;

/** The hooks of one extension. Throws LocalProtocolError for one that the API version does not have, or a second handler. */
export class HookRegistrations extends Hooks<HookCall> {
  private readonly registered = new Map<string, AnyHook>();

  /** @internal */
  constructor(private readonly dialect: Dialect) {
    super();
  }

  protected add(hook: string, handler: HookHandler<HookCall, never, unknown>): void {
    const { api, hookNames } = this.dialect;
    if (!hookNames.includes(hook)) {
      throw new LocalProtocolError(`API ${api} delivers no hook ${JSON.stringify(hook)}: use another API version, or leave it out`);
    }
    if (this.registered.has(hook)) {
      throw new LocalProtocolError(`hook ${JSON.stringify(hook)} is registered twice: keep one handler`);
    }
    this.registered.set(hook, handler);
  }

  /** A session starts. Its disposition is recorded and stops nothing. API 0.3. */
  sessionStart(handler: HookHandler<HookCall, SessionStart, SessionHookResult | undefined>): this {
    this.add(SESSION_START, handler);
    return this;
  }

  /** A session has ended. Its disposition is recorded and stops nothing. API 0.3. */
  sessionEnd(handler: HookHandler<HookCall, SessionEnd, SessionHookResult | undefined>): this {
    this.add(SESSION_END, handler);
    return this;
  }

  /** Registers a handler that only watches. @internal */
  observe(hook: string, handler: (payload: JsonValue) => Promise<void>): void {
    this.add(hook, async (_call, payload) => {
      await handler(payload);
      return undefined;
    });
  }

  /** @internal */
  handlers(): ReadonlyMap<string, AnyHook> {
    return new Map(this.registered);
  }
}

/** The events of one extension. Throws LocalProtocolError for one that the API version does not have. */
export class EventRegistrations extends Events<SessionHandle> {
  private readonly registered = new Map<string, AnyEvent[]>();

  /** @internal */
  constructor(private readonly dialect: Dialect) {
    super();
  }

  protected add(event: string, handler: EventHandler<never, SessionHandle>): void {
    const { api, events } = this.dialect;
    if (![...events.values()].some((row) => row.service !== undefined && verbOf(row.service) === event)) {
      throw new LocalProtocolError(`API ${api} tells of no ${JSON.stringify(event)}: use another API version, or leave it out`);
    }
    this.registered.set(event, [...(this.registered.get(event) ?? []), handler]);
  }

  /** @internal */
  handlers(): ReadonlyMap<string, readonly AnyEvent[]> {
    return new Map(this.registered);
  }
}
