"""What only API 0.3 has: the hooks of a session, a migration adapter, a model provider."""

from collections.abc import Iterator

from showcase_record import Record

from octet_extension import Extension, HookCall
from octet_extension.api_v03 import METHOD_HOOK_RUN

Json = dict[str, object]


def add_canonical(ext: Extension, record: Record) -> None:
    """Adds all of it."""

    def note(hook: HookCall, payload: Json) -> Json:
        record.note(METHOD_HOOK_RUN, {"hook": hook.hook, "payload": payload})
        return {"disposition": {"kind": "continue"}}

    for name in ("session_start", "session_end"):
        ext.hook(name)(note)

    @ext.migration_detect
    def detect(params: Json) -> Json:
        return {"detected": True, "config_paths": ["settings.json"], "diagnostics": []}

    @ext.migration_import
    def migrate(params: Json) -> Json:
        return {"models": [], "skills": [], "mcp_servers": [], "diagnostics": []}

    @ext.provider_stream
    def infer(params: Json) -> Iterator[tuple[str, object]]:
        yield "started", {}
        yield "text_delta", {"text": "hello"}
        yield "finished", {}
