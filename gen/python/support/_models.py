"""Records, unions and the classes they are read into.

A record is judged in a fixed order: it is an object; unknown members, the smallest name first; forbidden
members; then every field as the table lists it. A union reads its tag and goes on with that record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Final, NamedTuple, Self, cast

from ._json import DEFAULT_DEPTH, Violation, encode, parse
from ._shapes import ABSENT, Shape, below, kind_of

__all__ = [
    "NOTHING",
    "Decoded",
    "Either",
    "EitherShape",
    "Field",
    "Model",
    "RecordShape",
    "Ref",
    "Scalar",
    "UnionShape",
    "Variant",
]


NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
"""What an open record holds beyond its list when nothing is there."""


class Ref(Shape):
    """A record or union by its class, whose own shape is looked up when a value arrives."""

    __slots__ = ("_model",)

    def __init__(self, model: type[Model]) -> None:
        self._model = model

    def read(self, value: object) -> object:
        return self._model.SHAPE.read(value)

    def write(self, value: object) -> object:
        return self._model.SHAPE.write(value)


class Field(NamedTuple):
    """One member of a record. attribute differs from name where name is not a Python identifier."""

    name: str
    attribute: str
    shape: Shape
    required: bool = False
    nullable: bool = False


class RecordShape(Shape):
    """An object with listed members, judged in the order of the table."""

    __slots__ = ("_at_most_one", "_closed", "_exactly_one", "_fields", "_forbidden", "_known", "_model")

    def __init__(
        self,
        model: Callable[..., Model],
        fields: Sequence[Field],
        *,
        closed: bool = False,
        forbidden: Sequence[str] = (),
        exactly_one: Sequence[str] = (),
        at_most_one: Sequence[str] = (),
    ) -> None:
        self._model = model
        self._fields = tuple(fields)
        self._known = frozenset(field.name for field in fields)
        self._closed = closed
        self._forbidden = tuple(forbidden)
        self._exactly_one = tuple(exactly_one)
        self._at_most_one = tuple(at_most_one)

    @property
    def fields(self) -> tuple[Field, ...]:
        """The members, in the order of the table."""
        return self._fields

    def read(self, value: object) -> object:
        if not isinstance(value, dict):
            raise Violation("not_object", "", f"must be an object, not {kind_of(value)}")
        out: dict[str, object] = {}
        if not self._known.issuperset(value):
            self._unknown(value, out)
        get = value.get
        for name, attribute, shape, required, nullable in self._fields:
            member = get(name, ABSENT)
            if member is ABSENT:
                if required:
                    raise below(name, "missing", "is missing")
            elif member is None:
                if not nullable:
                    raise below(name, "null", "must not be null")
                out[attribute] = None
            else:
                try:
                    out[attribute] = shape.read(member)
                except Violation as found:
                    found.under(name)
                    raise
        if self._exactly_one or self._at_most_one:
            self._check_together(value)
        return self._model(**out)

    def _check_together(self, value: dict[str, object]) -> None:
        """Judges members that exclude each other; null counts as not there."""
        names = self._exactly_one
        if names and not any(value.get(name) is not None for name in names):
            raise below(names[0], "missing", f"is missing: one of {', '.join(names)} is needed")
        for names in (self._exactly_one, self._at_most_one):
            present = [name for name in names if value.get(name) is not None]
            if len(present) > 1:
                raise below(present[1], "forbidden", f"must not be here: only one of {', '.join(names)} may be")

    def _unknown(self, value: dict[str, object], out: dict[str, object]) -> None:
        unknown = [name for name in value if name not in self._known]
        if self._closed:
            raise below(min(unknown), "unknown", "is not a member of this object")
        for name in self._forbidden:
            if name in value:
                raise below(name, "forbidden", "must not be here")
        out["unknown_members"] = {name: value[name] for name in unknown}

    def write(self, value: object) -> object:
        out: dict[str, object] = {}
        for field in self._fields:
            member = getattr(value, field.attribute)
            if member is None:
                out[field.name] = None
            elif member is not ABSENT:
                out[field.name] = field.shape.write(member)
        if not self._closed:
            out.update(cast("Mapping[str, object]", getattr(value, "unknown_members")))  # noqa: B009
        return out


class Variant(NamedTuple):
    """One arm of a union."""

    tag: str
    model: type[Model]
    deferred: bool = False


class UnionShape(Shape):
    """An object whose tag member selects the record that it must match."""

    __slots__ = ("_tag", "_variants")

    def __init__(self, tag: str, variants: Sequence[Variant]) -> None:
        self._tag = tag
        self._variants = {variant.tag: variant for variant in variants}

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The arms, in the order of the table."""
        return tuple(self._variants.values())

    def read(self, value: object) -> object:
        if not isinstance(value, dict):
            raise Violation("not_object", "", f"must be an object, not {kind_of(value)}")
        tag = value.get(self._tag)
        variant = self._variants.get(tag) if isinstance(tag, str) else None
        if variant is None:
            names = ", ".join(repr(name) for name in self._variants)
            raise below(self._tag, "tag", f"must be one of {names}")
        if variant.deferred:
            raise below(self._tag, "deferred", f"{tag!r} is known but may not be sent")
        return variant.model.SHAPE.read(value)

    def write(self, value: object) -> object:
        return cast(Model, value).to_json()


class EitherShape(Shape):
    """A value whose JSON type selects what judges it: an enumeration for a string, a record for an object."""

    __slots__ = ("_object", "_word")

    def __init__(self, word: Shape, model: type[Model]) -> None:
        self._word = word
        self._object = model

    def read(self, value: object) -> object:
        if isinstance(value, str):
            return self._word.read(value)
        if isinstance(value, dict):
            return self._object.SHAPE.read(value)
        raise Violation("type", "", f"must be a string or an object, not {kind_of(value)}")

    def write(self, value: object) -> object:
        return value if isinstance(value, str) else cast(Model, value).to_json()


class Decoded:
    """What every model has in common: a shape, and the wire errors that report its violations."""

    __slots__ = ()
    SHAPE: ClassVar[Shape]
    VIOLATION_ERRORS: ClassVar[Mapping[str, str]] = {}
    VERSION_ERROR: ClassVar[str] = ""
    """What a wrong member jsonrpc is reported as; empty where it is like every other violation."""
    MAX_DEPTH: ClassVar[int] = DEFAULT_DEPTH

    @classmethod
    def read(cls, value: object) -> object:
        """Judges a parsed JSON value and returns its typed form. Raises Violation, its error filled in."""
        try:
            return cls.SHAPE.read(value)
        except Violation as found:
            found.error = cls.VIOLATION_ERRORS.get(found.violation, "")
            if cls.VERSION_ERROR and found.pointer == "/jsonrpc":
                found.error = cls.VERSION_ERROR
            raise

    @classmethod
    def recode(cls, text: bytes | str) -> bytes:
        """Decodes a text and returns its canonical spelling. Raises JsonSyntaxError or Violation."""
        typed = cls.read(parse(text, max_depth=cls.MAX_DEPTH))
        return encode(cls.SHAPE.write(typed), max_depth=cls.MAX_DEPTH)


class Model(Decoded):
    """A record or a union of records, with the surface of a dataclass: keywords, equality, a readable text."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._names())

    def __repr__(self) -> str:
        members = ((name, getattr(self, name)) for name in self._names())
        shown = (f"{name}={value!r}" for name, value in members if value is not ABSENT)
        return f"{type(self).__name__}({', '.join(shown)})"

    def _names(self) -> tuple[str, ...]:
        return self.__slots__

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Judges a parsed JSON value. Raises Violation."""
        return cast(Self, cls.read(value))

    @classmethod
    def decode(cls, text: bytes | str) -> Self:
        """Reads a JSON text. Raises JsonSyntaxError or Violation."""
        return cls.from_json(parse(text, max_depth=cls.MAX_DEPTH))

    def replace(self, **changes: object) -> Self:
        """Returns a copy with other values for the given attributes."""
        return type(self)(**{name: getattr(self, name) for name in self._names()} | changes)

    def to_json(self) -> dict[str, object]:
        """Returns the JSON value: absent members left out, unknown ones put back. Judges nothing."""
        return cast("dict[str, object]", self.SHAPE.write(self))

    def encode(self) -> bytes:
        """Returns the canonical spelling. Raises Violation when the object breaks its own model."""
        value = self.to_json()
        self.read(value)
        return encode(value, max_depth=self.MAX_DEPTH)


class Scalar(Decoded):
    """A named string, such as an identifier class or an enumeration. It has no instances."""

    __slots__ = ()

    @classmethod
    def from_json(cls, value: object) -> str:
        """Judges a parsed JSON value. Raises Violation."""
        if value is None:
            found = Violation("null", "", "must not be null")
            found.error = cls.VIOLATION_ERRORS.get(found.violation, "")
            raise found
        return cast(str, cls.read(value))

    @classmethod
    def decode(cls, text: bytes | str) -> str:
        """Reads a JSON text. Raises JsonSyntaxError or Violation."""
        return cls.from_json(parse(text, max_depth=cls.MAX_DEPTH))


class Either(Decoded):
    """A word or a record, by the JSON type of the value. It has no instances of its own."""

    __slots__ = ()

    @classmethod
    def from_json(cls, value: object) -> object:
        """Judges a parsed JSON value and returns a string or the record. Raises Violation."""
        return cls.read(value)

    @classmethod
    def decode(cls, text: bytes | str) -> object:
        """Reads a JSON text. Raises JsonSyntaxError or Violation."""
        return cls.from_json(parse(text, max_depth=cls.MAX_DEPTH))
