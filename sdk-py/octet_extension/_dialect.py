"""What the two wires of an extension do differently, behind one interface.

The connection knows the order of things; a dialect knows the spelling of frames, the models of one API
version, and which error reports what.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, cast

from octet_extension._agreement import Agreement, Invocation, Opening, Refusal, ToolSpec, Wishes
from octet_extension._endpoints import Endpoint, Endpoints
from octet_extension._envelope import Id, Message
from octet_extension._errors import InvalidParams, LocalProtocolError, NotNegotiated
from octet_extension._generated._json import Violation
from octet_extension._generated._models import Decoded, Model, RecordShape
from octet_extension._generated._rows import ErrorCode, Hook, Method
from octet_extension._generated._shapes import ABSENT
from octet_extension._results import ToolResult, plain
from octet_extension._schema import Misfit, validate

if TYPE_CHECKING:
    from octet_extension._bus import Bus

__all__ = ["Dialect", "check_structured"]

_DEFERRED: Final = "deferred"


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
    max_children: ClassVar[int]
    max_child_ids: ClassVar[int]
    kept_catalogs: ClassVar[int] = 1
    """Committed epochs of the tools that stay addressable."""
    methods: ClassVar[Mapping[str, Method]]
    models: ClassVar[Mapping[str, type[Decoded]]]
    errors: ClassVar[Mapping[str, ErrorCode]]
    error_ranges: ClassVar[tuple[tuple[int, int], ...]] = ()
    """Codes that extensions may use for errors of their own, both ends included."""
    hooks: ClassVar[Mapping[str, Hook]]
    command_method: ClassVar[str | None] = None
    hook_method: ClassVar[str]
    collectors: ClassVar[Mapping[str, str]]
    """Methods of the other requests that an author may serve, by our names for them."""
    progress_method: ClassVar[str] = ""
    declared_by: ClassVar[Mapping[str, str]] = {}
    """Methods whose handlers the manifest lists, by its key."""

    def __init__(self, api: str, cancel_method: str) -> None:
        self.api = api
        self.cancel_method = cancel_method if api in self.methods[cancel_method].versions else None
        self._services: dict[str, Method] = {}

    # --- tables

    def has(self, method: str) -> bool:
        """Reports whether the API version has a method that is served."""
        row = self.methods.get(method)
        return row is not None and self.api in row.versions and row.status != _DEFERRED

    def service(self, name: str) -> Method | None:
        """Returns the method behind the name of a service or an event, whatever the API version."""
        if not self._services:
            self._services = {row.service: row for row in self.methods.values() if row.service}
        return self._services.get(name)

    def params_model(self, row: Method) -> type[Model]:
        """Returns the model of the parameters of a method."""
        return cast("type[Model]", self.models[row.shape(self.api).params])

    def result_model(self, row: Method) -> tuple[type[Decoded], bool, bool]:
        """Returns the model of the result of a request, whether it is an array of that, whether null is legal."""
        shape = row.shape(self.api)
        return self.models[shape.result.removesuffix("[]")], shape.result.endswith("[]"), shape.nullable

    def judge_result(self, row: Method, value: object) -> object:
        """Reads the result of a request. Raises Violation."""
        model, array, nullable = self.result_model(row)
        if value is None and nullable:
            return None
        if not array:
            return model.read(value)
        if not isinstance(value, list):
            raise Violation("type", "", "must be an array")
        out = []
        for index, element in enumerate(value):
            try:
                out.append(model.read(element))
            except Violation as found:
                found.under(index)
                raise
        return out

    def own_hook(self, hook: Hook, value: object) -> object:
        """Judges the answer of a hook and returns it. Raises InvalidParams."""
        try:
            self.models[hook.result].read(value)
        except Violation as found:
            where = f"the answer of hook {hook.name!r}"
            raise InvalidParams(where, found.pointer, found.violation, found.detail) from None
        shape = self.models[hook.result].SHAPE
        if isinstance(shape, RecordShape) and isinstance(value, dict):
            surplus = sorted(set(value).difference(field.name for field in shape.fields))
            if surplus:
                where, detail = f"the answer of hook {hook.name!r}", "is not a member of this answer: leave it out"
                raise InvalidParams(where, f"/{surplus[0]}", "unknown", detail)
        return value

    @abc.abstractmethod
    def features(self, *, hooks: bool) -> tuple[str, ...]:
        """Returns what this API version may select; hooks says whether the extension has any."""

    def own_features(self) -> tuple[str, ...]:
        """Returns what the methods of Extension itself need."""
        return ()

    def runtime_command_features(self) -> tuple[str, ...]:
        """Returns what commands need that the manifest does not list."""
        return ()

    def served_without_handler(self) -> Sequence[tuple[Method, Endpoint]]:
        """Returns requests that are answered where the author registers nothing."""
        return ()

    def read_result(self, row: Method, value: object) -> object:
        """Reads the result of a request of this side, wherever it stands. Raises Violation."""
        return self.judge_result(row, value)

    def own_result(self, row: Method, value: object) -> object:
        """Judges a result that this side is about to send and returns it. Raises InvalidParams."""
        try:
            self.judge_result(row, value)
        except Violation as found:
            raise InvalidParams(f"the answer to {row.name}", found.pointer, found.violation, found.detail) from None
        return value

    def own_error(self, code: object, message: str, data: object) -> Refusal | None:
        """Returns an error that an author chose, or None for a code that this side may not send."""
        if not isinstance(code, int):
            return None
        row = next((row for row in self.errors.values() if row.code == code), None)
        if row is None and any(low <= code <= high for low, high in self.error_ranges):
            row = ErrorCode("", int(code), message, fixed=False)
        if row is None or code == self.cancelled(None).row.code:
            return None
        return Refusal(row, message or row.message, ABSENT if data is None else plain(data))

    def error_name(self, code: int) -> str:
        """Returns the row of the error table with a code, or an empty name."""
        return next((row.name for row in self.errors.values() if row.code == code), "")

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

    def salvage(self, payload: bytes) -> tuple[Mapping[str, object], str] | None:
        """Reads the envelope around a text or member that is not strict, and the place of that, where the wire may."""
        del payload
        return None

    @abc.abstractmethod
    def answerable(self, value: object) -> tuple[bool, Id | None]:
        """Says whether a value with a faulty envelope is answered, and under which id."""

    @abc.abstractmethod
    def response(self, request: Id, result: object) -> dict[str, object]:
        """Returns the envelope of a result."""

    @abc.abstractmethod
    def request(self, request: Id, method: str, params: Mapping[str, object]) -> dict[str, object]:
        """Returns the envelope of a request of this side."""

    @abc.abstractmethod
    def notification(self, method: str, params: Mapping[str, object]) -> dict[str, object]:
        """Returns the envelope of a notification of this side."""

    @abc.abstractmethod
    def cancel_params(self, request: Id, reason: str) -> dict[str, object]:
        """Returns the parameters of a cancellation of this side."""

    @abc.abstractmethod
    def failure(self, error: object) -> tuple[int, str, object]:
        """Reads the error object of the host: code, message, data. Raises Violation."""

    @abc.abstractmethod
    def error(self, request: Id | None, refusal: Refusal) -> dict[str, object]:
        """Returns the envelope of an error."""

    # --- refusals that the connection itself makes

    @abc.abstractmethod
    def unreadable(self) -> Refusal:
        """The line is not JSON."""

    def bad_params(self, pointer: str, detail: str) -> Refusal:
        """The parameters of a request are wrong."""
        return self.bad_request(f"{pointer}: {detail}")

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

    def over_bound(self, detail: str) -> Refusal:
        """The answer is too large, as detail says."""
        return self.internal(detail)

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
    def open(self, params: object, wishes: Wishes) -> Opening:
        """Answers initialize. Raises Refusal."""

    @abc.abstractmethod
    def invocation(self, params: object, agreement: Agreement) -> Invocation:
        """Reads the parameters of a tool call. Raises Refusal."""

    @abc.abstractmethod
    def admit(self, row: Method, params: object, endpoints: Endpoints, agreement: Agreement) -> Invocation:
        """Reads the parameters of any other request that an author may serve. Raises Refusal."""

    @abc.abstractmethod
    def closed_gate(self, row: Method, agreement: Agreement) -> str:
        """Says what a method needs that was not agreed; empty where nothing is missing."""

    def ungated(self, row: Method, value: object, agreement: Agreement) -> str:
        """Says what a judged result carries that was not agreed; empty where nothing is."""
        del row, value, agreement
        return ""

    def bus(self) -> Bus | None:
        """Returns what follows the event bus of a session; None where the wire has no bus."""
        return None

    @abc.abstractmethod
    def gate_feature(self, row: Method) -> str:
        """Returns the feature or capability that opens a method; empty where it is none of these."""

    @abc.abstractmethod
    def tool_features(self, tool: ToolSpec) -> list[str]:
        """Returns the features that the members of a definition need."""

    @abc.abstractmethod
    def definition(self, tool: ToolSpec, features: frozenset[str]) -> dict[str, object]:
        """Returns a tool as the catalog shows it, with what the features allow."""

    def needs_owner(self, row: Method, agreement: Agreement) -> bool:
        """Reports whether a message that belongs to a live request names the owner too."""
        del row, agreement
        return False

    def outlives_parent(self, row: Method, agreement: Agreement) -> bool:
        """Reports whether a message may belong to a request that has been answered, where its class allows it."""
        del row, agreement
        return True

    # --- progress

    def status_event(self, message: str, numbers: Mapping[str, object]) -> dict[str, object]:
        """Returns a progress event that says how far the work is."""
        del message, numbers
        raise self._no_progress()

    def output_events(self, data: str | bytes, stream: str | None) -> list[dict[str, object]]:
        """Returns the progress events that carry output."""
        del data, stream
        raise self._no_progress()

    def decoration_event(self, label: str, detail: str | None) -> dict[str, object]:
        """Returns the progress event that sets a label."""
        del label, detail
        raise self._no_progress()

    def progress(self, request: Id, sequence: int, event: Mapping[str, object]) -> tuple[str, dict[str, object]]:
        """Returns method and parameters of a progress notification. Raises Violation."""
        del request, sequence, event
        raise self._no_progress()

    def event_feature(self, event: Mapping[str, object]) -> str:
        """Returns the feature that a progress event needs."""
        del event
        raise self._no_progress()

    def _no_progress(self) -> NotNegotiated:
        return NotNegotiated(
            f"API {self.api} has no progress: leave it out, or use another API version", self.progress_method
        )

    @abc.abstractmethod
    def unknown_revision(self, revision: int) -> Refusal:
        """The epoch of the catalog was never there, or is gone."""

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
