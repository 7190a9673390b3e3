"""An extension as people write it against the public interface of this name: started unchanged, as a process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from octet_extension import CallFailed, Extension, LocalProtocolError, cache_warming_decision
from octet_extension._runtime import FAREWELL_SECONDS
from octet_extension.api_v04 import SHUTDOWN_REPLY_MS
from octet_extension.testing import ProcessHost, ProgressStatus

SOURCE = """#!{python}
from octet_extension import Extension, current_cancellation, image_content, text_content, tool_result

ext = Extension({construction})

@ext.tool(name="hello", description="Return a local greeting")
def hello(args):
    ext.cancellation.raise_if_cancelled()
    return f"Hello {{args.get('name', 'world')}} from {{ext.request_id}}"

@ext.tool(name="context", description="Return the context", parameters={{"type": "object", "properties": {{}}}})
def context_tool(arguments, context):
    return {{"content": context["workspace"], "is_error": bool(arguments), "metadata": {{"seen": True}}}}

@ext.tool(
    name="parts",
    description="Return parts",
    output_schema={{"type": "object", "properties": {{"n": {{"type": "integer"}}}}, "required": ["n"]}},
)
def parts(args):
    token = current_cancellation()
    ext.progress(message="half", current=1, total=2, unit="parts")
    ext.progress({{"type": "status", "message": "all"}})
    assert not token.cancelled and not token.wait(0)
    picture = ext.publish_artifact(mime_type="image/png", data=b"12")
    return tool_result(text_content("a"), image_content(picture, "image/png", alt="b"), structured_content={{"n": 1}})

@ext.tool(name="ask", description="Ask")
def ask(args):
    ext.notify("Ready", level="success", title="t")
    sure = ext.confirm("Continue?", destructive=True)
    secret = ext.get_secret("key")
    answer = ext.request_input("Name:", secret=True)
    policy = ext.evaluate_policy({{"kind": "k", "operation": "o", "target": {{}}}})
    return f"{{sure}} {{secret}} {{answer}} {{policy['decision']}}"

@ext.tool(name="agents", description="Delegate")
def agents(args):
    child = ext.spawn_agent(
        task_name="look", message="m", idempotency_key="k", tools=["read"], max_depth=1, max_concurrent_children=2,
        max_turns=8, max_tokens=None, max_cost_microdollars=None, max_output_bytes=4096, timeout_ms=60000,
    )
    ext.send_agent_message(child["agent_id"], "m")
    ext.follow_up_agent(child["agent_id"], "m")
    ext.interrupt_agent(child["agent_id"])
    return f"{{ext.wait_agents(timeout_ms=1)['timed_out']}} {{len(ext.list_agents()['agents'])}} " + str(
        ext.list_agent_models(query="x", limit=3)["truncated"]
    )

@ext.tool(name="grow", description="Add a tool")
def grow(args):
    def added(args):
        return "added"
    first = ext.register_tool(name="added", description="d", parameters={{"type": "object"}}, handler=added)
    ext.register_tools([{{"name": "more", "description": "d", "handler": added}}])
    last = ext.unregister_tool("more")
    return f"{{first['revision']}} {{last['revision']}} {{ext.tool_catalog_revision}} {{'added' in last['tools']}}"

@ext.tool(name="show", description="Show")
def show(args):
    ext.publish_presentation({{"revision": 0, "status": {{"state": "active", "label": "ready"}}}})
    return f"{{'request_progress' in ext.negotiated_features}} {{ext.negotiated_concurrency}}"

@ext.command(name="checkpoint", description="Preview a checkpoint", usage="/checkpoint")
def checkpoint(arguments, context):
    return {{"text": " ".join(arguments)}}

@ext.command(name="short", description="Short")
def short(arguments):
    return "short"

@ext.hook("before_prompt")
def before_prompt(payload, context):
    return {{"disposition": {{"action": "continue"}}, "context": [{{"label": "hook", "content": payload["prompt"]}}]}}

@ext.hook("after_response")
def after_response(payload):
    return None

@ext.context
def context(params):
    return [{{"label": "example", "content": params["prompt"], "placement": "system_suffix"}}]

@ext.status("status")
def status(params):
    return {{"surface": params["surface"], "text": "ready", "priority": 0}}

@ext.renderer("hello")
def render(params, context):
    return {{"segments": [{{"text": params["output"], "style_role": None}}]}}

@ext.on_lifecycle("turn_settled")
def settled(event):
    print("turn", event["outcome"])

ext.run()
"""
MANIFEST = """name = "made"
version = "1.0.0"
api_version = "0.4"
[entrypoint]
command = "main.py"
[contributes]
tools = ["hello", "context", "parts", "ask", "agents", "grow", "show"]
commands = ["checkpoint", "short"]
hooks = ["before_prompt", "after_response"]
ui = ["status"]
context = true
tool_renderers = ["hello"]
notifications = true
confirmations = true
presentation = true
"""
AGENT = {
    "agent_id": "agent-1",
    "agent_path": "/look",
    "task_name": "look",
    "idempotency_key": "k",
    "status": {"state": "pending"},
    "policy": {
        "tools": ["read"],
        "max_depth": 1,
        "max_concurrent_children": 2,
        "max_turns": 8,
        "max_tokens": None,
        "max_cost_microdollars": None,
        "max_output_bytes": 4096,
        "timeout_ms": 60000,
    },
    "created_at_ms": 1,
    "started_at_ms": None,
    "completed_at_ms": None,
    "deadline_at_ms": 60001,
    "principal": "p",
    "resource_owner": "o1",
}
SNAPSHOT: dict[str, object] = {"principal": "p", "resource_owner": "o1", "persistence_error": None, "agents": []}


def written(directory: Path, construction: str) -> Path:
    script = directory / "main.py"
    script.write_text(SOURCE.format(python=sys.executable, construction=construction), encoding="utf-8")
    script.chmod(0o755)
    (directory / "extension.toml").write_text(MANIFEST, encoding="utf-8")
    return directory


def test_it_starts_unchanged_and_does_all_it_says(tmp_path: Path) -> None:
    services = {
        "artifacts.publish": lambda params: {"artifact_id": "art"},
        "confirmations.ask": lambda params: {"confirmed": True},
        "secrets.get": lambda params: {"value": "hush"},
        "input.ask": lambda params: {"value": None},
        "policy.evaluate": lambda params: {"decision": "deny"},
        "agents.spawn": lambda params: AGENT,
        "agents.message": lambda params: {"delivered_to": "agent-1", "delivery": "queued"},
        "agents.follow_up": lambda params: {"agent_id": "a", "agent_path": "/a", "delivery": "follow_up"},
        "agents.interrupt": lambda params: {
            "agent_id": "a",
            "agent_path": "/a",
            "previous_status": {"state": "running"},
            "interrupt_requested": True,
        },
        "agents.wait": lambda params: {"timed_out": True, "snapshot": SNAPSHOT},
        "agents.list": lambda params: SNAPSHOT,
        "agents.models": lambda params: {"models": [], "truncated": False},
    }
    directory = written(tmp_path, 'api_version="0.4", max_concurrent_requests=1')
    with ProcessHost(directory, services=services) as host:
        assert host.call("hello", name="Ada").text == "Hello Ada from 2"
        found = host.call("context")
        assert (found.text, found.is_error, found.metadata) == (str(directory.resolve()), False, {"seen": True})
        parts = host.call("parts")
        assert parts.text == "a"
        assert parts.structured == {"n": 1}
        assert len(parts.content) == 2
        assert parts.progress[0] == ProgressStatus(message="half", current=1, total=2, unit="parts")
        assert host.call("ask").text == "True hush None deny"
        assert host.call("agents").text == "True 0 False"
        assert host.call("grow").text == "1 3 3 True"
        assert host.call("added").text == "added"
        assert host.call("show").text == "True 1"
        assert host.command("checkpoint", "a", "b")["text"] == "a b"
        assert host.command("short") == {"text": "short"}
        assert host.hook("before_prompt", {"prompt": "p"})["context"] == [{"label": "hook", "content": "p"}]
        assert host.hook("after_response", {"response": "r"}) == {}
        assert host.collect_context("p")[0] == {"label": "example", "content": "p", "placement": "system_suffix"}
        assert host.collect_status() == {"surface": "status", "text": "ready", "priority": 0}
        assert host.render("hello", {}, "o") == [{"text": "o", "style_role": None}]
    assert host.status == 0


def test_the_version_is_that_of_the_environment(tmp_path: Path) -> None:
    directory = written(tmp_path, "")
    with ProcessHost(directory, environment={"OCTET_EXTENSION_API_VERSION": "0.4"}) as host:
        assert host.call("hello").text == "Hello world from 2"
        opened = next(frame for who, frame in host.transcript if who == "extension")
        assert b'"api_version":"0.4"' in opened


@pytest.mark.parametrize(("api", "other"), [("0.3", "feature_wire"), ("0.4", "canonical_wire")])
def test_one_wire_is_loaded(api: str, other: str) -> None:
    code = f"""
import sys
from octet_extension import Call, Extension
ext = Extension(api={api!r}, uses="all")
@ext.tool("d")
def t(call: Call, a: str) -> str:
    return a
ext.connect()
loaded = [name for name in sys.modules if name.startswith("octet_extension._generated") or name == "asyncio"]
assert not any({other!r} in name or name == "asyncio" for name in loaded), loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def started(directory: Path, source: str, contributes: str = "") -> Path:
    script = directory / "main.py"
    script.write_text(f"#!{sys.executable}\n{source}", encoding="utf-8")
    script.chmod(0o755)
    manifest = MANIFEST.partition("[contributes]")[0]
    (directory / "extension.toml").write_text(f"{manifest}[contributes]\n{contributes}\n", encoding="utf-8")
    return directory


ERRORS = """
from octet_extension import CancelledError, Extension, RpcError

ext = Extension(api_version="0.4")

@ext.tool(name="refuse", description="Refuse")
def refuse(args):
    data = {"odd": ext} if args.get("odd") else args.get("data")
    raise RpcError(args["code"], args["message"], data)

@ext.command(name="refuse", description="Refuse")
def refuse_command(arguments):
    raise RpcError(-32602, "no such place")

@ext.tool(name="wait", description="Wait until cancelled")
def wait(args):
    ext.progress(message="waiting")
    ext.cancellation.wait(30)
    try:
        ext.cancellation.raise_if_cancelled()
    except CancelledError:
        ext.log("gave up", tool="wait")
        raise

ext.run()
"""


def test_an_author_answers_with_an_error_of_the_protocol(tmp_path: Path) -> None:
    directory = started(tmp_path, ERRORS, 'tools = ["refuse", "wait"]\ncommands = ["refuse"]')
    with ProcessHost(directory) as host:
        for code, message, data in ((-32001, "not mine", {"why": [1]}), (-32602, "what?", None)):
            with pytest.raises(CallFailed) as failed:
                host.call("refuse", code=code, message=message, data=data)
            assert (failed.value.code, failed.value.message, failed.value.data) == (code, message, data)
        wrong: tuple[tuple[object, bool], ...] = (
            (5, False),
            (-32800, False),
            ("x", False),
            (True, False),
            (-32001, True),
        )
        for chosen, odd in wrong:
            with pytest.raises(CallFailed) as failed:
                host.call("refuse", code=chosen, message="m", odd=odd)
            assert failed.value.name == "internal_error", chosen
            assert ("is no code" in failed.value.message) != odd
        with pytest.raises(CallFailed, match="no such place") as failed:
            host.command("refuse")
        assert failed.value.name == "invalid_params"
        call = host.begin("wait")
        call.wait_progress()
        call.cancel()
        with pytest.raises(CallFailed) as failed:
            call.result()
        assert failed.value.name == "request_cancelled"
    assert '{"level": "info", "message": "gave up", "fields": {"tool": "wait"}}' in host.log
    assert host.status == 0


HOOKS = """
from typing import Optional

from octet_extension import (
    CacheWarmingAction, CacheWarmingDecisionPayload, Extension, persistence_metadata, post_mutation_rescan,
)

ext = Extension(api_version="0.4", max_concurrent_requests=1)

@ext.cache_warming_decision
def advise(payload: CacheWarmingDecisionPayload) -> Optional[CacheWarmingAction]:
    ext.cancellation.raise_if_cancelled()
    if payload["decision"]["warm_cost_microdollars"] > 5_000:
        return CacheWarmingAction.STOP
    return None

@ext.hook("before_persistence")
def before_persistence(payload, context):
    return persistence_metadata({"run": payload["run_id"]}, public=True)

@ext.hook("post_mutation")
def post_mutation(payload):
    return {"post_mutation": post_mutation_rescan(payload["affected_resources"])}

ext.run()
"""


def test_helpers_answer_the_hooks(tmp_path: Path) -> None:
    hooks = 'hooks = ["cache_warming_decision", "before_persistence", "post_mutation"]'
    with ProcessHost(started(tmp_path, HOOKS, hooks)) as host:
        for cost, answer in ((5_001, {"cache_warming_decision": "stop"}), (5_000, {})):
            decision = {
                "phase": "idle",
                "warm_cost_microdollars": cost,
                "miss_cost_microdollars": 9_000,
                "continuation_probability": 0.5,
                "expected_savings_microdollars": -3,
                "economics_available": True,
                "action": "warm",
            }
            assert host.hook("cache_warming_decision", {"decision": decision, "model": "m"}) == answer
        turn = {
            "run_id": "r1",
            "model": "m",
            "protocol": "p",
            "stop_reason": "end",
            "text_bytes": 1,
            "tool_call_count": 0,
            "reasoning_part_count": 0,
            "media_part_count": 0,
        }
        stored = host.hook("before_persistence", turn)["persistence_metadata"]
        assert stored == {"value": {"run": "r1"}, "public": True}
        mutation = {
            "mutation_id": "mutation:one",
            "kind": "resource",
            "affected_resources": ["resource:one"],
            "generation": 1,
            "state": "committed",
        }
        rescan = host.hook("post_mutation", mutation)["post_mutation"]
        assert rescan == {"action": "request_rescan", "resource_ids": ["resource:one"]}
    assert host.status == 0


def test_a_helper_gives_an_opinion_or_none() -> None:
    assert cache_warming_decision("warm") == {"cache_warming_decision": "warm"}
    assert cache_warming_decision(None) == {"cache_warming_decision": None}


FEATURES = """
from octet_extension import Extension

ext = Extension(api_version="0.4", supported_features=("request_cancellation", "content_parts", "secrets", "composer"))

@ext.tool(name="features", description="List what was agreed")
def features(args):
    return " ".join(sorted(ext.negotiated_features))

@ext.on_lifecycle("turn_settled")
def settled(event):
    raise AssertionError

ext.run()
"""


def test_no_other_feature_is_selected_than_is_supported(tmp_path: Path) -> None:
    with ProcessHost(started(tmp_path, FEATURES, 'tools = ["features"]')) as host:
        assert host.call("features").text == "composer content_parts request_cancellation secrets"
    assert host.status == 0


def test_a_supported_feature_is_one_of_the_version() -> None:
    with pytest.raises(LocalProtocolError, match="no feature 'magic'"):
        Extension(api_version="0.4", supported_features=("magic",))


LOG = """
from octet_extension import Extension

ext = Extension(api_version="0.4")

@ext.tool(name="say", description="Say")
def say(args):
    ext.log.info("turn settled", turn_id="t\\n1", message=2)
    ext.log.debug("d")
    ext.log.warning("w", what={1})
    ext.log.error(ValueError("e"), far=float("inf"))
    return "said"

ext.run()
"""


def test_a_log_is_lines_of_json_on_standard_error(tmp_path: Path) -> None:
    with ProcessHost(started(tmp_path, LOG, 'tools = ["say"]')) as host:
        assert host.call("say").text == "said"
    assert [json.loads(line) for line in host.log.splitlines()] == [
        {"level": "info", "message": "turn settled", "fields": {"turn_id": "t\n1", "message": 2}},
        {"level": "debug", "message": "d"},
        {"level": "warning", "message": "w", "fields": {"what": "{1}"}},
        {"level": "error", "message": "e", "fields": {"far": "inf"}},
    ]


SHUTDOWN = """
import threading

from octet_extension import Extension

ext = Extension(api_version="0.4")

@ext.on_shutdown
def shutdown(params):
    ext.log.info("leaving", params=params)

@ext.on_shutdown
def broken():
    raise ValueError("broken")

@ext.on_shutdown
def last():
    ext.log.info("last")
    {ending}

ext.run()
"""


@pytest.mark.parametrize("ending", ["pass", "threading.Event().wait()"])
def test_on_shutdown_runs_before_the_answer_and_holds_it_up_for_a_while_only(tmp_path: Path, ending: str) -> None:
    assert FAREWELL_SECONDS < SHUTDOWN_REPLY_MS / 1000
    with ProcessHost(started(tmp_path, SHUTDOWN.replace("{ending}", ending))) as host:
        pass
    assert host.status == 0
    lines = host.log
    assert (
        lines.index('"leaving", "fields": {"params": {}}') < lines.index("ValueError: broken") < lines.index('"last"')
    )
    assert ("the extension leaves without it" in lines) == (ending != "pass")
    frames = b"".join(frame.strip() + b"\n" for who, frame in host.transcript if who == "host")
    done = subprocess.run(
        [str(tmp_path / "main.py")],
        input=frames,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        check=True,
    )
    assert 0 < done.stdout.index(b'"last"') < done.stdout.rindex(b'"result"')
    assert done.stdout.count(b'"last"') == 1


def test_on_shutdown_runs_where_the_input_ends(tmp_path: Path) -> None:
    directory = started(tmp_path, SHUTDOWN.replace("{ending}", "pass"))
    done = subprocess.run([str(directory / "main.py")], input=b"", capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b'"last"' in done.stderr
