"""What is told again when a session is opened again: requests that wait, and things as they stand."""

from __future__ import annotations

import asyncio

from peer import (
    CAPABILITIES,
    KEY,
    Json,
    approval,
    both,
    connected,
    cursor,
    decided,
    ended,
    new_id,
    run,
    until,
)
from resumed import again, kinds, open_session

from octet_oup import (
    ApprovalRequested,
    Cursor,
    Decision,
)
from octet_oup._generated import oup_wire as models


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
