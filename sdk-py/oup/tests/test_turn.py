"""Turns: what happens in them, what comes out of them, and what a caller may do meanwhile."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence

import pytest
from peer import (
    KEY,
    Wire,
    approval,
    both,
    connected,
    decided,
    ended,
    new_id,
    piece,
    piped,
    progress,
    question,
    run,
    said,
    told,
    until,
    user,
)

from octet_oup import (
    Answer,
    ApprovalRequested,
    Client,
    Decision,
    Event,
    FileAttached,
    Progress,
    ServerError,
    Session,
    SteerDropped,
    TextDelta,
    Turn,
    TurnEnded,
)
from octet_oup._generated import oup_wire as wire_models
from octet_oup._inbox import ROOM


async def opened(client: Client, wire: Wire) -> Session:
    return await both(client.open(KEY), wire.opens())


async def started(client: Client, wire: Wire) -> tuple[Session, Turn]:
    session = await opened(client, wire)
    return session, await both(session.turn("go"), wire.accepts())


async def whole_turn(wire: Wire, client: Client) -> None:
    session = await both(client.open(KEY, cwd="/home/ada"), wire.opens())
    turn, turn_id = await asyncio.gather(session.turn("go"), wire.accepts())
    assert turn.id == turn_id
    assert uuid.UUID(turn_id).version == 7
    await wire.notify("turn/started", {"session_id": KEY, "turn_id": turn_id, "timestamp": "now"})
    await wire.send(**user(turn_id, 1, 3))
    await wire.send(**piece(turn_id, 2, 4, "Let me "))
    await wire.send(**piece(turn_id, 3, 5, "see."))
    await wire.send(**told(turn_id, 4, 6, "tool_start", {"tool_call_id": "c1", "name": "shell"}))
    await wire.send(**told(turn_id, 5, 7, "tool_progress", {"tool_call_id": "c1", "message": "half"}))
    end = {"tool_call_id": "c1", "status": "complete", "output_preview": "2", "error": None}
    await wire.send(**told(turn_id, 6, 8, "tool_end", end))
    file = {"path": "a.txt", "mime": "text/plain", "size_bytes": 3, "attachment_owner": {}}
    await wire.send(**told(turn_id, 7, 9, "file_attached", file))
    await wire.send(**told(turn_id, 8, 10, "reasoning_delta", {"text": "hm"}))
    await wire.send(**said(turn_id, 9, 11, "Let me look."))
    await wire.send(**piece(turn_id, 10, 12, "Two", "s2"))
    await wire.send(**progress(turn_id, "nearly"))
    await wire.send(**said(turn_id, 11, 13, "", "s3"))
    await wire.send(**ended(turn_id, 12, 14, token_usage={"input_tokens": 3}))
    seen: list[Event] = [event async for event in turn]
    assert [type(event).__name__ for event in seen] == [
        "TurnStarted",
        "UserMessage",
        "TextDelta",
        "TextDelta",
        "ToolStarted",
        "ToolProgress",
        "ToolEnded",
        "FileAttached",
        "ReasoningDelta",
        "Message",
        "TextDelta",
        "Progress",
        "Message",
        "TurnEnded",
    ]
    result = await turn.result()
    assert (result.text, result.status) == ("Let me look.\n\nTwo", "completed")
    assert result.segments == ("Let me look.", "Two", "")
    assert result.usage is not None
    assert result.usage.input_tokens == 3
    assert [(tool.name, tool.status, tool.output) for tool in result.tools] == [("shell", "complete", "2")]
    assert [file.path for file in result.files] == ["a.txt"]
    assert isinstance(seen[7], FileAttached)
    assert session.cursor is not None
    assert session.cursor.seq == 14
    assert not session._feed.turns
    assert not session._feed.accepted


def test_a_turn_streams_and_gathers_over_a_websocket() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            await whole_turn(wire, client)

    run(scenario)


@pytest.mark.parametrize("size", [65536, 1])
def test_a_turn_streams_and_gathers_over_a_pipe(size: int) -> None:
    async def scenario() -> None:
        async with piped(size) as (wire, client):
            await whole_turn(wire, client)

    run(scenario)


def test_two_turns_of_two_sessions_do_not_mix() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            _, first = await started(client, wire)
            other = "_main:local:other"
            session = await both(client.open(other), wire.opens(key=other))
            second = await both(session.turn("go"), wire.accepts())
            message = said(second.id, 1, 3, "other")
            message["params"] |= {"session_id": other, "cursor": {"stream": other, "seq": 3}}  # type: ignore[operator]
            await wire.send(**message)
            await wire.finishes(first.id, 1, 2)
            assert (await first.result()).text == "done"
            assert type(await anext(aiter(second))).__name__ == "Message"

    run(scenario)


def test_a_refused_turn_is_told_and_forgotten() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            session = await opened(client, wire)

            async def refuse() -> None:
                request = await wire.ask("turn/start")
                await wire.error(request, -32600, {"kind": "turn_in_progress", "turn_id": new_id()})

            turn_id = new_id()
            with pytest.raises(ServerError) as caught:
                await both(session.turn("go", id=turn_id), refuse())
            assert (caught.value.kind, caught.value.name) == ("turn_in_progress", "invalid_request")
            assert isinstance(caught.value.data, wire_models.TurnInProgressErrorData)
            turn = await both(session.turn("again", id=turn_id), wire.accepts())
            await wire.finishes(turn.id, 1, 2)
            assert (await turn.result()).text == "done"

    run(scenario)


def test_words_that_break_their_model_are_not_sent() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            session = await opened(client, wire)
            with pytest.raises(ValueError, match="turn_id"):
                await session.turn("go", id="seven")
            with pytest.raises(ValueError, match="send less"):
                await session.turn("x" * wire_models.MAX_TEXT_FRAME_BYTES)
            turn = await both(session.turn("go"), wire.accepts())
            await wire.finishes(turn.id, 1, 2)
            assert (await turn.result()).status == "completed"

    run(scenario)


def test_a_tool_waits_for_a_decision() -> None:
    async def scenario() -> None:
        asked: list[str] = []

        async def decide(request: wire_models.ApprovalRequestedEvent) -> Decision:
            asked.append(request.title)
            return Decision.approve("turn", note="fine")

        async with connected(on_approval=decide) as (_, wire, client):
            _, turn = await started(client, wire)
            one = new_id()
            await wire.send(**approval(turn.id, one))
            request = await wire.ask("approval/respond")
            assert request["params"] == {
                "session_id": KEY,
                "approval_id": one,
                "decision": "approve",
                "approval_scope": "turn",
                "client_note": "fine",
            }
            await wire.send(**decided(turn.id, one))
            result = {"approval_id": one, "accepted": True, "status": "accepted", "runtime_resumed": True}
            await wire.result(request, result)
            await wire.finishes(turn.id, 1, 2)
            kinds = [type(event).__name__ async for event in turn]
            assert kinds == ["ApprovalRequested", "ApprovalDecided", "Message", "TurnEnded"]
            assert asked == ["Run a command"]

    run(scenario)


def test_a_callback_that_fails_denies_and_tells_why(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async def decide(request: wire_models.ApprovalRequestedEvent) -> Decision:
            raise RuntimeError("no screen")

        async def reply(request: wire_models.UserQuestionRequestedEvent) -> Sequence[Answer]:
            return []

        async with connected(on_approval=decide, on_question=reply) as (_, wire, client):
            _, turn = await started(client, wire)
            await wire.send(**approval(turn.id, new_id()))
            params = (await wire.ask("approval/respond"))["params"]
            assert isinstance(params, dict)
            assert (params["decision"], params["client_note"]) == ("deny", "RuntimeError: no screen")
            await wire.send(**question(turn.id, new_id()))
            params = (await wire.ask("user_question/respond"))["params"]
            assert isinstance(params, dict)
            assert "returned 0 answers to 1 questions" in str(params["answers"])

    run(scenario)
    assert "no screen" in caplog.text


def test_questions_are_answered_in_one_frame() -> None:
    async def scenario() -> None:
        async def reply(request: wire_models.UserQuestionRequestedEvent) -> Sequence[Answer]:
            return [Answer(labels=[request.questions[0].options[1].label], text="by package")]

        async with connected(on_question=reply) as (_, wire, client):
            _, turn = await started(client, wire)
            one = new_id()
            await wire.send(**question(turn.id, one))
            request = await wire.ask("user_question/respond")
            answers = [{"selected_labels": ["Nested"], "free_text": "by package"}]
            assert request["params"] == {"session_id": KEY, "question_id": one, "answers": answers}
            await wire.result(request, {"question_id": one, "accepted": True, "runtime_resumed": True})
            await wire.finishes(turn.id, 1, 2)
            assert (await turn.result()).status == "completed"

    run(scenario)


def test_without_a_callback_nothing_is_answered_but_by_hand() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            session, turn = await started(client, wire)
            one, two = new_id(), new_id()
            await wire.send(**approval(turn.id, one))
            await wire.send(**question(turn.id, two))
            assert isinstance(await anext(aiter(turn)), ApprovalRequested)
            decision = asyncio.ensure_future(session.decide(one, Decision.deny("no")))
            request = await wire.ask("approval/respond")  # and nothing before it
            await wire.error(request, -32011, {"kind": "approval_not_pending", "approval_id": one})
            with pytest.raises(ServerError, match="approval_not_pending"):
                await decision
            answer = asyncio.ensure_future(session.answer(two, [Answer(text="flat")]))
            request = await wire.ask("user_question/respond")
            await wire.result(request, {"question_id": two, "accepted": True, "runtime_resumed": False})
            assert (await answer).runtime_resumed is False

    run(scenario)


def test_a_callback_ends_when_somebody_else_decides_or_the_turn_is_over() -> None:
    async def scenario() -> None:
        asked: asyncio.Queue[str] = asyncio.Queue()
        gone: asyncio.Queue[str] = asyncio.Queue()

        async def think(request_id: str) -> None:
            asked.put_nowait(request_id)
            try:
                await asyncio.Event().wait()
            finally:
                gone.put_nowait(request_id)

        async def decide(request: wire_models.ApprovalRequestedEvent) -> Decision:
            await think(request.approval_id)
            return Decision.approve()

        async def reply(request: wire_models.UserQuestionRequestedEvent) -> Sequence[Answer]:
            await think(request.question_id)
            return []

        async with connected(on_approval=decide, on_question=reply) as (_, wire, client):
            _, turn = await started(client, wire)
            one, two = new_id(), new_id()
            await wire.send(**approval(turn.id, one))
            await wire.send(**question(turn.id, two))
            assert {await asked.get(), await asked.get()} == {one, two}
            await wire.send(**decided(turn.id, one))
            assert await gone.get() == one
            await wire.finishes(turn.id, 1, 2)
            assert await gone.get() == two
            assert (await turn.result()).status == "completed"

    run(scenario)


def test_a_turn_is_steered_and_interrupted() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            _, turn = await started(client, wire)
            steer = asyncio.ensure_future(turn.steer("skip the slow ones"))
            request = await wire.ask("turn/steer")
            said_ = [{"kind": "text", "text": "skip the slow ones"}]
            assert request["params"] == {"session_id": KEY, "expected_turn_id": turn.id, "input": said_}
            await wire.result(request, {"turn_id": turn.id, "steered": True})
            assert (await steer).steered
            stop = asyncio.ensure_future(turn.interrupt())
            request = await wire.ask("turn/interrupt")
            assert request["params"] == {"session_id": KEY, "turn_id": turn.id}
            dropped = {"session_id": KEY, "turn_id": turn.id, "inputs": said_, "reason": "interrupted"}
            await wire.notify("turn/steer_dropped", dropped)
            failure = {"code": "interrupted", "message": "stopped"}
            await wire.send(**ended(turn.id, 1, 2, "interrupted", error=failure))
            await wire.result(request, {"interrupted": True})
            assert (await stop).interrupted
            first = await anext(aiter(turn))
            assert isinstance(first, SteerDropped)
            assert first.inputs[0].text == "skip the slow ones"
            result = await turn.result()
            assert result.status == "interrupted"
            assert result.error is not None
            assert result.error.code == "interrupted"
            assert result.usage is None  # unknown, which is not the same as none

    run(scenario)


@pytest.mark.parametrize("asked", [False, True])
def test_cancelling_a_reader_interrupts_only_when_asked(asked: bool) -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            session = await opened(client, wire)
            turn = await both(session.turn("go", interrupt_when_cancelled=asked), wire.accepts())
            reader = asyncio.ensure_future(turn.result())
            await wire.send(**user(turn.id, 1, 2))
            await until(lambda: session.cursor is not None and session.cursor.seq >= 2)
            reader.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reader
            status = asyncio.ensure_future(client.methods.config_capabilities_list())
            if asked:
                await wire.result(await wire.ask("turn/interrupt"), {"interrupted": True})
            request = await wire.ask("config/capabilities/list")
            await wire.error(request, -32603)
            with pytest.raises(ServerError):
                await status
            await wire.send(**ended(turn.id, 2, 3))
            assert (await turn.result()).status == "completed"  # and it can be read on

    run(scenario)


def test_a_slow_reader_stops_the_connection_and_loses_nothing() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            session, turn = await started(client, wire)
            count = ROOM * 3
            flood = asyncio.ensure_future(pour(wire, turn.id, count))
            await until(lambda: client._paused)
            assert len(session._feed.turns[turn.id]) == ROOM + 1
            texts = [event.text async for event in turn if isinstance(event, TextDelta)]
            await flood
            assert texts == [str(number) for number in range(count)]

    run(scenario)


async def pour(wire: Wire, turn: str, count: int) -> None:
    for number in range(count):
        await wire.send(**piece(turn, number + 1, number + 2, str(number)))
    await wire.send(**ended(turn, count + 1, count + 2))


def test_an_answer_is_read_although_the_reader_is_slow() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            _, turn = await started(client, wire)
            flood = asyncio.ensure_future(pour(wire, turn.id, ROOM * 2))
            await until(lambda: client._paused)
            stop = asyncio.ensure_future(turn.interrupt())
            await wire.result(await wire.ask("turn/interrupt"), {"interrupted": False})
            assert (await stop).interrupted is False
            await flood
            assert (await turn.result()).status == "completed"

    run(scenario)


@pytest.mark.parametrize("how", ["close", "forget"])
def test_a_turn_that_nobody_reads_holds_nothing_up(how: str) -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            session = await opened(client, wire)
            turn: Turn | None = await both(session.turn("go"), wire.accepts())
            assert turn is not None
            flood = asyncio.ensure_future(pour(wire, turn.id, ROOM * 2))
            await until(lambda: client._paused)
            if how == "close":
                turn.close()
                with pytest.raises(RuntimeError, match="closed"):
                    await turn.result()
            turn = None
            await flood
            await until(lambda: session.cursor is not None and session.cursor.seq >= ROOM * 2 + 2)

    run(scenario)


def test_the_cursor_waits_for_every_reader() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            session, turn = await started(client, wire)
            events = session.events()
            await wire.send(**user(turn.id, 1, 2))
            await wire.send(**progress(turn.id, "half"))
            await wire.send(**ended(turn.id, 2, 3))
            assert [type(event).__name__ async for event in turn] == ["UserMessage", "Progress", "TurnEnded"]
            assert session.cursor is not None
            assert session.cursor.seq == 1
            seen = [await anext(events) for _ in range(3)]
            assert isinstance(seen[1], Progress)
            assert isinstance(seen[2], TurnEnded)
            assert session.cursor.seq == 3
            events.close()
            assert [event async for event in events] == []

    run(scenario)
