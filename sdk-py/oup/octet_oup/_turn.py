"""One turn: a stream of what happens in it, and what comes out."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import secrets
import time
import uuid
import weakref
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Final, Protocol, TypeAlias

from octet_oup._events import Event, FileAttached, Gap, Message, TextDelta, ToolEnded, ToolStarted, TurnEnded
from octet_oup._generated import oup_wire as wire
from octet_oup._generated.oup_calls import Calls
from octet_oup._inbox import Inbox
from octet_oup._state import rows_of

__all__ = ["Input", "Tool", "Turn", "TurnResult"]

Input: TypeAlias = str | Sequence[wire.InputItem]
"""What a user says: a text, or items."""

_VERSION: Final = 7
_VARIANT: Final = 0b10


@dataclasses.dataclass(slots=True)
class Tool:
    """One call of a tool, as far as it is known. status is empty while it runs."""

    call_id: str
    name: str
    status: str = ""
    output: str = ""
    error: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class TurnResult:
    """What came out of a turn.

    text is the whole answer, its segments joined by blank lines. status is the outcome of the turn, error why it
    failed, usage None where the total is not known.
    """

    text: str
    status: str
    error: wire.TurnFailure | None
    usage: wire.TokenUsage | None
    tools: Sequence[Tool]
    files: Sequence[FileAttached]
    segments: Sequence[str]


class Owner(Protocol):
    """What a turn needs of its session."""

    @property
    def key(self) -> str:
        """The session."""

    @property
    def methods(self) -> Calls:
        """What it calls."""

    def spawn(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Runs something that ends with the client."""

    def forget_turn(self, turn_id: str) -> None:
        """Sends the events of a turn to nobody."""


class Turn:
    """A turn that was accepted. Iterate over it for its events, once; result gathers what is left of them.

    Its events wait for you, and when many wait the connection is not read: read them, or close the turn, which
    goes on without you.
    """

    def __init__(self, owner: Owner, turn_id: str, inbox: Inbox, *, interrupt_when_cancelled: bool) -> None:
        self.id = turn_id
        self._owner = owner
        self._inbox = inbox
        self._interrupts = interrupt_when_cancelled
        self._end: TurnEnded | None = None
        self._segments: dict[str, str] = {}
        self._tools: dict[str, Tool] = {}
        self._files: list[FileAttached] = []
        weakref.finalize(self, _let_go, asyncio.get_running_loop(), inbox).atexit = False

    @property
    def ended(self) -> TurnEnded | None:
        """The end, when you have been given it."""
        return self._end

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        """Returns the next event; the last one is TurnEnded. Raises what the session failed with."""
        try:
            event = await self._inbox.get()
        except asyncio.CancelledError:
            if self._interrupts and self._end is None:
                self._owner.spawn(self._stop())
            raise
        if event is None:
            raise StopAsyncIteration
        self._note(event)
        return event

    async def result(self) -> TurnResult:
        """Waits for the end. Raises what the session failed with, and RuntimeError for a turn that was closed."""
        async for _ in self:
            pass
        if self._end is None:
            raise RuntimeError("the turn was closed before its end: read it to the end, or ask for its state")
        return TurnResult(
            text="\n\n".join(text for text in self._segments.values() if text),
            status=self._end.outcome,
            error=self._end.error,
            usage=self._end.usage,
            tools=tuple(self._tools.values()),
            files=tuple(self._files),
            segments=tuple(self._segments.values()),
        )

    async def steer(self, words: Input) -> wire.TurnSteerResult:
        """Adds to what the user said. What the turn does not take comes back as SteerDropped."""
        return await self._owner.methods.turn_steer(
            session_id=self._owner.key, expected_turn_id=self.id, input=items(words)
        )

    async def interrupt(self) -> wire.TurnInterruptResult:
        """Stops the turn. Its end comes as an event, before or after this answer."""
        return await self._owner.methods.turn_interrupt(session_id=self._owner.key, turn_id=self.id)

    def close(self) -> None:
        """Lets go of the stream. The turn itself goes on."""
        self._owner.forget_turn(self.id)
        self._inbox.abandon()

    async def _stop(self) -> None:
        await self.interrupt()

    def _note(self, event: Event) -> None:
        match event:
            case Gap(hydrated=state) if state is not None and rows_of(state, self.id):
                self._segments.clear()  # what follows is the whole answer so far
            case TextDelta(text=text, segment=segment):
                self._segments[segment] = self._segments.get(segment, "") + text
            case Message(text=text, segment=segment):
                self._segments[segment] = text
            case ToolStarted(call_id=call, name=name):
                self._tools.setdefault(call, Tool(call, name))
            case ToolEnded(call_id=call):
                tool = self._tools.setdefault(call, Tool(call, ""))
                tool.status, tool.output, tool.error = event.status, event.output, event.error
            case FileAttached():
                self._files.append(event)
            case TurnEnded():
                self._end = event


def _let_go(loop: asyncio.AbstractEventLoop, inbox: Inbox) -> None:
    """Nobody holds the turn any more. The last one to do so may have been another thread."""
    with contextlib.suppress(RuntimeError):  # the loop is over
        loop.call_soon_threadsafe(inbox.abandon)


def items(words: Input) -> Sequence[wire.InputItem]:
    """Returns what a user says as items."""
    return [wire.InputItem(kind=wire.InputKind.TEXT, text=words)] if isinstance(words, str) else words


def new_turn_id() -> str:
    """Returns an id that was never used: a UUID of version 7, whose first part is the time."""
    moment = time.time_ns() // 1_000_000
    noise = secrets.randbits(74)
    value = moment << 80 | _VERSION << 76 | (noise >> 62) << 64 | _VARIANT << 62 | noise & (1 << 62) - 1
    return str(uuid.UUID(int=value))
