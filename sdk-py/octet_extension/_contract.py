"""The contract of API 0.3 as pure functions: what an extension selects, and what a host makes of it.

A mismatch carries the name of the wire error that reports it. Checks run in one fixed order.
Source: canonical 8.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from octet_extension._generated import canonical_wire
from octet_extension._generated._json import Violation
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
from octet_extension._mismatch import Mismatch

__all__ = [
    "CONTRACT_ENCODING",
    "CONTRACT_SCHEMA",
    "check_offer",
    "check_selection",
    "negotiate_contract",
    "select_contract",
]

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
    for name in names:
        size = len(name.encode("utf-8", "surrogatepass"))
        if not 1 <= size <= space.max_bytes:
            raise Mismatch(ERROR_INVALID_PARAMS.name, f"a {space.what} name must have 1 to {space.max_bytes} bytes")
    seen: set[str] = set()
    for name in names:
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
    lists = ((_CAPABILITY_NAMES, selection.capabilities), (_METHOD_NAMES, selection.methods))
    for space, names in lists:
        _check_list(space, names)
    for space, names in lists:
        for name in names:
            if name not in space.required | space.optional:
                raise _capability_mismatch(f"the {space.what} {name!r} cannot be selected")
    _check_methods(selection.methods, selection.capabilities)
    _check_limits(selection.limits)
    for name in selection.capabilities:
        for need in CAPABILITIES[name].needs:
            if need not in selection.methods:
                raise _capability_mismatch(f"the capability {name!r} needs the method {need!r}")


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


def select_contract(
    offer: ContractOffer, *, wanted: Iterable[str] = (), concurrency: int | None = None
) -> ContractSelection:
    """Returns a contract within a checked offer: what is required, what is wanted and offered, the offered limits.

    A capability comes with every method of it that is offered, and only with the methods it needs. concurrency lowers
    the number of requests in flight and never raises it.
    """
    limits = offer.limits
    in_flight = limits.max_concurrent_requests
    chosen = {
        name
        for name in wanted
        if name in offer.optional_capabilities and set(offer.optional_methods).issuperset(_needs(name))
    }
    capabilities = _CAPABILITY_NAMES.required | chosen
    methods = {name for name in offer.optional_methods if METHODS[name].gate in chosen}
    return ContractSelection(
        schema=CONTRACT_SCHEMA,
        encoding=CONTRACT_ENCODING,
        capabilities=sorted(capabilities),
        methods=sorted(_METHOD_NAMES.required | methods),
        limits=limits.replace(
            max_concurrent_requests=in_flight if concurrency is None else min(concurrency, in_flight)
        ),
    )


def _needs(capability: str) -> tuple[str, ...]:
    """Returns the methods without which a capability cannot be selected: those it names, or its only one."""
    own = [row.name for row in METHODS.values() if row.gate == capability and row.offer == _OPTIONAL]
    return CAPABILITIES[capability].needs or (tuple(own) if len(own) == 1 else ())
