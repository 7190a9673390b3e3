"""The token by which work learns that nobody waits for it any more."""

from __future__ import annotations

import threading
from collections.abc import Callable

from octet_extension._errors import CallCancelled, LocalProtocolError

__all__ = ["Cancellation"]


_MAKING = threading.Lock()


class Cancellation:
    """Says whether the work at hand was cancelled. It may be used from any thread."""

    __slots__ = ("_ended", "_event", "_hook", "_reason")

    def __init__(self) -> None:
        self._ended = False
        self._event: threading.Event | None = None  # made by whoever waits first: few do, and every request has a token
        self._reason = ""
        self._hook: Callable[[], object] | None = None

    @property
    def cancelled(self) -> bool:
        """Whether the request was answered without its handler: cancelled, or ended with the session."""
        return self._ended

    @property
    def reason(self) -> str:
        """Why; empty until it happens."""
        return self._reason

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the work is cancelled, at most timeout seconds. Reports whether it was."""
        with _MAKING:
            event = self._event
            if event is None:
                event = self._event = threading.Event()
        # end sets _ended before it looks for an event, and here it is the other way round: one sees the other.
        return self._ended or event.wait(timeout)

    def raise_if_cancelled(self) -> None:
        """Raises CallCancelled when the work was cancelled."""
        if self._ended:
            raise CallCancelled(self._reason)

    def end(self, reason: str) -> None:
        """Cancels the work. For the runtime."""
        if self._ended:
            return
        self._reason = reason
        self._ended = True
        event = self._event
        if event is not None:
            event.set()
        hook = self._hook
        if hook is not None:
            hook()

    def when_ended(self, hook: Callable[[], object]) -> None:
        """Has a function called when the work is cancelled, at once if it is already. For the runtime."""
        if self._hook is not None:
            raise LocalProtocolError("a token has one hook")
        self._hook = hook
        if self._ended:
            hook()
