"""Commands, hooks, contributions, events and keys: what handlers get, what becomes of what they return."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from octet_extension import (
    CallFailed,
    CommandCall,
    Extension,
    HookCall,
    HostError,
    LocalProtocolError,
    Scope,
    Session,
    ToolError,
)
from octet_extension._generated import canonical_wire, feature_wire
from octet_extension.api_v03 import ProviderStreamRequest, SessionStart
from octet_extension.api_v04 import (
    BeforePromptHookResult,
    BeforePromptPayload,
    CommandExecuteResult,
    ContextContribution,
    DispositionDeny,
    ResourceDisposeParams,
    StatusContribution,
    TurnStartedParams,
    UiAutocompleteCompleteParams,
)
from octet_extension.testing import TestHost

PATIENCE = 60.0


def failing(host: TestHost, act: Any, code: int) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        act()
    assert caught.value.code == code
    return caught.value


@pytest.mark.parametrize("api", ["0.1", "0.2", "0.4"])
def test_commands(api: str) -> None:
    ext = Extension(api=api)

    @ext.command("Says it", usage="/say TEXT")
    def say(call: CommandCall, arguments: list[str]) -> str:
        return f"{call.name} {' '.join(arguments)}"

    @ext.command(name="full", description="Says all of it")
    def all_of_it(arguments: Any, context: Any) -> dict[str, object]:
        return {"text": context["workspace"], "context": [{"label": "l", "content": "c"}]}

    @ext.command("As a model")
    async def model(arguments: list[str]) -> CommandExecuteResult:
        return CommandExecuteResult(text="m")

    @ext.command("Nothing")
    def nothing(arguments: list[str]) -> None:
        """Shows nothing."""

    @ext.command("Fails")
    def fails(arguments: list[str]) -> str:
        raise ValueError("a secret of the code")

    @ext.command("Refuses")
    def refuses(arguments: list[str]) -> str:
        raise ToolError("try again later")

    @ext.command("Wrong")
    def wrong(arguments: list[str]) -> Any:
        return {"text": 3}

    @ext.command("Strange")
    def strange(arguments: list[str]) -> Any:
        return 3

    with TestHost(ext) as host:
        assert host.command("say", "a", "b") == {"text": "say a b"}
        assert host.command("full")["text"] == "/workspace"
        assert host.command("model") == {"text": "m"}
        assert host.command("nothing") == {"text": ""}
        assert "secret" not in failing(host, lambda: host.command("fails"), -32603).message
        assert any("a secret of the code" in line for line in host.log)
        assert "try again later" in failing(host, lambda: host.command("refuses"), -32603).message
        failing(host, lambda: host.command("wrong"), -32603)
        failing(host, lambda: host.command("strange"), -32603)
        assert "unknown command: other" in failing(host, lambda: host.command("other"), -32601).message
    assert any("/text" in line for line in host.log)


def test_commands_of_the_catalog() -> None:
    ext = Extension(api="0.4")
    ext.command("Says it", name="say", usage="/say")(lambda arguments: "")
    with TestHost(ext) as host:
        opened = next(frame for who, frame in host.transcript if who == "extension")
        assert b'"commands":[{"description":"Says it","name":"say","usage":"/say"}]' in opened
    ext.runtime_commands = True
    with TestHost(ext, contributes={"commands": ["other"]}) as host:
        assert "runtime_commands" in host.side.features
        assert host.command("say") == {"text": ""}


def test_hooks_typed_and_plain() -> None:
    ext = Extension(api="0.4")
    seen: list[object] = []

    @ext.hooks.before_prompt
    def before_prompt(call: HookCall, payload: BeforePromptPayload) -> BeforePromptHookResult:
        seen.append((call.hook, type(payload).__name__))
        return BeforePromptHookResult(disposition=DispositionDeny(reason=payload.prompt))

    @ext.hook("before_tool_call")
    def before_tool_call(payload, context):  # type: ignore[no-untyped-def]
        seen.append(context["resource_owner"]["session_id"])
        return {"disposition": {"action": "deny", "reason": payload["name"]}}

    @ext.hook("after_response")
    async def after_response(payload: dict[str, object]) -> None:
        seen.append(payload)

    @ext.hooks.after_tool_call
    def after_tool_call(payload: Any) -> Any:
        return {"disposition": {"action": "perhaps"}}

    with TestHost(ext) as host:
        answer = host.hook("before_prompt", {"prompt": "why"})
        assert answer == {"disposition": {"action": "deny", "reason": "why"}}
        assert host.hook("before_tool_call", {"name": "n", "arguments": {}})["disposition"] == {
            "action": "deny",
            "reason": "n",
        }
        assert host.hook("after_response", {"response": "r"}) == {}
        failing(
            host,
            lambda: host.hook("after_tool_call", {"name": "n", "arguments": {}, "output": "", "is_error": False}),
            -32603,
        )
        assert "/payload/prompt" in failing(host, lambda: host.hook("before_prompt", {}), -32602).message
        assert "provider_retry" in failing(host, lambda: host.hook("provider_retry", {}), -32602).message
    assert seen == [("before_prompt", "BeforePromptPayload"), "test-session", {"response": "r"}]
    assert any("/disposition/action" in line for line in host.log)


def test_the_answer_of_a_hook_is_held_to_that_hook() -> None:
    ext = Extension(api="0.4")
    ext.hook("model_turn_start")(lambda payload: {"session_operation": {"action": "cancel"}})
    payload = {"kind": "model_turn_start", "run_id": "run:1", "turn_index": 0, "timestamp_ms": 1}
    with TestHost(ext) as host:
        assert "session_entries" in host.side.features
        failing(host, lambda: host.hook("model_turn_start", payload), -32603)


def test_what_the_host_collects() -> None:
    ext = Extension(api="0.4")

    @ext.context
    def context(params: Mapping[str, object]) -> list[object]:
        return [ContextContribution(label="a", content=str(params["prompt"])), {"label": "b", "content": "c"}]

    @ext.status("status")
    def status() -> str:
        return "ready"

    @ext.status("header")
    def header(params: Mapping[str, object]) -> StatusContribution:
        return StatusContribution(surface="header", text="head")

    @ext.menu
    def menu() -> list[object]:
        return [{"id": "i", "label": "I", "command": "c"}]

    @ext.command("c")
    def c(arguments: list[str]) -> str:
        return ""

    @ext.renderer("t")
    def render(params: Mapping[str, object]) -> str:
        return f"<{params['output']}>"

    with TestHost(ext) as host:
        assert host.collect_context("p") == [{"label": "a", "content": "p"}, {"label": "b", "content": "c"}]
        assert host.collect_status() == {"surface": "status", "text": "ready"}
        assert host.collect_status("header") == {"surface": "header", "text": "head"}
        assert host.collect_status("footer") is None
        assert host.collect_menu() == {"items": [{"id": "i", "label": "I", "command": "c"}]}
        assert host.render("t", {}, "out") == [{"text": "<out>"}]
        failing(host, lambda: host.render("other", {}, ""), -32601)


@pytest.mark.parametrize("missing", [{"context": False}, {"menu": False}, {"ui": []}, {"tool_renderers": []}])
def test_what_the_manifest_leaves_out_is_not_served(missing: dict[str, object]) -> None:
    ext = Extension(api="0.4")
    ext.context(lambda params: [])
    ext.menu(lambda params: [])
    ext.command("c", name="c")(lambda arguments: "")
    ext.status("status")(lambda params: "")
    ext.renderer("t")(lambda params: "")
    (key,) = missing
    with TestHost(ext, contributes=missing) as host:
        asks = {
            "context": host.collect_context,
            "menu": host.collect_menu,
            "ui": host.collect_status,
            "tool_renderers": lambda: host.render("t", {}, ""),
        }
        failing(host, asks[key], -32601)
        assert any(f"contributes.{key}" in line for line in host.log)


def test_typing_and_resources() -> None:
    ext = Extension(api="0.4", uses=("remote_ui",))
    freed: list[str] = []

    @ext.autocomplete
    def complete(params: UiAutocompleteCompleteParams) -> dict[str, object] | None:
        return (
            {"prefix": params.text, "items": [{"value": "v", "label": "l", "description": None}]}
            if params.text
            else None
        )

    @ext.intercept
    def intercept(params: Any) -> str:
        return "" if params.data == "q" else str(params.data)

    @ext.dispose
    def dispose(params: ResourceDisposeParams) -> None:
        freed.extend(resource.resource for resource in params.resources)

    with TestHost(ext) as host:
        assert host.complete("ab")["prefix"] == "ab"
        assert host.complete("") == {"prefix": "", "items": []}
        owner = dict(host.side.owner or {})
        assert host.ask("ui/terminal-input/intercept", {"data": "q", "resource_owner": owner}) == {"data": ""}
        resource = {"$resource": "r-1", "type": "page"}
        answer = host.ask("resource/dispose", {"resources": [resource], "reason": "retired"})
        assert answer == {"results": [{"resource": resource, "status": "completed"}]}
    assert freed == ["r-1"]


def test_edits_of_a_completion_need_their_feature() -> None:
    ext = Extension(api="0.4", uses=("autocomplete_edit_v1",))
    item = {"value": "v", "label": "l", "description": None, "replace_after_bytes": 0}
    ext.autocomplete(lambda params: {"prefix": "", "items": [item]})
    with TestHost(ext) as host:
        assert host.complete("a")["items"] == [item]
    with TestHost(ext, features=("autocomplete",)) as host:
        failing(host, lambda: host.complete("a"), -32603)
    assert any("replace_after_bytes" in line for line in host.log)


def test_resources_are_freed_without_a_function() -> None:
    ext = Extension(api="0.4", uses=("resource_refs_v1",))
    resource = {"$resource": "r-1", "type": "page"}
    with TestHost(ext) as host:
        answer = host.ask("resource/dispose", {"resources": [resource], "reason": "retired"})
        assert answer == {"results": [{"resource": resource, "status": "completed"}]}
    with TestHost(Extension(api="0.4")) as host:
        failing(host, lambda: host.ask("resource/dispose", {"resources": [], "reason": "retired"}), -32601)


def test_events_come_in_order_one_at_a_time() -> None:
    ext = Extension(api="0.4")
    seen: list[object] = []
    inside = threading.Lock()

    @ext.events.turn_started
    def started(session: Session, params: TurnStartedParams) -> None:
        assert inside.acquire(blocking=False)
        seen.append((session.api, params.turn_id))
        inside.release()
        if params.turn_id == "3":
            raise ValueError("of the third")

    @ext.events.turn_settled
    async def settled(params: Any) -> None:
        seen.append(params.outcome)

    @ext.on_lifecycle("tool/started")
    def tool(event):  # type: ignore[no-untyped-def]
        seen.append(event["tool_name"])

    @ext.tool("Looks")
    def look(call: Scope) -> str:
        call.catch_up()
        return str(len(seen))

    with TestHost(ext) as host:
        for number in range(50):
            host.emit("turn_started", {"session_id": "s", "run_id": "r", "turn_id": str(number)})
        host.emit(
            "turn_settled",
            {
                "session_id": "s",
                "run_id": "r",
                "turn_id": "t",
                "outcome": "completed",
                "duration_ms": 1,
                "reason": None,
            },
        )
        host.emit(
            "tool_started", {"session_id": "s", "run_id": "r", "turn_id": "t", "tool_call_id": "c", "tool_name": "n"}
        )
        host.emit("turn_started", {"session_id": 3})
        assert host.call("look").text == "52"
        opened = next(frame for who, frame in host.transcript if who == "extension")
        assert b'"lifecycle_events":["turn/started","turn/settled","tool/started"]' in opened
    assert seen == [*(("0.4", str(number)) for number in range(50)), "completed", "n"]
    assert any("of the third" in line for line in host.log)
    assert any("turn/started is malformed" in line for line in host.log)


def test_a_flood_of_events_is_bounded() -> None:
    ext = Extension(api="0.4")
    open_ = threading.Event()
    count = [0]

    @ext.events.turn_started
    def started(params: Any) -> None:
        open_.wait(PATIENCE)
        count[0] += 1

    @ext.tool("Answers")
    def answers() -> str:
        return "still here"

    with TestHost(ext) as host:
        host.start()
        row = feature_wire.METHOD_TURN_STARTED
        frame = host.side.spell(host.side.notification(row, {"session_id": "s", "run_id": "r", "turn_id": "t"}))
        host.send_bytes((frame + b"\n") * 6000)
        assert host.call("answers").text == "still here"
        open_.set()
    assert count[0] <= 4097
    assert sum("are dropped" in line for line in host.log) == 1


def test_what_nobody_agreed_to_is_dropped() -> None:
    ext = Extension(api="0.4")
    with TestHost(ext) as host:
        host.start()
        host.emit("turn_started", {"session_id": "s", "run_id": "r", "turn_id": "t"})
        host.send(host.side.spell(host.side.notification("no/such", {})))
        host.send(host.side.spell(host.side.notification("composer/set", {})))
        with pytest.raises(CallFailed):
            host.call("nothing")
    assert any("turn/started came and needs" in line for line in host.log)
    assert any("no/such" in line for line in host.log)
    assert any("composer/set" in line for line in host.log)


def test_keys_are_asked_for_before_the_session_opens() -> None:
    ext = Extension(api="0.4")
    pressed: list[str] = []

    @ext.shortcut("a", "ctrl+a", "The first")
    def first() -> None:
        pressed.append("a")

    @ext.shortcut("b", "ctrl+b", "The second")
    def second(session: Session) -> None:
        pressed.append(f"b {session.api}")

    @ext.tool("Looks")
    def look(call: Scope) -> str:
        call.catch_up()
        return ",".join(pressed)

    def admit(params: dict[str, object]) -> object:
        if params["id"] == "a":
            raise host_error
        return {}

    host_error = HostError("invalid_request", 0, "invalid_request taken", None)
    with TestHost(ext, services={"shortcuts.register": admit}) as host:
        frames = [frame for who, frame in host.transcript if who == "extension"]
        assert [b"shortcut/register" in frame for frame in frames] == [True, True, False]
        assert all(sent.params["parent_request_id"] == 1 for sent in host.sent)
        for name in ("a", "b", "c"):
            host.emit("shortcut_trigger", {"id": name})
        assert host.call("look").text == "b 0.4"
    assert any("refused the shortcut 'a'" in line for line in host.log)
    with TestHost(ext, features=()) as host:
        assert host.sent == []


def test_nothing_is_served_while_keys_are_asked_for() -> None:
    ext = Extension(api="0.4")
    ext.shortcut("a", "ctrl+a", "The first")(lambda: None)
    ext.tool("Answers", name="answers")(lambda: "")
    host = TestHost(ext)
    host.hold("shortcuts.register")
    host.launch()
    opening = host.request("initialize", host.side.initialize_params())
    request = host.wait_request("shortcuts.register")
    early = host.request("tool/call", host.side.call_params("answers", {}))
    failing(host, early.value, -32600)
    request.reply({})
    assert opening.value()
    host._opened = True
    host.side.install(opening.value())
    assert host.call("answers").text == ""
    host.close()


# --- API 0.3


def test_session_hooks() -> None:
    ext = Extension(api="0.3")
    seen: list[object] = []

    @ext.hooks.session_start
    def start(payload: SessionStart) -> None:
        seen.append(payload.binding.session_id)

    @ext.hook("session_end")
    def end(payload: dict[str, object]) -> dict[str, object]:
        seen.append(payload["reason"])
        return {"disposition": {"kind": "deny", "reason": "no"}}

    binding = {"session_id": "s", "extension_instance_id": "i", "process_generation": 1}
    with TestHost(ext) as host:
        assert host.side.features >= {"lifecycle_events"}
        assert host.hook("session_start", {"binding": binding}) == {"disposition": {"kind": "continue"}}
        ended = {"binding": binding, "outcome": "completed", "reason": "shutdown", "duration_ms": 1}
        assert host.hook("session_end", ended)["disposition"] == {"kind": "deny", "reason": "no"}
    assert seen == ["s", "shutdown"]
    with TestHost(ext, features=()) as host:
        failing(host, lambda: host.hook("session_start", {"binding": binding}), -32601)
    assert any("session_start" in line for line in host.log)


def streaming(**setting: Any) -> tuple[Extension, threading.Event, threading.Event]:
    ext = Extension(api="0.3")
    waiting, closed = threading.Event(), threading.Event()

    @ext.provider_stream
    def infer(call: Scope, request: ProviderStreamRequest) -> Any:
        if request.model_id == "refused":
            raise ToolError("no such model")
        if request.model_id == "broken":
            raise ValueError("before the first event")
        yield "started"
        if request.model_id == "late":
            raise ValueError("behind the first event")
        if request.model_id == "endless":
            waiting.set()
            call.wait_cancelled(PATIENCE)
            closed.set()
        yield "text_delta", {"text": request.model_id}
        if request.model_id != "short":
            yield "finished", {}
            yield "text_delta", {"text": "too late"}

    return ext, waiting, closed


def events(host: TestHost, count: int) -> list[tuple[object, object]]:
    host.wait_sent("provider_stream.event", count)
    return [(sent.params["sequence"], sent.params["kind"]) for sent in host.sent]


def asked(model: str) -> dict[str, object]:
    return {"stream_id": "st", "provider_id": "p", "model_id": model, "request": {}}


def test_a_stream_is_numbered_and_ends_once() -> None:
    ext, _, _ = streaming()
    with TestHost(ext) as host:
        assert host.ask("provider/stream", asked("m")) == {"stream_id": "st", "accepted": True}
        assert events(host, 3) == [(0, "started"), (1, "text_delta"), (2, "finished")]
        answer = next(at for at, (_, frame) in enumerate(host.transcript) if b'"accepted":true' in frame)
        first = next(at for at, (_, frame) in enumerate(host.transcript) if b'"method":"provider/event"' in frame)
        assert answer < first
    assert len(host.sent) == 3


@pytest.mark.parametrize(
    ("model", "expected"),
    [("late", [(0, "started"), (1, "error")]), ("short", [(0, "started"), (1, "text_delta"), (2, "error")])],
)
def test_a_stream_that_breaks_off_says_so(model: str, expected: list[tuple[object, object]]) -> None:
    ext, _, _ = streaming()
    with TestHost(ext) as host:
        host.ask("provider/stream", asked(model))
        assert events(host, len(expected)) == expected


def test_a_stream_may_be_refused() -> None:
    ext, _, _ = streaming()
    with TestHost(ext) as host:
        refused = {"stream_id": "st", "accepted": False, "reason": "no such model"}
        assert host.ask("provider/stream", asked("refused")) == refused
        failing(host, lambda: host.ask("provider/stream", asked("broken")), -32603)
    assert host.sent == []


def test_cancelling_a_stream_ends_it() -> None:
    ext, waiting, closed = streaming()
    with TestHost(ext) as host:
        host.ask("provider/stream", asked("endless"))
        assert waiting.wait(PATIENCE)
        host.emit("provider_cancel", {"stream_id": "st"})
        assert closed.wait(PATIENCE)
    assert [sent.params["kind"] for sent in host.sent] == ["started"]


# --- what cannot be registered


@pytest.mark.parametrize(
    ("api", "act", "reason"),
    [
        ("0.1", lambda ext: ext.hook("provider_retry")(lambda payload: None), "use one of 0.2, 0.4"),
        ("0.4", lambda ext: ext.hook("session_start")(lambda payload: None), "no hook 'session_start'"),
        ("0.3", lambda ext: ext.hook("before_prompt")(lambda payload: None), "no hook 'before_prompt'"),
        ("0.3", lambda ext: ext.command("c", name="c")(lambda arguments: ""), "0.3"),
        ("0.1", lambda ext: ext.menu(lambda params: []), "0.1"),
        ("0.2", lambda ext: ext.intercept(lambda params: ""), "0.2"),
        ("0.1", lambda ext: ext.shortcut("a", "b", "c")(lambda: None), "shortcuts"),
        ("0.2", lambda ext: ext.events.ui_key(lambda params: None), "use one of 0.4"),
        ("0.4", lambda ext: ext.events.bus_event(lambda params: None), "bus_event"),
        ("0.4", lambda ext: ext.command(name="c")(lambda arguments: ""), "description"),
        ("0.4", lambda ext: [ext.context(lambda params: []) for _ in range(2)], "already"),
        ("0.4", lambda ext: [ext.shortcut("a", "b", "c")(lambda: None) for _ in range(2)], "already"),
        ("0.4", lambda ext: ext.hook("before_prompt")(lambda a, b, c: None), "each once"),
        ("0.2", lambda ext: ext.tool("d", name="t", prompt_snippet="s")(lambda: ""), "prompt_snippet"),
        ("0.3", lambda ext: ext.tool("d", name="t", composition={})(lambda: ""), "composition"),
        ("0.4", lambda ext: ext.tool("d", name="t", composition={"mode": "off"})(lambda: ""), "composition"),
        ("0.4", lambda ext: Extension(api="0.4", uses=("magic",)), "'magic'"),
        ("0.2", lambda ext: Extension(api="0.2", uses=("remote_ui",)), "'remote_ui'"),
    ],
)
def test_what_cannot_be_registered_is_refused_at_once(api: str, act: Any, reason: str) -> None:
    with pytest.raises(LocalProtocolError, match=reason):
        act(Extension(api=api))


def test_members_of_tools_follow_the_features() -> None:
    ext = Extension(api="0.4")
    ext.tool(
        "d", name="t", prompt_snippet="s", prompt_guidelines=["g"], composition={"mode": "on", "inline_budget": 9}
    )(lambda: "")
    with TestHost(ext) as host:
        opened = next(frame for who, frame in host.transcript if who == "extension")
        assert b'"prompt_guidelines":["g"]' in opened
        assert b'"inline_budget":9' in opened
    with TestHost(ext, features=("tool_composition_v1",)) as host:
        opened = next(frame for who, frame in host.transcript if who == "extension")
        assert b"prompt_" not in opened
        assert b'"inline_budget":9' in opened
    assert any("prompt_snippet is left out" in line for line in host.log)


def test_every_feature_and_capability_is_served() -> None:
    for api in ("0.2", "0.4"):
        ext = Extension(api=api, uses="all")
        with TestHost(ext) as host:
            assert host.side.features == {row.name for row in feature_wire.FEATURES.values() if api in row.versions}
    with TestHost(Extension(api="0.3", uses="all")) as host:
        capabilities = {row.name for row in canonical_wire.CAPABILITIES.values() if row.offer != "unavailable"}
        assert host.side.features == capabilities - {"lifecycle_events"}


def test_a_feature_brings_what_it_needs_or_stays_away() -> None:
    ext = Extension(api="0.4", uses=("session_compaction_v1",))
    with TestHost(ext) as host:
        assert host.side.features >= {"session_compaction_v1", "session_control_v1"}
    with TestHost(ext, features=("session_compaction_v1",)) as host:
        assert "session_compaction_v1" not in host.side.features
