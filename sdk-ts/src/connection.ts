/**
 * The extension's side of one session, without any input or output of its own: bytes of the host go in,
 * frames and one end come out.
 *
 * The life of a request:
 *
 *     receive -> frame -> classify -> request -> open | call | shutdown
 *     call -> handler -> settle     (the first outcome wins: reply, failure, cancellation, shutdown)
 *
 * Phases go one way only: new -> ready -> draining -> ended. `draining` follows the end of the host's
 * stream: nothing new is served, and calls that are still running may finish.
 */

import type { JsonObject, JsonValue } from "./_generated/json.js";
import { decodeUtf8, JsonSyntaxError, readJson, writeJson } from "./_generated/json.js";
import { METHOD_CANCEL_REQUEST, METHOD_INITIALIZE, METHOD_SHUTDOWN, METHOD_TOOL_CALL } from "./_generated/feature-wire.js";
import { METHOD_HOOK_RUN } from "./_generated/canonical-wire.js";
import type { RpcId } from "./_generated/wire.js";
import { Violation } from "./_generated/wire.js";
import { RunningCall } from "./call.js";
import { decode } from "./canonical.js";
import type { Dialect, Session, SessionHook, WireError } from "./dialect.js";
import type { BadEnvelope, Message } from "./envelope.js";
import { classify } from "./envelope.js";
import { CancelledError, FrameFault, LocalProtocolError, SchemaMismatch, ToolError } from "./errors.js";
import { frame, FrameReader, isBlank } from "./frames.js";
import type { ErrorName } from "./refusal.js";
import { Refusal } from "./refusal.js";
import { failure, outcome } from "./reply.js";
import type { Tool } from "./tool.js";

/** What a session does to its surroundings. None of the functions may throw. */
export interface Sink {
  /** Takes one frame, LF included. Frames go out in the order of the calls. */
  write(frame: Uint8Array): void;
  /** Resolves when the sink wants more frames. */
  ready(): Promise<void>;
  /** Takes one line for people. */
  log(line: string): void;
  /** Called once, behind the last frame. The status is what the process should exit with. */
  end(status: number): void;
}

/** What a connection serves. */
export interface Service {
  readonly dialect: Dialect;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Most calls at one time that the extension wants, whatever the host offers. */
  readonly maxConcurrent: number;
  /** Told about session hooks, in order. */
  readonly onHook: (hook: SessionHook) => unknown;
}

/** Status after an orderly end. */
const DONE = 0;
/** Status after a fault that ended the stream. */
const FAULT = 1;

/** One session. Used from one place: it calls nothing back into itself. */
export class Connection {
  private readonly dialect: Dialect;
  private readonly frames: FrameReader;
  private readonly active = new Map<RpcId, RunningCall>();
  private phase: "new" | "ready" | "draining" | "ended" = "new";
  private session: Session | undefined;
  private bound: number;

  constructor(
    private readonly service: Service,
    private readonly sink: Sink,
  ) {
    this.dialect = service.dialect;
    this.bound = this.dialect.firstBound;
    this.frames = new FrameReader({ bound: this.bound, strict: this.dialect.strict });
  }

  /** Takes bytes of the host as they arrive, and serves every frame that is complete. Never throws. */
  receive(chunk: Uint8Array): void {
    if (this.phase === "new" || this.phase === "ready") {
      this.frames.push(chunk);
      this.guard(() => {
        this.pump();
      });
    }
  }

  /** Takes the end of the host's stream. Calls that are running may finish; `abandon` ends the wait. */
  end(): void {
    if (this.phase === "draining" || this.phase === "ended") {
      return;
    }
    this.guard(() => {
      this.frames.end();
      this.phase = "draining";
      this.finishDrain();
    });
  }

  /** Ends the session at once: running calls are aborted and not answered. Does nothing once it has ended. */
  abandon(reason: string): void {
    this.stop(this.phase === "draining" ? DONE : FAULT, reason);
  }

  private guard(step: () => void): void {
    try {
      step();
    } catch (fault) {
      this.stop(FAULT, fault instanceof Error ? fault.message : String(fault));
    }
  }

  private pump(): void {
    while (this.phase === "new" || this.phase === "ready") {
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
      this.refuse(null, this.dialect.error("parse_error", `line that is no JSON: ${fault.message}`, undefined));
      return;
    }
    this.message(classify(this.dialect.wire, value));
  }

  private message(message: Message | BadEnvelope): void {
    switch (message.kind) {
      case "request":
        this.request(message.id, message.method, message.params);
        return;
      case "notification":
        if (message.method === METHOD_CANCEL_REQUEST && this.dialect.cancellation) {
          this.cancel(message.params);
        }
        return;
      case "result":
      case "error":
        if (this.dialect.strict) {
          throw new FrameFault(`answer to the id ${writeJson(message.id, 1)}, which this extension never used`);
        }
        this.sink.log(`ignored an answer to the id ${writeJson(message.id, 1)}, which this extension never used`);
        return;
      case "invalid":
        this.invalid(message);
        return;
    }
  }

  private invalid(message: BadEnvelope): void {
    const id = message.id ?? (this.dialect.strict ? undefined : null);
    if (message.asks && id !== undefined) {
      this.refuse(id, this.dialect.error("invalid_request", message.reason, undefined));
    } else {
      this.sink.log(`ignored a message that is no JSON-RPC message: ${message.reason}`);
    }
    if (this.dialect.strict && this.phase === "new") {
      throw new FrameFault(`message that is no JSON-RPC message before initialize: ${message.reason}`);
    }
  }

  private request(id: RpcId, method: string, params: JsonValue | undefined): void {
    try {
      if (this.active.has(id)) {
        throw new Refusal("invalid_request", `request id ${writeJson(id, 1)} is in use`);
      }
      if (method === METHOD_INITIALIZE) {
        this.open(id, params);
      } else if (this.session === undefined) {
        throw this.early(method);
      } else {
        this.serve(this.session, id, method, params);
      }
    } catch (fault) {
      const answer = this.faultOf(fault);
      this.refuse(id, answer);
      const fatal = method === METHOD_INITIALIZE ? this.session === undefined || this.dialect.strict : this.phase === "new" && this.dialect.strict;
      if (fatal) {
        throw new FrameFault(`refused ${JSON.stringify(method)}: ${fault instanceof Error ? fault.message : answer.message}`, { cause: fault });
      }
    }
  }

  /** The refusal of a request that came before initialize. */
  private early(method: string): Refusal {
    const message = "initialize must be the first request";
    return this.dialect.strict ? new Refusal("unknown_method", message, { method }) : new Refusal("invalid_request", message);
  }

  private open(id: RpcId, params: JsonValue | undefined): void {
    if (this.session !== undefined) {
      throw new Refusal("invalid_request", "initialize must be the first request, and the only one of its kind");
    }
    const session = this.dialect.initialize(params, [...this.service.tools.values()], this.service.maxConcurrent);
    this.bound = session.bound;
    if (!this.send(this.resultText(id, session.result))) {
      throw new Refusal("resource_exhausted", `the initialize result does not fit the offered ${String(session.bound)} bytes`);
    }
    this.session = session;
    this.phase = "ready";
    this.frames.setBound(session.bound);
    for (const warning of session.warnings) {
      this.sink.log(warning);
    }
  }

  private serve(session: Session, id: RpcId, method: string, params: JsonValue | undefined): void {
    switch (method) {
      case METHOD_TOOL_CALL:
        this.call(session, id, params);
        return;
      case METHOD_SHUTDOWN:
        this.shutdown(id, params);
        return;
      case METHOD_HOOK_RUN:
        if (session.sessionHooks && this.dialect.hook !== undefined && this.dialect.hookResult !== undefined) {
          this.hook(this.dialect.hook(params));
          this.send(this.resultText(id, this.dialect.hookResult()));
          return;
        }
    }
    throw new Refusal("unknown_method", `unknown method: ${method}`, { method });
  }

  private hook(hook: SessionHook): void {
    const failed = (fault: unknown): void => {
      this.sink.log(`session hook failed: ${describe(fault)}`);
    };
    try {
      Promise.resolve(this.service.onHook(hook)).catch(failed);
    } catch (fault) {
      failed(fault);
    }
  }

  private call(session: Session, id: RpcId, params: JsonValue | undefined): void {
    const request = this.dialect.call(params);
    const tool = this.service.tools.get(request.name);
    if (tool === undefined) {
      throw new Refusal("unknown_method", `unknown tool: ${request.name}`, { method: request.name });
    }
    if (this.active.size >= session.maxConcurrent) {
      throw new Refusal("resource_exhausted", `${String(session.maxConcurrent)} calls are running, which is the bound`);
    }
    const args = tool.args.parse(request.args);
    const call = new RunningCall({
      id,
      name: tool.name,
      workspace: request.workspace ?? session.workspace,
      context: request.context,
      session,
      dialect: this.dialect,
      send: (text) => this.sendFrom(text),
    });
    this.active.set(id, call);
    void this.run(call, tool, args);
  }

  /** Runs a handler to its end. Never rejects: whatever the handler does becomes an answer. */
  private async run(call: RunningCall, tool: Tool, args: unknown): Promise<void> {
    let text: string | undefined;
    let error: WireError | undefined;
    try {
      text = this.resultText(call.id, await this.answer(call, tool, args));
    } catch (fault) {
      this.sink.log(`tool ${JSON.stringify(tool.name)}: ${describe(fault)}`);
      error = this.dialect.error("internal_error", fault instanceof Error ? fault.message : String(fault), undefined);
    }
    this.settle(call, () => {
      if (error !== undefined) {
        this.refuse(call.id, error);
      } else if (text !== undefined && !this.send(text)) {
        this.refuse(call.id, this.dialect.tooLarge(`the result does not fit a frame of ${String(this.bound)} bytes`));
      }
    });
  }

  /** Returns the encoded result. Throws LocalProtocolError when the handler returned what cannot be sent. */
  private async answer(call: RunningCall, tool: Tool, args: unknown): Promise<string> {
    let reply: unknown;
    try {
      reply = await tool.run(call, args);
    } catch (fault) {
      if (!(fault instanceof ToolError || fault instanceof CancelledError)) {
        this.sink.log(`tool ${JSON.stringify(tool.name)} threw: ${describe(fault)}`);
      }
      return this.dialect.result(failure(fault instanceof Error && fault.message !== "" ? fault.message : `the tool failed: ${String(fault)}`));
    }
    return this.dialect.result(outcome(reply, tool.output));
  }

  /** Gives a call its one answer. Whoever comes second does nothing. */
  private settle(call: RunningCall, answer: () => void): void {
    if (call.settled || this.phase === "ended") {
      return;
    }
    call.settled = true;
    this.active.delete(call.id);
    this.guard(answer);
    this.finishDrain();
  }

  private finishDrain(): void {
    if (this.phase === "draining" && this.active.size === 0) {
      this.stop(DONE, undefined);
    }
  }

  private cancel(params: JsonValue | undefined): void {
    try {
      const { id, reason } = this.dialect.cancel(params);
      const call = this.active.get(id);
      if (call !== undefined) {
        this.settle(call, () => {
          this.refuse(call.id, this.dialect.cancelled(reason));
        });
        call.abort(new CancelledError(reason));
      }
    } catch (fault) {
      if (!(fault instanceof Violation)) {
        throw fault;
      }
      this.sink.log(`ignored a cancellation: ${fault.message}`);
    }
  }

  private shutdown(id: RpcId, params: JsonValue | undefined): void {
    const result = this.dialect.shutdown(params);
    const calls = [...this.active.values()];
    for (const call of calls) {
      this.settle(call, () => {
        this.refuse(call.id, this.dialect.interrupted());
      });
    }
    this.send(this.resultText(id, result));
    this.stop(DONE, undefined);
    for (const call of calls) {
      call.abort(new CancelledError("shutdown"));
    }
  }

  private stop(status: number, reason: string | undefined): void {
    if (this.phase === "ended") {
      return;
    }
    this.phase = "ended";
    if (reason !== undefined) {
      this.sink.log(reason);
    }
    const calls = [...this.active.values()];
    this.active.clear();
    this.sink.end(status);
    for (const call of calls) {
      call.settled = true;
      call.abort(new CancelledError("the session ended"));
    }
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

  private resultText(id: RpcId, result: string): string {
    return `{"id":${writeJson(id, 0)},"jsonrpc":"2.0","result":${result}}`;
  }

  /** Sends an error answer, without its data where that does not fit. */
  private refuse(id: RpcId | null, error: WireError): void {
    const { code, message } = error;
    const full = writeJson({ id, jsonrpc: "2.0", error }, this.dialect.maxDepth);
    if (!this.send(full) && !this.send(writeJson({ id, jsonrpc: "2.0", error: { code, message } }, this.dialect.maxDepth))) {
      this.sink.log(`left the request ${writeJson(id, 0)} without an answer: not even an error fits ${String(this.bound)} bytes`);
    }
  }

  /** Sends a message of a running call. A frame over the bound is the caller's fault. */
  private sendFrom(text: string): Promise<void> {
    if (this.phase !== "ended" && !this.send(text)) {
      throw new LocalProtocolError(`message that does not fit a frame of ${String(this.bound)} bytes: send less at a time`);
    }
    return this.sink.ready();
  }

  /** Reports whether the text fitted a frame and was sent. */
  private send(text: string): boolean {
    try {
      this.sink.write(frame(text, this.bound));
      return true;
    } catch (fault) {
      if (fault instanceof RangeError) {
        return false;
      }
      throw fault;
    }
  }
}

function where(fault: { readonly pointer: string; readonly reason: string }): JsonObject {
  return { pointer: fault.pointer, reason: fault.reason };
}

/** An error for the log, with its stack where it has one. */
function describe(fault: unknown): string {
  return fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
}
