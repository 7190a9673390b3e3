"""Progress of a request: how far it is, what it prints, and a label beside it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final

from octet_extension._envelope import Id
from octet_extension._generated.feature_wire import (
    FEATURE_PROGRESS_DECORATION,
    FEATURE_REQUEST_PROGRESS,
    MAX_PROGRESS_OUTPUT_BYTES,
    OutputEncoding,
    OutputStream,
    ProgressDecoration,
    ProgressOutput,
    ProgressParams,
    ProgressStatus,
)

__all__ = ["decoration", "feature", "output", "params", "status"]

_DECORATION: Final = ProgressDecoration(label="-").type
_STATUS: Final = ProgressStatus(message="-").type
_OUTPUT: Final = ProgressOutput(stream="stdout", encoding="utf8", data="").type


def status(message: str, numbers: Mapping[str, object]) -> dict[str, object]:
    """Returns a status event; a number that is None is left out."""
    return {"type": _STATUS, "message": message} | {name: n for name, n in numbers.items() if n is not None}


def output(data: str | bytes, stream: str | None) -> list[dict[str, object]]:
    """Cuts output into events that the host can show, characters kept whole."""
    encoding = OutputEncoding.UTF8 if isinstance(data, str) else OutputEncoding.BASE64
    target = OutputStream.STDOUT if stream is None else stream
    return [{"type": _OUTPUT, "stream": target, "encoding": encoding, "data": chunk} for chunk in _chunks(data)]


def decoration(label: str, detail: str | None) -> dict[str, object]:
    """Returns a decoration event."""
    event: dict[str, object] = {"type": _DECORATION, "label": label}
    return event if detail is None else {**event, "detail": detail}


def feature(event: Mapping[str, object]) -> str:
    """Returns the feature that an event needs."""
    return FEATURE_PROGRESS_DECORATION if event.get("type") == _DECORATION else FEATURE_REQUEST_PROGRESS


def params(request: Id, sequence: int, event: Mapping[str, object]) -> dict[str, object]:
    """Returns the parameters of a progress notification. Raises Violation."""
    members: dict[str, object] = {"request_id": request, "sequence": sequence, "event": event}
    ProgressParams.from_json(members)
    return members


def _chunks(data: str | bytes) -> list[str]:
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
    chunks: list[str] = []
    start = 0
    while start < len(raw):
        end = min(start + MAX_PROGRESS_OUTPUT_BYTES, len(raw))
        if isinstance(data, str):
            while end < len(raw) and raw[end] & 0xC0 == 0x80:
                end -= 1
            chunks.append(raw[start:end].decode("utf-8"))
        else:
            chunks.append(base64.b64encode(raw[start:end]).decode("ascii"))
        start = end
    return chunks
