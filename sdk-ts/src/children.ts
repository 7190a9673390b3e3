/**
 * Requests of the extension to the host. Each settles exactly once: by the host's answer, by a cancellation
 * from either side, or by the end of the request it belongs to. Whatever comes later is ignored.
 */

import { MAX_CHILD_IDS, MAX_CHILD_REQUESTS, METHOD_CANCEL_REQUEST, ERROR_REQUEST_CANCELLED } from "./_generated/feature-wire.js";
import type { JsonValue } from "./_generated/json.js";
import { writeJson } from "./_generated/json.js";
import type { RpcId } from "./_generated/wire.js";
import type { Message } from "./envelope.js";
import { CancelledError, HostError, LocalProtocolError, RemoteProtocolError, TooLarge } from "./errors.js";

/** Where child requests go. */
export interface Wire {
  /** Reports whether the text fitted a frame and was sent. */
  send(text: string): boolean;
  /** Whether the API version has cancellation. */
  readonly cancellation: boolean;
}

/** A request that waits for the host. */
interface Child {
  readonly method: string;
  /** The scope it ends with; undefined for one that outlives every scope. */
  readonly scope: object | undefined;
  readonly resolve: (result: JsonValue) => void;
  readonly reject: (reason: Error) => void;
}

/** Most of a reason that goes to the host; each character is at most three bytes. */
const MAX_REASON_CHARACTERS = 1024;

/** What became of an answer of the host. */
export type Delivery = "delivered" | "late" | "unknown";

/** Every child request of one session. */
export class Children {
  private readonly pending = new Map<RpcId, Child>();
  /** Given up here, while the host may still answer. */
  private readonly abandoned = new Set<RpcId>();
  private used = 0;

  constructor(private readonly wire: Wire) {}

  /**
   * Sends a request. Rejects with HostError for an error answer and with CancelledError for a cancellation.
   * Settled is told the result, or that there is none, before any later frame is read.
   * Throws LocalProtocolError where too many are outstanding, and TooLarge where it does not fit a frame.
   */
  request(method: string, params: string, scope: object | undefined, signal: AbortSignal | undefined, settled?: (result: JsonValue | undefined) => void): Promise<JsonValue> {
    if (this.pending.size >= MAX_CHILD_REQUESTS) {
      throw new LocalProtocolError(`${String(MAX_CHILD_REQUESTS)} requests to the host are outstanding, which is the bound: await some of them first`);
    }
    if (this.used >= MAX_CHILD_IDS) {
      throw new LocalProtocolError(`${String(MAX_CHILD_IDS)} requests were sent, which is all that one process may send: restart the extension`);
    }
    if (signal?.aborted === true) {
      throw cancelled(signal.reason);
    }
    const id = `c-${String(this.used + 1)}`;
    if (!this.wire.send(`{"id":${JSON.stringify(id)},"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${params}}`)) {
      throw new TooLarge(`${JSON.stringify(method)} does not fit a frame: send less at a time`);
    }
    this.used++;
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.cancel(id, cancelled(signal?.reason));
      };
      const settle = (): void => {
        signal?.removeEventListener("abort", abort);
      };
      this.pending.set(id, {
        method,
        scope,
        resolve: (result) => {
          settle();
          settled?.(result);
          resolve(result);
        },
        reject: (reason) => {
          settle();
          settled?.(undefined);
          reject(reason);
        },
      });
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** Takes an answer of the host. */
  deliver(message: Extract<Message, { kind: "result" | "error" }>): Delivery {
    const id = message.id ?? "";
    const child = this.pending.get(id);
    if (child === undefined) {
      return this.abandoned.delete(id) ? "late" : "unknown";
    }
    this.pending.delete(id);
    if (message.kind === "result") {
      child.resolve(message.result);
    } else if (message.error.code === ERROR_REQUEST_CANCELLED.code) {
      child.reject(new CancelledError(message.error.message));
    } else {
      const { code, message: text, data } = message.error;
      child.reject(new HostError(child.method, code, text, data));
    }
    return "delivered";
  }

  /** Takes an answer that is none: the request fails at once. Reports whether one with this id was open. */
  deliverBroken(id: RpcId, reason: string): boolean {
    const child = this.pending.get(id);
    this.pending.delete(id);
    child?.reject(new RemoteProtocolError(`the host answered ${JSON.stringify(child.method)} with no JSON-RPC response: ${reason}`));
    return child !== undefined;
  }

  /** Takes a cancellation that the host sent. Reports whether it names a request of the extension. */
  cancelledByHost(id: RpcId, reason: string | undefined): boolean {
    return this.giveUp(id, new CancelledError(reason));
  }

  /** Ends the children of a scope, and tells the host where it does not end them by itself. */
  close(scope: object, reason: CancelledError | undefined, tell: boolean): void {
    if (this.pending.size > 0) {
      this.closeOf(scope, reason ?? new CancelledError("the request has its answer"), tell);
    }
  }

  private closeOf(scope: object, reason: CancelledError, tell: boolean): void {
    for (const [id, child] of this.pending) {
      if (child.scope === scope) {
        if (tell) {
          this.cancel(id, reason);
        } else {
          this.giveUp(id, reason);
        }
      }
    }
  }

  /** Ends every child, without a word to the host. */
  closeAll(reason: CancelledError): void {
    for (const id of [...this.pending.keys()]) {
      this.giveUp(id, reason);
    }
  }

  private cancel(id: RpcId, reason: CancelledError): void {
    if (this.giveUp(id, reason) && this.wire.cancellation) {
      const why = reason.reason === undefined ? {} : { reason: reason.reason.slice(0, MAX_REASON_CHARACTERS).toWellFormed() };
      this.wire.send(writeJson({ jsonrpc: "2.0", method: METHOD_CANCEL_REQUEST, params: { id, ...why } }, 4));
    }
  }

  private giveUp(id: RpcId, reason: CancelledError): boolean {
    const child = this.pending.get(id);
    if (child === undefined) {
      return false;
    }
    this.pending.delete(id);
    this.abandoned.add(id);
    child.reject(reason);
    return true;
  }
}

function cancelled(reason: unknown): CancelledError {
  return reason instanceof CancelledError ? reason : new CancelledError(typeof reason === "string" ? reason : undefined);
}
