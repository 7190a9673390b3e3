/**
 * Standard input and output belong to the protocol. Where the system names open descriptors as files, the SDK
 * moves both streams to descriptors of its own, which no child inherits: descriptor 1 then leads to standard
 * error, and descriptor 0 to nothing. Elsewhere, and where a stream cannot be opened again (a socket), it keeps
 * the descriptors and takes only the stream objects away from the process.
 */

import { closeSync, constants, createWriteStream, fstatSync, openSync, readFileSync, writeSync } from "node:fs";
import type { OnReadOpts, SocketConstructorOpts } from "node:net";
import { Socket } from "node:net";
import { devNull } from "node:os";
import { Readable } from "node:stream";

/** The one way that leads to standard output. */
export interface Output {
  /**
   * Writes bytes, which are the caller's again once `done` was called; that may be before this returns. False asks
   * to wait for the drain.
   */
  write(bytes: Uint8Array, done: (error?: Error | null) => void): boolean;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "drain", listener: () => void): unknown;
}

/** The one way on which standard input arrives. */
export interface Input {
  /** Hands on bytes from now on. They are lent: once `take` has returned, others stand in their place. */
  start(take: (bytes: Uint8Array) => void): void;
  pause(): void;
  resume(): void;
  /** Whether everything was read. */
  readonly ended: boolean;
  on(event: "end" | "close", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** Bytes that are read at one time, as many as a pipe holds. */
const READ_BYTES = 1 << 16;

/** Where the system shows the descriptors of this process. */
const DESCRIPTORS: Readonly<Partial<Record<string, string>>> = { linux: "/proc/self/fd", darwin: "/dev/fd" };
const directory = DESCRIPTORS[process.platform];

// A file keeps what is in it already, and a terminal does not become the controlling one.
const WRITE = constants.O_WRONLY | constants.O_APPEND | constants.O_NOCTTY;

let output: Output | undefined;
let input: Input | undefined;

/**
 * Takes standard output away from the process: from now on `console.log`, `process.stdout.write` and, where the
 * descriptor could be moved, writes to descriptor 1 and children that inherit it end on standard error. Returns
 * the only way that still leads to standard output. The same one when called again.
 */
export function reserveStdout(): Output {
  if (output === undefined) {
    const descriptor = moveOutput();
    const { stdout, stderr } = process;
    const write = stdout.write.bind(stdout) as Output["write"];
    stdout.write = stderr.write.bind(stderr);
    const keep = (): typeof stdout => stdout;
    const destroy = stdout.destroy.bind(stdout);
    // A fault of the stream itself comes with an error, and must be told.
    Object.assign(stdout, { end: keep, destroySoon: keep, destroy: (error?: Error) => (error === undefined ? stdout : destroy(error)) });
    output = descriptor === undefined ? { write, on: stdout.on.bind(stdout) } : writer(descriptor);
  }
  return output;
}

/** Takes standard input away from the process, which finds nothing there from now on. The same one when called again. */
export function reserveStdin(): Input {
  if (input === undefined) {
    const descriptor = moveInput();
    input = descriptor === undefined ? new StreamInput(process.stdin) : new PipeInput(descriptor);
    if (descriptor === undefined) {
      Object.defineProperty(process, "stdin", { configurable: true, enumerable: true, value: Readable.from([]) });
    }
  }
  return input;
}

/** Moves standard output to a descriptor of its own, and puts standard error in its place. */
function moveOutput(): number | undefined {
  if (directory === undefined) {
    return undefined;
  }
  try {
    const pipe = fstatSync(1).isFIFO();
    const own = openSync(`${directory}/1`, pipe ? WRITE | constants.O_NONBLOCK : WRITE);
    const place = opens(`${directory}/2`) ? `${directory}/2` : devNull;
    replace(1, place, WRITE);
    return own;
  } catch {
    return undefined;
  }
}

function moveInput(): number | undefined {
  if (directory === undefined) {
    return undefined;
  }
  try {
    if (!fstatSync(0).isFIFO() || isRead()) {
      return undefined;
    }
    const own = openSync(`${directory}/0`, constants.O_RDONLY | constants.O_NONBLOCK);
    replace(0, devNull, constants.O_RDONLY);
    return own;
  } catch {
    return undefined;
  }
}

/** Whether a stream may hold descriptor 0 already, which does not outlive that it becomes another file. */
function isRead(): boolean {
  const flags = /^flags:\s*([0-7]+)$/mu.exec(readFileSync("/proc/self/fdinfo/0", "utf8"))?.[1] ?? "";
  return flags === "" || (Number.parseInt(flags, 8) & constants.O_NONBLOCK) !== 0;
}

function opens(path: string): boolean {
  try {
    closeSync(openSync(path, WRITE));
    return true;
  } catch {
    return false;
  }
}

/** Opens a path under a number: what is opened next takes the lowest one that is free. */
function replace(number: number, path: string, flags: number): void {
  closeSync(number);
  const taken = openSync(path, flags);
  if (taken !== number) {
    // Another thread was faster. The number leads to its file, and so not to the host.
    closeSync(taken);
  }
}

function writer(descriptor: number): Output {
  return fstatSync(descriptor).isFIFO() ? new PipeOutput(descriptor) : createWriteStream("", { fd: descriptor, autoClose: false });
}

/** A pipe: what has room in it is written on the spot, and a stream waits for the room that the rest needs. */
class PipeOutput implements Output {
  private readonly stream: Socket;

  constructor(private readonly descriptor: number) {
    this.stream = new Socket({ fd: descriptor, readable: false, writable: true });
  }

  write(bytes: Uint8Array, done: (error?: Error | null) => void): boolean {
    let written = 0;
    // What waits already goes first.
    if (this.stream.writableLength === 0 && !this.stream.destroyed) {
      try {
        written = writeSync(this.descriptor, bytes);
      } catch (fault) {
        if ((fault as NodeJS.ErrnoException).code !== "EAGAIN") {
          this.stream.destroy(fault as Error);
        }
      }
      if (written === bytes.length) {
        done();
        return true;
      }
    }
    return this.stream.write(bytes.subarray(written), done);
  }

  on(event: "error" | "drain", listener: (error: Error) => void): void {
    this.stream.on(event, listener);
  }
}

/** Any stream. */
class StreamInput implements Input {
  constructor(protected readonly stream: Readable) {}

  start(take: (bytes: Uint8Array) => void): void {
    this.stream.on("data", take);
  }

  pause(): void {
    this.stream.pause();
  }

  resume(): void {
    this.stream.resume();
  }

  get ended(): boolean {
    return this.stream.readableEnded;
  }

  on(event: "end" | "close" | "error", listener: (error: Error) => void): void {
    this.stream.on(event, listener);
  }
}

/** A pipe that is read into one piece of memory, again and again. */
class PipeInput extends StreamInput {
  private take: ((bytes: Uint8Array) => void) | undefined;

  constructor(descriptor: number) {
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    const callback = (count: number): boolean => {
      this.take?.(count === buffer.length ? buffer : buffer.subarray(0, count));
      return true;
    };
    // The types have this option at `connect` alone.
    const options: SocketConstructorOpts & { readonly onread: OnReadOpts } = { fd: descriptor, readable: true, writable: false, onread: { buffer, callback } };
    super(new Socket(options));
    // It reads by itself from the start, also where nobody takes it yet.
    this.stream.pause();
  }

  override start(take: (bytes: Uint8Array) => void): void {
    this.take = take;
    this.stream.resume();
  }
}
