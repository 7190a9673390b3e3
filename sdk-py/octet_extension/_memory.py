"""What an extension remembers for each owner, and when it forgets."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TypeVar, cast

__all__ = ["Memory", "Owner", "owner_of"]

Owner = tuple[str, str, int]
"""Session, instance of the host, generation of the process: all three, or nothing is kept."""

_T = TypeVar("_T")


def owner_of(members: object) -> Owner | None:
    """Reads an owner as the host sent it."""
    if not isinstance(members, Mapping):
        return None
    session, instance = members.get("session_id"), members.get("extension_instance_id")
    generation = members.get("process_generation")
    if isinstance(session, str) and isinstance(instance, str) and isinstance(generation, int):
        return (session, instance, generation)
    return None


class Memory:
    """Values by owner and name. Those of an older instance or generation of a session go when a newer one shows up."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._values: dict[Owner | None, dict[str, object]] = {}
        self._hosts: dict[Owner, str] = {}

    def value(self, owner: Owner | None, host_session: object, name: str, factory: Callable[[], _T]) -> _T:
        """Returns the value of an owner, made by factory when it is first asked for."""
        with self._lock:
            if owner is not None:
                for other in [key for key in self._values if key is not None and key[0] == owner[0] and key != owner]:
                    del self._values[other]
                    self._hosts.pop(other, None)
                if isinstance(host_session, str):
                    self._hosts[owner] = host_session
            values = self._values.setdefault(owner, {})
            if name not in values:
                values[name] = factory()
            return cast("_T", values[name])

    def forget(self, session: str) -> None:
        """Drops what belongs to a session, by the name that its owner or its host has for it."""
        with self._lock:
            for owner in [key for key in self._values if key is not None]:
                if session in {owner[0], self._hosts.get(owner)}:
                    del self._values[owner]
                    self._hosts.pop(owner, None)
