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

_MOST: Final = 512  # times that one value is mended; after that it is refused as it stands
_ROW: Final = re.compile(r"(.*)/(\d+)(?:/.*)?")  # the innermost list on the way to a place
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
    """Mends the value at the place of a problem. Reports whether there was a way."""
    row = _ROW.fullmatch(problem.pointer)
    if problem.violation == "null":
        where, name = _parent(value, problem.pointer)
        if isinstance(where, dict):
            del where[name]
            return True
    elif problem.violation == "missing" and row is not None:
        return _fill(read, value, problem.pointer)
    elif problem.violation in _NEWER and row is not None:
        rows = _at(value, row.group(1))
        if isinstance(rows, list):
            del rows[int(row.group(2))]
            return True
    return False


def _fill(read: Callable[[object], object], value: object, pointer: str) -> bool:
    where, name = _parent(value, pointer)
    if not isinstance(where, dict):
        return False
    for empty in _EMPTY:
        where[name] = copy.copy(empty)
        try:
            read(value)
        except Violation as found:
            if found.pointer == pointer:
                continue
        return True
    return False


def _parent(value: object, pointer: str) -> tuple[object, str]:
    above, _, last = pointer.rpartition("/")
    return _at(value, above), _plain(last)


def _at(value: object, pointer: str) -> object:
    for token in pointer.split("/")[1:]:
        value = value[int(token)] if isinstance(value, list) else cast("dict[str, object]", value)[_plain(token)]
    return value


def _plain(token: str) -> str:
    return token.replace("~1", "/").replace("~0", "~")
