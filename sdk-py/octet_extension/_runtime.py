"""Threads around a connection: one reads, any number serve, one writes at a time.

    worker thread                                     another worker
    -------------                                     --------------
    take the lead (lock)
    read bytes -> connection -> a call has to run
    give up the lead  ------------------------------> takes it, reads on
    bind arguments, run the tool
    outcome -> connection -> bytes -> write           sees a cancellation -> tells the call

Whoever reads a call serves it, so a lone call never waits for a thread to wake. A new worker starts only when
no other could take the lead. The main thread does none of this: it waits for the end, which nothing holds up.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from octet_extension._call import Call
from octet_extension._connection import Call as LiveCall
from octet_extension._connection import CallEnded, CallStarted, Closed, Connection, InputEnded, Remark
from octet_extension._errors import CallCancelled, LocalProtocolError, ToolError
from octet_extension._results import ToolResult
from octet_extension._schema import Misfit
from octet_extension._tools import Outcome, Tool

if TYPE_CHECKING:
    from octet_extension._coroutines import Loop

__all__ = ["DRAIN_SECONDS", "GRACE_SECONDS", "Runtime"]

DRAIN_SECONDS: Final = 1.0
"""How long calls may run on after the end of input before they are given up."""
GRACE_SECONDS: Final = 1.0
"""How long tools may clean up after the session has closed."""
_AT_ONCE: Final = 0.0
_FOREVER: Final = -1.0
_MAX_FAILURE_TEXT: Final = 4000  # characters of an exception that reach the model

_Read: TypeAlias = Callable[[], bytes]
_Write: TypeAlias = Callable[[bytes], None]


class Runtime:
    """Serves one session.

    read blocks and returns bytes, none at the end of input; write takes bytes and raises OSError when they
    can no longer be delivered; log takes one line for people.
    """

    def __init__(
        self, connection: Connection, tools: Mapping[str, Tool], read: _Read, write: _Write, log: Callable[[str], None]
    ) -> None:
        self._tools = tools
        self._read = read
        self._write = write
        self._log = log
        self._leading = threading.Lock()  # held by the worker that reads
        self._writing = threading.Lock()  # held by the thread that writes; taken before _lock, never inside it
        # _lock guards what follows; _changed is its condition: a call was answered or a tool returned.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._connection = connection
        self._calls: dict[LiveCall, Call] = {}
        self._loop: Loop | None = None
        self._free_workers = 0
        self._running = 0
        self._orderly = False
        self._closed = threading.Event()

    def run(self) -> bool:
        """Serves until the session is over. Reports whether it ended as the host meant it to."""
        with self._lock:
            self._free_workers += 1
        threading.Thread(target=self._work, name="octet-worker", daemon=True).start()
        self._closed.wait()
        with self._lock:
            self._changed.wait_for(lambda: self._running == 0, GRACE_SECONDS)
        self._flush(GRACE_SECONDS)
        if self._loop is not None:
            self._loop.close(GRACE_SECONDS)
        return self._orderly

    # --- reading

    def _work(self) -> None:
        while True:
            with self._leading:
                call = self._next_call()
            if call is None:
                return
            self._serve(*call)

    def _next_call(self) -> tuple[LiveCall, Call] | None:
        """Reads until a tool has to run, or returns None at the end. Only the leader calls this."""
        while not self._closed.is_set():
            with self._lock:
                event = self._connection.next_event()
            self._flush(_AT_ONCE)
            match event:
                case None:
                    data = self._read()
                    with self._lock:
                        self._connection.receive(data)
                case CallStarted(live):
                    call = self._admit(live)
                    if call is not None:
                        return live, call
                case CallEnded(live, reason):
                    self._tell(live, reason)
                case Remark(text):
                    self._log(text)
                case InputEnded():
                    self._drain()
                case Closed(orderly):
                    self._finish(orderly=orderly)
        return None

    def _admit(self, live: LiveCall) -> Call | None:
        """Makes room for a call and sees to it that somebody reads on."""
        with self._lock:
            if self._running >= 2 * live.session.concurrency:
                self._connection.refuse_busy(live)
                return None
            call = Call(live, self._send)
            self._calls[live] = call
            self._running += 1
            self._free_workers -= 1
            alone = self._free_workers == 0
            self._free_workers += alone
        if alone:
            self._start_worker()
        return call

    def _start_worker(self) -> None:
        try:
            threading.Thread(target=self._work, name="octet-worker", daemon=True).start()
        except RuntimeError as fault:  # no more threads: this worker reads on when its tool has returned
            with self._lock:
                self._free_workers -= 1
            self._log(f"calls wait for each other: {fault}")

    def _tell(self, live: LiveCall, reason: str) -> None:
        with self._lock:
            call = self._calls.get(live)
        if call is not None:
            call.end(reason)

    def _drain(self) -> None:
        with self._lock:
            self._changed.wait_for(lambda: self._connection.live == 0, DRAIN_SECONDS)
            self._connection.end("the input ended")

    def _finish(self, *, orderly: bool) -> None:
        with self._lock:
            self._orderly = orderly
        self._closed.set()

    # --- serving

    def _serve(self, live: LiveCall, call: Call) -> None:
        tool = self._tools[live.tool.name]
        try:
            keywords = tool.bind(call, live.invocation.arguments)
        except Exception as fault:  # noqa: BLE001 - a converter may be code of the author
            self._settle(live, fault)
        else:
            if tool.is_async:
                self._start_coroutine(tool, live, call, keywords)
            else:
                self._settle(live, _invoke(tool, keywords))
        with self._lock:
            self._free_workers += 1

    def _start_coroutine(self, tool: Tool, live: LiveCall, call: Call, keywords: dict[str, object]) -> None:
        # Loaded where it is needed: asyncio would take half of the time of a start.
        from octet_extension._coroutines import Loop, invoke  # noqa: PLC0415

        with self._lock:
            if self._loop is None:
                self._loop = Loop()
            loop = self._loop
        call.when_ended(loop.submit(invoke(tool, keywords), lambda outcome: self._settle(live, outcome)))

    def _settle(self, live: LiveCall, outcome: Outcome) -> None:
        with self._lock:
            remark = self._answer(live, outcome)
            del self._calls[live]
            self._running -= 1
            self._changed.notify_all()
        if remark:
            self._log(remark)
        self._flush(_FOREVER)

    def _answer(self, live: LiveCall, outcome: Outcome) -> str:
        """Answers a call if it is still open. Returns a remark for people, or nothing."""
        match outcome:
            case ToolResult():
                return self._succeed(live, outcome)
            case ToolError():
                return self._succeed(live, ToolResult(_shown(outcome), is_error=True))
            case Misfit():
                detail = f"arguments{outcome.pointer} {outcome.reason}"
                self._connection.refuse_arguments(live, outcome.pointer, detail)
                return ""
            case LocalProtocolError():
                self._connection.fail_internally(live, str(outcome))
            case CallCancelled():
                return self._succeed(live, ToolResult("the tool gave up", is_error=True))
            case _:
                kind, message = type(outcome).__name__, _shown(outcome)
                self._succeed(live, ToolResult(f"{kind}: {message}" if message else kind, is_error=True))
        return "".join(traceback.format_exception(outcome)).rstrip()

    def _succeed(self, live: LiveCall, result: ToolResult) -> str:
        try:
            self._connection.succeed(live, result)
        except Exception as fault:  # noqa: BLE001 - the result is data of the author, of any shape
            detail = str(fault) if isinstance(fault, LocalProtocolError) else f"the result: {type(fault).__name__}"
            self._connection.fail_internally(live, detail)
            return detail
        return ""

    # --- writing

    def _send(self, act: Callable[[Connection], bool]) -> bool:
        """Lets a tool put a message on the wire."""
        with self._lock:
            sent = act(self._connection)
        if sent:
            self._flush(_FOREVER)
        return sent

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
            calls = list(self._calls.values())
            self._changed.notify_all()
        for call in calls:
            call.end("the host reads no more")
        self._log("the host reads no more")
        self._finish(orderly=False)


def _invoke(tool: Tool, keywords: dict[str, object]) -> Outcome:
    try:
        return tool.result(tool.handler(**keywords))
    except BaseException as fault:  # noqa: BLE001 - whatever an author's tool raises is the outcome of its call
        return fault


def _shown(fault: BaseException) -> str:
    """Returns the message of an exception as text that can travel. The place in the code stays here."""
    try:
        message = str(fault)
    except Exception:  # noqa: BLE001 - an exception of the author that cannot be shown
        message = ""
    return message[:_MAX_FAILURE_TEXT].encode("utf-8", "replace").decode("utf-8")
