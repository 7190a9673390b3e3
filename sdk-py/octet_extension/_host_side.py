"""The other end of the two wires, as far as a test needs it: what a host sends, and how it judges answers."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, TypeVar, cast

from octet_extension import _canonical, _canonical_envelope, _contract, _feature_envelope, _negotiation
from octet_extension._canonical_dialect import CanonicalDialect
from octet_extension._dialect import Dialect
from octet_extension._envelope import EnvelopeFault, Id, Message
from octet_extension._errors import RemoteProtocolError
from octet_extension._feature_dialect import FeatureDialect
from octet_extension._generated import _json, canonical_wire, feature_wire
from octet_extension._generated._json import JsonSyntaxError, Violation
from octet_extension._generated._models import Model
from octet_extension._generated._rows import Method
from octet_extension._generated._shapes import ABSENT
from octet_extension._mismatch import Mismatch

__all__ = ["Answer", "CanonicalHost", "FeatureHost", "HostSide", "Setting"]

_VERSION: Final = "0.0.0"
_REQUIRED: Final = "required"
_OPTIONAL: Final = "optional"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a test decides about the host."""

    api: str
    contributes: Mapping[str, object]
    """What the manifest contributes."""
    features: tuple[str, ...] | None
    """Features or capabilities to offer; None for all of them."""
    flags: Mapping[str, object]
    workspace: str
    concurrency: int
    max_frame_bytes: int


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """A tool result in neutral form."""

    parts: tuple[str, ...]
    content: tuple[Model, ...]
    structured: object
    is_error: bool
    metadata: object


class HostSide(abc.ABC):
    """One API version as its host speaks it."""

    initialize_method: ClassVar[str]
    shutdown_method: ClassVar[str]
    call_method: ClassVar[str]
    cancel_method: ClassVar[str]
    forgiving: ClassVar[bool]
    dialect: Dialect

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.bound = setting.max_frame_bytes
        self.features: frozenset[str] = frozenset()
        """What the extension selected."""
        self.owner: dict[str, object] | None = {
            "session_id": "test-session",
            "extension_instance_id": "test-instance",
            "process_generation": 1,
        }
        """The owner that contexts carry, where the API version has one."""

    def error_name(self, code: int) -> str:
        """Returns the row of the error table with a code, or an empty name."""
        return self.dialect.error_name(code)

    def offers(self, feature: str) -> bool:
        """Reports whether a feature or capability is offered."""
        return self.setting.features is None or feature in self.setting.features

    @abc.abstractmethod
    def spell(self, message: Mapping[str, object]) -> bytes:
        """Writes a payload."""

    @abc.abstractmethod
    def read(self, payload: bytes) -> Message:
        """Reads a payload. Raises RemoteProtocolError."""

    def request(self, request: Id, method: str, params: Mapping[str, object]) -> dict[str, object]:
        """Returns the envelope of a request."""
        return self.dialect.request(request, method, params)

    def notification(self, method: str, params: Mapping[str, object]) -> dict[str, object]:
        """Returns the envelope of a notification."""
        return self.dialect.notification(method, params)

    def response(self, request: Id, result: object) -> dict[str, object]:
        """Returns the envelope of a result."""
        return self.dialect.response(request, result)

    @abc.abstractmethod
    def failure(self, request: Id, name: str, message: str, data: object) -> dict[str, object]:
        """Returns the envelope of an error, by its row of the error table."""

    @abc.abstractmethod
    def initialize_params(self) -> dict[str, object]:
        """Returns the parameters of initialize."""

    @abc.abstractmethod
    def install(self, result: object) -> None:
        """Judges the answer to initialize and puts what was agreed into force. Raises RemoteProtocolError."""

    @abc.abstractmethod
    def context(self) -> dict[str, object]:
        """Returns the context of a request."""

    def call_params(self, tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
        """Returns the parameters of a tool call."""
        return {"name": tool, "arguments": dict(arguments), "context": self.context()}

    @abc.abstractmethod
    def hook_params(self, hook: str, payload: Mapping[str, object]) -> dict[str, object]:
        """Returns the parameters of a hook."""

    def cancel_params(self, request: Id, reason: str | None) -> dict[str, object]:
        """Returns the parameters of a cancellation."""
        params: dict[str, object] = {"id": request}
        return params if reason is None else {**params, "reason": reason}

    @abc.abstractmethod
    def answer(self, result: object) -> Answer:
        """Judges a tool result. Raises RemoteProtocolError."""

    def judged(self, row: Method, result: object) -> object:
        """Judges the result of any other request and returns it as it is. Raises RemoteProtocolError."""
        try:
            self.dialect.judge_result(row, result)
        except Violation as found:
            raise RemoteProtocolError(f"the extension answered {row.name} wrongly: {found}") from None
        return result

    @abc.abstractmethod
    def check_gate(self, row: Method) -> None:
        """Judges whether the extension may send a message at all. Raises RemoteProtocolError."""


class FeatureHost(HostSide):
    """API 0.1, 0.2 or 0.4."""

    initialize_method = feature_wire.METHOD_INITIALIZE
    shutdown_method = feature_wire.METHOD_SHUTDOWN
    call_method = feature_wire.METHOD_TOOL_CALL
    cancel_method = feature_wire.METHOD_CANCEL_REQUEST
    forgiving = True

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.dialect = FeatureDialect(setting.api)
        self._negotiates = setting.api in _negotiation.FEATURE_VERSIONS

    def spell(self, message: Mapping[str, object]) -> bytes:
        return _json.encode(message)

    def read(self, payload: bytes) -> Message:
        try:
            return _feature_envelope.classify(_json.parse(payload, max_depth=feature_wire.MAX_JSON_DEPTH))
        except (JsonSyntaxError, EnvelopeFault) as fault:
            raise RemoteProtocolError(f"the extension wrote {payload[:200]!r}: {fault}") from None

    def failure(self, request: Id, name: str, message: str, data: object) -> dict[str, object]:
        row = feature_wire.ERRORS[name]
        error = feature_wire.ErrorObject(code=row.code, message=message or row.message, data=data)
        return feature_wire.JsonRpcErrorResponse(id=request, error=error).to_json()

    def initialize_params(self) -> dict[str, object]:
        setting = self.setting
        identity = feature_wire.ExtensionIdentity(
            name="under-test", version="0.0.0", manifest_path="/under-test/extension.toml", source="explicit"
        )
        grants = feature_wire.CapabilityGrants(filesystem="none", process=False, network=False)
        params: dict[str, object] = {
            "api_version": setting.api,
            "octet_version": _VERSION,
            "extension": identity.to_json(),
            "workspace": setting.workspace,
            "capabilities": grants.to_json(),
            "contributes": {name: _plain(value) for name, value in self._contributes().items()},
            "host": _host_state(),
        }
        if self._negotiates:
            flags = [{"name": name, "value": value} for name, value in sorted(setting.flags.items())]
            params |= {"protocol": self._offer().to_json()} | ({"flag_values": flags} if flags else {})
        return params

    def _contributes(self) -> dict[str, object]:
        given = self.setting.contributes
        lists = ("tools", "commands", "hooks", "ui", "tool_renderers")
        flags = ("context", "notifications", "confirmations")
        found: dict[str, object] = {key: given.get(key, ()) for key in lists}
        found |= {key: bool(given.get(key, False)) for key in flags}
        if self._negotiates:
            found |= {key: True for key in ("presentation", "menu") if given.get(key)}
        return found

    def _offer(self) -> feature_wire.ProtocolOffer:
        rows = [row for row in feature_wire.FEATURES.values() if self.setting.api in row.versions]
        listed = self.setting.features
        optional = [row.name for row in rows if not row.required] if listed is None else list(listed)
        limits = feature_wire.ProtocolOfferLimits(max_concurrent_requests=self.setting.concurrency)
        offer = feature_wire.ProtocolOffer(
            version=self.setting.api,
            required_features=[row.name for row in rows if row.required],
            optional_features=optional,
            limits=limits,
        )
        if feature_wire.FEATURE_RESOURCE_REFS_V1 in optional:
            limits.resource_refs_v1 = feature_wire.ResourceRefsOffer(
                max_records=feature_wire.MAX_RESOURCES,
                max_registrations_per_parent=feature_wire.MAX_RESOURCE_REGISTRATIONS,
            )
        if feature_wire.FEATURE_BULK_OBJECTS_V1 in optional:
            offer.bulk_objects_v1 = _bulk_offer(self.setting.workspace)
        return offer

    def install(self, result: object) -> None:
        opened: feature_wire.InitializeResult | feature_wire.InitializeResultV01
        if self._negotiates:
            opened = _judged(feature_wire.InitializeResult, result)
        else:
            opened = _judged(feature_wire.InitializeResultV01, result)
        if opened.api_version != self.setting.api:
            raise RemoteProtocolError(f"the extension answered for API {opened.api_version!r}")
        if isinstance(opened, feature_wire.InitializeResult):
            try:
                self.features, _ = _negotiation.negotiate_features(
                    self.setting.api, self._offer().to_json(), opened.protocol.to_json()
                )
            except Mismatch as fault:
                raise RemoteProtocolError(str(fault)) from None
        contributes = self.setting.contributes
        if feature_wire.FEATURE_DYNAMIC_TOOLS not in self.features:
            _check_catalog("tools", contributes.get("tools", ()), [tool.name for tool in opened.tools])
        if feature_wire.FEATURE_RUNTIME_COMMANDS not in self.features:
            _check_catalog("commands", contributes.get("commands", ()), [command.name for command in opened.commands])

    def context(self) -> dict[str, object]:
        context: dict[str, object] = {
            "workspace": self.setting.workspace,
            "execution_scope": None,
            "host": _host_state(),
        }
        if self._negotiates and self.owner is not None:
            context["resource_owner"] = dict(self.owner)
        return context

    def hook_params(self, hook: str, payload: Mapping[str, object]) -> dict[str, object]:
        return {"hook": hook, "payload": dict(payload), "context": self.context()}

    def answer(self, result: object) -> Answer:
        if not self._negotiates:
            old = _judged(feature_wire.ToolCallResultV01, result)
            return Answer((old.content,), (), None, old.is_error, None if old.metadata is ABSENT else old.metadata)
        new = _judged(feature_wire.ToolCallResult, result)
        parts = tuple(part.text for part in new.content if isinstance(part, feature_wire.TextPart))
        if not parts:
            raise RemoteProtocolError("a tool result has no text part")
        structured = None if new.structured_content is ABSENT else new.structured_content
        metadata = None if new.metadata is ABSENT else new.metadata
        return Answer(parts, tuple(new.content), structured, new.is_error, metadata)

    def check_gate(self, row: Method) -> None:
        feature = self.dialect.gate_feature(row)
        if not self.features and row.parent == "initialize" and self.offers(feature):
            return  # it belongs to initialize, which is not answered yet
        if feature and feature not in self.features:
            raise RemoteProtocolError(f"the extension sent {row.name}, which needs {feature!r}: it was not agreed")
        if row.gate.startswith("contributes.") and not self.setting.contributes.get(row.gate.split(".")[1]):
            raise RemoteProtocolError(f"the extension sent {row.name}, and the manifest does not declare {row.gate}")


class CanonicalHost(HostSide):
    """API 0.3."""

    initialize_method = canonical_wire.METHOD_INITIALIZE
    shutdown_method = canonical_wire.METHOD_SHUTDOWN
    call_method = canonical_wire.METHOD_TOOL_CALL
    cancel_method = canonical_wire.METHOD_CANCEL_REQUEST
    forgiving = False

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.dialect = CanonicalDialect(setting.api)
        self._methods: frozenset[str] = frozenset()

    def spell(self, message: Mapping[str, object]) -> bytes:
        return _canonical.encode(message)

    def read(self, payload: bytes) -> Message:
        try:
            return _canonical_envelope.classify(_canonical.check(payload))
        except (JsonSyntaxError, EnvelopeFault) as fault:
            raise RemoteProtocolError(f"the extension wrote {payload[:200]!r}: {fault}") from None

    def failure(self, request: Id, name: str, message: str, data: object) -> dict[str, object]:
        del message  # the table fixes it
        row = canonical_wire.ERRORS[name]
        error = canonical_wire.ErrorObject(code=row.code, message=row.message, data=data)
        return canonical_wire.JsonRpcErrorResponse(id=request, error=error).to_json()

    def initialize_params(self) -> dict[str, object]:
        setting = self.setting
        return canonical_wire.InitializeRequest(
            api_version=cast("canonical_wire.ApiVersionValue", setting.api),
            octet_version=_VERSION,
            extension={"name": "under-test", "version": _VERSION},
            workspace=setting.workspace,
            capabilities={},
            contributes={key: _plain(setting.contributes.get(key, ())) for key in ("tools", "hooks")},
            flag_values=[
                canonical_wire.InitializeFlagValue(name=name, value=value)
                for name, value in sorted(setting.flags.items())
            ],
            host={},
            contract=self._offer(),
        ).to_json()

    def _offer(self) -> canonical_wire.ContractOffer:
        capabilities = [row.name for row in canonical_wire.CAPABILITIES.values() if row.offer == _OPTIONAL]
        offered = sorted(name for name in capabilities if self.offers(name))
        methods = canonical_wire.METHODS.values()
        return canonical_wire.ContractOffer(
            schema=_contract.CONTRACT_SCHEMA,
            encoding=_contract.CONTRACT_ENCODING,
            required_capabilities=sorted(
                row.name for row in canonical_wire.CAPABILITIES.values() if row.offer == _REQUIRED
            ),
            optional_capabilities=offered,
            required_methods=sorted(row.name for row in methods if row.offer == _REQUIRED),
            optional_methods=sorted(row.name for row in methods if row.offer == _OPTIONAL and row.gate in offered),
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
        except Mismatch as fault:
            raise RemoteProtocolError(str(fault)) from None
        _check_catalog("tools", self.setting.contributes.get("tools", ()), [tool.name for tool in opened.tools])
        self.features = frozenset(selection.capabilities)
        self._methods = frozenset(selection.methods)
        self.bound = selection.limits.max_frame_bytes

    def context(self) -> dict[str, object]:
        return {"workspace": self.setting.workspace}

    def hook_params(self, hook: str, payload: Mapping[str, object]) -> dict[str, object]:
        return {"hook": hook, "payload": dict(payload)}

    def answer(self, result: object) -> Answer:
        judged = _judged(canonical_wire.ToolCallResult, result)
        parts = tuple(part.text for part in judged.content if isinstance(part, canonical_wire.TextPart))
        structured = None if judged.structured_content is ABSENT else judged.structured_content
        return Answer(parts, tuple(judged.content), structured, judged.is_error, judged.metadata)

    def check_gate(self, row: Method) -> None:
        if row.name not in self._methods:
            raise RemoteProtocolError(f"the extension sent {row.name}, which is not in the contract")


_Judged = TypeVar("_Judged", bound=Model)


def _judged(model: type[_Judged], result: object) -> _Judged:
    try:
        return model.from_json(result)
    except Violation as found:
        raise RemoteProtocolError(f"the extension sent a bad {model.__name__}: {found}") from None


def _plain(value: object) -> object:
    return list(value) if isinstance(value, (list, tuple)) else value


def _host_state() -> dict[str, object]:
    return feature_wire.HostState(
        session_id="test-host-session", session_name=None, model=None, reasoning=None, active_skills=()
    ).to_json()


def _bulk_offer(directory: str) -> feature_wire.BulkOffer:
    return feature_wire.BulkOffer(
        profile=feature_wire.BulkProfile.LOCAL_FILE_V1,
        transfer_directory=directory,
        limits=feature_wire.BulkLimits(
            object_bytes=feature_wire.MAX_BULK_OBJECT_BYTES,
            owner_bytes=feature_wire.MAX_BULK_OWNER_BYTES,
            write_tickets_per_generation=feature_wire.MAX_BULK_WRITE_TICKETS,
            read_leases_per_generation=feature_wire.MAX_BULK_READ_LEASES,
            blobs_per_owner=feature_wire.MAX_BULK_BLOBS,
        ),
    )


def _check_catalog(what: str, declared: object, names: Sequence[str]) -> None:
    listed = sorted(cast("Sequence[str]", declared))
    if listed != sorted(names):
        raise RemoteProtocolError(f"the catalog has the {what} {sorted(names)}, not {listed}")
