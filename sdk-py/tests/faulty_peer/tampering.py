"""An extension on the SDK, and the places where a fault can reach it."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

from octet_extension import Call, Extension, ToolError, _stdio

Message: TypeAlias = dict[str, Any]

EXOTIC = " é \u2028\U0001f427"
"""What the echo adds, so that faults of encoding show."""


class Peer:
    """The tools of every peer of the referee, on the SDK.

    line sees every line that is written, its line feed included, and returns what is written instead. message sees
    it decoded and may change it; an empty one is not written. chunk sees what a read has brought, request every
    line of it, decoded, and says what the SDK gets to see.
    """

    def __init__(self, stdout: int) -> None:
        self.stdout = stdout
        self.line: Callable[[bytes], bytes] = lambda line: line
        self.message: Callable[[Message], None] = lambda _message: None
        self.chunk: Callable[[bytes], bytes] = lambda data: data
        self.request: Callable[[Message], bool] = lambda _message: True
        self.written: Callable[[Message], None] = lambda _message: None
        self.ended: Callable[[], None] = lambda: None
        self.echo: Callable[[str], str] = lambda text: text + EXOTIC
        self.fail: Callable[[], str] = failing
        self.live: dict[str, Message] = {}
        """Requests without an answer, by id as spelled."""
        self._lock = threading.Lock()

    def say(self, text: str | Message) -> None:
        """Writes a line past the SDK."""
        line = text if isinstance(text, str) else json.dumps(text, separators=(",", ":"))
        with self._lock:
            os.write(self.stdout, line.encode() + b"\n")

    def error(self, request: object, code: int, message: str) -> None:
        """Answers with an error past the SDK."""
        self.say({"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": message}})

    def run(self) -> None:
        """Serves the host."""
        read, write = _stdio.Pipes.read, _stdio.Pipes.write

        def tampered_read(pipes: _stdio.Pipes) -> bytes:
            while data := read(pipes):
                if seen := self._incoming(self.chunk(data)):
                    return seen
            self.ended()
            return b""

        def tampered_write(pipes: _stdio.Pipes, data: bytes) -> None:
            for line in data.splitlines(keepends=True) if b"\r" not in data else data.split(b"\n")[:-1]:
                with self._lock:
                    write(pipes, self._outgoing(line))
                self._tell(line)

        setattr(_stdio.Pipes, "read", tampered_read)  # noqa: B010 - the SDK is not meant to be changed so
        setattr(_stdio.Pipes, "write", tampered_write)  # noqa: B010
        self._extension().run()

    def _incoming(self, data: bytes) -> bytes:
        kept = []
        for line in data.splitlines(keepends=True) if data.endswith(b"\n") else [data]:
            message = decoded(line)
            if message is None:
                kept.append(line)
                continue
            if message.get("id") is not None and "method" in message:
                self.live[json.dumps(message["id"])] = message
            if self.request(message):
                kept.append(line)
        return b"".join(kept)

    def _outgoing(self, line: bytes) -> bytes:
        message = decoded(line)
        if message is None:
            return line
        before = json.dumps(message)
        self.message(message)
        if json.dumps(message) != before:
            line = json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" if message else b""
        return self.line(line) if line else b""

    def _tell(self, line: bytes) -> None:
        message = decoded(line)
        if message is not None and "method" not in message:
            asked = self.live.pop(json.dumps(message.get("id")), None)
            if asked is not None:
                self.written(asked)

    def _extension(self) -> Extension:
        ext = Extension()

        @ext.tool("Says what it was given.")
        def echo(call: Call, text: str = "octet") -> str:
            call.progress("working", current=1, total=2, unit="steps")
            call.progress("done", current=2, total=2, unit="steps")
            return self.echo(text)

        @ext.tool("Fails.")
        def fail() -> str:
            return self.fail()

        @ext.tool("Says a lot.")
        def large() -> str:
            return "octet " * 12_000

        @ext.tool("Runs until it is cancelled.")
        def slow(call: Call) -> str:
            call.progress("waiting", current=1)
            call.progress("waiting still", current=2)
            call.wait_cancelled(3600)
            call.raise_if_cancelled()
            return "waited"

        return ext


def failing() -> str:
    """Fails as a tool may."""
    raise ToolError("it failed")


def decoded(line: bytes) -> Message | None:
    """Returns the object on a line, None if there is none."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None
