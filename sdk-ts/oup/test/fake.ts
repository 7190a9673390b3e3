/** A clock and a server that do what a test tells them, and nothing else. */

import type { JsonObject, JsonValue } from "../src/_generated/json.js";
import { DEFAULT_CAPABILITIES } from "../src/opened.js";
import type { Clock } from "../src/environment.js";
import type { Dial, LinkEvents } from "../src/link.js";

/** Time that passes when it is told to. */
export class FakeClock implements Clock {
  private time = 0;
  private readonly timers = new Map<symbol, { readonly at: number; readonly call: () => void }>();

  now(): number {
    return this.time;
  }

  after(milliseconds: number, call: () => void): () => void {
    const key = Symbol("timer");
    this.timers.set(key, { at: this.time + milliseconds, call });
    return () => this.timers.delete(key);
  }

  /** How many timers are set. */
  get set(): number {
    return this.timers.size;
  }

  /** Milliseconds until the next timer. */
  get due(): number {
    return Math.min(...[...this.timers.values()].map(({ at }) => at)) - this.time;
  }

  /** Lets time pass, and what is due happen, in order. */
  async pass(milliseconds: number): Promise<void> {
    const until = this.time + milliseconds;
    for (;;) {
      const [first] = [...this.timers].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at);
      if (first === undefined) {
        break;
      }
      this.timers.delete(first[0]);
      this.time = Math.max(this.time, first[1].at);
      first[1].call();
      await settled();
    }
    this.time = until;
  }
}

/** Resolves when everything that needs no outside has happened. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** A promise and its end. */
export interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

export function deferred(): Deferred {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** A request that has arrived. */
export interface Asked {
  readonly id: string;
  readonly method: string;
  readonly params: JsonObject;
}

export const SESSION = "ada:local:desk";
export const TURN = "0190f3a0-0000-7000-8000-000000000001";

/** One connection, seen from the server. */
export class Peer {
  readonly asked: Asked[] = [];
  readonly notified: { readonly method: string; readonly params: JsonValue }[] = [];
  closed = false;
  paused = 0;
  resumed = 0;
  private waiting: { readonly method: string; readonly resolve: (asked: Asked) => void }[] = [];

  constructor(readonly events: LinkEvents) {}

  take(text: string): void {
    const frame = JSON.parse(text) as { readonly id?: string; readonly method: string; readonly params: JsonObject };
    if (frame.id === undefined) {
      this.notified.push(frame);
      return;
    }
    const asked = { id: frame.id, method: frame.method, params: frame.params };
    const waiter = this.waiting.findIndex(({ method }) => method === asked.method);
    if (waiter >= 0) {
      this.waiting.splice(waiter, 1)[0]?.resolve(asked);
    } else {
      this.asked.push(asked);
    }
  }

  /** The next request of a method, whether it has come or is still to come. */
  next(method: string): Promise<Asked> {
    const at = this.asked.findIndex((asked) => asked.method === method);
    const [asked] = at < 0 ? [] : this.asked.splice(at, 1);
    return asked === undefined
      ? new Promise((resolve) => {
          this.waiting.push({ method, resolve });
        })
      : Promise.resolve(asked);
  }

  say(frame: JsonObject): void {
    this.events.frame(JSON.stringify({ jsonrpc: "2.0", ...frame }));
  }

  answer({ id }: Asked, result: JsonValue): void {
    this.say({ id, result });
  }

  refuse({ id }: Asked, code: number, data?: JsonObject): void {
    this.say({ id, error: { code, message: "refused", ...(data === undefined ? {} : { data }) } });
  }

  notify(method: string, params: JsonObject): void {
    this.say({ method, params: { session_id: SESSION, ...params } });
  }

  /** An envelope of the turn at a place of its stream and of the ledger. */
  envelope(seq: number, ledger: number, type: string, data: JsonObject, more: JsonObject = {}): void {
    this.notify("projection/envelope", { thread_id: TURN, turn_id: TURN, seq, cursor: { stream: SESSION, seq: ledger }, payload: { type, data }, ...more });
  }

  delta(seq: number, ledger: number, text: string): void {
    this.envelope(seq, ledger, "assistant_delta", { text, assistant_segment_id: "s1" });
  }

  terminal(seq: number, ledger: number, outcome = "completed"): void {
    this.envelope(seq, ledger, "turn_terminal", { outcome, token_usage: { input_tokens: 3 } });
  }

  /** Answers hello. */
  async hello(): Promise<Asked> {
    const asked = await this.next("client_hello");
    this.answer(asked, {
      type: "server_hello", transport: "websocket", client_transport: "websocket", client: null,
      capabilities: { ...DEFAULT_CAPABILITIES, supported_features: (asked.params["supported_features"] ?? []) as JsonValue } as unknown as JsonObject,
    });
    return asked;
  }

  /** Answers the opening of the session with its position, and tells it when `more` has been said. */
  async opens(ledger: number, more: () => void = () => undefined): Promise<Asked> {
    const asked = await this.next("session/open");
    const opened: JsonObject = { session_id: SESSION, cursor: { stream: SESSION, seq: ledger }, capabilities: DEFAULT_CAPABILITIES as unknown as JsonObject };
    this.answer(asked, { opened });
    more();
    this.notify("session/open", opened);
    return asked;
  }

  /** Ends the connection from the side of the server. */
  end(code: number): void {
    this.closed = true;
    this.events.ended({ code, reason: `closed with ${String(code)}` });
  }
}

/** A server in memory. */
export class FakeServer {
  readonly peers: Peer[] = [];
  /** What refuses the next connections, one each. */
  readonly refusals: Error[] = [];
  /** Holds the next connections up. */
  slow: Deferred | undefined;
  private waiting: ((peer: Peer) => void)[] = [];
  private given = 0;

  constructor(private readonly features: { readonly pausable?: boolean; readonly transport?: "stdio" | "websocket" } = {}) {}

  readonly dial: Dial = (events) => {
    const refusal = this.refusals.shift();
    if (refusal !== undefined) {
      return Promise.reject(refusal);
    }
    const peer = new Peer(events);
    const { pausable = true, transport = "websocket" } = this.features;
    this.peers.push(peer);
    this.waiting.shift()?.(peer);
    return Promise.resolve(this.slow?.promise).then(() => ({
      transport,
      send: (text) => {
        peer.take(text);
      },
      pause: pausable ? (): void => void (peer.paused += 1) : undefined,
      resume: pausable ? (): void => void (peer.resumed += 1) : undefined,
      close: () => {
        peer.closed = true;
        return Promise.resolve();
      },
    }));
  };

  /** The next connection, in the order in which they are made. */
  connection(): Promise<Peer> {
    const peer = this.peers[this.given];
    this.given += 1;
    return peer === undefined ? new Promise((resolve) => this.waiting.push(resolve)) : Promise.resolve(peer);
  }
}

/** A value as JSON.parse would give it: what was read from the wire has objects without a prototype. */
export function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
