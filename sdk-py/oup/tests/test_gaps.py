"""What a server does not keep, or leaves out, is fetched or told: it is never missing silently."""

from __future__ import annotations

import asyncio

import pytest
from peer import (
    CAPABILITIES,
    KEY,
    Json,
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
from resumed import again, kinds, open_session

from octet_oup import (
    Cursor,
    Disconnected,
    Gap,
    TurnEnded,
)


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
