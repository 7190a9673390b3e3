/** One turn: its events as they come, and what it came to. */

import type { FileRef, InputItem, ReasoningEffort, TokenUsage, ToolEndData, TurnFailure, TurnInterruptResult, TurnOrigin, TurnSteerResult } from "./_generated/oup-wire.js";
import type { OupEvent, Terminal } from "./events.js";
import type { Flow, Mark } from "./flow.js";
import { Stream } from "./flow.js";

/** What a turn may be given beside its input. */
export interface TurnOptions {
  /** Its id, a UUID that the session has never had; a new one unless given. */
  readonly id?: string;
  readonly media?: readonly FileRef[];
  readonly reasoningEffort?: ReasoningEffort;
  readonly origin?: TurnOrigin;
  /** Leaving the events of the turn stops the turn; otherwise it goes on. */
  readonly interruptOnLeave?: boolean;
}

/** What a user says: a text, or items. */
export type Input = string | readonly InputItem[];

/** One call of a tool, with how it ended once it has. */
export interface ToolCall extends Partial<ToolEndData> {
  readonly tool_call_id: string;
  readonly name: string;
  readonly arguments_preview?: string | null;
}

/** What a turn came to. */
export interface TurnResult {
  readonly turn_id: string;
  /** The outcome: `completed`, `errored`, `interrupted`, or a newer word. */
  readonly status: Terminal["outcome"];
  /** What the assistant said, its segments joined by a blank line. */
  readonly text: string;
  /** In the order in which they were called. */
  readonly tools: readonly ToolCall[];
  /** Tokens; absent means unknown. */
  readonly usage?: TokenUsage;
  /** Why it did not complete. */
  readonly error?: TurnFailure;
}

/** What a turn does through its session. */
export interface TurnPort {
  steer(turn: string, input: Input): Promise<TurnSteerResult>;
  interrupt(turn: string): Promise<TurnInterruptResult>;
}

/** The words and calls of a turn, gathered from its events. */
class Gathered {
  readonly segments = new Map<string, string>();
  readonly tools = new Map<string, ToolCall>();

  add(event: OupEvent): void {
    switch (event.type) {
      case "delta":
        this.segments.set(event.assistant_segment_id, (this.segments.get(event.assistant_segment_id) ?? "") + event.text);
        break;
      case "message":
        this.segments.set(event.assistant_segment_id, event.text);
        break;
      case "tool_start": {
        const { tool_call_id, name, arguments_preview } = event;
        this.tools.set(tool_call_id, { tool_call_id, name, ...(arguments_preview === undefined ? {} : { arguments_preview }) });
        break;
      }
      case "tool_end": {
        const { tool_call_id, status, error = null, reason = null, output_preview = null, duration_ms = null } = event;
        this.tools.set(tool_call_id, { ...(this.tools.get(tool_call_id) ?? { name: "" }), tool_call_id, status, error, reason, output_preview, duration_ms });
        break;
      }
      default:
    }
  }

  get text(): string {
    return [...this.segments.values()].filter((text) => text !== "").join("\n\n");
  }
}

/**
 * A turn that was accepted. Iterate it for its events, the last of which is `terminal`, or await `result()`, or do
 * both, in this order. Leaving the loop early lets the turn go on, unless `interruptOnLeave` was set. Events that
 * nobody takes stop the reading of everything: call `detach()` for a turn that is not looked at.
 */
export class Turn implements AsyncIterable<OupEvent> {
  private readonly stream: Stream<OupEvent>;
  private readonly gathered = new Gathered();
  private readonly ended: Promise<Terminal>;
  private settle: { readonly resolve: (terminal: Terminal) => void; readonly reject: (fault: Error) => void } | undefined;
  private iterated = false;
  private heard = false;

  constructor(
    readonly id: string,
    private readonly port: TurnPort,
    flow: Flow,
    options: Pick<TurnOptions, "interruptOnLeave"> = {},
  ) {
    this.stream = new Stream<OupEvent>(flow, () => {
      if (options.interruptOnLeave === true && this.live && this.iterated) {
        // Whoever left has no ear for what becomes of it; the end of the turn tells.
        this.interrupt().catch(() => undefined);
      }
    });
    this.ended = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    this.ended.catch(() => undefined);
  }

  /** Whether its end has not come. */
  get live(): boolean {
    return this.settle !== undefined;
  }

  /** Whether anything was told of it. */
  get told(): boolean {
    return this.heard;
  }

  /** The events from its start; for one reader. */
  [Symbol.asyncIterator](): AsyncIterator<OupEvent> {
    if (this.iterated || this.stream.abandoned) {
      throw new Error("the events of a turn are given once: they were read, or let go by result() or detach()");
    }
    this.iterated = true;
    return this.stream;
  }

  /** Waits for the end. Where nobody reads the events, they are let go. Rejects with what ended the session before the turn. */
  async result(): Promise<TurnResult> {
    if (!this.iterated) {
      this.detach();
    }
    const { outcome, error, token_usage: usage } = await this.ended;
    const { text, tools } = this.gathered;
    return {
      turn_id: this.id, status: outcome, text, tools: [...tools.values()],
      ...(usage === undefined || usage === null ? {} : { usage }), ...(error === undefined || error === null ? {} : { error }),
    };
  }

  /** Lets the events go: nobody will read them. */
  detach(): void {
    void this.stream.return();
  }

  /** Adds to the turn while it runs. What it could not take comes back as a `steer_dropped` event. */
  steer(input: Input): Promise<TurnSteerResult> {
    return this.port.steer(this.id, input);
  }

  /** Stops the turn. Its end comes as an event, before or behind this answer. */
  interrupt(): Promise<TurnInterruptResult> {
    return this.port.interrupt(this.id);
  }

  /** Takes an event; for the session alone. */
  take(event: OupEvent, mark: Mark): void {
    this.heard = true;
    this.gathered.add(event);
    this.stream.push(event, mark);
    if (event.type === "terminal") {
      this.settle?.resolve(event);
      this.settle = undefined;
      this.stream.finish();
    }
  }

  /** Ends without a terminal; for the session alone. */
  fail(fault: Error): void {
    this.settle?.reject(fault);
    this.settle = undefined;
    this.stream.finish(fault);
  }
}

/** Input as items. */
export function items(input: Input): readonly InputItem[] {
  return typeof input === "string" ? [{ kind: "text", text: input }] : input;
}
