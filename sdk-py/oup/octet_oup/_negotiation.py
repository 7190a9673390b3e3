"""Whether what a server advertises fits what a client asked for and needs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from octet_oup._errors import Mismatch
from octet_oup._generated import oup_wire
from octet_oup._generated._json import Violation
from octet_oup._generated._shapes import Absent

__all__ = ["Mismatch", "check_capabilities"]

_IDENTIFIER: Final = dict(oup_wire.TABLE_PROTOCOL)["identifier"]
_REGISTRY: Final = "registry"


def check_capabilities(
    value: object, *, requested: Collection[str] = (), required: Collection[str] = ()
) -> oup_wire.ServerCapabilities:
    """Reads the capabilities of a server and holds them against the tokens that a client named.

    requested are the tokens that the client sent, none where it sent none; required those it cannot do
    without. Raises Mismatch.
    """
    try:
        capabilities = oup_wire.ServerCapabilities.from_json(value)
    except Violation as found:
        raise Mismatch("malformed_result", f"the capabilities break their model: {found}") from None
    version = capabilities.version
    if version.protocol != _IDENTIFIER or version.schema_version < oup_wire.SCHEMA_VERSION:
        raise Mismatch(
            "incompatible_protocol",
            f'the server speaks "{version.protocol}" with schema {version.schema_version}, '
            f'not "{_IDENTIFIER}" with schema {oup_wire.SCHEMA_VERSION} or later',
        )
    supported = _supported(capabilities)
    if missing := [token for token in required if token not in supported]:
        lacking = ", ".join(f'"{token}"' for token in missing)
        raise Mismatch("missing_features", f"the server lacks {lacking}")
    if requested:
        for token in supported:
            row = oup_wire.FEATURES.get(token)
            if row is not None and row.origin == _REGISTRY and token not in requested:
                raise Mismatch("unrequested_feature", f'the server turned on "{token}", which was not asked for')
    for token in supported:
        row = oup_wire.FEATURES.get(token)
        if row is not None and (unmet := [name for name in row.depends_on if name not in supported]):
            raise Mismatch("unmet_dependency", f'"{token}" needs "{unmet[0]}", which the server did not turn on')
    return capabilities


def _supported(capabilities: oup_wire.ServerCapabilities) -> list[str]:
    features = capabilities.supported_features
    return [] if isinstance(features, Absent) else list(features)
