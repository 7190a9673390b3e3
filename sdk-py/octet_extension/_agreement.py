"""What passes between a connection and its dialect: what an extension brings, what was agreed, what came in.

Here and beside it dataclasses do without equality, repr and frozen where nobody needs them: that costs every start.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

from octet_extension._endpoints import Endpoint, Shortcut
from octet_extension._generated._models import Model
from octet_extension._generated._rows import ErrorCode
from octet_extension._generated._shapes import ABSENT

__all__ = ["Agreement", "CommandSpec", "Invocation", "Opening", "Refusal", "ToolSpec", "Wishes"]

_MAX_DETAIL: Final = 1000  # characters of an error text; a peer's own words may be part of it


@dataclasses.dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool as the catalog shows it."""

    name: str
    description: str
    parameters: Mapping[str, object]
    output_schema: Mapping[str, object] | None = None
    extras: Mapping[str, object] = dataclasses.field(default_factory=dict)
    """Members that need a feature each, as JSON."""


@dataclasses.dataclass(eq=False, repr=False, slots=True)
class CommandSpec:
    """One command as the catalog shows it."""

    name: str
    description: str
    usage: str | None = None


@dataclasses.dataclass(eq=False, repr=False, slots=True, kw_only=True)
class Wishes:
    """What an extension brings to initialize."""

    tools: Sequence[ToolSpec] = ()
    commands: Sequence[CommandSpec] = ()
    features: Sequence[str] = ()
    """Features or capabilities to select where they are offered."""
    limit: frozenset[str] | None = None
    """Features outside of which none is selected; None for no limit."""
    events: frozenset[str] = frozenset()
    """Methods of the notifications that have a handler."""
    shortcuts: Sequence[Shortcut] = ()
    runtime_commands: bool = False
    declared: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    """Names that the manifest should list, by the key of its contributions."""
    concurrency: int | None = None


@dataclasses.dataclass(eq=False, repr=False, slots=True)
class Agreement:
    """What was agreed at initialize."""

    api: str
    features: frozenset[str]
    methods: frozenset[str] | None
    """Selected methods; None on a wire that selects features alone."""
    concurrency: int
    frame_bound: int
    workspace: str
    flags: Mapping[str, object]
    host: Mapping[str, object]
    """State of the host at initialize."""
    declared: Mapping[str, object]
    """Contributions of the manifest, as the host read them."""


@dataclasses.dataclass(eq=False, repr=False, slots=True)
class Opening:
    """The answer to initialize, the session it opens, and remarks for people."""

    result: dict[str, object]
    agreement: Agreement
    remarks: Sequence[str] = ()


@dataclasses.dataclass(eq=False, repr=False, slots=True)
class Invocation:
    """The parameters of a request for an author's handler."""

    tool: str
    """Name of the tool; empty for other requests."""
    arguments: Mapping[str, object]
    """Arguments of a tool, else all parameters."""
    context: Mapping[str, object]
    revision: int | None = None
    """Epoch of the catalog that a tool call belongs to."""
    endpoint: Endpoint | None = None
    """Handler of a request that is no tool call."""
    payload: object = None
    """What the handler of the endpoint is given, as JSON."""
    model: Model | None = None
    """The same as its model."""


class Refusal(Exception):
    """A request is answered with an error. detail is for people, data for the peer."""

    def __init__(self, row: ErrorCode, detail: str, data: object = ABSENT) -> None:
        super().__init__(detail)
        self.row = row
        self.detail = detail[:_MAX_DETAIL]
        self.data = data
