"""What the host tells an extension, handed to its handlers one at a time, in order, by a thread of its own."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from octet_extension._courier import describe, start
from octet_extension._endpoints import Listener, Shortcut
from octet_extension._generated._models import Model
from octet_extension._happenings import Noticed
from octet_extension._signature import CONTEXT, MODEL, SCOPE, Plan

__all__ = ["Notices"]

_MAX_WAITING: Final = 4096
"""Notifications that may wait for a slow handler; beyond, new ones are dropped."""
_Run = Callable[[Callable[..., object], list[object]], None]


class Notices:
    """The queue between the reader and the handlers of notifications."""

    def __init__(
        self,
        listeners: Mapping[str, list[Listener]],
        shortcuts: Mapping[str, Shortcut],
        run: _Run,
        log: Callable[[str], None],
    ) -> None:
        self._listeners = listeners
        self._shortcuts = shortcuts
        self._run = run
        self._log = log
        self._changed = threading.Condition()
        # Under _changed.
        self._waiting: deque[Callable[[], None]] = deque()
        self._started = False
        self._closed = False
        self._dropping = False
        self._taken = 0
        self._done = 0

    def add(self, noticed: Noticed, admitted: set[str], session: object) -> None:
        """Takes a notification. Nothing is kept where nobody listens."""
        listeners = self._listeners.get(noticed.row.name, ())
        calls = [self._call(one.handler, one.plan, noticed, session) for one in listeners]
        if self._shortcuts and noticed.row.service == "events.shortcut_trigger":
            name = str(noticed.members.get("id", ""))
            shortcut = self._shortcuts.get(name) if name in admitted else None
            if shortcut is not None:
                calls.append(self._call(shortcut.handler, shortcut.plan, noticed, session))
            else:
                self._log(f"the shortcut {name[:80]!r} was not admitted: its handler does not run")
                return
        for call in calls:
            self._put(call)

    def _call(
        self, handler: Callable[..., object], plan: Plan, noticed: Noticed, session: object
    ) -> Callable[[], None]:
        arguments = arguments_of(plan, session, noticed.members, noticed.params)
        return lambda: self._run(handler, arguments)

    def _put(self, call: Callable[[], None]) -> None:
        with self._changed:
            if self._closed:
                return
            if len(self._waiting) >= _MAX_WAITING:
                if not self._dropping:
                    self._dropping = True
                    self._log(f"{_MAX_WAITING} notifications wait for their handlers: new ones are dropped")
                return
            self._dropping = False
            self._waiting.append(call)
            self._taken += 1
            self._changed.notify_all()
            if self._started:
                return
            self._started = True
        start(self._serve, "octet-events", self._log)

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return
                call = self._waiting.popleft()
            try:
                call()
            except BaseException as fault:  # noqa: BLE001 - whatever the author's handler raises ends it alone
                self._log(describe(fault))
            with self._changed:
                self._done += 1
                self._changed.notify_all()

    @property
    def mark(self) -> int:
        """How many calls of handlers have been put up; for catch_up."""
        return self._taken

    def catch_up(self, mark: int) -> None:
        """Waits until the handlers have had what came before a mark, or until the session ends."""
        with self._changed:
            self._changed.wait_for(lambda: self._done >= mark or self._closed)

    def close(self) -> None:
        """Ends the delivery; what still waits is forgotten."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()


def arguments_of(plan: Plan, session: object, members: object, model: Model | None) -> list[object]:
    """Returns the arguments of a handler, in order."""
    given = {SCOPE: session, MODEL: model, CONTEXT: {}}
    return [given.get(what, members) for what in plan]
