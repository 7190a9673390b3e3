"""Reading what a server says as a client must: what may be missing, null or new harms nothing.

Models judge exactly. Where one refuses, the value is mended in a way that the protocol allows, and judged again:
null counts as absent; a member that a row of a list lacks is taken as empty; a row that a newer server tells in words
of its own is left out.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Final, TypeVar, cast

from octet_oup._generated._json import Violation

__all__ = ["tolerant"]

T = TypeVar("T")

_MOST: Final = 64  # times that one value is mended; after that it is refused as it stands
_ROW: Final = re.compile(r"(.*)/(\d+)(/.*)?")  # the innermost list on the way to a place
_UNSAID: Final = "?"
_NO_TIME: Final = "1970-01-01T00:00:00Z"
_NO_ID: Final = "00000000-0000-0000-0000-000000000000"
_EMPTY: Final[tuple[object, ...]] = ("", _UNSAID, 0, False, [], {}, _NO_TIME, _NO_ID)
_NEWER: Final = ("tag", "value")


def tolerant(read: Callable[[object], T], value: object) -> T:
    """Reads a value, mending a copy of it where that is allowed. Raises Violation for what it first refused."""
    try:
        return read(value)
    except Violation as found:
        first = found
    value, problem = copy.deepcopy(value), first
    for _ in range(_MOST):
        if not _mend(read, value, problem):
            break
        try:
            return read(value)
        except Violation as found:
            problem = found
    raise first


def _mend(read: Callable[[object], object], value: object, problem: Violation) -> bool:
    """Mends the value where a problem is, and in the other rows of the same list. Reports whether there was a way."""
    row = _ROW.fullmatch(problem.pointer)
    if problem.violation == "null":
        for where, name in _places(value, problem.pointer, row):
            if where.get(name, "") is None:
                del where[name]
        return True
    if problem.violation == "missing" and row is not None:
        return _fill(read, value, problem.pointer, row)
    if problem.violation in _NEWER and row is not None:
        return _leave_out(value, problem.pointer, row)
    return False


def _fill(read: Callable[[object], object], value: object, pointer: str, row: re.Match[str]) -> bool:
    ((where, name),) = _places(value, pointer, None)
    for empty in _EMPTY:
        where[name] = copy.copy(empty)
        try:
            read(value)
        except Violation as found:
            if found.pointer == pointer:
                continue
        for other, _ in _places(value, pointer, row):
            other.setdefault(name, copy.copy(empty))
        return True
    return False


def _leave_out(value: object, pointer: str, row: re.Match[str]) -> bool:
    rows = _at(value, row.group(1))
    word = _at(value, pointer)
    kept = [one for one in _rows(rows) if _at(one, row.group(3) or "") != word]
    cast("list[object]", rows)[:] = kept
    return True


def _places(value: object, pointer: str, row: re.Match[str] | None) -> list[tuple[dict[str, object], str]]:
    """Returns the objects that hold the member at a place: that one, or those of every row where a row is given."""
    above, _, last = pointer.rpartition("/")
    if row is None:
        found = [_at(value, above)]
    else:
        below = (row.group(3) or "").rpartition("/")[0]
        found = [_at(one, below) for one in _rows(_at(value, row.group(1)))]
    return [(where, _plain(last)) for where in found if isinstance(where, dict)]


def _rows(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _at(value: object, pointer: str) -> object:
    """Returns what stands at a place, None where there is nothing."""
    for token in pointer.split("/")[1:]:
        if isinstance(value, dict):
            value = value.get(_plain(token))
        elif isinstance(value, list):
            value = value[int(token)] if token.isdigit() and int(token) < len(value) else None
        else:
            return None
    return value


def _plain(token: str) -> str:
    return token.replace("~1", "/").replace("~0", "~")
