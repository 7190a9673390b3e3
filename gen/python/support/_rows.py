"""The rows of the generated tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

__all__ = ["Capability", "ErrorCode", "Feature", "Hook", "Method", "MethodShape", "by_name"]


class MethodShape(NamedTuple):
    """Models of a method for some API versions; empty names mean none."""

    versions: tuple[str, ...]
    params: str
    result: str
    nullable: bool


@dataclasses.dataclass(eq=False, repr=False, slots=True, kw_only=True)  # a frozen one costs a start three times as much
class Method:
    """One row of the method table."""

    name: str
    versions: tuple[str, ...]
    notification: bool
    direction: str
    gate: str
    """What opens it; "-" for none; features joined by + open it together."""
    offer: str
    terminal: str
    status: str
    parent: str
    """How a message of the extension is tied to a request of the host; empty for what the host sends."""
    service: str
    """What the SDK calls it, noun and verb joined by a full stop; empty where it has no name there."""
    shapes: tuple[MethodShape, ...]
    gate_strict: bool = False
    """Between a client and a server: the gate is closed too where a connection named no feature."""
    transports: tuple[str, ...] = ()
    """Between a client and a server: where it is spoken; empty for what no server sends."""
    durable: str = ""
    """Between a client and a server: "yes", "no", or "-" for what only reads."""
    lane: str = ""
    """Between a client and a server: "legacy" for what is sent to older clients alone."""

    def shape(self, version: str) -> MethodShape:
        """Returns the models of an API version that has the method."""
        return next(shape for shape in self.shapes if version in shape.versions)


class ErrorCode(NamedTuple):
    """One row of the error table. A fixed message is sent exactly so."""

    name: str
    code: int
    message: str
    fixed: bool


class Feature(NamedTuple):
    """One feature of a wire that negotiates features."""

    name: str
    versions: tuple[str, ...]
    required: bool
    depends_on: tuple[str, ...]
    sets: tuple[str, ...] = ()
    """Between a client and a server: the default sets that hold it."""
    origin: str = ""
    """Between a client and a server: "registry", "server" or "retired"."""


class Capability(NamedTuple):
    """One capability of a wire that negotiates a contract."""

    name: str
    offer: str
    status: str
    needs: tuple[str, ...]


class Hook(NamedTuple):
    """One point at which a host asks extensions. feature is "-" for none."""

    name: str
    versions: tuple[str, ...]
    feature: str
    payload: str
    result: str
    deny: str


_Row = TypeVar("_Row", Method, ErrorCode, Feature, Capability, Hook)


def by_name(rows: Iterable[_Row]) -> dict[str, _Row]:
    """Indexes the rows of a table by their names, in their order."""
    return {row.name: row for row in rows}
