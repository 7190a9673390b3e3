/** What is used of the package `ws`. */
declare module "ws" {
  type Handler = ((event: never) => void) | null;
  export class WebSocket {
    constructor(url: string, options: { readonly perMessageDeflate: boolean });
    readonly bufferedAmount: number;
    onopen: Handler;
    onmessage: Handler;
    onerror: Handler;
    onclose: Handler;
    send(text: string): void;
    close(code?: number): void;
    terminate(): void;
    pause(): void;
    resume(): void;
  }
}
