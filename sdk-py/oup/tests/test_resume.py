"""What a connection that breaks costs: nothing where the server keeps it, and never a silent loss."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from peer import (
    CAPABILITIES,
    KEY,
    FakeClock,
    Json,
    SocketServer,
    Wire,
    approval,
    both,
    connected,
    cursor,
    decided,
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

from octet_oup import (
    ApprovalRequested,
    AuthError,
    Client,
    Cursor,
    Decision,
    Disconnected,
    Event,
    Gap,
    ProtocolError,
    ServerError,
    Session,
    TurnEnded,
    Unsupported,
)
from octet_oup._generated import oup_wire as models


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


def test_missing_numbers_are_fetched_again() -> None:
    async def scenario() -> None:
        async with open_session() as (_, wire, client, session):
            turn = await both(session.turn("go"), wire.accepts())
            await wire.send(**user(turn.id, 1, 3))
            await wire.send(**piece(turn.id, 3, 5, "b"))  # number 2 is missing
            request = await wire.ask("session/open")
            params = request["params"]
            assert isinstance(params, dict)
            assert params["after"] == cursor(3)
            await wire.send(**piece(turn.id, 4, 6, "c"))  # of the old lane: it comes again
            opened = {"session_id": KEY, "cursor": cursor(7), "capabilities": CAPABILITIES}
            await wire.result(request, {"opened": opened})
            for number, text in enumerate("abc"):
                await wire.send(**piece(turn.id, 2 + number, 4 + number, text))
            await wire.notify("session/open", opened)
            await wire.send(**ended(turn.id, 5, 8))
            assert kinds([event async for event in turn]) == ["UserMessage", *["TextDelta"] * 3, "TurnEnded"]
            assert (await turn.result()).text == "abc"
            more = asyncio.ensure_future(client.call("task/list"))
            await wire.result(await wire.ask("task/list"), 1)  # and no further session/open
            assert await more == 1

    run(scenario)


def test_numbers_that_the_ledger_lacks_too_are_told_as_a_gap() -> None:
    async def scenario() -> None:
        async with open_session() as (_, wire, _, session):
            turn = await both(session.turn("go"), wire.accepts())
            events = session.events()
            await wire.send(**user(turn.id, 1, 3))
            await wire.send(**piece(turn.id, 3, 5, "b"))
            await wire.opens(piece(turn.id, 3, 5, "b"), at=6)
            request = await wire.ask("session/hydrate")
            await wire.result(request, state(7, turns=[{"turn_id": turn.id, "state": "active"}]))
            await wire.result(
                await wire.ask("turn/state/get"), {"session_id": KEY, "turn_id": turn.id, "state": "active"}
            )
            params = await wire.opens(at=8)
            assert params["after"] == cursor(7)
            await wire.send(**ended(turn.id, 4, 9))
            seen = [event async for event in turn]
            assert kinds(seen) == ["UserMessage", "Gap", "TurnEnded"]
            gap = seen[1]
            assert isinstance(gap, Gap)
            assert (gap.reason, gap.replayed) == ("sequence", False)
            assert gap.hydrated is not None
            assert gap.cursor == gap.hydrated.cursor
            assert kinds([await anext(events) for _ in range(3)]) == kinds(seen)

    run(scenario)


def test_a_server_that_tells_no_state_is_gone_on_with() -> None:
    async def scenario() -> None:
        async with connected(hello={"supported_methods": ["session/open", "turn/start"]}) as (_, wire, client):
            session = await both(client.open(KEY), wire.opens())
            turn = await both(session.turn("go"), wire.accepts())
            await wire.send(**user(turn.id, 1, 3))
            await wire.send(**piece(turn.id, 3, 5, "b"))
            await wire.opens(piece(turn.id, 3, 5, "b"), at=6)
            params = await wire.opens(piece(turn.id, 3, 5, "b"), at=7)  # and neither hydrate nor turn/state/get
            assert params["after"] == cursor(3)
            await wire.send(**ended(turn.id, 4, 8))
            seen = [event async for event in turn]
            assert kinds(seen) == ["UserMessage", "Gap", "TextDelta", "TurnEnded"]
            assert isinstance(seen[1], Gap)
            assert seen[1].hydrated is None
            assert not seen[1].replayed

    run(scenario)


def test_a_session_that_is_let_go_of_is_not_opened_again() -> None:
    async def scenario() -> None:
        async with open_session() as (_, wire, client, session):
            turn = await both(session.turn("go"), wire.accepts())
            await wire.send(**user(turn.id, 1, 3))
            await wire.send(**piece(turn.id, 3, 5, "b"))
            request = await wire.ask("session/open")
            session.detach()
            await wire.error(request, -32110, {"kind": "cursor_expired"})
            more = asyncio.ensure_future(client.call("task/list"))
            await wire.result(await wire.ask("task/list"), 1)
            assert await more == 1
            assert client.sessions == {}
            assert kinds([event async for event in turn]) == ["UserMessage"]
            with pytest.raises(Disconnected, match="let go"):
                await session.turn("again")

    run(scenario)


def test_a_step_back_opens_again_and_creates_nothing() -> None:
    async def scenario() -> None:
        async with open_session() as (_, wire, _, session):
            turn = await both(session.turn("go"), wire.accepts())
            await wire.send(**user(turn.id, 1, 3))
            await wire.send(**piece(turn.id, 2, 4, "a"))
            await wire.send(**user(turn.id, 1, 5))  # a new place, an old number
            params = await wire.opens(user(turn.id, 1, 5), piece(turn.id, 3, 6, "b"), at=7)
            assert params["after"] == cursor(4)
            await wire.send(**ended(turn.id, 4, 8))
            assert (await turn.result()).text == "ab"

    run(scenario)


def test_what_comes_behind_the_end_of_a_stream_creates_nothing() -> None:
    async def scenario() -> None:
        async with open_session() as (_, wire, _, session):
            turn = await both(session.turn("go"), wire.accepts())
            events = session.events()
            await wire.send(**ended(turn.id, 1, 2, token_usage={}))
            await wire.send(**ended(turn.id, 1, 2, token_usage={"input_tokens": 9}))
            await wire.send(**ended(turn.id, 2, 3, "errored", token_usage={"input_tokens": 9}))
            await wire.send(**said(turn.id, 3, 4, "more"))
            await wire.send(**progress(new_id(), "last"))
            assert kinds([await anext(events) for _ in range(2)]) == ["TurnEnded", "Progress"]
            result = await turn.result()
            assert (result.text, result.status) == ("", "completed")
            assert result.usage is not None  # none, which is not the same as unknown
            assert not result.usage.input_tokens
            assert session.cursor is not None
            assert session.cursor.seq == 4

    run(scenario)


def test_a_replay_with_losses_is_opened_again_where_the_server_says() -> None:
    async def scenario() -> None:
        async with open_session() as (_, wire, _, session):
            turn = await both(session.turn("go"), wire.accepts())
            await wire.send(**user(turn.id, 1, 3))
            await wire.send(**progress(turn.id, "before"))
            await wire.send(**piece(turn.id, 2, 5, "a"))
            lossy = {"session_id": KEY, "dropped_count": 3, "last_durable_cursor": cursor(3)}
            await wire.notify("protocol/replay_lossy", lossy)
            params = await wire.opens(
                progress(turn.id, "before"), piece(turn.id, 2, 5, "a"), piece(turn.id, 3, 6, "b"), at=7
            )
            assert params["after"] == cursor(3)
            await wire.send(**ended(turn.id, 4, 8))
            seen = [event async for event in turn]
            assert kinds(seen) == ["UserMessage", "Progress", "TextDelta", "Gap", "TextDelta", "TurnEnded"]
            gap = seen[3]
            assert isinstance(gap, Gap)
            assert (gap.reason, gap.dropped, gap.replayed) == ("replay_lossy", 3, True)

    run(scenario)


def test_a_loss_is_told_once_although_the_connection_breaks_over_it() -> None:
    async def scenario() -> None:
        async with open_session() as (server, wire, _, session):
            turn = await both(session.turn("go"), wire.accepts())
            await wire.send(**user(turn.id, 1, 3))
            lossy = {"session_id": KEY, "dropped_count": 3, "last_durable_cursor": cursor(3)}
            await wire.notify("protocol/replay_lossy", lossy)
            await wire.ask("session/open")
            await wire.close(1011)
            wire, params = await again(server, ended(turn.id, 2, 4), at=5)
            assert params["after"] == cursor(3)
            assert kinds([event async for event in turn]) == ["UserMessage", "Gap", "TurnEnded"]

    run(scenario)


@pytest.mark.parametrize("numbered", [True, False])
def test_a_loss_that_cannot_be_replayed_is_read_and_told(numbered: bool) -> None:
    async def scenario() -> None:
        async with open_session() as (_, wire, _, session):
            turn = await both(session.turn("go"), wire.accepts())
            await wire.send(**user(turn.id, 1, 3))
            await wire.notify("protocol/replay_lossy", {"session_id": KEY, "dropped_count": 2})
            told = (user(turn.id, 1, 3), piece(turn.id, 2, 4, "a"), piece(turn.id, 3, 5, "b"))
            bare = [message["params"] for message in told]  # the first of them is known
            row = {"seq": 1, "role": "assistant", "content": "ab", "persisted_at": "x", "turn_id": turn.id}
            sections: Json = {
                "messages": [row],  # what the envelopes say too
                "turns": [{"turn_id": turn.id, "state": "active"}],
                "replayed_projection_envelopes": bare,
                "projection_envelopes": bare,
            }
            if numbered:
                sections["projection_thread_sequences"] = {turn.id: 3}
            await wire.result(await wire.ask("session/hydrate"), state(5, **sections))
            await wire.error(await wire.ask("turn/state/get"), -32004)
            await wire.opens(at=6)
            await wire.send(**piece(turn.id, 5, 8, "d"))  # the numbers go on: 4 is missing
            await wire.opens(piece(turn.id, 4, 7, "c"), piece(turn.id, 5, 8, "d"), at=9)
            await wire.send(**ended(turn.id, 6, 10))
            assert kinds([event async for event in turn]) == ["UserMessage", "Gap", *["TextDelta"] * 4, "TurnEnded"]
            assert (await turn.result()).text == "abcd"

    run(scenario)


def test_a_cursor_that_expired_is_told_with_the_state() -> None:
    async def scenario() -> None:
        async with open_session() as (server, wire, _, session):
            turn = await both(session.turn("go"), wire.accepts())
            other = await both(session.turn("more"), wire.accepts())
            await wire.send(**user(turn.id, 1, 3))
            await wire.send(**piece(turn.id, 2, 4, "all o"))
            await until(lambda: session.crowd == 2)
            await wire.close(1011)
            wire = await server.accept()
            await wire.hello()
            expired = {"kind": "cursor_expired", "cursor": cursor(3), "ledger_head": cursor(90)}
            await wire.error(await wire.ask("session/open"), -32110, expired)
            rows = [{"seq": 1, "role": "assistant", "content": "all of it", "persisted_at": "x", "turn_id": turn.id}]
            turns = [{"turn_id": turn.id, "state": "completed"}]
            await wire.result(await wire.ask("session/hydrate"), state(90, messages=rows, turns=turns))
            request = await wire.ask("turn/state/get")  # of the other one, which the state does not name
            await wire.result(request, {"session_id": KEY, "turn_id": other.id, "state": "unknown", "running": False})
            params = await wire.opens(at=91)
            assert params["after"] == cursor(90)
            result = await turn.result()
            assert (result.text, result.status) == ("all of it", "completed")
            assert turn.ended is not None
            assert turn.ended.recovered
            seen = [event async for event in other]
            assert kinds(seen) == ["Gap", "TurnEnded"]
            assert isinstance(seen[0], Gap)
            assert seen[0].reason == "cursor_expired"
            assert isinstance(seen[1], TurnEnded)
            assert seen[1].outcome == "unknown"

    run(scenario)


def test_a_kept_cursor_that_expired_opens_all_the_same() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            work = asyncio.ensure_future(client.open(KEY, after=Cursor(stream=KEY, seq=2)))
            expired = {"kind": "cursor_expired", "cursor": cursor(2), "ledger_head": cursor(90)}
            await wire.error(await wire.ask("session/open"), -32110, expired)
            await wire.result(await wire.ask("session/hydrate"), state(90))
            await wire.opens(at=91)
            session = await work
            gap = await anext(session.events())
            assert isinstance(gap, Gap)
            assert gap.reason == "cursor_expired"
            await until(lambda: session.cursor is not None and session.cursor.seq == 91)

    run(scenario)


def test_a_cursor_of_another_stream_is_not_tried_again() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            work = asyncio.ensure_future(client.open(KEY, after=Cursor(stream="other", seq=2)))
            await wire.error(await wire.ask("session/open"), -32111, {"kind": "cursor_stream_mismatch"})
            await wire.error(await wire.ask("session/hydrate"), -32100, {"kind": "unknown_session"})
            params = await wire.opens(at=1)
            assert "after" not in params
            gap = await anext((await work).events())
            assert isinstance(gap, Gap)
            assert (gap.reason, gap.hydrated) == ("cursor_invalid", None)

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


def test_an_approval_is_not_asked_twice_and_a_lost_answer_is_sent_again() -> None:
    async def scenario() -> None:
        asked: list[str] = []
        think = asyncio.Event()

        async def decide(request: models.ApprovalRequestedEvent) -> Decision:
            asked.append(request.approval_id)
            if request.approval_id == slow:
                await think.wait()
            return Decision.approve()

        quick, slow = new_id(), new_id()
        async with open_session(on_approval=decide) as (server, wire, _, session):
            turn = await both(session.turn("go"), wire.accepts())
            await wire.send(**approval(turn.id, quick))
            await wire.send(**approval(turn.id, slow))
            first = await wire.ask("approval/respond")
            await until(lambda: len(asked) == 2)
            await wire.close(1011)  # the answer to quick is lost, slow is being thought about
            wire, _ = await again(server, approval(turn.id, quick), approval(turn.id, slow), at=5)
            second = await wire.ask("approval/respond")
            assert second["params"] == first["params"]
            think.set()
            third = await wire.ask("approval/respond")
            assert third["params"]["approval_id"] == slow  # type: ignore[index]
            assert asked == [quick, slow]
            await wire.send(**ended(turn.id, 1, 9))
            assert kinds([event async for event in turn]) == ["ApprovalRequested", "ApprovalRequested", "TurnEnded"]

    run(scenario)


def test_an_approval_that_was_decided_meanwhile_is_not_asked() -> None:
    async def scenario() -> None:
        asked: list[str] = []

        async def decide(request: models.ApprovalRequestedEvent) -> Decision:
            asked.append(request.approval_id)
            return Decision.approve()

        old, new = new_id(), new_id()
        turn_id = new_id()
        async with connected(on_approval=decide) as (_, wire, client):
            replay = (approval(turn_id, old), decided(turn_id, old), approval(turn_id, new))
            session = await both(client.open(KEY, after=Cursor(stream=KEY, seq=1)), wire.opens(*replay, at=8))
            request = await wire.ask("approval/respond")
            assert request["params"]["approval_id"] == new  # type: ignore[index]
            assert asked == [new]
            events = session.events()
            assert isinstance(await anext(events), ApprovalRequested)

    run(scenario)


def test_an_approval_that_came_and_went_while_away_is_not_asked() -> None:
    async def scenario() -> None:
        asked: list[str] = []

        async def decide(request: models.ApprovalRequestedEvent) -> Decision:
            asked.append(request.approval_id)
            return Decision.approve()

        async with open_session(on_approval=decide) as (server, wire, _, session):
            turn = await both(session.turn("go"), wire.accepts())
            await wire.close(1011)
            wire = await server.accept()
            await wire.hello()
            request = await wire.ask("session/open")
            opened = {"session_id": KEY, "cursor": cursor(5), "capabilities": CAPABILITIES}
            await wire.result(request, {"opened": opened})
            gone, waits = new_id(), new_id()
            await wire.notify("session/open", opened | {"cursor": cursor(2)})  # somebody else's, and replayed
            await wire.send(**approval(turn.id, gone))
            await wire.send(**approval(turn.id, waits))
            await until(lambda: session.crowd == 2)
            await wire.send(**decided(turn.id, gone))
            await until(lambda: session.crowd == 3)
            assert asked == []
            await wire.notify("session/open", opened)
            answer = await wire.ask("approval/respond")
            assert answer["params"]["approval_id"] == waits  # type: ignore[index]
            assert asked == [waits]

    run(scenario)


def test_what_is_not_told_again_is_no_longer_waited_for() -> None:
    async def scenario() -> None:
        asked = asyncio.Event()
        ended_ = asyncio.Event()

        async def decide(request: models.ApprovalRequestedEvent) -> Decision:
            if request.approval_id == quick:
                return Decision.approve()
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended_.set()
            return Decision.approve()

        quick, slow = new_id(), new_id()
        async with open_session(on_approval=decide) as (server, wire, client, session):
            turn = await both(session.turn("go"), wire.accepts())
            await wire.send(**approval(turn.id, quick))
            await wire.send(**approval(turn.id, slow))
            await wire.ask("approval/respond")
            await asked.wait()
            await wire.close(1011)
            wire, _ = await again(server, at=5)
            await ended_.wait()
            more = asyncio.ensure_future(client.call("task/list"))
            await wire.result(await wire.ask("task/list"), 1)  # and no answer before it
            assert await more == 1

    run(scenario)


def test_snapshots_that_are_told_at_every_open_are_told_once() -> None:
    async def scenario() -> None:
        plan: Json = {"session_id": KEY, "plan": {"items": [], "updated_at_ms": 1}}
        changed: Json = {"session_id": KEY, "plan": {"items": [], "updated_at_ms": 2}}
        async with open_session() as (server, wire, _, session):
            events = session.events()
            await wire.notify("plan/updated", plan)
            await wire.notify("plan/updated", plan)  # told twice is told twice, while it is live
            assert kinds([await anext(events) for _ in range(2)]) == ["PlanUpdated"] * 2
            await wire.close(1011)
            await again(
                server,
                {"method": "plan/updated", "params": plan},
                {"method": "plan/updated", "params": changed},
                at=2,
            )
            seen = await anext(events)
            assert seen.plan.updated_at_ms == 2  # type: ignore[attr-defined]

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
            session = await both(client.open(KEY, topic="build", cwd="/work"), wire.opens(key=folded))
            assert session.key == folded
            assert list(client.sessions) == [folded]
            await wire.close(1011)
            wire = await server.accept()
            await wire.hello()
            params = await wire.opens(key=folded, at=2)
            assert params == {"session_id": folded, "cwd": "/work", "after": cursor(1, folded)}
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
            await wire.result(request, {"opened": {"session_id": KEY, "workspace_root": "/work"}})
            await wire.notify("session/open", {"session_id": KEY})
            session = await work
            assert session.workspace == "/work"
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
