"""What only API 0.3 has: the hooks of a session, a migration adapter, a model provider."""

import json
import stat
from collections.abc import Iterator

from showcase_record import Record

from octet_extension import Extension, HookCall, Source
from octet_extension.api_v03 import METHOD_HOOK_RUN, MigrationImportParams

Json = dict[str, object]
SETTINGS = "settings.json"
"""What the showcase imports from."""


def add_canonical(ext: Extension, record: Record) -> None:
    """Adds all of it."""

    def note(hook: HookCall, payload: Json) -> Json:
        record.note(METHOD_HOOK_RUN, {"hook": hook.hook, "payload": payload})
        return {"disposition": {"kind": "continue"}}

    for name in ("session_start", "session_end"):
        ext.hook(name)(note)

    ext.migration_detect(detect)
    ext.migration_import(migrate)

    @ext.provider_stream
    def infer(params: Json) -> Iterator[tuple[str, object]]:
        yield "started", {}
        yield "text_delta", {"text": "hello"}
        yield "finished", {}


def detect(source: Source, params: Json) -> Json:
    """Reports the settings if there are some."""
    try:
        found = stat.S_ISREG(source.stat(SETTINGS).st_mode)
    except OSError:
        found = False
    return {"detected": found, "config_paths": [SETTINGS] if found else [], "diagnostics": []}


def migrate(source: Source, params: MigrationImportParams) -> Json:
    """Reads the settings and takes nothing over but what is wrong with them."""
    diagnostics: list[Json] = []
    for path in params.config_paths:
        try:
            sound = isinstance(json.loads(source.read_file(path)), dict)
        except OSError:
            diagnostics.append({"path": path, "severity": "warning", "reason": "the file cannot be read"})
            continue
        except (ValueError, RecursionError):
            sound = False
        if not sound:
            diagnostics.append({"path": path, "severity": "error", "reason": "the file is no JSON object"})
    return {"models": [], "skills": [], "mcp_servers": [], "diagnostics": diagnostics}
