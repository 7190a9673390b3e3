"""The way of a handler to its host: requests that wait, notifications, progress, and what runs after an answer."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Mapping
from typing import Protocol

from octet_extension import _outgoing
from octet_extension._agreement import Agreement
from octet_extension._catalogs import Catalogs
from octet_extension._children import Child
from octet_extension._connection import Connection, Request
from octet_extension._dialect import Dialect
from octet_extension._dynamic_tools import DynamicTools
from octet_extension._errors import CallCancelled, LocalProtocolError
from octet_extension._generated._rows import Method
from octet_extension._memory import Memory
from octet_extension._scope import Scope

__all__ = ["Courier", "describe"]


class Writer(Protocol):
    """Writes what the connection has put out."""

    def __call__(self) -> None:
        """Returns when the bytes are written, or are another thread's to write."""
        ...


class Courier:
    """Sends for the scopes of one session. Its owner shares the lock that guards the connection."""

    def __init__(
        self, connection: Connection, lock: threading.Lock, flush: Writer, log: Callable[[str], None], memory: Memory
    ) -> None:
        self.memory = memory
        self.dialect: Dialect = connection.dialect
        self.catalogs: Catalogs = connection.catalogs
        self._connection = connection
        self._lock = lock  # guards the connection, and what follows
        self._flush = flush
        self._log = log
        self._after: dict[Request, list[Callable[[Scope], object]]] = {}
        self._later: set[Scope] = set()
        self._blocked = threading.local()
        self._tools = DynamicTools(self)
        self.wait_for_notices: Callable[[int], None] = lambda mark: None  # noqa: ARG005 - the runtime sets it

    # --- what scopes see

    def guard(self) -> threading.Lock:
        """Returns the lock of the session."""
        return self._lock

    def agreement(self) -> Agreement:
        """Returns what was agreed. Raises LocalProtocolError before that."""
        found = self._connection.agreement
        if found is None:
            raise LocalProtocolError("the session is not open yet: wait for on_ready")
        return found

    def dynamic_tools(self) -> DynamicTools:
        """Returns the tools that come and go."""
        return self._tools

    def ask(self, scope: Scope | None, service: str, members: Mapping[str, object], *, typed: bool = True) -> object:
        """Sends a request and waits. Returns the typed result, or None for one without members."""
        if getattr(self._blocked, "loop", False):
            raise _outgoing.refuse_local(service)
        row = _outgoing.row_of(self.dialect, self.agreement(), service)
        done = threading.Event()
        child = self._send(scope, row, members, done)
        self._flush()
        done.wait()
        result = _outgoing.outcome(self.dialect, child)
        return None if typed and _outgoing.is_empty(self.dialect, row) else result

    def _send(self, scope: Scope | None, row: Method, members: Mapping[str, object], done: threading.Event) -> Child:
        while True:
            standing = self._standing(scope)
            bus = self._connection.bus
            with self._lock:
                bound = members if bus is None else bus.bind(row, members)
            params = _outgoing.params_of(self.dialect, self.agreement(), row, bound, standing)
            with self._lock:
                if bus is not None and bus.bind(row, members) != bound:
                    continue  # the bus was bound anew meanwhile
                if standing != self._standing_locked(scope):
                    continue  # the request was answered meanwhile, which changes what the message names
                if scope is not None and scope.cancelled:
                    raise CallCancelled(scope.cancel_reason)
                live = scope.live if scope is not None and standing.kind == _outgoing.LIVE else None
                return self._connection.ask(row, params, live, done.set)

    def tell(self, scope: Scope | None, service: str, members: Mapping[str, object]) -> None:
        """Sends a notification. Nothing is sent once the session is over."""
        row = _outgoing.row_of(self.dialect, self.agreement(), service)
        params = _outgoing.params_of(self.dialect, self.agreement(), row, members, self._standing(scope))
        with self._lock:
            try:
                self._connection.tell(row, params)
            except CallCancelled:
                return
        self._flush()

    def invoke(self, scope: Scope | None, service: str, members: Mapping[str, object]) -> object:
        """Sends for a service by its name. Returns the result as JSON, an empty object where there is none."""
        row = _outgoing.row_of(self.dialect, self.agreement(), service)
        if row.notification:
            self.tell(scope, service, members)
            return {}
        return _outgoing.result_json(self.ask(scope, service, members, typed=False))

    def report(self, request: Request, event: Mapping[str, object]) -> None:
        """Sends progress of a request that is still live."""
        with self._lock:
            sent = self._connection.progress(request, event)
        if sent:
            self._flush()

    def after(self, scope: Scope, function: Callable[[Scope], object]) -> None:
        """Has a function run when the request of a scope was answered by its handler; at once if it was."""
        with self._lock:
            if self._connection.is_open(scope.live):
                self._after.setdefault(scope.live, []).append(function)
                return
            if scope.cancelled:
                return
        self._run_after(scope, [function])

    def catch_up(self, mark: int) -> None:
        """Waits for the handlers of notifications."""
        self.wait_for_notices(mark)

    def _standing(self, scope: Scope | None) -> _outgoing.Standing:
        with self._lock:
            return self._standing_locked(scope)

    def _standing_locked(self, scope: Scope | None) -> _outgoing.Standing:
        if scope is None:
            return _outgoing.Standing(_outgoing.SESSION)
        owner = scope.context.get("resource_owner")
        members = owner if isinstance(owner, Mapping) else None
        live = self._connection.is_open(scope.live)
        kind = _outgoing.LIVE if live else _outgoing.SETTLED
        return _outgoing.Standing(kind, scope.live.id, members, scope.live.tool is not None)

    # --- what the runtime tells

    def this_is_the_loop(self) -> None:
        """Marks this thread as one that must not wait."""
        self._blocked.loop = True

    def answered(self, scope: Scope, *, well: bool) -> None:
        """Runs what was left for the time after an answer, if the handler gave a result; else forgets it."""
        with self._lock:
            functions = self._after.pop(scope.live, [])
        if functions and well:
            self._run_after(scope, functions)

    def close(self, reason: str) -> None:
        """Tells everything that still runs after an answer that the session is over."""
        with self._lock:
            scopes = list(self._later)
            self._after.clear()
        for scope in scopes:
            scope.cancellation.end(reason)

    def _run_after(self, scope: Scope, functions: list[Callable[[Scope], object]]) -> None:
        with self._lock:
            self._later.add(scope)

        def run() -> None:
            for function in functions:
                try:
                    function(scope)
                except CallCancelled:
                    continue
                except BaseException as fault:  # noqa: BLE001 - whatever the author's function raises ends it alone
                    self._log(describe(fault))
            with self._lock:
                self._later.discard(scope)

        start(run, "octet-after", self._log)


def start(work: Callable[[], None], name: str, log: Callable[[str], None]) -> None:
    """Runs work in a thread that does not keep the process."""
    try:
        threading.Thread(target=work, name=name, daemon=True).start()
    except RuntimeError as fault:
        log(f"{name} cannot run: {fault}")


def describe(fault: BaseException) -> str:
    """Returns an exception with its place in the code, for people."""
    return "".join(traceback.format_exception(fault)).rstrip()
