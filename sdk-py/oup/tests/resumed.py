"""Sessions over connections that break, for the tests of what that costs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

from peer import (
    KEY,
    Json,
    SocketServer,
    Wire,
    both,
    connected,
)

from octet_oup import (
    Client,
    Event,
    Session,
)


def at_once() -> Iterator[float]:
    """No waiting before any of eight attempts."""
    return iter([0.0] * 8)


@asynccontextmanager
async def open_session(**options: object) -> AsyncIterator[tuple[SocketServer, Wire, Client, Session]]:
    options = {"delays": at_once} | options
    async with connected(**options) as (server, wire, client):  # type: ignore[arg-type]
        session = await both(client.open(KEY), wire.opens())
        yield server, wire, client, session


async def again(server: SocketServer, *between: Json, at: int) -> tuple[Wire, Json]:
    """The next connection, on which the session is opened again; returns what it was opened with."""
    wire = await server.accept()
    await wire.hello()
    return wire, await wire.opens(*between, at=at)


def kinds(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events]
