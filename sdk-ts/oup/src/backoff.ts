/** How long to wait before the next try to connect. */

import { CLIENT_RECONNECT_ATTEMPTS, CLIENT_RECONNECT_MAX_MS } from "./_generated/oup-wire.js";

/** How a client comes back. */
export interface ReconnectOptions {
  /** Tries in a row before it gives up; Infinity for ever. */
  readonly attempts?: number;
  /** Bound of the first wait, which doubles with every try. */
  readonly firstMs?: number;
  /** Bound of every wait. */
  readonly maxMs?: number;
  /** From 0 to 1: which part of its bound a wait takes. */
  readonly random?: () => number;
}

const FIRST_MS = 1000;

/** Counts tries. Waits are spread over their whole bound, so that clients of one server do not come back at once. */
export class Backoff {
  private tries = 0;
  private readonly attempts: number;
  private readonly firstMs: number;
  private readonly maxMs: number;
  private readonly random: () => number;

  constructor(options: ReconnectOptions = {}) {
    this.attempts = options.attempts ?? CLIENT_RECONNECT_ATTEMPTS;
    this.firstMs = options.firstMs ?? FIRST_MS;
    this.maxMs = options.maxMs ?? CLIENT_RECONNECT_MAX_MS;
    this.random = options.random ?? Math.random;
  }

  /** Starts anew: the connection stood. */
  reset(): void {
    this.tries = 0;
  }

  /** The wait before the next try, or undefined when there were enough of them. */
  next(atOnce: boolean): number | undefined {
    if (this.tries >= this.attempts) {
      return undefined;
    }
    const bound = Math.min(this.maxMs, this.firstMs * 2 ** this.tries);
    this.tries += 1;
    return atOnce ? 0 : Math.floor(this.random() * bound);
  }
}
