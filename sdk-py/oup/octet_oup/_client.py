"""A client: one connection at a time, made again when it breaks, and the sessions that are open on it."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
from typing import Final, Self, TypeVar, cast

from octet_oup._answers import OnApproval, OnQuestion
from octet_oup._capabilities import UNDERSTOOD
from octet_oup._clock import Clock, LoopClock, backoff, sleep
from octet_oup._connection import Connection
from octet_oup._errors import AuthError, Disconnected, Mismatch, OupError, ProtocolError, ServerError
from octet_oup._events import Event, notification
from octet_oup._generated import oup_wire as wire
from octet_oup._generated._json import Violation
from octet_oup._generated._models import Model
from octet_oup._generated._shapes import ABSENT
from octet_oup._generated.oup_calls import Calls
from octet_oup._inbox import ROOM
from octet_oup._link import Opener
from octet_oup._negotiation import check_capabilities
from octet_oup._session import Session
from octet_oup._socket import REFUSED, RESTART, TOO_BIG
from octet_oup._tolerant import tolerant

__all__ = ["Client", "Options"]

T = TypeVar("T")
Json = Mapping[str, object]

_WHILE_ASKING: Final = 8  # how much more may wait for a reader while an answer is waited for
_STARTED: Final = frozenset(
    kind
    for method, error, kind, _ in wire.TABLE_METHOD_ERRORS
    if method == wire.METHOD_TURN_START and error == wire.ERROR_INVALID_REQUEST.name
)
"""Kinds of the refusal of a start that say that a turn runs, or ran."""
_HARMLESS: Final = ("unrequested_feature", "unmet_dependency")  # faults of a server that no client suffers from
_WEBSOCKET: Final = "websocket"
_log = logging.getLogger("octet_oup")


def _default_timeout() -> float:
    return wire.CLIENT_REQUEST_TIMEOUT_MS / 1000


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a client behaves, whatever carries its frames."""

    features: Collection[str] = UNDERSTOOD
    required: Collection[str] = ()
    profile: str | None = None
    name: object = dataclasses.field(default_factory=lambda: {"name": "octet_oup"})
    on_approval: OnApproval | None = None
    on_question: OnQuestion | None = None
    on_notification: Callable[[Event], None] | None = None
    on_connection: Callable[[Disconnected | None], None] | None = None
    request_timeout: float | None = dataclasses.field(default_factory=_default_timeout)
    clock: Clock = dataclasses.field(default_factory=LoopClock)
    delays: Callable[[], Iterator[float]] = backoff


class Client:
    """A connection to a server. stdio and websocket make it; close ends it and what it started."""

    def __init__(self, opener: Opener, options: Options) -> None:
        self.methods = Calls(_Asker(self))
        """Every method of the protocol, typed."""
        self.request_timeout = options.request_timeout
        self._opener = opener
        self._options = options
        self._clock = options.clock
        self._capabilities: wire.ServerCapabilities | None = None
        self._sessions: dict[str, Session] = {}
        self._connection: Connection | None = None
        self._ready = asyncio.Event()
        self._changed = asyncio.Event()
        self._paused = False
        self._progress = True
        self._why: OupError | None = None
        self._stopping = False
        self._tasks: set[asyncio.Task[object]] = set()
        self._runner: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None

    # --- for the caller

    @property
    def capabilities(self) -> wire.ServerCapabilities:
        """What the server offers on this connection."""
        if self._capabilities is None:
            raise Disconnected("the client has not been connected")
        return self._capabilities

    @property
    def sessions(self) -> Mapping[str, Session]:
        """The sessions that are open, by the key that the server confirmed."""
        return dict(self._sessions)

    @property
    def connected(self) -> bool:
        """Whether there is a connection now."""
        return self._ready.is_set() and self._why is None

    def supports(self, method: str) -> bool:
        """Whether the server offers a method on this connection."""
        return self._capabilities is not None and method in self._capabilities.supported_methods

    async def call(
        self,
        method: str,
        params: Json | Model | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - in the time of the clock
    ) -> object:
        """Calls a method by name and returns its result as JSON: for what the typed methods lack.

        timeout is that of the client where none is given. Raises ServerError, Disconnected, TimedOut, ProtocolError.
        """
        members = params.to_json() if isinstance(params, Model) else dict(params or {})
        within = self.request_timeout if timeout is None else timeout
        connection = await self._connected(within)
        if method != wire.METHOD_SERVER_SHUTDOWN:
            return await connection.call(method, members, timeout=within)
        self._stopping = True  # a close behind it is what was asked for, even where the answer is lost
        try:
            return await connection.call(method, members, timeout=within)
        except Disconnected:
            return wire.ServerShutdownResult(stopping=True).to_json()
        except OupError:
            self._stopping = False
            raise

    async def tell(self, method: str, params: Json | Model | None = None) -> None:
        """Sends a notification."""
        members = params.to_json() if isinstance(params, Model) else dict(params or {})
        await (await self._connected(self.request_timeout)).tell(method, members)

    async def open(  # noqa: PLR0913 - all but the key by name
        self,
        key: str,
        *,
        cwd: str | None = None,
        after: wire.Cursor | None = None,
        topic: str | None = None,
        profile: str | None = None,
        sandbox: wire.SandboxRequest | None = None,
        client_commands: Collection[str] | None = None,
        listen: bool | None = None,
        on_approval: OnApproval | None = None,
        on_question: OnQuestion | None = None,
    ) -> Session:
        """Opens a session, and makes it where it is not there.

        after replays what came behind a cursor of it. What is replayed waits in Session.events, so read that;
        listen says whether anything waits there from the start, and is true where there is a cursor.
        """
        named = profile or self._options.profile
        params = wire.SessionOpenParams(
            session_id=key,
            topic=topic or ABSENT,
            profile_id=named or ABSENT,
            cwd=cwd or ABSENT,
            sandbox=sandbox or ABSENT,
            after=after or ABSENT,
            client_commands=ABSENT if client_commands is None else list(client_commands),
        )
        params.read(params.to_json())
        if key in self._sessions and topic is None:
            raise ValueError(f"the session {key!r} is open on this client: use the one in Client.sessions")
        session = Session(
            self,
            params,
            listen=after is not None if listen is None else listen,
            on_approval=on_approval or self._options.on_approval,
            on_question=on_question or self._options.on_question,
        )
        connection = await self._connected(self.request_timeout)
        try:
            await session.restore(connection)
        except BaseException:
            session.detach()
            raise
        return session

    async def close(self) -> None:
        """Ends the connection, and what the client started, within a bound. Repeats are harmless."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # --- for its sessions

    def spawn(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Runs something that ends with the client."""
        return self._own(_quietly(work))

    def _own(self, work: Coroutine[object, object, T]) -> asyncio.Task[T]:
        """Runs something that close waits for."""
        task = asyncio.get_running_loop().create_task(work)
        tasks = cast("set[asyncio.Task[T]]", self._tasks)
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    def enter(self, session: Session, before: str) -> None:
        """Takes a session in under the key that the server confirmed."""
        if self._sessions.get(before) is session:
            del self._sessions[before]
        other = self._sessions.get(session.key)
        self._sessions[session.key] = session
        if other is not None and other is not session:
            other.finish(Disconnected(f"the session {session.key!r} was opened a second time on this client"))

    def leave(self, session: Session) -> None:
        """Sends what comes for a session to nobody."""
        if self._sessions.get(session.key) is session:
            del self._sessions[session.key]

    def line(self) -> Connection | None:
        """The connection, None while there is none."""
        return self._connection

    def changed(self) -> None:
        """Is told when there is room again."""
        self._changed.set()

    async def start_turn(self, params: wire.TurnStartParams) -> None:
        """Starts a turn, again with the same id when the connection breaks over it."""
        sent = False
        while True:
            try:
                connection = await self._connected(self.request_timeout)
            except Disconnected as none:
                flight = (wire.METHOD_TURN_START,) if sent else ()
                raise type(none)(none.reason, in_flight=flight, close_code=none.close_code) from None
            try:
                await connection.call(wire.METHOD_TURN_START, params.to_json(), timeout=self.request_timeout)
            except Disconnected as ended:
                if not self._opener.again or ended.close_code == TOO_BIG or isinstance(ended, AuthError):
                    raise
                sent = True
                await self._left(connection)
            except ServerError as refusal:
                if not (sent and _is_this_turn(refusal, params.turn_id)):
                    raise
                return
            else:
                return

    # --- the connection

    async def start(self) -> None:
        """Connects for the first time. Raises Disconnected, AuthError, Mismatch, ProtocolError, ServerError."""
        connection, reader = await self._connect()
        self._connection = connection
        self._runner = asyncio.get_running_loop().create_task(self._run(connection, reader))
        self._ready.set()

    async def _connect(self) -> tuple[Connection, asyncio.Task[OupError]]:
        link = await self._opener.open()
        connection = Connection(link, self._clock)
        connection.changed = self.changed
        reader = self._own(self._read(connection))
        try:
            await self._hello(connection)
        except BaseException:
            await _stop(reader)
            await link.close()
            raise
        return connection, reader

    async def _read(self, connection: Connection) -> OupError:
        try:
            why = await connection.serve(lambda method, params: self._take(connection, method, params))
        except Exception as fault:  # noqa: BLE001 - whatever is wrong here, nobody must wait for ever
            _log.exception("what came from the server cannot be taken in")
            why = ProtocolError(f"what came from the server cannot be taken in: {fault!r}")
        if isinstance(why, Disconnected) and why.close_code == REFUSED:
            why = AuthError(why.reason, close_code=why.close_code)
        self._lost(connection, why)
        return why

    def _lost(self, connection: Connection, why: OupError) -> None:
        """Fails what waits for a connection, before anybody can ask for more over it."""
        if self._connection is connection:
            self._ready.clear()
        for session in self._sessions.values():
            session.lose()
        connection.end(why)

    async def _hello(self, connection: Connection) -> None:
        options = self._options
        params = wire.ClientHelloParams(
            transport=self._opener.transport, client=options.name, supported_features=list(options.features)
        )
        result = await connection.call(wire.METHOD_CLIENT_HELLO, params.to_json(), timeout=self.request_timeout)
        told = cast(Json, result).get("capabilities") if isinstance(result, dict) else None
        with contextlib.suppress(Violation):  # what cannot be mended is refused below
            told = tolerant(wire.ServerCapabilities.from_json, told).to_json()
        try:
            self._capabilities = check_capabilities(told, requested=options.features, required=options.required)
        except Mismatch as found:
            if found.error not in _HARMLESS:
                raise
            _log.warning("%s", found)
            self._capabilities = wire.ServerCapabilities.from_json(told)

    async def _run(self, connection: Connection, reader: asyncio.Task[OupError]) -> None:
        try:
            while True:
                why = await self._live(connection, reader)
                self._ready.clear()
                self._connection = None
                await connection.link.close()
                if not isinstance(why, Disconnected) or isinstance(why, AuthError):
                    break
                if self._stopping or not self._opener.again:
                    break
                self._tell(why)
                found = await self._again(why)
                if isinstance(found, OupError):
                    why = found
                    break
                connection, reader = found
                self._connection = connection
                self._ready.set()
                self._tell(None)
        except asyncio.CancelledError:
            await _stop(reader)
            connection.end(Disconnected("the client was closed"))
            await connection.link.close()
            raise
        self._finish(why)

    async def _live(self, connection: Connection, reader: asyncio.Task[OupError]) -> OupError:
        """Waits until a connection ends, and keeps it awake meanwhile."""
        if self._opener.transport != _WEBSOCKET:
            return await asyncio.shield(reader)
        watch, ping = self._own(self._watch(connection)), self._own(self._ping(connection))
        try:
            await asyncio.wait((reader, watch), return_when=asyncio.FIRST_COMPLETED)
            if reader.done():
                return reader.result()
            why = watch.result()
            await _stop(reader)
            self._lost(connection, why)
            return why
        finally:
            await _stop(watch, ping)

    async def _watch(self, connection: Connection) -> OupError:
        """Returns when nothing has been heard for too long. While nobody reads, nothing is listened for."""
        bound = wire.CLIENT_SILENCE_MS / 1000
        while True:
            if self._paused:
                connection.heard_at = self._clock.now()
            quiet = self._clock.now() - connection.heard_at
            if quiet >= bound:
                return Disconnected(f"nothing was heard from the server for {bound:g} s")
            await sleep(self._clock, bound - quiet)

    async def _ping(self, connection: Connection) -> None:
        with contextlib.suppress(Disconnected):
            while True:
                await sleep(self._clock, wire.CLIENT_PING_INTERVAL_MS / 1000)
                stamp = wire.PingParams(ts=round(self._clock.now() * 1000))
                await connection.tell(wire.METHOD_PING, stamp.to_json())

    async def _again(self, why: Disconnected) -> tuple[Connection, asyncio.Task[OupError]] | OupError:
        """Connects again and opens every session behind what was read. Returns why it gives up."""
        at_once = why.close_code == RESTART and self._progress
        self._progress = False
        attempts = 0
        for delay in self._options.delays():
            attempts += 1
            if attempts > 1 or not at_once:
                await sleep(self._clock, delay)
            try:
                connection, reader = await self._connect()
            except (AuthError, ProtocolError, Mismatch, ServerError) as fault:
                return fault
            except OupError as fault:
                _log.info("attempt %d to connect again failed: %s", attempts, fault)
                continue
            self._connection = connection
            try:
                restored = await self._restore(connection)
            except BaseException:
                await _stop(reader)
                await connection.link.close()
                raise
            if restored:
                return connection, reader
            self._connection = None
            ended = await _outcome(reader)
            await connection.link.close()
            if isinstance(ended, (AuthError, ProtocolError)):
                return ended
        return Disconnected(f"{why.reason}; {attempts} attempts to connect again failed", close_code=why.close_code)

    async def _restore(self, connection: Connection) -> bool:
        """Opens every session. Reports false when the connection broke over it; a session that is refused fails."""
        for session in list(self._sessions.values()):
            try:
                await session.restore(connection)
            except Disconnected:
                return False
            except OupError as fault:
                self.leave(session)
                session.finish(fault)
        return True

    # --- what comes in

    async def _take(self, connection: Connection, method: str, params: Json) -> None:
        key = params.get("session_id")
        session = self._sessions.get(key) if isinstance(key, str) else None
        if session is None:
            if method != wire.METHOD_SERVER_HEARTBEAT and self._options.on_notification is not None:
                _call(self._options.on_notification, notification(method, params))
            return
        self._progress = True
        session.take(method, params)
        while session.crowd > ROOM * (_WHILE_ASKING if connection.waiting else 1):
            self._paused = True
            self._changed.clear()
            await self._changed.wait()
        if self._paused:
            self._paused = False
            connection.heard_at = self._clock.now()

    # --- who waits

    async def _connected(self, within: float | None) -> Connection:
        """Returns the connection when there is one. Raises what the client ended with, or Disconnected."""
        if not self._ready.is_set() and self._why is None:
            ready = asyncio.ensure_future(self._ready.wait())
            late: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            alarm = None if within is None else self._clock.call_later(within, late.cancel)
            try:
                await asyncio.wait((ready, late), return_when=asyncio.FIRST_COMPLETED)
            finally:
                if alarm is not None:
                    alarm.cancel()
                late.cancel()
                await _stop(ready)
        if self._why is not None:
            raise _fresh(self._why)
        if self._connection is None or not self._ready.is_set():
            raise Disconnected("there is no connection, and it was not made again in time")
        return self._connection

    async def _left(self, connection: Connection) -> None:
        """Returns when a connection that broke is no longer the one in use."""
        while self._connection is connection and self._why is None:
            self._changed.clear()
            await self._changed.wait()

    def _tell(self, why: Disconnected | None) -> None:
        self.changed()
        if self._options.on_connection is not None:
            _call(self._options.on_connection, why)

    # --- the end

    def _finish(self, why: OupError) -> None:
        self._why = why
        for session in list(self._sessions.values()):
            session.finish(_fresh(why))
        self._sessions.clear()
        self._ready.set()
        self.changed()

    async def _close(self) -> None:
        if self._runner is not None:
            await _stop(self._runner)
        if self._why is None:
            self._finish(Disconnected("the client was closed"))
        while self._tasks:
            await _stop(*self._tasks)


class _Asker:
    """What the typed methods call through."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, method: str, params: Json, read: Callable[[object], T]) -> T:
        result = await self._client.call(method, params)
        try:
            return tolerant(read, result)
        except Violation as found:
            raise ProtocolError(f"the result of {method} breaks its model: {found}") from None

    async def tell(self, method: str, params: Json) -> None:
        await self._client.tell(method, params)


def _is_this_turn(refusal: ServerError, turn_id: str) -> bool:
    """Whether a refusal says that the turn was started already: it is ours, since nobody else knows its id."""
    if isinstance(refusal.data, wire.TurnInProgressErrorData):
        return refusal.data.turn_id == turn_id
    return refusal.kind in _STARTED


def _fresh(why: OupError) -> OupError:
    """Returns an exception of its own for each one that is told."""
    if isinstance(why, Disconnected):
        return type(why)(why.reason, close_code=why.close_code)
    return ProtocolError(str(why)) if isinstance(why, ProtocolError) else why


def _call(callback: Callable[[T], None], argument: T) -> None:
    """Calls back. What a callback raises is its own affair."""
    try:
        callback(argument)
    except Exception:  # noqa: BLE001 - see above
        _log.exception("a callback failed")


async def _quietly(work: Coroutine[object, object, None]) -> None:
    try:
        await work
    except OupError as fault:
        _log.warning("%s", fault)


async def _stop(*tasks: asyncio.Future[T] | asyncio.Task[None]) -> None:
    """Cancels tasks and waits for them."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _outcome(reader: asyncio.Task[OupError]) -> OupError | None:
    """Returns why a connection ended, for one whose end was seen; the rest of it is not read."""
    if not reader.done():
        await _stop(reader)
        return None
    return reader.result()
