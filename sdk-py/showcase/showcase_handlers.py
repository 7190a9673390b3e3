"""Commands, hooks, what the host collects, and what it tells."""

from collections.abc import Callable, Mapping

from showcase_record import Record
from showcase_tools import DOT, about

from octet_extension import CommandCall, Extension, api_v03, api_v04
from octet_extension.api_v04 import METHOD_RESOURCE_DISPOSE, METHOD_SHORTCUT_TRIGGER

GO_ON = {"action": "continue"}
Json = dict[str, object]


def add_commands(ext: Extension) -> None:
    """Adds the commands."""

    @ext.command(about("echo"))
    def echo(call: CommandCall, arguments: list[str]) -> Json:
        text = " ".join(arguments)
        return {
            "text": text,
            "notifications": [{"level": "info", "message": "echoed"}],
            "context": [{"label": "echo", "content": text}],
        }

    @ext.command(about("fail"))
    def fail(arguments: list[str]) -> str:
        raise ValueError("no luck")


def add_hooks(ext: Extension) -> None:
    """Adds the hooks of the API version."""

    @ext.hook("before_prompt")
    def before_prompt(payload: Json) -> Json:
        if "secret" in str(payload["prompt"]):
            return {"disposition": {"action": "deny", "reason": "no secrets"}}
        return {"disposition": GO_ON, "context": [{"label": "hook", "content": "seen"}]}

    @ext.hook("after_response")
    def after_response(payload: Json) -> Json:
        return {"notifications": [{"level": "info", "message": "heard"}]}

    @ext.hook("before_tool_call")
    def before_tool_call(payload: Json) -> Json:
        if payload["name"] == "bash":
            return {"disposition": {"action": "deny", "reason": "deletes files"}}
        return {"disposition": GO_ON}

    @ext.hook("after_tool_call")
    def after_tool_call(payload: Json) -> Json:
        return {"disposition": GO_ON}

    if ext.api != "0.1":
        _add_durable_hooks(ext)
    if ext.api == "0.4":
        _add_latest_hooks(ext)


def _add_durable_hooks(ext: Extension) -> None:
    @ext.hook("provider_retry")
    def provider_retry(payload: Json) -> Json:
        advice: object = "stop"
        if payload["kind"] == "before_generation":
            advice = "retry"
        elif payload["kind"] == "stream_start":
            advice = {"delay": {"additional_delay_ms": 500}}
        return {"provider_retry": advice}

    @ext.hook("before_persistence")
    def before_persistence(payload: Json) -> Json:
        return {"persistence_metadata": {"value": {"run": payload["run_id"]}, "public": True}}

    @ext.hook("post_mutation")
    def post_mutation(payload: Json) -> Json:
        if payload["state"] == "committed":
            return {"post_mutation": {"action": "request_rescan", "resource_ids": payload["affected_resources"]}}
        return {"post_mutation": {"action": "no_rescan"}}


def _add_latest_hooks(ext: Extension) -> None:
    def go_on(payload: Json) -> Json:
        return {"session_operation": GO_ON}

    for name in ("model_turn_start", "model_turn_end", "session_before_compact", "session_compact"):
        ext.hook(name)(go_on)

    @ext.hook("cache_warming_decision")
    def cache_warming_decision(payload: Json) -> Json:
        decision = payload["decision"]
        warm = isinstance(decision, Mapping) and decision["action"] == "warm"
        return {"cache_warming_decision": "stop" if warm else None}

    @ext.hook("compaction_strategy")
    def compaction_strategy(payload: Json) -> Json:
        return {"compaction_frames": [DOT]}

    @ext.hook("resources_discover")
    def resources_discover(payload: Json) -> Json:
        return {"resource_paths": {"skill_paths": [f"{payload['cwd']}/skills"]}}


MENU = {
    "title": "Showcase",
    "items": [
        {
            "id": "echo",
            "label": "Echo",
            "command": "echo",
            "arguments": ["hi"],
            "destructive": False,
            "recommended": True,
        },
        {
            "id": "more",
            "label": "More",
            "items": [
                {
                    "id": "fail",
                    "label": "Fail",
                    "command": "fail",
                    "arguments": [],
                    "destructive": True,
                    "recommended": False,
                }
            ],
        },
    ],
}


def add_collectors(ext: Extension) -> None:
    """Adds what the host collects."""

    @ext.context
    def context(params: Json) -> list[Json]:
        prompt = params["prompt"]
        content = "none" if prompt is None else prompt
        return [{"label": "showcase", "content": content, "placement": "system_suffix"}]

    @ext.status("status")
    def status(params: Json) -> Json:
        return {"text": "ready", "priority": 1}

    @ext.status("header")
    def header(params: Json) -> None:
        return None

    @ext.status("footer")
    def footer(params: Json) -> str:
        raise ValueError("no footer")

    @ext.renderer("count")
    def count(params: Json) -> list[Json]:
        return [{"text": params["output"], "style_role": None}]

    if ext.api != "0.1":

        @ext.menu
        def menu(params: Json) -> Json:
            return dict(MENU)


def add_editor(ext: Extension, record: Record) -> None:
    """Adds what answers to typing, and the disposing of resources."""

    @ext.shortcut("showcase:hello", "ctrl+shift+h", "Say hello")
    def hello() -> None:
        record.note(METHOD_SHORTCUT_TRIGGER, {"id": "showcase:hello"})

    @ext.autocomplete
    def complete(params: Json) -> Json:
        before = str(params["text"]).encode("utf-8")[: int(str(params["cursor"]))].decode("utf-8", "replace")
        if before.endswith("/he"):
            return {"prefix": "/he", "items": [{"value": "/hello", "label": "/hello", "description": None}]}
        if ext.api == "0.4" and before.endswith("/ed"):
            # Legal only where the host has offered the fields of an edit: elsewhere the SDK refuses the answer.
            edit = {
                "value": "/edit(\n)",
                "label": "/edit",
                "description": None,
                "replace_after_bytes": 1,
                "cursor_offset_bytes": 6,
            }
            return {"prefix": "/ed", "items": [edit]}
        return {"prefix": "", "items": []}

    if ext.api != "0.4":
        return

    @ext.intercept
    def intercept(params: Json) -> str:
        data = str(params["data"])
        return "" if data == "q" else data

    @ext.dispose
    def dispose(params: Json) -> None:
        record.note(METHOD_RESOURCE_DISPOSE, params)


def add_events(ext: Extension, record: Record) -> None:
    """Notes every event of the API version; a shortcut notes its own trigger."""
    methods = api_v03.METHODS if ext.api in api_v03.VERSIONS else api_v04.METHODS
    for row in methods.values():
        noun, _, verb = row.service.partition(".")
        if noun == "events" and ext.api in row.versions and verb != "shortcut_trigger":
            ext.listen(verb, _noting(record, row.name))


def _noting(record: Record, method: str) -> Callable[[Json], None]:
    return lambda params: record.note(method, params)
