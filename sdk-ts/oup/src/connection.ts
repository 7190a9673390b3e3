/** JSON-RPC over one link: every request settles once, in the order in which the frames came. */

import type { JsonObject, JsonValue } from "./_generated/json.js";
import { isObject, JsonSyntaxError, readJson, utf8Length, writeJson } from "./_generated/json.js";
import { ERROR_INTERNAL_ERROR, ERROR_METHOD_NOT_SUPPORTED, MAX_TEXT_FRAME_BYTES, MODELS, PROTOCOL, WIRE } from "./_generated/oup-wire.js";
import { Violation } from "./_generated/wire.js";
import type { Clock } from "./environment.js";
import { Disconnected, ProtocolError, serverError, TimedOut } from "./errors.js";
import type { Link, LinkEnd } from "./link.js";

/** What becomes of a request. It is called once, before any frame behind the answer is looked at. */
export type Settle = (outcome: { readonly result: JsonValue } | { readonly fault: Error }) => void;

/** What a connection tells. */
export interface ConnectionEvents {
  notified(method: string, params: JsonValue, text: string): void;
  /** So many answers are waited for. */
  expects(answers: number): void;
  /** Nothing more comes; every request has settled. */
  ended(end: LinkEnd): void;
}

/** A request, ready to go. */
export interface Request {
  readonly method: string;
  /** The params as JSON. */
  readonly params: string;
  readonly timeoutMs: number;
  readonly settle: Settle;
}

interface Waiting {
  readonly method: string;
  readonly settle: Settle;
  readonly stop: () => void;
}

/** A connection over one link. It is made first and given its link when that is up. */
export class Connection {
  private readonly waiting = new Map<string, Waiting>();
  private link: Link | undefined;
  private count = 0;
  private over = false;
  private heard: number;

  constructor(
    private readonly clock: Clock,
    private readonly events: ConnectionEvents,
  ) {
    this.heard = clock.now();
  }

  /** Milliseconds since the last frame. */
  get silence(): number {
    return this.clock.now() - this.heard;
  }

  get transport(): Link["transport"] {
    return this.link?.transport ?? "websocket";
  }

  /** Whether reading can be stopped. */
  get pausable(): boolean {
    return this.link?.pause !== undefined;
  }

  carry(link: Link): void {
    this.link = link;
    if (this.over) {
      void link.close();
    }
  }

  /** Sends a request. The link is up. */
  request({ method, params, timeoutMs, settle }: Request): () => void {
    this.count += 1;
    const id = String(this.count);
    const frame = frameText(`"id":${JSON.stringify(id)},`, method, params);
    const settleOnce = (fault: Error): void => {
      this.waiting.get(id)?.stop();
      if (this.waiting.delete(id)) {
        this.events.expects(this.waiting.size);
        settle({ fault });
      }
    };
    if (this.over) {
      settle({ fault: new Disconnected("the connection has ended", [method]) });
      return () => undefined;
    }
    const stop = Number.isFinite(timeoutMs)
      ? this.clock.after(timeoutMs, () => {
          settleOnce(new TimedOut(method, timeoutMs));
        })
      : () => undefined;
    this.waiting.set(id, { method, settle, stop });
    this.events.expects(this.waiting.size);
    this.link?.send(frame);
    return () => {
      settleOnce(new ProtocolError(`${method} was given up by its caller`));
    };
  }

  /** Sends a notification. */
  notify(method: string, params: JsonObject): void {
    if (!this.over) {
      this.link?.send(frameText("", method, paramsText(params)));
    }
  }

  /** Takes one frame of the link. Never throws: what is no frame ends the connection. */
  receive(text: string): void {
    if (this.over) {
      return;
    }
    this.heard = this.clock.now();
    let frame: JsonObject;
    try {
      frame = readFrame(text);
    } catch (fault) {
      this.fail(fault instanceof Error ? fault : new ProtocolError(String(fault)));
      return;
    }
    const { method, id } = frame;
    if (typeof method === "string") {
      // A request of a server has no place in the protocol; it is passed over like a notification nobody knows.
      if (!Object.hasOwn(frame, "id")) {
        this.events.notified(method, frame["params"] ?? null, text);
      }
      return;
    }
    // An answer without a string is to a frame that the server could not read.
    const asked = typeof id === "string" ? this.waiting.get(id) : undefined;
    if (asked !== undefined && typeof id === "string") {
      this.waiting.delete(id);
      asked.stop();
      this.events.expects(this.waiting.size);
      asked.settle(outcome(frame, asked.method));
    }
  }

  /** The link has ended. */
  end(end: LinkEnd): void {
    if (this.over) {
      return;
    }
    this.over = true;
    const inFlight = [...this.waiting.values()];
    this.waiting.clear();
    this.events.expects(0);
    const methods = inFlight.map(({ method }) => method);
    for (const { method, settle, stop } of inFlight) {
      stop();
      const tail = "it may have been carried out or not";
      settle({ fault: new Disconnected(`${end.reason}; ${method} was in flight: ${tail}`, methods, true, { cause: end.fault }) });
    }
    this.events.ended(end);
  }

  /** Stops or starts reading, where the link can. */
  read(go: boolean): void {
    (go ? this.link?.resume : this.link?.pause)?.();
  }

  /** Gives the connection up at once: everything in flight fails, and the link is closed behind that. */
  async close(reason: string, fault?: Error): Promise<void> {
    this.end(fault === undefined ? { reason } : { reason, fault });
    await this.link?.close();
  }

  private fail(fault: Error): void {
    void this.close(fault.message, fault);
  }
}

/** The params of a request as JSON. Throws TypeError for what JSON cannot carry. */
export function paramsText(params: unknown): string {
  return writeJson(params, WIRE.maxDepth);
}

function frameText(id: string, method: string, params: string): string {
  const text = `{${id}"jsonrpc":"${PROTOCOL.jsonrpc}","method":${JSON.stringify(method)},"params":${params}}`;
  const bytes = utf8Length(text);
  if (bytes > MAX_TEXT_FRAME_BYTES) {
    throw new ProtocolError(`the frame of ${method} has ${String(bytes)} bytes, and ${String(MAX_TEXT_FRAME_BYTES)} are the most: send less at once`);
  }
  return text;
}

/** A frame, with its envelope judged. Throws ProtocolError. */
function readFrame(text: string): JsonObject {
  // Every UTF-16 unit makes at least one byte, so that most frames need no count.
  if (text.length > MAX_TEXT_FRAME_BYTES || (text.length * 3 > MAX_TEXT_FRAME_BYTES && utf8Length(text) > MAX_TEXT_FRAME_BYTES)) {
    throw new ProtocolError(`a frame of the server has more than ${String(MAX_TEXT_FRAME_BYTES)} bytes`);
  }
  let frame: JsonValue;
  try {
    frame = readJson(text, { maxDepth: WIRE.maxDepth });
  } catch (fault) {
    throw fault instanceof JsonSyntaxError ? new ProtocolError(`a frame of the server is not strict JSON: ${fault.message}`, { cause: fault }) : fault;
  }
  if (!isObject(frame) || frame["jsonrpc"] !== PROTOCOL.jsonrpc) {
    throw new ProtocolError(`a frame of the server is no object of JSON-RPC ${PROTOCOL.jsonrpc}`);
  }
  const kinds = ["method", "result", "error"].filter((name) => Object.hasOwn(frame, name));
  if (kinds.length !== 1) {
    throw new ProtocolError("a frame of the server is neither a notification nor one answer");
  }
  const { method, id } = frame;
  if (kinds[0] === "method" ? typeof method !== "string" || method === "" : typeof id !== "string" && !(id === null && kinds[0] === "error")) {
    throw new ProtocolError(kinds[0] === "method" ? "a frame of the server has no name for its method" : "the id of an answer is no string");
  }
  return frame;
}

function outcome(frame: JsonObject, method: string): { readonly result: JsonValue } | { readonly fault: Error } {
  if (!Object.hasOwn(frame, "error")) {
    const result = frame["result"] ?? null;
    const refusal = unsupported(result);
    return refusal === undefined ? { result } : { fault: serverError({ code: ERROR_METHOD_NOT_SUPPORTED.code, message: refusal, data: result }, method) };
  }
  try {
    return { fault: serverError(MODELS.ErrorObject.read(frame["error"] ?? null), method) };
  } catch (fault) {
    if (!(fault instanceof Violation)) {
      throw fault;
    }
    const broken = new ProtocolError(`the error of ${method} breaks its model: ${fault.message}`, { cause: fault });
    const { code, message } = isObject(frame["error"]) ? frame["error"] : {};
    return { fault: typeof code === "number" && typeof message === "string" ? serverError({ code: ERROR_INTERNAL_ERROR.code, message }, method) : broken };
  }
}

/** The text of a success that is a refusal: its only member is `unsupported`. */
function unsupported(result: JsonValue): string | undefined {
  if (!isObject(result) || Object.keys(result).length !== 1 || !isObject(result["unsupported"])) {
    return undefined;
  }
  const { method, reason } = result["unsupported"];
  return `${typeof method === "string" ? method : "the method"}: ${typeof reason === "string" ? reason : PROTOCOL.default_unsupported_reason}`;
}
