/** A link over WebSocket, in whatever environment has one. */

import { HTTP_REFUSALS, PROTOCOL } from "./_generated/oup-wire.js";
import { Client } from "./client.js";
import type { Clock, SocketMaker } from "./environment.js";
import { builtInSocket, httpStatus, systemClock } from "./environment.js";
import { AuthError, Disconnected } from "./errors.js";
import type { Dial, Link, LinkEnd, LinkEvents } from "./link.js";
import type { ClientOptions } from "./options.js";

/** How to reach a server. */
export interface WebSocketOptions extends ClientOptions {
  /** What lets the client in. It travels in the query, since pages cannot set headers. */
  readonly token?: string;
}

/** Time for the other side to answer a close. */
const CLOSE_MS = 2000;
/** Time to ask why a handshake was refused. */
const PROBE_MS = 5000;
const NORMAL = 1000;

/**
 * Connects to a server: `ws://HOST:PORT` or `http://HOST:PORT`, or a whole URL. Comes back by itself when the
 * connection ends, until `close()` or until the server does not let it in. Rejects with AuthError for a wrong token
 * or a foreign origin.
 */
export async function websocket(url: string | URL, options: WebSocketOptions = {}): Promise<Client> {
  const maker = builtInSocket();
  if (maker === undefined) {
    throw new Error('this environment has no WebSocket: import websocket from "octet-oup/node" there');
  }
  return connectBy(maker, url, options);
}

/** The same by a given socket. */
export function connectBy(maker: SocketMaker, url: string | URL, options: WebSocketOptions): Promise<Client> {
  const target = address(url, options.token);
  return Client.connect(dialer(maker, target, options.clock ?? systemClock), options, true);
}

/** The URL of the protocol at a server. */
export function address(url: string | URL, token: string | undefined): URL {
  const target = new URL(url);
  target.protocol = target.protocol.replace(/^http/u, "ws");
  if (target.protocol !== "ws:" && target.protocol !== "wss:") {
    throw new TypeError(`"${String(url)}" is no address of a server: begin it with ws:, wss:, http: or https:`);
  }
  if (target.pathname === "/") {
    target.pathname = PROTOCOL.websocket_path;
  }
  target.hash = "";
  if (token !== undefined) {
    target.searchParams.set(PROTOCOL.token_query, token);
  }
  return target;
}

function dialer(maker: SocketMaker, url: URL, clock: Clock): Dial {
  return async (events, signal) => {
    const refused = await new Promise<Link | LinkEnd>((resolve, reject) => {
      const link = new SocketLink(maker, url, clock, events, resolve);
      const abort = (): void => {
        void link.close();
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) {
        abort();
      }
    });
    if (!("reason" in refused)) {
      return refused;
    }
    // A WebSocket does not tell why it was refused; the same address asked by plain HTTP does.
    const status = await httpStatus(url.href.replace(/^ws/u, "http"), PROBE_MS);
    const why = Object.entries(HTTP_REFUSALS).find(([code]) => code === String(status))?.[1];
    if (status !== undefined && why !== undefined) {
      throw new AuthError(`the server does not let this client in: ${why}`, status);
    }
    throw new Disconnected(`no connection to ${url.host}: ${status === undefined ? "nothing answers there" : `the server answers with HTTP status ${String(status)}`}`);
  };
}

interface Message {
  readonly data: unknown;
}

interface Close {
  readonly code: number;
  readonly reason: string;
}

class SocketLink implements Link {
  readonly transport = "websocket";
  readonly pause: (() => void) | undefined;
  readonly resume: (() => void) | undefined;
  private readonly socket: InstanceType<SocketMaker>;
  private readonly gone: Promise<void>;
  private stood = false;
  private over = false;
  private leave: () => void = () => undefined;

  constructor(
    maker: SocketMaker,
    url: URL,
    private readonly clock: Clock,
    events: LinkEvents,
    settle: (link: Link | LinkEnd) => void,
  ) {
    const socket = new maker(url.href);
    this.socket = socket;
    this.gone = new Promise((resolve) => {
      this.leave = resolve;
    });
    if (socket.pause !== undefined && socket.resume !== undefined) {
      this.pause = socket.pause.bind(socket);
      this.resume = socket.resume.bind(socket);
    }
    socket.onopen = () => {
      this.stood = true;
      settle(this);
    };
    socket.onmessage = ({ data }: Message) => {
      if (typeof data === "string") {
        events.frame(data); // binary messages mean nothing here
      }
    };
    // What went wrong is told by the close that follows.
    socket.onerror = () => undefined;
    socket.onclose = ({ code, reason }: Close) => {
      this.over = true;
      this.leave();
      const end = { code, reason: `the WebSocket was closed with ${String(code)}${reason === "" ? "" : ` (${reason})`}` };
      if (this.stood) {
        events.ended(end);
      } else {
        settle(end);
      }
    };
  }

  send(text: string): void {
    if (!this.over) {
      this.socket.send(text);
    }
  }

  async close(): Promise<void> {
    if (this.over) {
      return;
    }
    this.resume?.(); // the answer to the close has to be read
    this.socket.close(this.stood ? NORMAL : undefined);
    const stop = this.clock.after(CLOSE_MS, () => {
      this.socket.terminate?.();
      this.leave();
    });
    await this.gone;
    stop();
  }
}

