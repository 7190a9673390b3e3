"""The dialect of API 0.1, 0.2 and 0.4: JSON lines, features, forgiving readers."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, cast

from octet_extension import _answers, _feature_envelope, _feature_progress, _negotiation, _scratch
from octet_extension._agreement import Agreement, Invocation, Opening, Refusal, ToolSpec, Wishes
from octet_extension._dialect import Dialect, check_structured
from octet_extension._endpoints import Endpoint, Endpoints
from octet_extension._envelope import EnvelopeFault, Id, Message
from octet_extension._errors import LocalProtocolError
from octet_extension._feature_catalog import (
    EXTRA_VERSIONS,
    EXTRAS,
    LIFECYCLE,
    MANIFEST,
    command,
    definition,
    gate,
    remarks,
)
from octet_extension._generated import _json
from octet_extension._generated import feature_wire as wire
from octet_extension._generated._json import Violation
from octet_extension._generated._models import Decoded, Model
from octet_extension._generated._rows import ErrorCode, Hook, Method
from octet_extension._generated._shapes import ABSENT
from octet_extension._output_schema import check_output_schema
from octet_extension._results import Measure, OverBound, ToolResult, measure, plain, text_of
from octet_extension._scope import Scope
from octet_extension._signature import MODEL, PAYLOAD, SCOPE

__all__ = ["FeatureDialect"]

_MAX_DEPTH: Final = wire.MAX_JSON_DEPTH
_AGENT_CALLS: Final = frozenset(
    row.name
    for row in wire.METHODS.values()
    if row.service.split(".")[0] == wire.METHODS[wire.METHOD_AGENT_STOP].service.split(".")[0]
)
_EDIT_MEMBERS: Final = frozenset(wire.AutocompleteItem.__slots__) - frozenset(wire.AutocompleteItemV02.__slots__)
"""Members of a completion that edit the text around it."""
_OWN_FEATURES: Final = (
    wire.FEATURE_ARTIFACTS,
    wire.FEATURE_POLICY_INTENTS,
    wire.FEATURE_APPROVALS,
    wire.FEATURE_SECRETS,
    wire.FEATURE_DYNAMIC_TOOLS,
    wire.FEATURE_AGENT_SESSIONS,
    wire.FEATURE_AGENT_MODEL_SELECTION_V1,
    wire.FEATURE_DELEGATION_TELEMETRY_V1,
)
_TEXT: Final = wire.TextPart(text="").type
# The member that names the handler, for requests that may have several.
_KEYS: Final = {
    wire.METHOD_COMMAND_EXECUTE: "name",
    wire.METHOD_HOOK_RUN: "hook",
    wire.METHOD_STATUS_COLLECT: "surface",
    wire.METHOD_TOOL_RENDER: "name",
}


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
    max_children: ClassVar[int] = wire.MAX_CHILD_REQUESTS
    max_child_ids: ClassVar[int] = wire.MAX_CHILD_IDS
    kept_catalogs: ClassVar[int] = wire.MAX_RETAINED_CATALOGS
    methods: ClassVar[Mapping[str, Method]] = wire.METHODS
    models: ClassVar[Mapping[str, type[Decoded]]] = wire.MODELS
    errors: ClassVar[Mapping[str, ErrorCode]] = wire.ERRORS
    error_ranges: ClassVar[tuple[tuple[int, int], ...]] = tuple(
        (int(low), int(high)) for _, low, high in wire.TABLE_ERROR_RANGES
    )
    hooks: ClassVar[Mapping[str, Hook]] = wire.HOOKS
    command_method: ClassVar[str | None] = wire.METHOD_COMMAND_EXECUTE
    hook_method: ClassVar[str] = wire.METHOD_HOOK_RUN
    progress_method: ClassVar[str] = wire.METHOD_PROGRESS
    collectors: ClassVar[Mapping[str, str]] = {
        "context": wire.METHOD_CONTEXT_COLLECT,
        "status": wire.METHOD_STATUS_COLLECT,
        "menu": wire.METHOD_MENU_COLLECT,
        "renderer": wire.METHOD_TOOL_RENDER,
        "autocomplete": wire.METHOD_UI_AUTOCOMPLETE_COMPLETE,
        "intercept": wire.METHOD_UI_TERMINAL_INPUT_INTERCEPT,
        "dispose": wire.METHOD_RESOURCE_DISPOSE,
    }
    declared_by: ClassVar[Mapping[str, str]] = {
        "hooks": wire.METHOD_HOOK_RUN,
        "ui": wire.METHOD_STATUS_COLLECT,
        "tool_renderers": wire.METHOD_TOOL_RENDER,
        "context": wire.METHOD_CONTEXT_COLLECT,
        "menu": wire.METHOD_MENU_COLLECT,
    }

    def __init__(self, api: str) -> None:
        super().__init__(api, wire.METHOD_CANCEL_REQUEST)
        self._has_progress = api in wire.METHODS[wire.METHOD_PROGRESS].versions
        self._negotiates = api in _negotiation.FEATURE_VERSIONS
        self._call_model = self.params_model(wire.METHODS[wire.METHOD_TOOL_CALL])
        self._open_model = self.params_model(wire.METHODS[wire.METHOD_INITIALIZE])

    def parse(self, payload: bytes) -> object:
        return _json.parse(payload, max_depth=_MAX_DEPTH)

    def spell(self, message: Mapping[str, object]) -> bytes:
        return _json.encode(message, max_depth=_MAX_DEPTH)

    def classify(self, value: object) -> Message:
        if not isinstance(value, dict):
            raise EnvelopeFault("a message is an object")
        return _feature_envelope.scan(value)

    def salvage(self, payload: bytes) -> tuple[Mapping[str, object], str] | None:
        return _feature_envelope.salvage(payload)

    def answerable(self, value: object) -> tuple[bool, Id | None]:
        if not isinstance(value, dict):
            return True, None
        if "id" not in value:
            return False, None
        found = value["id"]
        if _feature_envelope.legal_id(found):
            response = "method" not in value and ("result" in value or "error" in value)
            return not response, cast(Id, found)
        return True, None

    def response(self, request: Id, result: object) -> dict[str, object]:
        return {"jsonrpc": _feature_envelope.VERSION, "id": request, "result": result}

    def request(self, request: Id, method: str, params: Mapping[str, object]) -> dict[str, object]:
        return {"jsonrpc": _feature_envelope.VERSION, "id": request, "method": method, "params": params}

    def notification(self, method: str, params: Mapping[str, object]) -> dict[str, object]:
        return {"jsonrpc": _feature_envelope.VERSION, "method": method, "params": params}

    def cancel_params(self, request: Id, reason: str) -> dict[str, object]:
        return wire.CancelRequestParams(id=request, reason=reason).to_json()

    def failure(self, error: object) -> tuple[int, str, object]:
        found = wire.ErrorObject.from_json(error)
        return found.code, found.message, None if found.data is ABSENT else found.data

    def error(self, request: Id | None, refusal: Refusal) -> dict[str, object]:
        error = wire.ErrorObject(code=refusal.row.code, message=refusal.detail, data=refusal.data)
        return wire.JsonRpcErrorResponse(id=request, error=error).to_json()

    # --- refusals

    def unreadable(self) -> Refusal:
        return Refusal(wire.ERROR_PARSE_ERROR, wire.ERROR_PARSE_ERROR.message)

    def bad_params(self, pointer: str, detail: str) -> Refusal:
        row = wire.ERROR_INVALID_PARAMS
        return Refusal(row, f"{row.message}: {pointer.removeprefix('/params')}: {detail}")

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
        row = wire.ERROR_INTERNAL_ERROR
        return Refusal(row, f"{row.message}: {detail}" if detail else row.message)

    def cancelled(self, reason: str | None) -> Refusal:
        row = wire.ERROR_REQUEST_CANCELLED
        return Refusal(row, row.message, {"reason": reason or "cancelled"})

    def interrupted(self, reason: str) -> Refusal:
        if self._negotiates:
            return self.cancelled(reason)
        return Refusal(wire.ERROR_SERVER_ERROR, f"the extension stops: {reason}")

    # --- tools

    def check_tool(self, tool: ToolSpec) -> None:
        for name in tool.extras:
            if self.api not in EXTRA_VERSIONS:
                raise LocalProtocolError(
                    f"tool {tool.name!r}: API {self.api} knows no {name}: leave it out, or use API {EXTRA_VERSIONS[0]}"
                )
        if tool.output_schema is not None and not self._negotiates:
            raise LocalProtocolError(f"tool {tool.name!r}: API {self.api} has no output schema: leave it out")
        try:
            model = wire.ToolDefinition if self._negotiates else wire.ToolDefinitionV01
            model.from_json(definition(tool, None))
            _json.encode(definition(tool, None))
        except Violation as found:
            raise LocalProtocolError(f"tool {tool.name!r}: {found}") from None
        if tool.parameters.get("type") != "object":
            raise LocalProtocolError(f"tool {tool.name!r}: the parameters must be a schema of type 'object'")
        if tool.output_schema is not None:
            check_output_schema(tool.output_schema)

    def definition(self, tool: ToolSpec, features: frozenset[str]) -> dict[str, object]:
        return definition(tool, features)

    def tool_features(self, tool: ToolSpec) -> list[str]:
        return [name for extra in tool.extras for name in EXTRAS[extra]]

    def needs_owner(self, row: Method, agreement: Agreement) -> bool:
        return row.name in _AGENT_CALLS and wire.FEATURE_AGENT_SESSION_LIFETIME_V1 in agreement.features

    def outlives_parent(self, row: Method, agreement: Agreement) -> bool:
        return row.name not in _AGENT_CALLS or self.needs_owner(row, agreement)

    def features(self, *, hooks: bool) -> tuple[str, ...]:
        del hooks
        return tuple(row.name for row in wire.FEATURES.values() if self.api in row.versions)

    def own_features(self) -> tuple[str, ...]:
        return _OWN_FEATURES

    def runtime_command_features(self) -> tuple[str, ...]:
        return (wire.FEATURE_RUNTIME_COMMANDS,)

    def served_without_handler(self) -> Sequence[tuple[Method, Endpoint]]:
        if not self.has(wire.METHOD_RESOURCE_DISPOSE):
            return ()
        row = wire.METHODS[wire.METHOD_RESOURCE_DISPOSE]
        free_all = functools.partial(_answers.dispose, None, ())
        whole = (SCOPE, PAYLOAD, MODEL)
        return ((row, Endpoint(free_all, whole, Scope, lambda value: self.own_result(row, value), is_async=True)),)

    # --- gates

    def gate_feature(self, row: Method) -> str:
        word = gate(row)
        return word if word in wire.FEATURES else ""

    def closed_gate(self, row: Method, agreement: Agreement) -> str:
        word = gate(row)
        if word in wire.FEATURES and word not in agreement.features:
            return f"the feature {word!r}, which was not agreed: list it in uses, and the host must offer it"
        if word.startswith(MANIFEST):
            key = word.removeprefix(MANIFEST)
            if not agreement.declared.get(key):
                return f"contributes.{key} in the manifest: declare it there"
        return ""

    def ungated(self, row: Method, value: object, agreement: Agreement) -> str:
        edits = wire.FEATURE_AUTOCOMPLETE_EDIT_V1
        if row.name != wire.METHOD_UI_AUTOCOMPLETE_COMPLETE or edits in agreement.features:
            return ""
        items = value.get("items") if isinstance(value, dict) else None
        for item in items if isinstance(items, list) else []:
            surplus = _EDIT_MEMBERS.intersection(item) if isinstance(item, dict) else set()
            if surplus:
                return f"the member {min(surplus)!r} of an item, which the feature {edits!r} brings and nobody agreed"
        return ""

    def read_result(self, row: Method, value: object) -> object:
        return _scratch.judge_result(self, row, value)

    # --- messages

    def open(self, params: object, wishes: Wishes) -> Opening:
        asked = params.get("api_version") if isinstance(params, dict) else None
        if isinstance(asked, str) and asked != self.api:
            raise Refusal(wire.ERROR_SERVER_ERROR, f"unsupported API version: {asked[:80]} (this is {self.api})")
        try:
            opened = self._open_model.from_json(params)
        except Violation as found:
            raise _invalid(found) from None
        commands = [command(each.name, each.description, each.usage) for each in wishes.commands]
        answer: dict[str, object] = {"api_version": self.api, "commands": commands}
        if isinstance(opened, wire.InitializeParams):
            selection = self._select(opened, wishes)
            answer["protocol"] = selection.to_json()
            features = frozenset(selection.features)
            bound = selection.limits.max_concurrent_requests
            declared = opened.flag_values
            flags = {} if declared is ABSENT else {flag.name: flag.value for flag in declared}
        else:
            opened = cast("wire.InitializeParamsV01", opened)
            features, flags = frozenset(), {}
            bound = min(wire.MAX_CONCURRENT_REQUESTS, wishes.concurrency or wire.MAX_CONCURRENT_REQUESTS)
        answer["tools"] = [definition(tool, features) for tool in wishes.tools]
        agreement = Agreement(
            api=self.api,
            features=features,
            methods=None,
            concurrency=bound,
            frame_bound=wire.MAX_LINE_BYTES,
            workspace=opened.workspace,
            flags=flags,
            host=opened.host.to_json(),
            declared=opened.contributes.to_json(),
        )
        try:
            self.result_model(wire.METHODS[wire.METHOD_INITIALIZE])[0].read(answer)
        except Violation as found:
            raise self.internal(f"the answer to {wire.METHOD_INITIALIZE} breaks its model: {found}") from None
        return Opening(answer, agreement, remarks(agreement, wishes))

    def _select(self, opened: wire.InitializeParams, wishes: Wishes) -> wire.ProtocolSelection:
        offer = opened.protocol
        if offer.version != self.api:
            raise Refusal(
                wire.ERROR_INVALID_PARAMS,
                f"{wire.ERROR_INVALID_PARAMS.message}: protocol version {offer.version[:80]!r} is not {self.api!r}",
            )
        wanted = (wire.FEATURE_REQUEST_PROGRESS, wire.FEATURE_PROGRESS_DECORATION, *wishes.features)
        try:
            selection = _negotiation.select_features(
                self.api, offer, wanted=wanted, supported=_supported(wishes), concurrency=wishes.concurrency
            )
        except _negotiation.UnsupportedFeatures as found:
            raise Refusal(
                wire.ERROR_SERVER_ERROR,
                f"required API {self.api} features are not supported: {', '.join(found.names)[:400]}",
                {"unsupported_features": found.names},
            ) from None
        events = [name for name in wire.METHODS if name in wishes.events and name in LIFECYCLE]
        if events and wire.FEATURE_LIFECYCLE_EVENTS in selection.features:
            selection.lifecycle_events = cast("list[wire.LifecycleEventValue]", events)
        return selection

    def invocation(self, params: object, agreement: Agreement) -> Invocation:
        try:
            call = self._call_model.from_json(params)
        except Violation as found:
            if found.pointer == "/name" and isinstance(params, dict):
                name = params.get("name")
                if found.violation == "pattern" or name == "":
                    raise self.unknown_tool(str(name)) from None
            raise _invalid(found) from None
        revision = None
        if isinstance(call, wire.ToolCallParams):
            if call.catalog_revision is not ABSENT:
                if wire.FEATURE_DYNAMIC_TOOLS not in agreement.features:
                    detail = f"catalog_revision needs the feature {wire.FEATURE_DYNAMIC_TOOLS}"
                    raise Refusal(wire.ERROR_INVALID_PARAMS, f"{wire.ERROR_INVALID_PARAMS.message}: {detail}")
                revision = call.catalog_revision
        else:
            call = cast("wire.ToolCallParamsV01", call)
        context = cast("Mapping[str, object]", cast("Mapping[str, object]", params)["context"])
        return Invocation(call.name, call.arguments, context, revision)

    def unknown_revision(self, revision: int) -> Refusal:
        return Refusal(wire.ERROR_INVALID_PARAMS, f"unknown or retired tool catalog revision: {revision}")

    def admit(self, row: Method, params: object, endpoints: Endpoints, agreement: Agreement) -> Invocation:
        served = endpoints.get(row.name)
        if served is None or self.closed_feature(row, agreement):
            raise self.unknown_method(row.name)
        try:
            model = self.params_model(row).from_json(params)
        except Violation as found:
            raise _invalid(found) from None
        members = cast("dict[str, object]", params)
        key = _KEYS.get(row.name)
        name = "" if key is None else cast(str, members[key])
        self._check_declared(row, name, agreement)
        endpoint = served.get(name) or self._stand_in(row, name, served)
        context = cast("Mapping[str, object]", members.get("context", {}))
        payload: object = members
        if row.name == wire.METHOD_HOOK_RUN:
            payload = members["payload"]
            try:
                model = cast("type[Model]", wire.MODELS[wire.HOOKS[name].payload]).from_json(payload)
            except Violation as found:
                found.under("payload")
                raise _invalid(found) from None
        elif row.name == wire.METHOD_COMMAND_EXECUTE:
            payload = members["arguments"]
        return Invocation("", members, context, None, endpoint, payload, model)

    def _check_declared(self, row: Method, name: str, agreement: Agreement) -> None:
        """Refuses what the manifest does not declare. Source: settled S18."""
        key = next((key for key, method in self.declared_by.items() if method == row.name), None)
        listed = None if key is None else agreement.declared.get(key, False)
        if row.name == wire.METHOD_HOOK_RUN and name not in cast("list[str]", listed):
            raise self._undeclared_hook(name)
        if listed is not None and not listed:
            raise self.unknown_method(row.name)

    def _undeclared_hook(self, name: str) -> Refusal:
        detail = f"the hook {name[:80]!r} is not declared"
        return Refusal(wire.ERROR_INVALID_PARAMS, f"{wire.ERROR_INVALID_PARAMS.message}: {detail}")

    def closed_feature(self, row: Method, agreement: Agreement) -> bool:
        feature = self.gate_feature(row)
        return bool(feature) and feature not in agreement.features

    def _stand_in(self, row: Method, name: str, served: Mapping[str, Endpoint]) -> Endpoint:
        """Serves a name without a handler where the wire has an answer for that. Raises Refusal elsewhere."""
        if row.name == wire.METHOD_STATUS_COLLECT:
            silent = next(iter(served.values()))
            return Endpoint(_nothing, (), silent.scope, silent.answer, is_async=False)
        if row.name == wire.METHOD_HOOK_RUN:
            raise self._undeclared_hook(name)
        noun = "command" if row.name == wire.METHOD_COMMAND_EXECUTE else "renderer"
        raise Refusal(wire.ERROR_UNKNOWN_METHOD, f"unknown {noun}: {name[:200]}")

    # --- progress

    def status_event(self, message: str, numbers: Mapping[str, object]) -> dict[str, object]:
        self._need_progress()
        return _feature_progress.status(message, numbers)

    def output_events(self, data: str | bytes, stream: str | None) -> list[dict[str, object]]:
        self._need_progress()
        return _feature_progress.output(data, stream)

    def decoration_event(self, label: str, detail: str | None) -> dict[str, object]:
        self._need_progress()
        return _feature_progress.decoration(label, detail)

    def _need_progress(self) -> None:
        if not self._has_progress:
            raise self._no_progress()

    def progress(self, request: Id, sequence: int, event: Mapping[str, object]) -> tuple[str, dict[str, object]]:
        return wire.METHOD_PROGRESS, _feature_progress.params(request, sequence, event)

    def event_feature(self, event: Mapping[str, object]) -> str:
        return _feature_progress.feature(event)

    # --- messages

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
        if not any(isinstance(part, str) for part in parts) or (parts == [""] and structured is not ABSENT):
            parts = ["" if structured is ABSENT else text_of(structured), *(part for part in parts if part != "")]
        if not self._negotiates:
            if not all(isinstance(part, str) for part in parts):
                raise LocalProtocolError(f"API {self.api} results have text alone: leave the media out")
            return wire.ToolCallResultV01(content="\n".join(map(str, parts)), is_error=result.is_error).to_json()
        metadata = ABSENT if result.metadata is None else cast("Mapping[str, object]", plain(result.metadata))
        if structured is not ABSENT:
            _check_size("structured content", measure(structured))
        if metadata is not ABSENT:
            size = measure(metadata)
            _check_size("metadata", size)
            if size.key_bytes > wire.MAX_METADATA_KEY_BYTES:
                raise OverBound(f"a key of the metadata has more than {wire.MAX_METADATA_KEY_BYTES} bytes")
        value: dict[str, object] = {
            "content": [{"type": _TEXT, "text": part} if isinstance(part, str) else _part(part) for part in parts],
            "is_error": result.is_error,
        }
        if structured is not ABSENT:
            value["structured_content"] = structured
        if metadata is not ABSENT:
            value["metadata"] = metadata
        wire.ToolCallResult.from_json(value)
        return value


def _part(part: object) -> object:
    """Returns media of a result as JSON, from its model or from a dict like it."""
    return part.to_json() if isinstance(part, wire.ContentPart) else plain(part)


def _supported(wishes: Wishes) -> frozenset[str]:
    """Returns what may be selected: every feature, or those of the author's list and the required ones."""
    if wishes.limit is None:
        return frozenset(wire.FEATURES)
    return wishes.limit.union(row.name for row in wire.FEATURES.values() if row.required)


def _nothing() -> None:
    """Serves a name that nobody registered."""


def _check_size(what: str, size: Measure) -> None:
    if size.depth > wire.MAX_STRUCTURED_DEPTH:
        raise OverBound(f"the {what} is {size.depth} levels deep: at most {wire.MAX_STRUCTURED_DEPTH} are legal")
    if size.nodes > wire.MAX_STRUCTURED_NODES:
        raise OverBound(f"the {what} has {size.nodes} values: at most {wire.MAX_STRUCTURED_NODES} are legal")
