"""What an extension says to the people who run it: one line of JSON each on standard error."""

from __future__ import annotations

import json
import sys

__all__ = ["Log"]


class Log:
    """Writes lines with a level, a message and fields. Calling it is the same as info.

    A line is {"level": ..., "message": ..., "fields": {...}}, without fields where none are given. A value that is no
    JSON is written as its text. Nothing here raises: where nobody reads, the line is lost.
    """

    __slots__ = ()

    def __call__(self, message: object, /, **fields: object) -> None:
        """Says something of interest."""
        _write("info", message, fields)

    def debug(self, message: object, /, **fields: object) -> None:
        """Says something that helps to find a fault."""
        _write("debug", message, fields)

    def info(self, message: object, /, **fields: object) -> None:
        """Says something of interest."""
        _write("info", message, fields)

    def warning(self, message: object, /, **fields: object) -> None:
        """Says that something is not as it should be."""
        _write("warning", message, fields)

    warn = warning

    def error(self, message: object, /, **fields: object) -> None:
        """Says that something went wrong."""
        _write("error", message, fields)


def _write(level: str, message: object, fields: dict[str, object]) -> None:
    entry: dict[str, object] = {"level": level, "message": _text(message)}
    try:
        line = json.dumps({**entry, "fields": fields} if fields else entry, allow_nan=False, default=_text)
    except (TypeError, ValueError, RecursionError):  # keys, numbers or cycles that are no JSON
        line = json.dumps({**entry, "fields": {name: _text(value) for name, value in fields.items()}})
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except (OSError, ValueError):  # nobody reads it
        return


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - a value of the author that cannot be shown
        return type(value).__name__
