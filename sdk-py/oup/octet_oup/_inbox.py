"""Events on their way to whoever reads them, and how far everything has been given."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from octet_oup._events import Event
from octet_oup._generated import oup_wire

__all__ = ["Inbox", "Parcel", "Track"]

ROOM: Final = oup_wire.WRITER_QUEUE_FRAMES
"""Events that may wait for one reader. With more, the connection is not read."""


class Parcel:
    """One event and how many readers have yet to get it."""

    __slots__ = ("cursor", "event", "owed")

    def __init__(self, event: Event | None, cursor: oup_wire.Cursor | None) -> None:
        self.event = event
        self.cursor = cursor
        self.owed = 0


class Track:
    """The position behind which nothing is owed to anybody."""

    def __init__(self, cursor: oup_wire.Cursor | None) -> None:
        self.cursor = cursor
        self._parcels: deque[Parcel] = deque()

    def add(self, parcel: Parcel) -> None:
        """Takes a parcel, in the order of the ledger."""
        if parcel.cursor is not None or parcel.owed:
            self._parcels.append(parcel)
        self.settle()

    def settle(self) -> None:
        """Moves the position over what has been given."""
        while self._parcels and not self._parcels[0].owed:
            parcel = self._parcels.popleft()
            if parcel.cursor is not None:
                self.cursor = parcel.cursor


class Inbox:
    """A queue with one reader. It ends by finish, fail or abandon; what was put before that is still read."""

    def __init__(self, track: Track, changed: Callable[[], None]) -> None:
        self._track = track
        self._changed = changed
        self._parcels: deque[Parcel] = deque()
        self._news: asyncio.Future[None] | None = None
        self._end: Exception | None = None
        self.over = False
        """Whether nothing more is put."""
        self.used = False
        """Whether anything was put."""

    def __len__(self) -> int:
        return len(self._parcels)

    def put(self, parcel: Parcel) -> None:
        """Adds an event."""
        if not self.over:
            parcel.owed += 1
            self.used = True
            self._parcels.append(parcel)
            self._wake()

    def waiting(self) -> list[Event]:
        """Returns what nobody has read yet."""
        return [parcel.event for parcel in self._parcels if parcel.event is not None]

    def finish(self) -> None:
        """Lets the reader end behind what is there."""
        self.over = True
        self._wake()

    def fail(self, why: Exception) -> None:
        """Lets the reader fail behind what is there."""
        if not self.over:
            self._end = why
            self.finish()

    def abandon(self) -> None:
        """Says that nobody will read: what waits counts as given."""
        self.over = True
        for parcel in self._parcels:
            parcel.owed -= 1
        self._parcels.clear()
        self._track.settle()
        self._changed()
        self._wake()

    async def get(self) -> Event | None:
        """Returns the next event, None at the end. Raises what it failed with, once and again."""
        while not self._parcels:
            if self.over:
                if self._end is not None:
                    raise self._end
                return None
            if self._news is None:
                self._news = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._news)
        parcel = self._parcels.popleft()
        parcel.owed -= 1
        self._track.settle()
        self._changed()
        return parcel.event

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)
        self._news = None
