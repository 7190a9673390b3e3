"""The envelopes of API 0.3: closed, with known methods kept to their kind and errors kept to the table.

Source: canonical 5.2, 5.3.
"""

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
from octet_extension._generated import canonical_wire
from octet_extension._generated._json import Violation
from octet_extension._generated._models import Model

__all__ = ["classify", "legal_id"]

_MODELS: Final[Mapping[str, type[Model]]] = {
    REQUEST: canonical_wire.JsonRpcRequest,
    NOTIFICATION: canonical_wire.JsonRpcNotification,
    RESULT: canonical_wire.JsonRpcSuccessResponse,
    ERROR: canonical_wire.JsonRpcErrorResponse,
}
_FIXED_MESSAGES: Final = {row.code: row.message for row in canonical_wire.ERRORS.values()}


def legal_id(value: object) -> bool:
    """Reports whether value could be the id of a request."""
    try:
        canonical_wire.CancelRequestParams.from_json({"id": value})
    except Violation:
        return False
    return True


def classify(value: object) -> Message:
    """Judges an envelope of API 0.3: members, kind of a known method, error table. Raises EnvelopeFault."""
    kind, members = kind_of(value)
    try:
        _MODELS[kind].from_json(members)
    except Violation as found:
        raise EnvelopeFault(str(found)) from None
    message = message_of(kind, members)
    known = canonical_wire.METHODS.get(message.method)
    if known is not None and known.notification != (kind == NOTIFICATION):
        raise EnvelopeFault(f"{message.method} is a {'notification' if known.notification else 'request'}")
    if kind == ERROR:
        error = canonical_wire.ErrorObject.from_json(message.body)
        if _FIXED_MESSAGES.get(error.code) != error.message:
            raise EnvelopeFault(f"the error table has no row {error.code} {error.message!r}")
    return message
