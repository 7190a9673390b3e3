"""What the generated services, events and hooks are written on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from ._shapes import ABSENT

__all__ = ["Caller", "Registrar", "Service"]


class Caller(Protocol):
    """Who sends for a service: it knows the session, and which request of the host the message belongs to."""

    def ask(self, service: str, members: Mapping[str, object]) -> object:
        """Sends a request and waits. Returns the judged result, or None for one without members."""
        ...

    def tell(self, service: str, members: Mapping[str, object]) -> None:
        """Sends a notification."""
        ...


class Service:
    """The services of one noun."""

    __slots__ = ("_caller",)

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def _ask(self, service: str, members: Mapping[str, object]) -> object:
        return self._caller.ask(service, {name: value for name, value in members.items() if value is not ABSENT})

    def _tell(self, service: str, members: Mapping[str, object]) -> None:
        self._caller.tell(service, {name: value for name, value in members.items() if value is not ABSENT})


class Registrar(Protocol):
    """Who keeps the handlers of an extension."""

    def add_event(self, verb: str, handler: Callable[..., object]) -> None:
        """Takes the handler of a notification. Raises when this API version has no such notification."""
        ...

    def add_hook(self, name: str, handler: Callable[..., object]) -> None:
        """Takes the handler of a hook. Raises when this API version has no such hook."""
        ...
