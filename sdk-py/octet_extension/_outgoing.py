"""What a service sends: whether it may, what ties it to a request of the host, and what its result says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from octet_extension import _children
from octet_extension._agreement import Agreement
from octet_extension._children import Child
from octet_extension._dialect import Dialect
from octet_extension._envelope import Id
from octet_extension._errors import (
    CallCancelled,
    HostError,
    InvalidParams,
    LocalProtocolError,
    MalformedResult,
    NoParent,
    NotNegotiated,
)
from octet_extension._generated._json import Violation
from octet_extension._generated._models import Model, RecordShape
from octet_extension._generated._rows import Method
from octet_extension._generated.services import METHODS
from octet_extension._results import plain

__all__ = [
    "LIVE",
    "SESSION",
    "SETTLED",
    "Standing",
    "is_empty",
    "outcome",
    "params_of",
    "refuse_local",
    "result_json",
    "row_of",
]

_PARENT: Final = "parent_request_id"
_OWNER: Final = "resource_owner"

LIVE: Final = "live"
SETTLED: Final = "settled"
SESSION: Final = "session"


class Standing(NamedTuple):
    """Where a message comes from: a live request, a settled one, or the session alone."""

    kind: str
    request: Id | None = None
    owner: Mapping[str, object] | None = None
    tool_call: bool = False


def row_of(dialect: Dialect, agreement: Agreement, service: str) -> Method:
    """Returns the method behind a service. Raises NotNegotiated for one that this session does not have."""
    row = dialect.service(service)
    if row is None:
        method = METHODS.get(service, service)
        raise NotNegotiated(f"API {dialect.api} has no {method}: use another API version", method)
    if not dialect.has(row.name):
        raise NotNegotiated(f"API {dialect.api} has no {row.name}: use one of {', '.join(row.versions)}", row.name)
    missing = dialect.closed_gate(row, agreement)
    if missing:
        raise NotNegotiated(f"{row.name} needs {missing}", row.name)
    return row


def params_of(
    dialect: Dialect, agreement: Agreement, row: Method, members: Mapping[str, object], standing: Standing
) -> dict[str, object]:
    """Returns the parameters of a message, judged. Raises NoParent or InvalidParams."""
    model = dialect.params_model(row)
    shape = model.SHAPE
    known = {field.name: field.required for field in shape.fields} if isinstance(shape, RecordShape) else {}
    params = {name: _json(value) for name, value in members.items()}
    params |= {name: value for name, value in _tie(dialect, agreement, row, standing, known).items() if name in known}
    try:
        model.from_json(params)
    except Violation as found:
        raise InvalidParams(row.name, found.pointer, found.violation, found.detail) from None
    return params


def _json(value: object) -> object:
    return value.to_json() if isinstance(value, Model) else plain(value)


def _tie(
    dialect: Dialect, agreement: Agreement, row: Method, standing: Standing, known: Mapping[str, bool]
) -> dict[str, object]:
    """Returns the members that name the request, or the owner of the session, that a message belongs to."""
    tie = row.parent
    if tie == "none" or not {_PARENT, _OWNER}.intersection(known):
        return {}
    if tie == "owner":
        return {_OWNER: _owner(row, standing)}
    if standing.kind == LIVE and tie in {"required", "retained", "optional", "tool_call"}:
        if tie == "tool_call" and not standing.tool_call:
            raise NoParent(f"{row.name} belongs to a tool call: send it from a tool, while it runs", row.name)
        if not isinstance(standing.request, int):
            raise NoParent(f"{row.name} names its request by number, and the host gave this one a text", row.name)
        if known.get(_OWNER):
            return {_PARENT: standing.request, _OWNER: _owner(row, standing)}
        owner = standing.owner if dialect.needs_owner(row, agreement) else None
        return {_PARENT: standing.request} | ({} if owner is None else {_OWNER: owner})
    if standing.kind == SETTLED and tie in {"retained", "settled"} and dialect.outlives_parent(row, agreement):
        return {_PARENT: standing.request, _OWNER: _owner(row, standing)}
    if tie == "optional":
        return {} if standing.owner is None else {_OWNER: standing.owner}
    raise NoParent(f"{row.name} {_REMEDY.get(tie, 'is sent by the session itself')}", row.name)


_REMEDY: Final = {
    "required": "belongs to a live request: send it from a handler, before it answers",
    "retained": "belongs to a request: send it from a handler, or from a function given to its after()",
    "settled": "belongs to an answered request: send it from a function given to after()",
    "tool_call": "belongs to a tool call: send it from a tool, before it answers",
}


def _owner(row: Method, standing: Standing) -> Mapping[str, object]:
    if standing.owner is None:
        raise NoParent(f"{row.name} names the owner of the session, and the request at hand came without one", row.name)
    return standing.owner


def outcome(dialect: Dialect, child: Child) -> object:
    """Returns the judged result of a request of this side, typed; None for one without members.

    Raises HostError for a refusal, CallCancelled, MalformedResult for an answer that breaks its model.
    """
    name = child.row.name
    if child.ending == _children.CANCELLED:
        raise CallCancelled(f"{name}: {child.value}")
    try:
        if child.ending == _children.FAILED:
            code, message, data = dialect.failure(child.value)
            if code == dialect.cancelled(None).row.code:
                raise CallCancelled(f"{name}: {message}")
            raise HostError(dialect.error_name(code), code, message, data)
        return dialect.read_result(child.row, child.value)
    except Violation as found:
        raise MalformedResult(name, found.pointer, found.violation, found.detail) from None


def result_json(typed: object) -> object:
    """Returns a judged result as JSON."""
    if isinstance(typed, Model):
        return typed.to_json()
    if isinstance(typed, list):
        return [result_json(element) for element in typed]
    return {} if typed is None else typed


def is_empty(dialect: Dialect, row: Method) -> bool:
    """Reports whether the result of a method says nothing: a record without members."""
    model, array, _ = dialect.result_model(row)
    shape = model.SHAPE
    return not array and isinstance(shape, RecordShape) and not shape.fields


def refuse_local(service: str) -> LocalProtocolError:
    """Returns the error for a service that blocks where nothing may."""
    return LocalProtocolError(
        f"{service} waits for the host, and coroutines share one thread: await asyncio.to_thread(...)"
    )
