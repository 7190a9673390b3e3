"""The envelopes of API 0.1, 0.2 and 0.4: judged whole as a host does, or read as forgivingly as an extension must."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from octet_extension._envelope import (
    ERROR,
    NOTIFICATION,
    REQUEST,
    RESULT,
    EnvelopeFault,
    Message,
    kind_of,
    message_of,
)
from octet_extension._generated import feature_wire
from octet_extension._generated._json import Violation
from octet_extension._generated._models import Model

__all__ = ["VERSION", "classify", "legal_id", "scan"]

_MODELS: Final[Mapping[str, type[Model]]] = {
    REQUEST: feature_wire.JsonRpcRequest,
    NOTIFICATION: feature_wire.JsonRpcNotification,
    RESULT: feature_wire.JsonRpcSuccessResponse,
    ERROR: feature_wire.JsonRpcErrorResponse,
}
VERSION: Final = feature_wire.JsonRpcNotification(method="-").jsonrpc


def legal_id(value: object) -> bool:
    """Reports whether value could be the id of a request."""
    try:
        feature_wire.CancelRequestParams.from_json({"id": value})
    except Violation:
        return False
    return True


def classify(value: object) -> Message:
    """Judges an envelope of API 0.1, 0.2 or 0.4. Raises EnvelopeFault."""
    kind, members = kind_of(value)
    try:
        _MODELS[kind].from_json(members)
    except Violation as found:
        raise EnvelopeFault(str(found)) from None
    return message_of(kind, members)


def scan(value: Mapping[str, object]) -> Message:
    """Reads an envelope of the feature wire as an extension must: unknown members and params are left alone.

    Raises EnvelopeFault when the version, the method or the id is not what a message has.
    """
    kind, members = kind_of(value)
    if members.get("jsonrpc") != VERSION:
        raise EnvelopeFault(f"jsonrpc must be {VERSION!r}")
    if kind in {REQUEST, NOTIFICATION} and not isinstance(members["method"], str):
        raise EnvelopeFault("method must be a string")
    if kind == REQUEST and not legal_id(members["id"]):
        raise EnvelopeFault("id must be a string or an unsigned integer within its bound")
    return message_of(kind, members)
