"""A connection that is cut anywhere: a client that comes back sees what an undisturbed one sees, once and in order."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import random

import pytest
from peer import (
    CAPABILITIES,
    KEY,
    Json,
    SocketServer,
    Wire,
    approval,
    cursor,
    ended,
    new_id,
    piece,
    progress,
    run,
    said,
    socket_server,
    user,
)
from websockets.exceptions import ConnectionClosed

from octet_oup import Event, TurnEnded, websocket

LENGTH = 80


class Ledger:
    """What a server tells of one session: entries in order, each with its place, most of them showing it."""

    def __init__(self, draw: random.Random) -> None:
        self.entries: list[Json] = []
        self.turns: list[str] = []
        turn, number = "", 0
        while len(self.entries) < LENGTH or turn:
            place = len(self.entries) + 1
            if not turn:
                turn, number = new_id(), 1
                self.turns.append(turn)
                self.entries.append(user(turn, number, place))
                continue
            kind = draw.random()
            if kind < 0.25:
                self.entries.append(progress(turn, f"status {draw.randrange(2)}"))
                continue
            if kind < 0.3:
                self.entries.append(approval(turn, new_id()))
                continue
            number += 1
            if kind < 0.85:
                self.entries.append(piece(turn, number, place, f"{place} "))
            elif kind < 0.93 or place < 6:
                self.entries.append(said(turn, number, place, f"all of {place}", f"s{place}"))
            else:
                self.entries.append(ended(turn, number, place))
                turn = ""


class Server:
    """Tells a ledger, and cuts connections where the dice say."""

    def __init__(self, ledger: Ledger, draw: random.Random) -> None:
        self.ledger = ledger
        self.draw = draw
        self.head = 0
        self.cuts = 0

    async def serve(self, server: SocketServer) -> None:
        while True:
            wire = await server.accept()
            with contextlib.suppress(ConnectionClosed):
                if await self.talk(wire):
                    return
            self.cuts += 1
            await self.cut(wire)

    async def talk(self, wire: Wire) -> bool:
        """Tells what there is, and reports whether that is all; false where the dice cut it off."""
        budget = self.draw.randint(0, 30) if self.cuts < 12 else 10_000
        await wire.hello()
        request = await wire.ask("session/open")
        params = request["params"]
        assert isinstance(params, dict)
        after = params.get("after", cursor(0))["seq"]
        # An event of its own would be in everybody's way here: the open is told with the last place it shows.
        opened = {"session_id": KEY, "cursor": cursor(self.shown()), "capabilities": CAPABILITIES}
        await wire.result(request, {"opened": opened})
        for entry in self.ledger.entries[after : self.head]:
            budget -= 1
            if budget < 0:
                return False
            await wire.send(**entry)
        await wire.notify("session/open", opened)
        while self.head < len(self.ledger.entries):
            budget -= 1
            if budget < 0:
                return False
            entry = self.ledger.entries[self.head]
            self.head += 1  # kept before it is told, and perhaps never told on this connection
            if budget == 0:
                return False
            await wire.send(**entry)
        return True

    def shown(self) -> int:
        """The last place that a frame shows."""
        place = self.head
        while place and "cursor" not in self.ledger.entries[place - 1]["params"]:  # type: ignore[operator]
            place -= 1
        return place

    async def cut(self, wire: Wire) -> None:
        if self.draw.random() < 0.5:
            await wire.close(self.draw.choice([1000, 1001, 1011, 1012]))
        elif wire.socket is not None:
            wire.socket.transport.abort()


def spelled(event: Event) -> str:
    return repr(event)


@pytest.mark.parametrize("seed", range(24))
def test_nothing_is_lost_and_nothing_comes_twice(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - the same ones every time
    ledger = Ledger(draw)

    async def read(dice: random.Random, *, cut: bool) -> list[str]:
        server = Server(ledger, dice)
        if not cut:
            server.cuts = 1000
        async with socket_server() as listening:
            told = asyncio.ensure_future(server.serve(listening))
            async with websocket(listening.url, delays=lambda: itertools.repeat(0.0, 500)) as client:
                session = await client.open(KEY, listen=True)
                events = session.events()
                seen: list[str] = []
                async for event in events:
                    seen.append(spelled(event))
                    if isinstance(event, TurnEnded) and event.turn_id == ledger.turns[-1]:
                        break
                assert session.cursor is not None
                assert session.cursor.seq == len(ledger.entries)
                events.close()
            await told
        return seen

    async def scenario() -> None:
        undisturbed = await read(random.Random(0), cut=False)  # noqa: S311
        assert len(undisturbed) == len(ledger.entries)
        assert json.dumps(await read(draw, cut=True)) == json.dumps(undisturbed)

    run(scenario)
