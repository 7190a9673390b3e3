"""The server itself, octet serve, with a model that answers what a file says."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
OCTET = os.environ.get("OCTET", str(ROOT / "bin" / "octet"))
"""The host, which `make build` makes. OCTET names another."""

SCRIPT = """
script: 1
name: played
context_window: 8000
steps:
  - when: {result_of: shell}
    text: Done with it.
    chunk: 4
    usage: {input: 100, output: 12}
    repeat: always
  - when: {result_of: ask_first}
    text: "The tool says ${result}."
    repeat: always
  - when: {user_contains: ask me}
    calls: [{name: ask_first}]
    repeat: always
  - when: {user_contains: make it}
    reasoning: I need a shell.
    text: I make it.
    chunk: 3
    calls: [{name: shell, arguments: {command: echo made > made.txt}}]
    usage: {input: 900, output: 30}
    repeat: always
  - when: {user_contains: talk long}
    text: la la la la la la la la la la la la la la la la la la la la la la la la la la la la la la la la la la la la
    chunk: 1
    pause: 250ms
    repeat: always
  - when: {user_contains: wait}
    delay: 1h
    repeat: always
  - text: "You said: ${user}"
    chunk: 2
    repeat: always
"""


ASKER = """#!/usr/bin/env python3
from octet_extension import Call, Extension

ext = Extension()


@ext.tool("Asks a person.")
def ask_first(call: Call) -> str:
    asked = call.services.confirmations.ask("Shall I?", destructive=False, default=True)
    return "yes" if asked.confirmed else "no"


if __name__ == "__main__":
    ext.run()
"""
MANIFEST = """
name = "asker"
version = "1.0.0"
api_version = "0.4"
entrypoint = { command = "asker.py" }
contributes = { tools = ["ask_first"], confirmations = true }
"""


def asker(folder: Path) -> tuple[str, ...]:
    """Writes an extension that asks, and returns the options that switch it on."""
    place = folder / "extensions" / "asker"
    place.mkdir(parents=True)
    (place / "asker.py").write_text(ASKER, encoding="utf-8")
    (place / "asker.py").chmod(0o755)
    (place / "extension.toml").write_text(MANIFEST, encoding="utf-8")
    return ("--extension-dir", str(place.parent), "--enable-extension", "asker")


def home(folder: Path) -> tuple[str, ...]:
    """Prepares a folder and returns how a server is started in it."""
    (folder / "work").mkdir(exist_ok=True)
    script = folder / "script.yaml"
    script.write_text(SCRIPT, encoding="utf-8")
    where = ("--data-dir", str(folder / "data"), "--cwd", str(folder / "work"))
    return (OCTET, "serve", "--model", f"scripted:{script}", *where)


def environment(folder: Path) -> dict[str, str]:
    """The environment of a server: nothing of the person who runs the tests."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return kept | {"HOME": str(folder), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"}


class Served:
    """A server on a port."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.process = process
        self.port = port
        self.url = f"ws://127.0.0.1:{port}"

    async def kill(self) -> None:
        """Ends it as a power cut would."""
        self.process.kill()
        await self.process.wait()


@contextlib.asynccontextmanager
async def serving(folder: Path, token: str, port: int = 0) -> AsyncIterator[Served]:
    """Starts a server that listens, and ends it."""
    listen = ("--listen", f"127.0.0.1:{port}")
    process = await asyncio.create_subprocess_exec(
        *home(folder),
        *listen,
        env=environment(folder) | {"OCTOS_AUTH_TOKEN": token},
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    said = b""
    while (found := re.search(rb"ws://127\.0\.0\.1:(\d+)", said)) is None:
        line = await process.stderr.readline()
        assert line, f"the server did not start: {said.decode()}"
        said += line
    drain = asyncio.ensure_future(process.stderr.read())
    try:
        yield Served(process, int(found.group(1)))
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        await process.wait()
        await drain
