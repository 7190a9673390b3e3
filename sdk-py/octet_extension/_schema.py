"""A JSON Schema validator for the keywords that an output schema may use.

Other keywords are left to the host. Errors come as the first fault, with its JSON Pointer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from octet_extension._generated._json import Number, encode

__all__ = ["Misfit", "below", "validate"]


class Misfit(Exception):
    """A value does not satisfy a schema. pointer says where, reason what would."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"{pointer or 'the value'} {reason}")
        self.pointer = pointer
        self.reason = reason


_Schema = Mapping[str, object]


def _is_integer(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


_TYPES: Final[Mapping[str, Callable[[object], bool]]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _same(left: object, right: object) -> bool:
    """Equality of JSON values, in which true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(_same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[name], right[name]) for name in left)
    return left == right


def below(pointer: str, token: str | int) -> str:
    """Returns the JSON Pointer of a member or element."""
    return f"{pointer}/{str(token).replace('~', '~0').replace('/', '~1')}"


def validate(schema: object, value: object, pointer: str = "") -> None:
    """Judges plain JSON data. Raises Misfit at the first fault."""
    if schema is False:
        raise Misfit(pointer, "must not be here")
    if not isinstance(schema, Mapping):
        return
    _check_type(schema, value, pointer)
    if "const" in schema and not _same(schema["const"], value):
        raise Misfit(pointer, f"must be {schema['const']!r}")
    choices = schema.get("enum")
    if isinstance(choices, list) and not any(_same(choice, value) for choice in choices):
        raise Misfit(pointer, f"must be one of {', '.join(repr(choice) for choice in choices)}")
    if isinstance(value, str):
        _check_count(schema, len(value), pointer, ("minLength", "maxLength", "characters"))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        _check_number(schema, value, pointer)
    elif isinstance(value, list):
        _check_array(schema, value, pointer)
    elif isinstance(value, dict):
        _check_object(schema, value, pointer)
    _check_combined(schema, value, pointer)


def _check_type(schema: _Schema, value: object, pointer: str) -> None:
    wanted = schema.get("type")
    names = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(names, list):
        return
    if not any(isinstance(name, str) and name in _TYPES and _TYPES[name](value) for name in names):
        raise Misfit(pointer, f"must be of type {' or '.join(map(str, names))}")


def _bound(schema: _Schema, keyword: str) -> float | None:
    found = schema.get(keyword)
    return found if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def _check_count(schema: _Schema, count: int, pointer: str, words: tuple[str, str, str]) -> None:
    least, most, unit = words
    low, high = _bound(schema, least), _bound(schema, most)
    if low is not None and count < low:
        raise Misfit(pointer, f"must have at least {low} {unit}, not {count}")
    if high is not None and count > high:
        raise Misfit(pointer, f"must have at most {high} {unit}, not {count}")


def _check_number(schema: _Schema, value: float, pointer: str) -> None:
    shown = value.text if isinstance(value, Number) else value
    low, high = _bound(schema, "minimum"), _bound(schema, "maximum")
    above, under = _bound(schema, "exclusiveMinimum"), _bound(schema, "exclusiveMaximum")
    if low is not None and value < low:
        raise Misfit(pointer, f"must be at least {low}, not {shown}")
    if high is not None and value > high:
        raise Misfit(pointer, f"must be at most {high}, not {shown}")
    if above is not None and value <= above:
        raise Misfit(pointer, f"must be more than {above}, not {shown}")
    if under is not None and value >= under:
        raise Misfit(pointer, f"must be less than {under}, not {shown}")


def _check_array(schema: _Schema, value: Sequence[object], pointer: str) -> None:
    _check_count(schema, len(value), pointer, ("minItems", "maxItems", "elements"))
    if "items" in schema:
        for index, element in enumerate(value):
            validate(schema["items"], element, below(pointer, index))
    if schema.get("uniqueItems") is True:
        seen: set[object] = set()
        for index, element in enumerate(value):
            key = _key(element)
            if key in seen:
                raise Misfit(below(pointer, index), "must differ from the elements before it")
            seen.add(key)


def _key(value: object) -> object:
    """Returns a hashable stand-in that is equal where two JSON values are, in linear time."""
    if isinstance(value, (list, dict)):
        return encode(value)
    return (isinstance(value, bool), value)


def _check_object(schema: _Schema, value: Mapping[str, object], pointer: str) -> None:
    _check_count(schema, len(value), pointer, ("minProperties", "maxProperties", "members"))
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if name not in value:
            raise Misfit(below(pointer, name), "is missing")
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    for name, member in value.items():
        if name in known:
            validate(known[name], member, below(pointer, name))
        elif "additionalProperties" in schema:
            if schema["additionalProperties"] is False:
                raise Misfit(below(pointer, name), "is not known here")
            validate(schema["additionalProperties"], member, below(pointer, name))


def _fits(schema: object, value: object) -> bool:
    try:
        validate(schema, value)
    except Misfit:
        return False
    return True


def _check_combined(schema: _Schema, value: object, pointer: str) -> None:
    every, some, one = schema.get("allOf"), schema.get("anyOf"), schema.get("oneOf")
    for part in every if isinstance(every, list) else ():
        validate(part, value, pointer)
    if isinstance(some, list) and not any(_fits(part, value) for part in some):
        raise Misfit(pointer, "fits none of the alternatives")
    if isinstance(one, list) and sum(_fits(part, value) for part in one) != 1:
        raise Misfit(pointer, "must fit exactly one of the alternatives")


# --- output schemas -------------------------------------------------------------------------------
