"""Type hints to JSON Schema, and JSON values to what the hints promise.

A hint gives two things: the schema that the host shows to the model, and a converter for values that the
schema has already accepted.
"""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias, Union, get_args, get_origin

from octet_extension._errors import LocalProtocolError
from octet_extension._results import plain
from octet_extension._schema import Misfit, validate

__all__ = ["Field", "Hint", "hint_of", "members_of"]

_Convert: TypeAlias = Callable[[object], object]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """What a schema says about an argument beyond its type: Annotated[int, Field(minimum=0)].

    A plain string in Annotated is the description alone.
    """

    description: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    examples: Sequence[object] | None = None

    def apply(self, schema: dict[str, object]) -> None:
        """Adds what is set to a schema."""
        for name, keyword in _KEYWORDS.items():
            value = getattr(self, name)
            if value is not None:
                schema[keyword] = plain(value)


_KEYWORDS: Final = {
    "description": "description",
    "minimum": "minimum",
    "maximum": "maximum",
    "min_length": "minLength",
    "max_length": "maxLength",
    "min_items": "minItems",
    "max_items": "maxItems",
    "examples": "examples",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Hint:
    """A schema and the converter that goes with it."""

    schema: dict[str, object]
    convert: _Convert


def _same(value: object) -> object:
    return value


def _to_int(value: object) -> object:
    return value if isinstance(value, int) else int(typing.cast(float, value))


def _to_float(value: object) -> object:
    return float(typing.cast(float, value))


_SCALARS: Final[Mapping[object, tuple[dict[str, object], _Convert]]] = {
    str: ({"type": "string"}, _same),
    bool: ({"type": "boolean"}, _same),
    int: ({"type": "integer"}, _to_int),
    float: ({"type": "number"}, _to_float),
    type(None): ({"type": "null"}, _same),
    None: ({"type": "null"}, _same),
    Any: ({}, _same),
    object: ({}, _same),
    dict: ({"type": "object"}, _same),
    list: ({"type": "array"}, _same),
}


def hint_of(annotation: object, where: str, above: tuple[object, ...] = ()) -> Hint:
    """Returns the schema and converter of a type hint. Raises LocalProtocolError that names where.

    above holds the classes that the hint stands inside, to find one that holds itself.
    """
    for scalar, (schema, convert) in _SCALARS.items():
        if annotation is scalar:
            return Hint(dict(schema), convert)
    generic = _GENERICS.get(get_origin(annotation))
    if generic is not None:
        return generic(annotation, where, above)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return _enum(annotation, where)
    if dataclasses.is_dataclass(annotation) or typing.is_typeddict(annotation):
        if annotation in above:
            raise LocalProtocolError(f"{where}: {_show(annotation)} holds itself, and a schema here has no references")
        return _record(annotation, where, (*above, annotation))
    raise LocalProtocolError(
        f"{where}: {_show(annotation)} has no schema: use str, int, float, bool, list, dict, Literal, Enum, a "
        "dataclass or a TypedDict, alone or in Optional and Annotated"
    )


def _show(annotation: object) -> str:
    return getattr(annotation, "__name__", None) or str(annotation)


def _annotated(annotation: object, where: str, above: tuple[object, ...]) -> Hint:
    inner, *extras = get_args(annotation)
    hint = hint_of(inner, where, above)
    for extra in extras:
        if isinstance(extra, str):
            hint.schema["description"] = extra
        elif isinstance(extra, Field):
            extra.apply(hint.schema)
    return hint


def _literal(annotation: object, where: str, _: tuple[object, ...]) -> Hint:
    return _choice(get_args(annotation), where)


def _choice(values: tuple[object, ...], where: str) -> Hint:
    for value in values:
        if not isinstance(value, (str, int, bool)) and value is not None:
            raise LocalProtocolError(f"{where}: a Literal here holds strings, integers, booleans or None")
    kinds = {type(value) for value in values}
    schema: dict[str, object] = {"enum": list(values)}
    if kinds == {str}:
        schema = {"type": "string", **schema}
    return Hint(schema, _same)


def _enum(kind: type[enum.Enum], where: str) -> Hint:
    hint = _choice(tuple(member.value for member in kind), where)
    return Hint(hint.schema, kind)


def _union(annotation: object, where: str, above: tuple[object, ...]) -> Hint:
    hints = [hint_of(option, where, above) for option in get_args(annotation)]

    def convert(value: object) -> object:
        for hint in hints:
            try:
                validate(hint.schema, value)
            except Misfit:
                continue
            return hint.convert(value)
        raise Misfit("", "fits none of the alternatives")

    return Hint({"anyOf": [hint.schema for hint in hints]}, convert)


def _list(annotation: object, where: str, above: tuple[object, ...]) -> Hint:
    element = hint_of(get_args(annotation)[0], where, above)
    return Hint(
        {"type": "array", "items": element.schema},
        lambda value: [element.convert(part) for part in typing.cast("list[object]", value)],
    )


def _dict(annotation: object, where: str, above: tuple[object, ...]) -> Hint:
    key, of = get_args(annotation)
    if key is not str:
        raise LocalProtocolError(f"{where}: the keys of a JSON object are strings, not {_show(key)}")
    element = hint_of(of, where, above)
    return Hint(
        {"type": "object", "additionalProperties": element.schema},
        lambda value: {name: element.convert(part) for name, part in typing.cast("dict[str, object]", value).items()},
    )


_GENERICS: Final[Mapping[object, Callable[[object, str, tuple[object, ...]], Hint]]] = {
    Annotated: _annotated,
    Literal: _literal,
    Union: _union,
    types.UnionType: _union,
    list: _list,
    Sequence: _list,
    dict: _dict,
    Mapping: _dict,
}


def members_of(hints: Mapping[str, tuple[object, object]], where: str, above: tuple[object, ...] = ()) -> Hint:
    """Returns the hint of an object with these members: name to type hint and default.

    A default of dataclasses.MISSING makes a member required, an ellipsis leaves it out of the schema. Converting
    gives a dict of what is present.
    """
    compiled = {name: hint_of(annotation, f"{where}.{name}", above) for name, (annotation, _) in hints.items()}
    properties: dict[str, object] = {}
    required = []
    for name, hint in compiled.items():
        default = hints[name][1]
        properties[name] = hint.schema
        if default is dataclasses.MISSING:
            required.append(name)
        elif default is not ...:
            hint.schema["default"] = plain(default)
    schema: dict[str, object] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False

    def convert(value: object) -> object:
        members = typing.cast("dict[str, object]", value)
        return {name: compiled[name].convert(member) for name, member in members.items()}

    return Hint(schema, convert)


def _record(kind: Any, where: str, above: tuple[object, ...]) -> Hint:
    hints = resolve(kind, where)
    if typing.is_typeddict(kind):
        members = {name: _typed_dict_member(kind, name, hint) for name, hint in hints.items()}
        return members_of(members, where, above)
    fields = {field.name: (hints[field.name], _default(field)) for field in dataclasses.fields(kind) if field.init}
    inner = members_of(fields, where, above)
    return Hint(inner.schema, lambda value: kind(**typing.cast("dict[str, object]", inner.convert(value))))


def _typed_dict_member(kind: Any, name: str, hint: object) -> tuple[object, object]:
    """Returns the hint of a member and whether it is required, which string annotations hide from the class."""
    required = name in kind.__required_keys__
    origin = get_origin(hint)
    if origin in {typing.Required, typing.NotRequired}:
        required = origin is typing.Required
        hint = get_args(hint)[0]
    return hint, dataclasses.MISSING if required else ...


def _default(field: dataclasses.Field[Any]) -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def resolve(thing: Any, where: str) -> dict[str, object]:
    """Returns the type hints of a class or function with Annotated kept. Raises LocalProtocolError."""
    try:
        return typing.get_type_hints(thing, include_extras=True)
    except (NameError, TypeError) as fault:
        raise LocalProtocolError(
            f"{where}: a type hint cannot be read ({fault}): define its type at module level"
        ) from None
