/** A session that is open: the requests of the host that run in it, and everything they may ask for. */

import type { ToolsRegisterResult } from "./_generated/feature-wire.js";
import { METHOD_SHORTCUT_REGISTER, METHOD_TOOL_CALL, MODELS } from "./_generated/feature-wire.js";
import type { JsonValue } from "./_generated/json.js";
import { writeJson } from "./_generated/json.js";
import type { RpcId } from "./_generated/wire.js";
import { Bus } from "./bus.js";
import { catalogCaller } from "./caller.js";
import { Children } from "./children.js";
import type { Delivery } from "./children.js";
import type { Dialect, Serving, Session, WireError, Work } from "./dialect.js";
import type { CatalogWire } from "./dynamic-tools.js";
import { DynamicTools } from "./dynamic-tools.js";
import type { Message } from "./envelope.js";
import { CancelledError, ToolError, TooLarge } from "./errors.js";
import { EventQueue } from "./events.js";
import type { Link } from "./link.js";
import { encodeLocal, NoJson } from "./local.js";
import { Migration } from "./migration.js";
import { Memory } from "./owner.js";
import { Streams } from "./provider-stream.js";
import { Refusal } from "./refusal.js";
import type { Registry } from "./registry.js";
import { RunningRequest, RunningSession } from "./running.js";
import type { Scope } from "./scope.js";
import type { Scratch } from "./scratch.js";
import type { Sources } from "./source.js";

/** What an open session does to the connection it belongs to. */
export interface Port {
  /** Reports whether the text fitted a frame and was sent. */
  send(text: string): boolean;
  /** Sends an error answer. */
  refuse(id: RpcId, error: WireError): void;
  /** Resolves when the host takes more. */
  ready(): Promise<void>;
  log(line: string): void;
  /** Where the host leaves what is too large for a line. */
  readonly scratch: Scratch;
  /** Opens what a migration reads. */
  readonly sources: Sources;
  /** Runs a step whose faults end the connection. */
  guard(step: () => void): void;
  /** Called after every answer. */
  answered(): void;
}

/** Runs requests from their opening to their one answer. */
export class OpenSession implements Link {
  readonly children: Children;
  readonly memory = new Memory();
  readonly bus = new Bus();
  readonly dynamicTools: DynamicTools;
  private readonly serving: Serving;
  private readonly streams = new Streams();
  private readonly active = new Map<RpcId, RunningRequest>();
  /** Answered by shutdown; their handlers learn of it once the session is over. */
  private readonly interrupted: RunningRequest[] = [];
  private readonly aftermaths = new Set<RunningRequest>();
  private readonly over = new AbortController();
  private readonly handle: RunningSession;
  private readonly events: EventQueue;
  private readonly shortcuts = new Set<string>();
  private state: "open" | "draining" | "closed" = "open";

  constructor(
    readonly dialect: Dialect,
    readonly session: Session,
    private readonly registry: Registry,
    private readonly port: Port,
  ) {
    this.children = new Children({ send: (text) => port.send(text), cancellation: dialect.cancellation });
    this.dynamicTools = new DynamicTools(registry.tools, () => this.catalogWire());
    this.serving = { registry, session, dynamicTools: this.dynamicTools, streams: this.streams, sources: port.sources, migration: registry.migration && new Migration(registry.migration) };
    this.handle = new RunningSession(this, session.context, this.dynamicTools);
    this.events = new EventQueue(this, registry, this.streams, this.handle, this.shortcuts);
  }

  get scratch(): Scratch {
    return this.port.scratch;
  }

  get signal(): AbortSignal {
    return this.over.signal;
  }

  /** Whether no request is running. */
  get idle(): boolean {
    return this.active.size === 0;
  }

  /** Whether a request with this id is running. */
  has(id: RpcId): boolean {
    return this.active.has(id);
  }

  log(line: string): void {
    this.port.log(line);
  }

  assertOpen(): void {
    if (this.state !== "open") {
      throw new CancelledError("the session is ending");
    }
  }

  async sendFrom(text: string): Promise<void> {
    if (this.state !== "closed" && !this.port.send(text)) {
      throw new TooLarge("the message does not fit a frame: send less at a time");
    }
    await this.port.ready();
  }

  /** Offers the shortcuts to the host, inside the initialize request. Never rejects: a refused one is logged. */
  async admitShortcuts(initialize: number): Promise<void> {
    const offers = [...this.registry.shortcuts.values()].map(async ({ id, key, description }) => {
      try {
        const params = encodeLocal(MODELS.ShortcutRegisterParams, { parent_request_id: initialize, id, key, description });
        await this.children.request(METHOD_SHORTCUT_REGISTER, params, undefined, undefined);
        this.shortcuts.add(id);
      } catch (fault) {
        this.log(`the shortcut ${JSON.stringify(id)} is not available: ${fault instanceof Error ? fault.message : String(fault)}`);
      }
    });
    await Promise.all(offers);
  }

  /** Tells the author that the session is ready. */
  ready(): void {
    for (const run of this.registry.ready) {
      this.background("onReady", () => run(this.handle));
    }
  }

  /** Serves a request. Throws Refusal, Violation or SchemaMismatch for one that is not served. */
  serve(id: RpcId, method: string, params: JsonValue | undefined): void {
    const work = this.dialect.open(method, params, this.serving);
    if (this.active.size >= this.session.maxConcurrent && (method === METHOD_TOOL_CALL || !this.dialect.strict)) {
      throw new Refusal("resource_exhausted", `${String(this.session.maxConcurrent)} requests are running, which is the bound`);
    }
    this.memory.meet(work.context);
    const { name, context, sessionLeaf } = work;
    const scope = new RunningRequest({ id, method, name, context, link: this, dynamicTools: this.dynamicTools, sessionLeaf });
    this.active.set(id, scope);
    this.run(scope, work);
  }

  /** Takes a cancellation of the host, for a request of either side. */
  cancel(id: RpcId, reason: string | undefined): void {
    const scope = this.active.get(id);
    if (scope === undefined) {
      this.children.cancelledByHost(id, reason);
      return;
    }
    const cause = new CancelledError(reason);
    this.settle(scope, "cancelled", cause, () => {
      this.port.refuse(id, this.dialect.cancelled(reason));
    }, true);
    scope.abort(cause);
  }

  /** Takes an answer of the host. */
  deliver(message: Extract<Message, { kind: "result" | "error" }>): Delivery {
    return this.children.deliver(message);
  }

  /** Takes a notification of the host. */
  notified(method: string, params: JsonValue | undefined): void {
    if (this.state === "open") {
      this.events.take(method, params);
    }
  }

  /** The host is gone or going: what needs it ends, and requests that are running may finish. */
  drain(): void {
    if (this.state === "open") {
      this.state = "draining";
      this.events.stop();
      this.end(new CancelledError("the session is ending"));
    }
  }

  /** Answers every request that is running in place of its handler. */
  interrupt(): void {
    const cause = new CancelledError("shutdown");
    for (const scope of [...this.active.values()]) {
      this.settle(scope, "cancelled", cause, () => {
        this.port.refuse(scope.id, this.dialect.interrupted());
      });
      this.interrupted.push(scope);
    }
  }

  /** Ends everything; requests that are running get no answer. */
  close(): void {
    this.drain();
    this.state = "closed";
    const scopes = [...this.active.values()];
    this.active.clear();
    for (const scope of scopes) {
      scope.settle("cancelled");
      scope.abort(new CancelledError("the session ended"));
    }
    for (const scope of this.interrupted) {
      scope.abort(new CancelledError("shutdown"));
    }
  }

  private end(cause: CancelledError): void {
    this.children.closeAll(cause);
    for (const scope of this.aftermaths) {
      scope.abort(cause);
    }
    this.over.abort(cause);
  }

  private catalogWire(): CatalogWire {
    const { dialect, session } = this;
    const ask = catalogCaller(this, this.handle);
    return {
      api: dialect.api,
      features: session.features,
      check: (tool) => {
        dialect.checkTool(tool);
      },
      definition: (tool) => dialect.definition(tool, session.features, (line) => { this.log(line); }) as never,
      register: (params) => ask("tools.register", params) as Promise<ToolsRegisterResult>,
      unregister: (params) => ask("tools.unregister", params) as Promise<ToolsRegisterResult>,
    };
  }

  /** Runs a handler. Never throws: whatever it does becomes an answer, on the spot where it does not wait. */
  private run(scope: RunningRequest, work: Work): void {
    let reply: unknown;
    try {
      reply = work.run(scope);
      if (isThenable(reply)) {
        void this.wait(scope, work, reply);
        return;
      }
    } catch (fault) {
      this.conclude(scope, work, () => this.failure(work, fault));
      return;
    }
    this.conclude(scope, work, () => this.encode(work, reply));
  }

  private async wait(scope: RunningRequest, work: Work, waited: PromiseLike<unknown>): Promise<void> {
    let reply: unknown;
    try {
      reply = await waited;
    } catch (fault) {
      this.conclude(scope, work, () => this.failure(work, fault));
      return;
    }
    this.conclude(scope, work, () => this.encode(work, reply));
  }

  /** Answers a request whose handler has come to its end with the result that `encode` gives, or with what it throws. */
  private conclude(scope: RunningRequest, work: Work, encode: () => string): void {
    let text: string;
    try {
      text = encode();
    } catch (fault) {
      this.log(`${work.label}: ${describe(fault)}`);
      const error = fault instanceof HandlerFault ? this.dialect.broken() : this.errorOf(fault);
      this.settle(scope, "cancelled", undefined, () => {
        this.port.refuse(scope.id, error);
      });
      return;
    }
    this.settle(scope, "settled", undefined, () => {
      this.sendResult(scope, work, text);
    });
  }

  private errorOf(fault: unknown): WireError {
    const message = fault instanceof Error ? fault.message : String(fault);
    if (fault instanceof Refusal) {
      return this.dialect.error(fault.error, fault.message, fault.data);
    }
    return fault instanceof TooLarge ? this.dialect.tooLarge(message) : this.dialect.error("internal_error", message, undefined);
  }

  /** Encodes what a handler threw. Throws HandlerFault, or a Refusal, where failures are error answers. */
  private failure(work: Work, fault: unknown): string {
    if (work.failure === undefined) {
      throw isA(fault, Refusal) ? fault : new HandlerFault(fault);
    }
    if (!isA(fault, ToolError) && !isA(fault, CancelledError)) {
      this.log(`${work.label} threw: ${describe(fault)}`);
    }
    return work.failure(failureText(fault));
  }

  /** Encodes what a handler returned. Throws LocalProtocolError for a value that cannot be sent. */
  private encode(work: Work, reply: unknown): string {
    try {
      return work.encode(reply);
    } catch (fault) {
      if ((fault instanceof TooLarge || fault instanceof NoJson) && work.failure !== undefined && work.tooLargeIsFailure) {
        this.log(`${work.label}: ${fault.message}`);
        return work.failure(fault instanceof NoJson ? failureText(fault) : `the result is too large: ${work.label}: ${fault.message}`);
      }
      throw fault;
    }
  }

  private sendResult(scope: RunningRequest, work: Work, result: string): void {
    if (this.port.send(resultText(scope.id, result))) {
      return;
    }
    const message = `the result does not fit a frame of ${String(this.session.bound)} bytes`;
    const failure = work.tooLargeIsFailure ? work.failure?.(message) : undefined;
    if (failure === undefined || !this.port.send(resultText(scope.id, failure))) {
      this.port.refuse(scope.id, this.dialect.tooLarge(message));
    }
  }

  /** Gives a request its one answer and ends its children, of which `tell` tells the host. Whoever comes second does nothing. */
  private settle(scope: RunningRequest, state: "settled" | "cancelled", cause: CancelledError | undefined, answer: () => void, tell = false): void {
    if (scope.settled || this.state === "closed") {
      return;
    }
    const later = scope.settle(state);
    this.active.delete(scope.id);
    this.children.close(scope, cause, tell);
    this.port.guard(answer);
    if (state === "settled" && later !== undefined) {
      for (const work of later) {
        this.follow(scope, work);
      }
    }
    this.port.answered();
  }

  /** Runs what follows an answer. */
  private follow(scope: RunningRequest, work: (scope: Scope) => unknown): void {
    if (this.state !== "open") {
      return;
    }
    const aftermath = scope.aftermath();
    this.aftermaths.add(aftermath);
    this.background("after()", async () => {
      try {
        await work(aftermath);
      } finally {
        this.aftermaths.delete(aftermath);
      }
    });
  }

  /** Runs something of the author that nobody waits for. What it throws is logged. */
  private background(label: string, run: () => unknown): void {
    const start = async (): Promise<void> => {
      // Nothing runs on the call stack that reads frames.
      await Promise.resolve();
      try {
        await run();
      } catch (fault) {
        if (!(fault instanceof CancelledError)) {
          this.log(`${label}: ${describe(fault)}`);
        }
      }
    };
    void start();
  }
}

/** Something a handler threw that becomes an error answer without its text. */
class HandlerFault extends Error {
  override readonly name = "HandlerFault";

  constructor(fault: unknown) {
    super(describe(fault), { cause: fault });
    this.stack = describe(fault);
  }
}

/** The frame of a result. */
export function resultText(id: RpcId, result: string): string {
  return `{"id":${writeJson(id, 0)},"jsonrpc":"2.0","result":${result}}`;
}

/** Most bytes of a failure that the host reads. */
const MAX_FAILURE_BYTES = 4096;

/** An error for the log, with its stack where it has one. Never throws, whatever was thrown. */
export function describe(fault: unknown): string {
  return readable(() => (fault instanceof Error ? (fault.stack ?? fault.message) : fault)) ?? UNREADABLE;
}

/** The text of what a tool threw, which can always be written. */
function failureText(fault: unknown): string {
  const message = readable(() => (fault instanceof Error ? fault.message : ""));
  const text = message === undefined || message === "" ? `the tool failed: ${readable(() => fault) ?? UNREADABLE}` : message;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_FAILURE_BYTES));
  return text.slice(0, read).toWellFormed();
}

/** Whether a handler returned something to wait for. Throws what the value throws. */
function isThenable(reply: unknown): reply is PromiseLike<unknown> {
  return ((typeof reply === "object" && reply !== null) || typeof reply === "function") && "then" in reply && typeof reply.then === "function";
}

/** Whether something thrown is of a class; a proxy may refuse to tell. */
function isA(fault: unknown, type: abstract new (...args: never[]) => Error): boolean {
  try {
    return fault instanceof type;
  } catch {
    return false;
  }
}

const UNREADABLE = "what was thrown cannot be read";

/** Runs code of the author that gives a text: getters, toString, the traps of a proxy. Undefined where it throws. */
function readable(read: () => unknown): string | undefined {
  try {
    return String(read());
  } catch {
    return undefined;
  }
}
