"""A session in a terminal: a line is a turn, y or n decides about a tool, Ctrl-C stops the turn.

python -m octet_oup octet serve --stdio
python -m octet_oup --token TOKEN ws://127.0.0.1:50080
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TextIO

from octet_oup._answers import Answer, Decision
from octet_oup._connect import Connecting, stdio, websocket
from octet_oup._errors import Disconnected, OupError
from octet_oup._events import Event, Gap, TextDelta, ToolEnded, ToolStarted, TurnEnded, Warned
from octet_oup._generated import oup_wire as wire
from octet_oup._session import Session
from octet_oup._turn import Turn

__all__ = ["main"]

_TOKEN: Final = dict(wire.TABLE_PROTOCOL)["auth_token_variable"]
_SCHEMES: Final = ("ws://", "wss://", "http://", "https://")


class Lines:
    """The lines of a person. A thread of its own reads them: a loop cannot wait for a terminal everywhere."""

    def __init__(self, source: TextIO) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        threading.Thread(target=self._read, args=(source,), daemon=True).start()

    def _read(self, source: TextIO) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may be over first
            for line in source:
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line.rstrip("\n"))
            self._loop.call_soon_threadsafe(self._lines.put_nowait, None)

    async def ask(self, prompt: str) -> str | None:
        """Returns the next line, None at the end of the input."""
        sys.stdout.write(prompt)
        sys.stdout.flush()
        return await self._lines.get()


class Terminal:
    """A person at a terminal."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    async def approve(self, request: wire.ApprovalRequestedEvent) -> Decision:
        """Asks whether a tool may run. No answer is no."""
        said = await self._lines.ask(f"\n{request.title}\n  {request.body}\n[y]es, [a]lways for this tool, [n]o? ")
        match (said or "").strip().lower()[:1]:
            case "y":
                return Decision.approve()
            case "a":
                return Decision.approve(wire.ApprovalScope.TOOL)
            case _:
                return Decision.deny("the person said no")

    async def answer(self, request: wire.UserQuestionRequestedEvent) -> Sequence[Answer]:
        """Asks each question of a request."""
        answers = []
        for question in request.questions:
            labels = [option.label for option in question.options]
            said = (await self._lines.ask(f"\n{question.question} ({', '.join(labels)}) ") or "").strip()
            chosen = [label for label in labels if label.lower() == said.lower()]
            answers.append(Answer(labels=chosen) if chosen else Answer(text=said))
        return answers

    async def talk(self, session: Session) -> int:
        """Turns every line into a turn."""
        while (line := await self._lines.ask("> ")) is not None:
            if line.strip():
                await self._turn(session, line)
        return 0

    async def _turn(self, session: Session, line: str) -> None:
        turn = await session.turn(line)
        with _interrupts(lambda: session.spawn(_stop(turn))):
            async for event in turn:
                show(event)


async def _stop(turn: Turn) -> None:
    await turn.interrupt()


@contextlib.contextmanager
def _interrupts(stop: Callable[[], object]) -> Iterator[None]:
    """Lets Ctrl-C stop what runs, where the platform allows it, and not the program."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, stop)
    except NotImplementedError:
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def show(event: Event) -> None:
    """Prints what a person wants to see of an event."""
    match event:
        case TextDelta(text=text):
            words = text
        case ToolStarted(name=name, arguments=arguments):
            words = f"\n* {name} {arguments}\n"
        case ToolEnded(status=status, error=error):
            words = f"* {status} {error}".rstrip() + "\n"
        case Warned(message=message):
            words = f"\n! {message}\n"
        case Gap(reason=reason):
            words = f"\n! something is missing here: {reason}\n"
        case TurnEnded(outcome=outcome, error=failure):
            words = f"\n[{outcome}{f': {failure.message}' if failure else ''}]\n"
        case _:
            return
    sys.stdout.write(words)
    sys.stdout.flush()


def _connect(options: argparse.Namespace, terminal: Terminal) -> Connecting:
    first, *rest = options.server
    if first.startswith(_SCHEMES):
        return websocket(
            first,
            token=options.token,
            profile=options.profile,
            on_approval=terminal.approve,
            on_question=terminal.answer,
            on_connection=_connection,
        )
    return stdio(first, *rest, profile=options.profile, on_approval=terminal.approve, on_question=terminal.answer)


def _connection(why: Disconnected | None) -> None:
    sys.stderr.write("connected again\n" if why is None else f"connecting again: {why.reason}\n")


async def _run(options: argparse.Namespace, source: TextIO) -> int:
    terminal = Terminal(Lines(source))
    async with _connect(options, terminal) as client:
        session = await client.open(options.session, cwd=options.cwd)
        sys.stdout.write(f"{session.key} in {session.workspace or 'a folder of the server'}; an empty input ends it\n")
        return await terminal.talk(session)


def main(arguments: Sequence[str] | None = None, source: TextIO = sys.stdin) -> int:
    """Runs the program and returns its status."""
    parser = argparse.ArgumentParser(
        "python -m octet_oup", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--session", default="_main:local:terminal", help="key of the session")
    parser.add_argument("--cwd", help="folder the server is to work in")
    parser.add_argument("--profile", help="profile of the session")
    parser.add_argument("--token", default=os.environ.get(_TOKEN, ""), help=f"credential; better is {_TOKEN}")
    parser.add_argument("server", nargs=argparse.REMAINDER, help="an address, or the command of a server")
    options = parser.parse_args(arguments)
    if not options.server:
        parser.error("there is no server: name an address, or the command that starts one")
    try:
        return asyncio.run(_run(options, source))
    except (OupError, ValueError) as fault:
        sys.stderr.write(f"{fault}\n")
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
