"""Time, so that a test can hold it still: what waits for a moment asks a clock."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from octet_oup._generated import oup_wire

__all__ = ["Alarm", "Clock", "LoopClock", "backoff", "sleep"]

_FIRST_DELAY: Final = 1.0  # seconds before the second attempt, at most


class Alarm(Protocol):
    """Something that will be called later."""

    def cancel(self) -> None:
        """Makes it not happen. Harmless when it has happened."""


class Clock(Protocol):
    """What tells the time."""

    def now(self) -> float:
        """Seconds since some moment; never goes back."""

    def call_later(self, delay: float, callback: Callable[[], object]) -> Alarm:
        """Calls back once in delay seconds, in the thread of the event loop."""


class LoopClock:
    """The clock of the running event loop."""

    def now(self) -> float:
        """Returns the time of the loop."""
        return asyncio.get_running_loop().time()

    def call_later(self, delay: float, callback: Callable[[], object]) -> Alarm:
        """Asks the loop to call back."""
        return asyncio.get_running_loop().call_later(delay, callback)


async def sleep(clock: Clock, delay: float) -> None:
    """Returns in delay seconds of that clock."""
    done = asyncio.get_running_loop().create_future()
    alarm = clock.call_later(delay, lambda: None if done.done() else done.set_result(None))
    try:
        await done
    finally:
        alarm.cancel()


def backoff(draw: Callable[[float, float], float] = random.uniform) -> Iterator[float]:
    """Yields how long to wait before each further attempt: a draw between nothing and a bound that doubles."""
    bound = _FIRST_DELAY
    most = oup_wire.CLIENT_RECONNECT_MAX_MS / 1000
    for _ in range(oup_wire.CLIENT_RECONNECT_ATTEMPTS):
        yield draw(0.0, bound)
        bound = min(bound * 2, most)
