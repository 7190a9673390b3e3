"""The tools of a session by epoch: each call runs what the model saw when it was made.

A change is staged, published by the host, and committed with what the host accepted. The host may send a call
for the new epoch before its acknowledgement arrives, so the staged tools answer for it too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from octet_extension._agreement import ToolSpec
from octet_extension._errors import LocalProtocolError, RemoteProtocolError

__all__ = ["Catalogs"]


class Catalogs:
    """The committed catalogs, the newest last, and the staged one."""

    def __init__(self, tools: Iterable[ToolSpec], *, kept: int) -> None:
        self._committed: deque[tuple[int, dict[str, ToolSpec]]] = deque(maxlen=kept)
        self._committed.append((0, {tool.name: tool for tool in tools}))
        self._staged: tuple[int, dict[str, ToolSpec]] | None = None

    @property
    def revision(self) -> int:
        """The epoch that the host acknowledged last."""
        return self._committed[-1][0]

    @property
    def current(self) -> Mapping[str, ToolSpec]:
        """The tools of that epoch."""
        return self._committed[-1][1]

    def at(self, revision: int | None) -> Mapping[str, ToolSpec] | None:
        """Returns the tools of an epoch, or None for one that is unknown or gone."""
        if revision is None:
            return self.current
        if self._staged is not None and self._staged[0] == revision:
            return self._staged[1]
        return next((tools for epoch, tools in self._committed if epoch == revision), None)

    def stage(self, add: Iterable[ToolSpec] = (), remove: Iterable[str] = ()) -> None:
        """Prepares the next epoch. Raises LocalProtocolError while another one waits."""
        if self._staged is not None:
            raise LocalProtocolError("another change of the tools waits for the host: make one at a time")
        gone = set(remove)
        tools = {name: tool for name, tool in self.current.items() if name not in gone}
        tools.update((tool.name, tool) for tool in add)
        self._staged = (self.revision + 1, tools)

    def check(self, accepted: Iterable[str]) -> None:
        """Raises RemoteProtocolError for a tool that was never registered; the change is then dropped."""
        staged = self._staged
        strangers = [] if staged is None else sorted(set(accepted).difference(staged[1]))
        if strangers:
            self._staged = None
            raise RemoteProtocolError(
                f"the host acknowledged the tool {strangers[0]!r}, never registered: the catalog stays as it was"
            )

    def commit(self, revision: int, accepted: Iterable[str]) -> None:
        """Puts the staged epoch in force with the tools that the host accepted.

        Raises RemoteProtocolError for an epoch that is not the next one; the change is then dropped.
        """
        staged, self._staged = self._staged, None
        if staged is None or staged[0] != revision:
            raise RemoteProtocolError(f"the host acknowledged epoch {revision} of the tools, not {self.revision + 1}")
        names = set(accepted)
        self._committed.append((revision, {name: tool for name, tool in staged[1].items() if name in names}))

    def drop(self) -> None:
        """Forgets the staged epoch."""
        self._staged = None
