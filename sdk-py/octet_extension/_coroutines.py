"""Tools that are coroutine functions, and the event loop that they share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, cast

from octet_extension._errors import CallCancelled
from octet_extension._tools import Outcome, Tool

__all__ = ["Loop", "invoke"]


async def invoke(tool: Tool, keywords: dict[str, object]) -> Outcome:
    """Runs a tool that is a coroutine function. Raises nothing but its cancellation."""
    try:
        return tool.result(await cast("Coroutine[Any, Any, object]", tool.handler(**keywords)))
    except asyncio.CancelledError as fault:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return CallCancelled(str(fault))
    except BaseException as fault:  # noqa: BLE001 - whatever an author's tool raises is the outcome of its call, and an exit must not end the loop of the others
        return fault


class Loop:
    """One event loop in a thread of its own, for tools that are coroutines. It starts when first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        # Set by the thread before _ready.
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event

    def submit(self, work: Coroutine[Any, Any, Outcome], done: Callable[[Outcome], None]) -> Callable[[], object]:
        """Starts a coroutine. done is called with its outcome; the function that comes back cancels it."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="octet-async", daemon=True)
                self._thread.start()
        self._ready.wait()
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        future.add_done_callback(lambda ended: done(CallCancelled() if ended.cancelled() else ended.result()))
        return future.cancel

    def _run(self) -> None:
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
