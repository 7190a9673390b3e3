"""The features of API 0.2 and 0.4 as pure functions: what an extension selects, and what a host makes of it.

Source: feature 6. The contract of API 0.3 is in a module of its own and shares the mismatch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from octet_extension._generated._json import Violation
from octet_extension._generated._shapes import ABSENT
from octet_extension._generated.feature_wire import (
    FEATURE_LIFECYCLE_EVENTS,
    FEATURES,
    ProtocolOffer,
    ProtocolSelection,
    ProtocolSelectionLimits,
)
from octet_extension._mismatch import Mismatch

__all__ = [
    "FEATURE_VERSIONS",
    "INVALID_NEGOTIATION",
    "Mismatch",
    "UnsupportedFeatures",
    "known_features",
    "negotiate_features",
    "select_features",
    "with_needs",
]

INVALID_NEGOTIATION: Final = "invalid_negotiation"
"""What a host calls every mismatch of the feature wire, whose selection is a result and has no error answer."""


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
    """Returns the required features, those wanted that are offered with what they need, and a bound within the offer.

    Raises UnsupportedFeatures for a required feature outside supported.
    """
    able = frozenset(supported) & known_features(api)
    missing = [name for name in offer.required_features if name not in able]
    if missing:
        raise UnsupportedFeatures(missing)
    offered = able.intersection([*offer.required_features, *offer.optional_features])
    optional = [name for first in wanted for name in with_needs(first) if offered.issuperset(with_needs(first))]
    chosen = list(dict.fromkeys([*offer.required_features, *optional]))
    in_flight = offer.limits.max_concurrent_requests
    return ProtocolSelection(
        version=offer.version,
        features=chosen,
        limits=ProtocolSelectionLimits(
            max_concurrent_requests=in_flight if concurrency is None else min(concurrency, in_flight)
        ),
    )


def with_needs(feature: str) -> list[str]:
    """Returns a feature behind everything that it needs."""
    needs = FEATURES[feature].depends_on if feature in FEATURES else ()
    return [*(name for need in needs for name in with_needs(need)), feature]


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
