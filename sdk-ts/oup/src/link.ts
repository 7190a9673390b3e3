/** One way to a server: frames out, frames in, one end. What is in a frame is the matter of Connection. */

/** Why a link ended. */
export interface LinkEnd {
  /** For people. */
  readonly reason: string;
  /** Close code of a WebSocket, or HTTP status of a refused handshake. */
  readonly code?: number;
  /** A frame that was none ended it. */
  readonly fault?: Error;
}

/** What a link tells. `frame` never comes behind `ended`, which comes once. */
export interface LinkEvents {
  frame(text: string): void;
  ended(end: LinkEnd): void;
}

/** A link that is up. */
export interface Link {
  readonly transport: "stdio" | "websocket";
  /** Sends a frame, or lets it go where the link has ended: `ended` tells. */
  send(text: string): void;
  /** Stops and starts reading. Undefined where the environment has no such way. */
  readonly pause: (() => void) | undefined;
  readonly resume: (() => void) | undefined;
  /** Ends it, within a bound. Resolves when nothing of it is left. */
  close(): Promise<void>;
}

/** Connects. Rejects with what refused it: AuthError for a server that does not let the client in. */
export type Dial = (events: LinkEvents, signal: AbortSignal) => Promise<Link>;
