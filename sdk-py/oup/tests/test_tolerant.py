"""What is missing, null or new in what a server says is read as far as the protocol lets a client."""

from __future__ import annotations

import asyncio
import logging

import pytest
from peer import CAPABILITIES, KEY, both, connected, cursor, ended, run, said, socket_server, told, user

from octet_oup import Mismatch, ProtocolError, SteerDropped, TurnEnded, UserMessage, websocket
from octet_oup._generated import oup_wire as models
from octet_oup._generated._json import Violation
from octet_oup._tolerant import tolerant


def test_null_is_read_as_absent_wherever_a_member_may_be_missing() -> None:
    value = {"envelopes": None, "committed_seqs": None, "session_id": KEY, "turn_id": None}
    with pytest.raises(Violation, match="turn_id"):
        tolerant(models.TurnStateGetResult.from_json, value | {"state": "active"})
    turn = "01990000-0000-7000-8000-000000000001"
    value |= {"state": "active", "turn_id": turn}
    found = tolerant(models.TurnStateGetResult.from_json, value)
    assert not found.committed_seqs
    assert found.unknown_members == {"envelopes": None}
    assert value["committed_seqs"] is None  # a copy was mended


def test_rows_may_lack_members() -> None:
    rows = {"messages": [{"role": "user"}, {"content": "x", "new": 1}], "has_more": False, "next_offset": 2}
    page = tolerant(models.SessionMessagesPageResult.from_json, rows)
    assert [(row.role, row.content) for row in page.messages] == [("user", ""), ("", "x")]
    listed = tolerant(models.SessionListResult.from_json, {"sessions": [{"id": "a"}, {}]})
    assert [(row.id, row.message_count) for row in listed.sessions] == [("a", 0), ("?", 0)]
    many = tolerant(
        models.SessionListResult.from_json, {"sessions": [{"id": f"{n}", "title": None} for n in range(5000)]}
    )
    assert [row.id for row in many.sessions] == [str(n) for n in range(5000)]
    with pytest.raises(Violation, match="has_more"):  # this is no row
        tolerant(models.SessionMessagesPageResult.from_json, {"messages": []})


def test_rows_in_words_of_a_newer_server_are_left_out() -> None:
    old, new = user("t", 1, 2)["params"], told("t", 2, 3, "hologram", {})["params"]
    odd = told("t", 3, 4, "tool_end", {"tool_call_id": "c", "status": "vanished"})["params"]
    state = {
        "session_id": KEY,
        "cursor": cursor(9),
        "projection_envelopes": [old, new, odd, said("t", 4, 5, "x")["params"]],
    }
    found = tolerant(models.SessionHydrateResult.from_json, state)
    assert isinstance(found.projection_envelopes, list)
    assert [one.seq for one in found.projection_envelopes] == [1, 4]


def test_null_in_one_row_leaves_the_others_alone() -> None:
    row = {"seq": 1, "role": "user", "content": "x", "persisted_at": "2026-10-09T08:00:00Z"}
    state = {"session_id": KEY, "cursor": cursor(1), "messages": [row | {"media": None}, row | {"media": ["a"]}]}
    found = tolerant(models.SessionHydrateResult.from_json, state)
    assert isinstance(found.messages, list)
    assert [message.media or [] for message in found.messages] == [[], ["a"]]


def test_what_is_wrong_is_refused_as_it_stands() -> None:
    with pytest.raises(Violation, match="/sessions/0/message_count"):
        tolerant(models.SessionListResult.from_json, {"sessions": [{"id": "a"}, 7]})
    for value in (7, {}, {"sessions": 7}, {"sessions": [7]}, {"sessions": [{"id": 7}]}):
        with pytest.raises(Violation) as caught:
            models.SessionListResult.from_json(value)
        with pytest.raises(Violation) as again:
            tolerant(models.SessionListResult.from_json, value)
        assert str(again.value) == str(caught.value)


def test_a_client_is_tolerant() -> None:
    async def scenario() -> None:
        async with connected() as (_, wire, client):
            session = await both(client.open(KEY), wire.opens())
            turn = await both(session.turn("go"), wire.accepts())
            await wire.send(**told(turn.id, 1, 2, "user_message", {"text": "go", "files": None}))
            dropped = {"session_id": KEY, "turn_id": turn.id, "inputs": [{"kind": "text", "text": "x"}], "topic": None}
            await wire.notify("turn/steer_dropped", dropped | {"reason": "turn_ended"})
            await wire.send(**ended(turn.id, 2, 3, token_usage=None, error=None))
            seen = [event async for event in turn]
            assert [type(event) for event in seen] == [UserMessage, SteerDropped, TurnEnded]
            listed = asyncio.ensure_future(client.methods.session_list())
            await wire.result(await wire.ask("session/list"), {"sessions": [{"id": "a", "title": None}]})
            assert (await listed).sessions[0].id == "a"
            wrong = asyncio.ensure_future(client.methods.session_list())
            await wire.result(await wire.ask("session/list"), {"sessions": 7})
            with pytest.raises(ProtocolError, match="/sessions"):
                await wrong

    run(scenario)


def test_capabilities_are_read_as_far_as_they_can_be(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with socket_server() as server:
            work = asyncio.ensure_future(_connect(server.url))
            wire = await server.accept()
            extra = ["smart_home.v1", "coding.goal_runtime.v1"]
            await wire.hello(unsupported=[{"method": "cron/list"}, {}], supported_features=extra)
            await work
            await wire.over.wait()
            work = asyncio.ensure_future(_connect(server.url, "plan.todos.v1", "smart_home.v1"))
            wire = await server.accept()
            await wire.hello(supported_features=None)
            with pytest.raises(Mismatch, match=r'lacks "plan\.todos\.v1", "smart_home\.v1"'):
                await work

    with caplog.at_level(logging.WARNING):
        run(scenario)
    assert "smart_home.v1" in caplog.text
    assert CAPABILITIES["supported_features"]


async def _connect(url: str, *required: str) -> None:
    async with websocket(url, features=["plan.todos.v1"], required=required) as client:
        unsupported = client.capabilities.unsupported
        assert isinstance(unsupported, list)
        assert [row.method for row in unsupported] == ["cron/list", ""]
