"""Frames of a host that means harm, or is broken: nothing ends the feature wire but a line over its bound."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from octet_extension import Extension
from octet_extension._connection import Connection, State
from octet_extension._generated import canonical_wire, feature_wire
from octet_extension._generated._json import encode
from octet_extension.testing import TestHost
from showcase import build

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
IDS = st.none() | st.integers(-2, 9) | st.sampled_from(["c-1", "c-2", "c-3", "c-99", "c-x", "", "x" * 300]) | JSON


@functools.cache
def showcase(api: str) -> tuple[Extension, TestHost]:
    ext = build(api)
    return ext, TestHost(ext)


def ready(api: str) -> tuple[Connection, TestHost]:
    """A showcase session with two requests of its own that wait."""
    ext, host = showcase(api)
    connection = ext.connect()
    say(connection, host.side.request(1, "initialize", host.side.initialize_params()))
    if connection.state is State.OPENING:
        say(connection, {"jsonrpc": "2.0", "id": "c-1", "result": {}})
    assert connection.state is State.READY
    service = "session.create" if api == "0.3" else "autocomplete.register"
    row = connection.dialect.service(service)
    assert row is not None
    for _ in range(2):
        connection.ask(row, {} if api == "0.3" else {"revision": 1}, None)
    connection.take_output()
    return connection, host


def say(connection: Connection, message: object) -> list[Any]:
    connection.receive(encode(message) + b"\n")
    while connection.next_event() is not None:
        pass
    return [json.loads(line) for line in connection.take_output().split(b"\n") if line]


def methods(api: str) -> list[str]:
    table = canonical_wire.METHODS if api == "0.3" else feature_wire.METHODS
    return sorted(name for name, row in table.items() if name not in {"shutdown", "initialize"} and api in row.versions)


@pytest.mark.parametrize("api", ["0.2", "0.4"])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_message_ends_the_feature_wire(api: str, data: st.DataObject) -> None:
    connection, host = ready(api)
    for _ in range(8):
        message: dict[str, object] = {"jsonrpc": "2.0"}
        if data.draw(st.booleans()):
            message["method"] = data.draw(st.sampled_from(methods(api)) | st.text(max_size=8))
            message["params"] = data.draw(JSON)
        for member, values in (("id", IDS), ("result", JSON), ("error", JSON)):
            if data.draw(st.booleans()):
                message[member] = data.draw(values)
        for answer in say(connection, message):
            host.side.read(encode(answer))  # whatever is said is a legal message
    assert connection.state is State.READY
    probe = say(connection, host.side.request(77, "no/such", {}))
    assert [answer["id"] for answer in probe] == [77]


@pytest.mark.parametrize("api", ["0.2", "0.3", "0.4"])
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_bad_parameters_are_answered_or_dropped(api: str, data: st.DataObject) -> None:
    connection, host = ready(api)
    names = methods(api)
    for number in range(100, 106):
        name = data.draw(st.sampled_from(names))
        params = data.draw(st.dictionaries(st.text(max_size=6), JSON, max_size=3))
        if connection.dialect.methods[name].notification:
            assert say(connection, host.side.notification(name, params)) == []
        else:
            answers = say(connection, host.side.request(number, name, params))
            assert connection.live or [answer["id"] for answer in answers] == [number]
    assert connection.state is State.READY


def test_a_flood_of_late_answers_is_nothing() -> None:
    connection, _ = ready("0.4")
    frame = encode({"jsonrpc": "2.0", "id": "c-1", "result": {}}) + b"\n"
    connection.receive(frame * 20_000)
    while connection.next_event() is not None:
        pass
    assert connection.take_output() == b""
    assert connection.state is State.READY
