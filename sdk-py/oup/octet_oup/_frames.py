"""What stands on one line of stdio: a JSON object, bounded, in UTF-8."""

from __future__ import annotations

from typing import Final

from octet_oup._generated import _json, oup_wire
from octet_oup._generated._json import JsonSyntaxError

__all__ = ["FrameFault", "read_line"]

_BLANK: Final = b" \t\r"


class FrameFault(Exception):
    """A line is no frame. The next line may be one: reading goes on behind it."""


def read_line(line: bytes, bound: int = oup_wire.MAX_TEXT_FRAME_BYTES) -> dict[str, object]:
    """Reads a line with or without its line end; bound is the most bytes before it. Raises FrameFault."""
    payload = line.removesuffix(b"\n").removesuffix(b"\r") if line.endswith(b"\n") else line
    if len(payload) > bound:
        raise FrameFault(f"a line has more than {bound} bytes: send less in one frame")
    if not payload.strip(_BLANK):
        raise FrameFault("a line is blank: send one object a line")
    if b"\r" in payload or b"\n" in payload:
        raise FrameFault("a line holds a line break: write it as an escape")
    try:
        value = _json.parse(payload)
    except JsonSyntaxError as fault:
        raise FrameFault(f"a line is not strict JSON: {fault}") from None
    if not isinstance(value, dict):
        raise FrameFault("a line is no object: send one message a line")
    return value
