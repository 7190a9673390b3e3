"""A server as a child process: how it ends, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from peer import KEY, FakeClock, both, piped, run, until, user

from octet_oup import Disconnected, stdio
from octet_oup._generated import oup_wire as models
from octet_oup._link import LinkClosed
from octet_oup._stdio import StdioOpener

HELLO = """
import json, sys
def answer(frame, result):
    print(json.dumps({"jsonrpc": "2.0", "id": frame["id"], "result": result}), flush=True)
frame = json.loads(input())
answer(frame, {"type": "server_hello", "transport": "stdio", "client_transport": None, "client": None, "capabilities": {
    "version": {"protocol": "octos-ui/v1alpha1", "schema_version": 1, "jsonrpc": "2.0"},
    "capabilities_schema_version": 2, "supported_methods": [], "supported_notifications": []}})
"""


def program(text: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-S", "-E", "-c", HELLO + text, *arguments)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").split()[2] == "Z"


def test_the_end_of_a_server_fails_everything_that_waits() -> None:
    async def scenario() -> None:
        async with stdio(*program("input(); input(); sys.exit(3)")) as client:
            calls = [asyncio.ensure_future(client.call("task/list")) for _ in range(2)]
            for call in calls:
                with pytest.raises(Disconnected, match=r"ended with status 3|closed its output") as caught:
                    await call
                assert caught.value.in_flight == ("task/list", "task/list")
            with pytest.raises(Disconnected):
                await client.open(KEY)
            assert not client.connected

    run(scenario)


def test_a_turn_fails_behind_what_was_told() -> None:
    async def scenario() -> None:
        async with piped() as (wire, client):
            session = await both(client.open(KEY), wire.opens())
            turn = await both(session.turn("go"), wire.accepts())
            await wire.send(**user(turn.id, 1, 2))
            wire.hang_up()
            assert type(await anext(aiter(turn))).__name__ == "UserMessage"
            with pytest.raises(Disconnected):
                await anext(aiter(turn))
            with pytest.raises(Disconnected):
                await turn.result()
            assert session.cursor is not None
            assert session.cursor.seq == 2

    run(scenario)


def test_a_server_that_dies_at_once_cannot_be_connected_to() -> None:
    async def scenario() -> None:
        said: list[str] = []
        opener = stdio(sys.executable, "-c", "import sys; sys.exit('no room')", on_stderr=said.append)
        with pytest.raises(Disconnected):
            await opener
        assert said == ["no room"]

    run(scenario)


def test_standard_error_is_told_line_by_line_whatever_it_holds() -> None:
    async def scenario() -> None:
        said: list[str] = []
        text = """
sys.stderr.buffer.write(b"one\\r\\ntwo \\xff\\n" + b"x" * 20000 + b"\\nlast")
"""
        async with stdio(*program(text), on_stderr=said.append) as client:
            with pytest.raises(Disconnected):
                await client.call("task/list")
        assert said[:2] == ["one", "two \ufffd"]
        assert "".join(said[2:-1]) == "x" * 20000
        assert said[-1] == "last"

    run(scenario)


def test_a_listener_to_standard_error_that_raises_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        def fail(_: str) -> None:
            raise RuntimeError("no screen")

        text = "print('one', file=sys.stderr, flush=True); answer(json.loads(input()), 7); sys.stdin.read()"
        async with stdio(*program(text), on_stderr=fail) as client:
            assert await client.call("task/list") == 7

    run(scenario)
    assert "on_stderr failed" in caplog.text


def test_a_server_that_passes_on_its_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    async def scenario() -> None:
        async with stdio(*program("print('hello there', file=sys.stderr); input()")) as client:
            with pytest.raises(Disconnected):
                await client.call("task/list")

    run(scenario)
    assert capfd.readouterr().err == "hello there\n"


def test_environment_and_folder_are_those_that_were_given(tmp_path: Path) -> None:
    where = str(tmp_path.resolve())

    async def scenario() -> None:
        text = "import os; answer(json.loads(input()), [os.getcwd(), os.environ.get('A')])"
        async with stdio(*program(text), cwd=tmp_path, env={"A": "b"}) as client:
            assert await client.call("task/list") == [where, "b"]

    run(scenario)


def test_close_ends_a_server_that_reads_its_input_to_the_end() -> None:
    async def scenario() -> None:
        clock = FakeClock()  # never moved: no wait is needed
        text = "import os; answer(json.loads(input()), os.getpid()); sys.stdin.read()"
        client = await stdio(*program(text), clock=clock)
        pid = await client.call("task/list")
        assert isinstance(pid, int)
        await asyncio.gather(client.close(), client.close())
        await client.close()
        assert gone(pid)

    run(scenario)


@pytest.mark.parametrize("stubborn", [False, True])
def test_close_ends_a_server_that_does_not_want_to(stubborn: bool) -> None:
    async def scenario() -> None:
        clock = FakeClock()
        text = f"""
import os, signal, subprocess, time
if {stubborn}:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.pause()"])
answer(json.loads(input()), [os.getpid(), child.pid])
while True:
    signal.pause()
"""
        client = await stdio(*program(text), clock=clock)
        pids = await client.call("task/list")
        assert isinstance(pids, list)
        work = asyncio.ensure_future(client.close())
        await clock.set_for(5.0)
        clock.advance(5.0)
        if stubborn:
            await clock.set_for(5.0)
            clock.advance(5.0)
        await work
        await until(lambda: all(gone(pid) for pid in pids))

    run(scenario)


def test_output_that_somebody_else_holds_open_is_not_waited_for() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        text = """
import subprocess
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
answer(json.loads(input()), child.pid)
input()
"""
        async with stdio(*program(text), clock=clock) as client:
            pid = await client.call("task/list")
            assert isinstance(pid, int)
            work = asyncio.ensure_future(client.call("task/list"))
            await clock.set_for(1.0)
            clock.advance(1.0)
            with pytest.raises(Disconnected, match="status 0"):
                await work
        await until(lambda: gone(pid))

    run(scenario)


def test_a_server_that_does_not_read_holds_the_writer_up_and_not_for_ever() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        opener = StdioOpener("stdio", again=False, argv=program("import signal\nsignal.pause()"), clock=clock)
        link = await opener.open()
        await link.send(b'{"id":"1"}')
        await link.receive()
        flood = asyncio.ensure_future(_flood(link))
        await until(lambda: not link._room.is_set())  # type: ignore[attr-defined]
        work = asyncio.ensure_future(link.close())
        await clock.set_for(5.0)
        clock.advance(5.0)
        await work
        with pytest.raises(LinkClosed):
            await flood

    run(scenario)


async def _flood(link: object) -> None:
    while True:
        await link.send(b"x" * models.MAX_TEXT_FRAME_BYTES)  # type: ignore[attr-defined]


def test_a_last_line_without_its_end_is_read() -> None:
    async def scenario() -> None:
        text = "print(json.dumps({'jsonrpc': '2.0', 'id': json.loads(input())['id'], 'result': 7}), end='')"
        async with stdio(*program(text)) as client:
            assert await client.call("task/list") == 7

    run(scenario)


def test_a_program_must_be_named() -> None:
    with pytest.raises(ValueError, match="name a program"):
        stdio()
