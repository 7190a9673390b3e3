"""What takes time: attempts, pings, silence. The clock stands still but when it is moved."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from peer import KEY, FakeClock, both, connected, piece, run, until

from octet_oup import Disconnected
from octet_oup._clock import LoopClock, backoff, sleep
from octet_oup._generated import oup_wire as models
from octet_oup._inbox import ROOM

PING = models.CLIENT_PING_INTERVAL_MS / 1000
SILENCE = models.CLIENT_SILENCE_MS / 1000


def test_attempts_wait_for_a_draw_below_a_bound_that_doubles() -> None:
    bounds: list[tuple[float, float]] = []

    def draw(low: float, high: float) -> float:
        bounds.append((low, high))
        return high / 2

    assert list(backoff(draw)) == [0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0]
    assert bounds == [(0.0, high) for high in (1, 2, 4, 8, 16, 30, 30, 30)]
    assert all(0 <= delay <= 30 for delay in backoff())


def test_the_clock_of_the_loop_tells_its_time() -> None:
    async def scenario() -> None:
        clock = LoopClock()
        before = clock.now()
        await sleep(clock, 0.001)
        assert clock.now() > before
        alarm = clock.call_later(60, lambda: None)
        alarm.cancel()

    run(scenario)


def test_a_websocket_is_pinged() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        async with connected(clock=clock) as (_, wire, _):
            for _ in range(2):
                await clock.set_for(PING)
                clock.advance(PING)
                frame = await wire.receive()
                assert frame["method"] == "ping"
                assert "id" not in frame
                await wire.notify("server/heartbeat", {})

    run(scenario)


def test_silence_is_a_lost_connection() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        async with connected(clock=clock, delays=lambda: itertools.repeat(0.0), request_timeout=None) as (
            server,
            wire,
            client,
        ):
            await clock.set_for(SILENCE)
            clock.advance(SILENCE - 1)
            work = asyncio.ensure_future(client.call("config/capabilities/list"))
            await wire.result(await wire.ask("config/capabilities/list"), 1)
            assert await work == 1  # something was heard, so the wait begins anew
            late = asyncio.ensure_future(client.call("config/capabilities/list"))
            await wire.ask("config/capabilities/list")
            clock.advance(1)
            await clock.set_for(SILENCE - 1)
            assert not late.done()
            clock.advance(SILENCE - 1)
            with pytest.raises(Disconnected, match="nothing was heard"):
                await late
            await wire.over.wait()
            await clock.set_for(0.0)
            clock.advance(0)
            wire = await server.accept()
            await wire.hello()
            await until(lambda: client.connected)

    run(scenario)


def test_a_reader_that_is_slow_is_no_silence() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        async with connected(clock=clock) as (_, wire, client):
            session = await both(client.open(KEY), wire.opens())
            events = session.events()
            turn = "01990000-0000-7000-8000-000000000001"
            flood = [wire.send(**piece(turn, number, number + 1, "x")) for number in range(1, ROOM + 20)]
            pour = asyncio.gather(*flood)
            await until(lambda: client._paused)
            for _ in range(3):
                await clock.set_for(SILENCE)
                clock.advance(SILENCE)
            for _ in range(ROOM + 19):
                await anext(events)
            await pour
            assert client.connected
            events.close()

    run(scenario)


def test_a_call_waits_for_a_connection_no_longer_than_it_may() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        async with connected(clock=clock, delays=lambda: iter([50.0]), request_timeout=20.0) as (_, wire, client):
            await wire.close(1011)
            await clock.set_for(50.0)
            work = asyncio.ensure_future(client.call("config/capabilities/list"))
            await clock.set_for(20.0)
            clock.advance(20.0)
            with pytest.raises(Disconnected, match="in time") as caught:
                await work
            assert caught.value.in_flight == ()  # it was never sent

    run(scenario)
