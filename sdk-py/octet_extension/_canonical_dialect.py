"""The dialect of API 0.3: canonical frames, a contract, exact errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final, NoReturn, cast

from octet_extension import _canonical, _canonical_envelope, _contract
from octet_extension._agreement import Agreement, Invocation, Opening, Refusal, ToolSpec, Wishes
from octet_extension._bus import Bus
from octet_extension._dialect import Dialect, check_structured
from octet_extension._endpoints import Endpoints
from octet_extension._envelope import Id, Message
from octet_extension._errors import LocalProtocolError
from octet_extension._generated import canonical_wire as wire
from octet_extension._generated._json import Violation
from octet_extension._generated._models import Decoded, Model, UnionShape
from octet_extension._generated._rows import ErrorCode, Hook, Method
from octet_extension._generated._shapes import ABSENT
from octet_extension._mismatch import Mismatch
from octet_extension._results import ToolResult, plain, text_of

__all__ = ["CanonicalDialect"]


_VERSION: Final = wire.JsonRpcNotification(method="-", params={}).jsonrpc


def _session_hooks() -> dict[str, Hook]:
    """Returns the hooks of this wire, which are the variants of one union."""
    shape = wire.SessionHookParams.SHAPE
    variants = shape.variants if isinstance(shape, UnionShape) else ()
    payloads = {variant.tag: variant.model.__name__ for variant in variants}
    opens, result = wire.CAPABILITY_LIFECYCLE_EVENTS, wire.SessionHookResult.__name__
    return {tag: Hook(tag, wire.VERSIONS, opens, payload, result, "ignored") for tag, payload in payloads.items()}


def _invalid(found: Violation) -> Refusal:
    data = {"detail": found.detail[:400], "pointer": found.pointer[:400], "violation": found.violation}
    return Refusal(wire.ERRORS[found.error], str(found), data)


def _detailed(row: ErrorCode, detail: str) -> Refusal:
    if not detail:
        return Refusal(row, row.message)
    return Refusal(row, detail, {"detail": detail[:400]})


class CanonicalDialect(Dialect):
    """API 0.3."""

    first_frame_bound: ClassVar[int] = wire.MAX_FRAME_BYTES
    strict: ClassVar[bool] = True
    initialize_method: ClassVar[str] = wire.METHOD_INITIALIZE
    shutdown_method: ClassVar[str] = wire.METHOD_SHUTDOWN
    call_method: ClassVar[str] = wire.METHOD_TOOL_CALL
    max_children: ClassVar[int] = 2 * wire.MAX_CONCURRENT_REQUESTS  # this wire leaves both bounds to us
    max_child_ids: ClassVar[int] = 1 << 16
    methods: ClassVar[Mapping[str, Method]] = wire.METHODS
    models: ClassVar[Mapping[str, type[Decoded]]] = wire.MODELS
    errors: ClassVar[Mapping[str, ErrorCode]] = wire.ERRORS
    hooks: ClassVar[Mapping[str, Hook]] = _session_hooks()
    hook_method: ClassVar[str] = wire.METHOD_HOOK_RUN
    collectors: ClassVar[Mapping[str, str]] = {
        "migration_detect": wire.METHOD_MIGRATION_DETECT,
        "migration_import": wire.METHOD_MIGRATION_IMPORT,
        "provider_stream": wire.METHOD_PROVIDER_STREAM,
    }
    declared_by: ClassVar[Mapping[str, str]] = {"hooks": wire.METHOD_HOOK_RUN}

    def __init__(self, api: str) -> None:
        super().__init__(api, wire.METHOD_CANCEL_REQUEST)

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

    def response(self, request: Id, result: object) -> dict[str, object]:
        return {"jsonrpc": _VERSION, "id": request, "result": result}

    def request(self, request: Id, method: str, params: Mapping[str, object]) -> dict[str, object]:
        return {"jsonrpc": _VERSION, "id": request, "method": method, "params": params}

    def notification(self, method: str, params: Mapping[str, object]) -> dict[str, object]:
        return {"jsonrpc": _VERSION, "method": method, "params": params}

    def cancel_params(self, request: Id, reason: str) -> dict[str, object]:
        return wire.CancelRequestParams(id=request, reason=reason).to_json()

    def failure(self, error: object) -> tuple[int, str, object]:
        found = wire.ErrorObject.from_json(error)
        return found.code, found.message, None if found.data is ABSENT else found.data

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

    def over_bound(self, detail: str) -> Refusal:
        return _detailed(wire.ERROR_RESOURCE_EXHAUSTED, detail)

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
        for name in tool.extras:
            raise LocalProtocolError(f"tool {tool.name!r}: API {self.api} knows no {name}: leave it out")
        try:
            _canonical.encode(self._definition(tool).to_json())
            self._definition(tool).encode()
        except Violation as found:
            raise LocalProtocolError(f"tool {tool.name!r}: {found}") from None
        if not tool.name:
            raise LocalProtocolError("a tool needs a name")

    def features(self, *, hooks: bool) -> tuple[str, ...]:
        # The hooks of the session come with a declaration in the manifest or not at all. Source: settled S05.
        hidden = "" if hooks else wire.CAPABILITY_LIFECYCLE_EVENTS
        optional = (row.name for row in wire.CAPABILITIES.values() if row.offer == "optional")
        return tuple(name for name in optional if name != hidden)

    def own_hook(self, hook: Hook, value: object) -> object:
        if value == {}:
            value = {"disposition": {"kind": wire.DispositionKind.CONTINUE}}
        return super().own_hook(hook, value)

    def bus(self) -> Bus:
        return Bus()

    def gate_feature(self, row: Method) -> str:
        return row.gate if row.gate in wire.CAPABILITIES else ""

    def closed_gate(self, row: Method, agreement: Agreement) -> str:
        if row.gate not in agreement.features:
            return f"the capability {row.gate!r}, which was not agreed: list it in uses, and the host must offer it"
        if agreement.methods is not None and row.name not in agreement.methods:
            return f"the method {row.name!r} in the contract, which the host did not offer"
        return ""

    def tool_features(self, tool: ToolSpec) -> list[str]:
        del tool
        return []

    def definition(self, tool: ToolSpec, features: frozenset[str]) -> dict[str, object]:
        del features
        return self._definition(tool).to_json()

    def unknown_revision(self, revision: int) -> Refusal:
        return _detailed(wire.ERROR_INVALID_PARAMS, f"the catalog has no epoch {revision}")

    def _definition(self, tool: ToolSpec) -> wire.ToolDefinition:
        return wire.ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters=tool.parameters,
            output_schema=ABSENT if tool.output_schema is None else tool.output_schema,
        )

    def open(self, params: object, wishes: Wishes) -> Opening:
        tools = wishes.tools
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
        selection = _contract.select_contract(opened.contract, wanted=wishes.features, concurrency=wishes.concurrency)
        if len(tools) > selection.limits.max_tools:
            detail = f"the catalog has {len(tools)} tools, the host takes {selection.limits.max_tools}"
            raise _detailed(wire.ERROR_RESOURCE_EXHAUSTED, detail)
        result = wire.InitializeResponse(
            api_version=cast("wire.ApiVersionValue", self.api),
            tools=[self._definition(tool) for tool in tools],
            contract=selection,
        ).to_json()
        agreement = Agreement(
            api=self.api,
            features=frozenset(selection.capabilities),
            methods=frozenset(selection.methods),
            concurrency=selection.limits.max_concurrent_requests,
            frame_bound=selection.limits.max_frame_bytes,
            workspace=opened.workspace,
            flags={flag.name: flag.value for flag in opened.flag_values},
            host=_object(opened.host),
            declared=_object(opened.contributes),
        )
        return Opening(result, agreement, _remarks(agreement, wishes))

    def _mismatch(self, found: Mismatch, offer: wire.ContractOffer) -> NoReturn:
        row = wire.ERRORS[found.error]
        if row is wire.ERROR_VERSION_MISMATCH:
            data = {"expected": _contract.CONTRACT_SCHEMA, "received": offer.schema[:400]}
            raise Refusal(row, found.detail, data) from None
        raise _detailed(row, found.detail) from None

    def invocation(self, params: object, agreement: Agreement) -> Invocation:
        del agreement
        try:
            call = wire.ToolCallParams.from_json(params)
        except Violation as found:
            raise _invalid(found) from None
        if not isinstance(call.arguments, dict):
            raise self.bad_arguments("", "the arguments must be an object")
        return Invocation(call.name, call.arguments, _object(call.context))

    def admit(self, row: Method, params: object, endpoints: Endpoints, agreement: Agreement) -> Invocation:
        served = endpoints.get(row.name)
        if served is None or self.closed_gate(row, agreement):
            raise self.unknown_method(row.name)
        try:
            model = self.params_model(row).from_json(params)
        except Violation as found:
            raise _invalid(found) from None
        members = cast("dict[str, object]", params)
        payload: object = members
        name = ""
        if row.name == wire.METHOD_HOOK_RUN:
            name, payload = cast(str, members["hook"]), members["payload"]
            model = cast("Model", getattr(model, "payload"))  # noqa: B009 - the variants of the union share it
        endpoint = served.get(name)
        if endpoint is None:
            raise _detailed(wire.ERROR_INVALID_PARAMS, f"the hook {name[:80]!r} is not declared")
        return Invocation("", members, {}, None, endpoint, payload, model)

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
            content=[wire.TextPart(text=_text(part)) for part in parts],
            is_error=result.is_error,
            metadata=None if result.metadata is None else plain(result.metadata),
            structured_content=structured,
        ).to_json()
        wire.ToolCallResult.from_json(value)
        return value


def _text(part: object) -> str:
    if not isinstance(part, str):
        raise LocalProtocolError("results of API 0.3 have text alone: leave the media out")
    return part


def _object(value: object) -> Mapping[str, object]:
    """Returns what this wire leaves open where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def _remarks(agreement: Agreement, wishes: Wishes) -> list[str]:
    """Says which hooks were registered and will not be asked for."""
    if agreement.methods is None or wire.METHOD_HOOK_RUN in agreement.methods:
        return []
    return [f"the hook {name!r} will not run: the host does not offer it" for name in wishes.declared.get("hooks", ())]
