"""The rows of the generated tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

__all__ = ["Capability", "ErrorCode", "Feature", "Method", "MethodShape", "by_name"]


class MethodShape(NamedTuple):
    """Models of a method for some API versions; empty names mean none."""

    versions: tuple[str, ...]
    params: str
    result: str
    nullable: bool


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One row of the method table."""

    name: str
    versions: tuple[str, ...]
    notification: bool
    direction: str
    gate: str
    offer: str
    terminal: str
    status: str
    shapes: tuple[MethodShape, ...]


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


class Capability(NamedTuple):
    """One capability of a wire that negotiates a contract."""

    name: str
    offer: str
    status: str
    needs: tuple[str, ...]


_Row = TypeVar("_Row", Method, ErrorCode, Feature, Capability)


def by_name(rows: Iterable[_Row]) -> dict[str, _Row]:
    """Indexes the rows of a table by their names, in their order."""
    return {row.name: row for row in rows}
