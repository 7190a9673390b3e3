"""The migration adapter of API 0.3: what holds its handlers and their answers to the source root."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, cast

from octet_extension import _answers
from octet_extension._agreement import Refusal
from octet_extension._errors import LocalProtocolError
from octet_extension._generated import canonical_wire as wire
from octet_extension._generated._models import Model
from octet_extension._generated._rows import Method
from octet_extension._signature import CONTEXT, MODEL, SCOPE, Plan
from octet_extension._source import Source, check_path, real_directory

__all__ = ["Adapter"]

_MOST_DETECTED: Final = 32 * wire.MAX_MIGRATION_ITEMS


class Adapter:
    """The two handlers of one extension, and what they have detected in this process."""

    def __init__(self, judge: Callable[[Method, object], object]) -> None:
        self._judge = judge
        self._detect: Callable[[Source, Mapping[str, object], Model], Mapping[str, object]] | None = None
        self._lock = threading.Lock()
        self._detected: set[str] = set()

    def serve(self, row: Method, function: Callable[..., object], plan: Plan) -> Callable[..., object]:
        """Returns what serves a method with the author's function."""

        def run(source: Source, members: Mapping[str, object], model: Model) -> Mapping[str, object]:
            given = {SCOPE: source, MODEL: model, CONTEXT: {}}
            answer = _complete(function(*(given.get(what, members) for what in plan)))
            return cast("Mapping[str, object]", self._judge(row, _answers.required(answer)))

        if row.name == wire.METHOD_MIGRATION_DETECT:
            self._detect = lambda source, members, model: self._remember(source, run(source, members, model))
            return self._serve_detect

        def serve_import(source: Source, members: Mapping[str, object], model: Model) -> object:
            _check_root(members)
            self._check_asked(source, members)
            answer = run(source, members, model)
            for records in answer.values():
                _check_records(records)
            return answer

        return serve_import

    def _serve_detect(self, source: Source, members: Mapping[str, object], model: Model) -> object:
        _check_root(members)
        return None if self._detect is None else self._detect(source, members, model)

    def _remember(self, source: Source, answer: Mapping[str, object]) -> Mapping[str, object]:
        """Holds a detection to the source root, and keeps what it found."""
        paths = cast("list[str]", answer["config_paths"])
        for at, path in enumerate(paths):
            if path in paths[:at]:
                raise LocalProtocolError(f"{path!r} is detected twice")
            try:
                source.stat(path)
            except (OSError, ValueError) as fault:
                raise LocalProtocolError(f"what is detected cannot be imported: {fault}") from None
        _check_records(answer["diagnostics"])
        with self._lock:
            self._detected.update(paths[: max(0, _MOST_DETECTED - len(self._detected))])
        return answer

    def _check_asked(self, source: Source, members: Mapping[str, object]) -> None:
        """Refuses what detection does not report. What it has reported once may have vanished since."""
        paths = cast("list[str]", members["config_paths"])
        found: list[str] | None = None
        for at, path in enumerate(paths):
            pointer = f"/config_paths/{at}"
            if path in paths[:at]:
                raise _invalid(pointer, "the path is named before; name each once")
            try:
                check_path(path)
            except ValueError as fault:
                raise _invalid(pointer, str(fault)) from None
            with self._lock:
                known = path in self._detected
            if known:
                continue
            if found is None:
                found = self._detect_now(source, str(members["source_root"]))
            if path not in found:
                raise _invalid(pointer, "detection does not report it; import what it reports")

    def _detect_now(self, source: Source, root: str) -> list[str]:
        if self._detect is None:
            return []
        asked = wire.MigrationDetectParams(source_root=root)
        return cast("list[str]", self._detect(source, asked.to_json(), asked)["config_paths"])


def _complete(returned: object) -> object:
    """Returns what a function returned. A coroutine runs to its end in this thread, which is the handler's own."""
    if not inspect.iscoroutine(returned):
        return returned
    # Loaded where it is needed: asyncio would take half of the time of a start.
    import asyncio  # noqa: PLC0415

    return asyncio.run(returned)


def _check_root(members: Mapping[str, object]) -> None:
    root = Path(str(members["source_root"]))
    if "\0" in str(root) or not root.is_absolute():
        raise _invalid("/source_root", "the path is not absolute")
    try:
        real_directory(root)
    except OSError as fault:
        raise _invalid("/source_root", fault.strerror or "there is nothing that can be read") from None


def _check_records(records: object) -> None:
    """Raises LocalProtocolError for records of an answer whose path leaves the source root."""
    for record in cast("Iterable[Mapping[str, object]]", records):
        try:
            check_path(str(record["path"]))
        except ValueError as fault:
            raise LocalProtocolError(str(fault)) from None


def _invalid(pointer: str, detail: str) -> Refusal:
    return Refusal(wire.ERROR_INVALID_PARAMS, detail, {"detail": detail[:400], "pointer": pointer})
