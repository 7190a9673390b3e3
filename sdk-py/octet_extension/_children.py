"""The requests that an extension makes of its host: their ids, what they belong to, and how they end.

An id is used once in the life of a process. A request that nobody waits for any more leaves nothing behind but
the number of the last id: an answer to any smaller one is late, not wrong.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Final

from octet_extension._envelope import Id
from octet_extension._errors import LocalProtocolError
from octet_extension._generated._rows import Method

__all__ = ["ANSWERED", "CANCELLED", "FAILED", "Child", "Children"]

ANSWERED: Final = "answered"
FAILED: Final = "failed"
CANCELLED: Final = "cancelled"
_ID: Final = re.compile(r"c-([1-9][0-9]{0,9})")


@dataclasses.dataclass(eq=False, repr=False, slots=True)
class Child:
    """One request of this side. Two of them are the same only if they are one object."""

    id: str
    row: Method
    parent: object
    """The live request of the host that it belongs to, or None."""
    ending: str = ""
    """How it ended: answered, failed or cancelled; empty while it waits."""
    value: object = None
    """The result, the error object, or the reason."""
    done: Callable[[], object] | None = None
    """Called once when it is over, with the lock of the session held."""


class Children:
    """The requests that wait for an answer."""

    def __init__(self, max_waiting: int, max_ids: int) -> None:
        self._max_waiting = max_waiting
        self._max_ids = max_ids
        self._waiting: dict[str, Child] = {}
        self._issued = 0
        self._tombstones: set[str] = set()  # no more than there are ids

    def open(self, row: Method, parent: object, done: Callable[[], object] | None = None) -> Child:
        """Makes a request. Raises LocalProtocolError beyond the bounds."""
        if len(self._waiting) >= self._max_waiting:
            raise LocalProtocolError(
                f"{row.name}: {self._max_waiting} requests wait for the host: wait for one of them"
            )
        if self._issued >= self._max_ids:
            raise LocalProtocolError(f"{row.name}: the {self._max_ids} requests that one process may make are used up")
        self._issued += 1
        child = Child(f"c-{self._issued}", row, parent, done=done)
        self._waiting[child.id] = child
        return child

    def waiting(self, request: object) -> Child | None:
        """Returns a request that waits for its answer."""
        return self._waiting.get(request) if isinstance(request, str) else None

    def issued(self, request: Id | None) -> bool:
        """Reports whether an id was ever given to a request."""
        found = _ID.fullmatch(request) if isinstance(request, str) else None
        return found is not None and int(found[1]) <= self._issued

    def bury(self, request: Id | None) -> bool:
        """Takes the one late answer of a request that was cancelled. Reports whether it may have one."""
        if not isinstance(request, str) or request not in self._tombstones:
            return False
        self._tombstones.remove(request)
        return True

    def settle(self, child: Child, ending: str, value: object) -> bool:
        """Ends a request. Reports whether it still waited."""
        if self._waiting.pop(child.id, None) is None:
            return False
        if ending == CANCELLED:
            self._tombstones.add(child.id)
        child.ending = ending
        child.value = value
        if child.done is not None:
            child.done()
        return True

    def of(self, parent: object) -> list[Child]:
        """Returns what waits on behalf of a request of the host."""
        return [child for child in self._waiting.values() if child.parent is parent] if self._waiting else []

    def all(self) -> list[Child]:
        """Returns everything that waits."""
        return list(self._waiting.values())
