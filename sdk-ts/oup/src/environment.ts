/** What the client takes from where it runs: time, chance and a socket. Node and browsers have all of it. */

/** Time, so that tests can make it pass. */
export interface Clock {
  /** Milliseconds from some start; never goes back. */
  now(): number;
  /** Calls once after so many milliseconds, unless what it returns was called before. */
  after(milliseconds: number, call: () => void): () => void;
}

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after: (milliseconds, call) => {
    const timer = setTimeout(call, milliseconds);
    return () => {
      clearTimeout(timer);
    };
  },
};

/** The part of a WebSocket that the client uses; those of browsers, of Node and of the package `ws` have it. */
export interface Socket {
  readonly bufferedAmount: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  send(text: string): void;
  close(code?: number): void;
  /** Ends without waiting for the other side, where there is such a way. */
  terminate?(): void;
  /** Stops and starts reading, where there is such a way. */
  pause?(): void;
  resume?(): void;
}

/** Makes a socket that is about to connect. */
export type SocketMaker = new (url: string) => Socket;

/** The WebSocket of this environment; undefined where there is none. */
export function builtInSocket(): SocketMaker | undefined {
  return (globalThis as { readonly WebSocket?: SocketMaker }).WebSocket;
}

/** Asks a URL and returns the HTTP status, or undefined where there is no answer within the bound. */
export async function httpStatus(url: string, milliseconds: number): Promise<number | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(milliseconds), redirect: "manual" });
    await response.body?.cancel();
    return response.status;
  } catch {
    return undefined;
  }
}

const VERSION_7 = 0x70;
const VARIANT = 0x80;
const TIME_BYTES = 6;

/** Makes a UUID of version 7: later ones are greater, as far as the clock of the machine goes. */
export function uuid7(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  let time = Date.now();
  for (let at = TIME_BYTES - 1; at >= 0; at -= 1) {
    bytes[at] = time % 256;
    time = Math.floor(time / 256);
  }
  bytes[6] = VERSION_7 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = VARIANT | ((bytes[8] ?? 0) & 0x3f);
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join("-");
}
