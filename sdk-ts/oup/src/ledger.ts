/** Where a client stands in the ledger of one session: what has come, and what the caller has been given of it. */

import type { Cursor } from "./_generated/oup-wire.js";
import type { Mark } from "./flow.js";

/** Frames without a cursor that are remembered since the last one with a cursor. */
const MAX_RECENT = 256;

class Taken implements Mark {
  constructor(
    readonly cursor: Cursor | undefined,
    public left: number,
    private readonly settle: () => void,
  ) {}

  taken(): void {
    this.left -= 1;
    if (this.left === 0) {
      this.settle();
    }
  }
}

/** A position that is resumed from on the next connection, and one that a caller may keep. */
export class Ledger {
  private at: Cursor | undefined;
  private safe: Cursor | undefined;
  private marks: Taken[] = [];
  private recent: string[] = [];
  private again: string[] = [];

  constructor(after: Cursor | undefined) {
    this.at = after;
    this.safe = after;
  }

  /** The newest position that has come. */
  get applied(): Cursor | undefined {
    return this.at;
  }

  /** The newest position up to which everything was given to the caller. */
  get given(): Cursor | undefined {
    return this.safe;
  }

  /** Whether an event came before. Positions compare within one stream alone. */
  has(cursor: Cursor): boolean {
    return this.at !== undefined && this.at.stream === cursor.stream && cursor.seq <= this.at.seq;
  }

  /** An event has come. */
  apply(cursor: Cursor | undefined): void {
    if (cursor !== undefined) {
      this.at = cursor;
      this.recent = [];
    }
  }

  /** Goes back to where the server says that nothing was lost yet. */
  back(cursor: Cursor | undefined): void {
    if (cursor !== undefined && this.has(cursor)) {
      this.at = cursor;
    }
  }

  /** Goes on somewhere else, or, without a cursor, wherever the server is. */
  jump(cursor: Cursor | undefined): void {
    this.at = cursor;
    this.recent = [];
    this.again = [];
  }

  /** The server replays what is behind the position: frames without a cursor that came behind it come again. */
  replays(): void {
    this.again = this.recent;
    this.recent = [];
  }

  /** Whether a frame without a cursor is one that came before the replay. */
  repeated(text: string, replaying: boolean): boolean {
    const found = replaying ? this.again.indexOf(text) : -1;
    if (found >= 0) {
      this.again.splice(found, 1);
    }
    if (this.recent.length < MAX_RECENT) {
      this.recent.push(text);
    }
    return found >= 0;
  }

  /** A mark for an event that so many are to take. */
  mark(cursor: Cursor | undefined, takers: number): Mark {
    const mark = new Taken(cursor, takers, () => {
      this.settle();
    });
    this.marks.push(mark);
    if (takers === 0) {
      this.settle();
    }
    return mark;
  }

  private settle(): void {
    let settled = 0;
    for (const { cursor, left } of this.marks) {
      if (left > 0) {
        break;
      }
      this.safe = cursor ?? this.safe;
      settled += 1;
    }
    this.marks = this.marks.slice(settled);
  }
}
