"""Strict JSON: a reader that refuses what peers disagree about, and a writer with one spelling per value.

Reading: members may not repeat, text is well-formed Unicode, numbers keep their spelling, nesting has a
bound. Writing: members ascending, no white space, one spelling for every string.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Collection
from typing import Final, Self

__all__ = ["DEFAULT_DEPTH", "JsonSyntaxError", "Number", "Violation", "encode", "is_sparse", "parse", "respell", "too_deep"]

DEFAULT_DEPTH: Final = 128
"""Arrays and objects that may enclose a value where a wire names no bound of its own."""


class JsonSyntaxError(ValueError):
    """The text is not strict JSON. offset counts characters from the start, or is None."""

    def __init__(self, reason: str, offset: int | None = None) -> None:
        super().__init__(reason if offset is None else f"{reason} at offset {offset}")
        self.offset = offset


class Violation(ValueError):
    """A value breaks its model.

    violation is one of the fifteen names that the three languages share, pointer the JSON Pointer of the
    place from the root of the value, error the name of the wire error that reports it (empty until the
    root model is known), and detail a sentence for people.
    """

    def __init__(self, violation: str, pointer: str, detail: str) -> None:
        super().__init__(violation, pointer, detail)
        self.violation = violation
        self.pointer = pointer
        self.detail = detail
        self.error = ""

    def __str__(self) -> str:
        return f"{self.pointer}: {self.detail}" if self.pointer else self.detail

    def under(self, token: str | int) -> None:
        """Moves the pointer one level down, below the member or element that holds the value."""
        step = str(token).replace("~", "~0").replace("/", "~1")
        self.pointer = f"/{step}{self.pointer}"


class Number(float):
    """A number whose spelling neither int nor float would give back; text holds it as it stood."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        self = super().__new__(cls, text)
        self.text = text
        return self

    def __reduce__(self) -> tuple[type[Number], tuple[str]]:
        return (Number, (self.text,))


_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]|[^\s\[\]{}",:]++', re.DOTALL)
_EXACT_DIGITS: Final = 640  # a conversion of that many digits is never refused by the interpreter


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise JsonSyntaxError(f"the member {twice!r} stands twice in one object")
    return found


def _no_constant(name: str) -> object:
    raise JsonSyntaxError(f"{name} is not JSON")


def _exact_integer(text: str) -> int | Number:
    if text == "-0" or len(text) > _EXACT_DIGITS:
        return Number(text)
    return int(text)


_FAST = json.JSONDecoder(object_pairs_hook=_members, parse_float=Number, parse_constant=_no_constant)
_EXACT = json.JSONDecoder(
    object_pairs_hook=_members, parse_float=Number, parse_int=_exact_integer, parse_constant=_no_constant
)


_LONG: Final = 4096  # characters from which on a text is looked at in jumps, and a string is quoted by hand
_JUMPS: Final = 64  # from one minus to the next, before every byte is looked at
_MARKS: Final = b'[]{}"\\'
_NO_MARKS: Final = bytes(byte for byte in range(256) if byte not in _MARKS)
_STRING: Final = re.compile(rb'"[^"]*"')


def too_deep(data: bytes, bound: int) -> bool:
    """Reports whether more than bound arrays and objects enclose some value of the JSON text.

    It looks at brackets alone and takes any bytes, so it can run before the parser, which recurses.
    """
    if len(data) > _LONG and _few(data, b"[", bound // 2) and _few(data, b"{", bound // 2):
        return False
    marks = data.translate(None, _NO_MARKS)
    if marks.count(b"[") + marks.count(b"{") <= bound:
        return False
    return not _folds(data, marks, bound) and _deeper(data, bound)


def _few(data: bytes, mark: bytes, most: int) -> bool:
    """Reports whether a mark stands at most so often in data, which few jumps tell where long strings are between."""
    at = -1
    for _ in range(most + 1):
        at = data.find(mark, at + 1)
        if at < 0:
            return True
    return False


def _folds(data: bytes, marks: bytes, bound: int) -> bool:
    """Reports whether the brackets are surely not too deep: they vanish when pairs are taken out, bound times at most.

    Every step is one pass of the interpreter's own loops, where the exact answer takes a step for each token.
    """
    if b"\\" in marks:
        marks = data.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _NO_MARKS)
    # Two quotes side by side change nothing for what stands behind them; what is left are strings with brackets.
    marks = _STRING.sub(b"", marks.replace(b'""', b""))
    for _ in range(bound // 2):
        if not marks:
            return True
        marks = marks.replace(b"{}", b"").replace(b"[]", b"")
    return not marks


def _deeper(data: bytes, bound: int) -> bool:
    level = 0
    for token in _TOKEN.finditer(data):
        first = data[token.start()]
        if first in b"]}":
            level -= 1
            continue
        if level > bound:
            return True
        if first in b"[{":
            level += 1
    return False


_LONE = re.compile("[\ud800-\udfff]")


def _has_lone_surrogate(value: object) -> bool:
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            if _LONE.search(node):
                return True
        elif isinstance(node, dict):
            stack.extend(node)
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return False


def parse(text: bytes | str, *, max_depth: int = DEFAULT_DEPTH) -> object:
    """Reads one strict JSON text. Raises JsonSyntaxError and nothing else.

    Objects become dicts in member order, integers int, other numbers and negative zero Number.
    """
    try:
        if isinstance(text, bytes):
            data, text = text, text.decode("utf-8")
        else:
            data = text.encode("utf-8")
    except UnicodeDecodeError as fault:
        raise JsonSyntaxError("the bytes are not UTF-8", fault.start) from None
    except UnicodeEncodeError:
        raise JsonSyntaxError("the text holds a lone surrogate") from None
    if too_deep(data, max_depth):
        raise JsonSyntaxError(f"more than {max_depth} arrays and objects enclose a value")
    try:
        value = _read(text, _decoder(data))
    except JsonSyntaxError:
        raise
    except json.JSONDecodeError as fault:
        raise JsonSyntaxError(fault.msg.lower().removesuffix(" at"), fault.pos) from None
    except RecursionError:
        raise JsonSyntaxError("the nesting is deeper than this process can read") from None
    if b"\\" in data and _SURROGATE_ESCAPE.search(text) and _has_lone_surrogate(value):
        raise JsonSyntaxError("a string holds a lone surrogate")
    return value


def _decoder(data: bytes) -> json.JSONDecoder:
    """Returns the decoder that keeps the spelling of every number; the fast one loses the sign of a zero."""
    return _EXACT if _may_hold_negative_zero(data) or sys.get_int_max_str_digits() == 0 else _FAST


def _may_hold_negative_zero(data: bytes) -> bool:
    at = -1
    for _ in range(_JUMPS):
        at = data.find(b"-", at + 1)
        if at < 0:
            return False
        if data.startswith(b"-0", at):
            return True
    return data.find(b"-0", at) >= 0


def _read(text: str, decoder: json.JSONDecoder) -> object:
    try:
        if text[:1] not in _SPACE:
            value, end = decoder.raw_decode(text)
            if end == len(text):
                return value
        return decoder.decode(text)
    except (JsonSyntaxError, json.JSONDecodeError):
        raise
    except ValueError:  # an integer of more digits than the interpreter converts
        return _EXACT.decode(text)


_SPACE: Final = " \t\n\r"
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)
_WORTH: Final = 200  # characters in long strings for each value, from which on everything is spelled by hand


def _survey(value: object, max_depth: int, largest: int | None) -> bool:
    """Checks that value is plain JSON data and reports whether it must be, or had better be, spelled by hand."""
    by_hand = False
    count = long = 0
    stack: list[tuple[Collection[object], int]] = [((value,), 0)]
    while stack:
        nodes, level = stack.pop()
        if level > max_depth and nodes:
            raise Violation("type", "", f"more than {max_depth} arrays and objects enclose a value")
        count += len(nodes)
        for node in nodes:
            if isinstance(node, str):
                long += len(node) if len(node) > _LONG else 0
            elif isinstance(node, dict):
                _check_names(node)
                stack.append((node.values(), level + 1))
            elif isinstance(node, (list, tuple)):
                stack.append((node, level + 1))
            elif node is not None and not isinstance(node, bool) and _is_fraction(node, largest):
                by_hand = True
    return by_hand or long > _WORTH * count


def _check_names(members: dict[object, object]) -> None:
    for name in members:
        if not isinstance(name, str):
            raise Violation("type", "", f"the member name {name!r} is not a string")


def _is_fraction(value: object, largest: int | None) -> bool:
    if isinstance(value, int):
        if largest is not None and not -largest <= value <= largest:
            raise Violation("range", "", f"{value} is outside the portable range of integers")
        return False
    if not isinstance(value, float):
        raise Violation("type", "", f"a {type(value).__name__} has no JSON form")
    if largest is not None:
        raise Violation("type", "", f"{value!r} is not an integer, and this wire has no other numbers")
    if not (isinstance(value, Number) or math.isfinite(value)):
        raise Violation("type", "", f"{value!r} has no JSON spelling")
    return True


_RARE: Final = bytes(byte for byte in range(0x20) if byte not in b"\t\n\r")


def _quote(text: str) -> bytes:
    """Quotes a string. The interpreter takes a long one character by character; whole passes are ten times faster."""
    data = text.encode("utf-8")
    if len(text) < _LONG or len(data.translate(None, _RARE)) != len(data):
        return _ENCODER.encode(text).encode("utf-8")
    data = data.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    data = data.replace(b"\n", b"\\n").replace(b"\r", b"\\r").replace(b"\t", b"\\t")
    return b'"%b"' % data


def _spell(value: object, out: list[bytes]) -> None:
    if isinstance(value, str):
        out.append(_quote(value))
    elif isinstance(value, dict):
        mark = b"{"
        for name in sorted(value):
            out.append(b"%b%b:" % (mark, _quote(name)))
            _spell(value[name], out)
            mark = b","
        out.append(b"{}" if mark == b"{" else b"}")
    elif isinstance(value, (list, tuple)):
        mark = b"["
        for element in value:
            out.append(mark)
            _spell(element, out)
            mark = b","
        out.append(b"[]" if mark == b"[" else b"]")
    elif isinstance(value, Number):
        out.append(value.text.encode("utf-8"))
    else:
        out.append(_ENCODER.encode(value).encode("utf-8"))


def _spelled(value: object, *, by_hand: bool) -> bytes:
    try:
        if not by_hand:
            return _ENCODER.encode(value).encode("utf-8")
        pieces: list[bytes] = []
        _spell(value, pieces)
        return b"".join(pieces)
    except UnicodeEncodeError:
        raise Violation("type", "", "a string holds a lone surrogate") from None
    except RecursionError:
        raise Violation("type", "", "the nesting is deeper than this process can write") from None


def is_sparse(data: bytes) -> bool:
    """Reports whether a text is made of long strings for the most part, which other ways suit than many short values."""
    return len(data) > _LONG and len(data) > _WORTH * data.count(b'"')


def respell(value: object, *, sparse: bool) -> bytes:
    """Spells canonically what the decoder of the interpreter made of a text. Raises Violation for a lone surrogate."""
    return _spelled(value, by_hand=sparse)


def encode(value: object, *, max_depth: int = DEFAULT_DEPTH, largest: int | None = None) -> bytes:
    """Spells plain JSON data canonically. Raises Violation for what JSON cannot hold.

    Plain data are dict with string keys, list, tuple, str, int, float, bool and None. largest refuses fractions, and
    integers that are larger than it by their magnitude.
    """
    return _spelled(value, by_hand=_survey(value, max_depth, largest))
