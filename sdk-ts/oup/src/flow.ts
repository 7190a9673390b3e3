/** What lies between a connection and those who take its events: bounded, in order, never dropped. */

/** Events that may wait before reading stops. */
export const HIGH_MARK = 1024;
/** Events at which it starts again. */
const LOW_MARK = HIGH_MARK / 2;
/** Events that may wait while an answer is waited for, which comes on the same way. */
export const HARD_MARK = 8 * HIGH_MARK;

/** Counts what waits in all streams of a client, and says when reading should stop. */
export class Flow {
  private waiting = 0;
  private answers = 0;
  private stopped = false;

  /**
   * @param turn told true when reading should stop, false when it should go on
   * @param over told when more came than may wait in any case
   */
  constructor(
    private readonly turn: (stop: boolean) => void,
    private readonly over: () => void,
  ) {}

  get full(): boolean {
    return this.stopped;
  }

  /** So many events wait more, or less. */
  add(events: number): void {
    this.waiting += events;
    this.judge();
    if (events > 0 && this.waiting >= HARD_MARK) {
      this.over();
    }
  }

  /** So many answers are waited for. */
  expect(answers: number): void {
    this.answers = answers;
    this.judge();
  }

  private judge(): void {
    const bound = this.answers > 0 ? HARD_MARK : HIGH_MARK;
    const stop = this.stopped ? this.waiting > LOW_MARK && (this.answers === 0 || this.waiting >= bound) : this.waiting >= bound;
    if (stop !== this.stopped) {
      this.stopped = stop;
      this.turn(stop);
    }
  }
}

/** A mark on an event: when all who were to have it have it, the position behind it is safe. */
export interface Mark {
  taken(): void;
}

interface Entry<T> {
  readonly value: T;
  readonly mark: Mark;
}

/** A queue with one reader. */
export class Stream<T> implements AsyncIterableIterator<T> {
  private entries: Entry<T>[] = [];
  private readers: { readonly resolve: (result: IteratorResult<T>) => void; readonly reject: (fault: unknown) => void }[] = [];
  private end: { readonly fault?: Error } | undefined;
  private left = false;

  constructor(
    private readonly flow: Flow,
    private readonly leave: (stream: Stream<T>) => void,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Whether its reader wants no more. */
  get abandoned(): boolean {
    return this.left;
  }

  push(value: T, mark: Mark): void {
    const reader = this.end === undefined ? this.readers.shift() : undefined;
    if (reader !== undefined) {
      mark.taken();
      reader.resolve({ done: false, value });
    } else if (this.left || this.end !== undefined) {
      mark.taken();
    } else {
      this.entries.push({ value, mark });
      this.flow.add(1);
    }
  }

  /** Nothing more comes. With a fault, the reader gets it behind what waits. */
  finish(fault?: Error): void {
    if (this.end !== undefined) {
      return;
    }
    this.end = fault === undefined ? {} : { fault };
    for (const reader of this.readers.splice(0)) {
      if (fault === undefined) {
        reader.resolve({ done: true, value: undefined });
      } else {
        reader.reject(fault);
      }
    }
  }

  next(): Promise<IteratorResult<T>> {
    const entry = this.entries.shift();
    if (entry !== undefined) {
      entry.mark.taken();
      this.flow.add(-1);
      return Promise.resolve({ done: false, value: entry.value });
    }
    if (this.left || (this.end !== undefined && this.end.fault === undefined)) {
      return Promise.resolve({ done: true, value: undefined });
    }
    if (this.end?.fault !== undefined) {
      const { fault } = this.end;
      this.end = {};
      return Promise.reject(fault);
    }
    return new Promise((resolve, reject) => {
      this.readers.push({ resolve, reject });
    });
  }

  /** The reader wants no more: what waits counts as taken. */
  return(): Promise<IteratorResult<T>> {
    if (!this.left) {
      this.left = true;
      for (const { mark } of this.drain()) {
        mark.taken();
      }
      for (const reader of this.readers.splice(0)) {
        reader.resolve({ done: true, value: undefined });
      }
      this.leave(this);
    }
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Takes out what waits, marks and all: somebody else is to have it. */
  drain(): readonly { readonly value: T; readonly mark: Mark }[] {
    const { entries } = this;
    this.entries = [];
    this.flow.add(-entries.length);
    return entries;
  }
}
