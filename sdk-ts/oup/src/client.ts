/** A client of one server: it connects, negotiates, asks, and comes back when the connection ends. */

import type { JsonObject, JsonValue } from "./_generated/json.js";
import { isObject } from "./_generated/json.js";
import { Calls } from "./_generated/oup-calls.js";
import type { ServerCapabilities } from "./_generated/oup-wire.js";
import {
  CLIENT_CONNECT_TIMEOUT_MS,
  CLIENT_PING_INTERVAL_MS,
  CLIENT_REQUEST_TIMEOUT_MS,
  CLIENT_SEND_QUEUE,
  CLIENT_SILENCE_MS,
  FEATURES,
  METHOD_CLIENT_HELLO,
  METHOD_CONFIG_CAPABILITIES_LIST,
  METHOD_PING,
} from "./_generated/oup-wire.js";
import type { Callbacks } from "./asks.js";
import { Backoff } from "./backoff.js";
import type { Settle } from "./connection.js";
import { Connection, paramsText } from "./connection.js";
import type { Clock } from "./environment.js";
import { systemClock } from "./environment.js";
import { AuthError, Disconnected, ProtocolError, reasonOf, TimedOut, Unsupported } from "./errors.js";
import { member } from "./events.js";
import { Flow } from "./flow.js";
import type { Dial, LinkEnd } from "./link.js";
import { checkCapabilities, Mismatch } from "./negotiation.js";
import { judged } from "./opened.js";
import type { CallOptions, ClientOptions, ClientState, StateDetail } from "./options.js";
import type { OpenOptions } from "./session.js";
import { Session } from "./session.js";

interface Call {
  readonly method: string;
  readonly params: string;
  readonly timeoutMs: number;
  readonly settle: Settle;
  /** Set for a request that may be sent again: says whether a refusal only tells that the first one had arrived. */
  readonly repeat: ((fault: Error) => boolean) | undefined;
  sent: boolean;
  /** Stops the clock of a request that waits for a connection. */
  stop: () => void;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (fault: Error) => void;
}

/** Features of the registry that are not retired: the client passes on what they bring. */
export const UNDERSTOOD: readonly string[] = FEATURES.filter(({ origin }) => origin === "registry").map(({ name }) => name);

const CLOSED_POLICY = 1008;
const CLOSED_RESTART = 1012;

/** A client. `stdio()` and `websocket()` make it. */
export class Client {
  /** Every request that a client may make, typed: `client.methods.sessionList({})`. */
  readonly methods: Calls;
  private readonly clock: Clock;
  private readonly backoff: Backoff;
  private readonly flow: Flow;
  private readonly sessions = new Map<string, Session>();
  private readonly held: Call[] = [];
  private connection: Connection | undefined;
  private status: ClientState = "connecting";
  private granted: ServerCapabilities | undefined;
  private stopTimer: () => void = () => undefined;
  private fault: Error | undefined;
  private lastEnd: LinkEnd | undefined;
  private readonly waiters: Waiter[] = [];
  /** Set while the connection was given up because nobody takes the events. */
  private parked = false;
  private ending: Promise<void> | undefined;
  private dialing = new AbortController();

  private constructor(
    private readonly dial: Dial,
    private readonly options: ClientOptions,
    private readonly comesBack: boolean,
  ) {
    this.clock = options.clock ?? systemClock;
    this.backoff = new Backoff(options.reconnect);
    this.methods = new Calls({
      call: async (method, params, read, callOptions) => judged(method, await this.call(method, params, callOptions), read),
      tell: (method, params) => {
        this.connection?.notify(method, params);
        return Promise.resolve();
      },
    });
    this.flow = new Flow(
      (stop) => {
        this.read(!stop);
      },
      () => {
        this.park();
      },
    );
  }

  /** Connects and says hello. For `stdio()`, `websocket()` and ways of one's own. */
  static async connect(dial: Dial, options: ClientOptions, comesBack: boolean): Promise<Client> {
    const client = new Client(dial, options, comesBack);
    try {
      await client.establish();
    } catch (fault) {
      await client.finish(fault instanceof Error ? fault : new Error(String(fault)), false);
      throw fault;
    }
    return client;
  }

  get state(): ClientState {
    return this.status;
  }

  /** What the server can do on this connection. */
  get capabilities(): ServerCapabilities {
    if (this.granted === undefined) {
      throw new Error("there is no connection yet");
    }
    return this.granted;
  }

  /** Whether a method can be called on this connection. */
  supports(method: string): boolean {
    return this.capabilities.supported_methods.includes(method);
  }

  /** Asks anything. Rejects with ServerError, TimedOut or Disconnected. While the client comes back, the request waits. */
  call(method: string, params: unknown = {}, options: CallOptions = {}): Promise<JsonValue> {
    return this.submit(method, paramsText(params), options);
  }

  /** Opens a session; one that this client has open under the confirmed key is opened again, and is the one returned. */
  async open(key: string, options: OpenOptions = {}): Promise<Session> {
    await this.standing();
    const { profile } = this.options;
    const callbacks: Callbacks = { ...pick(this.options), ...pick(options) };
    const port = {
      flow: this.flow,
      call: (method: string, params: string, repeatable: { readonly repeat?: (fault: Error) => boolean } = {}): Promise<JsonValue> => this.submit(method, params, {}, repeatable.repeat),
      direct: (method: string, params: string, settle: Settle): void => {
        this.direct(method, params, settle);
      },
      confirmed: (name: string, session: Session): void => {
        const other = this.sessions.get(name);
        this.sessions.set(name, session);
        if (other !== undefined && other !== session) {
          other.fail(new Disconnected(`the session "${name}" was opened again on this client`), true);
        }
      },
      closed: (session: Session): void => {
        if (this.sessions.get(session.key) === session) {
          this.sessions.delete(session.key);
        }
      },
    };
    return new Session(key, port, profile === undefined ? options : { profile, ...options }, callbacks).begin();
  }

  /** Ends the connection, and with stdio the server. Everything that waits fails. Takes some seconds at most. */
  close(): Promise<void> {
    return this.finish(new Disconnected("the client was closed by this side"), true);
  }

  /** Connects, says hello, opens the sessions again and sends what waits, in this order. */
  private async establish(): Promise<void> {
    this.lastEnd = undefined;
    const connection = await this.connect();
    try {
      this.connection = connection;
      this.granted = await this.hello(connection);
    } catch (fault) {
      await connection.close(reasonOf(fault));
      throw this.verdict() ?? fault;
    }
    if (this.connection !== connection) {
      throw this.verdict() ?? new Disconnected("the connection ended while it was set up");
    }
    this.backoff.reset();
    this.beat(connection);
    this.set("open");
    for (const session of [...this.sessions.values()]) {
      void session.resume();
    }
    for (const call of this.held.splice(0)) {
      this.send(connection, call);
    }
    for (const waiter of this.waiters.splice(0)) {
      waiter.resolve();
    }
    if (this.flow.full) {
      this.read(false);
    }
  }

  private async connect(): Promise<Connection> {
    const { connectTimeoutMs = CLIENT_CONNECT_TIMEOUT_MS } = this.options;
    const connection: Connection = new Connection(this.clock, {
      notified: (method, params, text) => {
        this.notified(method, params, text);
      },
      expects: (answers) => {
        this.flow.expect(answers);
      },
      ended: (end) => {
        this.ended(connection, end);
      },
    });
    const dialing = new AbortController();
    this.dialing = dialing;
    const stop = this.clock.after(connectTimeoutMs, () => {
      dialing.abort(new Disconnected(`the server did not take the connection within ${String(connectTimeoutMs)} ms`));
    });
    const events = {
      frame: (text: string): void => {
        connection.receive(text);
      },
      ended: (end: LinkEnd): void => {
        connection.end(end);
      },
    };
    try {
      connection.carry(await this.dial(events, dialing.signal));
    } finally {
      stop();
    }
    if (this.fault !== undefined) {
      await connection.close(this.fault.message);
      throw this.fault;
    }
    return connection;
  }

  private async hello(connection: Connection): Promise<ServerCapabilities> {
    const { features = UNDERSTOOD, required = [], client = { name: "octet-oup" }, connectTimeoutMs: timeoutMs = CLIENT_CONNECT_TIMEOUT_MS } = this.options;
    const ask = (method: string, params: JsonObject): Promise<JsonValue> =>
      new Promise((resolve, reject) => {
        connection.request({ method, params: paramsText(params), timeoutMs, settle: settler(resolve, reject) });
      });
    const result = await ask(METHOD_CLIENT_HELLO, { client, supported_features: features, transport: connection.transport }).catch((fault: unknown) => {
      if (fault instanceof Unsupported) {
        return ask(METHOD_CONFIG_CAPABILITIES_LIST, {}); // an older server
      }
      throw fault;
    });
    return checkCapabilities(isObject(result) ? (result["capabilities"] ?? null) : null, { requested: features, required });
  }

  /** Why no connection comes behind the last one, where its end says so: a refusal, or frames that cannot be trusted. */
  private verdict(): AuthError | Disconnected | undefined {
    const { lastEnd } = this;
    if (lastEnd?.code === CLOSED_POLICY) {
      return new AuthError(`the server closed the connection: ${lastEnd.reason}`, CLOSED_POLICY);
    }
    return lastEnd?.fault instanceof ProtocolError ? cut(lastEnd) : undefined;
  }

  /** Pings, and gives a connection up that says nothing. Both are for WebSockets: a process that ends is seen. */
  private beat(connection: Connection): void {
    if (connection.transport !== "websocket") {
      return;
    }
    let pinged = this.clock.now();
    const look = (): void => {
      this.stopTimer = () => undefined;
      if (connection.silence >= CLIENT_SILENCE_MS) {
        void connection.close(`the server was silent for ${String(CLIENT_SILENCE_MS)} ms`);
        return;
      }
      if (this.clock.now() - pinged >= CLIENT_PING_INTERVAL_MS) {
        pinged = this.clock.now();
        connection.notify(METHOD_PING, { ts: Date.now() });
      }
      const wait = Math.min(CLIENT_SILENCE_MS - connection.silence, CLIENT_PING_INTERVAL_MS - (this.clock.now() - pinged));
      this.stopTimer = this.clock.after(Math.max(1, wait), look);
    };
    look();
  }

  private notified(method: string, params: JsonValue, text: string): void {
    const session = this.sessions.get(member(params, "session_id") ?? "");
    if (session === undefined) {
      const { onNotification } = this.options;
      queueMicrotask(() => onNotification?.(method, params));
    } else {
      session.receive(method, params, text);
    }
  }

  private submit(method: string, params: string, options: CallOptions, repeat?: (fault: Error) => boolean): Promise<JsonValue> {
    const { timeoutMs = this.options.requestTimeoutMs ?? CLIENT_REQUEST_TIMEOUT_MS, signal } = options;
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.fault !== undefined) {
        throw this.fault;
      }
      const abort = (): void => {
        this.drop(call);
        reject(signal?.reason as Error);
      };
      const settle: Settle = (outcome) => {
        signal?.removeEventListener("abort", abort);
        settler(resolve, reject)(outcome);
      };
      const call: Call = { method, params, timeoutMs, settle, repeat, sent: false, stop: () => undefined };
      signal?.addEventListener("abort", abort, { once: true });
      if (this.status === "open" && this.connection !== undefined) {
        this.send(this.connection, call);
      } else {
        this.hold(call);
      }
    });
  }

  private hold(call: Call): void {
    const { method, timeoutMs } = call;
    if (this.held.length >= CLIENT_SEND_QUEUE) {
      call.settle({ fault: new Disconnected(`there is no connection, and ${String(CLIENT_SEND_QUEUE)} requests wait for one already`, [method]) });
      return;
    }
    this.held.push(call);
    if (Number.isFinite(timeoutMs)) {
      call.stop = this.clock.after(timeoutMs, () => {
        this.drop(call);
        call.settle({ fault: new TimedOut(method, timeoutMs) });
      });
    }
  }

  private drop(call: Call): void {
    call.stop();
    const at = this.held.indexOf(call);
    if (at >= 0) {
      this.held.splice(at, 1);
    }
  }

  private send(connection: Connection, call: Call): void {
    const { method, params, timeoutMs, repeat, sent } = call;
    call.sent = true;
    call.stop();
    const settle: Settle = (outcome) => {
      const lost = "fault" in outcome ? outcome.fault : undefined;
      if (lost instanceof Disconnected && repeat !== undefined && this.comesBack && this.fault === undefined) {
        this.hold(call);
      } else if (lost !== undefined && sent && repeat?.(lost) === true) {
        call.settle({ result: null });
      } else {
        call.settle(outcome);
      }
    };
    try {
      connection.request({ method, params, timeoutMs, settle });
    } catch (fault) {
      call.settle({ fault: fault instanceof Error ? fault : new Error(String(fault)) });
    }
  }

  private direct(method: string, params: string, settle: Settle): void {
    if (this.connection === undefined || this.status !== "open") {
      settle({ fault: this.fault ?? new Disconnected("there is no connection", [method], true) });
    } else {
      this.connection.request({ method, params, timeoutMs: this.options.requestTimeoutMs ?? CLIENT_REQUEST_TIMEOUT_MS, settle });
    }
  }

  /** Resolves when a connection stands. */
  private async standing(): Promise<void> {
    if (this.fault !== undefined) {
      throw this.fault;
    }
    if (this.status !== "open") {
      await new Promise<void>((resolve, reject) => {
        this.waiters.push({ resolve, reject });
      });
    }
  }

  /** Stops or starts reading. */
  private read(go: boolean): void {
    this.connection?.read(go);
    if (go && this.parked) {
      this.parked = false;
      this.again("the reader is back", true);
    }
  }

  /** Gives up a connection that cannot stop reading: nothing is lost, since the next one resumes where this ends. */
  private park(): void {
    const { connection } = this;
    if (connection !== undefined && this.comesBack && !connection.pausable) {
      this.parked = true;
      void connection.close("nobody takes the events");
    }
  }

  private ended(connection: Connection, end: LinkEnd): void {
    if (this.connection !== connection) {
      return; // it never stood, and whoever set it up knows
    }
    this.lastEnd = end;
    this.connection = undefined;
    this.stopTimer();
    if (this.status !== "open" || this.fault !== undefined) {
      return;
    }
    const verdict = this.verdict();
    if (verdict !== undefined || !this.comesBack) {
      void this.finish(verdict ?? cut(end), false);
    } else if (this.parked) {
      this.set("waiting", { reason: end.reason });
    } else {
      this.again(end.reason, end.code === CLOSED_RESTART);
    }
  }

  private again(reason: string, atOnce: boolean): void {
    const wait = this.backoff.next(atOnce);
    if (wait === undefined) {
      void this.finish(new Disconnected(`the server could not be reached again: ${reason}`), false);
      return;
    }
    this.set("waiting", { reason, retryInMs: wait });
    this.stopTimer = this.clock.after(wait, () => {
      this.stopTimer = () => undefined;
      this.establish().catch((fault: unknown) => {
        this.connection = undefined;
        if (this.fault === undefined && isFinal(fault)) {
          void this.finish(fault, false);
        } else if (this.fault === undefined) {
          this.again(reasonOf(fault), false);
        }
      });
    });
  }

  private set(state: ClientState, detail: StateDetail = {}): void {
    const { onState } = this.options;
    this.status = state;
    queueMicrotask(() => onState?.(state, detail));
  }

  private finish(fault: Error, quietly: boolean): Promise<void> {
    this.ending ??= this.wind(fault, quietly);
    return this.ending;
  }

  private async wind(fault: Error, quietly: boolean): Promise<void> {
    this.fault = fault;
    this.dialing.abort(fault);
    this.stopTimer();
    const closing = this.connection?.close(fault.message);
    for (const session of [...this.sessions.values()]) {
      session.fail(fault, quietly);
    }
    this.sessions.clear();
    for (const call of this.held.splice(0)) {
      call.stop();
      call.settle({ fault });
    }
    for (const waiter of this.waiters.splice(0)) {
      waiter.reject(fault);
    }
    this.set("closed", { fault });
    await closing;
  }
}

function settler(resolve: (result: JsonValue) => void, reject: (fault: Error) => void): Settle {
  return (outcome) => {
    if ("fault" in outcome) {
      reject(outcome.fault);
    } else {
      resolve(outcome.result);
    }
  };
}

/** The error of a client that ends with its connection. */
function cut({ reason, fault }: LinkEnd): Disconnected {
  return new Disconnected(reason, [], false, fault === undefined ? {} : { cause: fault });
}

/** Whether it is of no use to connect again. */
function isFinal(fault: unknown): fault is Error {
  return fault instanceof AuthError || fault instanceof Mismatch || (fault instanceof Disconnected && fault.cause instanceof ProtocolError);
}

function pick({ onApproval, onQuestion }: Callbacks): Callbacks {
  return { ...(onApproval === undefined ? {} : { onApproval }), ...(onQuestion === undefined ? {} : { onQuestion }) };
}
