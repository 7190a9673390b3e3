"""From a request to its handler's arguments, and from what the handler did to the answer."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Final

from octet_extension._agreement import Invocation, Refusal
from octet_extension._connection import Connection, Request
from octet_extension._courier import describe
from octet_extension._endpoints import Endpoint
from octet_extension._errors import (
    CallCancelled,
    InvalidParams,
    LocalProtocolError,
    NoParent,
    NotNegotiated,
    RpcError,
    ToolError,
)
from octet_extension._results import NoJson, OverBound, ToolResult
from octet_extension._schema import Misfit
from octet_extension._scope import Scope
from octet_extension._tools import Tool

__all__ = ["Answer", "Raised", "answer_of", "bind"]

_MAX_FAILURE_TEXT: Final = 4000  # characters of an exception that reach the model


class Raised:
    """What a handler raised."""

    __slots__ = ("fault",)

    def __init__(self, fault: BaseException) -> None:
        self.fault = fault


def bind(target: Tool | Endpoint, scope: Scope, invocation: Invocation) -> tuple[list[object], dict[str, object]]:
    """Returns the arguments of a handler, by position and by name. Raises Misfit."""
    if isinstance(target, Tool):
        return [], target.bind(scope, invocation.arguments)
    return target.arguments(scope, invocation.payload, invocation.model, invocation.context), {}


@dataclasses.dataclass(eq=False, repr=False, slots=True)
class Answer:
    """How a request is answered."""

    send: Callable[[Connection, Request], bool]
    """Answers, if the request is still open. Reports whether that was a result. May raise for what cannot be sent."""
    remark: str = ""
    """For people; empty for nothing."""
    is_result: bool = False
    """Whether it is what a tool returned."""

    def repair(self, connection: Connection, request: Request, fault: Exception) -> tuple[bool, str]:
        """Answers a request whose result could not be sent. Reports whether that was a result, and a remark."""
        detail = str(fault) if isinstance(fault, LocalProtocolError) else f"the result: {type(fault).__name__}"
        if (
            self.is_result
            and request.tool
            and not connection.dialect.strict
            and isinstance(fault, (NoJson, RecursionError))
        ):
            return connection.succeed_tool(request, _no_json(request.tool.name, fault)), detail
        if isinstance(fault, OverBound):
            if request.tool is not None and not connection.dialect.strict:
                return connection.succeed_tool(
                    request, ToolResult(f"the result is refused: {detail}", is_error=True)
                ), detail
            connection.fail_over_bound(request, detail)
        else:
            connection.fail_internally(request, detail if request.tool is not None else "")
        return False, detail


def _no_json(name: str, fault: BaseException) -> ToolResult:
    reason = "it is nested too deep or holds itself" if isinstance(fault, RecursionError) else str(fault)
    reason = reason.removeprefix(f"the result of tool {name!r}: ")
    text = f"the result of tool {name!r} is refused: {reason}: return text and finite numbers, lists and mappings alone"
    return ToolResult(text.encode("utf-8", "replace").decode("utf-8"), is_error=True)


def _refuse(act: Callable[[Connection, Request], bool], remark: str = "") -> Answer:
    def send(connection: Connection, request: Request) -> bool:
        act(connection, request)
        return False

    return Answer(send, remark)


def answer_of(target: Tool | Endpoint, outcome: object) -> Answer:
    """Returns the answer for what a handler returned or raised."""
    fault = outcome.fault if isinstance(outcome, Raised) else None
    try:
        if isinstance(target, Tool):
            if fault is None:
                return _result(target.result(outcome))
            return _chosen(fault) if isinstance(fault, RpcError) else _tool_failure(fault)
        if fault is None:
            value = target.answer(outcome)
            return Answer(lambda connection, request: connection.succeed(request, value))
        return _chosen(fault) if isinstance(fault, RpcError) else _failure(fault)
    except Exception as found:  # noqa: BLE001 - what the handler returned is data of the author, of any shape
        if fault is None and isinstance(target, Tool) and isinstance(found, (NoJson, RecursionError)):
            return Answer(functools.partial(_raise, found), is_result=True)
        return _unusable(found, tool=isinstance(target, Tool))


def _raise(fault: Exception, connection: Connection, request: Request) -> bool:
    """Leaves the fault to the repair of an answer."""
    del connection, request
    raise fault


def _result(result: ToolResult, remark: str = "") -> Answer:
    return Answer(lambda connection, request: connection.succeed_tool(request, result), remark, is_result=True)


def _tool_failure(fault: BaseException) -> Answer:
    match fault:
        case Misfit():
            detail = f"arguments{fault.pointer} {fault.reason}"
            return _refuse(lambda connection, request: connection.refuse_arguments(request, fault.pointer, detail))
        case ToolError():
            return _result(ToolResult(_shown(fault), is_error=True))
        case CallCancelled():
            return _result(ToolResult("the tool gave up", is_error=True))
        case InvalidParams() | NoParent() | NotNegotiated():
            return _result(ToolResult(f"{type(fault).__name__}: {_shown(fault)}", is_error=True), describe(fault))
        case LocalProtocolError():
            return _unusable(fault, tool=True)
    kind, message = type(fault).__name__, _shown(fault)
    return _result(ToolResult(f"{kind}: {message}" if message else kind, is_error=True), describe(fault))


def _failure(fault: BaseException) -> Answer:
    """Answers for a handler that is no tool: the code stays here, a text meant for readers goes out."""
    if isinstance(fault, Refusal):
        return _refuse(lambda connection, request: connection.fail(request, fault))
    if isinstance(fault, ToolError):
        text = _shown(fault)
        return _refuse(lambda connection, request: connection.fail_internally(request, text))
    remark = "" if isinstance(fault, CallCancelled) else describe(fault)
    return _refuse(lambda connection, request: connection.fail_internally(request, ""), remark)


def _chosen(fault: RpcError) -> Answer:
    """Answers with the error that the handler asks for, if the wire lets it."""

    def send(connection: Connection, request: Request) -> bool:
        message = _clean(str(fault.message))
        refusal = connection.dialect.own_error(fault.code, message, fault.data)
        if refusal is None:
            detail = f"{fault.code!r} is no code that an extension may answer with: {message}"
            connection.fail_internally(request, detail)
        else:
            connection.fail(request, refusal)
        return False

    return Answer(send)


def _unusable(fault: Exception, *, tool: bool) -> Answer:
    detail = str(fault) if isinstance(fault, LocalProtocolError) else f"the result: {type(fault).__name__}"
    shown = detail if tool else ""
    return _refuse(lambda connection, request: connection.fail_internally(request, shown), describe(fault))


def _shown(fault: BaseException) -> str:
    """Returns the message of an exception as text that can travel. The place in the code stays here."""
    try:
        message = str(fault)
    except Exception:  # noqa: BLE001 - an exception of the author that cannot be shown
        message = ""
    return _clean(message)


def _clean(text: str) -> str:
    return text[:_MAX_FAILURE_TEXT].encode("utf-8", "replace").decode("utf-8")
