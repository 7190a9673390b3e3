"""The two ways to a server."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterator, Mapping

from octet_oup._answers import OnApproval, OnQuestion
from octet_oup._capabilities import UNDERSTOOD
from octet_oup._client import Client, Options
from octet_oup._clock import Clock, LoopClock, backoff
from octet_oup._errors import Disconnected
from octet_oup._events import Event
from octet_oup._link import Opener
from octet_oup._socket import SocketOpener, address
from octet_oup._stdio import StdioOpener

__all__ = ["Connecting", "stdio", "websocket"]


class Connecting:
    """A client that is about to connect: await it, or use it in async with, which closes it at the end."""

    def __init__(self, opener: Opener, options: Options) -> None:
        self._opener = opener
        self._options = options
        self._client: Client | None = None

    def __await__(self) -> Generator[object, None, Client]:
        return self._connect().__await__()

    async def __aenter__(self) -> Client:
        self._client = await self._connect()
        return self._client

    async def __aexit__(self, *_: object) -> None:
        if self._client is not None:
            await self._client.close()

    async def _connect(self) -> Client:
        client = Client(self._opener, self._options)
        await client.start()
        return client


def stdio(  # noqa: PLR0913 - all but the program by name
    *argv: str,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    on_stderr: Callable[[str], None] | None = None,
    features: Collection[str] = UNDERSTOOD,
    required: Collection[str] = (),
    profile: str | None = None,
    on_approval: OnApproval | None = None,
    on_question: OnQuestion | None = None,
    on_notification: Callable[[Event], None] | None = None,
    request_timeout: float | None = 30.0,
    clock: Clock | None = None,
) -> Connecting:
    """Starts a server as a child process, and speaks over its standard input and output.

    Its standard error is that of this program, or is told to on_stderr line by line. When it ends, everything that
    waits fails with Disconnected. features are asked for, required are those without which connecting fails with
    Mismatch. on_notification is told what belongs to no open session. request_timeout is in seconds, None for none.
    """
    if not argv:
        raise ValueError('there is no server to start: name a program, as in stdio("octet", "serve", "--stdio")')
    time = clock or LoopClock()
    opener = StdioOpener("stdio", again=False, argv=argv, cwd=cwd, env=env, on_stderr=on_stderr, clock=time)
    options = Options(
        features=tuple(features),
        required=tuple(required),
        profile=profile,
        on_approval=on_approval,
        on_question=on_question,
        on_notification=on_notification,
        request_timeout=request_timeout,
        clock=time,
    )
    return Connecting(opener, options)


def websocket(  # noqa: PLR0913 - all but the address by name
    url: str,
    *,
    token: str = "",
    features: Collection[str] = UNDERSTOOD,
    required: Collection[str] = (),
    profile: str | None = None,
    on_approval: OnApproval | None = None,
    on_question: OnQuestion | None = None,
    on_notification: Callable[[Event], None] | None = None,
    on_connection: Callable[[Disconnected | None], None] | None = None,
    request_timeout: float | None = 30.0,
    clock: Clock | None = None,
    delays: Callable[[], Iterator[float]] = backoff,
) -> Connecting:
    """Connects to a server. An address without a path gets that of the protocol.

    A connection that breaks is made again, and every session goes on behind what was read; on_connection is told
    of both. It is given up with AuthError when the credential is refused, and when delays, the seconds before each
    attempt, come to their end. The rest is as for stdio.
    """
    opener = SocketOpener("websocket", again=True, url=address(url), token=token, features=tuple(features))
    options = Options(
        features=tuple(features),
        required=tuple(required),
        profile=profile,
        on_approval=on_approval,
        on_question=on_question,
        on_notification=on_notification,
        on_connection=on_connection,
        request_timeout=request_timeout,
        clock=clock or LoopClock(),
        delays=delays,
    )
    return Connecting(opener, options)
