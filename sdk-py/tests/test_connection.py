"""What both wires have in common, rule by rule, without threads or a clock."""

from __future__ import annotations

from typing import Any

import pytest
from driver import ALL_APIS, CANCELLING_APIS, Wire, code, extension, ready

from octet_extension import CallCancelled, LocalProtocolError, NotNegotiated, ToolResult
from octet_extension._connection import State
from octet_extension._generated._json import encode
from octet_extension._generated.feature_wire import ProgressOutput, ProgressStatus
from octet_extension._happenings import InputEnded, RequestEnded, RequestStarted
from octet_extension._results import OverBound

every_api = pytest.mark.parametrize("api", ALL_APIS)
cancelling = pytest.mark.parametrize("api", CANCELLING_APIS)


@every_api
def test_initialize_is_answered_once_with_the_catalog(api: str) -> None:
    wire = Wire(extension(api))
    assert wire.heard() == []
    answer = wire.initialize("start")
    assert answer["id"] == "start"
    assert answer["result"]["api_version"] == api
    assert [tool["name"] for tool in answer["result"]["tools"]] == list(extension(api).tools)
    assert wire.remarks == []
    assert wire.connection.state is State.READY


@every_api
def test_a_call_starts_and_is_answered_under_its_id(api: str) -> None:
    wire = ready(api)
    for request in (7, "seven", 0, "7"):
        assert wire.call(request, text="hi") == []
        call = wire.started(request)
        assert call.invocation.arguments == {"text": "hi"}
        assert wire.connection.succeed_tool(call, ToolResult("hi"))
        (answer,) = wire.heard()
        assert answer["id"] == request
        assert type(answer["id"]) is type(request)
        assert answer["result"]["is_error"] is False
        assert not wire.connection.succeed_tool(call, ToolResult("again"))
        assert wire.heard() == []


@every_api
def test_calls_may_be_answered_in_any_order(api: str) -> None:
    wire = ready(api)
    wire.call(1, text="a")
    wire.call(2, text="b")
    wire.connection.succeed_tool(wire.started(2), ToolResult("b"))
    wire.connection.succeed_tool(wire.started(1), ToolResult("a"))
    assert [answer["id"] for answer in wire.heard()] == [2, 1]


@every_api
def test_an_unknown_tool_and_an_unknown_method_are_named(api: str) -> None:
    wire = ready(api)
    for answers in (wire.call(1, "nowhere"), wire.request(2, "no/such", {})):
        (answer,) = answers
        assert code(answer) == -32601
        assert "nowhere" in str(answer) or "no/such" in str(answer)
    assert wire.call(3, text="still served") == []
    assert wire.connection.live == 1


@every_api
@pytest.mark.parametrize("change", ["name", "arguments", "context"])
def test_a_call_that_breaks_its_model_is_refused(api: str, change: str) -> None:
    wire = ready(api)
    params = wire.side.call_params("echo", {"text": "x"})
    opaque = api == "0.3" and change == "context"
    wrong = {**params, "arguments": []} if opaque else {**params, change: 7}
    for broken in ({k: v for k, v in params.items() if k != change}, {**params, change: None}, wrong):
        (answer,) = wire.request(1, "tool/call", broken)
        assert code(answer) == -32602
    (answer,) = wire.request(1, "tool/call", [])
    assert code(answer) == (-32602 if api == "0.3" else -32600)
    assert wire.connection.live == 0


@every_api
def test_a_live_id_is_refused_and_the_running_call_is_not_disturbed(api: str) -> None:
    wire = ready(api)
    wire.call(1, text="first")
    (answer,) = wire.call(1, text="second")
    assert (answer["id"], code(answer)) == (1, -32600)
    wire.connection.succeed_tool(wire.started(1), ToolResult("first"))
    (answer,) = wire.heard()
    assert "result" in answer
    assert wire.call(1, text="free again") == []


@every_api
def test_more_calls_than_the_bound_are_refused(api: str) -> None:
    wire = ready(api, concurrency=2)
    wire.call(1, text="a")
    wire.call("1", text="b")
    (answer,) = wire.call(3, text="c")
    assert code(answer) == (-32012 if api == "0.3" else -32000)
    wire.connection.succeed_tool(wire.started(1), ToolResult(""))
    wire.heard()
    assert wire.call(4, text="d") == []


@cancelling
def test_a_cancelled_call_is_answered_exactly_once(api: str) -> None:
    wire = ready(api)
    wire.call(1, text="a")
    wire.call(2, text="b")
    call = wire.started(1)
    (answer,) = wire.cancel(1, reason="user")
    assert (answer["id"], code(answer), answer["error"]["message"]) == (1, -32800, "request cancelled")
    assert answer["error"]["data"]["reason"] == "user"
    assert RequestEnded(call, "user") in wire.events
    assert wire.cancel(1) == []
    assert not wire.connection.succeed_tool(call, ToolResult("late"))
    assert wire.heard() == []
    assert wire.connection.live == 1


@cancelling
def test_a_late_tool_cannot_answer_a_later_call_with_its_id(api: str) -> None:
    wire = ready(api)
    wire.call(1, text="old")
    old = wire.started(1)
    wire.cancel(1)
    wire.call(1, text="new")
    assert not wire.connection.succeed_tool(old, ToolResult("late"))
    assert not wire.connection.fail_internally(old, "late")
    if api != "0.3":
        assert not wire.connection.progress(old, ProgressStatus(message="late").to_json())
    assert wire.heard() == []
    assert wire.connection.succeed_tool(wire.started(1), ToolResult("new"))


@cancelling
def test_a_cancellation_without_reason_cancels_too(api: str) -> None:
    wire = ready(api)
    wire.call("x", text="a")
    (answer,) = wire.cancel("x")
    assert code(answer) == -32800


@cancelling
def test_a_cancellation_of_nothing_is_forgotten(api: str) -> None:
    wire = ready(api)
    assert wire.cancel(5) == []
    wire.call(5, text="a")
    assert wire.connection.live == 1
    wire.connection.succeed_tool(wire.started(5), ToolResult(""))
    wire.heard()
    assert wire.cancel(5) == []


@cancelling
def test_ids_of_another_type_are_other_ids(api: str) -> None:
    wire = ready(api)
    wire.call(1, text="number")
    assert wire.cancel("1") == []
    assert wire.connection.live == 1


@cancelling
@pytest.mark.parametrize("params", [{}, {"id": None}, {"id": -1}, {"id": ""}, {"id": 1, "reason": 7}, [], {"id": 1.5}])
def test_a_bad_cancellation_causes_no_frame(api: str, params: Any) -> None:
    wire = ready(api)
    wire.call(1, text="a")
    if api == "0.3" and params == {"id": 1.5}:
        params = {"id": True}
    assert wire.notify("$/cancelRequest", params) == []
    assert wire.connection.live == 1
    assert wire.closed is None


def test_api_01_cannot_cancel() -> None:
    wire = ready("0.1")
    wire.call(1, text="a")
    assert wire.cancel(1) == []
    assert wire.notify("", {"id": 1}) == []
    assert wire.connection.live == 1


@every_api
def test_shutdown_answers_what_is_owed_and_then_itself(api: str) -> None:
    wire = ready(api)
    wire.call(1, text="a")
    wire.call(2, text="b")
    calls = [wire.started(1), wire.started(2)]
    answers = wire.request("end", "shutdown", {})
    assert [answer["id"] for answer in answers] == [1, 2, "end"]
    assert {code(answer) for answer in answers[:2]} == {-32000 if api == "0.1" else -32800}
    assert answers[2]["result"] == ({"terminal": "shutdown"} if api == "0.3" else {})
    assert wire.closed is not None
    assert wire.closed.orderly
    assert [event.request for event in wire.events if isinstance(event, RequestEnded)] == calls
    assert not wire.connection.succeed_tool(calls[0], ToolResult("late"))
    assert wire.call(3, text="too late") == []


@every_api
def test_nothing_is_sent_behind_the_answer_to_shutdown(api: str) -> None:
    wire = ready(api)
    wire.call(1, text="a")
    call = wire.started(1)
    wire.request(2, "shutdown", {})
    if api in {"0.2", "0.4"}:
        assert not wire.connection.progress(call, ProgressStatus(message="late").to_json())
    if api != "0.3":
        with pytest.raises(CallCancelled, match="over"):
            wire.connection.tell(wire.connection.dialect.methods["notification"], {"message": "late"})
    wire.connection.end("late")
    assert wire.heard() == []


@every_api
def test_the_end_of_input_lets_calls_finish_and_then_ends_them(api: str) -> None:
    wire = ready(api)
    wire.call(1, text="a")
    wire.call(2, text="b")
    assert wire.bytes(b"") == []
    assert isinstance(wire.events[-1], InputEnded)
    assert wire.events.count(InputEnded()) == 1
    assert wire.connection.succeed_tool(wire.started(1), ToolResult("done"))
    wire.connection.end("gone")
    answers = wire.bytes(b"")
    assert [answer["id"] for answer in answers] == [1, 2]
    assert "result" in answers[0]
    assert wire.closed is not None
    assert wire.closed.orderly


@every_api
def test_the_end_of_input_before_initialize_is_an_end(api: str) -> None:
    wire = Wire(extension(api))
    assert wire.bytes(b"") == []
    assert wire.events == [InputEnded()]


@every_api
def test_lost_output_ends_everything_unanswered(api: str) -> None:
    wire = ready(api)
    wire.call(1, text="a")
    call = wire.started(1)
    wire.connection.lose_output()
    assert wire.bytes(b"") == []
    assert wire.closed is not None
    assert not wire.closed.orderly
    assert [event.request for event in wire.events if isinstance(event, RequestEnded)] == [call]


@every_api
def test_frames_cut_anywhere_or_joined_are_served(api: str) -> None:
    whole = ready(api)
    data = b"".join(
        whole.side.spell(whole.side.request(i, "tool/call", whole.side.call_params("echo", {"text": "é"}))) + b"\n"
        for i in (1, 2)
    )
    whole.bytes(data)
    assert whole.connection.live == 2
    for cut in range(len(data)):
        wire = ready(api)
        wire.bytes(data[:cut])
        wire.bytes(data[cut:])
        assert wire.connection.live == 2


@every_api
def test_a_result_over_the_bound_becomes_an_error(api: str) -> None:
    wire = ready(api, max_frame_bytes=4096)
    bound = 4096 if api == "0.3" else 1 << 20
    wire.call(1, text="a")
    with pytest.raises(OverBound, match=str(bound)):
        wire.connection.succeed_tool(wire.started(1), ToolResult("x" * bound))
    assert wire.heard() == []
    assert wire.connection.fail_over_bound(wire.started(1), f"over {bound}")
    (too_large,) = wire.heard()
    assert code(too_large) == (-32012 if api == "0.3" else -32603)
    assert str(bound) in str(too_large["error"])


@every_api
def test_the_greatest_result_that_fits_is_sent(api: str) -> None:
    wire = ready(api, max_frame_bytes=4096)
    bound = 4096 if api == "0.3" else 1 << 20
    wire.call(1, text="a")
    wire.connection.succeed_tool(wire.started(1), ToolResult(""))
    overhead = len(wire.connection.take_output()) - 1
    for request, size in ((2, bound - overhead), (3, bound - overhead + 1)):
        wire.call(request, text="a")
        if size > bound - overhead:
            with pytest.raises(OverBound):
                wire.connection.succeed_tool(wire.started(request), ToolResult("x" * size))
            continue
        wire.connection.succeed_tool(wire.started(request), ToolResult("x" * size))
        (answer,) = wire.heard()
        assert len(encode(answer)) == bound


@every_api
def test_structured_content_is_held_to_the_declaration(api: str) -> None:
    wire = ready(api)
    for request, tool, result, reason in (
        (1, "echo", ToolResult("a", structured={"n": 1}), "declares no output type"),
        (2, "measure", ToolResult("a"), "no structured content"),
        (3, "measure", ToolResult("a", structured={"n": "one"}), "/n"),
    ):
        if api == "0.1" and tool == "measure":
            continue
        wire.call(request, tool, text="a")
        call = wire.started(request)
        with pytest.raises(LocalProtocolError, match=reason):
            wire.connection.succeed_tool(call, result)
        assert wire.heard() == []
        assert wire.connection.fail_internally(call, reason)
        (answer,) = wire.heard()
        assert code(answer) == -32603


@pytest.mark.parametrize("api", ["0.2", "0.3", "0.4"])
def test_structured_content_comes_with_text_of_its_own(api: str) -> None:
    wire = ready(api)
    wire.call(1, "measure", text="a")
    wire.connection.succeed_tool(wire.started(1), ToolResult(structured={"n": 1}))
    (answer,) = wire.heard()
    assert answer["result"]["structured_content"] == {"n": 1}
    assert answer["result"]["content"] == [{"type": "text", "text": '{"n":1}'}]
    wire.call(2, "measure", text="a")
    wire.connection.succeed_tool(wire.started(2), ToolResult("failed", is_error=True))
    (answer,) = wire.heard()
    assert "structured_content" not in answer["result"]


@every_api
def test_metadata_travels_where_the_wire_keeps_it(api: str) -> None:
    wire = ready(api)
    wire.call(1, text="a")
    wire.connection.succeed_tool(wire.started(1), ToolResult(["a", "b"], metadata={"k": (1, None)}))
    (answer,) = wire.heard()
    if api == "0.1":
        assert answer["result"] == {"content": "a\nb", "is_error": False}
    else:
        assert answer["result"]["metadata"] == {"k": [1, None]}
        assert answer["result"]["content"] == [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]


@every_api
def test_a_result_that_cannot_travel_is_refused_here(api: str) -> None:
    wire = ready(api)
    wire.call(1, text="a")
    call = wire.started(1)
    for result in (ToolResult("\ud800"), ToolResult(["a"] * 257), ToolResult("", metadata={"a": {1: 2}})):
        if api == "0.1" and result.text != "\ud800":
            continue
        with pytest.raises(LocalProtocolError):
            wire.connection.succeed_tool(call, result)
    assert wire.heard() == []
    assert wire.connection.live == 1


@every_api
def test_an_error_text_that_cannot_travel_is_left_out(api: str) -> None:
    wire = ready(api)
    wire.call(1, text="a")
    wire.connection.fail_internally(wire.started(1), "\ud800")
    (answer,) = wire.heard()
    assert code(answer) == -32603


def test_progress_counts_from_one_for_each_call() -> None:
    wire = ready("0.4")
    wire.call(1, text="a")
    wire.call(2, text="b")
    for request in (1, 1, 2):
        assert wire.connection.progress(
            wire.started(request), ProgressStatus(message="m", current=1, total=2, unit="u").to_json()
        )
    frames = wire.heard()
    assert [(frame["params"]["request_id"], frame["params"]["sequence"]) for frame in frames] == [
        (1, 1),
        (1, 2),
        (2, 1),
    ]
    assert "id" not in frames[0]
    assert frames[0]["params"]["event"] == {"type": "status", "message": "m", "current": 1, "total": 2, "unit": "u"}


def test_progress_stops_with_the_answer() -> None:
    wire = ready("0.4")
    wire.call(1, text="a")
    call = wire.started(1)
    wire.cancel(1)
    assert not wire.connection.progress(call, ProgressStatus(message="late").to_json())
    assert wire.heard() == []


def test_progress_needs_the_feature_and_an_api_that_has_it() -> None:
    wire = ready("0.4", features=())
    wire.call(1, text="a")
    assert not wire.connection.progress(wire.started(1), ProgressStatus(message="m").to_json())
    assert wire.heard() == []
    for api in ("0.1", "0.3"):
        wire = ready(api)
        wire.call(1, text="a")
        with pytest.raises(NotNegotiated, match=api):
            wire.connection.dialect.status_event("m", {})


@pytest.mark.parametrize(
    "event",
    [
        ProgressStatus(message="m", current=-1),
        ProgressStatus(message="m", total=1.5),  # type: ignore[arg-type]
        ProgressOutput(stream="out", encoding="utf8", data=""),  # type: ignore[arg-type]
        ProgressStatus(message="x" * (1 << 20)),
    ],
)
def test_a_bad_progress_is_the_fault_of_this_side(event: Any) -> None:
    wire = ready("0.4")
    wire.call(1, text="a")
    with pytest.raises(LocalProtocolError):
        wire.connection.progress(wire.started(1), event.to_json())
    assert wire.connection.progress(wire.started(1), ProgressStatus(message="m").to_json())
    (frame,) = wire.heard()
    assert frame["params"]["sequence"] == 1


@every_api
def test_a_call_event_comes_before_anything_that_ends_it(api: str) -> None:
    wire = ready(api)
    spell, side = wire.side.spell, wire.side
    frames = [side.request(1, "tool/call", side.call_params("echo", {"text": "a"})), side.request(2, "shutdown", {})]
    wire.bytes(b"".join(spell(frame) + b"\n" for frame in frames))
    kinds = [type(event) for event in wire.events]
    assert kinds.index(RequestStarted) < kinds.index(RequestEnded)
