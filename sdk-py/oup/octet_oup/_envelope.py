"""What kind of message a value is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from octet_oup._generated import oup_wire
from octet_oup._generated._json import Violation
from octet_oup._generated._models import Model

__all__ = ["EnvelopeFault", "classify"]

_MODELS: Final[Mapping[str, type[Model]]] = {
    "request": oup_wire.JsonRpcRequest,
    "notification": oup_wire.JsonRpcNotification,
    "result": oup_wire.JsonRpcSuccessResponse,
    "error": oup_wire.JsonRpcErrorResponse,
}


class EnvelopeFault(Exception):
    """A value is no message of OUP."""


def classify(value: object) -> str:
    """Returns request, notification, result or error. Raises EnvelopeFault."""
    if not isinstance(value, dict):
        raise EnvelopeFault("a message is an object")
    members = cast(Mapping[str, object], value)
    present = [name for name in ("method", "result", "error") if name in members]
    if len(present) != 1:
        raise EnvelopeFault("a message has exactly one of method, result and error")
    kind = present[0]
    if kind == "method":
        kind = "request" if "id" in members else "notification"
    try:
        _MODELS[kind].from_json(value)
    except Violation as found:
        raise EnvelopeFault(str(found)) from None
    return kind
