"""Offer and selection, as pure functions: what an extension selects, and what a host makes of it.

A mismatch carries the name of the wire error that reports it. Checks run in one fixed order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from octet_extension._generated import canonical_wire
from octet_extension._generated._json import Violation
from octet_extension._generated._shapes import ABSENT
from octet_extension._generated.canonical_wire import (
    CAPABILITIES,
    ERROR_CAPABILITY_MISMATCH,
    ERROR_INVALID_PARAMS,
    ERROR_RESOURCE_EXHAUSTED,
    ERROR_VERSION_MISMATCH,
    METHODS,
    ContractOffer,
    ContractSelection,
    ProtocolLimits,
)
from octet_extension._generated.feature_wire import (
    FEATURE_LIFECYCLE_EVENTS,
    FEATURES,
    ProtocolOffer,
    ProtocolSelection,
    ProtocolSelectionLimits,
)

__all__ = [
    "CONTRACT_ENCODING",
    "CONTRACT_SCHEMA",
    "FEATURE_VERSIONS",
    "INVALID_NEGOTIATION",
    "Mismatch",
    "UnsupportedFeatures",
    "check_offer",
    "check_selection",
    "known_features",
    "negotiate_contract",
    "negotiate_features",
    "select_contract",
    "select_features",
]

INVALID_NEGOTIATION: Final = "invalid_negotiation"
"""What a host calls every mismatch of the feature wire, whose selection is a result and has no error answer."""

_IDENTITY: Final = dict(canonical_wire.TABLE_CONTRACT_IDENTITY)
CONTRACT_SCHEMA: Final = _IDENTITY["schema"]
CONTRACT_ENCODING: Final = _IDENTITY["encoding"]
_REQUIRED: Final = "required"
_OPTIONAL: Final = "optional"
_API_MAXIMA: Final = {
    "max_frame_bytes": canonical_wire.MAX_FRAME_BYTES,
    "max_concurrent_requests": canonical_wire.MAX_CONCURRENT_REQUESTS,
    "max_tools": canonical_wire.MAX_TOOLS,
}


class Mismatch(Exception):
    """Offer and selection do not fit. error names the wire error, detail says what and why."""

    def __init__(self, error: str, detail: str) -> None:
        super().__init__(f"{error}: {detail}")
        self.error = error
        self.detail = detail


# --- the contract of API 0.3 ----------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class _Names:
    """One of the two name spaces of a contract."""

    what: str
    max_bytes: int
    known: frozenset[str]
    required: frozenset[str]
    optional: frozenset[str]


def _names(what: str, max_bytes: int, offers: Mapping[str, str]) -> _Names:
    return _Names(
        what,
        max_bytes,
        frozenset(offers),
        frozenset(name for name, offer in offers.items() if offer == _REQUIRED),
        frozenset(name for name, offer in offers.items() if offer == _OPTIONAL),
    )


_CAPABILITY_NAMES: Final = _names(
    "capability", canonical_wire.MAX_CAPABILITY_NAME_BYTES, {row.name: row.offer for row in CAPABILITIES.values()}
)
_METHOD_NAMES: Final = _names(
    "method", canonical_wire.MAX_METHOD_NAME_BYTES, {row.name: row.offer for row in METHODS.values()}
)


def _capability_mismatch(detail: str) -> Mismatch:
    return Mismatch(ERROR_CAPABILITY_MISMATCH.name, detail)


def _check_identity(contract: ContractOffer | ContractSelection) -> None:
    if contract.schema != CONTRACT_SCHEMA:
        raise Mismatch(ERROR_VERSION_MISMATCH.name, f"schema must be {CONTRACT_SCHEMA!r}, got {contract.schema[:80]!r}")
    if contract.encoding != CONTRACT_ENCODING:
        detail = f"encoding must be {CONTRACT_ENCODING!r}, got {contract.encoding[:80]!r}"
        raise Mismatch(ERROR_INVALID_PARAMS.name, detail)


def _check_list(space: _Names, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        size = len(name.encode("utf-8", "surrogatepass"))
        if not 1 <= size <= space.max_bytes:
            raise Mismatch(ERROR_INVALID_PARAMS.name, f"a {space.what} name must have 1 to {space.max_bytes} bytes")
        if name not in space.known:
            raise _capability_mismatch(f"the {space.what} {name!r} is not known")
        if name in seen:
            raise _capability_mismatch(f"the {space.what} {name!r} is listed twice")
        seen.add(name)


def _check_offered_names(space: _Names, required: Sequence[str], optional: Sequence[str]) -> None:
    _check_list(space, required)
    _check_list(space, optional)
    for name in required:
        if name in optional:
            raise _capability_mismatch(f"the {space.what} {name!r} is listed as required and as optional")
    if set(required) != space.required:
        raise _capability_mismatch(f"the required {space.what} names must be {', '.join(sorted(space.required))}")
    for name in optional:
        if name not in space.optional:
            raise _capability_mismatch(f"the {space.what} {name!r} cannot be offered as optional")


def _check_methods(methods: Iterable[str], capabilities: Iterable[str]) -> None:
    have = set(capabilities)
    for name in methods:
        gate = METHODS[name].gate
        if gate not in have:
            raise _capability_mismatch(f"the method {name!r} needs the capability {gate!r}")


def _check_limits(limits: ProtocolLimits) -> None:
    for name, maximum in _API_MAXIMA.items():
        value: int = getattr(limits, name)
        if value < 1:
            raise Mismatch(ERROR_INVALID_PARAMS.name, f"{name} must be at least 1")
        if value > maximum:
            raise Mismatch(ERROR_RESOURCE_EXHAUSTED.name, f"{name} must be at most {maximum}, got {value}")


def check_offer(offer: ContractOffer) -> None:
    """Judges an offer that satisfies its model. Raises Mismatch."""
    _check_identity(offer)
    _check_offered_names(_CAPABILITY_NAMES, offer.required_capabilities, offer.optional_capabilities)
    _check_offered_names(_METHOD_NAMES, offer.required_methods, offer.optional_methods)
    _check_methods(
        [*offer.required_methods, *offer.optional_methods],
        [*offer.required_capabilities, *offer.optional_capabilities],
    )
    _check_limits(offer.limits)


def check_selection(selection: ContractSelection) -> None:
    """Judges a selection that satisfies its model, on its own. Raises Mismatch."""
    _check_identity(selection)
    for space, names in ((_CAPABILITY_NAMES, selection.capabilities), (_METHOD_NAMES, selection.methods)):
        _check_list(space, names)
        for name in names:
            if name not in space.required | space.optional:
                raise _capability_mismatch(f"the {space.what} {name!r} cannot be selected")
    _check_methods(selection.methods, selection.capabilities)
    for name in selection.capabilities:
        for need in CAPABILITIES[name].needs:
            if need not in selection.methods:
                raise _capability_mismatch(f"the capability {name!r} needs the method {need!r}")
    _check_limits(selection.limits)


def _check_within(what: str, selected: Sequence[str], required: Sequence[str], optional: Sequence[str]) -> None:
    for name in selected:
        if name not in required and name not in optional:
            raise _capability_mismatch(f"the {what} {name!r} was not offered")
    for name in required:
        if name not in selected:
            raise _capability_mismatch(f"the required {what} {name!r} is not selected")


def negotiate_contract(offer: object, selection: object) -> ContractSelection:
    """Judges parsed offer and selection as a host does. Raises Mismatch.

    The session hooks are left out here: whether they must be selected depends on the manifest.
    """
    try:
        offered = ContractOffer.from_json(offer)
        check_offer(offered)
        selected = ContractSelection.from_json(selection)
    except Violation as found:
        raise Mismatch(found.error, str(found)) from None
    check_selection(selected)
    _check_within("capability", selected.capabilities, offered.required_capabilities, offered.optional_capabilities)
    _check_within("method", selected.methods, offered.required_methods, offered.optional_methods)
    for name in _API_MAXIMA:
        if getattr(selected.limits, name) > getattr(offered.limits, name):
            raise _capability_mismatch(f"{name} is above the offer")
    return selected


def select_contract(offer: ContractOffer, *, concurrency: int | None) -> ContractSelection:
    """Returns the minimal contract within a checked offer: what is required, and the offered limits.

    concurrency lowers the number of requests in flight and never raises it.
    """
    limits = offer.limits
    in_flight = limits.max_concurrent_requests
    return ContractSelection(
        schema=CONTRACT_SCHEMA,
        encoding=CONTRACT_ENCODING,
        capabilities=sorted(_CAPABILITY_NAMES.required),
        methods=sorted(_METHOD_NAMES.required),
        limits=dataclasses.replace(
            limits, max_concurrent_requests=in_flight if concurrency is None else min(concurrency, in_flight)
        ),
    )


# --- the features of API 0.2 and 0.4 --------------------------------------------------------------


FEATURE_VERSIONS: Final = tuple(sorted({version for row in FEATURES.values() for version in row.versions}))
"""API versions that negotiate features."""


def known_features(api: str) -> frozenset[str]:
    """Returns the features that an API version defines."""
    return frozenset(row.name for row in FEATURES.values() if api in row.versions)


def _invalid(detail: str) -> Mismatch:
    return Mismatch(INVALID_NEGOTIATION, detail)


def select_features(
    api: str, offer: ProtocolOffer, *, wanted: Iterable[str], supported: Iterable[str], concurrency: int | None
) -> ProtocolSelection:
    """Returns the required features, those wanted that are offered, and a bound within the offer.

    Raises UnsupportedFeatures for a required feature outside supported.
    """
    able = frozenset(supported) & known_features(api)
    missing = [name for name in offer.required_features if name not in able]
    if missing:
        raise UnsupportedFeatures(missing)
    optional = [name for name in wanted if name in offer.optional_features]
    chosen = list(dict.fromkeys([*offer.required_features, *optional]))
    in_flight = offer.limits.max_concurrent_requests
    return ProtocolSelection(
        version=offer.version,
        features=chosen,
        limits=ProtocolSelectionLimits(
            max_concurrent_requests=in_flight if concurrency is None else min(concurrency, in_flight)
        ),
    )


class UnsupportedFeatures(Exception):
    """The host requires features that the extension does not have."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(", ".join(names))
        self.names = list(names)


def _check_features(api: str, offered: frozenset[str], selected: Sequence[str]) -> None:
    known = known_features(api)
    seen: set[str] = set()
    for name in selected:
        if name not in known:
            raise _invalid(f"the feature {name!r} is not one of API {api}")
        if name not in offered:
            raise _invalid(f"the feature {name!r} was not offered")
        if name in seen:
            raise _invalid(f"the feature {name!r} is selected twice")
        seen.add(name)
    for name in selected:
        for need in FEATURES[name].depends_on:
            if need not in seen:
                raise _invalid(f"the feature {name!r} needs {need!r}")


def negotiate_features(api: str, offer: object, selection: object) -> tuple[frozenset[str], int]:
    """Judges parsed offer and selection as a host does. Returns the features and the bound in force.

    Raises Mismatch. A bound above the offer is cut to the offer, not refused.
    """
    try:
        offered = ProtocolOffer.from_json(offer)
        selected = ProtocolSelection.from_json(selection)
    except Violation as found:
        raise _invalid(str(found)) from None
    if not (offered.version == selected.version == api):
        raise _invalid(f"version must be {api!r} on both sides, got {offered.version!r} and {selected.version!r}")
    _check_features(api, frozenset([*offered.required_features, *offered.optional_features]), selected.features)
    for name in offered.required_features:
        if name not in selected.features:
            raise _invalid(f"the required feature {name!r} is not selected")
    events = selected.lifecycle_events
    if events is not ABSENT and events and FEATURE_LIFECYCLE_EVENTS not in selected.features:
        raise _invalid(f"lifecycle_events needs the feature {FEATURE_LIFECYCLE_EVENTS!r}")
    bound = min(selected.limits.max_concurrent_requests, offered.limits.max_concurrent_requests)
    return frozenset(selected.features), bound
