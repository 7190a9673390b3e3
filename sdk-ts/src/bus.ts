/**
 * The event bus as a session sees it: the binding in force, and the topics that the author wants to hear of. It
 * changes while frames are read, so that an answer and a notice take effect in the order in which the host sent them.
 */

import type { BusLifecycleParams, BusTopicParams } from "./_generated/canonical-wire.js";
import { CAPABILITY_EVENT_BUS, METHOD_BUS_LIFECYCLE, METHOD_BUS_SUBSCRIBE, METHOD_BUS_UNSUBSCRIBE, MODELS } from "./_generated/canonical-wire.js";
import type { JsonValue } from "./_generated/json.js";
import type { Method } from "./_generated/wire.js";
import { Violation } from "./_generated/wire.js";
import { NoParent } from "./errors.js";

/** Takes the result of a subscription; undefined for one that has none. */
export type Settled = (result: JsonValue | undefined) => void;

/** Below every revision. */
const UNKNOWN = -1;

/** Follows the bus of one session. */
export class Bus {
  private binding: string | undefined;
  private revision = UNKNOWN;
  private broken = false;
  /** The newest revision of each wanted topic under the binding. */
  private readonly wanted = new Map<string, number>();

  /** Whether a binding is the one in force. */
  isCurrent(binding: string): boolean {
    return binding === this.binding;
  }

  /** Returns the members of a message with the binding in force. Throws NoParent where there is none. */
  bind(method: Method, given: object): object {
    const { name } = method;
    if (method.gate !== CAPABILITY_EVENT_BUS) {
      return given;
    }
    if (this.broken) {
      throw new NoParent(`${JSON.stringify(name)} has no binding any more, because a notice of the bus could not be understood: the bus comes back with another process`, name);
    }
    if (this.binding === undefined) {
      throw new NoParent(`${JSON.stringify(name)} has no binding yet: call it from a handler of ${JSON.stringify(METHOD_BUS_LIFECYCLE)}`, name);
    }
    const { binding_id: binding = this.binding } = given as Partial<BusTopicParams>;
    if (typeof binding === "string" && binding !== this.binding) {
      throw new NoParent(`${JSON.stringify(name)} names a binding that is not in force: leave it out`, name);
    }
    return { ...given, binding_id: binding };
  }

  /** Takes a notice that breaks its model: it ends the bus for this process (EXT03-BUS-009). */
  misunderstood(): void {
    this.broken = true;
  }

  /** Takes a notice. Returns the topics to subscribe to again (EXT03-BUS-008). */
  heard(notice: BusLifecycleParams): readonly string[] {
    if (this.broken) {
      return [];
    }
    if (notice.kind !== "binding") {
      const news = this.grow(notice.binding_id, notice.topic, notice.topic_revision);
      return news && notice.kind === "topic_available" ? [notice.topic] : [];
    }
    if (notice.binding_revision <= this.revision) {
      return [];
    }
    this.binding = notice.binding_id;
    this.revision = notice.binding_revision;
    for (const topic of this.wanted.keys()) {
      this.wanted.set(topic, UNKNOWN);
    }
    return [...this.wanted.keys()].sort();
  }

  /** Takes a request that has gone out. A topic is wanted from then on: a notice may overtake the answer. */
  asked(method: Method, given: object): Settled | undefined {
    const { topic } = given as BusTopicParams;
    if (method.name === METHOD_BUS_UNSUBSCRIBE) {
      this.wanted.delete(topic);
    }
    if (method.name !== METHOD_BUS_SUBSCRIBE) {
      return undefined;
    }
    const { binding } = this;
    const fresh = !this.wanted.has(topic);
    if (fresh) {
      this.wanted.set(topic, UNKNOWN);
    }
    return (result) => {
      if (!this.acknowledge(topic, result) && fresh && binding === this.binding) {
        this.wanted.delete(topic);
      }
    };
  }

  /** Takes the answer to a subscription; that of a replaced binding says nothing. Reports whether it is one. */
  private acknowledge(topic: string, result: JsonValue | undefined): boolean {
    if (result === undefined) {
      return false;
    }
    try {
      const answer = MODELS.BusSubscribeResult.read(result);
      this.grow(answer.binding_id, topic, answer.topic_revision);
      return true;
    } catch (fault) {
      if (fault instanceof Violation) {
        return false;
      }
      throw fault;
    }
  }

  /** Takes over a revision of a wanted topic. Reports whether it is news. */
  private grow(binding: string, topic: string, revision: number): boolean {
    const known = this.wanted.get(topic);
    if (known === undefined || binding !== this.binding || revision <= known) {
      return false;
    }
    this.wanted.set(topic, revision);
    return true;
  }
}
