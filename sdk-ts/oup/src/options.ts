/** How a client behaves, and what it says about itself. */

import type { JsonObject, JsonValue } from "./_generated/json.js";
import type { Callbacks } from "./asks.js";
import type { ReconnectOptions } from "./backoff.js";
import type { Clock } from "./environment.js";

/** `connecting` until the first connection stands, `waiting` between two of them. */
export type ClientState = "connecting" | "open" | "waiting" | "closed";

/** What a state comes with. */
export interface StateDetail {
  /** Why the connection ended. */
  readonly reason?: string;
  /** Milliseconds until the next try. */
  readonly retryInMs?: number;
  /** What ended the client for good. */
  readonly fault?: Error;
}

/** How a client behaves. */
export interface ClientOptions extends Callbacks {
  /** Features asked for; everything this package understands unless given. */
  readonly features?: readonly string[];
  /** Features without which the server is refused. */
  readonly required?: readonly string[];
  /** Profile of sessions that name none. */
  readonly profile?: string;
  /** Who this is, for the server's logs. */
  readonly client?: JsonObject;
  readonly requestTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  readonly reconnect?: ReconnectOptions;
  readonly onState?: (state: ClientState, detail: StateDetail) => void;
  /** Notifications that belong to no open session. */
  readonly onNotification?: (method: string, params: JsonValue) => void;
  readonly clock?: Clock;
}

/** How one request behaves. */
export interface CallOptions {
  readonly timeoutMs?: number;
  /** Gives the answer up; the server is not told. */
  readonly signal?: AbortSignal;
}
