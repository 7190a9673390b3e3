"""What kind of message a value is: request, notification, result or error.

The envelopes of each wire are judged in modules of their own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final, TypeAlias, cast

__all__ = [
    "ERROR",
    "NOTIFICATION",
    "REQUEST",
    "RESULT",
    "EnvelopeFault",
    "Id",
    "Message",
    "kind_of",
    "message_of",
]

Id: TypeAlias = str | int

REQUEST: Final = "request"
NOTIFICATION: Final = "notification"
RESULT: Final = "result"
ERROR: Final = "error"

# Presence of id, method, result and error, in that order.
_KINDS: Final = {
    (True, True, False, False): REQUEST,
    (False, True, False, False): NOTIFICATION,
    (True, False, True, False): RESULT,
    (True, False, False, True): ERROR,
}


class EnvelopeFault(Exception):
    """The value is no legal message. reason is for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclasses.dataclass(eq=False, repr=False, slots=True)
class Message:
    """One message. id is None only in a notification, method empty only in a response."""

    kind: str
    id: Id | None
    method: str
    body: object
    """Parameters, result or error object; an empty object where the feature wire left parameters out."""


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
