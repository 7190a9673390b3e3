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

import asyncio
import concurrent.futures
import threading
import traceback
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, TypeAlias, cast

from octet_extension._call import Call
from octet_extension._connection import Call as LiveCall
from octet_extension._connection import CallEnded, CallStarted, Closed, Connection, InputEnded, Remark
from octet_extension._errors import CallCancelled, LocalProtocolError, ToolError
from octet_extension._results import ToolResult
from octet_extension._schema import Misfit
from octet_extension._tools import Tool

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
_Outcome: TypeAlias = ToolResult | BaseException


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
        self._loop = _Loop()
        self._leading = threading.Lock()  # held by the worker that reads
        self._writing = threading.Lock()  # held by the thread that writes; taken before _lock, never inside it
        # _lock guards what follows; _changed is its condition: a call was answered or a tool returned.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._connection = connection
        self._calls: dict[LiveCall, Call] = {}
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
        future = self._loop.submit(_invoke_later(tool, keywords))
        future.add_done_callback(
            lambda done: self._settle(live, CallCancelled() if done.cancelled() else done.result())
        )
        call.when_ended(future.cancel)

    def _settle(self, live: LiveCall, outcome: _Outcome) -> None:
        with self._lock:
            remark = self._answer(live, outcome)
            del self._calls[live]
            self._running -= 1
            self._changed.notify_all()
        if remark:
            self._log(remark)
        self._flush(_FOREVER)

    def _answer(self, live: LiveCall, outcome: _Outcome) -> str:
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
            case CallCancelled() | asyncio.CancelledError():
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


def _invoke(tool: Tool, keywords: dict[str, object]) -> _Outcome:
    try:
        return tool.result(tool.handler(**keywords))
    except BaseException as fault:  # noqa: BLE001 - whatever an author's tool raises is the outcome of its call
        return fault


async def _invoke_later(tool: Tool, keywords: dict[str, object]) -> _Outcome:
    try:
        return tool.result(await cast("Coroutine[Any, Any, object]", tool.handler(**keywords)))
    except asyncio.CancelledError as fault:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return fault
    except BaseException as fault:  # noqa: BLE001 - as above, and an exit must not end the loop of the others
        return fault


def _shown(fault: BaseException) -> str:
    """Returns the message of an exception as text that can travel. The place in the code stays here."""
    try:
        message = str(fault)
    except Exception:  # noqa: BLE001 - an exception of the author that cannot be shown
        message = ""
    return message[:_MAX_FAILURE_TEXT].encode("utf-8", "replace").decode("utf-8")


class _Loop:
    """One event loop in a thread of its own, for tools that are coroutines. It starts when first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        # Set by the thread before _ready.
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event

    def submit(self, work: Coroutine[Any, Any, _Outcome]) -> concurrent.futures.Future[_Outcome]:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=asyncio.run, args=(self._live(),), name="octet-async", daemon=True
                )
                self._thread.start()
        self._ready.wait()
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _run(self) -> None:
        asyncio.run(self._live())

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._ready.set()
        await self._stop.wait()

    def close(self, timeout: float) -> None:
        """Cancels what still runs and waits for it, at most timeout seconds."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            self._ready.wait()
            self._loop.call_soon_threadsafe(self._stop.set)
            thread.join(timeout)
