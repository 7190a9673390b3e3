"""The envelopes of API 0.1, 0.2 and 0.4: judged whole as a host does, or read as forgivingly as an extension must."""

from __future__ import annotations

import json
import re
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
from octet_extension._generated._json import JsonSyntaxError, Violation, too_deep
from octet_extension._generated._models import Model

__all__ = ["VERSION", "classify", "legal_id", "salvage", "scan"]

_MODELS: Final[Mapping[str, type[Model]]] = {
    REQUEST: feature_wire.JsonRpcRequest,
    NOTIFICATION: feature_wire.JsonRpcNotification,
    RESULT: feature_wire.JsonRpcSuccessResponse,
    ERROR: feature_wire.JsonRpcErrorResponse,
}
_UNREADABLE: Final = {feature_wire.ERROR_PARSE_ERROR.code, feature_wire.ERROR_INVALID_REQUEST.code}
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
    error = members.get("error")
    if kind == ERROR and members["id"] is None and isinstance(error, dict) and error["code"] not in _UNREADABLE:
        raise EnvelopeFault("id is null only in an error about a message that could not be read")
    return message_of(kind, members)


def scan(value: Mapping[str, object]) -> Message:
    """Reads an envelope of the feature wire as an extension must: unknown members are left alone.

    Raises EnvelopeFault when the version, the method, the id or the kind of params is not what a message has.
    """
    kind, members = kind_of(value)
    if members.get("jsonrpc") != VERSION:
        raise EnvelopeFault(f"jsonrpc must be {VERSION!r}")
    if kind in {REQUEST, NOTIFICATION} and not isinstance(members["method"], str):
        raise EnvelopeFault("method must be a string")
    if kind == REQUEST and not legal_id(members["id"]):
        raise EnvelopeFault("id must be a string or an unsigned integer within its bound")
    if kind in {REQUEST, NOTIFICATION} and not isinstance(members.get("params", {}), dict):
        raise EnvelopeFault("params must be an object")
    return message_of(kind, members)


_LONE: Final = re.compile("[\ud800-\udfff]")


class _Members(dict[str, object]):
    """An object whose members may stand twice; twice is the first name that does."""

    twice: str | None = None


def _members(pairs: list[tuple[str, object]]) -> _Members:
    found = _Members()
    for name, value in pairs:
        if name in found and found.twice is None:
            found.twice = name
        found.setdefault(name, value)
    return found


def _no_constant(name: str) -> object:
    raise ValueError(name)


_LENIENT: Final = json.JSONDecoder(object_pairs_hook=_members, parse_float=str, parse_constant=_no_constant)


def salvage(payload: bytes) -> tuple[Mapping[str, object], str] | None:
    """Reads the envelope of a line whose only fault is a text or a member inside it, and where that is.

    None for a line that is no JSON object, and for one whose own members cannot be told apart.
    """
    try:
        text = payload.decode("utf-8")
        if too_deep(payload, feature_wire.MAX_JSON_DEPTH):
            return None
        value = _LENIENT.decode(text)
    except (ValueError, RecursionError, JsonSyntaxError):
        return None
    if not isinstance(value, _Members) or value.twice is not None:
        return None
    return value, _fault(value).encode("utf-8", "replace").decode("utf-8")


def _fault(root: object) -> str:
    """Returns the pointer of a member that stands twice, or of a text with a lone surrogate."""
    stack: list[tuple[object, str]] = [(root, "")]
    while stack:
        node, pointer = stack.pop()
        if isinstance(node, str) and _LONE.search(node):
            return pointer
        if isinstance(node, _Members):
            steps = {name: f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}" for name in node}
            if node.twice is not None:
                return steps[node.twice]
            for name in node:
                if _LONE.search(name):
                    return steps[name]
            stack.extend((node[name], steps[name]) for name in reversed(node))
        elif isinstance(node, list):
            stack.extend((child, f"{pointer}/{index}") for index, child in reversed(list(enumerate(node))))
    return ""
