"""Threads around a connection: one reads, any number serve, one writes at a time.

    worker thread                                     another worker
    -------------                                     --------------
    take the lead (lock)
    read bytes -> connection -> a request to serve
    give up the lead  ------------------------------> takes it, reads on
    bind arguments, run the handler
    outcome -> connection -> bytes -> write           sees a cancellation -> tells the scope

Whoever reads a request serves it, so a lone call never waits for a thread to wake. A new worker starts only when
no other could take the lead. The main thread does none of this: it waits for the end, which nothing holds up.
A handler that waits for the host is woken by whoever reads the answer.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from octet_extension._connection import Connection, Request
from octet_extension._courier import Courier, describe, start
from octet_extension._endpoints import Endpoint, Listener, Shortcut
from octet_extension._happenings import (
    Closed,
    Event,
    InputEnded,
    Leaving,
    Noticed,
    Opened,
    Remark,
    RequestEnded,
    RequestStarted,
)
from octet_extension._memory import Memory
from octet_extension._notices import Notices
from octet_extension._scope import Call, Scope, Session, current
from octet_extension._serving import Answer, Raised, answer_of, bind
from octet_extension._signature import CONTEXT, PAYLOAD, SCOPE
from octet_extension._tools import Tool

if TYPE_CHECKING:
    from octet_extension._coroutines import Loop

__all__ = ["DRAIN_SECONDS", "GRACE_SECONDS", "Runtime"]

DRAIN_SECONDS: Final = 1.0
"""How long requests may run on after the end of input before they are given up."""
GRACE_SECONDS: Final = 1.0
"""How long handlers may clean up after the session has closed."""
_FORK_SECONDS: Final = 1.0
"""How long a fork waits for the lock of the session."""
FAREWELL_SECONDS: Final = 1.0
"""How long the functions of on_shutdown may take, less than a host waits for the answer to shutdown."""
_AT_ONCE: Final = 0.0
_FOREVER: Final = -1.0

_Read: TypeAlias = Callable[[], bytes]
_Write: TypeAlias = Callable[[bytes], None]


class Runtime:
    """Serves one session.

    read blocks and returns bytes, none at the end of input; write takes bytes and raises OSError when they
    can no longer be delivered; log takes one line for people.
    """

    def __init__(  # noqa: PLR0913 - the three ways out, and what is called on the way
        self,
        connection: Connection,
        read: _Read,
        write: _Write,
        log: Callable[[str], None],
        *,
        listeners: Mapping[str, list[Listener]],
        shortcuts: Mapping[str, Shortcut],
        on_ready: tuple[Callable[[Session], object], ...],
        on_shutdown: tuple[Listener, ...] = (),
    ) -> None:
        self._read = read
        self._write = write
        self._log = log
        self._on_ready = on_ready
        self._on_shutdown = on_shutdown
        connection.says_goodbye = bool(on_shutdown)
        self._leading = threading.Lock()  # held by the worker that reads
        self._writing = threading.Lock()  # held by the thread that writes; taken before _lock, never inside it
        # _lock guards what follows; _changed is its condition: a request was answered or a handler returned.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._connection = connection
        self._scopes: dict[Request, Scope] = {}
        self._loop: Loop | None = None
        self._free_workers = 0
        self._running = 0
        self._orderly = False
        self._closed = threading.Event()
        self._forked = False
        self.courier = Courier(connection, self._lock, lambda: self._flush(_FOREVER), log, Memory())
        self.session = Session(self.courier)
        self._notices = Notices(listeners, shortcuts, self._run_listener, log)
        self.courier.wait_for_notices = self._notices.catch_up

    def run(self) -> bool:
        """Serves until the session is over. Reports whether it ended as the host meant it to."""
        with self._lock:
            self._free_workers += 1
        threading.Thread(target=self._work, name="octet-worker", daemon=True).start()
        self._closed.wait()
        self._notices.close()
        self.courier.close("the session ended")
        with self._lock:
            self._changed.wait_for(lambda: self._running == 0, GRACE_SECONDS)
        self._flush(GRACE_SECONDS)
        if self._loop is not None:
            self._loop.close(GRACE_SECONDS)
        return self._orderly

    # --- forked children

    def guard_forks(self, close: Callable[[], None]) -> None:
        """Keeps a child that a handler forks off away from the host: it cannot write, and holds no end open.

        close lets go of the descriptors of the protocol. What the child still runs goes on; then the child exits.
        """
        if sys.platform == "win32":
            return
        forking = threading.local()  # several threads may fork at once

        def before() -> None:
            forking.held = self._lock.acquire(timeout=_FORK_SECONDS)

        def release() -> None:
            if forking.held:
                self._lock.release()

        def in_child() -> None:
            close()
            self._forked = True
            self._write = _drop
            self._writing = threading.Lock()  # a thread that does not exist here may hold the old one
            self._connection.abandon()
            release()

        os.register_at_fork(before=before, after_in_parent=release, after_in_child=in_child)

    def _leave_if_forked(self) -> None:
        """Ends a forked child behind its handler: the threads that would go on are those of the parent."""
        if self._forked:
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError, ValueError, AttributeError):
                    stream.flush()
            os._exit(0)

    # --- reading

    def _work(self) -> None:
        while True:
            with self._leading:
                found = self._next_request()
            if found is None:
                return
            self._serve(*found)

    def _next_request(self) -> tuple[Request, Scope] | None:
        """Reads until a handler has to run, or returns None at the end. Only the leader calls this."""
        while not self._closed.is_set():
            match self._next_event():
                case None:
                    data = self._read()
                    with self._lock:
                        self._connection.receive(data)
                case RequestStarted(request):
                    scope = self._admit(request)
                    if scope is not None:
                        return request, scope
                case RequestEnded(request, reason):
                    self._tell(request, reason)
                case Noticed() as noticed:
                    self._notice(noticed)
                case Opened():
                    self._opened()
                case Remark(text):
                    self._log(text)
                case InputEnded():
                    self._drain()
                case Leaving(params):
                    self._say_goodbye(params)
                    with self._lock:
                        self._connection.leave()
                case Closed(orderly):
                    self._finish(orderly=orderly)
        return None

    def _next_event(self) -> Event | None:
        """Returns the next event, or None for more bytes, and writes what the connection answered by itself."""
        with self._lock:
            event = self._connection.next_event()
            answered = self._connection.has_output
        if answered:
            self._flush(_AT_ONCE)
        return event

    def _admit(self, request: Request) -> Scope | None:
        """Makes room for a request and sees to it that somebody reads on."""
        with self._lock:
            if self._running >= 2 * request.agreement.concurrency:
                self._connection.refuse_busy(request)
                return None
            endpoint = request.invocation.endpoint
            kind = Call if endpoint is None else cast("type[Scope]", endpoint.scope)
            scope = kind(request, self.courier)
            scope.mark = self._notices.mark
            self._scopes[request] = scope
            self._running += 1
            self._free_workers -= 1
            alone = self._free_workers == 0
            self._free_workers += alone
        if alone:
            self._start_worker()
        return scope

    def _start_worker(self) -> None:
        try:
            threading.Thread(target=self._work, name="octet-worker", daemon=True).start()
        except RuntimeError as fault:  # no more threads: this worker reads on when its handler has returned
            with self._lock:
                self._free_workers -= 1
            self._log(f"requests wait for each other: {fault}")

    def _tell(self, request: Request, reason: str) -> None:
        with self._lock:
            scope = self._scopes.get(request)
        if scope is not None:
            scope.cancellation.end(reason)

    def _notice(self, noticed: Noticed) -> None:
        if noticed.row.service == "events.session_settled":
            self.courier.memory.forget(str(noticed.members.get("session_id", "")))
        self._notices.add(noticed, self._connection.shortcuts, self.session)

    def _opened(self) -> None:
        if self._on_ready:
            start(self._ready, "octet-ready", self._log)

    def _ready(self) -> None:
        for function in self._on_ready:
            try:
                function(self.session)
            except BaseException as fault:  # noqa: BLE001 - whatever the author's function raises ends it alone
                self._log(describe(fault))
            self._leave_if_forked()

    def _drain(self) -> None:
        with self._lock:
            self._changed.wait_for(lambda: self._connection.live == 0, DRAIN_SECONDS)
            self._connection.end("the input ended")

    def _say_goodbye(self, params: Mapping[str, object]) -> None:
        """Runs what the author does at the end, for no longer than the host waits."""
        listeners, self._on_shutdown = self._on_shutdown, ()
        if not listeners:
            return
        done = threading.Event()
        given = {SCOPE: self.session, PAYLOAD: params, CONTEXT: {}}

        def run() -> None:
            for listener in listeners:
                try:
                    self._run_listener(listener.handler, [given[what] for what in listener.plan])
                except BaseException as fault:  # noqa: BLE001 - whatever the author's function raises ends it alone
                    self._log(describe(fault))
            done.set()

        start(run, "octet-shutdown", self._log)
        if not done.wait(FAREWELL_SECONDS):
            self._log(f"on_shutdown is not done after {FAREWELL_SECONDS} s: the extension leaves without it")

    def _finish(self, *, orderly: bool) -> None:
        if orderly:
            self._say_goodbye({})  # the input ended without shutdown
        with self._lock:
            self._orderly = orderly
        self._closed.set()

    # --- serving

    def _serve(self, request: Request, scope: Scope) -> None:
        target = cast("Tool | Endpoint", request.tool if request.tool is not None else request.invocation.endpoint)
        try:
            arguments, keywords = bind(target, scope, request.invocation)
        except Exception as fault:  # noqa: BLE001 - a converter may be code of the author
            self._settle(request, scope, target, Raised(fault))
        else:
            if target.is_async:
                self._start_coroutine(request, scope, target, (arguments, keywords))
            else:
                self._settle(request, scope, target, _invoke(scope, target, arguments, keywords))
        with self._lock:
            self._free_workers += 1

    def _start_coroutine(
        self, request: Request, scope: Scope, target: Tool | Endpoint, given: tuple[list[object], dict[str, object]]
    ) -> None:
        # Loaded where it is needed: asyncio would take half of the time of a start.
        from octet_extension._coroutines import invoke  # noqa: PLC0415

        arguments, keywords = given
        work = invoke(scope, lambda: cast("Coroutine[Any, Any, object]", target.handler(*arguments, **keywords)))
        cancel = self._the_loop().submit(work, lambda outcome: self._settle(request, scope, target, outcome))
        scope.cancellation.when_ended(cancel)

    def _the_loop(self) -> Loop:
        from octet_extension._coroutines import Loop  # noqa: PLC0415

        with self._lock:
            if self._loop is None:
                self._loop = Loop(self.courier.this_is_the_loop)
            return self._loop

    def _run_listener(self, handler: Callable[..., object], arguments: list[object]) -> None:
        """Runs the handler of a notification to its end."""
        try:
            returned = handler(*arguments)
            if inspect.iscoroutine(returned):
                self._the_loop().wait(returned)
        finally:
            self._leave_if_forked()

    def _settle(self, request: Request, scope: Scope, target: Tool | Endpoint, outcome: object) -> None:
        self._leave_if_forked()
        answer = answer_of(target, outcome)
        with self._lock:
            well, remark = self._answer(request, answer)
            del self._scopes[request]
            self._running -= 1
            self._changed.notify_all()
        if remark:
            self._log(remark)
        self._flush(_FOREVER)
        self.courier.answered(scope, well=well)

    def _answer(self, request: Request, answer: Answer) -> tuple[bool, str]:
        """Answers a request if it is still open. Reports whether that was a result, and a remark for people."""
        try:
            return answer.send(self._connection, request), answer.remark
        except Exception as fault:  # noqa: BLE001 - the result is data of the author, of any shape
            return answer.repair(self._connection, request, fault)

    # --- writing

    def _flush(self, patience: float) -> None:
        """Writes what waits to be written, or leaves it to the thread that is writing already.

        patience is how many seconds to wait for that thread.
        """
        while self._writing.acquire(timeout=patience):
            try:
                with self._lock:
                    data = self._connection.take_output()
                if data:
                    self._write(data)
            except OSError:
                self._lose_output()
                return
            finally:
                self._writing.release()
            # A thread that found the writer busy has left its bytes to us.
            with self._lock:
                if not self._connection.has_output:
                    return

    def _lose_output(self) -> None:
        with self._lock:
            self._connection.lose_output()
            scopes = list(self._scopes.values())
            self._changed.notify_all()
        for scope in scopes:
            scope.cancellation.end("the host reads no more")
        self._log("the host reads no more")
        self._finish(orderly=False)


def _drop(data: bytes) -> None:
    """Writes nothing."""


def _invoke(scope: Scope, target: Tool | Endpoint, arguments: list[object], keywords: dict[str, object]) -> object:
    mark = current.set(scope)
    try:
        return target.handler(*arguments, **keywords)
    except BaseException as fault:  # noqa: BLE001 - whatever an author's handler raises is the outcome of its request
        return Raised(fault)
    finally:
        current.reset(mark)
