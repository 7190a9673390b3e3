/**
 * The extension's side of one session, without any input or output of its own: bytes of the host go in,
 * frames and one end come out.
 *
 * The life of a request of the host:
 *
 *     receive -> frame -> classify -> request -> initialize | shutdown | serve (see OpenSession)
 *
 * Phases go one way only: new -> opening -> ready -> draining -> ended. `opening` lasts while the host admits
 * shortcuts; `draining` follows the end of the host's stream: nothing new is served, and requests that are still
 * running may finish.
 */

import { FEATURE_SHORTCUTS, METHOD_CANCEL_REQUEST, METHOD_INITIALIZE, METHOD_SHUTDOWN } from "./_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "./_generated/json.js";
import { decodeUtf8, JsonSyntaxError, readJson, writeJson } from "./_generated/json.js";
import type { RpcId } from "./_generated/wire.js";
import { Violation } from "./_generated/wire.js";
import { decode } from "./canonical.js";
import type { Dialect, WireError } from "./dialect.js";
import type { DynamicTools } from "./dynamic-tools.js";
import type { BadEnvelope, Message } from "./envelope.js";
import { classify } from "./envelope.js";
import { FrameFault, SchemaMismatch } from "./errors.js";
import { FrameReader, isBlank } from "./frames.js";
import type { Port } from "./open-session.js";
import { OpenSession, resultText } from "./open-session.js";
import type { ErrorName } from "./refusal.js";
import { Refusal } from "./refusal.js";
import type { Registry } from "./registry.js";
import { salvage } from "./salvage.js";
import type { Scratch } from "./scratch.js";
import { NO_SCRATCH } from "./scratch.js";
import type { Sources } from "./source.js";
import { NO_SOURCES } from "./source.js";

/** What a session does to its surroundings. None of the functions may throw. */
export interface Sink {
  /**
   * Takes one frame as text, without its LF. Frames go out in the order of the calls. Returns false, and takes
   * nothing, where it has more UTF-8 bytes than the bound.
   */
  write(text: string, bound: number): boolean;
  /** Resolves when the sink wants more frames. */
  ready(): Promise<void>;
  /** Takes one line for people. */
  log(line: string): void;
  /** Where the host leaves what is too large for a line; absent where there is no such place. */
  readonly scratch?: Scratch;
  /** Opens what a migration reads; absent where there is no file system. */
  readonly sources?: Sources;
  /** Called once, behind the last frame. The status is what the process should exit with. */
  end(status: number): void;
}

/** What a connection serves. */
export interface Service {
  readonly dialect: Dialect;
  readonly registry: Registry;
  /** Told about the tools of the session once it is open. */
  readonly opened: (tools: DynamicTools) => void;
}

/** Status after an orderly end. */
const DONE = 0;
/** Status after a fault that ended the stream. */
const FAULT = 1;

/** Most UTF-16 units of an error text whose answer would not fit in full. */
const MAX_ERROR_UNITS = 1024;

/** One session. Used from one place: it calls nothing back into itself. */
export class Connection {
  private readonly dialect: Dialect;
  private readonly frames: FrameReader;
  private phase: "new" | "opening" | "ready" | "draining" | "ended" = "new";
  private opened: OpenSession | undefined;
  private bound: number;

  constructor(
    private readonly service: Service,
    private readonly sink: Sink,
  ) {
    this.dialect = service.dialect;
    this.bound = this.dialect.firstBound;
    this.frames = new FrameReader({ bound: this.bound, strict: this.dialect.strict });
  }

  /**
   * Takes bytes of the host as they arrive, and serves every frame that is complete. Never throws. The bytes are the
   * caller's again when this returns.
   */
  receive(chunk: Uint8Array): void {
    if (this.reading()) {
      this.frames.push(chunk);
      this.guard(() => {
        this.pump();
      });
    }
  }

  /** Takes the end of the host's stream. Requests that are running may finish; `abandon` ends the wait. */
  end(): void {
    if (!this.reading()) {
      return;
    }
    this.guard(() => {
      this.frames.end();
      this.phase = "draining";
      this.opened?.drain();
      this.finishDrain();
    });
  }

  /** Ends the session at once: running requests are aborted and not answered. Does nothing once it has ended. */
  abandon(reason: string): void {
    this.stop(this.phase === "draining" ? DONE : FAULT, reason);
  }

  private reading(): boolean {
    return this.phase !== "draining" && this.phase !== "ended";
  }

  private guard(step: () => void): void {
    try {
      step();
    } catch (fault) {
      this.stop(FAULT, fault instanceof Error ? fault.message : String(fault));
    }
  }

  private pump(): void {
    while (this.reading()) {
      const bytes = this.frames.next();
      if (bytes === undefined) {
        return;
      }
      this.frame(bytes);
    }
  }

  private frame(bytes: Uint8Array): void {
    if (!this.dialect.strict && isBlank(bytes)) {
      return;
    }
    let value: JsonValue;
    try {
      value = this.dialect.strict ? decode(bytes) : readJson(decodeUtf8(bytes), { maxDepth: this.dialect.maxDepth });
    } catch (fault) {
      if (!(fault instanceof JsonSyntaxError)) {
        throw fault;
      }
      if (this.dialect.strict) {
        throw new FrameFault(`frame that is no canonical JSON: ${fault.message}`, { cause: fault });
      }
      this.unreadable(bytes, fault);
      return;
    }
    this.message(classify(this.dialect.wire, value));
  }

  /** Answers a line that is no strict JSON; what its envelope names, where only something below that is wrong. */
  private unreadable(bytes: Uint8Array, reason: JsonSyntaxError): void {
    const found = salvage(bytes, this.dialect.maxDepth);
    if (found === undefined) {
      this.refuse(null, this.dialect.error("parse_error", `line that is no JSON: ${reason.message}`, undefined));
      return;
    }
    const { envelope, fault } = found;
    const message = classify(this.dialect.wire, envelope);
    if (message.kind === "request") {
      this.request(message.id, message.method, undefined, fault);
    } else if (message.kind === "invalid") {
      this.invalid(message);
    } else if (message.kind === "notification" || message.id === null || this.opened?.children.deliverBroken(message.id, fault.message) !== true) {
      this.sink.log(`ignored a message: ${fault.message}`);
    }
  }

  private message(message: Message | BadEnvelope): void {
    switch (message.kind) {
      case "request":
        this.request(message.id, message.method, message.params);
        return;
      case "notification":
        if (message.method !== METHOD_CANCEL_REQUEST) {
          this.opened?.notified(message.method, message.params);
        } else if (this.dialect.cancellation) {
          this.cancel(message.params);
        }
        return;
      case "result":
      case "error":
        this.answer(message);
        return;
      case "invalid":
        this.invalid(message);
        return;
    }
  }

  private answer(message: Extract<Message, { kind: "result" | "error" }>): void {
    const delivery = this.opened?.deliver(message) ?? "unknown";
    if (delivery === "delivered") {
      return;
    }
    const id = writeJson(message.id, 1);
    if (delivery === "late") {
      this.sink.log(`ignored an answer to the id ${id}, which came too late`);
    } else if (this.dialect.strict) {
      throw new FrameFault(`answer to the id ${id}, which is no open request of this extension`);
    } else {
      this.sink.log(`ignored an answer to the id ${id}, which is no open request of this extension`);
    }
  }

  private invalid(message: BadEnvelope): void {
    const id = message.id ?? (this.dialect.strict ? undefined : null);
    if (message.answers && message.id !== undefined && this.opened?.children.deliverBroken(message.id, message.reason) === true) {
      this.sink.log(`an answer is no JSON-RPC response: ${message.reason}`);
    } else if (message.asks && id !== undefined) {
      this.refuse(id, this.dialect.error("invalid_request", message.reason, undefined));
    } else {
      this.sink.log(`ignored a message that is no JSON-RPC message: ${message.reason}`);
    }
    if (this.dialect.strict && this.phase === "new") {
      throw new FrameFault(`message that is no JSON-RPC message before initialize: ${message.reason}`);
    }
  }

  private request(id: RpcId, method: string, params: JsonValue | undefined, broken?: Violation): void {
    try {
      if (this.opened?.has(id) === true) {
        throw new Refusal("invalid_request", `request id ${writeJson(id, 1)} is in use`);
      }
      if (broken !== undefined) {
        throw broken;
      }
      if (method === METHOD_INITIALIZE) {
        this.initialize(id, params);
      } else if (this.opened === undefined || this.phase === "opening") {
        throw this.early(method);
      } else if (method === METHOD_SHUTDOWN) {
        this.shutdown(this.opened, id, params);
      } else {
        this.opened.serve(id, method, params);
      }
    } catch (fault) {
      this.refused(id, method, fault);
    }
  }

  private refused(id: RpcId, method: string, fault: unknown): void {
    const answer = this.faultOf(fault);
    this.refuse(id, answer);
    const fatal = method === METHOD_INITIALIZE ? this.phase === "new" || this.dialect.strict : this.phase === "new" && this.dialect.strict;
    if (fatal) {
      throw new FrameFault(`refused ${JSON.stringify(method)}: ${fault instanceof Error ? fault.message : answer.message}`, { cause: fault });
    }
  }

  /** The refusal of a request that came before the answer to initialize. */
  private early(method: string): Refusal {
    const message = "initialize must be the first request";
    return this.dialect.strict ? new Refusal("unknown_method", message, { method }) : new Refusal("invalid_request", message);
  }

  private initialize(id: RpcId, params: JsonValue | undefined): void {
    if (this.opened !== undefined) {
      throw new Refusal("invalid_request", "initialize must be the first request, and the only one of its kind");
    }
    const { registry } = this.service;
    const session = this.dialect.initialize(params, registry);
    const open = new OpenSession(this.dialect, session, registry, this.port());
    const shortcuts = session.features.has(FEATURE_SHORTCUTS) && registry.shortcuts.size > 0;
    if (!shortcuts || typeof id !== "number") {
      this.open(open, id);
      return;
    }
    this.opened = open;
    this.phase = "opening";
    void open.admitShortcuts(id).then(() => {
      this.guard(() => {
        if (this.phase === "opening") {
          this.openLater(open, id);
        }
      });
    });
  }

  /** Opens a session whose shortcuts the host has judged. */
  private openLater(open: OpenSession, id: RpcId): void {
    this.phase = "new";
    try {
      this.open(open, id);
    } catch (fault) {
      this.refused(id, METHOD_INITIALIZE, fault);
    }
  }

  private open(open: OpenSession, id: RpcId): void {
    const { session } = open;
    this.bound = session.bound;
    if (!this.send(resultText(id, session.result))) {
      throw new Refusal("resource_exhausted", `the initialize result does not fit the offered ${String(session.bound)} bytes`);
    }
    this.opened = open;
    this.phase = "ready";
    this.frames.setBound(session.bound);
    for (const warning of session.warnings) {
      this.sink.log(warning);
    }
    this.service.opened(open.dynamicTools);
    open.ready();
  }

  private port(): Port {
    return {
      send: (text) => this.send(text),
      refuse: (id, error) => {
        this.refuse(id, error);
      },
      ready: () => this.sink.ready(),
      scratch: this.sink.scratch ?? NO_SCRATCH,
      sources: this.sink.sources ?? NO_SOURCES,
      log: (line) => {
        this.sink.log(line);
      },
      guard: (step) => {
        this.guard(step);
      },
      answered: () => {
        this.finishDrain();
      },
    };
  }

  private finishDrain(): void {
    if (this.phase === "draining" && this.opened?.idle !== false) {
      this.stop(DONE, undefined);
    }
  }

  private cancel(params: JsonValue | undefined): void {
    try {
      const { id, reason } = this.dialect.cancel(params);
      this.opened?.cancel(id, reason);
    } catch (fault) {
      if (!(fault instanceof Violation)) {
        throw fault;
      }
      this.sink.log(`ignored a cancellation: ${fault.message}`);
    }
  }

  private shutdown(open: OpenSession, id: RpcId, params: JsonValue | undefined): void {
    const result = this.dialect.shutdown(params);
    open.interrupt();
    this.send(resultText(id, result));
    this.stop(DONE, undefined);
  }

  private stop(status: number, reason: string | undefined): void {
    if (this.phase === "ended") {
      return;
    }
    this.phase = "ended";
    if (reason !== undefined) {
      this.sink.log(reason);
    }
    this.sink.end(status);
    this.opened?.close();
  }

  private faultOf(fault: unknown): WireError {
    if (fault instanceof Refusal) {
      return this.dialect.error(fault.error, fault.message, fault.data);
    }
    if (fault instanceof Violation) {
      return this.dialect.error(fault.error as ErrorName, fault.message, where(fault));
    }
    if (fault instanceof SchemaMismatch) {
      return this.dialect.error("invalid_params", `arguments: ${fault.message}`, where(fault));
    }
    return this.dialect.error("internal_error", fault instanceof Error ? fault.message : String(fault), undefined);
  }

  /** Sends an error answer, without its data and with less of its text where that does not fit. */
  private refuse(id: RpcId | null, error: WireError): void {
    const { code, message } = error;
    const full = writeJson({ id, jsonrpc: "2.0", error }, this.dialect.maxDepth);
    if (!this.send(full) && !this.send(writeJson({ id, jsonrpc: "2.0", error: { code, message: message.slice(0, MAX_ERROR_UNITS).toWellFormed() } }, this.dialect.maxDepth))) {
      this.sink.log(`left the request ${writeJson(id, 0)} without an answer: not even an error fits ${String(this.bound)} bytes`);
    }
  }

  /** Reports whether the text fitted a frame and was sent. */
  private send(text: string): boolean {
    return this.phase === "ended" || this.sink.write(text, this.bound);
  }
}

function where(fault: { readonly pointer: string; readonly reason: string }): JsonObject {
  return { pointer: fault.pointer, reason: fault.reason };
}
