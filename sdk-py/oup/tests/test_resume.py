"""What a connection that breaks costs: nothing where the server keeps it."""

from __future__ import annotations

import asyncio

import pytest
from peer import (
    CAPABILITIES,
    KEY,
    FakeClock,
    both,
    connected,
    cursor,
    ended,
    new_id,
    piece,
    progress,
    run,
    said,
    state,
    until,
    user,
)
from resumed import again, at_once, kinds, open_session

from octet_oup import (
    AuthError,
    Cursor,
    Disconnected,
    ProtocolError,
    ServerError,
    Unsupported,
)


def test_a_turn_goes_on_behind_what_was_read() -> None:
    async def scenario() -> None:
        async with open_session() as (server, wire, client, session):
            turn = await both(session.turn("go"), wire.accepts())
            await wire.send(**user(turn.id, 1, 3))
            await wire.send(**piece(turn.id, 2, 4, "a"))
            await wire.send(**progress(turn.id, "kept, and without a cursor"))
            await until(lambda: session.crowd == 3)
            await wire.close(1011)
            wire, params = await again(
                server,
                piece(turn.id, 2, 4, "a"),  # at least once: what overlaps comes twice
                progress(turn.id, "kept, and without a cursor"),
                progress(turn.id, "new"),
                piece(turn.id, 3, 6, "b"),
                at=7,
            )
            assert params["after"] == cursor(4)
            await wire.send(**piece(turn.id, 4, 8, "c"))
            await wire.send(**ended(turn.id, 5, 9))
            seen = [event async for event in turn]
            assert kinds(seen) == [
                "UserMessage",
                "TextDelta",
                "Progress",
                "Progress",
                "TextDelta",
                "TextDelta",
                "TurnEnded",
            ]
            assert (await turn.result()).text == "abc"
            assert session.cursor is not None
            assert session.cursor.seq == 9
            assert client.connected

    run(scenario)


def test_the_position_of_an_open_counts_when_its_notification_has_come() -> None:
    async def scenario() -> None:
        async with open_session() as (server, wire, _, session):
            await wire.close(1011)
            wire = await server.accept()
            await wire.hello()
            request = await wire.ask("session/open")
            opened = {"session_id": KEY, "cursor": cursor(9), "capabilities": CAPABILITIES}
            await wire.result(request, {"opened": opened})
            await wire.close(1011)  # the replay up to 9 never came
            _, params = await again(server, at=10)
            assert params["after"] == cursor(1)
            await until(lambda: session.cursor is not None and session.cursor.seq == 10)

    run(scenario)


def test_a_start_in_flight_is_repeated_with_its_id() -> None:
    async def scenario() -> None:
        async with open_session() as (server, wire, _, session):
            start = asyncio.ensure_future(session.turn("go"))
            first = await wire.ask("turn/start")
            await wire.close(1011)
            wire, _ = await again(server, at=2)
            second = await wire.ask("turn/start")
            assert second["params"] == first["params"]
            await wire.result(second, {"accepted": True})
            turn = await start
            await wire.send(**user(turn.id, 1, 3))
            await wire.send(**ended(turn.id, 2, 4))
            assert (await turn.result()).status == "completed"

    run(scenario)


@pytest.mark.parametrize("kind", ["turn_id_in_use", "turn_in_progress"])
def test_a_start_that_had_come_through_is_taken_for_accepted(kind: str) -> None:
    async def scenario() -> None:
        async with open_session() as (server, wire, _, session):
            start = asyncio.ensure_future(session.turn("go"))
            params = (await wire.ask("turn/start"))["params"]
            assert isinstance(params, dict)
            turn_id = params["turn_id"]
            await wire.close(1011)
            wire, _ = await again(server, user(turn_id, 1, 2), ended(turn_id, 2, 3), at=4)
            await wire.error(await wire.ask("turn/start"), -32600, {"kind": kind, "turn_id": turn_id})
            assert (await (await start).result()).status == "completed"

    run(scenario)


def test_a_refusal_of_the_first_start_is_a_refusal() -> None:
    async def scenario() -> None:
        async with open_session() as (_, wire, _, session):
            start = asyncio.ensure_future(session.turn("go", id=new_id()))
            await wire.error(await wire.ask("turn/start"), -32600, {"kind": "turn_id_in_use"})
            with pytest.raises(ServerError, match="turn_id_in_use"):
                await start

    run(scenario)


def test_other_requests_in_flight_fail_and_say_so() -> None:
    async def scenario() -> None:
        async with open_session() as (server, wire, client, session):
            read = asyncio.ensure_future(session.hydrate())
            steer = asyncio.ensure_future(client.call("turn/steer", {}))
            await wire.ask("session/hydrate")
            await wire.ask("turn/steer")
            await wire.close(1011)
            for work in (read, steer):
                with pytest.raises(Disconnected) as caught:
                    await work
                assert caught.value.in_flight == ("session/hydrate", "turn/steer")
                assert caught.value.close_code == 1011
            later = asyncio.ensure_future(session.hydrate())  # waits for the next connection
            wire, _ = await again(server, at=2)
            await wire.result(await wire.ask("session/hydrate"), state(2))
            assert (await later).cursor.seq == 2

    run(scenario)


@pytest.mark.parametrize(("code", "waits"), [(1012, False), (1011, True), (1000, True)])
def test_a_server_that_starts_anew_is_connected_to_at_once(code: int, waits: bool) -> None:
    async def scenario() -> None:
        clock = FakeClock()
        async with open_session(clock=clock, delays=lambda: iter([5.0, 7.0])) as (server, wire, client, session):
            await wire.close(code)
            if waits:
                await clock.set_for(5.0)
                assert not client.connected
                clock.advance(5.0)
            wire, _ = await again(server, at=2)
            await until(lambda: client.connected)
            await wire.close(1012)  # nothing came of the last one: no second time at once
            if waits:
                wire, _ = await again(server, at=3)
                await until(lambda: client.connected)
                assert session.cursor is not None
                assert session.cursor.seq == 3
            else:
                await again(server, at=3)

    run(scenario)


def test_a_server_that_does_nothing_but_start_anew_is_not_hammered() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        async with connected(clock=clock, delays=lambda: iter([5.0, 7.0])) as (server, wire, client):
            await wire.close(1012)
            wire = await server.accept()  # the first time at once
            await wire.hello()
            await until(lambda: client.connected)
            await wire.close(1012)
            await clock.set_for(5.0)

    run(scenario)


def test_a_credential_that_is_withdrawn_ends_it() -> None:
    async def scenario() -> None:
        async with open_session() as (server, wire, client, session):
            turn = await both(session.turn("go"), wire.accepts())
            events = session.events()
            read = asyncio.ensure_future(session.hydrate())
            await wire.ask("session/hydrate")
            await wire.close(1008, "auth_expired")
            with pytest.raises(AuthError, match="auth_expired"):
                await read
            with pytest.raises(AuthError):
                await turn.result()
            with pytest.raises(AuthError):
                await anext(events)
            with pytest.raises(AuthError):
                await session.turn("again")
            with pytest.raises(AuthError):
                await client.methods.config_capabilities_list()
            assert not client.connected
            assert len(server.requests) == 1

    run(scenario)


@pytest.mark.parametrize("status", [401, 403])
def test_a_credential_that_is_refused_ends_it(status: int) -> None:
    async def scenario() -> None:
        async with open_session() as (server, wire, client, session):
            server.refuse = status
            turn = await both(session.turn("go"), wire.accepts())
            await wire.close(1012)
            with pytest.raises(AuthError, match=str(status)):
                await turn.result()
            assert not client.connected

    run(scenario)


def test_attempts_come_to_an_end() -> None:
    async def scenario() -> None:
        told: list[Disconnected | None] = []
        async with open_session(on_connection=told.append) as (server, wire, _, session):
            server.refuse = 503
            turn = await both(session.turn("go"), wire.accepts())
            start = asyncio.ensure_future(session.hydrate())
            await wire.ask("session/hydrate")
            await wire.close(1012)
            with pytest.raises(Disconnected):
                await start
            with pytest.raises(Disconnected, match="8 attempts"):
                await turn.result()
            assert len(server.requests) == 9
            assert [why is None for why in told] == [False]

    run(scenario)


def test_a_start_that_never_gets_through_says_that_it_was_sent() -> None:
    async def scenario() -> None:
        async with open_session() as (server, wire, _, session):
            start = asyncio.ensure_future(session.turn("go"))
            await wire.ask("turn/start")
            server.refuse = 503
            await wire.close(1012)
            with pytest.raises(Disconnected) as caught:
                await start
            assert caught.value.in_flight == ("turn/start",)

    run(scenario)


def test_a_frame_that_was_too_large_for_the_server_is_not_sent_again() -> None:
    async def scenario() -> None:
        async with open_session() as (server, wire, client, session):
            start = asyncio.ensure_future(session.turn("go"))
            await wire.ask("turn/start")
            await wire.close(1009)
            with pytest.raises(Disconnected) as caught:
                await start
            assert caught.value.close_code == 1009
            await again(server, at=2)
            await until(lambda: client.connected)

    run(scenario)


def test_a_turn_that_has_ended_is_followed_to_its_end() -> None:
    async def scenario() -> None:
        async with open_session() as (_, wire, _client, session):
            over, never, runs = new_id(), new_id(), new_id()
            events = session.events()

            async def standing(turn_id: str, word: str, *, running: bool) -> None:
                request = await wire.ask("turn/state/get")
                result = {"session_id": KEY, "turn_id": turn_id, "state": word, "running": running}
                await wire.result(request, result)

            turn = session.follow(over)
            await standing(over, "interrupted", running=False)
            told = [
                message["params"]
                for message in (user(over, 1, 2), said(over, 2, 3, "Half"), ended(over, 3, 4, "interrupted"))
            ]
            await wire.result(await wire.ask("session/hydrate"), state(4, projection_envelopes=told))
            result = await turn.result()
            assert (result.status, result.text) == ("interrupted", "Half")

            turn = session.follow(never)
            await standing(never, "unknown", running=False)
            await wire.error(await wire.ask("session/hydrate"), -32603)
            assert (await turn.result()).status == "unknown"

            turn = session.follow(runs)
            await standing(runs, "active", running=True)
            await wire.send(**user(runs, 1, 5))
            await wire.send(**ended(runs, 2, 6))
            assert (await turn.result()).status == "completed"
            assert [(await anext(events)).turn_id for _ in range(2)] == [runs, runs]

    run(scenario)


def test_what_was_replayed_waits_for_the_reader_and_a_turn_can_be_followed() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            turn_id = new_id()
            replay = (piece(turn_id, 2, 6, "b"), piece(turn_id, 3, 7, "c"))
            session = await both(client.open(KEY, after=Cursor(stream=KEY, seq=5)), wire.opens(*replay, at=8))
            await until(lambda: session.crowd == 2)
            turn = session.follow(turn_id)
            with pytest.raises(ValueError, match="followed already"):
                session.follow(turn_id)
            await wire.send(**ended(turn_id, 4, 9))
            assert kinds([event async for event in turn]) == ["TextDelta", "TextDelta", "TurnEnded"]
            assert session.cursor is not None
            assert session.cursor.seq == 5  # the events of the session were not read
            events = session.events()
            assert kinds([await anext(events) for _ in range(3)]) == ["TextDelta", "TextDelta", "TurnEnded"]
            assert session.cursor.seq == 9

    run(scenario)


def test_a_session_that_cannot_be_opened_again_fails_alone() -> None:
    async def scenario() -> None:
        async with open_session() as (server, wire, client, session):
            other = await both(client.open("_main:local:other"), wire.opens(key="_main:local:other", at=1))
            turn = await both(session.turn("go"), wire.accepts())
            await wire.close(1011)
            wire = await server.accept()
            await wire.hello()
            await wire.error(await wire.ask("session/open"), -32602, {"kind": "profile_unresolved", "profile_id": "x"})
            await wire.opens(key="_main:local:other", at=2)
            with pytest.raises(ServerError, match="profile_unresolved"):
                await turn.result()
            with pytest.raises(ServerError, match="profile_unresolved"):
                await session.turn("go")
            await until(lambda: client.connected)
            assert client.sessions == {"_main:local:other": other}

    run(scenario)


def test_a_server_of_another_protocol_is_not_connected_to_again() -> None:
    async def scenario() -> None:
        async with open_session() as (server, wire, client, session):
            events = session.events()
            await wire.close(1012)
            wire = await server.accept()
            await wire.hello(version={"protocol": "other/v1", "schema_version": 1, "jsonrpc": "2.0"})
            with pytest.raises(Exception, match="other/v1"):
                await anext(events)
            assert not client.connected

    run(scenario)


def test_the_confirmed_key_is_used_from_then_on() -> None:
    async def scenario() -> None:
        folded = f"{KEY}#build"
        async with connected(delays=at_once) as (server, wire, client):
            session = await both(client.open(KEY, topic="build", cwd="/home/ada"), wire.opens(key=folded))
            assert session.key == folded
            assert list(client.sessions) == [folded]
            await wire.close(1011)
            wire = await server.accept()
            await wire.hello()
            params = await wire.opens(key=folded, at=2)
            assert params == {"session_id": folded, "cwd": "/home/ada", "after": cursor(1, folded)}
            await until(lambda: client.connected)
            with pytest.raises(ValueError, match="is open"):
                await client.open(folded)
            other = await both(client.open(KEY, topic="build"), wire.opens(key=folded, at=3))
            with pytest.raises(Disconnected, match="second time"):
                await session.turn("go")
            assert client.sessions == {folded: other}
            other.detach()
            assert client.sessions == {}

    run(scenario)


def test_an_open_without_capabilities_is_read() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            work = asyncio.ensure_future(client.open(KEY))
            request = await wire.ask("session/open")
            await wire.result(request, {"opened": {"session_id": KEY, "workspace_root": "/home/ada"}})
            await wire.notify("session/open", {"session_id": KEY})
            session = await work
            assert session.workspace == "/home/ada"
            assert session.opened is not None
            features = session.opened.capabilities.supported_features
            assert isinstance(features, list)
            assert "projection.envelope.v2" not in features
            assert session.cursor is None

    run(scenario)


def test_an_open_that_breaks_its_model_fails() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            work = asyncio.ensure_future(client.open(KEY))
            await wire.result(await wire.ask("session/open"), {"opened": 7})
            with pytest.raises(ProtocolError, match="session/open"):
                await work
            refused = asyncio.ensure_future(client.methods.task_list(session_id=KEY))
            await wire.result(await wire.ask("task/list"), {"unsupported": {"method": "task/list"}})
            with pytest.raises(Unsupported):
                await refused
            assert client.sessions == {}

    run(scenario)
