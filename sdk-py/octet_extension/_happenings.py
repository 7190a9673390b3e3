"""What a connection tells its owner, and the request of the host that most of it is about."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import TypeAlias

from octet_extension._agreement import Agreement, Invocation, ToolSpec
from octet_extension._envelope import Id
from octet_extension._generated._models import Model
from octet_extension._generated._rows import Method

__all__ = [
    "Closed",
    "Event",
    "InputEnded",
    "Leaving",
    "Noticed",
    "Opened",
    "Remark",
    "Request",
    "RequestEnded",
    "RequestStarted",
    "State",
]


class State(enum.Enum):
    """Where the session stands."""

    NEW = "new"
    OPENING = "opening"
    READY = "ready"
    ENDING = "ending"
    CLOSED = "closed"


@dataclasses.dataclass(eq=False, repr=False, slots=True)
class Request:
    """A request of the host that has no answer yet. Two are the same only if they are one object."""

    id: Id
    row: Method
    tool: ToolSpec | None
    """The tool of a tool call."""
    invocation: Invocation
    agreement: Agreement
    sequence: int = 0


@dataclasses.dataclass(repr=False, slots=True)
class Opened:
    """The session is agreed and initialize is answered."""

    agreement: Agreement


@dataclasses.dataclass(repr=False, slots=True)
class RequestStarted:
    """A handler has to run."""

    request: Request


@dataclasses.dataclass(repr=False, slots=True)
class RequestEnded:
    """A request was answered for its handler, by a cancellation or the end of the session: the handler may stop."""

    request: Request
    reason: str


@dataclasses.dataclass(repr=False, slots=True)
class Noticed:
    """The host told something."""

    row: Method
    params: Model
    members: Mapping[str, object]


@dataclasses.dataclass(repr=False, slots=True)
class Remark:
    """Something people should read on stderr."""

    text: str


@dataclasses.dataclass(repr=False, slots=True)
class InputEnded:
    """No further message will come; live requests may still be answered."""


@dataclasses.dataclass(repr=False, slots=True)
class Leaving:
    """The host asks for the end, and has its answer once the connection is told that the session is left."""

    params: Mapping[str, object]


@dataclasses.dataclass(repr=False, slots=True)
class Closed:
    """The session is over. orderly says whether the host meant it."""

    orderly: bool


Event: TypeAlias = Opened | RequestStarted | RequestEnded | Noticed | Remark | InputEnded | Leaving | Closed
