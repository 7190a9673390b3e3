/** What scopes share of a session that is open. */

import type { Bus } from "./bus.js";
import type { Children } from "./children.js";
import type { Dialect, Session } from "./dialect.js";
import type { Memory } from "./owner.js";
import type { Scratch } from "./scratch.js";

/** One open session, as its scopes use it. */
export interface Link {
  readonly dialect: Dialect;
  readonly session: Session;
  readonly children: Children;
  readonly memory: Memory;
  readonly bus: Bus;
  /** Where the host leaves what is too large for a line. */
  readonly scratch: Scratch;
  /** Aborted when the session is over, with a CancelledError. */
  readonly signal: AbortSignal;
  /** Throws CancelledError once nothing new may be asked of the host. */
  assertOpen(): void;
  /** Sends one message; resolves when the host takes more. Throws TooLarge where it does not fit a frame. */
  sendFrom(text: string): Promise<void>;
  /** Takes one line for people. */
  log(line: string): void;
}
