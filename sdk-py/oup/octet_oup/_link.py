"""What carries frames between a client and a server, and how it ends."""

from __future__ import annotations

import abc
import dataclasses
from typing import Protocol

__all__ = ["Link", "LinkClosed", "Opener"]


class LinkClosed(Exception):
    """A link carries nothing more.

    code is that of the WebSocket, None where there is none. fault says that what came broke the rules of the
    transport, as a frame over the bound does; then no other attempt would be better.
    """

    def __init__(self, reason: str, *, code: int | None = None, fault: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code
        self.fault = fault


class Link(Protocol):
    """One connection, as frames. receive has one caller at a time; send may have several."""

    async def receive(self) -> bytes:
        """Returns the next frame, without its line end. Raises LinkClosed."""

    async def send(self, frame: bytes) -> None:
        """Writes a frame, and returns when there is room for another. Raises LinkClosed."""

    async def close(self) -> None:
        """Ends the connection within a bound, and whatever it started. Repeats are harmless."""


@dataclasses.dataclass(frozen=True, slots=True)
class Opener(abc.ABC):
    """The base of what makes links. transport is its word in client_hello; again, whether it can be opened again."""

    transport: str
    again: bool

    @abc.abstractmethod
    async def open(self) -> Link:
        """Returns a new link. Raises Disconnected or AuthError."""
