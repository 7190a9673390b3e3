"""The dialect of API 0.3: canonical frames, a contract, exact errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, NoReturn, cast

from octet_extension import _canonical, _canonical_envelope, _contract
from octet_extension._dialect import Dialect, Invocation, Opening, Refusal, Session, ToolSpec, check_structured
from octet_extension._envelope import Id, Message
from octet_extension._errors import LocalProtocolError
from octet_extension._generated import canonical_wire as wire
from octet_extension._generated._json import Violation
from octet_extension._generated._rows import ErrorCode
from octet_extension._generated._shapes import ABSENT
from octet_extension._negotiation import Mismatch
from octet_extension._results import ToolResult, plain, text_of

__all__ = ["CanonicalDialect"]


def _invalid(found: Violation) -> Refusal:
    data = {"detail": found.detail[:400], "pointer": found.pointer[:400], "violation": found.violation}
    return Refusal(wire.ERRORS[found.error], str(found), data)


def _detailed(row: ErrorCode, detail: str) -> Refusal:
    return Refusal(row, detail, {"detail": detail[:400]})


class CanonicalDialect(Dialect):
    """API 0.3."""

    first_frame_bound: ClassVar[int] = wire.MAX_FRAME_BYTES
    strict: ClassVar[bool] = True
    initialize_method: ClassVar[str] = wire.METHOD_INITIALIZE
    shutdown_method: ClassVar[str] = wire.METHOD_SHUTDOWN
    call_method: ClassVar[str] = wire.METHOD_TOOL_CALL

    def __init__(self, api: str) -> None:
        super().__init__(api, wire.METHODS, wire.METHOD_CANCEL_REQUEST)

    def parse(self, payload: bytes) -> object:
        return _canonical.check(payload)

    def spell(self, message: Mapping[str, object]) -> bytes:
        return _canonical.encode(message)

    def classify(self, value: object) -> Message:
        return _canonical_envelope.classify(value)

    def answerable(self, value: object) -> tuple[bool, Id | None]:
        if not isinstance(value, dict) or not _canonical_envelope.legal_id(value.get("id")):
            return False, None
        response = "method" not in value and ("result" in value or "error" in value)
        return not response, cast(Id, value["id"])

    def response(self, request: Id, result: Mapping[str, object]) -> dict[str, object]:
        return wire.JsonRpcSuccessResponse(id=request, result=result).to_json()

    def error(self, request: Id | None, refusal: Refusal) -> dict[str, object]:
        if request is None:
            raise LocalProtocolError("an error of API 0.3 answers a request")
        error = wire.ErrorObject(code=refusal.row.code, message=refusal.row.message, data=refusal.data)
        return wire.JsonRpcErrorResponse(id=request, error=error).to_json()

    # --- refusals

    def unreadable(self) -> Refusal:
        return Refusal(wire.ERROR_PARSE_ERROR, wire.ERROR_PARSE_ERROR.message)

    def bad_request(self, detail: str) -> Refusal:
        return _detailed(wire.ERROR_INVALID_REQUEST, detail)

    def not_yet(self, method: str) -> Refusal:
        return self.unknown_method(method)

    def unknown_method(self, method: str) -> Refusal:
        return Refusal(wire.ERROR_UNKNOWN_METHOD, f"unknown method {method!r}", {"method": method})

    def unknown_tool(self, name: str) -> Refusal:
        return Refusal(wire.ERROR_UNKNOWN_METHOD, f"unknown tool {name!r}", {"method": name})

    def bad_arguments(self, pointer: str, detail: str) -> Refusal:
        data = {"detail": detail[:400], "pointer": f"/arguments{pointer}"[:400]}
        return Refusal(wire.ERROR_INVALID_PARAMS, detail, data)

    def too_many(self, bound: int) -> Refusal:
        return _detailed(wire.ERROR_RESOURCE_EXHAUSTED, f"more than {bound} requests are in flight")

    def too_large(self, size: int, bound: int) -> Refusal:
        return _detailed(wire.ERROR_RESOURCE_EXHAUSTED, f"the answer has {size} bytes and a frame at most {bound}")

    def internal(self, detail: str) -> Refusal:
        return _detailed(wire.ERROR_INTERNAL_ERROR, detail)

    def cancelled(self, reason: str | None) -> Refusal:
        outcome = wire.CancelRequestResult(
            terminal=wire.CancelTerminal.CANCELLED, reason=ABSENT if reason is None else reason
        )
        return Refusal(wire.ERROR_REQUEST_CANCELLED, "cancelled", outcome.to_json())

    def interrupted(self, reason: str) -> Refusal:
        return self.cancelled(reason)

    # --- messages

    def check_tool(self, tool: ToolSpec) -> None:
        try:
            _canonical.encode(self._definition(tool).to_json())
            self._definition(tool).encode()
        except Violation as found:
            raise LocalProtocolError(f"tool {tool.name!r}: {found}") from None
        if not tool.name:
            raise LocalProtocolError("a tool needs a name")

    def _definition(self, tool: ToolSpec) -> wire.ToolDefinition:
        return wire.ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters=tool.parameters,
            output_schema=ABSENT if tool.output_schema is None else tool.output_schema,
        )

    def open(self, params: object, tools: Sequence[ToolSpec], *, concurrency: int | None) -> Opening:
        asked = params.get("api_version") if isinstance(params, dict) else None
        if isinstance(asked, str) and asked != self.api:
            data = {"expected": self.api, "received": asked[:400]}
            raise Refusal(wire.ERROR_VERSION_MISMATCH, f"the host speaks API {asked[:80]!r}", data)
        try:
            opened = wire.InitializeRequest.from_json(params)
            _contract.check_offer(opened.contract)
        except Violation as found:
            raise _invalid(found) from None
        except Mismatch as found:
            self._mismatch(found, opened.contract)
        selection = _contract.select_contract(opened.contract, concurrency=concurrency)
        if len(tools) > selection.limits.max_tools:
            detail = f"the catalog has {len(tools)} tools, the host takes {selection.limits.max_tools}"
            raise _detailed(wire.ERROR_RESOURCE_EXHAUSTED, detail)
        result = wire.InitializeResponse(
            api_version=cast("wire.ApiVersionValue", self.api),
            tools=[self._definition(tool) for tool in tools],
            contract=selection,
        ).to_json()
        session = Session(
            api=self.api,
            features=frozenset(selection.capabilities),
            concurrency=selection.limits.max_concurrent_requests,
            frame_bound=selection.limits.max_frame_bytes,
            workspace=opened.workspace,
            flags={flag.name: flag.value for flag in opened.flag_values},
            may_notify=False,
            may_progress=False,
        )
        return Opening(result, session)

    def _mismatch(self, found: Mismatch, offer: wire.ContractOffer) -> NoReturn:
        row = wire.ERRORS[found.error]
        if row is wire.ERROR_VERSION_MISMATCH:
            data = {"expected": _contract.CONTRACT_SCHEMA, "received": offer.schema[:400]}
            raise Refusal(row, found.detail, data) from None
        raise _detailed(row, found.detail) from None

    def invocation(self, params: object) -> Invocation:
        try:
            call = wire.ToolCallParams.from_json(params)
        except Violation as found:
            raise _invalid(found) from None
        if not isinstance(call.arguments, dict):
            raise self.bad_arguments("", "the arguments must be an object")
        return Invocation(call.name, call.arguments, call.context if isinstance(call.context, dict) else {})

    def cancellation(self, params: object) -> tuple[Id, str | None]:
        cancel = wire.CancelRequestParams.from_json(params)
        return cancel.id, None if cancel.reason is ABSENT else cancel.reason

    def shutdown(self, params: object) -> dict[str, object]:
        try:
            wire.ShutdownParams.from_json(params)
        except Violation as found:
            raise _invalid(found) from None
        return wire.ShutdownResult(terminal=wire.ShutdownTerminal.SHUTDOWN).to_json()

    def tool_result(self, tool: ToolSpec, result: ToolResult) -> dict[str, object]:
        structured = result.structured if result.structured is ABSENT else plain(result.structured)
        check_structured(tool, structured, is_error=result.is_error)
        parts = result.parts
        if structured is not ABSENT and (not parts or parts == [""]):
            parts = [text_of(structured)]
        value = wire.ToolCallResult(
            content=[wire.TextPart(text=part) for part in parts],
            is_error=result.is_error,
            metadata=None if result.metadata is None else plain(result.metadata),
            structured_content=structured,
        ).to_json()
        wire.ToolCallResult.from_json(value)
        return value
