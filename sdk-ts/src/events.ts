/** The events of a host: judged as they arrive, handled one after the other, never while frames are read. */

import { METHOD_BUS_EVENT, METHOD_BUS_LIFECYCLE, METHOD_PROVIDER_CANCEL } from "./_generated/canonical-wire.js";
import type { BusEventParams, BusLifecycleParams, ProviderStreamCancelParams } from "./_generated/canonical-wire.js";
import type { SessionSettledParams, ShortcutTriggerParams } from "./_generated/feature-wire.js";
import { METHOD_SESSION_SETTLED, METHOD_SHORTCUT_TRIGGER } from "./_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "./_generated/json.js";
import type { Method } from "./_generated/wire.js";
import { Codec, Violation } from "./_generated/wire.js";
import { shapeOf } from "./caller.js";
import { CancelledError } from "./errors.js";
import { gateOf } from "./gates.js";
import type { Link } from "./link.js";
import type { Streams } from "./provider-stream.js";
import type { AnyEvent, Registry } from "./registry.js";
import type { SessionHandle } from "./scope.js";
import { verbOf } from "./selection.js";

/** Most events that wait for their handlers; later ones are dropped until there is room. */
const MAX_WAITING = 1024;

/** The events of one session. */
export class EventQueue {
  private readonly waiting: { readonly label: string; readonly run: () => unknown }[] = [];
  private running = false;
  private dropped = 0;

  constructor(
    private readonly link: Link,
    private readonly registry: Registry,
    private readonly streams: Streams,
    private readonly handle: SessionHandle,
    /** The shortcuts the host admitted. */
    private readonly shortcuts: ReadonlySet<string>,
  ) {}

  /** Takes a notification of the host. What is malformed, unknown or not negotiated is logged and dropped. */
  take(method: string, params: JsonValue | undefined): void {
    const row = this.link.dialect.events.get(method);
    if (row === undefined) {
      this.link.log(`ignored the notification ${JSON.stringify(method)}, which API ${this.link.dialect.api} does not have`);
      return;
    }
    if (!this.negotiated(row)) {
      this.link.log(`ignored the notification ${JSON.stringify(method)}, which was not negotiated`);
      return;
    }
    const event = this.read(row, params);
    if (event !== undefined && this.notice(method, event)) {
      const label = `event ${JSON.stringify(method)}`;
      const shortcut = method === METHOD_SHORTCUT_TRIGGER ? this.shortcut(event as unknown as ShortcutTriggerParams) : [];
      const handlers: readonly AnyEvent[] = row.service === undefined ? [] : (this.registry.events.get(verbOf(row.service)) ?? []);
      for (const run of [...shortcut, ...handlers.map((handler) => () => handler(event as never, this.handle))]) {
        this.add(label, run);
      }
    }
  }

  /** Runs something in turn with the events. */
  add(label: string, run: () => unknown): void {
    if (this.waiting.length >= MAX_WAITING) {
      this.dropped++;
      if (this.dropped === 1) {
        this.link.log(`events are dropped: ${String(MAX_WAITING)} wait for their handlers`);
      }
      return;
    }
    this.dropped = 0;
    this.waiting.push({ label, run });
    if (!this.running) {
      this.running = true;
      void this.drain();
    }
  }

  /** Drops what waits. */
  stop(): void {
    this.waiting.length = 0;
  }

  private async drain(): Promise<void> {
    // Nothing runs on the call stack that reads frames.
    await Promise.resolve();
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      try {
        await next.run();
      } catch (fault) {
        this.link.log(`${next.label}: ${fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)}`);
      }
    }
    this.running = false;
  }

  private negotiated(row: Method): boolean {
    const { session } = this.link;
    const gate = gateOf(row);
    return session.methods === undefined ? gate.kind !== "feature" || session.features.has(gate.name) : session.methods.has(row.name);
  }

  private read(row: Method, params: JsonValue | undefined): JsonObject | undefined {
    const { dialect } = this.link;
    try {
      return new Codec<JsonObject>(dialect.tables, shapeOf(row, dialect.api)?.params ?? "").read(params ?? {});
    } catch (fault) {
      if (!(fault instanceof Violation)) {
        throw fault;
      }
      if (row.name === METHOD_BUS_LIFECYCLE) {
        this.link.bus.misunderstood();
      }
      this.link.log(`ignored a malformed ${JSON.stringify(row.name)}: ${fault.message}`);
      return undefined;
    }
  }

  /** What the SDK itself learns from an event. Reports whether handlers learn of it. */
  private notice(method: string, event: unknown): boolean {
    switch (method) {
      case METHOD_SESSION_SETTLED:
        this.link.memory.settle((event as SessionSettledParams).session_id);
        return true;
      case METHOD_PROVIDER_CANCEL: {
        const { stream_id: id, reason } = event as ProviderStreamCancelParams;
        this.streams.cancel(id, reason);
        return true;
      }
      case METHOD_BUS_LIFECYCLE: {
        for (const topic of this.link.bus.heard(event as BusLifecycleParams)) {
          void this.subscribeAgain(topic);
        }
        return true;
      }
      case METHOD_BUS_EVENT: {
        const current = this.link.bus.isCurrent((event as BusEventParams).binding_id);
        if (!current) {
          this.link.log("ignored a bus event of a binding that is not the current one");
        }
        return current;
      }
      default:
        return true;
    }
  }

  /** Renews one subscription. Never rejects. */
  private async subscribeAgain(topic: string): Promise<void> {
    try {
      await this.handle.services.bus.subscribe({ topic });
    } catch (fault) {
      if (!(fault instanceof CancelledError)) {
        this.link.log(`the subscription to ${JSON.stringify(topic)} is not renewed: ${fault instanceof Error ? fault.message : String(fault)}`);
      }
    }
  }

  private shortcut({ id }: ShortcutTriggerParams): readonly (() => unknown)[] {
    const found = this.registry.shortcuts.get(id);
    if (found === undefined || !this.shortcuts.has(id)) {
      this.link.log(`ignored a trigger of the shortcut ${JSON.stringify(id)}, which was not admitted`);
      return [];
    }
    return [() => found.run(this.handle)];
  }
}
