"""The client against octet serve, on both transports."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from peer import run
from served import asker, environment, home, serving

from octet_oup import (
    Answer,
    ApprovalRequested,
    AuthError,
    Client,
    Decision,
    Disconnected,
    Event,
    Gap,
    SteerDropped,
    TextDelta,
    ToolEnded,
    TurnEnded,
    stdio,
    websocket,
)
from octet_oup._connect import Connecting
from octet_oup._generated import oup_wire as models

KEY = "_main:local:lab"
WORD = "let-me-in"


async def approve(request: models.ApprovalRequestedEvent) -> Decision:
    return Decision.approve()


def started(folder: Path, *more: str, **options: object) -> Connecting:
    return stdio(*home(folder), "--stdio", *more, env=environment(folder), **options)  # type: ignore[arg-type]


async def make_it(client: Client, folder: Path) -> None:
    session = await client.open(KEY, cwd=str(folder / "work"))
    assert session.workspace == str(folder / "work")
    turn = await session.turn("make it")
    seen: list[Event] = [event async for event in turn]
    result = await turn.result()
    assert (result.text, result.status) == ("I make it.\n\nDone with it.", "completed")
    assert [(tool.name, tool.status) for tool in result.tools] == [("shell", "complete")]
    assert result.usage is not None
    assert (result.usage.input_tokens, result.usage.output_tokens) == (1000, 42)
    assert (folder / "work" / "made.txt").read_text(encoding="utf-8") == "made\n"
    pieces: dict[str, str] = {}
    for event in seen:
        if isinstance(event, TextDelta):
            pieces[event.segment] = pieces.get(event.segment, "") + event.text
    assert list(pieces.values()) == ["I make it.", "Done with it."]
    assert [type(event).__name__ for event in seen].count("ApprovalRequested") == 1
    assert session.cursor is not None
    assert session.cursor == seen[-1].cursor


def test_a_turn_over_standard_streams(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with started(tmp_path, on_approval=approve) as client:
            await make_it(client, tmp_path)

    run(scenario)


def test_a_turn_over_a_websocket(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path, WORD) as server, websocket(server.url, token=WORD, on_approval=approve) as client:
            await make_it(client, tmp_path)

    run(scenario)


def test_a_wrong_token_is_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path, WORD) as server:
            with pytest.raises(AuthError, match="401"):
                await websocket(server.url, token="wrong")  # noqa: S106
            with pytest.raises(AuthError, match="401"):
                await websocket(server.url)

    run(scenario)


def test_a_tool_that_is_denied_is_skipped(tmp_path: Path) -> None:
    async def scenario() -> None:
        async def refuse(request: models.ApprovalRequestedEvent) -> Decision:
            raise PermissionError("not on a Monday")

        async with started(tmp_path, on_approval=refuse) as client:
            session = await client.open(KEY)
            turn = await session.turn("make it")
            ends = [event async for event in turn if isinstance(event, ToolEnded)]
            assert [end.status for end in ends] == ["skipped"]
            assert (await turn.result()).status == "completed"
            assert not (tmp_path / "work" / "made.txt").exists()

    run(scenario)


def test_a_decision_can_be_remembered(tmp_path: Path) -> None:
    async def scenario() -> None:
        asked: list[str] = []

        async def once(request: models.ApprovalRequestedEvent) -> Decision:
            asked.append(request.tool_name)
            return Decision.approve("session")

        async with started(tmp_path, on_approval=once) as client:
            session = await client.open(KEY)
            for _ in range(2):
                turn = await session.turn("make it")
                assert (await turn.result()).status == "completed"
            assert asked == ["shell"]

    run(scenario)


def test_an_extension_asks_a_question(tmp_path: Path) -> None:
    async def scenario() -> None:
        asked: list[models.UserQuestionRequestedEvent] = []

        async def reply(request: models.UserQuestionRequestedEvent) -> list[Answer]:
            asked.append(request)
            return [Answer(labels=[request.questions[0].options[0].label])]

        async with started(tmp_path, *asker(tmp_path), on_approval=approve, on_question=reply) as client:
            session = await client.open(KEY)
            turn = await session.turn("ask me")
            assert (await turn.result()).text == "The tool says yes."
            (request,) = asked
            assert request.turn_id == turn.id
            assert request.questions[0].question == "Shall I?"

    run(scenario)


def test_a_turn_that_runs_is_interrupted(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with started(tmp_path) as client:
            session = await client.open(KEY)
            turn = await session.turn("talk long")
            async for event in turn:
                if isinstance(event, TextDelta):
                    break
            stopped = await turn.interrupt()
            assert stopped.interrupted
            assert (await turn.result()).status == "interrupted"

    run(scenario)


def test_a_steer_that_no_model_reads_is_told_as_dropped(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with started(tmp_path) as client:
            session = await client.open(KEY)
            turn = await session.turn("talk long")
            dropped: list[object] = []
            said = False
            async for event in turn:
                # The model has begun, so that what is said now would be for its next call, which never comes.
                if isinstance(event, TextDelta) and not said:
                    said = True
                    steered = await turn.steer("be quick")
                    assert steered.steered
                    assert steered.turn_id == turn.id
                    await turn.interrupt()
                elif isinstance(event, SteerDropped):
                    dropped += [item.text for item in event.inputs]
            assert dropped == ["be quick"]
            assert (await turn.result()).status == "interrupted"

    run(scenario)


def test_what_was_missed_is_replayed_to_the_next_client(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path, WORD) as server:
            async with websocket(server.url, token=WORD, on_approval=approve) as client:
                session = await client.open(KEY)
                events = session.events()
                (await session.turn("hello")).close()  # one reader is enough
                kept = None
                seen: list[Event] = []
                async for event in events:
                    seen.append(event)
                    if isinstance(event, TextDelta) and kept is None:
                        kept = session.cursor
                        behind = len(seen)
                    if isinstance(event, TurnEnded):
                        break
                events.close()
            assert kept is not None
            async with websocket(server.url, token=WORD) as client:
                session = await client.open(KEY, after=kept)
                events = session.events()
                again: list[Event] = []
                async for event in events:
                    again.append(event)
                    if isinstance(event, TurnEnded):
                        break
                events.close()
                placed = [event for event in again if event.cursor is not None]
                assert placed == [event for event in seen[behind:] if event.cursor is not None]

    run(scenario)


def test_a_session_goes_on_when_the_server_starts_anew(tmp_path: Path) -> None:
    async def scenario() -> None:
        told: asyncio.Queue[Disconnected | None] = asyncio.Queue()
        async with contextlib.AsyncExitStack() as stack:
            first = await stack.enter_async_context(serving(tmp_path, WORD))
            connecting = websocket(first.url, token=WORD, on_connection=told.put_nowait, delays=quickly)
            async with connecting as client:
                session = await client.open(KEY)
                events = session.events()
                turn = await session.turn("talk long")
                text = ""
                async for event in turn:
                    if isinstance(event, TextDelta):
                        text += event.text
                        if len(text) > 3:
                            break
                await first.kill()
                assert isinstance(await told.get(), Disconnected)
                async with serving(tmp_path, WORD, first.port):
                    assert await told.get() is None
                    result = await turn.result()
                    assert (result.status, result.error.code if result.error else "") == (
                        "errored",
                        "orphaned_by_restart",
                    )
                    assert result.text.startswith(text)
                    assert client.connected
                    after = await session.turn("hello again")
                    assert (await after.result()).text == "You said: hello again"
                    seen: list[Event] = []
                    async for event in events:
                        seen.append(event)
                        if isinstance(event, TurnEnded) and event.turn_id == after.id:
                            break
                    events.close()
                    assert not [event for event in seen if isinstance(event, Gap)]
                    places = [event.cursor.seq for event in seen if event.cursor is not None]
                    assert places == sorted(set(places))
                    assert [event.turn_id for event in seen if isinstance(event, TurnEnded)] == [turn.id, after.id]

    run(scenario)


def quickly() -> Iterator[float]:
    return iter([0.05] * 400)


def test_an_approval_that_waits_survives_a_broken_connection(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path, WORD) as server:
            async with websocket(server.url, token=WORD) as client:
                session = await client.open(KEY)
                turn = await session.turn("make it")
                async for event in turn:
                    if isinstance(event, ApprovalRequested):
                        break
                turn_id, kept = turn.id, session.cursor
            async with websocket(server.url, token=WORD, on_approval=approve) as client:
                session = await client.open(KEY, after=kept)
                result = await session.follow(turn_id).result()
                assert (result.status, [tool.status for tool in result.tools]) == ("completed", ["complete"])

    run(scenario)
