/** The client in Node: everything of `octet-oup`, servers as child processes, and a WebSocket in every Node. */

import { Client } from "../client.js";
import type { SocketMaker } from "../environment.js";
import { builtInSocket } from "../environment.js";
import type { WebSocketOptions } from "../websocket.js";
import { connectBy } from "../websocket.js";
import type { StdioOptions } from "./stdio.js";
import { spawner } from "./stdio.js";

export * from "../index.js";
export type { StdioOptions } from "./stdio.js";

/**
 * Starts a server, such as `stdio(["octet", "serve", "--stdio"])`, and connects to it. The server ends with the
 * client, and its end fails everything that waits.
 */
export function stdio(argv: readonly string[], options: StdioOptions = {}): Promise<Client> {
  return Client.connect(spawner(argv, options), options, false);
}

/** Like that of `octet-oup`, by the WebSocket of Node where it has one, and by the package `ws` elsewhere. */
export async function websocket(url: string | URL, options: WebSocketOptions = {}): Promise<Client> {
  return connectBy(builtInSocket() ?? (await packaged()), url, options);
}

async function packaged(): Promise<SocketMaker> {
  const { WebSocket } = await import("ws");
  return class extends WebSocket {
    constructor(url: string) {
      super(url, { perMessageDeflate: false });
    }
  };
}
