"""The client for a terminal, as a program."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from peer import run
from served import environment, home

COMMAND = (sys.executable, "-m", "octet_oup")


def talk(folder: Path, lines: str) -> subprocess.CompletedProcess[str]:
    command = (*COMMAND, "--cwd", str(folder / "work"), *home(folder), "--stdio")
    return subprocess.run(
        command, input=lines, capture_output=True, text=True, timeout=120, check=False, env=environment(folder)
    )


@pytest.mark.parametrize(("said", "status"), [("y", "complete"), ("a", "complete"), ("n", "skipped"), ("", "skipped")])
def test_a_line_is_a_turn_and_a_letter_decides(tmp_path: Path, said: str, status: str) -> None:
    done = talk(tmp_path, f"hello\n\nmake it\n{said}\n")
    assert done.returncode == 0, done.stderr
    assert "You said: hello\n[completed]" in done.stdout
    assert "[y]es, [a]lways for this tool, [n]o?" in done.stdout
    assert f"* {status}" in done.stdout
    assert (tmp_path / "work" / "made.txt").exists() == (status == "complete")


def test_ctrl_c_stops_the_turn_and_not_the_program(tmp_path: Path) -> None:
    async def scenario() -> None:
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            *home(tmp_path),
            "--stdio",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment(tmp_path),
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"talk long\n")
        await process.stdout.readuntil(b"la")
        process.send_signal(signal.SIGINT)
        await process.stdout.readuntil(b"[interrupted")
        process.stdin.write(b"hello\n")
        await process.stdout.readuntil(b"You said: hello")
        process.stdin.close()
        assert await process.wait() == 0
        await process.stdout.read()

    run(scenario)


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ((), 2, "there is no server"),
        (("/nowhere/octet", "serve"), 1, "cannot be started"),
        (("ws://",), 1, "is no address"),
        (("ws://127.0.0.1:1",), 1, "cannot be reached"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: tuple[str, ...], status: int, words: str) -> None:
    done = subprocess.run([*COMMAND, *arguments], input="", capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, words in done.stderr) == (status, True), done.stderr
    assert "Traceback" not in done.stderr


def test_the_help_says_how() -> None:
    done = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, timeout=60, check=True)
    assert "python -m octet_oup octet serve --stdio" in done.stdout
    assert "OCTOS_AUTH_TOKEN" in done.stdout
