"""Which events are new: by the ledger, by the numbers of each stream, and by what they are about."""

from __future__ import annotations

import enum
from collections import Counter, OrderedDict
from collections.abc import Iterable
from typing import Final

from octet_oup._events import Identity
from octet_oup._generated import oup_wire

__all__ = ["Ledger", "Verdict"]

_MOST_STREAMS: Final = 1024  # streams and turns that are remembered; the oldest are forgotten first
_MOST_UNPLACED: Final = 4096  # events without a position that are remembered, behind the last one that shows it


class Verdict(enum.Enum):
    """What an envelope is."""

    NEW = "new"
    REPEATED = "repeated"
    """It was told before."""
    LATE = "late"
    """Its stream is over: it has a place in the ledger and creates nothing."""
    OUT_OF_ORDER = "out of order"
    """Numbers of its stream are missing, or it steps back."""


class _Stream:
    __slots__ = ("closed", "last")

    def __init__(self, last: int, *, closed: bool) -> None:
        self.last = last
        self.closed = closed


class Ledger:
    """What a client knows of the ledger of one session: how far it has read, and each stream of envelopes."""

    def __init__(self, stream: str, cursor: oup_wire.Cursor | None) -> None:
        self.stream = stream
        self.cursor = cursor
        """The last position that was read; None before the first."""
        self._streams: OrderedDict[str, _Stream] = OrderedDict()
        self._begun: OrderedDict[str, None] = OrderedDict()
        self._behind: Counter[bytes] = Counter()
        self._again: Counter[bytes] = Counter()
        self._before = False

    def begin(self, turn_id: str) -> None:
        """Notes that a turn begins here: its stream starts with number 1."""
        self._begun[turn_id] = None
        _trim(self._begun)

    def judge(self, name: Identity) -> Verdict:
        """Says what an envelope is."""
        place = self._place(name.cursor)
        if place is not None and self.cursor is not None and place <= self.cursor.seq:
            self._reach(place)
            return Verdict.REPEATED
        stream = self._streams.get(name.thread_id)
        if stream is not None and stream.closed:
            return Verdict.REPEATED if place is None else Verdict.LATE
        if stream is None:
            expected = 1 if name.turn_id in self._begun and name.turn_id == name.thread_id else name.seq
        else:
            expected = stream.last + 1
        if name.seq == expected:
            return Verdict.NEW
        return Verdict.REPEATED if place is None and name.seq < expected else Verdict.OUT_OF_ORDER

    def apply(self, name: Identity, *, closes: bool) -> None:
        """Takes an envelope in: its place in the ledger, and in its stream."""
        self.move(name.cursor)
        stream = self._streams.pop(name.thread_id, None)
        if stream is None:
            stream = _Stream(name.seq, closed=closes)
        elif not stream.closed:
            stream.last = max(stream.last, name.seq)
            stream.closed = closes
        self._streams[name.thread_id] = stream
        _trim(self._streams)

    def move(self, cursor: oup_wire.Cursor | None) -> None:
        """Moves on to a position of this ledger; never back."""
        place = self._place(cursor)
        if place is None:
            return
        if self.cursor is None or place > self.cursor.seq:
            self.cursor = cursor
            self._behind.clear()
            self._again.clear()
        self._reach(place)

    def jump(self, cursor: oup_wire.Cursor | None, numbers: Iterable[tuple[str, int]]) -> None:
        """Goes on from a position that was read as a whole, with the last numbers of the streams up to it."""
        self.cursor = cursor
        self._behind.clear()
        self._begun.clear()
        ended = {thread: stream for thread, stream in self._streams.items() if stream.closed}
        self._streams = OrderedDict(ended)
        for thread, number in numbers:
            if thread not in ended:
                self._streams[thread] = _Stream(number, closed=False)
        _trim(self._streams)

    def last(self, thread_id: str) -> int:
        """Returns the last number that was read of a stream, 0 where there is none."""
        stream = self._streams.get(thread_id)
        return 0 if stream is None else stream.last

    # --- events that show no position

    def replay(self, after: oup_wire.Cursor | None) -> None:
        """Notes that everything behind a position will be told, or told again."""
        place = self._place(after)
        self._before = place is not None and self.cursor is not None and place < self.cursor.seq
        self._again = self._behind.copy()

    def live(self) -> None:
        """Notes that the replay is over."""
        self._before = False
        self._again.clear()

    def unplaced(self, spelling: bytes) -> bool:
        """Takes in a kept event that shows no position, and reports whether it is new.

        A replay tells such events again when they lie behind the position, in the same words: those that were told
        before are counted off. Where a replay starts before the position, everything is old until it gets there.
        """
        if self._before:
            return False
        if self._again[spelling] > 0:
            self._again[spelling] -= 1
            return False
        if len(self._behind) < _MOST_UNPLACED or spelling in self._behind:
            self._behind[spelling] += 1
        return True

    def _reach(self, place: int) -> None:
        """Notes that a replay has come to a position."""
        if self.cursor is not None and place >= self.cursor.seq:
            self._before = False

    def _place(self, cursor: oup_wire.Cursor | None) -> int | None:
        """Returns a position of this ledger; positions of others mean nothing here."""
        return cursor.seq if cursor is not None and cursor.stream == self.stream else None


def _trim(table: OrderedDict[str, object] | OrderedDict[str, _Stream] | OrderedDict[str, None]) -> None:
    while len(table) > _MOST_STREAMS:
        table.popitem(last=False)
