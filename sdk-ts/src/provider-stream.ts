/** Streams of a model provider: events in order, each numbered, and none behind the last. API 0.3. */

import type { ProviderStreamEventKind, ProviderStreamRequest } from "./_generated/canonical-wire.js";
import type { JsonValue } from "./_generated/json.js";
import { CancelledError, LocalProtocolError } from "./errors.js";
import type { ProviderHandler } from "./registry.js";
import type { Scope } from "./scope.js";

/** Kinds behind which nothing follows. */
const LAST: ReadonlySet<ProviderStreamEventKind> = new Set(["finished", "error"]);

/** One stream that was taken. */
export interface ProviderStream {
  readonly id: string;
  /** Aborted when the host gives the stream up or the session ends. */
  readonly signal: AbortSignal;
  readonly scope: Scope;
  /**
   * Sends one event; the SDK numbers it. Rejects with CancelledError once the stream is given up, and with
   * LocalProtocolError behind the last event.
   */
  event(kind: ProviderStreamEventKind, payload: NonNullable<JsonValue>): Promise<void>;
}

class RunningStream implements ProviderStream {
  readonly controller = new AbortController();
  ended = false;
  private sequence = 0;
  private last: Promise<void> = Promise.resolve();

  constructor(
    readonly id: string,
    readonly scope: Scope,
  ) {}

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  event(kind: ProviderStreamEventKind, payload: NonNullable<JsonValue>): Promise<void> {
    return this.send(kind, payload, () => {
      this.signal.throwIfAborted();
    });
  }

  /** Sends the last event where none was sent; also for a stream that was given up, but not behind the session. */
  async end(kind: ProviderStreamEventKind, payload: NonNullable<JsonValue>): Promise<void> {
    if (!this.ended && !this.scope.signal.aborted) {
      await this.send(kind, payload, () => undefined);
    }
  }

  private send(kind: ProviderStreamEventKind, payload: NonNullable<JsonValue>, check: () => void): Promise<void> {
    const send = async (): Promise<void> => {
      check();
      if (this.ended) {
        throw new LocalProtocolError(`stream ${JSON.stringify(this.id)} has ended: send nothing behind its last event`);
      }
      await this.scope.services.providerStream.event({ stream_id: this.id, sequence: this.sequence, kind, payload });
      this.sequence++;
      this.ended = LAST.has(kind);
    };
    // One after the other: an event that is refused takes no number.
    const sent = this.last.then(send, send);
    this.last = sent;
    return sent;
  }
}

/** The streams of one session. */
export class Streams {
  private readonly live = new Map<string, RunningStream>();

  /** Runs a stream to its end. Rejects with what the author's handler throws. */
  async run(scope: Scope, request: ProviderStreamRequest, provider: ProviderHandler): Promise<void> {
    const stream = new RunningStream(request.stream_id, scope);
    const stop = (): void => {
      stream.controller.abort(scope.signal.reason);
    };
    if (scope.signal.aborted) {
      stop();
    }
    scope.signal.addEventListener("abort", stop, { once: true });
    this.live.set(stream.id, stream);
    try {
      await provider.stream(stream, request);
      await stream.end("finished", {});
    } catch (fault) {
      await stream.end("error", { message: fault instanceof Error ? fault.message : String(fault) });
      throw fault;
    } finally {
      scope.signal.removeEventListener("abort", stop);
      this.live.delete(stream.id);
    }
  }

  /** Takes a cancellation of the host. */
  cancel(id: string, reason: string | undefined): void {
    this.live.get(id)?.controller.abort(new CancelledError(reason));
  }
}
