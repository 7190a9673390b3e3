/** An extension on the SDK, and the places where a fault can reach it. */

import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { Connection } from "../../src/connection.js";
import { Extension, s, ToolError } from "../../src/index.js";
import { ProcessSink } from "../../src/node/sink.js";

/** A message of either side, as loosely as it can be read. */
export interface Message {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown> | null;
  error?: { code: number; message: string; data?: unknown };
  [member: string]: unknown;
}

/** What the echo adds, so that faults of encoding show. */
const EXOTIC = " é \u2028\u{1f427}";

/** Longer than a host waits for anything. */
const LONG_MS = 3_600_000;

/** The tools of every peer of the referee, on the SDK. */
export class Peer {
  /** Sees every line that is written, its line feed included, and returns what is written instead. */
  line = (line: Buffer): Buffer => line;
  /** Sees what is written decoded, and returns what is written instead; undefined writes nothing. */
  message = (message: Message): Message | undefined => message;
  /** Sees what a read has brought, and returns what the SDK gets to see. */
  chunk = (data: Buffer): Buffer => data;
  /** Sees every line of it decoded, and says whether the SDK gets to see it. */
  request: (message: Message) => boolean = () => true;
  /** Told of a request once its answer is written. */
  written: (asked: Message) => void = () => undefined;
  /** Says whether the SDK gets to see the end of the input. */
  ended = (): boolean => true;
  echo = (text: string): string => text + EXOTIC;
  fail = (): string => {
    throw new ToolError("it failed");
  };

  /** Requests without an answer, by id as spelled. */
  readonly live = new Map<string, Message>();

  constructor(readonly stdout: number) {}

  /** Writes a line past the SDK. */
  say(message: Message): void {
    writeSync(this.stdout, `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  /** Answers with an error past the SDK. */
  error(id: unknown, code: number, message: string): void {
    this.say({ id, error: { code, message } });
  }

  /** The request that a response answers. */
  asked(response: Message): Message | undefined {
    return response.method === undefined ? this.live.get(JSON.stringify(response.id)) : undefined;
  }

  /** Whether the host has asked for shutdown and waits for the answer. */
  get leaving(): boolean {
    return Array.from(this.live.values()).some(({ method }) => method === "shutdown");
  }

  /** The calls that run. */
  get calls(): readonly Message[] {
    return Array.from(this.live.values()).filter(({ method }) => method === "tool/call");
  }

  async run(): Promise<void> {
    const see = (data: Uint8Array): Buffer => this.incoming(this.chunk(Buffer.from(data)));
    const write = (text: string, bound: number): boolean => {
      const fits = Buffer.byteLength(text) <= bound;
      if (fits) {
        this.outgoing(Buffer.from(`${text}\n`));
      }
      return fits;
    };
    const ends = (): boolean => this.ended();
    const receive = Reflect.get(Connection.prototype, "receive");
    const end = Reflect.get(Connection.prototype, "end");
    Connection.prototype.receive = function (chunk): void {
      const seen = see(chunk);
      if (seen.length > 0) {
        receive.call(this, seen);
      }
    };
    Connection.prototype.end = function (): void {
      if (ends()) {
        end.call(this);
      }
    };
    ProcessSink.prototype.write = write;
    await this.extension().run();
  }

  private incoming(data: Buffer): Buffer {
    const kept = lines(data).filter((line) => {
      const message = decoded(line);
      if (message === undefined) {
        return true;
      }
      if (message.method !== undefined && "id" in message) {
        this.live.set(JSON.stringify(message.id), message);
      }
      return this.request(message);
    });
    return Buffer.concat(kept);
  }

  private outgoing(line: Buffer): void {
    const message = decoded(line) ?? {};
    const before = JSON.stringify(message);
    const said = this.message(structuredClone(message));
    if (said !== undefined) {
      const after = JSON.stringify(said);
      writeSync(this.stdout, this.line(after === before ? line : Buffer.from(`${after}\n`)));
    }
    const asked = this.asked(message);
    if (asked !== undefined) {
      this.live.delete(JSON.stringify(message.id));
      this.written(asked);
    }
  }

  private extension(): Extension {
    const extension = new Extension();
    extension.tool("echo", { description: "Says what it was given.", args: s.object({ text: s.string().default("octet") }) }, async (call, { text }) => {
      await call.progress("working", { current: 1, total: 2, unit: "steps" });
      await call.progress("done", { current: 2, total: 2, unit: "steps" });
      return this.echo(text);
    });
    extension.tool("fail", { description: "Fails.", args: s.object({}) }, () => this.fail());
    extension.tool("large", { description: "Says a lot.", args: s.object({}) }, () => "octet ".repeat(12_000));
    extension.tool("slow", { description: "Runs until it is cancelled.", args: s.object({}) }, async (call) => {
      await call.progress("waiting", { current: 1 });
      await call.progress("waiting still", { current: 2 });
      await sleep(LONG_MS, undefined, { signal: call.signal });
      return "waited";
    });
    return extension;
  }
}

/** Cuts bytes behind every line feed. */
export function lines(data: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < data.length;) {
    const end = data.indexOf(0x0a, at);
    const next = end < 0 ? data.length : end + 1;
    found.push(data.subarray(at, next));
    at = next;
  }
  return found;
}

/** Returns the object on a line, undefined if there is none. */
export function decoded(line: Buffer): Message | undefined {
  try {
    const message: unknown = JSON.parse(line.toString());
    return typeof message === "object" && message !== null && !Array.isArray(message) ? (message as Message) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes messages as lines. */
export function encoded(messages: readonly Message[]): Buffer {
  return Buffer.from(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
}
