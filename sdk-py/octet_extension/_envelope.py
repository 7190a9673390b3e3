"""What kind of message a value is: request, notification, result or error.

classify judges a whole envelope as a host would; scan reads the feature wire as forgivingly as an extension must.
The envelopes of API 0.3 are judged in a module of their own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final, TypeAlias, cast

from octet_extension._generated import feature_wire
from octet_extension._generated._json import Violation
from octet_extension._generated._models import Model

__all__ = [
    "ERROR",
    "NOTIFICATION",
    "REQUEST",
    "RESULT",
    "EnvelopeFault",
    "Id",
    "Message",
    "classify",
    "kind_of",
    "legal_id",
    "message_of",
    "scan",
]

Id: TypeAlias = str | int

REQUEST: Final = "request"
NOTIFICATION: Final = "notification"
RESULT: Final = "result"
ERROR: Final = "error"

_MODELS: Final[Mapping[str, type[Model]]] = {
    REQUEST: feature_wire.JsonRpcRequest,
    NOTIFICATION: feature_wire.JsonRpcNotification,
    RESULT: feature_wire.JsonRpcSuccessResponse,
    ERROR: feature_wire.JsonRpcErrorResponse,
}
# Presence of id, method, result and error, in that order.
_KINDS: Final = {
    (True, True, False, False): REQUEST,
    (False, True, False, False): NOTIFICATION,
    (True, False, True, False): RESULT,
    (True, False, False, True): ERROR,
}
_VERSION: Final = feature_wire.JsonRpcNotification(method="-").jsonrpc


class EnvelopeFault(Exception):
    """The value is no legal message. reason is for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """One message. id is None only in a notification, method empty only in a response."""

    kind: str
    id: Id | None
    method: str
    body: object
    """Parameters, result or error object; an empty object where the feature wire left parameters out."""


def legal_id(value: object) -> bool:
    """Reports whether value could be the id of a request."""
    try:
        feature_wire.CancelRequestParams.from_json({"id": value})
    except Violation:
        return False
    return True


def kind_of(value: object) -> tuple[str, dict[str, object]]:
    """Returns the kind and members of a message by the members that are there alone. Raises EnvelopeFault."""
    if not isinstance(value, dict):
        raise EnvelopeFault("a message is an object")
    kind = _KINDS.get(("id" in value, "method" in value, "result" in value, "error" in value))
    if kind is None:
        raise EnvelopeFault("a message is a request, a notification, a result or an error")
    return kind, value


def message_of(kind: str, members: Mapping[str, object]) -> Message:
    """Takes the parts of an envelope whose members have been judged."""
    body = members.get({RESULT: "result", ERROR: "error"}.get(kind, "params"), {})
    return Message(kind, cast("Id | None", members.get("id")), cast(str, members.get("method", "")), body)


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
    if members.get("jsonrpc") != _VERSION:
        raise EnvelopeFault(f"jsonrpc must be {_VERSION!r}")
    if kind in {REQUEST, NOTIFICATION} and not isinstance(members["method"], str):
        raise EnvelopeFault("method must be a string")
    if kind == REQUEST and not legal_id(members["id"]):
        raise EnvelopeFault("id must be a string or an unsigned integer within its bound")
    return message_of(kind, members)
