"""The other end of the two wires, as far as a test needs it: what a host sends, and how it judges answers."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar, cast

from octet_extension import _canonical, _canonical_envelope, _contract, _envelope, _negotiation
from octet_extension._envelope import Id, Message
from octet_extension._errors import RemoteProtocolError
from octet_extension._generated import _json, canonical_wire, feature_wire
from octet_extension._generated._json import JsonSyntaxError, Violation
from octet_extension._generated._models import Model
from octet_extension._generated._rows import Capability, ErrorCode, Method
from octet_extension._generated._shapes import ABSENT

__all__ = ["Answer", "CanonicalHost", "FeatureHost", "HostSide", "Setting"]

_VERSION: Final = "0.0.0"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a test decides about the host."""

    api: str
    tools: tuple[str, ...]
    features: tuple[str, ...]
    notifications: bool
    flags: Mapping[str, object]
    workspace: str
    concurrency: int
    max_frame_bytes: int


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """A tool result in neutral form."""

    parts: tuple[str, ...]
    structured: object
    is_error: bool
    metadata: object


class HostSide(abc.ABC):
    """One API version as its host speaks it."""

    initialize_method: str
    shutdown_method: str
    call_method: str
    cancel_method: str
    errors: Mapping[str, ErrorCode]
    forgiving: bool

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.bound = setting.max_frame_bytes

    def error_name(self, code: int) -> str:
        """Returns the row of the error table with a code, or an empty name."""
        return next((row.name for row in self.errors.values() if row.code == code), "")

    @abc.abstractmethod
    def spell(self, message: Mapping[str, object]) -> bytes:
        """Writes a payload."""

    @abc.abstractmethod
    def read(self, payload: bytes) -> Message:
        """Reads a payload. Raises RemoteProtocolError."""

    @abc.abstractmethod
    def request(self, request: Id, method: str, params: Mapping[str, object]) -> dict[str, object]:
        """Returns the envelope of a request."""

    @abc.abstractmethod
    def notification(self, method: str, params: Mapping[str, object]) -> dict[str, object]:
        """Returns the envelope of a notification."""

    @abc.abstractmethod
    def initialize_params(self) -> dict[str, object]:
        """Returns the parameters of initialize."""

    @abc.abstractmethod
    def install(self, result: object) -> None:
        """Judges the answer to initialize and puts what was agreed into force. Raises RemoteProtocolError."""

    @abc.abstractmethod
    def call_params(self, tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
        """Returns the parameters of a tool call."""

    @abc.abstractmethod
    def cancel_params(self, request: Id, reason: str | None) -> dict[str, object]:
        """Returns the parameters of a cancellation."""

    @abc.abstractmethod
    def answer(self, result: object) -> Answer:
        """Judges a tool result. Raises RemoteProtocolError."""


class FeatureHost(HostSide):
    """API 0.1, 0.2 or 0.4."""

    initialize_method = feature_wire.METHOD_INITIALIZE
    shutdown_method = feature_wire.METHOD_SHUTDOWN
    call_method = feature_wire.METHOD_TOOL_CALL
    cancel_method = feature_wire.METHOD_CANCEL_REQUEST
    errors = feature_wire.ERRORS
    forgiving = True

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._negotiates = setting.api in _negotiation.FEATURE_VERSIONS

    def spell(self, message: Mapping[str, object]) -> bytes:
        return _json.encode(message)

    def read(self, payload: bytes) -> Message:
        try:
            return _envelope.classify(_json.parse(payload, max_depth=feature_wire.MAX_JSON_DEPTH))
        except (JsonSyntaxError, _envelope.EnvelopeFault) as fault:
            raise RemoteProtocolError(f"the extension wrote {payload[:200]!r}: {fault}") from None

    def request(self, request: Id, method: str, params: Mapping[str, object]) -> dict[str, object]:
        return feature_wire.JsonRpcRequest(id=request, method=method, params=params).to_json()

    def notification(self, method: str, params: Mapping[str, object]) -> dict[str, object]:
        return feature_wire.JsonRpcNotification(method=method, params=params).to_json()

    def initialize_params(self) -> dict[str, object]:
        setting = self.setting
        identity = feature_wire.ExtensionIdentity(
            name="under-test", version="0.0.0", manifest_path="/under-test/extension.toml", source="explicit"
        )
        grants = feature_wire.CapabilityGrants(filesystem="none", process=False, network=False)
        contributes = feature_wire.ContributesV01(
            tools=setting.tools,
            commands=(),
            hooks=(),
            ui=(),
            context=False,
            tool_renderers=(),
            notifications=setting.notifications,
            confirmations=False,
        )
        params = feature_wire.InitializeParamsV01(
            api_version=cast("feature_wire.ApiVersionValue", setting.api),
            octet_version=_VERSION,
            extension=identity,
            workspace=setting.workspace,
            capabilities=grants,
            contributes=contributes,
            host=_host_state(),
        ).to_json()
        if self._negotiates:
            offer = self._offer().to_json()
            flags = [{"name": name, "value": value} for name, value in sorted(setting.flags.items())]
            params |= {"protocol": offer} | ({"flag_values": flags} if flags else {})
        return params

    def _offer(self) -> feature_wire.ProtocolOffer:
        return feature_wire.ProtocolOffer(
            version=self.setting.api,
            required_features=[row.name for row in feature_wire.FEATURES.values() if row.required],
            optional_features=self.setting.features,
            limits=feature_wire.ProtocolOfferLimits(max_concurrent_requests=self.setting.concurrency),
        )

    def install(self, result: object) -> None:
        opened: feature_wire.InitializeResult | feature_wire.InitializeResultV01
        if self._negotiates:
            opened = _judged(feature_wire.InitializeResult, result)
        else:
            opened = _judged(feature_wire.InitializeResultV01, result)
        if opened.api_version != self.setting.api:
            raise RemoteProtocolError(f"the extension answered for API {opened.api_version!r}")
        _check_catalog(self.setting.tools, [tool.name for tool in opened.tools])
        if isinstance(opened, feature_wire.InitializeResult):
            try:
                _negotiation.negotiate_features(self.setting.api, self._offer().to_json(), opened.protocol.to_json())
            except _negotiation.Mismatch as fault:
                raise RemoteProtocolError(str(fault)) from None

    def call_params(self, tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
        if not self._negotiates:
            context = feature_wire.ExecutionContextV01(
                workspace=self.setting.workspace, execution_scope=None, host=_host_state()
            )
            return feature_wire.ToolCallParamsV01(name=tool, arguments=arguments, context=context).to_json()
        return feature_wire.ToolCallParams(
            name=tool,
            arguments=arguments,
            context=feature_wire.ExecutionContext(
                workspace=self.setting.workspace,
                execution_scope=None,
                resource_owner=feature_wire.ResourceOwner(
                    session_id="test-session", extension_instance_id="test-instance", process_generation=1
                ),
                host=_host_state(),
            ),
        ).to_json()

    def cancel_params(self, request: Id, reason: str | None) -> dict[str, object]:
        return feature_wire.CancelRequestParams(id=request, reason=ABSENT if reason is None else reason).to_json()

    def answer(self, result: object) -> Answer:
        if not self._negotiates:
            old = _judged(feature_wire.ToolCallResultV01, result)
            return Answer((old.content,), None, old.is_error, None if old.metadata is ABSENT else old.metadata)
        new = _judged(feature_wire.ToolCallResult, result)
        parts = tuple(part.text for part in new.content if isinstance(part, feature_wire.TextPart))
        if not parts:
            raise RemoteProtocolError("a tool result has no text part")
        structured = None if new.structured_content is ABSENT else new.structured_content
        return Answer(parts, structured, new.is_error, None if new.metadata is ABSENT else new.metadata)


class CanonicalHost(HostSide):
    """API 0.3."""

    initialize_method = canonical_wire.METHOD_INITIALIZE
    shutdown_method = canonical_wire.METHOD_SHUTDOWN
    call_method = canonical_wire.METHOD_TOOL_CALL
    cancel_method = canonical_wire.METHOD_CANCEL_REQUEST
    errors = canonical_wire.ERRORS
    forgiving = False

    def spell(self, message: Mapping[str, object]) -> bytes:
        return _canonical.encode(message)

    def read(self, payload: bytes) -> Message:
        try:
            return _canonical_envelope.classify(_canonical.check(payload))
        except (JsonSyntaxError, _envelope.EnvelopeFault) as fault:
            raise RemoteProtocolError(f"the extension wrote {payload[:200]!r}: {fault}") from None

    def request(self, request: Id, method: str, params: Mapping[str, object]) -> dict[str, object]:
        return canonical_wire.JsonRpcRequest(id=request, method=method, params=params).to_json()

    def notification(self, method: str, params: Mapping[str, object]) -> dict[str, object]:
        return canonical_wire.JsonRpcNotification(method=method, params=params).to_json()

    def initialize_params(self) -> dict[str, object]:
        setting = self.setting
        return canonical_wire.InitializeRequest(
            api_version=cast("canonical_wire.ApiVersionValue", setting.api),
            octet_version=_VERSION,
            extension={"name": "under-test"},
            workspace=setting.workspace,
            capabilities={},
            contributes={"tools": list(setting.tools)},
            flag_values=[
                canonical_wire.InitializeFlagValue(name=name, value=value)
                for name, value in sorted(setting.flags.items())
            ],
            host={},
            contract=self._offer(),
        ).to_json()

    def _offer(self) -> canonical_wire.ContractOffer:
        return canonical_wire.ContractOffer(
            schema=_contract.CONTRACT_SCHEMA,
            encoding=_contract.CONTRACT_ENCODING,
            required_capabilities=_offered(canonical_wire.CAPABILITIES, "required"),
            optional_capabilities=[],
            required_methods=_offered(canonical_wire.METHODS, "required"),
            optional_methods=[],
            limits=canonical_wire.ProtocolLimits(
                max_frame_bytes=self.setting.max_frame_bytes,
                max_concurrent_requests=self.setting.concurrency,
                max_tools=canonical_wire.MAX_TOOLS,
            ),
        )

    def install(self, result: object) -> None:
        opened = _judged(canonical_wire.InitializeResponse, result)
        try:
            selection = _contract.negotiate_contract(self._offer().to_json(), opened.contract.to_json())
        except _negotiation.Mismatch as fault:
            raise RemoteProtocolError(str(fault)) from None
        _check_catalog(self.setting.tools, [tool.name for tool in opened.tools])
        self.bound = selection.limits.max_frame_bytes

    def call_params(self, tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
        context = {"workspace": self.setting.workspace}
        return canonical_wire.ToolCallParams(name=tool, arguments=arguments, context=context).to_json()

    def cancel_params(self, request: Id, reason: str | None) -> dict[str, object]:
        return canonical_wire.CancelRequestParams(id=request, reason=ABSENT if reason is None else reason).to_json()

    def answer(self, result: object) -> Answer:
        judged = _judged(canonical_wire.ToolCallResult, result)
        parts = tuple(part.text for part in judged.content if isinstance(part, canonical_wire.TextPart))
        structured = None if judged.structured_content is ABSENT else judged.structured_content
        return Answer(parts, structured, judged.is_error, judged.metadata)


_Judged = TypeVar("_Judged", bound=Model)


def _judged(model: type[_Judged], result: object) -> _Judged:
    try:
        return model.from_json(result)
    except Violation as found:
        raise RemoteProtocolError(f"the extension sent a bad {model.__name__}: {found}") from None


def _offered(rows: Mapping[str, Capability] | Mapping[str, Method], offer: str) -> list[str]:
    return sorted(name for name, row in rows.items() if row.offer == offer)


def _host_state() -> feature_wire.HostState:
    return feature_wire.HostState(session_id=None, session_name=None, model=None, reasoning=None, active_skills=())


def _check_catalog(declared: Sequence[str], names: Sequence[str]) -> None:
    if sorted(declared) != sorted(names):
        raise RemoteProtocolError(f"the catalog has the tools {sorted(names)}, not {sorted(declared)}")
