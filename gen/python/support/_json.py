"""Strict JSON: a reader that refuses what peers disagree about, and a writer with one spelling per value.

Reading: members may not repeat, text is well-formed Unicode, numbers keep their spelling, nesting has a
bound. Writing: members ascending, no white space, one spelling for every string.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection
from typing import Final, Self

__all__ = ["DEFAULT_DEPTH", "JsonSyntaxError", "Number", "Violation", "encode", "parse", "too_deep"]

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


_LONE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
# Integers that the fast decoder would not keep: negative zero, and anything that may be out of range.
_AWKWARD_INTEGER = re.compile(r"-0(?![0-9.eE])|[0-9]{16}")
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]|[^\s\[\]{}",:]++', re.DOTALL)
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


def too_deep(text: str, bound: int) -> bool:
    """Reports whether more than bound arrays and objects enclose some value of the JSON text.

    It looks at brackets alone and takes any text, so it can run before the parser, which recurses.
    """
    if text.count("[") + text.count("{") <= bound:
        return False
    level = 0
    for token in _TOKEN.finditer(text):
        first = text[token.start()]
        if first in "]}":
            level -= 1
            continue
        if level > bound:
            return True
        if first in "[{":
            level += 1
    return False


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
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as fault:
            raise JsonSyntaxError("the bytes are not UTF-8", fault.start) from None
    elif not text.isascii() and _LONE.search(text):
        raise JsonSyntaxError("the text holds a lone surrogate")
    if too_deep(text, max_depth):
        raise JsonSyntaxError(f"more than {max_depth} arrays and objects enclose a value")
    decoder = _EXACT if _AWKWARD_INTEGER.search(text) else _FAST
    try:
        value: object = decoder.decode(text)
    except JsonSyntaxError:
        raise
    except json.JSONDecodeError as fault:
        raise JsonSyntaxError(fault.msg.lower().removesuffix(" at"), fault.pos) from None
    except RecursionError:
        raise JsonSyntaxError("the nesting is deeper than this process can read") from None
    if _SURROGATE_ESCAPE.search(text) and _has_lone_surrogate(value):
        raise JsonSyntaxError("a string holds a lone surrogate")
    return value


_PLAIN = frozenset((str, int, bool, type(None)))
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)


def _survey(value: object, max_depth: int) -> bool:
    """Checks that value is plain JSON data and reports whether it holds a float."""
    if type(value) in _PLAIN:
        return False
    fractions = False
    stack: list[tuple[Collection[object], int]] = [((value,), 0)]
    while stack:
        nodes, level = stack.pop()
        if level > max_depth and nodes:
            raise Violation("type", "", f"more than {max_depth} arrays and objects enclose a value")
        for node in nodes:
            if type(node) in _PLAIN or isinstance(node, (str, int)):
                continue
            if isinstance(node, dict):
                for name in node:
                    if not isinstance(name, str):
                        raise Violation("type", "", f"the member name {name!r} is not a string")
                stack.append((node.values(), level + 1))
            elif isinstance(node, (list, tuple)):
                stack.append((node, level + 1))
            elif isinstance(node, float):
                if not (isinstance(node, Number) or math.isfinite(node)):
                    raise Violation("type", "", f"{node!r} has no JSON spelling")
                fractions = True
            else:
                raise Violation("type", "", f"a {type(node).__name__} has no JSON form")
    return fractions


def _spell(value: object, out: list[str]) -> None:
    if isinstance(value, dict):
        mark = "{"
        for name in sorted(value):
            out.append(f"{mark}{_ENCODER.encode(name)}:")
            _spell(value[name], out)
            mark = ","
        out.append("{}" if mark == "{" else "}")
    elif isinstance(value, (list, tuple)):
        mark = "["
        for element in value:
            out.append(mark)
            _spell(element, out)
            mark = ","
        out.append("[]" if mark == "[" else "]")
    elif isinstance(value, Number):
        out.append(value.text)
    else:
        out.append(_ENCODER.encode(value))


def encode(value: object, *, max_depth: int = DEFAULT_DEPTH) -> bytes:
    """Spells plain JSON data canonically. Raises Violation for what JSON cannot hold.

    Plain data are dict with string keys, list, tuple, str, int, float, bool and None.
    """
    try:
        if _survey(value, max_depth):
            pieces: list[str] = []
            _spell(value, pieces)
            return "".join(pieces).encode("utf-8")
        return _ENCODER.encode(value).encode("utf-8")
    except UnicodeEncodeError:
        raise Violation("type", "", "a string holds a lone surrogate") from None
    except RecursionError:
        raise Violation("type", "", "the nesting is deeper than this process can write") from None
