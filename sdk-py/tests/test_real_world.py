"""An extension as people write it against the public interface of this name: started unchanged, as a process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
