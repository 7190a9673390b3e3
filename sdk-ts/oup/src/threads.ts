/** Whether envelopes come without gaps. A stream counts from 1; what was seen before is one fact, not two. */

/** What an envelope is to what came before it. */
export type Verdict = "next" | "seen" | "back" | "gap";

/** Ended streams that are remembered, so that what comes behind their end creates nothing. */
const MAX_ENDED = 512;

interface Thread {
  next: number;
  ended: boolean;
}

/** The streams of one session. */
export class Threads {
  private readonly threads = new Map<string, Thread>();

  /** The stream begins here: its first number is 1. */
  begins(thread: string): void {
    if (!this.threads.has(thread)) {
      this.threads.set(thread, { next: 1, ended: false });
    }
  }

  /** The number that comes next; undefined for a stream that is not known. */
  next(thread: string): number | undefined {
    return this.threads.get(thread)?.next;
  }

  /** Judges an envelope, and counts it where it is next. The first of a stream whose start was not seen is taken as it is. */
  judge(thread: string, seq: number): Verdict {
    const known = this.threads.get(thread);
    if (known === undefined) {
      this.threads.set(thread, { next: seq + 1, ended: false });
      return "next";
    }
    if (known.ended) {
      return "seen";
    }
    if (seq < known.next) {
      return "back";
    }
    if (seq > known.next) {
      return "gap";
    }
    known.next += 1;
    return "next";
  }

  /** Takes every open stream as it comes from here on. Returns the numbers that would have come next. */
  restart(): ReadonlyMap<string, number> {
    const open = [...this.threads].filter(([, { ended }]) => !ended);
    for (const [thread] of open) {
      this.threads.delete(thread);
    }
    return new Map(open.map(([thread, { next }]) => [thread, next]));
  }

  /** The stream goes on behind a gap that nothing will fill. */
  skip(thread: string, next: number): void {
    const known = this.threads.get(thread);
    if (known === undefined) {
      this.threads.set(thread, { next, ended: false });
    } else {
      known.next = Math.max(known.next, next);
    }
  }

  /** Nothing more comes in the stream. */
  end(thread: string): void {
    const known = this.threads.get(thread) ?? { next: 1, ended: true };
    known.ended = true;
    this.threads.delete(thread);
    this.threads.set(thread, known);
    if (this.threads.size > 2 * MAX_ENDED) {
      this.forget();
    }
  }

  private forget(): void {
    const ended = [...this.threads].filter(([, { ended: over }]) => over);
    for (const [thread] of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) {
      this.threads.delete(thread);
    }
  }
}
