"""What the two wires of an extension do differently, behind one interface.

The connection knows the order of things; a dialect knows the spelling of frames, the models of one API
version, and which error reports what.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from octet_extension._envelope import Id, Message
from octet_extension._errors import LocalProtocolError
from octet_extension._generated._rows import ErrorCode, Method
from octet_extension._generated._shapes import ABSENT
from octet_extension._results import ToolResult
from octet_extension._schema import Misfit, validate

__all__ = ["Dialect", "Invocation", "Opening", "Refusal", "Session", "ToolSpec", "check_structured"]

_MAX_DETAIL: Final = 1000  # characters of an error text; a peer's own words may be part of it


@dataclasses.dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool as the catalog shows it."""

    name: str
    description: str
    parameters: Mapping[str, object]
    output_schema: Mapping[str, object] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Session:
    """What was agreed at initialize."""

    api: str
    features: frozenset[str]
    concurrency: int
    frame_bound: int
    workspace: str
    flags: Mapping[str, object]
    may_notify: bool
    may_progress: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Opening:
    """The answer to initialize, the session it opens, and remarks for people."""

    result: dict[str, object]
    session: Session
    remarks: Sequence[str] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Invocation:
    """The parameters of a tool call."""

    tool: str
    arguments: Mapping[str, object]
    context: Mapping[str, object]


class Refusal(Exception):
    """A request is answered with an error. detail is for people, data for the peer."""

    def __init__(self, row: ErrorCode, detail: str, data: object = ABSENT) -> None:
        super().__init__(detail)
        self.row = row
        self.detail = detail[:_MAX_DETAIL]
        self.data = data


class Dialect(abc.ABC):
    """One API version on its wire."""

    first_frame_bound: ClassVar[int]
    """Payload bytes of a frame until initialize is answered."""
    strict: ClassVar[bool]
    """Whether a frame or an order that is wrong ends the stream, or is answered and forgotten."""
    initialize_method: ClassVar[str]
    shutdown_method: ClassVar[str]
    call_method: ClassVar[str]
    cancel_method: str | None
    """None where the API version cannot cancel."""

    def __init__(self, api: str, methods: Mapping[str, Method], cancel_method: str) -> None:
        self.api = api
        self.cancel_method = cancel_method if api in methods[cancel_method].versions else None

    # --- frames and envelopes

    @abc.abstractmethod
    def parse(self, payload: bytes) -> object:
        """Reads a payload. Raises JsonSyntaxError."""

    @abc.abstractmethod
    def spell(self, message: Mapping[str, object]) -> bytes:
        """Writes a payload. Raises Violation for what the wire cannot carry."""

    @abc.abstractmethod
    def classify(self, value: object) -> Message:
        """Reads an envelope. Raises EnvelopeFault."""

    @abc.abstractmethod
    def answerable(self, value: object) -> tuple[bool, Id | None]:
        """Says whether a value with a faulty envelope is answered, and under which id."""

    @abc.abstractmethod
    def response(self, request: Id, result: Mapping[str, object]) -> dict[str, object]:
        """Returns the envelope of a result."""

    @abc.abstractmethod
    def error(self, request: Id | None, refusal: Refusal) -> dict[str, object]:
        """Returns the envelope of an error."""

    # --- refusals that the connection itself makes

    @abc.abstractmethod
    def unreadable(self) -> Refusal:
        """The line is not JSON."""

    @abc.abstractmethod
    def bad_request(self, detail: str) -> Refusal:
        """The message is wrong or out of order."""

    @abc.abstractmethod
    def not_yet(self, method: str) -> Refusal:
        """A request came before initialize."""

    @abc.abstractmethod
    def unknown_method(self, method: str) -> Refusal:
        """The method is not served."""

    @abc.abstractmethod
    def unknown_tool(self, name: str) -> Refusal:
        """The tool is not in the catalog."""

    @abc.abstractmethod
    def bad_arguments(self, pointer: str, detail: str) -> Refusal:
        """The arguments do not fit the schema of the tool."""

    @abc.abstractmethod
    def too_many(self, bound: int) -> Refusal:
        """More requests are in flight than were agreed."""

    @abc.abstractmethod
    def too_large(self, size: int, bound: int) -> Refusal:
        """The answer does not fit a frame."""

    @abc.abstractmethod
    def internal(self, detail: str) -> Refusal:
        """A valid request that this side failed to serve."""

    @abc.abstractmethod
    def cancelled(self, reason: str | None) -> Refusal:
        """The host cancelled the request."""

    @abc.abstractmethod
    def interrupted(self, reason: str) -> Refusal:
        """The session ends while the request is live."""

    # --- messages

    @abc.abstractmethod
    def check_tool(self, tool: ToolSpec) -> None:
        """Judges a definition before it is offered. Raises LocalProtocolError."""

    @abc.abstractmethod
    def open(self, params: object, tools: Sequence[ToolSpec], *, concurrency: int | None) -> Opening:
        """Answers initialize. Raises Refusal."""

    @abc.abstractmethod
    def invocation(self, params: object) -> Invocation:
        """Reads the parameters of a tool call. Raises Refusal."""

    @abc.abstractmethod
    def cancellation(self, params: object) -> tuple[Id, str | None]:
        """Reads a cancellation: which request, and why. Raises Violation."""

    @abc.abstractmethod
    def shutdown(self, params: object) -> dict[str, object]:
        """Answers shutdown. Raises Refusal."""

    @abc.abstractmethod
    def tool_result(self, tool: ToolSpec, result: ToolResult) -> dict[str, object]:
        """Returns the wire form of a result. Raises LocalProtocolError or Violation."""


def check_structured(tool: ToolSpec, structured: object, *, is_error: bool) -> None:
    """Judges structured content against what the tool declares. Raises LocalProtocolError."""
    if tool.output_schema is None:
        if structured is not ABSENT:
            raise LocalProtocolError(f"tool {tool.name!r} returned structured content and declares no output type")
        return
    if structured is ABSENT:
        if not is_error:
            raise LocalProtocolError(f"tool {tool.name!r} declares an output type and returned no structured content")
        return
    try:
        validate(tool.output_schema, structured)
    except Misfit as found:
        raise LocalProtocolError(f"the structured content of tool {tool.name!r}: {found}") from None
