"""Threads around the connection. Every wait is for an event; nothing here sleeps."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest
from driver import ALL_APIS, CANCELLING_APIS

from octet_extension import (
    Call,
    CallCancelled,
    CallFailed,
    Extension,
    LocalProtocolError,
    NotNegotiated,
    RemoteProtocolError,
    ToolError,
    ToolResult,
)
from octet_extension._generated._json import encode
from octet_extension._runtime import Runtime
from octet_extension.testing import Notification, ProgressOutput, ProgressStatus, TestHost

PATIENCE = 60.0
every_api = pytest.mark.parametrize("api", ALL_APIS)
cancelling = pytest.mark.parametrize("api", CANCELLING_APIS)


class Gate:
    """A tool that says that it runs and waits until the test lets it go."""

    def __init__(self, ext: Extension) -> None:
        self.running = threading.Semaphore(0)
        self.open = threading.Event()
        self.left = threading.Semaphore(0)
        self.calls: list[Call] = []

        @ext.tool("Waits")
        def gate(call: Call) -> str:
            self.calls.append(call)
            self.running.release()
            self.open.wait(PATIENCE)
            self.left.release()
            return "open"

    def wait_running(self, count: int = 1) -> None:
        for _ in range(count):
            assert self.running.acquire(timeout=PATIENCE)


def echoing(api: str = "0.4", **options: Any) -> Extension:
    ext = Extension(api=api, **options)

    @ext.tool("Echoes")
    def echo(text: str) -> str:
        return text

    return ext


@every_api
def test_calls_overlap_up_to_the_bound(api: str) -> None:
    ext = echoing(api)
    gate = Gate(ext)
    with TestHost(ext, concurrency=8) as host:
        pending = [host.begin("gate") for _ in range(7)]
        gate.wait_running(7)
        assert host.call("echo", text="past them").text == "past them"
        gate.open.set()
        assert [call.result().text for call in pending] == ["open"] * 7


@cancelling
def test_a_cancelled_call_is_answered_while_its_tool_still_runs(api: str) -> None:
    ext = echoing(api)
    gate = Gate(ext)
    with TestHost(ext) as host:
        pending = host.begin("gate")
        gate.wait_running()
        pending.cancel("user")
        with pytest.raises(CallFailed) as caught:
            pending.result()
        assert caught.value.name == "request_cancelled"
        (call,) = gate.calls
        assert call.wait_cancelled(PATIENCE)
        assert call.cancelled
        assert call.cancel_reason == "user"
        with pytest.raises(CallCancelled, match="user"):
            call.raise_if_cancelled()
        gate.open.set()
        assert host.call("echo", text="served").text == "served"
    assert host.orderly


@cancelling
def test_a_cancellation_right_behind_its_request_is_answered_once(api: str) -> None:
    ext = Extension(api=api)

    @ext.tool("Ends at once or is cancelled")
    def race(call: Call) -> str:
        call.raise_if_cancelled()
        return "done"

    with TestHost(ext) as host:
        for _ in range(200):
            pending = host.begin("race")
            pending.cancel()
            try:
                assert pending.result().text == "done"
            except CallFailed as failure:
                assert failure.name == "request_cancelled"  # noqa: PT017 - either outcome is right
    assert host.orderly


@cancelling
def test_a_tool_that_notices_its_cancellation_leaves_no_trace(api: str) -> None:
    ext = Extension(api=api)
    left = threading.Event()

    @ext.tool("Waits for its cancellation")
    def patient(call: Call) -> str:
        call.wait_cancelled()
        left.set()
        call.raise_if_cancelled()
        return "never"

    with TestHost(ext) as host:
        pending = host.begin("patient")
        pending.cancel()
        with pytest.raises(CallFailed):
            pending.result()
        assert left.wait(PATIENCE)
    assert host.log == []


@cancelling
def test_tools_that_ignore_their_cancellation_cannot_pile_up(api: str) -> None:
    ext = echoing(api)
    gate = Gate(ext)
    with TestHost(ext, concurrency=2) as host:
        for _ in range(2):
            pending = [host.begin("gate"), host.begin("gate")]
            gate.wait_running(2)
            for call in pending:
                call.cancel()
                with pytest.raises(CallFailed, match="cancelled"):
                    call.result()
        with pytest.raises(CallFailed) as caught:
            host.call("echo", text="no room")
        assert caught.value.name in {"server_error", "resource_exhausted"}
        gate.open.set()
        for _ in range(4):
            assert gate.left.acquire(timeout=PATIENCE)


@every_api
def test_shutdown_is_answered_while_a_tool_runs_on(api: str) -> None:
    ext = Extension(api=api)
    gate = Gate(ext)
    host = TestHost(ext)
    pending = host.begin("gate")
    gate.wait_running()
    ending = host.request("shutdown", {})
    host.wait_response(ending, PATIENCE)
    with pytest.raises(CallFailed):
        pending.result()
    gate.open.set()
    assert host.wait_end()
    host.close()


@every_api
def test_the_end_of_input_waits_for_running_calls(api: str) -> None:
    ext = Extension(api=api)
    gate = Gate(ext)
    host = TestHost(ext)
    pending = host.begin("gate")
    gate.wait_running()
    host.end_input()
    gate.open.set()
    assert pending.result().text == "open"
    assert host.wait_end()


@every_api
def test_the_end_of_input_gives_up_a_call_that_does_not_end(api: str) -> None:
    ext = Extension(api=api)
    gate = Gate(ext)
    host = TestHost(ext)
    pending = host.begin("gate")
    gate.wait_running()
    host.end_input()
    with pytest.raises(CallFailed) as caught:
        pending.result()
    assert caught.value.name == ("server_error" if api == "0.1" else "request_cancelled")
    (call,) = gate.calls
    assert call.wait_cancelled(PATIENCE)
    gate.open.set()
    assert host.wait_end()


@every_api
def test_the_end_of_input_before_anything_is_an_end(api: str) -> None:
    host = TestHost(echoing(api))
    host.launch()
    host.end_input()
    assert host.wait_end()
    assert host.transcript == []


class BrokenPipe:
    """A host that reads no more from a certain write on."""

    def __init__(self, ext: Extension, *, writes: int) -> None:
        self.input: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.side = TestHost(ext).side
        self.log: list[str] = []
        self._left = writes
        self.written: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.runtime: Runtime = ext.runtime(self.input.get, self._write, self.log.append)

    def _write(self, data: bytes) -> None:
        if self._left == 0:
            raise BrokenPipeError("nobody reads")
        self._left -= 1
        self.written.put(data)

    def send(self, request: int, method: str, params: dict[str, object]) -> None:
        self.input.put(encode(self.side.request(request, method, params)) + b"\n")


@every_api
def test_lost_output_ends_the_session_with_input_open(api: str) -> None:
    ext = Extension(api=api)
    gate = Gate(ext)
    ext.tool("Echoes", name="echo")(lambda: "x")
    pipe = BrokenPipe(ext, writes=1)
    pipe.send(1, "initialize", pipe.side.initialize_params())
    pipe.send(2, "tool/call", pipe.side.call_params("gate", {}))
    pipe.send(3, "tool/call", pipe.side.call_params("echo", {}))
    ended: queue.SimpleQueue[bool] = queue.SimpleQueue()
    thread = threading.Thread(target=lambda: ended.put(pipe.runtime.run()))
    thread.start()
    gate.wait_running()
    (call,) = gate.calls
    assert call.wait_cancelled(PATIENCE)
    gate.open.set()
    assert ended.get(timeout=PATIENCE) is False
    thread.join(PATIENCE)
    assert "the host reads no more" in pipe.log
    pipe.input.put(b"")


@every_api
def test_an_answer_that_finds_the_writer_busy_is_written_by_it(api: str) -> None:
    ext = echoing(api)
    side = TestHost(ext).side
    source: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    sink: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    reading = threading.Semaphore(0)

    def read() -> bytes:
        reading.release()
        return source.get()

    def write(data: bytes) -> None:
        if b"slow" in data:
            # The reader answers this request while we write, and comes back for more input.
            while reading.acquire(blocking=False):
                pass
            send(3, "no/such", {})
            assert reading.acquire(timeout=PATIENCE)
        sink.put(data)

    def send(request: int, method: str, params: dict[str, object]) -> None:
        source.put(side.spell(side.request(request, method, params)) + b"\n")

    runtime = ext.runtime(read, write, lambda _: None)
    thread = threading.Thread(target=runtime.run)
    thread.start()
    send(1, "initialize", side.initialize_params())
    assert b'"id":1' in sink.get(timeout=PATIENCE)
    assert reading.acquire(timeout=PATIENCE)
    send(2, "tool/call", side.call_params("echo", {"text": "slow"}))
    assert b'"id":2' in sink.get(timeout=PATIENCE)
    assert b'"id":3' in sink.get(timeout=PATIENCE)
    send(4, "shutdown", {})
    assert b'"id":4' in sink.get(timeout=PATIENCE)
    thread.join(PATIENCE)


@every_api
def test_coroutines_are_tools_too(api: str) -> None:
    ext = Extension(api=api)

    @ext.tool("Meets the others")
    async def meet(number: int) -> str:
        waiting.append(number)
        if len(waiting) == 3:
            everybody.set()
        await everybody.wait()
        return str(number)

    waiting: list[int] = []
    everybody = asyncio.Event()
    with TestHost(ext) as host:
        pending = [host.begin("meet", number=number) for number in range(3)]
        assert [call.result().text for call in pending] == ["0", "1", "2"]


@cancelling
def test_a_cancelled_coroutine_is_interrupted(api: str) -> None:
    ext = Extension(api=api)
    entered, cleaned = threading.Event(), threading.Event()

    @ext.tool("Waits for ever")
    async def forever() -> str:
        try:
            entered.set()
            await asyncio.Event().wait()
        finally:
            cleaned.set()
        return "never"

    with TestHost(ext) as host:
        pending = host.begin("forever")
        assert entered.wait(PATIENCE)
        pending.cancel()
        with pytest.raises(CallFailed, match="cancelled"):
            pending.result()
        assert cleaned.wait(PATIENCE)
    assert host.log == []


@every_api
def test_a_coroutine_that_runs_at_the_end_is_interrupted(api: str) -> None:
    ext = Extension(api=api)
    entered, cleaned = threading.Event(), threading.Event()

    @ext.tool("Waits for ever")
    async def forever() -> None:
        try:
            entered.set()
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    with TestHost(ext) as host:
        host.begin("forever")
        assert entered.wait(PATIENCE)
    assert cleaned.wait(PATIENCE)
    assert host.orderly


class Odd(Exception):
    def __str__(self) -> str:
        raise ValueError("an exception that cannot be shown")


FAILURES: list[tuple[Callable[[], BaseException], str]] = [
    (lambda: ToolError("no such file: pass another name"), "no such file: pass another name"),
    (lambda: ToolError("\ud800"), "?"),
    (lambda: KeyError("x"), "KeyError: 'x'"),
    (ValueError, "ValueError"),
    (lambda: SystemExit(3), "SystemExit: 3"),
    (Odd, "Odd"),
    (lambda: CallCancelled("by itself"), "the tool gave up"),
    (lambda: RuntimeError("x" * 9000), "RuntimeError: " + "x" * 4000),
]


@every_api
@pytest.mark.parametrize(("fault", "text"), FAILURES)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_failing_tool_gives_an_error_result_and_serves_on(
    api: str, fault: Callable[[], BaseException], text: str, asynchronous: bool
) -> None:
    ext = echoing(api)

    def fail() -> str:
        raise fault()

    async def fail_later() -> str:
        raise fault()

    ext.tool("Fails", name="fail")(fail_later if asynchronous else fail)
    with TestHost(ext) as host:
        result = host.call("fail")
        assert result.is_error
        assert result.text == text
        assert host.call("echo", text="still here").text == "still here"
    told = [line for line in host.log if "Traceback" in line]
    assert bool(told) is not isinstance(fault(), (ToolError, CallCancelled))


@every_api
def test_a_coroutine_that_cancels_itself_gave_up(api: str) -> None:
    ext = echoing(api)

    @ext.tool("Gives up")
    async def give_up() -> str:
        raise asyncio.CancelledError

    with TestHost(ext) as host:
        result = host.call("give_up")
        assert (result.is_error, result.text) == (True, "the tool gave up")
        assert host.call("echo", text="still here").text == "still here"


@every_api
def test_a_bug_of_the_author_is_an_internal_error(api: str) -> None:
    ext = Extension(api=api)

    @ext.tool("Returns what cannot travel")
    def wrong(what: str) -> object:
        loop: list[object] = []
        loop.append(loop)
        return {"number": 7, "structure": ToolResult(structured=1), "loop": ToolResult(metadata={"l": loop})}[what]

    with TestHost(ext) as host:
        for what in ("number", "structure", "loop"):
            if what == "loop" and api != "0.3":  # the feature wire answers with an error result
                continue
            with pytest.raises(CallFailed) as caught:
                host.call("wrong", what=what)
            assert caught.value.name == "internal_error"
            assert host.log


@every_api
def test_arguments_that_do_not_fit_are_refused(api: str) -> None:
    with TestHost(echoing(api)) as host:
        for arguments, place in (({}, "/text"), ({"text": 1}, "/text"), ({"text": "", "more": 1}, "/more")):
            with pytest.raises(CallFailed) as caught:
                host.call("echo", **arguments)
            assert caught.value.name == "invalid_params"
            assert place in str(caught.value.data)


def test_everything_a_call_can_say() -> None:
    ext = Extension()

    @ext.tool("Says everything")
    def talk(call: Call) -> str:
        call.progress("half", current=1, total=2, unit="halves")
        call.progress("bare")
        call.output("x" * 8191 + "é" + "y")
        call.output(b"\x00\xff", stream="stderr")
        call.output("")
        call.notify("\x1b[31mred\x1b[0m\ttab\nline\x07\x9f", level="warning", title="\x1b]0;t\x07")
        return (
            f"{call.tool} {call.api} {call.workspace} {call.flags} {sorted(call.features)} {call.context['workspace']}"
        )

    with TestHost(ext, workspace="/here", flags={"deep": True}) as host:
        result = host.call("talk")
    assert result.text == (
        "talk 0.4 /here {'deep': True} "
        "['content_parts', 'progress_decoration', 'request_cancellation', 'request_progress'] /here"
    )
    assert result.progress == (
        ProgressStatus(message="half", current=1, total=2, unit="halves"),
        ProgressStatus(message="bare"),
        ProgressOutput(stream="stdout", encoding="utf8", data="x" * 8191),
        ProgressOutput(stream="stdout", encoding="utf8", data="éy"),
        ProgressOutput(stream="stderr", encoding="base64", data="AP8="),
    )
    assert host.notifications == [Notification(level="warning", title="0;t", message="red\ttab\nline")]


def test_a_call_of_api_03_says_what_it_cannot() -> None:
    ext = Extension(api="0.3")

    @ext.tool("Tries")
    def talk(call: Call) -> str:
        for attempt in (call.progress, call.output, call.notify):
            with pytest.raises(NotNegotiated, match=r"0\.3"):
                attempt("text")
        return str(call.context)

    with TestHost(ext, flags={"a": 1}) as host:
        assert host.call("talk").text == "{'workspace': '/workspace'}"


def test_a_broken_rule_inside_a_tool_is_an_internal_error() -> None:
    ext = Extension()

    @ext.tool("Breaks a rule")
    def rude(call: Call) -> str:
        call.progress("m", current=-1)
        return "never"

    with TestHost(ext) as host, pytest.raises(CallFailed) as caught:
        host.call("rude")
    assert caught.value.name == "internal_error"


def test_nobody_talks_once_the_call_is_answered() -> None:
    ext = Extension()
    gate = Gate(ext)
    with TestHost(ext) as host:
        pending = host.begin("gate")
        gate.wait_running()
        pending.cancel()
        with pytest.raises(CallFailed):
            pending.result()
        gate.calls[0].progress("late")
        gate.open.set()
    assert pending.progress == ()


def test_one_hook_per_call() -> None:
    ext = Extension()
    gate = Gate(ext)
    with TestHost(ext) as host:
        host.begin("gate")
        gate.wait_running()
        heard: list[str] = []
        token = gate.calls[0].cancellation
        token.when_ended(lambda: heard.append("end"))
        with pytest.raises(LocalProtocolError):
            token.when_ended(lambda: None)
        gate.open.set()
        token.end("once")
        token.end("twice")
    assert heard == ["end"]
    assert token.reason == "once"


@every_api
def test_many_calls_at_once_are_all_answered(api: str) -> None:
    ext = echoing(api)
    with TestHost(ext) as host:
        for _ in range(5):
            pending = [(f"{number}", host.begin("echo", text=f"{number}")) for number in range(64)]
            for text, call in pending:
                assert call.result().text == text


@every_api
def test_a_faulty_start_ends_the_runtime(api: str) -> None:
    host = TestHost(echoing(api))
    host.launch()
    pending = host.request("initialize", {**host.side.initialize_params(), "api_version": "9.9"})
    assert pending.request
    with pytest.raises(CallFailed):
        pending.result()
    assert host.wait_end() is False
    assert any("refused" in line for line in host.log)


def test_a_session_that_ends_without_an_answer_is_told() -> None:
    ext = Extension(api="0.3")
    gate = Gate(ext)
    host = TestHost(ext)
    pending = host.begin("gate")
    gate.wait_running()
    host.send_bytes(b"\n")
    gate.calls[0].wait_cancelled(PATIENCE)
    gate.open.set()
    with pytest.raises(RemoteProtocolError, match="without an answer"):
        pending.result()


def cyclic() -> dict[str, object]:
    found: dict[str, object] = {}
    found["self"] = found
    return found


def nested() -> object:
    found: list[object] = []
    for _ in range(5000):
        found = [found]
    return found


@pytest.mark.parametrize("api", ["0.2", "0.4"])
@pytest.mark.parametrize(
    "result",
    [
        lambda: ToolResult("x", metadata={"a": float("nan")}),
        lambda: ToolResult("x", metadata={"a": print}),
        lambda: ToolResult("x", metadata=cyclic()),
        lambda: ToolResult("x", metadata={"a": nested()}),
        lambda: ToolResult("x", metadata={"a": "\ud800"}),
        lambda: ToolResult("x", metadata={"\ud800": 1}),
        lambda: "\ud800",
        lambda: {"content": "x", "metadata": {"a": print}},
    ],
)
def test_a_result_that_is_no_json_is_an_error_result_that_says_so(api: str, result: Callable[[], object]) -> None:
    ext = echoing(api)

    @ext.tool("Returns what no frame can carry", name="odd", parameters={"type": "object"})
    def odd(args: dict[str, object]) -> object:
        return result()

    with TestHost(ext) as host:
        answer = host.call("odd")
        assert answer.is_error
        assert "tool 'odd'" in answer.text
        assert "return text and finite numbers" in answer.text
        assert host.call("echo", text="next").text == "next"
