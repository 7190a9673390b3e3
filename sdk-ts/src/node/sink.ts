/** The surroundings of a session in a process: frames to standard output, lines to standard error, then exit. */

import { EXIT_MS } from "../_generated/feature-wire.js";
import type { Sink } from "../connection.js";
import { processScratch } from "./scratch.js";
import { fileSources } from "./source.js";
import { reserveStdout } from "./stdout.js";

/** Exit status when the last frames could not be delivered. */
const UNDELIVERED = 1;

/** Bytes from which on frames do not wait for others that may go out with them. */
const FULL_BATCH = 1 << 14;

/** Room for a batch: a full one, and a long frame behind it. */
const BATCH_ROOM = 1 << 16;

/** Most UTF-8 bytes of one UTF-16 unit. */
const MAX_UNIT_BYTES = 3;

const LF = 0x0a;

/** Writes the frames of one session. Exits the process when the session has ended and the last frame is out. */
export class ProcessSink implements Sink {
  readonly scratch = processScratch;
  readonly sources = fileSources;
  private readonly out = reserveStdout();
  private pending = 0;
  private full = false;
  /** Frames that go out together: one write costs more than many answers. */
  private batch = Buffer.allocUnsafeSlow(BATCH_ROOM);
  private batched = 0;
  private gathering = false;
  private readonly flush = (): void => {
    const bytes = this.batch.subarray(0, this.batched);
    this.batched = 0;
    if (bytes.length > 0) {
      this.hand(bytes);
      if (this.pending > 0) {
        // They are not written yet, so the next frames go behind them, or elsewhere.
        const rest = this.batch.subarray(bytes.length);
        this.batch = rest.length >= BATCH_ROOM / 2 ? rest : Buffer.allocUnsafeSlow(BATCH_ROOM);
      }
    }
  };
  private readonly handed = (): void => {
    this.pending--;
    this.exitWhenFlushed();
  };
  private status: number | undefined;
  private waiting: (() => void)[] = [];

  /** @param lost called at most once, when standard output is gone */
  constructor(lost: (reason: string) => void) {
    this.out.on("error", (error: Error) => {
      lost(`standard output is gone: ${error.message}`);
    });
    this.out.on("drain", () => {
      this.full = false;
      this.release();
    });
    // A lost standard error costs only what would be read there.
    process.stderr.on("error", () => undefined);
  }

  /** Runs a step. What it writes goes out behind it. */
  gather(step: () => void): void {
    this.gathering = true;
    try {
      step();
    } finally {
      this.gathering = false;
      this.flush();
    }
  }

  write(text: string, bound: number): boolean {
    const at = this.batched;
    if (text.length * MAX_UNIT_BYTES >= this.batch.length - at) {
      return this.writeLong(text, bound);
    }
    const length = this.batch.write(text, at);
    if (length > bound) {
      return false;
    }
    this.batch[at + length] = LF;
    this.batched = at + length + 1;
    if (at === 0 && !this.gathering) {
      // Runs behind every answer that is ready now, and in front of the next read.
      process.nextTick(this.flush);
    }
    if (this.batched >= FULL_BATCH) {
      this.flush();
    }
    return true;
  }

  ready(): Promise<void> {
    if (!this.full) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }

  /** Whether the sink wants no frames for now. */
  get busy(): boolean {
    return this.full;
  }

  log(line: string): void {
    process.stderr.write(`octet-extension: ${line}\n`);
  }

  end(status: number): void {
    this.flush();
    this.status = status;
    this.release();
    this.exitWhenFlushed();
    // A host that does not read any more keeps nobody alive, but has not got what it was owed either.
    setTimeout(() => {
      process.exit(UNDELIVERED);
    }, EXIT_MS / 2);
  }

  /** Writes a frame for which the batch may have no room. */
  private writeLong(text: string, bound: number): boolean {
    const bytes = Buffer.from(`${text}\n`);
    if (bytes.length - 1 > bound) {
      return false;
    }
    this.flush();
    this.hand(bytes);
    return true;
  }

  private hand(bytes: Uint8Array): void {
    this.pending++;
    this.full = !this.out.write(bytes, this.handed);
  }

  private release(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) {
      resolve();
    }
  }

  private exitWhenFlushed(): void {
    if (this.status !== undefined && this.pending === 0) {
      process.exit(this.status);
    }
  }
}
