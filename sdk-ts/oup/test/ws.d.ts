/** What the tests use of the package `ws` beside what the client does. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

declare module "ws" {
  /** A connection, seen from the server. */
  export interface Connected {
    on(event: "message", listener: (data: Buffer) => void): this;
    send(data: string | Buffer, options?: { readonly fin: boolean }): void;
    close(code?: number, reason?: string): void;
    terminate(): void;
    pause(): void;
  }

  export class WebSocketServer {
    constructor(options: { readonly noServer: true });
    handleUpgrade(request: IncomingMessage, socket: Socket, head: Buffer, done: (socket: Connected) => void): void;
  }
}
