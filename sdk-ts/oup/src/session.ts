/** One session on a client: its position, its turns and what it tells. */

import type { JsonValue } from "./_generated/json.js";
import { isObject } from "./_generated/json.js";
import type { ApprovalRespondResult, Cursor, SandboxRequest, SessionHydrateParams, SessionHydrateResult, SessionOpened, TurnInterruptResult, TurnSteerResult, UserQuestionRespondResult } from "./_generated/oup-wire.js";
import {
  ERROR_CURSOR_INVALID,
  ERROR_CURSOR_OUT_OF_RANGE,
  ERROR_UNKNOWN_SESSION,
  METHOD_APPROVAL_RESPOND,
  METHOD_PROJECTION_ENVELOPE,
  METHOD_PROTOCOL_REPLAY_LOSSY,
  METHOD_SESSION_HYDRATE,
  METHOD_SESSION_OPEN,
  METHOD_TURN_INTERRUPT,
  METHOD_TURN_START,
  METHOD_TURN_STATE_GET,
  METHOD_TURN_STEER,
  METHOD_USER_QUESTION_RESPOND,
  MODELS,
} from "./_generated/oup-wire.js";
import type { Codec } from "./_generated/wire.js";
import type { Answers, Callbacks, Decision } from "./asks.js";
import { answerItems, Asks } from "./asks.js";
import type { Settle } from "./connection.js";
import { uuid7 } from "./environment.js";
import { Disconnected, ProtocolError, ServerError, Unsupported } from "./errors.js";
import type { Gap, OupEvent } from "./events.js";
import { fromNotification, member, readCursor, readEnvelope, unknown } from "./events.js";
import type { Flow, Mark } from "./flow.js";
import { Stream } from "./flow.js";
import { Ledger } from "./ledger.js";
import { readOpened, readResult } from "./opened.js";
import { byStream, envelopesOf, turnStates } from "./snapshot.js";
import { Threads } from "./threads.js";
import type { Input, TurnOptions } from "./turn.js";
import { items, Turn } from "./turn.js";

/** How a session is opened. */
export interface OpenOptions extends Callbacks {
  readonly topic?: string;
  readonly profile?: string;
  /** Workspace. */
  readonly cwd?: string;
  readonly sandbox?: SandboxRequest;
  /** Replays what came behind it. What is replayed waits for the first call of events(), turn() or follow(). */
  readonly after?: Cursor;
  /** Slash commands that the client handles by itself. */
  readonly clientCommands?: readonly string[];
}

/** What a session does through its client. */
export interface SessionPort {
  readonly flow: Flow;
  /** Asks when the connection stands. With `repeat` the request may be sent again on the next connection. */
  call(method: string, params: string, options?: { readonly repeat?: (fault: Error) => boolean }): Promise<JsonValue>;
  /** Asks at once, before anything that waits. */
  direct(method: string, params: string, settle: Settle): void;
  /** The server has confirmed a key. */
  confirmed(key: string, session: Session): void;
  closed(session: Session): void;
}

const LOST: ReadonlySet<number> = new Set([ERROR_CURSOR_OUT_OF_RANGE.code, ERROR_CURSOR_INVALID.code]);
const RUNNING: ReadonlySet<string> = new Set(["active", "interrupting"]);

/** The mark of what was told before: it moves no cursor. */
const PAST: Mark = { taken: () => undefined };

/** A session that was opened. Clients make it. */
export class Session {
  private readonly turns = new Map<string, Turn>();
  /** Turns whose start was accepted, or seen. */
  private readonly started = new Set<string>();
  /** Turns whose stream begins under the eyes of this client. */
  private readonly fresh = new Set<string>();
  private readonly streams = new Set<Stream<OupEvent>>();
  private readonly threads = new Threads();
  private readonly ledger: Ledger;
  private readonly asks: Asks;
  private backlog: Stream<OupEvent> | undefined;
  private latest: SessionOpened | undefined;
  private name: string;
  /** Nothing of the wire counts until the session is open again. */
  private deaf = true;
  private replayEnd: Cursor | undefined;
  private replaying = false;
  private round = 0;
  /** What is missing and not yet told. */
  private missing: Pick<Gap, "reason" | "dropped"> | undefined;
  private hole = "";
  private fault: Error | undefined;

  constructor(
    key: string,
    private readonly port: SessionPort,
    private readonly options: OpenOptions,
    callbacks: Callbacks,
  ) {
    this.name = key;
    this.ledger = new Ledger(options.after);
    this.asks = new Asks(
      () => this.name,
      callbacks,
      (method, params) => port.call(method, params),
      (code, message) => {
        this.deliver({ type: "warning", code, message });
      },
    );
    if (options.after !== undefined) {
      this.backlog = this.stream();
    }
  }

  /** The key that the server confirmed: the identity to keep. */
  get key(): string {
    return this.name;
  }

  /** The newest answer to session/open. */
  get opened(): SessionOpened {
    if (this.latest === undefined) {
      throw new Error("the session is not open: a client gives it out when it is");
    }
    return this.latest;
  }

  /** Where to resume from in a later process: it moves only behind what the caller has been given. Undefined before the first such place. */
  get cursor(): Cursor | undefined {
    return this.ledger.given;
  }

  /** Every event of the session from now on, whichever client caused it; also what was replayed, on the first call. */
  events(): AsyncIterableIterator<OupEvent> {
    this.alive();
    const stream = this.backlog ?? this.stream();
    this.backlog = undefined;
    this.streams.add(stream);
    return stream;
  }

  /** Starts a turn, and resolves when the server has accepted it. */
  async turn(input: Input, options: TurnOptions = {}): Promise<Turn> {
    this.alive();
    const id = options.id ?? uuid7();
    this.claim();
    const { media, reasoningEffort, origin } = options;
    const params = MODELS.TurnStartParams.encode({
      session_id: this.name, turn_id: id, input: items(input),
      ...(media === undefined ? {} : { media }), ...(reasoningEffort === undefined ? {} : { reasoning_effort: reasoningEffort }), ...(origin === undefined ? {} : { origin }),
    });
    const turn = this.add(id, options);
    this.fresh.add(id);
    try {
      // A start that is repeated with the same id and had been accepted before is answered as the first one, or refused for its id.
      await this.port.call(METHOD_TURN_START, params, { repeat: (fault) => isOwn(fault, id) });
      this.started.add(id);
      return turn;
    } catch (fault) {
      this.turns.delete(id);
      turn.detach();
      throw fault;
    }
  }

  /**
   * A turn that was started elsewhere, or in an earlier process: its events from here on, and those that were replayed. Of
   * one that has ended, what the server still has of it.
   */
  follow(turn: string, options: Pick<TurnOptions, "interruptOnLeave"> = {}): Turn {
    this.alive();
    const followed = this.turns.get(turn) ?? this.add(turn, options);
    this.started.add(turn);
    this.claim(followed);
    if (followed.live && !followed.told) {
      this.lookBack(followed);
    }
    return followed;
  }

  /** How the session stands. */
  async hydrate(params: Omit<SessionHydrateParams, "session_id"> = {}): Promise<SessionHydrateResult> {
    return this.ask(METHOD_SESSION_HYDRATE, MODELS.SessionHydrateParams.encode({ ...params, session_id: this.name }), MODELS.SessionHydrateResult);
  }

  /** Decides a request for approval, outside a callback. */
  async decide(approval: string, { decision, scope, note }: Decision): Promise<ApprovalRespondResult> {
    const params = { session_id: this.name, approval_id: approval, decision, ...(scope === undefined ? {} : { approval_scope: scope }), ...(note === undefined ? {} : { client_note: note }) };
    return this.ask(METHOD_APPROVAL_RESPOND, MODELS.ApprovalRespondParams.encode(params), MODELS.ApprovalRespondResult);
  }

  /** Answers questions, outside a callback. */
  async answer(question: string, answers: Answers): Promise<UserQuestionRespondResult> {
    const params = { session_id: this.name, question_id: question, answers: answerItems(answers, undefined) };
    return this.ask(METHOD_USER_QUESTION_RESPOND, MODELS.UserQuestionRespondParams.encode(params), MODELS.UserQuestionRespondResult);
  }

  /** Forgets the session here. The server keeps it, and turns go on. */
  close(): void {
    this.fail(new Disconnected("the session was closed by this side"), true);
    this.port.closed(this);
  }

  /** Opens for the first time; for the client alone. */
  async begin(): Promise<this> {
    await this.resync();
    this.alive();
    if (this.latest === undefined) {
      throw new Disconnected("the connection ended while the session was opened", [METHOD_SESSION_OPEN], true);
    }
    return this;
  }

  /** Opens the session on a connection that has just come to stand; for the client alone. */
  async resume(): Promise<void> {
    if (this.ledger.applied === undefined && this.turns.size > 0) {
      // Nothing is known of where the turn stands.
      this.missing ??= { reason: "unconfirmed" };
    }
    await this.resync();
  }

  private suspend(): void {
    this.round += 1;
    this.deaf = true;
  }

  /** Ends everything that waits; for the client alone. */
  fail(fault: Error, quietly = false): void {
    this.fault ??= fault;
    this.suspend();
    this.asks.clear();
    for (const stream of [...this.streams, ...(this.backlog === undefined ? [] : [this.backlog])]) {
      stream.finish(quietly ? undefined : fault);
    }
    for (const turn of this.turns.values()) {
      turn.fail(fault);
    }
    this.streams.clear();
    this.turns.clear();
  }

  /** Takes a notification of this session; for the client alone. */
  receive(method: string, params: JsonValue, text: string): void {
    if (this.deaf) {
      return;
    }
    switch (method) {
      case METHOD_PROJECTION_ENVELOPE:
        this.envelope(params);
        return;
      case METHOD_SESSION_OPEN:
        this.reopened(params);
        return;
      case METHOD_PROTOCOL_REPLAY_LOSSY:
        this.lossy(params);
        return;
      default:
        this.plain(fromNotification(method, params), text);
    }
  }

  private plain(event: OupEvent, text: string): void {
    const known = this.ledger.repeated(text, this.replaying);
    switch (event.type) {
      case "approval":
        this.asks.approval(event.request);
        break;
      case "question":
        this.asks.question(event.request);
        break;
      case "approval_decided":
      case "approval_auto_resolved":
        this.asks.settled(event.decision.approval_id);
        break;
      case "approval_cancelled":
        this.asks.settled(event.approval_id);
        break;
      case "started":
        this.fresh.add(event.turn_id ?? "");
        this.started.add(event.turn_id ?? "");
        break;
      default:
    }
    if (!known && !this.asks.told(event)) {
      this.deliver(event);
    }
  }

  private envelope(params: JsonValue): void {
    const facts = readEnvelope(METHOD_PROJECTION_ENVELOPE, params);
    if (facts === undefined) {
      this.deliver(unknown(METHOD_PROJECTION_ENVELOPE, params));
      return;
    }
    const { thread, turn, seq, cursor, event } = facts;
    if (cursor !== undefined && this.ledger.has(cursor)) {
      return;
    }
    if (this.fresh.has(turn)) {
      this.threads.begins(thread);
    }
    switch (this.threads.judge(thread, seq)) {
      case "seen":
        this.ledger.apply(cursor);
        return;
      case "back":
      case "gap":
        this.gap(thread, seq, cursor);
        return;
      case "next":
        this.ledger.apply(cursor);
        this.give(thread, event);
    }
  }

  /** Hands out an envelope that is next in its stream. */
  private give(thread: string, event: OupEvent): void {
    this.deliver(event);
    if (event.type === "terminal" || event.type === "background") {
      this.threads.end(thread);
    }
    if (event.type === "terminal") {
      this.over(event.turn_id ?? "");
    }
  }

  private over(turn: string): void {
    this.turns.delete(turn);
    this.started.delete(turn);
    this.fresh.delete(turn);
  }

  private reopened(params: JsonValue): void {
    const cursor = readCursor(isObject(params) ? params["cursor"] : undefined);
    if (cursor !== undefined && this.ledger.has(cursor)) {
      return;
    }
    this.ledger.apply(cursor);
    try {
      const opened = readOpened(params, this.latest?.capabilities);
      this.deliver({ type: "opened", opened, ...(cursor === undefined ? {} : { cursor }) });
    } catch {
      this.deliver(unknown(METHOD_SESSION_OPEN, params));
    }
    // Openings by others may be among what is replayed; the last one is that of this side.
    if (this.replaying && (cursor === undefined || this.replayEnd === undefined || cursor.seq >= this.replayEnd.seq)) {
      this.replaying = false;
      this.asks.release();
    }
  }

  private lossy(params: JsonValue): void {
    const last = readCursor(isObject(params) ? params["last_durable_cursor"] : undefined);
    const dropped = isObject(params) ? params["dropped_count"] : undefined;
    this.ledger.back(last);
    const gap = { reason: "replay_lossy", ...(typeof dropped === "number" ? { dropped } : {}) } as const;
    const again = `lossy ${String(this.ledger.applied?.seq)}`;
    if (again === this.hole || this.ledger.applied === undefined) {
      this.missing = gap;
    } else {
      this.hole = again;
      this.deliver({ type: "gap", recovered: true, ...gap });
    }
    void this.resync();
  }

  /** Envelopes are missing. What the ledger has comes by replay; where it has the same hole, the snapshot has to do. */
  private gap(thread: string, seq: number, cursor: Cursor | undefined): void {
    const next = this.threads.next(thread) ?? 1;
    if (seq < next && (this.replaying || cursor === undefined)) {
      this.ledger.apply(cursor); // what was seen before comes again
      return;
    }
    const hole = `${thread} ${String(next)}`;
    if (hole === this.hole || this.ledger.applied === undefined) {
      this.missing = { reason: "sequence" };
    }
    this.hole = hole;
    void this.resync();
  }

  /** Opens the session, by its cursor, or by a snapshot where the cursor is of no use. Never rejects. */
  private async resync(): Promise<void> {
    this.suspend();
    const { round } = this;
    try {
      if (this.missing === undefined) {
        try {
          await this.open(this.ledger.applied);
          return;
        } catch (fault) {
          if (round !== this.round || !this.mayLose(fault)) {
            throw fault;
          }
          this.missing = { reason: "cursor_expired" };
        }
      }
      const snapshot = await this.snapshot();
      if (round === this.round) {
        this.absorb(snapshot, { type: "gap", recovered: false, ...this.missing, ...(snapshot === undefined ? {} : { snapshot }) });
        this.missing = undefined;
        await this.open(this.ledger.applied);
      }
    } catch (fault) {
      // Where the connection has ended, the next one does it again.
      if (round === this.round && !(fault instanceof Disconnected && fault.sent)) {
        this.fail(fault instanceof Error ? fault : new Error(String(fault)));
        this.port.closed(this);
      }
    }
  }

  /** A cursor of another stream that the caller gave is the caller's mistake. */
  private mayLose(fault: unknown): fault is ServerError {
    return fault instanceof ServerError && LOST.has(fault.code) && (this.latest !== undefined || fault.code === ERROR_CURSOR_OUT_OF_RANGE.code);
  }

  private open(after: Cursor | undefined): Promise<void> {
    const { topic, profile, cwd, sandbox, clientCommands } = this.options;
    const params = MODELS.SessionOpenParams.encode({
      session_id: this.name,
      ...(topic === undefined || this.latest !== undefined ? {} : { topic }), ...(profile === undefined ? {} : { profile_id: profile }),
      ...(cwd === undefined ? {} : { cwd }), ...(sandbox === undefined ? {} : { sandbox }),
      ...(clientCommands === undefined ? {} : { client_commands: clientCommands }), ...(after === undefined ? {} : { after }),
    });
    return this.direct(METHOD_SESSION_OPEN, params, (result) => {
      const opened = readOpened(isObject(result) ? (result["opened"] ?? null) : null, this.latest?.capabilities);
      this.latest = opened;
      this.name = opened.session_id;
      this.deaf = false;
      this.replaying = true;
      this.replayEnd = opened.cursor ?? undefined;
      this.ledger.replays();
      this.asks.hold();
      this.port.confirmed(this.name, this);
    });
  }

  private snapshot(): Promise<SessionHydrateResult | undefined> {
    const params = MODELS.SessionHydrateParams.encode({ session_id: this.name });
    let snapshot: SessionHydrateResult | undefined;
    return this.direct(METHOD_SESSION_HYDRATE, params, (result) => {
      if (readCursor(isObject(result) ? result["cursor"] : undefined) === undefined) {
        throw new ProtocolError("the answer to session/hydrate has no cursor");
      }
      // Not judged any further: newer words in it are for the caller to see.
      snapshot = result as unknown as SessionHydrateResult;
    }).then(
      () => snapshot,
      (fault: unknown) => {
        if (fault instanceof Unsupported || (fault instanceof ServerError && fault.code === ERROR_UNKNOWN_SESSION.code)) {
          return undefined;
        }
        throw fault;
      },
    );
  }

  /** Asks at once; `then` sees the answer before any frame behind it. */
  private direct(method: string, params: string, then: (result: JsonValue) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.port.direct(method, params, (outcome) => {
        try {
          if ("fault" in outcome) {
            throw outcome.fault;
          }
          then(outcome.result);
          resolve();
        } catch (fault) {
          reject(fault instanceof Error ? fault : new Error(String(fault)));
        }
      });
    });
  }

  /** Goes on from a snapshot: the caller is told, and live turns get what they lack of it. */
  private absorb(snapshot: SessionHydrateResult | undefined, gap: Gap): void {
    this.ledger.jump(snapshot?.cursor);
    this.deliver({ ...gap, ...(snapshot === undefined ? {} : { cursor: snapshot.cursor }) });
    this.fresh.clear();
    const known = this.threads.restart();
    for (const { thread, turn, seq, event } of byStream(envelopesOf(snapshot))) {
      const next = known.get(thread) ?? 1;
      if (seq >= next && this.threads.judge(thread, seq) !== "seen" && this.turns.has(turn)) {
        this.give(thread, event);
      }
    }
    for (const [thread, seq] of Object.entries(snapshot?.projection_thread_sequences ?? {})) {
      this.threads.skip(thread, seq + 1);
    }
    const states = turnStates(snapshot);
    for (const [id, turn] of this.turns) {
      const state = states.get(id) ?? "unknown";
      if (turn.live && this.started.has(id) && !RUNNING.has(state)) {
        this.lookAt(id, state);
      }
    }
  }

  /** Settles a turn whose end has not come, where the server says that it has one. It is never sent again. */
  private lookAt(id: string, state: string): void {
    if (state !== "unknown") {
      this.settleTurn(id, state);
      return;
    }
    const params = MODELS.TurnStateGetParams.encode({ session_id: this.name, turn_id: id });
    this.port.call(METHOD_TURN_STATE_GET, params).then(
      (result) => {
        // An end that the server knows of comes as an event.
        if (isObject(result) && member(result, "state") === "unknown" && result["running"] === false) {
          this.settleTurn(id, "unknown");
        }
      },
      (fault: unknown) => {
        if (fault instanceof ServerError && !(fault instanceof Unsupported)) {
          this.settleTurn(id, "unknown");
        }
      },
    );
  }

  /** Nothing more is told of a turn that is over: what it came to is read, unless something of it comes meanwhile. */
  private lookBack(turn: Turn): void {
    const ask = (method: string, params: string, then: (result: JsonValue) => void): void => {
      const next = (result: JsonValue): void => {
        if (this.turns.get(turn.id) === turn && !turn.told) {
          then(result);
        }
      };
      this.port.call(method, params, { repeat: () => true }).then(next, () => {
        next(null); // a server that does not tell has told nothing
      });
    };
    ask(METHOD_TURN_STATE_GET, MODELS.TurnStateGetParams.encode({ session_id: this.name, turn_id: turn.id }), (standing) => {
      const state = member(standing, "state") ?? "unknown";
      const running = isObject(standing) && standing["running"];
      if (!isObject(standing) || RUNNING.has(state) || (state === "unknown" && running !== false)) {
        return;
      }
      ask(METHOD_SESSION_HYDRATE, MODELS.SessionHydrateParams.encode({ session_id: this.name }), (result) => {
        const envelopes = isObject(result) ? envelopesOf(result as unknown as SessionHydrateResult) : [];
        for (const { turn: of, event } of byStream(envelopes)) {
          if (of === turn.id && turn.live) {
            turn.take(event, PAST);
          }
        }
        if (turn.live) {
          turn.take({ type: "terminal", outcome: state, turn_id: turn.id }, PAST);
        }
        this.over(turn.id);
      });
    });
  }

  private settleTurn(id: string, outcome: string): void {
    if (this.turns.has(id)) {
      this.deliver({ type: "terminal", outcome, turn_id: id });
      this.over(id);
    }
  }

  private deliver(event: OupEvent): void {
    const turn = this.turns.get(event.turn_id ?? "");
    const turns = event.type === "gap" ? [...this.turns.values()] : turn === undefined ? [] : [turn];
    const streams = [...this.streams, ...(this.backlog === undefined ? [] : [this.backlog])];
    const mark = this.ledger.mark(event.cursor, turns.length + streams.length);
    for (const one of turns) {
      one.take(event, mark);
    }
    for (const one of streams) {
      one.push(event, mark);
    }
  }

  /** What was replayed and nobody had asked for belongs to a turn, or to nobody. */
  private claim(turn?: Turn): void {
    const { backlog } = this;
    this.backlog = undefined;
    for (const { value, mark } of backlog?.drain() ?? []) {
      if (turn !== undefined && value.turn_id === turn.id && turn.live) {
        turn.take(value, mark);
      } else {
        mark.taken();
      }
    }
    if (turn?.live === false) {
      this.over(turn.id);
    }
  }

  private add(id: string, options: Pick<TurnOptions, "interruptOnLeave">): Turn {
    const port = {
      steer: (turn: string, input: Input): Promise<TurnSteerResult> =>
        this.ask(METHOD_TURN_STEER, MODELS.TurnSteerParams.encode({ session_id: this.name, expected_turn_id: turn, input: items(input) }), MODELS.TurnSteerResult),
      interrupt: (turn: string): Promise<TurnInterruptResult> =>
        this.ask(METHOD_TURN_INTERRUPT, MODELS.TurnInterruptParams.encode({ session_id: this.name, turn_id: turn }), MODELS.TurnInterruptResult),
    };
    const turn = new Turn(id, port, this.port.flow, options);
    this.turns.set(id, turn);
    return turn;
  }

  private async ask<T>(method: string, params: string, codec: Codec<T>): Promise<T> {
    this.alive();
    return readResult(method, await this.port.call(method, params), codec);
  }

  private stream(): Stream<OupEvent> {
    return new Stream(this.port.flow, (left) => this.streams.delete(left));
  }

  private alive(): void {
    if (this.fault !== undefined) {
      throw this.fault;
    }
  }
}

/** Whether a start that was repeated was refused only because the first one had arrived. */
function isOwn(fault: Error, id: string): boolean {
  return fault instanceof ServerError && (fault.is("turn_id_in_use") || fault.detail("turn_in_progress", MODELS.TurnInProgressErrorData)?.turn_id === id);
}
