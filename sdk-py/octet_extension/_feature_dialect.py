"""The dialect of API 0.1, 0.2 and 0.4: JSON lines, features, forgiving readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, cast

from octet_extension import _envelope, _negotiation
from octet_extension._dialect import Dialect, Invocation, Opening, Refusal, Session, ToolSpec, check_structured
from octet_extension._envelope import EnvelopeFault, Id, Message
from octet_extension._errors import LocalProtocolError
from octet_extension._generated import _json
from octet_extension._generated import feature_wire as wire
from octet_extension._generated._json import Violation
from octet_extension._generated._models import Model
from octet_extension._generated._shapes import ABSENT
from octet_extension._results import Measure, ToolResult, measure, plain, text_of
from octet_extension._schema import check_output_schema

__all__ = ["FeatureDialect", "notification_message", "progress_message"]

_SUPPORTED: Final = (wire.FEATURE_REQUEST_CANCELLATION, wire.FEATURE_CONTENT_PARTS, wire.FEATURE_REQUEST_PROGRESS)
_WANTED: Final = (wire.FEATURE_REQUEST_PROGRESS,)
_MAX_DEPTH: Final = wire.MAX_JSON_DEPTH


def _params_model(method: str, api: str) -> type[Model]:
    """Returns the model of a method's parameters in an API version."""
    name = next(shape.params for shape in wire.METHODS[method].shapes if api in shape.versions)
    return cast("type[Model]", wire.MODELS[name])


def _invalid(found: Violation) -> Refusal:
    row = wire.ERRORS[found.error]
    return Refusal(row, f"{row.message}: {found}")


class FeatureDialect(Dialect):
    """API 0.1, 0.2 or 0.4."""

    first_frame_bound: ClassVar[int] = wire.MAX_LINE_BYTES
    strict: ClassVar[bool] = False
    initialize_method: ClassVar[str] = wire.METHOD_INITIALIZE
    shutdown_method: ClassVar[str] = wire.METHOD_SHUTDOWN
    call_method: ClassVar[str] = wire.METHOD_TOOL_CALL

    def __init__(self, api: str) -> None:
        super().__init__(api, wire.METHODS, wire.METHOD_CANCEL_REQUEST)
        self._negotiates = api in _negotiation.FEATURE_VERSIONS
        self._call_model = _params_model(wire.METHOD_TOOL_CALL, api)
        self._open_model = _params_model(wire.METHOD_INITIALIZE, api)

    def parse(self, payload: bytes) -> object:
        return _json.parse(payload, max_depth=_MAX_DEPTH)

    def spell(self, message: Mapping[str, object]) -> bytes:
        return _json.encode(message, max_depth=_MAX_DEPTH)

    def classify(self, value: object) -> Message:
        if not isinstance(value, dict):
            raise EnvelopeFault("a message is an object")
        return _envelope.scan(value)

    def answerable(self, value: object) -> tuple[bool, Id | None]:
        if not isinstance(value, dict):
            return True, None
        if "id" not in value:
            return False, None
        found = value["id"]
        if _envelope.legal_id(found):
            response = "method" not in value and ("result" in value or "error" in value)
            return not response, cast(Id, found)
        return True, None

    def response(self, request: Id, result: Mapping[str, object]) -> dict[str, object]:
        return wire.JsonRpcSuccessResponse(id=request, result=result).to_json()

    def error(self, request: Id | None, refusal: Refusal) -> dict[str, object]:
        error = wire.ErrorObject(code=refusal.row.code, message=refusal.detail, data=refusal.data)
        return wire.JsonRpcErrorResponse(id=request, error=error).to_json()

    # --- refusals

    def unreadable(self) -> Refusal:
        return Refusal(wire.ERROR_PARSE_ERROR, wire.ERROR_PARSE_ERROR.message)

    def bad_request(self, detail: str) -> Refusal:
        return Refusal(wire.ERROR_INVALID_REQUEST, f"{wire.ERROR_INVALID_REQUEST.message}: {detail}")

    def not_yet(self, method: str) -> Refusal:
        return self.bad_request(f"{wire.METHOD_INITIALIZE} must come before {method[:80]}")

    def unknown_method(self, method: str) -> Refusal:
        return Refusal(wire.ERROR_UNKNOWN_METHOD, f"unknown method: {method[:200]}")

    def unknown_tool(self, name: str) -> Refusal:
        return Refusal(wire.ERROR_UNKNOWN_METHOD, f"unknown tool: {name[:200]}")

    def bad_arguments(self, pointer: str, detail: str) -> Refusal:
        message = f"{wire.ERROR_INVALID_PARAMS.message}: {detail}"
        return Refusal(wire.ERROR_INVALID_PARAMS, message, {"pointer": pointer})

    def too_many(self, bound: int) -> Refusal:
        return Refusal(wire.ERROR_SERVER_ERROR, f"more than {bound} requests are in flight: wait for an answer")

    def too_large(self, size: int, bound: int) -> Refusal:
        detail = f"the answer has {size} bytes and a line at most {bound}"
        return Refusal(wire.ERROR_INTERNAL_ERROR, f"{wire.ERROR_INTERNAL_ERROR.message}: {detail}")

    def internal(self, detail: str) -> Refusal:
        return Refusal(wire.ERROR_INTERNAL_ERROR, f"{wire.ERROR_INTERNAL_ERROR.message}: {detail}")

    def cancelled(self, reason: str | None) -> Refusal:
        row = wire.ERROR_REQUEST_CANCELLED
        return Refusal(row, row.message, {"reason": reason or "cancelled"})

    def interrupted(self, reason: str) -> Refusal:
        if self._negotiates:
            return self.cancelled(reason)
        return Refusal(wire.ERROR_SERVER_ERROR, f"the extension stops: {reason}")

    # --- messages

    def check_tool(self, tool: ToolSpec) -> None:
        try:
            self._definition(tool).encode()
        except Violation as found:
            raise LocalProtocolError(f"tool {tool.name!r}: {found}") from None
        if tool.parameters.get("type") != "object":
            raise LocalProtocolError(f"tool {tool.name!r}: the parameters must be a schema of type 'object'")
        if tool.output_schema is not None and self._negotiates:
            check_output_schema(tool.output_schema)

    def _definition(self, tool: ToolSpec) -> wire.ToolDefinition | wire.ToolDefinitionV01:
        if not self._negotiates:
            return wire.ToolDefinitionV01(name=tool.name, description=tool.description, parameters=tool.parameters)
        return wire.ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters=tool.parameters,
            output_schema=ABSENT if tool.output_schema is None else tool.output_schema,
        )

    def open(self, params: object, tools: Sequence[ToolSpec], *, concurrency: int | None) -> Opening:
        asked = params.get("api_version") if isinstance(params, dict) else None
        if isinstance(asked, str) and asked != self.api:
            raise Refusal(wire.ERROR_SERVER_ERROR, f"unsupported API version: {asked[:80]} (this is {self.api})")
        try:
            opened = self._open_model.from_json(params)
        except Violation as found:
            raise _invalid(found) from None
        api = cast("wire.ApiVersionValue", self.api)
        if isinstance(opened, wire.InitializeParams):
            selection = self._select(opened, concurrency)
            answer: wire.InitializeResult | wire.InitializeResultV01 = wire.InitializeResult(
                api_version=api,
                tools=[cast("wire.ToolDefinition", self._definition(tool)) for tool in tools],
                commands=[],
                protocol=selection,
            )
            features = frozenset(selection.features)
            bound = selection.limits.max_concurrent_requests
            declared = opened.flag_values
            flags = {} if declared is ABSENT else {flag.name: flag.value for flag in declared}
        else:
            opened = cast("wire.InitializeParamsV01", opened)
            definitions = [cast("wire.ToolDefinitionV01", self._definition(tool)) for tool in tools]
            answer = wire.InitializeResultV01(api_version=api, tools=definitions, commands=[])
            features, flags = frozenset(), {}
            bound = min(wire.MAX_CONCURRENT_REQUESTS, concurrency or wire.MAX_CONCURRENT_REQUESTS)
        session = Session(
            api=self.api,
            features=features,
            concurrency=bound,
            frame_bound=wire.MAX_LINE_BYTES,
            workspace=opened.workspace,
            flags=flags,
            may_notify=opened.contributes.notifications,
            may_progress=wire.FEATURE_REQUEST_PROGRESS in features,
        )
        try:
            type(answer).from_json(answer.to_json())
        except Violation as found:
            raise self.internal(f"the answer to {wire.METHOD_INITIALIZE} breaks its model: {found}") from None
        return Opening(answer.to_json(), session, _catalog_remarks(opened.contributes.tools, tools))

    def _select(self, opened: wire.InitializeParams, concurrency: int | None) -> wire.ProtocolSelection:
        offer = opened.protocol
        if offer.version != self.api:
            raise Refusal(
                wire.ERROR_INVALID_PARAMS,
                f"{wire.ERROR_INVALID_PARAMS.message}: protocol version {offer.version[:80]!r} is not {self.api!r}",
            )
        try:
            return _negotiation.select_features(
                self.api, offer, wanted=_WANTED, supported=_SUPPORTED, concurrency=concurrency
            )
        except _negotiation.UnsupportedFeatures as found:
            raise Refusal(
                wire.ERROR_SERVER_ERROR,
                f"required API {self.api} features are not supported: {', '.join(found.names)[:400]}",
                {"unsupported_features": found.names},
            ) from None

    def invocation(self, params: object) -> Invocation:
        try:
            call = self._call_model.from_json(params)
        except Violation as found:
            if found.pointer == "/name" and found.violation in {"bytes", "pattern"} and isinstance(params, dict):
                raise self.unknown_tool(str(params["name"])) from None
            raise _invalid(found) from None
        if isinstance(call, wire.ToolCallParams):
            if call.catalog_revision is not ABSENT:
                detail = f"catalog_revision needs the feature {wire.FEATURE_DYNAMIC_TOOLS}"
                raise Refusal(wire.ERROR_INVALID_PARAMS, f"{wire.ERROR_INVALID_PARAMS.message}: {detail}")
        else:
            call = cast("wire.ToolCallParamsV01", call)
        return Invocation(call.name, call.arguments, call.context.to_json())

    def cancellation(self, params: object) -> tuple[Id, str | None]:
        cancel = wire.CancelRequestParams.from_json(params)
        return cancel.id, None if cancel.reason is ABSENT else cancel.reason

    def shutdown(self, params: object) -> dict[str, object]:
        try:
            wire.ShutdownParams.from_json(params)
        except Violation as found:
            raise _invalid(found) from None
        return wire.ShutdownResult().to_json()

    def tool_result(self, tool: ToolSpec, result: ToolResult) -> dict[str, object]:
        structured = result.structured if result.structured is ABSENT else plain(result.structured)
        check_structured(tool, structured, is_error=result.is_error)
        parts = result.parts
        if not parts or (parts == [""] and structured is not ABSENT):
            parts = ["" if structured is ABSENT else text_of(structured)]
        if not self._negotiates:
            return wire.ToolCallResultV01(content="\n".join(parts), is_error=result.is_error).to_json()
        metadata = ABSENT if result.metadata is None else cast("Mapping[str, object]", plain(result.metadata))
        if structured is not ABSENT:
            _check_size("structured content", measure(structured))
        if metadata is not ABSENT:
            size = measure(metadata)
            _check_size("metadata", size)
            if size.key_bytes > wire.MAX_METADATA_KEY_BYTES:
                raise LocalProtocolError(f"a key of the metadata has more than {wire.MAX_METADATA_KEY_BYTES} bytes")
        value = wire.ToolCallResult(
            content=[wire.TextPart(text=part) for part in parts],
            is_error=result.is_error,
            structured_content=structured,
            metadata=metadata,
        ).to_json()
        wire.ToolCallResult.from_json(value)
        return value


def progress_message(request: Id, sequence: int, event: wire.ProgressEvent) -> dict[str, object]:
    """Returns a progress notification. Raises Violation."""
    params = wire.ProgressParams(request_id=request, sequence=sequence, event=event).to_json()
    wire.ProgressParams.from_json(params)
    return wire.JsonRpcNotification(method=wire.METHOD_PROGRESS, params=params).to_json()


def notification_message(level: wire.NotificationLevelValue, title: str | None, message: str) -> dict[str, object]:
    """Returns a notification for people. Raises Violation."""
    params = wire.Notification(level=level, title=ABSENT if title is None else title, message=message).to_json()
    wire.Notification.from_json(params)
    return wire.JsonRpcNotification(method=wire.METHOD_NOTIFICATION, params=params).to_json()


def _catalog_remarks(declared: Sequence[str], tools: Sequence[ToolSpec]) -> list[str]:
    """Says where the manifest and the code disagree about the tools: the host will refuse such a catalog."""
    names = {tool.name for tool in tools}
    remarks = [
        f"the manifest does not declare the tool {name!r}: add it to contributes.tools"
        for name in sorted(names - set(declared))
    ]
    remarks += [
        f"the manifest declares the tool {name!r} and the code does not: register it or take it out"
        for name in sorted(set(declared) - names)
    ]
    return remarks


def _check_size(what: str, size: Measure) -> None:
    if size.depth > wire.MAX_STRUCTURED_DEPTH:
        raise LocalProtocolError(
            f"the {what} is {size.depth} levels deep: at most {wire.MAX_STRUCTURED_DEPTH} are legal"
        )
    if size.nodes > wire.MAX_STRUCTURED_NODES:
        raise LocalProtocolError(f"the {what} has {size.nodes} values: at most {wire.MAX_STRUCTURED_NODES} are legal")
