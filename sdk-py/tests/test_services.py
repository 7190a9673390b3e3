"""Requests and notifications of an extension: refused here, tied to their parent, answered, cancelled, late."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from octet_extension import (
    Call,
    CallCancelled,
    CallFailed,
    CommandCall,
    Extension,
    HostError,
    InvalidParams,
    LocalProtocolError,
    MalformedResult,
    NoParent,
    NotNegotiated,
    Scope,
    Session,
)
from octet_extension._connection import Connection
from octet_extension._generated import canonical_wire, feature_wire
from octet_extension._generated.services import METHODS
from octet_extension.api_v04 import EditorCheckpoint
from octet_extension.testing import PendingCall, TestHost

PATIENCE = 60.0
OWNER = {"session_id": "test-session", "extension_instance_id": "test-instance", "process_generation": 1}


def using(api: str = "0.4", uses: Any = "all") -> Extension:
    """An extension whose tools do what a test puts into `work`."""
    ext = Extension(api=api, uses=uses)
    ext.work = {}  # type: ignore[attr-defined]

    @ext.tool("Does what the test says")
    def do(call: Call, what: str) -> str:
        return str(ext.work[what](call))  # type: ignore[attr-defined]

    return ext


def run(
    work: Callable[[Call], object], *, api: str = "0.4", uses: Any = "all", **setting: Any
) -> tuple[TestHost, BaseException | object]:
    """Runs work inside a tool call and returns the host, and what came of it."""
    ext = using(api, uses)
    found: list[BaseException | object] = []

    def catching(call: Call) -> str:
        try:
            found.append(work(call))
        except Exception as fault:  # noqa: BLE001 - it is what the test looks at
            found.append(fault)
        return "done"

    ext.work["x"] = catching  # type: ignore[attr-defined]
    with TestHost(ext, **setting) as host:
        host.call("do", what="x")
    return host, found[0]


def test_a_service_is_typed_all_the_way() -> None:
    services = {"composer.get": lambda params: {"text": f"of {params['parent_request_id']}"}}
    host, text = run(lambda call: call.services.composer.get().text, services=services)
    assert text == "of 2"
    assert [(sent.service, sent.method) for sent in host.sent] == [("composer.get", "composer/get")]
    assert host.requests[0].id == "c-1"


def test_a_result_without_members_says_nothing_and_invoke_says_so() -> None:
    def both(call: Call) -> object:
        nothing = call.services.session.set_name("a")  # type: ignore[func-returns-value]
        return nothing, call.invoke("session.set_name", {"name": "b"})

    host, result = run(both)
    assert result == (None, {})
    assert [sent.params["name"] for sent in host.sent] == ["a", "b"]


def test_models_travel_inside_arguments() -> None:
    checkpoint = EditorCheckpoint(surface_id="s", mount_id="m", input_revision=0, checkpoint_revision=1)
    answer = {"composer.set": lambda params: {"input_revision": 0, "checkpoint_revision": 1}}
    host, _ = run(lambda call: call.services.composer.set("a", editor_checkpoint=checkpoint), services=answer)
    assert host.sent[0].params["editor_checkpoint"] == checkpoint.to_json()


@pytest.mark.parametrize("api", ["0.1", "0.2", "0.3", "0.4"])
@pytest.mark.parametrize("service", sorted(METHODS))
def test_what_is_not_there_is_refused_by_name(api: str, service: str) -> None:
    rows = [*feature_wire.METHODS.values(), *canonical_wire.METHODS.values()]
    versions = {version for row in rows if row.service == service for version in row.versions}
    declared = {"presentation": False, "notifications": False, "confirmations": False}
    host, fault = run(lambda call: call.invoke(service), api=api, uses=(), features=(), **declared)
    if api in versions and service == "input.ask":  # the base of 0.2 and 0.4
        assert isinstance(fault, InvalidParams)
    elif api in versions and service in {"context.contribute", "status.contribute"}:
        assert isinstance(fault, NotNegotiated)
        assert "contributes." in str(fault)
    else:
        assert isinstance(fault, NotNegotiated), fault
        assert fault.method in {row.name for row in rows if row.service == service}
    assert host.sent == []


def test_a_feature_is_only_there_when_both_want_it() -> None:
    _, fault = run(lambda call: call.services.composer.get(), uses=())
    assert isinstance(fault, NotNegotiated)
    assert "'composer'" in str(fault)
    assert "uses" in str(fault)
    _, fault = run(lambda call: call.services.composer.get(), features=())
    assert isinstance(fault, NotNegotiated)


def test_arguments_are_judged_before_anything_is_sent() -> None:
    host, fault = run(lambda call: call.services.composer.set("\x1b"))
    assert isinstance(fault, InvalidParams)
    assert (fault.pointer, fault.violation) == ("/text", "pattern")
    host, fault = run(lambda call: call.invoke("composer.set", {}))
    assert isinstance(fault, InvalidParams)
    assert (fault.pointer, fault.violation) == ("/text", "missing")
    assert host.sent == []


def refusing(code: str, message: str, data: object = None) -> Callable[[dict[str, object]], object]:
    def refuse(params: dict[str, object]) -> object:
        raise HostError(code, 0, message, data)

    return refuse


def test_a_refusal_has_code_token_and_data() -> None:
    services = {"composer.get": refusing("not_foreground_owner", "not_foreground_owner for now", {"why": 1})}
    _, fault = run(lambda call: call.services.composer.get(), services=services)
    assert isinstance(fault, HostError)
    assert (fault.code, fault.token, fault.data) == (-32002, "not_foreground_owner", {"why": 1})
    _, fault = run(
        lambda call: call.services.composer.get(), services={"composer.get": refusing("request_cancelled", "")}
    )
    assert isinstance(fault, CallCancelled)


@pytest.mark.parametrize(
    ("answer", "pointer", "violation"),
    [({"text": 1}, "/text", "type"), ({}, "/text", "missing"), ([], "", "not_object")],
)
def test_a_wrong_result_is_the_fault_of_the_host(answer: object, pointer: str, violation: str) -> None:
    host, fault = run(lambda call: call.services.composer.get(), services={"composer.get": lambda params: answer})
    assert isinstance(fault, MalformedResult)
    assert (fault.pointer, fault.violation) == (pointer, violation)
    assert host.orderly


@pytest.mark.parametrize("body", [{}, {"result": {}, "error": {"code": 1, "message": ""}}, {"error": 5}])
@pytest.mark.parametrize("api", ["0.2", "0.3", "0.4"])
def test_an_answer_that_is_none_frees_who_waits(api: str, body: dict[str, object]) -> None:
    ext = using(api)
    service = "session.create" if api == "0.3" else "composer.get"
    ext.work["x"] = lambda call: call.invoke(service)  # type: ignore[attr-defined]
    with TestHost(ext) as host:
        host.hold(service)
        pending = host.begin("do", what="x")
        request = host.wait_request(service)
        host.send(host.side.spell({"jsonrpc": "2.0", "id": request.id, **body}))
        result = pending.result()
        assert result.is_error
        assert "MalformedResult" in result.text


# --- what a message belongs to


def wide(standing: str, service: str, arguments: Mapping[str, object], **setting: Any) -> tuple[TestHost, object]:
    """Sends for a service from where a test wants it: a live call, an answered one, a command, the session."""
    ext = Extension(api="0.4", uses=setting.pop("uses", "all"))
    found: list[object] = []
    done = threading.Event()

    def send(scope: Scope | Session) -> None:
        try:
            found.append(scope.invoke(service, arguments))
        except Exception as fault:  # noqa: BLE001 - it is what the test looks at
            found.append(fault)
        done.set()

    @ext.tool("Sends")
    def tool(call: Call) -> str:
        send(call) if standing.endswith("live") else call.after(send)
        return ""

    @ext.command("Sends")
    def command(call: CommandCall, arguments: list[str]) -> str:
        send(call)
        return ""

    if standing == "session":
        ext.on_ready(send)
    setting.setdefault("services", {})
    with TestHost(ext, **setting) as host:
        if standing.startswith("ownerless"):
            host.side.owner = None
        if standing == "command":
            host.command("command")
        elif standing != "session":
            host.call("tool")
        assert done.wait(PATIENCE)
    return host, found[0]


PARENT = {"parent_request_id": 2}
BOTH = {"parent_request_id": 2, "resource_owner": OWNER}
SPAWN = {"target": "a", "message": "m"}
SNAPSHOT = {"snapshot": {"revision": 0}}
FRAME = {"surface_id": "s", "revision": 0, "columns": 1, "rows": 1, "lines": []}


@pytest.mark.parametrize(
    ("standing", "service", "arguments", "expected"),
    [
        ("live", "composer.set", {"text": ""}, PARENT),
        ("settled", "composer.set", {"text": ""}, BOTH),
        ("ownerless", "composer.set", {"text": ""}, NoParent),
        ("session", "composer.set", {"text": ""}, NoParent),
        ("command", "composer.set", {"text": ""}, PARENT),
        ("live", "composer.set_history", {"entries": []}, BOTH),
        ("ownerless-live", "composer.set_history", {"entries": []}, NoParent),
        ("live", "terminal.release", {}, PARENT),
        ("settled", "terminal.release", {}, NoParent),
        ("session", "terminal.release", {}, NoParent),
        ("live", "session.compact", {}, NoParent),
        ("settled", "session.compact", {}, BOTH),
        ("ownerless", "session.compact", {}, NoParent),
        ("session", "session.compact", {}, NoParent),
        ("live", "composition.store", {"set": {}, "delete": []}, PARENT),
        ("command", "composition.store", {"set": {}, "delete": []}, NoParent),
        ("settled", "composition.store", {"set": {}, "delete": []}, NoParent),
        ("live", "presentation.update", SNAPSHOT, PARENT),
        ("settled", "presentation.update", SNAPSHOT, {"resource_owner": OWNER}),
        ("ownerless", "presentation.update", SNAPSHOT, {}),
        ("session", "presentation.update", SNAPSHOT, {}),
        ("live", "ui.frame", FRAME, {"resource_owner": OWNER}),
        ("settled", "ui.frame", FRAME, {"resource_owner": OWNER}),
        ("session", "ui.frame", FRAME, NoParent),
        ("live", "autocomplete.register", {"revision": 1}, {}),
        ("session", "autocomplete.register", {"revision": 1}, {}),
        ("live", "agents.message", SPAWN, BOTH),
        ("settled", "agents.message", SPAWN, BOTH),
        ("session", "shortcuts.register", {"id": "a", "key": "b", "description": "c"}, NoParent),
        ("live", "shortcuts.register", {"id": "a", "key": "b", "description": "c"}, NoParent),
    ],
)
def test_what_a_message_belongs_to(standing: str, service: str, arguments: dict[str, object], expected: Any) -> None:
    host, outcome = wide(standing, service, arguments)
    if expected is NoParent:
        assert isinstance(outcome, NoParent), outcome
        assert host.sent == []
        return
    (sent,) = host.sent
    assert {key: sent.params[key] for key in BOTH if key in sent.params} == expected


def test_agents_without_their_lifetime_feature_have_a_live_parent() -> None:
    host, _ = wide("live", "agents.message", SPAWN, uses=("agent_sessions",))
    assert "resource_owner" not in host.sent[0].params
    _, outcome = wide("settled", "agents.message", SPAWN, uses=("agent_sessions",))
    assert isinstance(outcome, NoParent)


def test_version_01_names_no_parent() -> None:
    answer = {"confirmations.ask": lambda params: {"confirmed": True}}
    asked = {"prompt": "?", "detail": None, "destructive": False, "default": False}
    host, result = run(lambda call: call.invoke("confirmations.ask", asked), api="0.1", services=answer)
    assert result == {"confirmed": True}
    assert host.sent[0].params == asked


def test_a_request_with_a_text_for_its_id_is_no_parent() -> None:
    ext = using()
    ext.work["x"] = lambda call: call.services.composer.get()  # type: ignore[attr-defined]
    with TestHost(ext) as host:
        host.start()
        pending = host._pending["text"] = PendingCall(host, "text")
        host.send(host.side.spell(host.side.request("text", "tool/call", host.side.call_params("do", {"what": "x"}))))
        assert "NoParent" in pending.result().text


# --- how it ends


def holding(api: str = "0.4", service: str = "composer.get") -> tuple[Extension, list[BaseException], threading.Event]:
    ext = using(api)
    faults: list[BaseException] = []
    over = threading.Event()

    def wait(call: Call) -> object:
        try:
            return call.invoke(service)
        except BaseException as fault:
            faults.append(fault)
            raise
        finally:
            over.set()

    ext.work["x"] = wait  # type: ignore[attr-defined]
    return ext, faults, over


@pytest.mark.parametrize(
    ("api", "service"), [("0.2", "composer.get"), ("0.4", "composer.get"), ("0.3", "session.create")]
)
def test_cancelling_the_parent_cancels_the_child_once(api: str, service: str) -> None:
    ext, faults, over = holding(api, service)
    with TestHost(ext) as host:
        host.hold(service)
        pending = host.begin("do", what="x")
        request = host.wait_request(service)
        pending.cancel("enough")
        with pytest.raises(CallFailed, match="cancelled"):
            pending.result()
        assert over.wait(PATIENCE)
        assert isinstance(faults[0], CallCancelled)
        assert request.cancelled == "enough"
        frames = [frame for who, frame in host.transcript if who == "extension"]
        assert b"$/cancelRequest" in frames[-2]
        assert b"-32800" in frames[-1]
        request.cancel("parent settled")
        request.refuse("request_cancelled")  # late, and absorbed
        assert host.call("do", what="nothing").is_error


def test_the_host_cancels_a_child() -> None:
    ext, faults, _ = holding()
    with TestHost(ext) as host:
        host.hold("composer.get")
        pending = host.begin("do", what="x")
        request = host.wait_request("composer.get")
        request.cancel("no")
        assert "CallCancelled" not in pending.result().text
        assert isinstance(faults[0], CallCancelled)
        assert request.cancelled is None


def test_an_answered_parent_leaves_its_children_behind() -> None:
    ext = using()
    over = threading.Event()
    faults: list[BaseException] = []

    def leave(call: Call) -> str:
        def ask() -> None:
            try:
                call.services.composer.get()
            except BaseException as fault:  # noqa: BLE001 - it is what the test looks at
                faults.append(fault)
            over.set()

        threading.Thread(target=ask, daemon=True).start()
        host.wait_request("composer.get")
        return "gone"

    ext.work["x"] = leave  # type: ignore[attr-defined]
    with TestHost(ext) as host:
        host.hold("composer.get")
        assert host.call("do", what="x").text == "gone"
        assert over.wait(PATIENCE)
        assert isinstance(faults[0], CallCancelled)
        host.wait_request("composer.get").reply({"text": "late"})
        assert any("late" in line for line in host.log) or host.call("do", what="nothing").is_error
        assert host.requests[0].cancelled is None


@pytest.mark.parametrize("end", ["shutdown", "eof"])
def test_the_end_of_the_session_frees_who_waits(end: str) -> None:
    ext, faults, over = holding()
    host = TestHost(ext)
    host.start()
    host.hold("composer.get")
    host.begin("do", what="x")
    request = host.wait_request("composer.get")
    if end == "eof":
        host.end_input()
        host.wait_end()
    host.close()
    assert over.wait(PATIENCE)
    assert isinstance(faults[0], CallCancelled)
    assert request.cancelled is None
    assert host.orderly


def test_the_bounds_of_requests() -> None:
    bound = feature_wire.MAX_CHILD_REQUESTS
    connection = ready_connection()
    row = feature_wire.METHODS["ui/autocomplete/register"]
    children = [connection.ask(row, {"revision": 1}, None) for _ in range(bound)]
    assert children[-1].id == f"c-{bound}"
    with pytest.raises(LocalProtocolError, match=str(bound)):
        connection.ask(row, {"revision": 1}, None)
    connection.give_up(children[0], "enough")
    assert connection.ask(row, {"revision": 1}, None).id == f"c-{bound + 1}"


def test_ids_run_out() -> None:
    connection = ready_connection()
    connection._children._issued = feature_wire.MAX_CHILD_IDS - 1
    row = feature_wire.METHODS["ui/autocomplete/register"]
    last = connection.ask(row, {"revision": 1}, None)
    connection.give_up(last, "enough")
    with pytest.raises(LocalProtocolError, match=str(feature_wire.MAX_CHILD_IDS)):
        connection.ask(row, {"revision": 1}, None)


def ready_connection() -> Connection:
    ext = using()
    connection = ext.connect()
    side = TestHost(ext).side
    connection.receive(side.spell(side.request(1, "initialize", side.initialize_params())) + b"\n")
    while connection.next_event() is not None:
        pass
    connection.take_output()
    return connection


def test_a_message_over_the_bound_is_not_sent() -> None:
    data = {"entry_type": "t", "data": "x" * 60_000}
    host, result = run(
        lambda call: call.invoke("session.append_entry", data),
        services={"session.append_entry": lambda p: {"entry_id": "e"}},
    )
    assert result == {"entry_id": "e"}
    host, fault = run(lambda call: call.notify("x" * (1 << 20)))
    assert isinstance(fault, LocalProtocolError)
    assert "frame" in str(fault)
    assert host.sent == []


@pytest.mark.parametrize("request_id", ["c-0", "c-01", "c-99", "c-99999999999", "x", 77, "", None])
def test_an_answer_to_nothing_is_ignored_on_the_feature_wire(request_id: object) -> None:
    ext = using()
    with TestHost(ext) as host:
        host.send(host.side.spell({"jsonrpc": "2.0", "id": request_id, "result": {}}))
        assert host.call("do", what="nothing").is_error


def test_an_answer_to_nothing_ends_the_canonical_wire() -> None:
    host = TestHost(using("0.3"))
    host.start()
    host.send(host.side.spell({"jsonrpc": "2.0", "id": "c-1", "result": {}}))
    assert host.wait_end() is False


def test_a_coroutine_must_not_block_the_others() -> None:
    ext = Extension(api="0.4", uses=("composer",))

    @ext.tool("Blocks")
    async def blocks(call: Call) -> str:
        return call.services.composer.get().text

    @ext.tool("Awaits")
    async def awaits(call: Call) -> str:
        return (await asyncio.to_thread(call.services.composer.get)).text

    with TestHost(ext, services={"composer.get": lambda params: {"text": "hi"}}) as host:
        with pytest.raises(CallFailed, match="to_thread"):
            host.call("blocks")
        assert host.call("awaits").text == "hi"


# --- after, ready, memory


def test_after_runs_behind_the_answer_and_not_without_one() -> None:
    ext = Extension(api="0.4")
    ran: list[str] = []
    open_ = threading.Event()
    running = threading.Event()

    @ext.tool("Goes on")
    def goes_on(call: Call, how: str) -> str:
        call.after(lambda scope: ran.append(f"{how} {scope.cancelled}"))
        call.after(lambda scope: scope.notify(how))
        running.set()
        if how == "raise":
            raise ValueError(how)
        if how == "wait":
            open_.wait(PATIENCE)
        return how

    with TestHost(ext) as host:
        host.call("goes_on", how="return")
        host.wait_sent("notifications.show")
        frames = [frame for who, frame in host.transcript if who == "extension"]
        assert b"result" in frames[-2]
        host.call("goes_on", how="raise")  # an answer too
        host.wait_sent("notifications.show", 2)
        running.clear()
        pending = host.begin("goes_on", how="wait")
        assert running.wait(PATIENCE)
        pending.cancel()
        with pytest.raises(CallFailed):
            pending.result()
        open_.set()
    assert ran == ["return False", "raise False"]


def test_after_needs_an_answer_of_the_handler() -> None:
    ext = Extension(api="0.4")
    ran: list[str] = []

    @ext.command("Goes on")
    def goes_on(call: CommandCall, arguments: list[str]) -> str:
        call.after(lambda scope: ran.append(arguments[0]))
        if arguments[0] == "fail":
            raise ValueError("no answer")
        call.after(lambda scope: scope.notify("over"))
        return ""

    with TestHost(ext) as host:
        with pytest.raises(CallFailed):
            host.command("goes_on", "fail")
        host.command("goes_on", "well")
        host.wait_sent("notifications.show")
    assert ran == ["well"]


def test_after_a_session_has_ended_its_token_is_set() -> None:
    ext = Extension(api="0.4")
    waiting, ended = threading.Event(), threading.Event()

    @ext.tool("Goes on")
    def goes_on(call: Call) -> str:
        def work(scope: Scope) -> None:
            waiting.set()
            scope.wait_cancelled(PATIENCE)
            if scope.cancelled:
                ended.set()

        call.after(work)
        return ""

    with TestHost(ext) as host:
        host.call("goes_on")
        assert waiting.wait(PATIENCE)
    assert ended.wait(PATIENCE)


def test_what_after_raises_is_for_people() -> None:
    ext = Extension(api="0.4")

    @ext.tool("Goes on")
    def goes_on(call: Call) -> str:
        def work(scope: Scope) -> None:
            raise ValueError("behind the scenes")

        call.after(work)
        call.after(lambda scope: scope.notify("the next one runs"))
        return ""

    with TestHost(ext) as host:
        host.call("goes_on")
        host.wait_sent("notifications.show")
    assert any("behind the scenes" in line for line in host.log)


def test_the_session_is_handed_out_once_it_is_open() -> None:
    ext = Extension(api="0.4", uses=("composer",))
    seen: list[object] = []
    done = threading.Event()

    @ext.on_ready
    def ready(session: Session) -> None:
        seen.extend([session.api, "composer" in session.features, session.flags["deep"], session.workspace])
        seen.extend([session.concurrency, session.host["model"], session.dynamic_tools.revision])
        session.notify("ready", level="success", title="\x1b[1mt")
        done.set()

    with TestHost(ext, flags={"deep": True}, concurrency=3) as host:
        assert done.wait(PATIENCE)
    assert seen == ["0.4", True, True, "/workspace", 3, None, 0]
    assert host.sent[0].params == {"level": "success", "message": "ready", "title": "t"}


def test_memory_belongs_to_the_whole_owner() -> None:
    ext = Extension(api="0.4")

    @ext.tool("Counts")
    def count(call: Call, name: str = "") -> str:
        box = call.memory(list[int], name)
        box.append(1)
        return str(len(box))

    @ext.events.session_settled
    def settled(params: Any) -> None:
        """The extension hears of it, so its memory goes."""

    with TestHost(ext) as host:
        assert [host.call("count").text for _ in range(3)] == ["1", "2", "3"]
        assert host.call("count", name="other").text == "1"
        host.side.owner = {**OWNER, "session_id": "another"}
        assert host.call("count").text == "1"
        host.side.owner = {**OWNER, "process_generation": 2}
        assert host.call("count").text == "1"
        host.side.owner = dict(OWNER)
        assert host.call("count").text == "1", "the older generation was dropped"
        host.emit(
            "session_settled",
            {"session_id": "test-host-session", "outcome": "completed", "duration_ms": 1, "reason": None},
        )
        assert host.call("count").text == "1"
        host.side.owner = None
        assert [host.call("count").text for _ in range(2)] == ["1", "2"]
