"""How the host of a test answers what the extension asks of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from octet_extension._envelope import Id
from octet_extension._errors import HostError
from octet_extension._generated._models import RecordShape
from octet_extension._generated._rows import Method
from octet_extension._results import plain

if TYPE_CHECKING:
    from octet_extension._host_session import HostSession
    from octet_extension._host_side import HostSide

__all__ = ["HostRequest", "Sent", "ServiceHandler", "Services"]

ServiceHandler: TypeAlias = Callable[[dict[str, object]], object]
"""Takes the parameters of a request and returns its result; raises HostError to refuse it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Sent:
    """What the extension sent by itself: a request or a notification."""

    service: str
    """Its name in the SDK, such as composer.set."""
    method: str
    params: Mapping[str, object]


class HostRequest:
    """A request of the extension that the test answers by hand."""

    def __init__(self, host: HostSession, request: Id, row: Method, params: Mapping[str, object]) -> None:
        self._host = host
        self.id = request
        self.service = row.service
        self.method = row.name
        self.params = params
        self.cancelled: str | None = None
        """Why the extension gave it up; None while it waits."""

    def reply(self, result: object) -> None:
        """Answers with a result."""
        side = self._host.side
        self._host.send(side.spell(side.response(self.id, plain(result))))

    def refuse(self, name: str, message: str = "", data: object = None) -> None:
        """Answers with an error, by its row of the error table."""
        side = self._host.side
        self._host.send(side.spell(side.failure(self.id, name, message, data)))

    def cancel(self, reason: str | None = None) -> None:
        """Cancels it, as a host does when the parent has settled."""
        self._host.cancel(self.id, reason)


class Services:
    """The handlers of a host, by service. What is held waits for the test."""

    def __init__(self, handlers: Mapping[str, ServiceHandler]) -> None:
        self.handlers = dict(handlers)
        self.held: set[str] = set()
        self.catalog: list[str] = []
        self._revision = 0

    def answer(self, request: HostRequest, row: Method, side: HostSide) -> None:
        """Answers a request, unless it is held."""
        if row.service in self.held:
            return
        handler = self.handlers.get(row.service) or self._standard(row, side)
        if handler is None:
            request.refuse("unknown_method", f"unsupported_feature {row.name}")
            return
        try:
            result = handler(dict(request.params))
        except HostError as fault:
            request.refuse(fault.name, fault.message, fault.data)
        else:
            request.reply({} if result is None else result)

    def _standard(self, row: Method, side: HostSide) -> ServiceHandler | None:
        if row.service == "tools.register":
            return self._register
        if row.service == "tools.unregister":
            return self._unregister
        model, array, _ = side.dialect.result_model(row)
        if not array and isinstance(model.SHAPE, RecordShape) and not any(one.required for one in model.SHAPE.fields):
            return lambda params: {}  # noqa: ARG005 - it is granted whatever it says
        return None

    def _register(self, params: dict[str, object]) -> object:
        tools = params["tools"]
        names = [str(tool["name"]) for tool in tools] if isinstance(tools, list) else []
        return self._changed([*self.catalog, *names])

    def _unregister(self, params: dict[str, object]) -> object:
        names = params["names"]
        gone = set(names) if isinstance(names, list) else set()
        return self._changed([name for name in self.catalog if name not in gone])

    def _changed(self, names: list[str]) -> object:
        self._revision += 1
        self.catalog = sorted(set(names))
        return {"revision": self._revision, "tools": self.catalog}
