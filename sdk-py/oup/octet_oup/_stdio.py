"""A server as a child process: one frame a line on its standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from octet_oup._clock import Alarm, Clock, LoopClock, sleep
from octet_oup._errors import Disconnected
from octet_oup._generated import oup_wire
from octet_oup._link import Link, LinkClosed, Opener

__all__ = ["StdioOpener"]

_log = logging.getLogger("octet_oup")

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_LF: Final = b"\n"
_KILL: Final = getattr(signal, "SIGKILL", signal.SIGTERM)  # not every platform has one that cannot be refused
_MOST_WAITING: Final = 64  # lines that nobody has read yet; more stops the reading of the pipe
_GRACE: Final = 5.0  # seconds between one step of the end and the next
_KILL_WAIT: Final = 1.0  # seconds in which the end of a killed process is told
_STDERR_LINE: Final = 8192  # bytes of a line of standard error that are told in one piece


@dataclasses.dataclass(frozen=True, slots=True)
class StdioOpener(Opener):
    """Starts the server. Its standard error is passed on, or told line by line."""

    argv: Sequence[str] = ()
    cwd: str | os.PathLike[str] | None = None
    env: Mapping[str, str] | None = None
    on_stderr: Callable[[str], None] | None = None
    clock: Clock = dataclasses.field(default_factory=LoopClock)

    async def open(self) -> Link:
        """Starts the process. Raises Disconnected where it cannot be started."""
        loop = asyncio.get_running_loop()
        try:
            transport, child = await loop.subprocess_exec(
                lambda: _Child(self.on_stderr, self.clock),
                *self.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if self.on_stderr is None else subprocess.PIPE,
                cwd=self.cwd,
                env=None if self.env is None else dict(self.env),
                start_new_session=sys.platform != "win32",  # so that what it starts can be ended with it
            )
        except OSError as fault:
            raise Disconnected(f"the server {self.argv[0]!r} cannot be started: {fault}") from None
        child.started(transport)
        return child


class _Child(asyncio.SubprocessProtocol):
    """The process and its pipes. Lines wait here; when many do, the pipe is not read."""

    def __init__(self, on_stderr: Callable[[str], None] | None, clock: Clock) -> None:
        self._on_stderr = on_stderr
        self._clock = clock
        self._lines: deque[bytes] = deque()
        self._partial = bytearray()
        self._words = bytearray()
        self._ended: LinkClosed | None = None
        self._output_over = False
        self._paused = False
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._exited = asyncio.Event()
        self._last_wait: Alarm | None = None
        self._gone = asyncio.Event()
        self._transport: asyncio.SubprocessTransport | None = None
        self._closing: asyncio.Task[None] | None = None

    def started(self, transport: asyncio.SubprocessTransport) -> None:
        self._transport = transport

    # --- what the loop tells

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _STDERR:
            self._said(data)
        elif self._ended is None:
            self._take(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        if fd == _STDOUT:
            self._output_over = True
            if self._partial and self._ended is None:
                self._lines.append(bytes(self._partial))  # the last line may lack its end
            self._partial.clear()
            self._end()
        elif fd == _STDERR and self._words:
            self._tell(bytes(self._words))
        elif fd == _STDIN:
            self._room.set()

    def process_exited(self) -> None:
        self._exited.set()
        self._room.set()
        if not self._output_over:  # what it started may hold its output open
            self._last_wait = self._clock.call_later(_KILL_WAIT, self._end)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._gone.set()

    def pause_writing(self) -> None:
        self._room.clear()

    def resume_writing(self) -> None:
        self._room.set()

    def _end(self) -> None:
        if self._ended is None:
            status = self._transport.get_returncode() if self._transport else None
            how = "closed its output" if status is None else f"ended with status {status}"
            self._ended = LinkClosed(f"the server {how}")
        self._news.set()

    # --- frames

    def _take(self, data: bytes) -> None:
        first, *rest = data.split(_LF)
        self._partial += first
        for piece in rest:
            self._lines.append(bytes(self._partial.removesuffix(b"\r")))
            self._partial = bytearray(piece)
        if self._over():
            return
        self._news.set()
        if len(self._lines) > _MOST_WAITING and not self._paused:
            self._paused = True
            self._pipe(_STDOUT).pause_reading()

    def _over(self) -> bool:
        bound = oup_wire.MAX_TEXT_FRAME_BYTES + 1  # a CR may stand before the line end
        if len(self._partial) <= bound:
            return False
        self._partial.clear()
        self._ended = LinkClosed(f"the server sent a line of more than {bound - 1} bytes", fault=True)
        self._news.set()
        return True

    async def receive(self) -> bytes:
        while not self._lines:
            if self._ended is not None:
                raise self._ended
            self._news.clear()
            await self._news.wait()
        line = self._lines.popleft()
        if self._paused and len(self._lines) <= _MOST_WAITING // 2 and not self._output_over:
            self._paused = False
            self._pipe(_STDOUT).resume_reading()
        return line

    async def send(self, frame: bytes) -> None:
        while not self._room.is_set():
            await self._room.wait()
        pipe = cast(asyncio.WriteTransport, self._pipe(_STDIN))
        if self._ended is not None or self._exited.is_set() or pipe.is_closing():
            raise self._ended or LinkClosed("the server has ended")
        pipe.write(frame + _LF)
        await self._room.wait()

    def _pipe(self, fd: int) -> asyncio.ReadTransport:
        assert self._transport is not None  # noqa: S101
        return cast(asyncio.ReadTransport, self._transport.get_pipe_transport(fd))

    # --- standard error

    def _said(self, data: bytes) -> None:
        self._words += data
        while (at := self._words.find(_LF)) >= 0 or len(self._words) > _STDERR_LINE:
            cut = at + 1 if 0 <= at < _STDERR_LINE else _STDERR_LINE
            self._tell(bytes(self._words[:cut]))
            del self._words[:cut]

    def _tell(self, line: bytes) -> None:
        if self._on_stderr is None:
            return
        try:
            self._on_stderr(line.decode("utf-8", "replace").rstrip("\r\n"))
        except Exception:  # noqa: BLE001 - the server must go on
            _log.exception("on_stderr failed")

    # --- the end

    async def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        """Closes its input, which ends a server; then asks it, then makes it. What it started goes with it."""
        transport = self._transport
        if transport is None:
            return
        if self._ended is None:
            self._ended = LinkClosed("the client closed the connection")
        self._news.set()
        self._pipe(_STDIN).close()
        if self._paused and not self._output_over:
            self._pipe(_STDOUT).resume_reading()  # a server that waits for room would not see its input end
        if not await self._within(self._exited, _GRACE):
            self._signal(signal.SIGTERM)
            if not await self._within(self._exited, _GRACE):
                self._signal(_KILL)
                await self._within(self._exited, _KILL_WAIT)
        self._signal(_KILL)  # the group may outlive its first process
        if self._last_wait is not None:
            self._last_wait.cancel()
        transport.close()
        await self._within(self._gone, _KILL_WAIT)

    async def _within(self, event: asyncio.Event, seconds: float) -> bool:
        """Waits for an event of the process, at most so long."""
        if event.is_set():
            return True
        waits = [asyncio.ensure_future(event.wait()), asyncio.ensure_future(sleep(self._clock, seconds))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        return event.is_set()

    def _signal(self, number: int) -> None:
        assert self._transport is not None  # noqa: S101
        if sys.platform == "win32":
            with contextlib.suppress(ProcessLookupError):
                self._transport.send_signal(number)
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._transport.get_pid(), number)
