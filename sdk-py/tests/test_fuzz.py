"""Every reader of what a host sends, given bytes that nobody wrote: nothing but the errors they announce."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import pytest
from mutated import drive, vectors

from octet_extension import _canonical, _canonical_envelope, _feature_envelope, testee
from octet_extension._connection import Connection, State
from octet_extension._envelope import EnvelopeFault
from octet_extension._frames import FrameFault, FrameReader
from octet_extension._generated import _json, canonical_wire, feature_wire, manifest_doc
from octet_extension._generated._json import JsonSyntaxError, Violation, encode
from octet_extension.testing import TestHost
from showcase import build

ROWS = list(vectors("extension-feature", "extension-canonical", "manifest"))
TEXTS = [data for _, _, data in ROWS]
FRAMES = [data if data.endswith(b"\n") else data + b"\n" for op, _, data in ROWS if op != "model"]
WIRES: list[Any] = [feature_wire, canonical_wire, manifest_doc]
MODELS = [model for wire in WIRES for model in wire.MODELS.values()]
VALUES = [
    MODELS.index(wire.MODELS[model]).to_bytes(2) + data
    for name, wire in zip(("extension-feature", "extension-canonical", "manifest"), WIRES, strict=True)
    for _, model, data in vectors(name)
    if model is not None
]


def json_text(data: bytes) -> None:
    try:
        value = _json.parse(data)
    except JsonSyntaxError:
        return
    text = encode(value)
    assert encode(_json.parse(text)) == text


def canonical_text(data: bytes) -> None:
    try:
        value = _canonical.check(data)
    except JsonSyntaxError:
        return
    assert encode(value) == data


def frames(data: bytes) -> None:
    """The first byte says how large the pieces are, the second how large the bound is."""
    size, bound = (data[0] % 9 + 1, data[1] + 1) if len(data) > 1 else (1, 1)
    for forgiving in (False, True):
        reader = FrameReader(bound, forgiving=forgiving)
        got = []
        try:
            for at in range(0, len(data), size):
                reader.feed(data[at : at + size])
                while (payload := reader.next_payload()) is not None:
                    got.append(payload)
            reader.feed(b"")
            assert reader.next_payload() is None
        except FrameFault:
            pass
        lines = data.split(b"\n")
        assert all(len(payload) <= bound and payload in lines for payload in got)


def models(data: bytes) -> None:
    """The first two bytes choose the model, the others are judged by it."""
    model = MODELS[int.from_bytes(data[:2]) % len(MODELS)]
    try:
        text = model.recode(data[2:])
    except (JsonSyntaxError, Violation):
        return
    assert model.recode(text) == text


def envelopes(data: bytes) -> None:
    for read in (_feature_envelope.classify, _canonical_envelope.classify, _feature_envelope.scan):
        try:
            value = _json.parse(data)
            if isinstance(value, dict):
                read(value)
        except (JsonSyntaxError, EnvelopeFault):
            pass
    _feature_envelope.salvage(data)


def requests(data: bytes) -> None:
    """What a referee may ask of the testee."""
    try:
        request = _json.parse(data)
    except JsonSyntaxError:
        return
    assert testee.answer(request)


@functools.cache
def host(api: str) -> tuple[Callable[[], Connection], TestHost]:
    ext = build(api)
    return ext.connect, TestHost(ext)


def session(api: str, data: bytes) -> None:
    """Feeds an open session, in two pieces. Whatever it says is lines of JSON."""
    connect, test_host = host(api)
    connection = connect()
    connection.receive(encode(test_host.side.request(1, "initialize", test_host.side.initialize_params())) + b"\n")
    while connection.next_event() is not None:
        pass
    for piece in (data[: len(data) // 2], data[len(data) // 2 :]):
        if piece and connection.live:
            connection.receive(piece)
        while connection.next_event() is not None:
            pass
    said = connection.take_output()
    assert said.endswith(b"\n")
    for line in said.split(b"\n")[:-1]:
        assert json.loads(line)["jsonrpc"] == "2.0"
    assert connection.state in State


@pytest.mark.parametrize(
    ("name", "target", "seeds"),
    [
        ("json", json_text, TEXTS),
        ("canonical", canonical_text, TEXTS),
        ("frames", frames, FRAMES),
        ("models", models, VALUES),
        ("envelopes", envelopes, TEXTS),
        (
            "testee",
            requests,
            [
                encode(
                    {
                        "seq": 1,
                        "op": op,
                        "wire": "extension-feature",
                        "model": model,
                        "text": data.decode("utf-8", "replace"),
                    },
                    max_depth=600,
                )
                for op, model, data in ROWS[::7]
            ],
        ),
        *((f"session-{api}", functools.partial(session, api), FRAMES) for api in ("0.2", "0.3", "0.4")),
    ],
)
def test_fuzz(name: str, target: Callable[[bytes], None], seeds: list[bytes]) -> None:
    drive(f"python {name}", target, seeds)
