"""What an author serves besides tools: a handler per method, and per name where a method has several."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TypeAlias

from octet_extension._generated._models import Model
from octet_extension._signature import CONTEXT, MODEL, SCOPE, Plan

__all__ = ["Endpoint", "Endpoints", "Listener", "Shortcut"]


@dataclasses.dataclass(eq=False, repr=False, slots=True)
class Endpoint:
    """The handler of a request, what it is given, and what its answer becomes."""

    handler: Callable[..., object]
    plan: Plan
    scope: type
    """Class of the scope that stands for the request."""
    answer: Callable[[object], object]
    """Turns what the handler returned into the result, judged. Raises InvalidParams or LocalProtocolError."""
    is_async: bool
    """Whether the handler is a coroutine function."""

    def arguments(self, scope: object, payload: object, model: Model | None, context: object) -> list[object]:
        """Returns the arguments of the handler, in order."""
        given = {SCOPE: scope, MODEL: model, CONTEXT: context}
        return [given.get(what, payload) for what in self.plan]


Endpoints: TypeAlias = Mapping[str, Mapping[str, Endpoint]]
"""Handlers by method, then by name; the name is empty where the method has one handler."""


@dataclasses.dataclass(eq=False, repr=False, slots=True)
class Listener:
    """The handler of a notification."""

    handler: Callable[..., object]
    plan: Plan


@dataclasses.dataclass(eq=False, repr=False, slots=True)
class Shortcut:
    """A key that a person may press. The handler takes nothing, or the session."""

    id: str
    key: str
    description: str
    handler: Callable[..., object]
    plan: Plan
