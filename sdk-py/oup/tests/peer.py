"""A server that does as the test says, frame by frame, over both transports, and a clock that stands still."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import heapq
import itertools
import json
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import TypeVar, cast

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from octet_oup import Client, stdio, websocket
from octet_oup._clock import Alarm
from octet_oup._generated import oup_wire as wire

T = TypeVar("T")
Json = dict[str, object]

KEY = "_main:local:lab"
MOMENT = "2026-10-09T08:00:00Z"
CAPABILITIES: Json = {
    "version": {"protocol": "octos-ui/v1alpha1", "schema_version": 1, "jsonrpc": "2.0"},
    "capabilities_schema_version": 2,
    "supported_methods": list(wire.REQUESTS),
    "supported_notifications": list(wire.NOTIFICATIONS),
    "supported_features": ["state.session_hydrate.v1", "user_question.v1"],
}
# Passes bytes between its own standard streams and a socket, at most so many at once.
RELAY = """
import os, socket, sys, threading
peer, size = socket.create_connection(("127.0.0.1", int(sys.argv[1]))), int(sys.argv[2])
def up():
    while data := os.read(0, 65536):
        peer.sendall(data)
    peer.shutdown(socket.SHUT_WR)
threading.Thread(target=up, daemon=True).start()
while data := peer.recv(size):
    os.write(1, data)
"""


class _Alarm:
    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        self.callback = None


class FakeClock:
    """Stands still until advance. Alarms ring in order."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._alarms: list[tuple[float, int, _Alarm]] = []
        self._order = itertools.count()
        self._set = asyncio.Event()

    def now(self) -> float:
        return self._now

    def call_later(self, delay: float, callback: Callable[[], object]) -> Alarm:
        alarm = _Alarm(callback)
        heapq.heappush(self._alarms, (self._now + delay, next(self._order), alarm))
        self._set.set()
        return alarm

    def pending(self) -> list[float]:
        return sorted(round(at - self._now, 6) for at, _, alarm in self._alarms if alarm.callback is not None)

    async def set_for(self, delay: float) -> None:
        """Returns when something waits for exactly so long."""
        while round(delay, 6) not in self.pending():
            self._set.clear()
            await self._set.wait()

    def advance(self, seconds: float) -> None:
        until = self._now + seconds
        while self._alarms and self._alarms[0][0] <= until:
            at, _, alarm = heapq.heappop(self._alarms)
            self._now = at
            if alarm.callback is not None:
                alarm.callback()
        self._now = until


class Wire:
    """One connection, seen from the server."""

    def __init__(self, send: Callable[[bytes], Coroutine[object, object, None]]) -> None:
        self._send = send
        self._frames: asyncio.Queue[Json | None] = asyncio.Queue()
        self.socket: ServerConnection | None = None
        self.over = asyncio.Event()
        self.hang_up: Callable[[], object] = lambda: None
        self.seq = 0

    def got(self, frame: str | bytes | None) -> None:
        self._frames.put_nowait(None if frame is None else json.loads(frame))
        if frame is None:
            self.over.set()

    async def raw(self, data: bytes) -> None:
        await self._send(data)

    async def send(self, **message: object) -> None:
        await self._send(spell(**message))

    async def receive(self) -> Json:
        frame = await self._frames.get()
        assert frame is not None, "the client closed the connection"
        return frame

    async def ask(self, method: str) -> Json:
        """Returns the next request, which must be of this method; notifications are passed over."""
        while True:
            frame = await self.receive()
            if "id" in frame:
                assert frame["method"] == method, frame
                return frame

    async def result(self, request: Json, result: object) -> None:
        await self.send(id=request["id"], result=result)

    async def error(self, request: Json, code: int, data: object = None, message: str = "refused") -> None:
        await self.send(id=request["id"], error={"code": code, "message": message} | ({"data": data} if data else {}))

    async def notify(self, method: str, params: object) -> None:
        await self.send(method=method, params=params)

    async def close(self, code: int, reason: str = "") -> None:
        assert self.socket is not None
        await self.socket.close(code, reason)

    # --- what servers usually say

    async def hello(self, **changes: object) -> Json:
        request = await self.ask("client_hello")
        wanted = cast("dict[str, list[str]]", request["params"])["supported_features"]
        offered = [name for name in cast("list[str]", CAPABILITIES["supported_features"]) if name in wanted]
        await self.result(
            request,
            {
                "type": "server_hello",
                "transport": "stdio",
                "client_transport": None,
                "client": None,
                "capabilities": CAPABILITIES | {"supported_features": offered} | changes,
            },
        )
        return request

    async def opens(self, *between: Json, at: int | None = None, key: str = KEY) -> Json:
        """Answers session/open, with what stands between the answer and the notification."""
        request = await self.ask("session/open")
        if at is None:
            self.seq += 1
            at = self.seq
        opened = {"session_id": key, "cursor": cursor(at, key), "capabilities": CAPABILITIES}
        await self.result(request, {"opened": opened})
        for message in between:
            await self.send(**message)
        await self.notify("session/open", opened)
        return cast(Json, request["params"])

    async def accepts(self) -> str:
        """Accepts the next turn and returns its id."""
        request = await self.ask("turn/start")
        await self.result(request, {"accepted": True})
        return cast(str, cast(Json, request["params"])["turn_id"])

    async def finishes(self, turn: str, seq: int, place: int, text: str = "done") -> None:
        await self.send(**said(turn, seq, place, text))
        await self.send(**ended(turn, seq + 1, place + 1))


def spell(**message: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0"} | message, ensure_ascii=False).encode()


def cursor(seq: int, key: str = KEY) -> Json:
    return {"stream": key, "seq": seq}


def told(turn: str, seq: int, place: int | None, kind: str, data: Mapping[str, object], *, thread: str = "") -> Json:
    params: Json = {"session_id": KEY, "thread_id": thread or turn, "turn_id": turn, "seq": seq}
    if place is not None:
        params["cursor"] = cursor(place)
    return {"method": "projection/envelope", "params": params | {"payload": {"type": kind, "data": data}}}


def user(turn: str, seq: int, place: int | None, text: str = "go") -> Json:
    return told(turn, seq, place, "user_message", {"text": text})


def piece(turn: str, seq: int, place: int | None, text: str, segment: str = "s1") -> Json:
    return told(turn, seq, place, "assistant_delta", {"text": text, "assistant_segment_id": segment})


def said(turn: str, seq: int, place: int | None, text: str, segment: str = "s1") -> Json:
    meta = {"message_id": f"m{seq}", "persisted_at": MOMENT}
    return told(turn, seq, place, "assistant_persisted", {"text": text, "assistant_segment_id": segment, "meta": meta})


def ended(turn: str, seq: int, place: int | None, outcome: str = "completed", **more: object) -> Json:
    return told(turn, seq, place, "turn_terminal", {"outcome": outcome} | more)


def approval(turn: str, approval_id: str, title: str = "Run a command") -> Json:
    params = {"session_id": KEY, "approval_id": approval_id, "turn_id": turn, "tool_name": "shell"}
    return {"method": "approval/requested", "params": params | {"title": title, "body": "make clean"}}


def decided(turn: str, approval_id: str) -> Json:
    params = {"session_id": KEY, "approval_id": approval_id, "turn_id": turn, "decision": "approve"}
    return {"method": "approval/decided", "params": params | {"decided_at": MOMENT, "decided_by": ""}}


def question(turn: str, question_id: str) -> Json:
    options = [{"label": "Flat", "description": "one folder"}, {"label": "Nested", "description": "by package"}]
    one = {"header": "Layout", "question": "Which?", "options": options, "multi_select": False, "allow_free_text": True}
    params = {"session_id": KEY, "question_id": question_id, "turn_id": turn, "title": "Choose", "body": "Two ways"}
    return {"method": "user_question/requested", "params": params | {"questions": [one]}}


def progress(turn: str, message: str) -> Json:
    params = {"session_id": KEY, "turn_id": turn, "metadata": {"kind": "status", "message": message}}
    return {"method": "progress/updated", "params": params}


def state(place: int, **sections: object) -> Json:
    return {"session_id": KEY, "cursor": cursor(place)} | sections


def new_id() -> str:
    return str(uuid.uuid4())


class SocketServer:
    """Takes WebSockets. answer_upgrade may refuse one."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[Request] = []
        self.refuse: int | None = None
        self._wires: asyncio.Queue[Wire] = asyncio.Queue()

    async def accept(self) -> Wire:
        return await self._wires.get()

    async def serve(self, connection: ServerConnection) -> None:
        async def send(data: bytes) -> None:
            await connection.send(data.decode())

        wire_ = Wire(send)
        wire_.socket = connection
        self._wires.put_nowait(wire_)
        with contextlib.suppress(ConnectionClosed):
            async for frame in connection:
                wire_.got(frame)
        wire_.got(None)

    def upgrade(self, connection: ServerConnection, request: Request) -> Response | None:
        self.requests.append(request)
        return None if self.refuse is None else connection.respond(self.refuse, "refused")


@contextlib.asynccontextmanager
async def socket_server() -> AsyncIterator[SocketServer]:
    server = SocketServer()
    async with serve(server.serve, "127.0.0.1", 0, process_request=server.upgrade, compression=None) as listening:
        server.url = f"ws://127.0.0.1:{next(iter(listening.sockets)).getsockname()[1]}"
        yield server


class PipeServer:
    """Is reached through a child process that passes bytes on."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.wires: asyncio.Queue[Wire] = asyncio.Queue()

    def argv(self, size: int = 65536) -> tuple[str, ...]:
        return (sys.executable, "-S", "-E", "-c", RELAY, str(self.port), str(size))

    async def accept(self) -> Wire:
        return await self.wires.get()


@contextlib.asynccontextmanager
async def pipe_server() -> AsyncIterator[PipeServer]:
    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def send(data: bytes) -> None:
            writer.write(data if data.endswith(b"\n") else data + b"\n")
            await writer.drain()

        async def exactly(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        one = Wire(send)
        one.raw = exactly  # type: ignore[method-assign]
        one.hang_up = writer.close
        server.wires.put_nowait(one)
        with contextlib.suppress(ConnectionError):
            while line := await reader.readline():
                one.got(line)
        one.got(None)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    listening = await asyncio.start_server(serve_one, "127.0.0.1", 0, limit=1 << 22)
    server = PipeServer(listening.sockets[0].getsockname()[1])
    async with listening:
        yield server
    await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_coro().__name__ == "serve_one"))  # type: ignore[union-attr]


@contextlib.asynccontextmanager
async def connected(hello: Json | None = None, **options: object) -> AsyncIterator[tuple[SocketServer, Wire, Client]]:
    """A server, a client that has said hello to it over a WebSocket, and their connection."""
    async with socket_server() as server:
        work = asyncio.ensure_future(_awaited(websocket(server.url, **options)))  # type: ignore[arg-type]
        one = await server.accept()
        await one.hello(**(hello or {}))
        client = await work
        try:
            yield server, one, client
        finally:
            await client.close()


@contextlib.asynccontextmanager
async def piped(size: int = 65536, **options: object) -> AsyncIterator[tuple[Wire, Client]]:
    """A client that has said hello to a child process, and what it says."""
    async with pipe_server() as server:
        work = asyncio.ensure_future(_awaited(stdio(*server.argv(size), **options)))  # type: ignore[arg-type]
        one = await server.accept()
        await one.hello()
        client = await work
        try:
            yield one, client
        finally:
            await client.close()


async def _awaited(connecting: object) -> Client:
    return await cast("Coroutine[object, object, Client]", connecting)


async def both(work: Coroutine[object, object, T], server: Coroutine[object, object, object]) -> T:
    """Runs what the client does beside what the server does, and returns what came out at the client."""
    ours, theirs = asyncio.ensure_future(work), asyncio.ensure_future(server)
    try:
        await theirs
        return await ours
    finally:
        ours.cancel()
        theirs.cancel()


async def until(true: Callable[[], bool]) -> None:
    """Lets everything else run until it is so."""
    while not true():  # noqa: ASYNC110 - what is waited for has no event
        await asyncio.sleep(0)


def run(scenario: Callable[[], Coroutine[object, object, None]]) -> None:
    """Runs a scenario to its end. Nothing may be left behind: no task, no transport, no warning."""

    async def main() -> None:
        async with asyncio.timeout(120):
            await scenario()
        left = asyncio.all_tasks() - {cast("asyncio.Task[None]", asyncio.current_task())}
        assert not left, f"tasks are left: {left}"

    asyncio.run(main())
    gc.collect()
