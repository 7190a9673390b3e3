"""What a client asks a server for, and what a server that says nothing offers."""

from __future__ import annotations

from typing import Final

from octet_oup._generated import oup_wire as wire

__all__ = ["UNDERSTOOD", "with_capabilities"]

_REGISTRY: Final = "registry"
_UNNAMED: Final = "no_tokens"  # the set of a connection that named no feature

UNDERSTOOD: Final = tuple(row.name for row in wire.FEATURES.values() if row.origin == _REGISTRY or row.sets)
"""The features that this package understands."""


def with_capabilities(opened: object) -> object:
    """Returns an opened session with capabilities; those of a connection that named no feature where it has none."""
    if not isinstance(opened, dict) or opened.get("capabilities") is not None:
        return opened
    protocol = dict(wire.TABLE_PROTOCOL)
    return opened | {
        "capabilities": {
            "version": {
                "protocol": protocol["identifier"],
                "schema_version": wire.SCHEMA_VERSION,
                "jsonrpc": protocol["jsonrpc"],
            },
            "capabilities_schema_version": wire.CAPABILITIES_SCHEMA_VERSION,
            "supported_methods": list(wire.REQUESTS),
            "supported_notifications": list(wire.NOTIFICATIONS),
            "supported_features": [row.name for row in wire.FEATURES.values() if _UNNAMED in row.sets],
        }
    }
