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

/** Writes the frames of one session. Exits the process when the session has ended and the last frame is out. */
export class ProcessSink implements Sink {
  readonly scratch = processScratch;
  readonly sources = fileSources;
  private readonly out = reserveStdout();
  private pending = 0;
  private full = false;
  /** Frames that go out together: one write costs more than many answers. */
  private batch: Uint8Array[] = [];
  private batched = 0;
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

  write(frame: Uint8Array): void {
    if (this.batch.push(frame) === 1) {
      // Runs behind every answer that is ready now, and in front of the next read.
      process.nextTick(() => {
        this.flush();
      });
    }
    this.batched += frame.length;
    if (this.batched >= FULL_BATCH) {
      this.flush();
    }
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

  private flush(): void {
    const [first] = this.batch;
    if (first === undefined) {
      return;
    }
    const bytes = this.batch.length === 1 ? first : Buffer.concat(this.batch, this.batched);
    this.batch = [];
    this.batched = 0;
    this.pending++;
    this.full = !this.out.write(bytes, () => {
      this.pending--;
      this.exitWhenFlushed();
    });
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
