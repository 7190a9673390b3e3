"""What is particular to API 0.3."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from driver import Wire, code, extension, ready

from octet_extension import ToolResult
from octet_extension._generated.canonical_wire import ERRORS

MESSAGES = {row.code: row.message for row in ERRORS.values()}


def start(**changes: object) -> tuple[Wire, Any]:
    wire = Wire(extension("0.3"))
    return wire, wire.initialize(**changes)


def contract(**changes: Any) -> dict[str, Any]:
    offer = copy.deepcopy(Wire(extension("0.3")).offer()["contract"])
    assert isinstance(offer, dict)
    return {**offer, **changes}


def limits(**changes: int) -> dict[str, Any]:
    return contract(limits={**contract()["limits"], **changes})


@pytest.mark.parametrize(
    "data",
    [
        b'{"id":1,"jsonrpc":"2.0","method":"shutdown","params":{}}\r\n',
        b"\n",
        b'{"id": 1,"jsonrpc":"2.0","method":"shutdown","params":{}}\n',
        b'{"jsonrpc":"2.0","id":1,"method":"shutdown","params":{}}\n',
        b'{"id":1,"id":1,"jsonrpc":"2.0","method":"shutdown","params":{}}\n',
        b'{"id":1,"jsonrpc":"2.0","method":"shut\\u0064own","params":{}}\n',
        b'{"id":1.0,"jsonrpc":"2.0","method":"shutdown","params":{}}\n',
        b'{"id":9007199254740992,"jsonrpc":"2.0","method":"shutdown","params":{}}\n',
        b'{"id":"\xff","jsonrpc":"2.0","method":"shutdown","params":{}}\n',
        b"\xef\xbb\xbf{}\n",
        b"{}{}\n",
        b"nonsense\n",
        b"[" * 40 + b"]" * 40 + b"\n",
    ],
)
@pytest.mark.parametrize("early", [True, False])
def test_a_frame_that_is_refused_ends_the_session_silently(data: bytes, early: bool) -> None:
    wire = Wire(extension("0.3")) if early else ready("0.3")
    rest = b'{"id":2,"jsonrpc":"2.0","method":"shutdown","params":{}}\n'
    assert wire.bytes(data + rest) == []
    assert wire.closed is not None
    assert not wire.closed.orderly
    assert wire.remarks
    assert wire.bytes(rest) == []


def test_bytes_without_a_line_feed_are_never_served() -> None:
    wire = ready("0.3")
    wire.bytes(b'{"id":2,"jsonrpc":"2.0","method":"shutdown","params":{}}')
    assert wire.bytes(b"") == []
    assert wire.closed is not None
    assert not wire.closed.orderly


def test_the_selected_bound_holds_behind_initialize() -> None:
    wire = Wire(extension("0.3"), max_frame_bytes=2048)
    frame = wire.side.spell(wire.side.request(1, "initialize", wire.side.initialize_params()))
    second = wire.side.spell(wire.side.request(2, "tool/call", wire.side.call_params("echo", {"text": "x" * 2048})))
    answers = wire.bytes(frame + b"\n" + second + b"\n")
    assert [answer["id"] for answer in answers] == [1]
    assert wire.closed is not None


def test_an_answer_to_initialize_over_the_offered_bound_is_refused() -> None:
    wire, answer = start(contract=limits(max_frame_bytes=300))
    assert code(answer) == -32012
    assert wire.closed is not None


@pytest.mark.parametrize(
    "message",
    [
        {"id": 1, "jsonrpc": "2.0", "method": "tool/call", "params": {}, "trace": 1},
        {"id": 1, "method": "tool/call", "params": {}},
        {"id": 1, "jsonrpc": "1.0", "method": "tool/call", "params": {}},
        {"id": 1, "jsonrpc": "2.0", "method": "tool/call"},
        {"id": 1, "jsonrpc": "2.0", "method": "tool/call", "params": None},
        {"id": 1, "jsonrpc": "2.0", "method": 7, "params": {}},
        {"id": 1, "jsonrpc": "2.0", "method": "", "params": {}},
        {"id": 1, "jsonrpc": "2.0", "method": "m" * 129, "params": {}},
        {"id": 1, "jsonrpc": "2.0", "method": "tool/call", "params": {}, "result": {}},
        {"id": 1, "jsonrpc": "2.0", "method": "tool/call", "params": {}, "error": {}},
        {"id": 1, "jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1}},
        {"id": 1, "jsonrpc": "2.0"},
    ],
)
def test_a_wrong_envelope_with_an_id_is_answered_and_forgotten(message: dict[str, object]) -> None:
    wire = ready("0.3")
    (answer,) = wire.say(message)
    assert (answer["id"], code(answer)) == (1, -32600)
    assert wire.call(1, text="next") == []
    assert wire.connection.live == 1


@pytest.mark.parametrize(
    "message",
    [
        {"id": None, "jsonrpc": "2.0", "method": "shutdown", "params": {}},
        {"id": "", "jsonrpc": "2.0", "method": "shutdown", "params": {}},
        {"id": -1, "jsonrpc": "2.0", "method": "shutdown", "params": {}},
        {"id": "x" * 257, "jsonrpc": "2.0", "method": "shutdown", "params": {}},
        {"id": [], "jsonrpc": "2.0", "method": "shutdown", "params": {}},
        {"jsonrpc": "2.0", "method": "shutdown", "params": {}},
        {"jsonrpc": "2.0", "method": "tool/call", "params": {}},
        {"jsonrpc": "2.0", "method": "no/such", "params": {}},
        {"jsonrpc": "2.0", "method": "bus/event", "params": {}},
        {"id": 4, "jsonrpc": "2.0", "result": None},
        {"id": 4, "jsonrpc": "2.0", "result": {}, "error": {}},
        [{"id": 1, "jsonrpc": "2.0", "method": "shutdown", "params": {}}],
        None,
        "text",
    ],
)
def test_what_cannot_be_answered_is_forgotten(message: object) -> None:
    wire = ready("0.3")
    assert wire.say(message) == []
    assert wire.closed is None
    assert wire.connection.live == 0
    assert wire.call(1, text="next") == []
    assert wire.connection.live == 1


@pytest.mark.parametrize("request_id", [0, 9007199254740991, "x", "é" * 128, "a\nb"])
def test_every_legal_id_is_served(request_id: object) -> None:
    wire = ready("0.3")
    wire.call(request_id, text="x")
    wire.connection.succeed_tool(wire.started(request_id), ToolResult(""))
    (answer,) = wire.heard()
    assert answer["id"] == request_id


@pytest.mark.parametrize("body", [{"result": {}}, {"error": {"code": -32603, "message": "internal error"}}])
def test_a_response_to_nothing_ends_the_session(body: dict[str, object]) -> None:
    wire = ready("0.3")
    assert wire.say({"id": 4, "jsonrpc": "2.0", **body}) == []
    assert wire.closed is not None
    assert not wire.closed.orderly


def test_the_minimal_contract() -> None:
    offered = contract(
        optional_capabilities=["theme_selection", "lifecycle_events", "event_bus"],
        optional_methods=["theme/select", "hook/run"],
        required_methods=["tool/call", "shutdown", "initialize", "$/cancelRequest"],
        limits={"max_frame_bytes": 65536, "max_concurrent_requests": 5, "max_tools": 9},
    )
    _, answer = start(contract=offered)
    assert answer["result"]["contract"] == {
        "schema": "octet.extension.api/0.3",
        "encoding": "octet-canonical-json-v1",
        "capabilities": ["content_parts", "core", "request_cancellation", "tool_call"],
        "methods": ["$/cancelRequest", "initialize", "shutdown", "tool/call"],
        "limits": offered["limits"],
    }
    wire = Wire(extension("0.3", concurrency=2))
    assert wire.initialize(contract=offered)["result"]["contract"]["limits"]["max_concurrent_requests"] == 2


@pytest.mark.parametrize("value", [False, 0, "", [], {}, {"deep": [1]}])
def test_opaque_members_may_be_anything_but_null(value: object) -> None:
    _, answer = start(
        extension=value, capabilities=value, contributes=value, host=value, workspace="", octet_version=""
    )
    assert "result" in answer


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"api_version": "0.4", "workspace": 7, "news": 1}, -32010),
        ({"contract": contract(schema="octet.extension.api/0.4")}, -32010),
        ({"contract": contract(encoding="json")}, -32602),
        ({"api_version": 3}, -32602),
        ({"workspace": None}, -32602),
        ({"news": 1}, -32602),
        ({"flag_values": [{"name": "f", "value": None}]}, -32602),
        ({"flag_values": [{"name": "f", "value": 1}] * 65}, -32012),
        ({"contract": contract(optional_capabilities=["event_bus"] * 33)}, -32012),
        ({"contract": contract(optional_methods=["bus/event"] * 65)}, -32012),
        ({"contract": contract(optional_capabilities=[""])}, -32602),
        ({"contract": contract(optional_methods=["m" * 129])}, -32602),
        ({"contract": contract(optional_capabilities=["magic"])}, -32011),
        ({"contract": contract(optional_capabilities=["dynamic_tools"])}, -32011),
        ({"contract": contract(optional_capabilities=["event_bus", "event_bus"])}, -32011),
        ({"contract": contract(optional_capabilities=["core"])}, -32011),
        ({"contract": contract(required_capabilities=["core"])}, -32011),
        ({"contract": contract(optional_capabilities=[], optional_methods=["bus/event"])}, -32011),
        ({"contract": limits(max_tools=0)}, -32602),
        ({"contract": limits(max_frame_bytes=1048577)}, -32012),
        ({"contract": limits(max_concurrent_requests=65)}, -32012),
        ({"contract": limits(max_tools=257)}, -32012),
        ({"contract": limits(max_tools=1)}, -32012),
    ],
)
def test_an_offer_that_is_wrong_is_refused_for_good(changes: dict[str, object], error: int) -> None:
    wire, answer = start(**changes)
    assert code(answer) == error
    assert answer["error"]["message"] == MESSAGES[error]
    assert wire.closed is not None
    assert not wire.closed.orderly


def test_a_wrong_version_names_both() -> None:
    _, answer = start(api_version="0.4")
    assert answer["error"]["data"] == {"expected": "0.3", "received": "0.4"}


@pytest.mark.parametrize("method", ["shutdown", "tool/call", "no/such"])
def test_another_request_first_is_refused_for_good(method: str) -> None:
    wire = Wire(extension("0.3"))
    (answer,) = wire.request(1, method, {})
    assert code(answer) == -32601
    assert answer["error"]["data"] == {"method": method}
    assert wire.closed is not None


def test_a_wrong_envelope_first_is_refused_for_good() -> None:
    wire = Wire(extension("0.3"))
    (answer,) = wire.say({"id": 1, "jsonrpc": "2.0", "method": "initialize"})
    assert code(answer) == -32600
    assert wire.closed is not None


def test_a_second_initialize_ends_the_session() -> None:
    wire = ready("0.3")
    assert code(wire.initialize(9)) == -32600
    assert wire.closed is not None
    assert not wire.closed.orderly


@pytest.mark.parametrize("method", ["no/such", "hook/run", "context/collect", "theme/select", "tools/register"])
def test_a_method_that_was_not_selected_is_unknown(method: str) -> None:
    wire = ready("0.3")
    (answer,) = wire.request(1, method, {})
    assert code(answer) == -32601
    assert answer["error"] == {"code": -32601, "message": MESSAGES[-32601], "data": {"method": method}}
    assert wire.call(2, text="next") == []


def test_a_name_over_its_bound_is_too_much() -> None:
    wire = ready("0.3")
    (answer,) = wire.call(1, "n" * 129)
    assert code(answer) == -32012
    (answer,) = wire.call(1, "nowhere")
    assert answer["error"]["data"] == {"method": "nowhere"}
    params = {**wire.side.call_params("echo", {"text": "x"}), "news": 1}
    (answer,) = wire.request(1, "tool/call", params)
    assert code(answer) == -32602


@pytest.mark.parametrize("params", [{"force": True}, [], "now", 1])
def test_shutdown_takes_the_empty_object(params: object) -> None:
    wire = ready("0.3")
    (answer,) = wire.request(1, "shutdown", params)
    assert code(answer) == -32602
    assert wire.closed is None
    (answer,) = wire.request(2, "shutdown", {})
    assert answer["result"] == {"terminal": "shutdown"}


def test_a_reason_over_its_bound_is_forgotten() -> None:
    wire = ready("0.3")
    wire.call(1, text="x")
    assert wire.cancel(1, reason="r" * 4097) == []
    assert wire.cancel(1, news=1) == []
    (answer,) = wire.cancel(1, reason="r" * 4096)
    assert answer["error"]["data"] == {"terminal": "cancelled", "reason": "r" * 4096}


def test_a_cancellation_without_reason_gives_none() -> None:
    wire = ready("0.3")
    wire.call(1, text="x")
    (answer,) = wire.cancel(1)
    assert answer["error"]["data"] == {"terminal": "cancelled"}


def test_results_have_their_four_members_at_most() -> None:
    wire = ready("0.3")
    wire.call(1, text="x")
    wire.connection.succeed_tool(wire.started(1), ToolResult([]))
    (answer,) = wire.heard()
    assert answer["result"] == {"content": [], "is_error": False, "metadata": None}


def test_errors_carry_the_words_of_the_table_alone() -> None:
    wire = ready("0.3")
    wire.call(1, text="x")
    wire.connection.fail_internally(wire.started(1), "secret place")
    (answer,) = wire.heard()
    assert answer["error"]["message"] == MESSAGES[-32603]
    assert set(answer["error"]) <= {"code", "message", "data"}


@pytest.mark.parametrize("cancelled", [True, False])
def test_a_second_answer_ends_the_session_unless_a_tombstone_explains_it(cancelled: bool) -> None:
    wire = ready("0.3")
    child = wire.connection.ask(wire.connection.dialect.methods["theme/select"], {}, None)
    if cancelled:
        wire.connection.give_up(child, "enough")
    answer = {"jsonrpc": "2.0", "id": child.id, "result": {}}
    wire.say(answer)
    assert wire.closed is None
    wire.say(answer)
    assert wire.closed is not None
