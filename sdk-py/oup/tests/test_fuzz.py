"""Every reader of what a server sends, given bytes that nobody wrote: nothing but the errors they announce."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import pytest
from mutated import drive, vectors

from octet_oup import testee
from octet_oup._clock import LoopClock
from octet_oup._connection import Connection, Json
from octet_oup._envelope import EnvelopeFault, classify
from octet_oup._errors import OupError
from octet_oup._frames import FrameFault, read_line
from octet_oup._generated import _json, oup_wire
from octet_oup._generated._json import JsonSyntaxError, Violation, encode
from octet_oup._link import LinkClosed

ROWS = list(vectors("oup"))
TEXTS = [data for _, _, data in ROWS]
MODELS = list(oup_wire.MODELS.values())
VALUES = [MODELS.index(oup_wire.MODELS[model]).to_bytes(2) + data for _, model, data in ROWS if model is not None]
FRAMES = [
    *(data for op, _, data in ROWS if op != "model"),
    b'{"jsonrpc":"2.0","id":"c1","result":{}}',
    b'{"jsonrpc":"2.0","id":"c1","error":{"code":-32160,"message":"no","data":{"kind":"unknown_turn"}}}',
    b'{"jsonrpc":"2.0","method":"session/open","params":{"session_id":"local:lab"}}',
]


def lines(data: bytes) -> None:
    try:
        value = read_line(data, 4096)
    except FrameFault:
        return
    with contextlib.suppress(EnvelopeFault):
        classify(value)


def models(data: bytes) -> None:
    """The first two bytes choose the model, the others are judged by it."""
    model = MODELS[int.from_bytes(data[:2]) % len(MODELS)]
    try:
        text = model.recode(data[2:])
    except (JsonSyntaxError, Violation):
        return
    assert model.recode(text) == text


def requests(data: bytes) -> None:
    """What a referee may ask of the testee."""
    try:
        request = _json.parse(data)
    except JsonSyntaxError:
        return
    assert testee.answer(request)


class Lines:
    """A link whose server has said everything already."""

    def __init__(self, data: bytes) -> None:
        self._frames = data.split(b"\n")

    async def receive(self) -> bytes:
        if not self._frames:
            raise LinkClosed("the server has gone")
        await asyncio.sleep(0)
        return self._frames.pop(0)

    async def send(self, frame: bytes) -> None:
        """Writes nowhere."""

    async def close(self) -> None:
        """Ends nothing."""


def connections(data: bytes) -> None:
    """A connection with a request in flight. The request and the reading end with errors of their own."""

    async def scenario() -> None:
        connection = Connection(Lines(data), LoopClock())
        waiting = asyncio.ensure_future(connection.call("config/capabilities/list", {}))
        await asyncio.sleep(0)

        async def take(method: str, params: Json) -> None:
            assert isinstance(params, dict)
            assert method

        why = await connection.serve(take)
        assert isinstance(why, OupError)
        connection.end(why)
        with contextlib.suppress(OupError):
            await waiting

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("name", "target", "seeds"),
    [
        ("lines", lines, TEXTS),
        ("models", models, VALUES),
        (
            "testee",
            requests,
            [
                encode(
                    {"seq": 1, "op": op, "wire": "oup", "model": model, "text": data.decode("utf-8", "replace")},
                    max_depth=600,
                )
                for op, model, data in ROWS[::5]
            ],
        ),
        ("connections", connections, FRAMES),
    ],
)
def test_fuzz(name: str, target: Callable[[bytes], None], seeds: list[bytes]) -> None:
    drive(f"python oup {name}", target, seeds)
