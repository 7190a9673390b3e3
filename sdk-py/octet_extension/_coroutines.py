"""Handlers that are coroutine functions, and the event loop that they share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from octet_extension._errors import CallCancelled
from octet_extension._scope import Scope, current
from octet_extension._serving import Raised

__all__ = ["Loop", "invoke"]

_T = TypeVar("_T")


async def invoke(scope: Scope, begin: Callable[[], Coroutine[Any, Any, object]]) -> object:
    """Runs a handler that is a coroutine function. Raises nothing but its cancellation."""
    current.set(scope)
    try:
        return await begin()
    except asyncio.CancelledError as fault:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return Raised(CallCancelled(str(fault)))
    except BaseException as fault:  # noqa: BLE001 - whatever an author's handler raises is the outcome of its request, and an exit must not end the loop of the others
        return Raised(fault)


class Loop:
    """One event loop in a thread of its own, for handlers that are coroutines. It starts when first needed."""

    def __init__(self, started: Callable[[], None]) -> None:
        self._started = started
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        # Set by the thread before _ready.
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event

    def submit(self, work: Coroutine[Any, Any, object], done: Callable[[object], None]) -> Callable[[], object]:
        """Starts a coroutine. done is called with its outcome; the function that comes back cancels it."""
        self._start()
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        future.add_done_callback(lambda ended: done(Raised(CallCancelled()) if ended.cancelled() else ended.result()))
        return future.cancel

    def wait(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Runs a coroutine to its end."""
        self._start()
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="octet-async", daemon=True)
                self._thread.start()
        self._ready.wait()

    def _run(self) -> None:
        self._started()
        asyncio.run(self._live())

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._ready.set()
        await self._stop.wait()

    def close(self, timeout: float) -> None:
        """Cancels what still runs and waits for it, at most timeout seconds."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            self._ready.wait()
            self._loop.call_soon_threadsafe(self._stop.set)
            thread.join(timeout)
