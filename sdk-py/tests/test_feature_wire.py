"""What is particular to API 0.1, 0.2 and 0.4."""

from __future__ import annotations

import json
from typing import Any

import pytest
from driver import FEATURE_APIS, Wire, code, extension, ready

from octet_extension import CallFailed, Extension, LocalProtocolError, ToolResult
from octet_extension._generated import feature_wire
from octet_extension.testing import TestHost

feature = pytest.mark.parametrize("api", FEATURE_APIS)
negotiating = pytest.mark.parametrize("api", ["0.2", "0.4"])


@feature
def test_white_space_order_and_escapes_are_forgiven(api: str) -> None:
    wire = ready(api)
    params = json.dumps(wire.side.call_params("echo", {"text": "x"}))
    wire.bytes(
        b' { "params" : ' + params.encode() + b' ,\t"method":"tool\\/call", "\\u0069d": 1, "jsonrpc":"2.0" } \r\n'
    )
    assert wire.connection.live == 1
    wire.bytes(b"\n \t\r\n\n")
    assert wire.heard() == []
    assert wire.closed is None


@feature
def test_members_that_nobody_knows_are_ignored(api: str) -> None:
    wire = Wire(extension(api))
    (answer,) = wire.say(
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": wire.offer(news=[1]), "trace": True}
    )
    assert "result" in answer
    params = {**wire.side.call_params("echo", {"text": "x"}), "priority": 3}
    assert wire.say({"jsonrpc": "2.0", "id": 2, "method": "tool/call", "params": params, "meta": None}) == []
    assert wire.connection.live == 1


@feature
def test_the_greatest_line_is_served_and_one_byte_more_ends_the_session(api: str) -> None:
    wire = ready(api)
    frame = wire.side.spell(wire.side.request(1, "tool/call", wire.side.call_params("echo", {"text": ""})))
    room = feature_wire.MAX_LINE_BYTES - len(frame)
    for extra in (0, 1):
        text = "x" * (room + extra)
        wire.bytes(
            wire.side.spell(wire.side.request(1, "tool/call", wire.side.call_params("echo", {"text": text}))) + b"\n"
        )
        if extra == 0:
            assert wire.connection.live == 1
            wire.connection.succeed_tool(wire.started(1), ToolResult(""))
            wire.heard()
    assert wire.connection.live == 0
    assert wire.closed is not None
    assert not wire.closed.orderly


@feature
@pytest.mark.parametrize("line", [b"nonsense", b'{"a":1', b"{}{}", b'{"a":1,"a":2}', b"\xff", b'"\\ud800"'])
def test_a_line_that_is_not_json_is_answered_and_forgotten(api: str, line: bytes) -> None:
    wire = ready(api)
    (answer,) = wire.bytes(line + b"\n")
    assert (answer["id"], code(answer)) == (None, -32700)
    assert wire.call(1, text="next") == []
    assert wire.connection.live == 1
    assert any("cannot be read" in remark for remark in wire.remarks)


@feature
def test_nothing_is_written_before_initialize_is_answered(api: str) -> None:
    wire = Wire(extension(api))
    for line in (
        b"nonsense\n",
        b"[1]\n",
        b'{"id":null}\n',
        b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}\n',
    ):
        assert wire.bytes(line) == []
    assert "result" in wire.initialize()


@feature
@pytest.mark.parametrize("value", [[], "text", 1, None, True, [{"id": 1}]])
def test_a_line_that_is_no_object_is_an_invalid_request(api: str, value: Any) -> None:
    (answer,) = ready(api).say(value)
    assert (answer["id"], code(answer)) == (None, -32600)


@feature
@pytest.mark.parametrize(
    ("message", "request_id"),
    [
        ({"id": 5, "method": "tool/call", "params": {}}, 5),
        ({"jsonrpc": "1.0", "id": "five", "method": "tool/call"}, "five"),
        ({"jsonrpc": "2.0", "id": 5, "method": 7}, 5),
        ({"jsonrpc": "2.0", "id": 5}, 5),
        ({"jsonrpc": "2.0", "id": 5, "method": "tool/call", "result": {}}, 5),
        ({"jsonrpc": "2.0", "id": None, "method": "tool/call"}, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "tool/call"}, None),
        ({"jsonrpc": "2.0", "id": "x" * 257, "method": "tool/call"}, None),
    ],
)
def test_a_wrong_envelope_is_answered_with_invalid_request(
    api: str, message: dict[str, object], request_id: object
) -> None:
    wire = ready(api)
    (answer,) = wire.say(message)
    assert (answer["id"], code(answer)) == (request_id, -32600)
    assert wire.call(1, text="next") == []


@feature
@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "unheard/of", "params": {}},
        {"jsonrpc": "2.0", "method": "tool/call", "params": {}},
        {"jsonrpc": "1.0", "method": "unheard/of"},
        {"jsonrpc": "2.0", "id": 99, "result": {}},
        {"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "m"}},
        {"jsonrpc": "2.0", "id": 99, "result": {}, "error": {}},
    ],
)
def test_notifications_and_stray_responses_are_never_answered(api: str, message: dict[str, object]) -> None:
    wire = ready(api)
    assert wire.say(message) == []
    assert wire.remarks
    assert wire.closed is None
    assert wire.connection.live == 0


@feature
def test_another_request_first_is_refused_and_initialize_still_accepted(api: str) -> None:
    wire = Wire(extension(api))
    for answers in (wire.call(1, text="x"), wire.request(2, "shutdown", {}), wire.request(3, "no/such", {})):
        assert code(answers[0]) == -32600
    assert "result" in wire.initialize()


@feature
def test_a_second_initialize_is_refused_and_forgotten(api: str) -> None:
    wire = ready(api)
    assert code(wire.initialize(9)) == -32600
    assert wire.call(1, text="x") == []
    assert wire.closed is None


@feature
def test_another_api_version_is_refused_for_good(api: str) -> None:
    wire = Wire(extension(api))
    answer = wire.initialize(api_version="9.9")
    assert code(answer) == -32000
    assert "9.9" in answer["error"]["message"]
    assert wire.closed is not None
    assert not wire.closed.orderly
    assert wire.call(1, text="x") == []


@feature
@pytest.mark.parametrize("change", ["workspace", "extension", "contributes", "host", "api_version"])
def test_an_initialize_that_breaks_its_model_is_refused_for_good(api: str, change: str) -> None:
    wire = Wire(extension(api))
    answer = wire.initialize(**{change: None})
    assert code(answer) == -32602
    assert change in answer["error"]["message"]
    assert wire.closed is not None


@feature
def test_a_host_without_state_is_welcome(api: str) -> None:
    wire = Wire(extension(api))
    assert "result" in wire.initialize(host={})


@negotiating
def test_the_selection(api: str) -> None:
    offer = {
        "version": api,
        "required_features": ["content_parts", "request_cancellation"],
        "optional_features": ["request_progress", "not_invented_yet", "artifacts"],
        "limits": {"max_concurrent_requests": 7},
    }
    for more in ((), ("flag_values",)):
        answer = Wire(extension(api)).initialize(protocol=offer, **{name: [] for name in more})
        assert answer["result"]["protocol"] == {
            "version": api,
            "features": ["content_parts", "request_cancellation", "request_progress"],
            "limits": {"max_concurrent_requests": 7},
        }
    answer = Wire(extension(api, concurrency=3)).initialize(protocol=offer)
    assert answer["result"]["protocol"]["limits"]["max_concurrent_requests"] == 3
    answer = Wire(extension(api, concurrency=9)).initialize(protocol=offer)
    assert answer["result"]["protocol"]["limits"]["max_concurrent_requests"] == 7


@negotiating
def test_a_required_feature_that_is_not_supported_is_named(api: str) -> None:
    wire = Wire(extension(api))
    offer = wire.offer()["protocol"]
    assert isinstance(offer, dict)
    answer = wire.initialize(protocol={**offer, "required_features": ["request_cancellation", "artifacts", "magic"]})
    assert code(answer) == -32000
    assert answer["error"]["data"] == {"unsupported_features": ["magic"]}
    assert wire.closed is not None


@negotiating
def test_a_protocol_of_another_version_is_refused(api: str) -> None:
    wire = Wire(extension(api))
    offer = wire.offer()["protocol"]
    assert isinstance(offer, dict)
    assert code(wire.initialize(protocol={**offer, "version": "0.9"})) == -32602


def test_api_01_negotiates_nothing() -> None:
    wire = Wire(extension("0.1"))
    answer = wire.initialize()
    assert set(answer["result"]) == {"api_version", "tools", "commands"}
    wire = Wire(extension("0.1"))
    assert code(wire.initialize(protocol={})) == -32602


@negotiating
def test_a_catalog_revision_needs_its_feature(api: str) -> None:
    wire = ready(api)
    params = {**wire.side.call_params("echo", {"text": "x"}), "catalog_revision": 0}
    (answer,) = wire.request(1, "tool/call", params)
    assert code(answer) == -32602
    assert "dynamic_tools" in answer["error"]["message"]


@negotiating
def test_an_owner_may_be_left_out(api: str) -> None:
    wire = ready(api)
    params = wire.side.call_params("echo", {"text": "x"})
    context = params["context"]
    assert isinstance(context, dict)
    del context["resource_owner"]
    context["host"] = {}
    assert wire.request(1, "tool/call", params) == []
    assert wire.started(1).invocation.context == context


@feature
@pytest.mark.parametrize("name", ["", "no such", "-"])
def test_a_name_that_no_tool_can_have_is_an_unknown_tool(api: str, name: str) -> None:
    wire = ready(api)
    params = {**wire.side.call_params("echo", {"text": "x"}), "name": name}
    (answer,) = wire.request(1, "tool/call", params)
    assert code(answer) == -32601


@feature
def test_shutdown_without_parameters_is_shutdown(api: str) -> None:
    (answer,) = ready(api).say({"jsonrpc": "2.0", "id": 1, "method": "shutdown"})
    assert answer["result"] == {}


@feature
def test_catalog_and_manifest_are_compared(api: str) -> None:
    wire = Wire(extension(api))
    contributes = wire.offer()["contributes"]
    assert isinstance(contributes, dict)
    assert "result" in wire.initialize(contributes={**contributes, "tools": ["echo", "ghost"]})
    assert any("'ghost'" in remark for remark in wire.remarks)
    assert api == "0.1" or any("'measure'" in remark for remark in wire.remarks)


@negotiating
@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("structured", [[[]]] * 16_384, "values"),
        ("structured", "x" * 262_143, "at most 262144 bytes"),
        ("metadata", {"k" * 257: 1}, "256 bytes"),
        ("metadata", {"k": [0] * 16_384}, "values"),
        ("metadata", {"k": "x" * 65_536}, "at most 65536 bytes"),
    ],
)
def test_the_bounds_of_results(api: str, field: str, value: Any, reason: str) -> None:
    ext = Extension(api=api)
    ext.tool("Anything", output={})(anything)
    wire = Wire(ext)
    wire.initialize()
    wire.call(1, "anything")
    given: dict[str, Any] = {"structured": 1, field: value}
    with pytest.raises(LocalProtocolError, match=reason):
        wire.connection.succeed_tool(wire.started(1), ToolResult("", **given))


@negotiating
def test_the_deepest_result(api: str) -> None:
    ext = Extension(api=api)
    ext.tool("Anything", output={})(anything)
    wire = Wire(ext)
    wire.initialize()
    value: Any = []
    for _ in range(31):
        value = [value]
    wire.call(1, "anything")
    with pytest.raises(LocalProtocolError, match="33 levels"):
        wire.connection.succeed_tool(wire.started(1), ToolResult("", structured=[value]))
    assert wire.connection.succeed_tool(wire.started(1), ToolResult("", structured=value, metadata={"k": value[0]}))


def anything() -> ToolResult:
    return ToolResult("")


def test_the_host_side_names_the_error() -> None:
    with TestHost(extension("0.4")) as host, pytest.raises(CallFailed) as caught:
        host.call("nowhere")
    assert (caught.value.name, caught.value.code) == ("unknown_method", -32601)


@feature
@pytest.mark.parametrize("text", [b'"\\ud800"', b'{"a":1,"a":2}', b'["\\udfff"]'])
def test_a_request_with_a_text_or_member_that_is_not_strict_is_answered_under_its_id(api: str, text: bytes) -> None:
    wire = ready(api)
    (answer,) = wire.bytes(b'{"jsonrpc":"2.0","id":7,"method":"tool/call","params":{"name":%b}}\n' % text)
    assert (answer["id"], code(answer)) == (7, -32602)
    assert "/name" in answer["error"]["message"]
    assert wire.bytes(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%b}}\n' % text) == []
    (answer,) = wire.bytes(b'{"jsonrpc":"2.0","id":7,"id":8,"method":"tool/call","params":{}}\n')
    assert (answer["id"], code(answer)) == (None, -32700)


@negotiating
@pytest.mark.parametrize("body", [b'"result":"\\ud800"', b'"result":{"a":1,"a":2}', b'"error":{"message":"\\ud800"}'])
def test_a_response_that_is_not_strict_settles_its_request(api: str, body: bytes) -> None:
    wire = ready(api)
    child = wire.connection.ask(wire.connection.dialect.methods["composer/set"], {}, None)
    wire.heard()
    wire.bytes(b'{"jsonrpc":"2.0","id":"%b",%b}\n' % (child.id.encode(), body))
    assert (child.ending, child.value) == ("failed", None)


@feature
@pytest.mark.parametrize("params", [None, [], [1], "text", 1, True])
def test_params_that_are_no_object_are_an_invalid_request(api: str, params: object) -> None:
    wire = ready(api)
    (answer,) = wire.request(1, "tool/call", params)
    assert (answer["id"], code(answer)) == (1, -32600)
    assert wire.notify("$/cancelRequest", params) == []


@feature
def test_a_tool_name_over_its_bound_is_invalid(api: str) -> None:
    (answer,) = ready(api).call(1, "x" * 129)
    assert code(answer) == -32602


@feature
@pytest.mark.parametrize("member", ["value", "nothing_of_the_kind"])
def test_a_hook_answers_with_its_own_members_alone(api: str, member: str) -> None:
    ext = Extension(api=api)

    @ext.hook("before_prompt")
    def before(payload: dict[str, object]) -> dict[str, object]:
        return {member: {}}

    with TestHost(ext) as host:
        with pytest.raises(CallFailed) as failed:
            host.hook("before_prompt", {"prompt": "x"})
        assert failed.value.code == -32603
        assert f"/{member}" in "".join(host.log)
