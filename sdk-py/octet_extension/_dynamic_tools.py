"""Tools that come and go while the session runs: each change is one transaction with the host."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from octet_extension._agreement import Agreement, ToolSpec
from octet_extension._catalogs import Catalogs
from octet_extension._dialect import Dialect
from octet_extension._errors import LocalProtocolError
from octet_extension._tools import Tool

if TYPE_CHECKING:
    from octet_extension._generated.feature_wire import ToolsRegisterResult

__all__ = ["Catalog", "DynamicTools", "Keeper"]


class Catalog(NamedTuple):
    """What the host acknowledged: the epoch, and the names of every tool in it."""

    revision: int
    tools: tuple[str, ...]


class Keeper(Protocol):
    """Who holds the catalogs of a session and its way to the host. The runtime is one."""

    dialect: Dialect
    catalogs: Catalogs

    def guard(self) -> threading.Lock:
        """Returns the lock of the session."""
        ...

    def agreement(self) -> Agreement:
        """Returns what was agreed at initialize."""
        ...

    def ask(self, scope: None, service: str, members: Mapping[str, object], *, typed: bool = True) -> object:
        """Sends a request and waits."""
        ...


class DynamicTools:
    """The tools of a session. Its methods wait for the host and may be used from any thread but the event loop's.

    They need the feature dynamic_tools. A change shows to the model at its next request; calls that the model made
    before run the tools that it saw. What the host refuses leaves everything as it was.
    """

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._transaction = threading.Lock()

    @property
    def revision(self) -> int:
        """The epoch that is in force, 0 from initialize on."""
        return self._keeper.catalogs.revision

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools in force."""
        return tuple(self._keeper.catalogs.current)

    def register(self, *tools: Tool) -> Catalog:
        """Adds tools, each made by make_tool, or puts them in place of those with the same name."""
        names = [tool.name for tool in tools]
        if not tools:
            raise LocalProtocolError("nothing to register: give at least one tool")
        for name in names:
            if names.count(name) > 1:
                raise LocalProtocolError(f"tool {name!r} is given twice: give one of the two another name")
        for tool in tools:
            self._keeper.dialect.check_tool(tool)
        return self._change("tools.register", tools, [])

    def unregister(self, *names: str) -> Catalog:
        """Takes tools away; names that are not there do no harm."""
        if not names:
            raise LocalProtocolError("nothing to unregister: give at least one name")
        return self._change("tools.unregister", [], list(dict.fromkeys(names)))

    def _change(self, service: str, add: Sequence[ToolSpec], remove: Sequence[str]) -> Catalog:
        keeper = self._keeper
        features = keeper.agreement().features
        members: dict[str, object] = {"names": list(remove)}
        if add:
            members = {"tools": [keeper.dialect.definition(spec, features) for spec in add]}
        with self._transaction:
            with keeper.guard():
                keeper.catalogs.stage(add, remove)
            try:
                result = cast("ToolsRegisterResult", keeper.ask(None, service, members))
            except BaseException:
                with keeper.guard():
                    keeper.catalogs.drop()
                raise
            with keeper.guard():
                keeper.catalogs.check(result.tools)
                keeper.catalogs.commit(result.revision, result.tools)
            return Catalog(result.revision, tuple(result.tools))
