"""Functions to tools: what the catalog shows, and the way from a call's arguments to the function and back."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from octet_extension._call import Call
from octet_extension._dialect import ToolSpec
from octet_extension._errors import LocalProtocolError
from octet_extension._hints import Hint, hint_of, members_of, resolve
from octet_extension._results import ToolResult, plain
from octet_extension._schema import validate

__all__ = ["Handler", "Outcome", "Tool", "make_tool"]

Handler: TypeAlias = Callable[..., object]
"""A plain function or a coroutine function."""
Outcome: TypeAlias = ToolResult | BaseException
"""What a tool returned, or what it raised."""

_TEXT: Final = (str, type(None), None)


@dataclasses.dataclass(frozen=True, slots=True)
class Tool:
    """One registered tool."""

    spec: ToolSpec
    handler: Handler
    call_parameter: str | None
    arguments: Hint | None
    """None where the schema was given by hand: the function takes the arguments as one dict."""
    raw_parameter: str

    @property
    def is_async(self) -> bool:
        """Whether the handler is a coroutine function."""
        return inspect.iscoroutinefunction(self.handler)

    def bind(self, call: Call, arguments: Mapping[str, object]) -> dict[str, object]:
        """Returns the keyword arguments of the handler. Raises Misfit."""
        validate(self.spec.parameters, arguments)
        if self.arguments is None:
            keywords: dict[str, object] = {self.raw_parameter: arguments}
        else:
            keywords = typing.cast("dict[str, object]", self.arguments.convert(arguments))
        if self.call_parameter is not None:
            keywords[self.call_parameter] = call
        return keywords

    def result(self, returned: object) -> ToolResult:
        """Turns what the handler returned into a result. Raises LocalProtocolError."""
        if isinstance(returned, ToolResult):
            return returned
        if self.spec.output_schema is not None:
            return ToolResult(structured=plain(returned))
        if returned is None:
            return ToolResult()
        if isinstance(returned, str):
            return ToolResult(returned)
        raise LocalProtocolError(
            f"tool {self.spec.name!r} returned a {type(returned).__name__}: return str or ToolResult, or declare the "
            "output type"
        )


def make_tool(
    handler: Handler,
    *,
    name: str | None,
    description: str | None,
    parameters: Mapping[str, object] | None,
    output: object,
) -> Tool:
    """Reads a function as a tool. Raises LocalProtocolError for what cannot be one."""
    tool_name = str(getattr(handler, "__name__", "")) if name is None else name
    where = f"tool {tool_name!r}"
    text = (description or inspect.getdoc(handler) or "").strip()
    if not text:
        raise LocalProtocolError(f"{where} needs a description: give one to the decorator, or write a docstring")
    hints = resolve(handler, where)
    call_parameter, names = _split(inspect.signature(handler), hints, where)
    raw = ""
    compiled = None
    if parameters is not None:
        if len(names) != 1:
            raise LocalProtocolError(
                f"{where} has a schema of its own, so it takes one parameter besides the call: a dict"
            )
        (raw,) = names
        schema = dict(parameters)
    else:
        compiled = members_of(names, where)
        schema = compiled.schema
    spec = ToolSpec(tool_name, text, schema, _output_schema(output, hints.get("return"), where))
    return Tool(spec, handler, call_parameter, compiled, raw)


def _split(
    signature: inspect.Signature, hints: Mapping[str, object], where: str
) -> tuple[str | None, dict[str, tuple[object, object]]]:
    """Separates the parameter that takes the call from those that take arguments."""
    call_parameter = None
    names: dict[str, tuple[object, object]] = {}
    for parameter in signature.parameters.values():
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY}:
            raise LocalProtocolError(f"{where}: the parameter {parameter.name!r} must have a name that a call can give")
        hint = hints.get(parameter.name, dataclasses.MISSING)
        if hint is Call:
            call_parameter = parameter.name
        elif hint is dataclasses.MISSING:
            raise LocalProtocolError(f"{where}: the parameter {parameter.name!r} needs a type hint")
        else:
            default = dataclasses.MISSING if parameter.default is parameter.empty else parameter.default
            names[parameter.name] = (hint, default)
    return call_parameter, names


def _output_schema(output: object, returned: object, where: str) -> Mapping[str, object] | None:
    """Returns the schema of the structured result: what was declared, else what the return type says.

    str, None and ToolResult declare nothing, alone or together. None beside a structure is a part of it.
    """
    if isinstance(output, Mapping):
        return dict(output)
    if output is not None:
        return hint_of(output, f"{where} output").schema
    options: tuple[Any, ...] = (returned,)
    if typing.get_origin(returned) in {typing.Union, types.UnionType}:
        options = typing.get_args(returned)
    rest = [option for option in options if option not in (ToolResult, Any, object)]
    if all(option in _TEXT for option in rest):
        return None
    if str in rest:
        raise LocalProtocolError(f"{where} returns text or a structure: return ToolResult, and declare output=...")
    return hint_of(rest[0] if len(rest) == 1 else typing.Union[tuple(rest)], f"{where} output").schema  # noqa: UP007
