"""What a server may do wrong, and what it may do that is only strange."""

from __future__ import annotations

import asyncio
import logging

import pytest
from peer import (
    CAPABILITIES,
    KEY,
    FakeClock,
    Wire,
    both,
    connected,
    cursor,
    ended,
    new_id,
    piece,
    pipe_server,
    piped,
    run,
    said,
    socket_server,
    spell,
    told,
    until,
    user,
)

from octet_oup import (
    Client,
    Disconnected,
    Event,
    Mismatch,
    Notified,
    ProtocolError,
    ServerError,
    Session,
    TimedOut,
    ToolEnded,
    TurnEnded,
    Unknown,
    Unsupported,
    stdio,
    websocket,
)
from octet_oup._generated import oup_wire as models

BOUND = models.MAX_TEXT_FRAME_BYTES


async def asks(client: Client, wire: Wire) -> tuple[asyncio.Future[object], str]:
    work = asyncio.ensure_future(client.call("config/capabilities/list"))
    request = await wire.ask("config/capabilities/list")
    return work, str(request["id"])


def test_several_frames_in_one_write_and_one_frame_in_several() -> None:
    async def scenario() -> None:
        async with piped() as (wire, client):
            first, one = await asks(client, wire)
            second, two = await asks(client, wire)
            whole = spell(id=two, result={"n": 2}) + b"\r\n" + spell(id=one, result={"n": "\u20ac"}) + b"\n"
            await wire.raw(whole[:-5])
            assert await second == {"n": 2}
            assert not first.done()
            await wire.raw(whole[-5:])
            assert await first == {"n": "\u20ac"}

    run(scenario)


def test_a_frame_of_exactly_the_bound_is_read() -> None:
    async def scenario() -> None:
        async with piped() as (wire, client):
            work, one = await asks(client, wire)
            bare = spell(id=one, result="")
            await wire.raw(bare[:-2] + b"x" * (BOUND - len(bare)) + b'"}\r\n')
            assert len(str(await work)) == BOUND - len(bare)

    run(scenario)


WRONG = {
    "over the bound": b'{"jsonrpc":"2.0","method":"' + b"x" * BOUND + b'"}\n',
    "over the bound, and no end": b"x" * (BOUND + 2),
    "torn characters": b'{"jsonrpc":"2.0","method":"\xe2\x82"}\n',
    "no JSON": b"Traceback (most recent call last):\n",
    "a blank line": b"\n",
    "a list": b"[]\n",
    "a name twice": b'{"jsonrpc":"2.0","jsonrpc":"2.0","method":"ping"}\n',
    "no version": b'{"method":"ping"}\n',
    "neither method nor answer": b'{"jsonrpc":"2.0","id":"nobody"}\n',
    "a method and an answer": b'{"jsonrpc":"2.0","method":"ping","result":1}\n',
    "an id that is a number": b'{"jsonrpc":"2.0","id":7,"result":1}\n',
    "an id that is a truth value": b'{"jsonrpc":"2.0","id":true,"result":1}\n',
    "an id that is a list": b'{"jsonrpc":"2.0","id":["1"],"result":1}\n',
    "an id that is an object": b'{"jsonrpc":"2.0","id":{},"result":1}\n',
    "a result for null": b'{"jsonrpc":"2.0","id":null,"result":1}\n',
    "an answer without an id": b'{"jsonrpc":"2.0","result":1}\n',
    "an error with a number": b'{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"no"}}\n',
    "an error without an id": b'{"jsonrpc":"2.0","error":{"code":-32603,"message":"no"}}\n',
    "a method that is a number": b'{"jsonrpc":"2.0","method":1}\n',
    "a method without a name": b'{"jsonrpc":"2.0","method":""}\n',
}


@pytest.mark.parametrize("name", WRONG)
def test_frames_that_break_the_rules_end_the_connection(name: str) -> None:
    async def scenario() -> None:
        async with piped() as (wire, client):
            session = await both(client.open(KEY), wire.opens())
            events = session.events()
            work, _ = await asks(client, wire)
            await wire.raw(WRONG[name])
            with pytest.raises(ProtocolError, match="the server sent"):
                await work
            with pytest.raises(ProtocolError):
                await anext(events)
            with pytest.raises(ProtocolError):
                await client.call("config/capabilities/list")
            await wire.over.wait()

    run(scenario)


@pytest.mark.parametrize("frame", ["x" * (BOUND + 1), '{"jsonrpc":', "[]"])
def test_frames_that_break_the_rules_end_a_websocket_for_good(frame: str) -> None:
    async def scenario() -> None:
        async with connected(delays=lambda: iter([0.0])) as (server, wire, client):
            work, _ = await asks(client, wire)
            await wire.raw(frame.encode())
            with pytest.raises(ProtocolError, match="must not carry" if len(frame) > BOUND else "is wrong"):
                await work
            await wire.over.wait()
            assert len(server.requests) == 1
            assert not client.connected

    run(scenario)


def test_torn_characters_end_a_websocket_for_good() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            work, _ = await asks(client, wire)
            assert wire.socket is not None
            await wire.socket.send(b'{"\xe2\x82"}', text=True)
            with pytest.raises(ProtocolError):
                await work

    run(scenario)


def test_an_answer_that_is_wrong_fails_its_request_alone() -> None:
    async def scenario() -> None:
        async with piped() as (wire, client):
            for none in ("no", {}, {"code": "x"}, {"code": 1e99, "message": "m"}, None):
                first, one = await asks(client, wire)
                second, two = await asks(client, wire)
                await wire.raw(spell(id=one, error=none) + b"\n" + spell(id=two, result=None) + b"\n")
                with pytest.raises(ProtocolError, match="config/capabilities/list"):
                    await first
                assert await second is None

    run(scenario)


def test_answers_that_nobody_waits_for_are_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            work, one = await asks(client, wire)
            await wire.send(id="nobody", result=1)
            await wire.send(id="nobody", error={"code": -32603, "message": "late"})
            await wire.send(id=None, error={"code": -32700, "message": "parse error"})
            for theirs in ("theirs", one, 7, None):  # OUP-FRAME-038
                await wire.send(id=theirs, method="client/please", params={})
            for none in ("no", {}, {"code": "7", "message": 7}, {"code": 1e99, "message": "m"}, None):  # OUP-FRAME-039
                await wire.send(id="nobody", error=none)
                await wire.send(id=None, error=none)
            await wire.send(id=one, result=1)
            await wire.send(id=one, result=2)
            assert await work == 1
            assert client.connected

    with caplog.at_level(logging.WARNING):
        run(scenario)
    assert "client/please" in caplog.text
    assert "parse error" in caplog.text


def test_what_is_unknown_is_handed_on() -> None:
    async def scenario() -> None:
        strange: list[Event] = []
        async with connected(on_notification=strange.append) as (_, wire, client):
            session = await both(client.open(KEY), wire.opens())
            events = session.events()
            turn = await both(session.turn("go"), wire.accepts())
            await wire.notify("server/heartbeat", {})
            await wire.notify("moon/phase", {"phase": "full"})
            await wire.send(method="no/params")
            await wire.notify("warning", {"session_id": "not open", "code": "x", "message": "y"})
            await wire.notify("moon/phase", {"session_id": KEY, "phase": "full"})
            await wire.notify("warning", {"session_id": KEY, "code": 7})
            await wire.notify("session/event", {"session_id": KEY, "kind": "new", "payload": 1, "extra": None})
            await wire.send(**told(turn.id, 1, 2, "hologram", {"depth": 3}))
            await wire.send(**told(turn.id, 2, 3, "tool_end", {"tool_call_id": "c1", "status": "vanished"}))
            await wire.notify("projection/envelope", {"session_id": KEY, "payload": {"type": "hologram"}})
            await wire.send(**told(turn.id, 3, 4, "turn_terminal", {"outcome": "evaporated", "new": 1}))
            seen = [await anext(events) for _ in range(7)]
            phase, bad, other, hologram, tool, nameless, end = seen
            assert isinstance(phase, Unknown)
            assert (phase.method, phase.params["phase"]) == ("moon/phase", "full")
            assert isinstance(bad, Unknown)
            assert isinstance(other, Notified)
            assert isinstance(other.data, models.SessionEventBridgedEvent)
            assert other.data.unknown_members == {"extra": None}
            assert isinstance(hologram, Unknown)
            assert hologram.kind == "hologram"
            assert hologram.cursor is not None
            assert isinstance(tool, ToolEnded)
            assert tool.status == "vanished"
            assert isinstance(nameless, Unknown)
            assert isinstance(end, TurnEnded)
            assert end.outcome == "evaporated"
            assert (await turn.result()).status == "evaporated"
            assert [type(event).__name__ for event in strange] == ["Unknown", "Unknown", "Warned"]

    run(scenario)


def test_a_callback_that_raises_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        def fail(_: object) -> None:
            raise RuntimeError("no screen")

        async with connected(on_notification=fail, on_connection=fail, delays=lambda: iter([0.0])) as (
            server,
            wire,
            client,
        ):
            await wire.notify("moon/phase", {})
            work, one = await asks(client, wire)
            await wire.send(id=one, result=1)
            assert await work == 1
            await wire.close(1011)
            wire = await server.accept()
            await wire.hello()
            await until(lambda: client.connected)

    run(scenario)
    assert caplog.text.count("a callback failed") == 3


def test_a_fault_of_our_own_leaves_nobody_waiting(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Session, "take", fail)

    async def scenario() -> None:
        async with connected() as (_, wire, client):
            session = await both(client.open(KEY), wire.opens())
            with pytest.raises(ProtocolError, match="a bug"):
                await session.hydrate()
            assert not client.connected

    run(scenario)
    assert "cannot be taken in" in caplog.text


def test_envelopes_without_a_position_are_told_apart_by_their_numbers() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            session = await both(client.open(KEY), wire.opens())
            turn = await both(session.turn("go"), wire.accepts())
            await wire.send(**user(turn.id, 1, None))
            await wire.send(**piece(turn.id, 2, None, "a"))
            await wire.send(**piece(turn.id, 2, None, "a"))
            await wire.send(**ended(turn.id, 3, None))
            await wire.send(**ended(turn.id, 3, None))
            assert [type(event).__name__ async for event in turn] == ["UserMessage", "TextDelta", "TurnEnded"]
            assert session.cursor is not None
            assert session.cursor.seq == 1  # only frames that show a position move it

    run(scenario)


def test_a_position_of_another_stream_moves_nothing() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            session = await both(client.open(KEY), wire.opens())
            turn = await both(session.turn("go"), wire.accepts())
            message = said(turn.id, 1, 2, "a")
            message["params"]["cursor"] = {"stream": "other", "seq": 90}  # type: ignore[index]
            await wire.send(**message)
            await wire.send(**ended(turn.id, 2, 3))
            assert (await turn.result()).text == "a"
            assert session.cursor is not None
            assert session.cursor.to_json() == cursor(3)

    run(scenario)


WORD = "s3cret"
REFUSALS = [-32601, -32004, -32130]


@pytest.mark.parametrize("code", REFUSALS)
def test_a_method_that_is_not_there_is_unsupported_under_every_code(code: int) -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            work, one = await asks(client, wire)
            data = {"method": "config/capabilities/list", "reason": "not here"}
            await wire.send(id=one, error={"code": code, "message": "no", "data": data})
            with pytest.raises(Unsupported, match="no") as caught:
                await work
            assert (caught.value.reason, caught.value.method) == ("not here", "config/capabilities/list")

    run(scenario)


@pytest.mark.parametrize("code", [-32603, -32140, -32602])
def test_a_runtime_that_is_not_there_is_recognised_under_every_code(code: int) -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            work, one = await asks(client, wire)
            await wire.send(id=one, error={"code": code, "message": "no", "data": {"kind": "runtime_unavailable"}})
            with pytest.raises(ServerError) as caught:
                await work
            assert (caught.value.name, caught.value.code) == ("runtime_not_ready", code)

    run(scenario)


def test_details_that_break_their_model_are_kept_as_they_are() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            for data in ({"kind": "unknown_turn", "turn_id": 7}, {"kind": "brand_new"}, "words", None):
                work, one = await asks(client, wire)
                await wire.send(id=one, error={"code": -32160, "message": "no", "data": data})
                with pytest.raises(ServerError) as caught:
                    await work
                assert caught.value.data == data
                assert caught.value.name == "rate_limited"

    run(scenario)


def test_a_result_that_breaks_its_model_is_told() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            work = asyncio.ensure_future(client.methods.session_rollback(session_id=KEY, num_turns=1))
            await wire.result(await wire.ask("session/rollback"), {"dropped_turns": "one"})
            with pytest.raises(ProtocolError, match="session/rollback breaks its model: /dropped_turns"):
                await work
            assert client.connected

    run(scenario)


def test_a_server_that_never_answers_is_given_up_on() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        async with connected(clock=clock, request_timeout=7.0) as (_, wire, client):
            work, one = await asks(client, wire)
            await clock.set_for(7.0)
            clock.advance(7.0)
            with pytest.raises(TimedOut, match="7 s"):
                await work
            await wire.send(id=one, result="late")
            short = asyncio.ensure_future(client.call("config/capabilities/list", timeout=2.0))
            await wire.ask("config/capabilities/list")
            clock.advance(2.0)
            with pytest.raises(TimeoutError):
                await short
            again, two = await asks(client, wire)
            await wire.send(id=two, result=1)
            assert await again == 1

    run(scenario)


def test_a_server_that_never_says_hello_is_given_up_on() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        async with pipe_server() as server:

            async def connect() -> None:
                async with stdio(*server.argv(), clock=clock, request_timeout=3.0):
                    pass

            work = asyncio.ensure_future(connect())
            wire = await server.accept()
            await wire.ask("client_hello")
            clock.advance(3.0)
            with pytest.raises(TimedOut):
                await work
            await wire.over.wait()

    run(scenario)


def test_a_server_that_floods_is_read_as_fast_as_it_is_listened_to() -> None:
    async def scenario() -> None:
        async with piped() as (wire, client):
            session = await both(client.open(KEY), wire.opens())
            events = session.events()
            turn = new_id()
            frames = [spell(**piece(turn, number, number + 1, "x" * 1000)) + b"\n" for number in range(1, 6001)]
            flood = asyncio.ensure_future(wire.raw(b"".join(frames)))
            await until(lambda: client._paused)
            assert session.crowd < 2000
            assert client._connection is not None
            link = client._connection.link
            await until(lambda: link._paused)  # type: ignore[attr-defined]
            assert len(link._lines) < 1000  # type: ignore[attr-defined]
            count = 0
            async for _ in events:
                count += 1
                if count == 6000:
                    break
            await flood
            events.close()

    run(scenario)


def test_a_server_of_another_protocol_is_refused() -> None:
    async def scenario() -> None:
        version = {"protocol": "octos-ui/v1alpha1", "schema_version": 2, "jsonrpc": "2.0"}
        async with connected():
            pass
        for changes, options, error in (
            ({"version": version | {"protocol": "other/v1"}}, {}, "incompatible_protocol"),
            ({"version": version | {"schema_version": 0}}, {}, "incompatible_protocol"),
            ({}, {"required": ["plan.todos.v1", "smart_home.v1"]}, "missing_features"),
            ({"supported_methods": 7}, {}, "malformed_result"),
        ):
            async with socket_server() as server:
                work = asyncio.ensure_future(_client(server.url, **options))
                wire = await server.accept()
                await wire.hello(**changes)
                with pytest.raises(Mismatch) as caught:
                    await work
                assert caught.value.error == error
                await wire.over.wait()
        async with socket_server() as server:
            work = asyncio.ensure_future(_client(server.url))
            wire = await server.accept()
            await wire.hello(version=version)  # newer is fine
            client = await work
            await client.close()

    run(scenario)


async def _client(url: str, **options: object) -> Client:
    return await websocket(url, **options)  # type: ignore[arg-type]


def test_a_close_behind_a_shutdown_is_a_success() -> None:
    async def scenario() -> None:
        async with connected() as (server, wire, client):
            work = asyncio.ensure_future(client.methods.server_shutdown())
            await wire.ask("server/shutdown")
            await wire.close(1012)
            assert (await work).stopping
            with pytest.raises(Disconnected):
                await client.call("config/capabilities/list")
            assert len(server.requests) == 1

    run(scenario)


def test_a_refused_shutdown_changes_nothing() -> None:
    async def scenario() -> None:
        async with connected(delays=lambda: iter([0.0])) as (server, wire, client):
            work = asyncio.ensure_future(client.methods.server_shutdown())
            await wire.error(await wire.ask("server/shutdown"), -32600, {"kind": "server_shutdown_unavailable"})
            with pytest.raises(ServerError):
                await work
            await wire.close(1012)
            wire = await server.accept()
            await wire.hello()
            await until(lambda: client.connected)

    run(scenario)


def test_the_credential_and_the_features_are_sent_and_not_shown() -> None:
    async def scenario() -> None:
        async with connected(token=WORD, features=["plan.todos.v1"]) as (server, _, client):
            (request,) = server.requests
            assert request.path == "/api/ui-protocol/ws"
            assert request.headers["Authorization"] == f"Bearer {WORD}"
            assert request.headers["X-Octos-Ui-Features"] == "plan.todos.v1"
            assert WORD not in repr(vars(client))

    run(scenario)


def test_hello_names_the_client_and_what_it_understands() -> None:
    async def scenario() -> None:
        async with socket_server() as server:
            work = asyncio.ensure_future(_client(server.url, profile="ada"))
            wire = await server.accept()
            params = (await wire.hello(supported_features=["projection.envelope.v2"]))["params"]
            assert isinstance(params, dict)
            assert params["transport"] == "websocket"
            assert params["client"] == {"name": "octet_oup"}
            assert {"projection.envelope.v2", "user_question.v1", "plan.todos.v1"} < set(params["supported_features"])
            assert "projection.envelope.v1" not in params["supported_features"]
            client = await work
            assert client.capabilities.supported_features == ["projection.envelope.v2"]
            opens = await asyncio.gather(client.open(KEY), wire.opens())
            assert opens[1] == {"session_id": KEY, "profile_id": "ada"}
            await client.close()

    run(scenario)


@pytest.mark.parametrize("url", ["octet:8080", "localhost:8080", "ftp://x", "ws:///path"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="ws://HOST:PORT"):
        websocket(url)


def test_a_server_that_is_not_there_cannot_be_connected_to() -> None:
    async def scenario() -> None:
        async with socket_server() as server:
            url = server.url
        with pytest.raises(Disconnected, match="cannot be reached"):
            await websocket(url)
        with pytest.raises(Disconnected, match="cannot be started"):
            await stdio("/nowhere/octet")

    run(scenario)


def test_capabilities_are_those_of_the_connection() -> None:
    async def scenario() -> None:
        async with connected() as (_, _, client):
            assert client.supports("turn/start")
            assert not client.supports("moon/phase")
            assert client.capabilities.to_json() == CAPABILITIES

    run(scenario)
