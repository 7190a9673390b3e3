"""The shapes of single values: strings, numbers, ids, opaque JSON, lists and maps.

A shape judges a JSON value and gives its typed form. Every shape checks in one fixed order, the same in
each language, so that a broken value has one verdict, one violation and one pointer.
"""

from __future__ import annotations

import abc
import enum
import re
from collections.abc import Mapping, Sequence
from typing import Final, cast

from ._json import Number, Violation, encode

__all__ = [
    "ABSENT",
    "ANY",
    "BOOLEAN",
    "OBJECT",
    "Absent",
    "Blob",
    "Choice",
    "Const",
    "Id",
    "Integer",
    "List",
    "MapOf",
    "Real",
    "Shape",
    "Text",
    "below",
    "kind_of",
]


class Absent(enum.Enum):
    """The type of ABSENT: a member that is not there, which is not the same as null."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False


ABSENT: Final = Absent.ABSENT
"""The member is not there."""


class Shape(abc.ABC):
    """What a value must look like."""

    __slots__ = ()

    @abc.abstractmethod
    def read(self, value: object) -> object:
        """Judges a JSON value that is not null and returns its typed form. Raises Violation."""

    def write(self, value: object) -> object:
        """Returns the JSON value of a typed one, without judging it."""
        return value


_KINDS: Final = (
    (bool, "a boolean"),
    (str, "a string"),
    ((int, float), "a number"),
    (dict, "an object"),
    (list, "an array"),
)


def kind_of(value: object) -> str:
    """Returns the JSON type of a value, with its article, for messages."""
    if value is None:
        return "null"
    return next((kind for types, kind in _KINDS if isinstance(value, types)), f"a {type(value).__name__}")


def _wrong_type(want: str, value: object) -> Violation:
    return Violation("type", "", f"must be {want}, not {kind_of(value)}")


def _utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def below(token: str | int, violation: str, detail: str) -> Violation:
    """Returns a violation at a member or element of the value at hand."""
    found = Violation(violation, "", detail)
    found.under(token)
    return found


_FORBIDDEN_CONTROLS: Final[Mapping[str, re.Pattern[str] | None]] = {
    "": None,
    "none": re.compile("[\x00-\x1f\x7f-\x9f]"),
    "text": re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]"),
    "edit": re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"),
}


class Text(Shape):
    """A string, bounded in UTF-8 bytes, in an identifier class or not."""

    __slots__ = ("_checked", "_controls", "_max", "_min", "_not_blank", "_pattern", "_source")

    def __init__(
        self,
        *,
        min_bytes: int = 0,
        max_bytes: int | None = None,
        not_blank: bool = False,
        controls: str = "",
        pattern: str = "",
    ) -> None:
        self._min = min_bytes
        self._max = max_bytes
        self._not_blank = not_blank
        self._controls = _FORBIDDEN_CONTROLS[controls]
        self._source = pattern
        self._pattern: re.Pattern[str] | None = None
        self._checked = bool(min_bytes or max_bytes is not None or not_blank or controls or pattern)

    def read(self, value: object) -> object:
        if not isinstance(value, str):
            raise _wrong_type("a string", value)
        if self._checked:
            self._check(value)
        return value

    def _check(self, value: str) -> None:
        size = _utf8_length(value)
        if size < self._min:
            raise Violation("bytes", "", f"must have at least {self._min} bytes, not {size}")
        if self._max is not None and size > self._max:
            raise Violation("bytes", "", f"must have at most {self._max} bytes, not {size}")
        if self._not_blank and not value.strip(" \t\n\r\v\f"):
            raise Violation("bytes", "", "must not be blank")
        if self._controls is not None and (control := self._controls.search(value)) is not None:
            raise Violation("pattern", "", f"must not hold the control character U+{ord(control[0]):04X}")
        if self._source and self._compiled().fullmatch(value) is None:
            raise Violation("pattern", "", f"must match {self._source}, got {value[:80]!r}")

    def _compiled(self) -> re.Pattern[str]:
        """Returns the pattern, compiled when a value first needs it: a start needs few of a wire's patterns."""
        if self._pattern is None:
            self._pattern = re.compile(self._source, re.ASCII)
        return self._pattern


class Const(Shape):
    """Exactly one string."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def read(self, value: object) -> object:
        if not isinstance(value, str):
            raise _wrong_type("a string", value)
        if value != self._value:
            raise Violation("value", "", f"must be {self._value!r}, got {value[:80]!r}")
        return value


class Choice(Shape):
    """One string of a list; an open list keeps the strings that it does not name."""

    __slots__ = ("_open", "_values")

    def __init__(self, values: Sequence[str], *, keep_unknown: bool = False) -> None:
        self._values = frozenset(values)
        self._open = keep_unknown

    def read(self, value: object) -> object:
        if not isinstance(value, str):
            raise _wrong_type("a string", value)
        if value not in self._values and not self._open:
            names = ", ".join(repr(name) for name in sorted(self._values))
            raise Violation("value", "", f"must be one of {names}, got {value[:80]!r}")
        return value


class _Boolean(Shape):
    __slots__ = ()

    def read(self, value: object) -> object:
        if not isinstance(value, bool):
            raise _wrong_type("a boolean", value)
        return value


def _integer(value: object) -> int | None:
    """Returns the integer that value spells without fraction or exponent, or None.

    An integer too long to convert comes back as one just outside every bound a model can name.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, Number) and value.text.lstrip("-").isdigit():
        if float(value) == 0.0:
            return 0
        return -(1 << 64) if value.text[0] == "-" else 1 << 64
    return None


class Integer(Shape):
    """A number spelled as an integer, between two bounds, both included."""

    __slots__ = ("_max", "_min")

    def __init__(self, minimum: int, maximum: int) -> None:
        self._min = minimum
        self._max = maximum

    def read(self, value: object) -> object:
        number = _integer(value)
        if number is None:
            raise _wrong_type("an integer", value)
        if not self._min <= number <= self._max:
            raise Violation("range", "", f"must be an integer from {self._min} to {self._max}")
        return number


class Real(Shape):
    """Any JSON number, with bounds or without."""

    __slots__ = ("_max", "_min")

    def __init__(self, minimum: int | None = None, maximum: int | None = None) -> None:
        self._min = minimum
        self._max = maximum

    def read(self, value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise _wrong_type("a number", value)
        if self._min is not None and value < self._min:
            raise Violation("range", "", f"must be at least {self._min}")
        if self._max is not None and value > self._max:
            raise Violation("range", "", f"must be at most {self._max}")
        return value


class Id(Shape):
    """A JSON-RPC id: a string of 1 to max_bytes bytes, or an integer from 0 to maximum."""

    __slots__ = ("_max", "_max_bytes")

    def __init__(self, *, max_bytes: int | None, maximum: int | None) -> None:
        self._max_bytes = max_bytes
        self._max = maximum

    def read(self, value: object) -> object:
        if isinstance(value, str):
            size = _utf8_length(value)
            if size == 0 or (self._max_bytes is not None and size > self._max_bytes):
                raise Violation("id", "", f"a string id must have 1 to {self._max_bytes} bytes, not {size}")
            return value
        number = _integer(value)
        if number is None:
            raise Violation("id", "", f"must be a string or an integer, not {kind_of(value)}")
        if number < 0 or isinstance(value, Number) or (self._max is not None and number > self._max):
            raise Violation("id", "", f"an integer id must be from 0 to {self._max}")
        return number


_ANY_DEPTH: Final = 900  # whoever reads or writes the whole value bounds its depth


def _check_encoded(value: object, bound: int) -> None:
    size = len(encode(value, max_depth=_ANY_DEPTH))
    if size > bound:
        raise Violation("bytes", "", f"must have at most {bound} bytes as compact JSON, not {size}")


class Blob(Shape):
    """Any JSON value, or any object, kept as it is; bounded in encoded bytes or not."""

    __slots__ = ("_max", "_object")

    def __init__(self, *, object_only: bool = False, max_encoded_bytes: int | None = None) -> None:
        self._object = object_only
        self._max = max_encoded_bytes

    def read(self, value: object) -> object:
        if self._object and not isinstance(value, dict):
            raise _wrong_type("an object", value)
        if self._max is not None:
            _check_encoded(value, self._max)
        return value


BOOLEAN: Final = _Boolean()
ANY: Final = Blob()
OBJECT: Final = Blob(object_only=True)


class List(Shape):
    """An array. Every element is judged first, then the count, then uniqueness, then the encoded size."""

    __slots__ = ("_element", "_max", "_max_encoded", "_min", "_unique", "_unique_by")

    def __init__(
        self,
        element: Shape,
        *,
        min_items: int = 0,
        max_items: int | None = None,
        unique: bool = False,
        unique_by: str = "",
        max_encoded_bytes: int | None = None,
    ) -> None:
        self._element = element
        self._min = min_items
        self._max = max_items
        self._unique = unique
        self._unique_by = unique_by
        self._max_encoded = max_encoded_bytes

    def read(self, value: object) -> object:
        if not isinstance(value, (list, tuple)):
            raise _wrong_type("an array", value)
        read = self._element.read
        out: list[object] = []
        for index, element in enumerate(value):
            if element is None:
                raise below(index, "null", "must not be null")
            try:
                out.append(read(element))
            except Violation as found:
                found.under(index)
                raise
        if len(out) < self._min:
            raise Violation("items", "", f"must have at least {self._min} elements, not {len(out)}")
        if self._max is not None and len(out) > self._max:
            raise Violation("items", "", f"must have at most {self._max} elements, not {len(out)}")
        if self._unique or self._unique_by:
            self._check_unique(value)
        if self._max_encoded is not None:
            _check_encoded(value, self._max_encoded)
        return out

    def _check_unique(self, value: Sequence[object]) -> None:
        seen: set[str] = set()
        for index, element in enumerate(value):
            key = element.get(self._unique_by) if self._unique_by and isinstance(element, dict) else element
            if not isinstance(key, str):
                continue
            if key in seen:
                raise below(index, "duplicate", f"{key!r} stands twice")
            seen.add(key)

    def write(self, value: object) -> object:
        write = self._element.write
        return [write(element) for element in cast("Sequence[object]", value)]


class MapOf(Shape):
    """An object with free member names and values of one shape."""

    __slots__ = ("_element", "_key_pattern")

    def __init__(self, element: Shape, *, key_pattern: str = "") -> None:
        self._element = element
        self._key_pattern = re.compile(key_pattern, re.ASCII) if key_pattern else None

    def read(self, value: object) -> object:
        if not isinstance(value, dict):
            raise _wrong_type("an object", value)
        out: dict[str, object] = {}
        # Ascending by name: not every language can tell in which order the members stand.
        for name, element in sorted(value.items(), key=lambda item: item[0]):
            if self._key_pattern is not None and self._key_pattern.fullmatch(name) is None:
                raise below(name, "pattern", f"the name must match {self._key_pattern.pattern}")
            if element is None:
                raise below(name, "null", "must not be null")
            try:
                out[name] = self._element.read(element)
            except Violation as found:
                found.under(name)
                raise
        return out

    def write(self, value: object) -> object:
        return {name: self._element.write(element) for name, element in cast("Mapping[str, object]", value).items()}
