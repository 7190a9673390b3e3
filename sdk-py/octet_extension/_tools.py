"""Functions to tools: what the catalog shows, and the way from a call's arguments to the function and back."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from octet_extension._agreement import ToolSpec
from octet_extension._errors import LocalProtocolError
from octet_extension._hints import Hint, hint_of, members_of, resolve
from octet_extension._results import RESULT_MEMBERS, ToolResult, plain, result_of
from octet_extension._schema import validate
from octet_extension._scope import Scope

__all__ = ["Handler", "Outcome", "Tool", "make_tool"]

Handler: TypeAlias = Callable[..., object]
"""A plain function or a coroutine function."""
Outcome: TypeAlias = ToolResult | BaseException
"""What a tool returned, or what it raised."""

_TEXT: Final = (str, type(None), None)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tool(ToolSpec):
    """A function as a tool."""

    handler: Handler
    call_parameter: str | None
    arguments: Hint | None
    """None where the function takes the arguments as one dict."""
    raw_parameter: str = ""
    context_parameter: str = ""
    """Parameter that takes the context of the call as a dict; empty for none."""
    is_async: bool = False
    """Whether the handler is a coroutine function."""

    def bind(self, call: Scope, arguments: Mapping[str, object]) -> dict[str, object]:
        """Returns the keyword arguments of the handler. Raises Misfit."""
        validate(self.parameters, arguments)
        if self.arguments is None:
            keywords: dict[str, object] = {self.raw_parameter: arguments}
            if self.context_parameter:
                keywords[self.context_parameter] = call.context
        else:
            keywords = typing.cast("dict[str, object]", self.arguments.convert(arguments))
        if self.call_parameter is not None:
            keywords[self.call_parameter] = call
        return keywords

    def result(self, returned: object) -> ToolResult:
        """Turns what the handler returned into a result. Raises LocalProtocolError."""
        if isinstance(returned, ToolResult):
            return returned
        if isinstance(returned, Mapping) and set(returned) <= RESULT_MEMBERS and "content" in returned:
            return result_of(returned)
        if self.output_schema is not None:
            return ToolResult(structured=plain(returned))
        if returned is None:
            return ToolResult()
        if isinstance(returned, str):
            return ToolResult(returned)
        raise LocalProtocolError(
            f"tool {self.name!r} returned a {type(returned).__name__}: return str or ToolResult, or declare the "
            "output type"
        )


def make_tool(  # noqa: PLR0913 - one keyword for each part of a definition
    handler: Handler,
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: Mapping[str, object] | None = None,
    output: object = None,
    extras: Mapping[str, object] | None = None,
) -> Tool:
    """Reads a function as a tool. Raises LocalProtocolError for what cannot be one."""
    tool_name = str(getattr(handler, "__name__", "")) if name is None else name
    where = f"tool {tool_name!r}"
    text = (description or inspect.getdoc(handler) or "").strip()
    if not text:
        raise LocalProtocolError(f"{where} needs a description: give one to the decorator, or write a docstring")
    hints = resolve(handler, where)
    signature = inspect.signature(handler)
    bare = _bare(signature, hints, given=parameters is not None)
    call_parameter: str | None = None
    compiled = None
    if bare:
        schema = dict(parameters) if parameters is not None else dict(_ANY_OBJECT)
    else:
        call_parameter, names = _split(signature, hints, where)
        if parameters is not None:
            if len(names) != 1:
                raise LocalProtocolError(
                    f"{where} has a schema of its own, so it takes one parameter besides the call: a dict"
                )
            bare = tuple(names)
            schema = dict(parameters)
        else:
            compiled = members_of(names, where)
            schema = compiled.schema
    return Tool(
        name=tool_name,
        description=text,
        parameters=schema,
        output_schema=_output_schema(output, hints.get("return"), where, bare=bool(bare)),
        extras={key: plain(value) for key, value in (extras or {}).items()},
        handler=handler,
        call_parameter=call_parameter,
        arguments=compiled,
        raw_parameter=bare[0] if bare else "",
        context_parameter=bare[1] if len(bare) > 1 else "",
        is_async=inspect.iscoroutinefunction(handler),
    )


_ANY_OBJECT: Final[Mapping[str, object]] = {"type": "object", "properties": {}}
_ARGUMENTS: Final = ("args", "arguments")
_CONTEXT: Final = "context"


def _bare(signature: inspect.Signature, hints: Mapping[str, object], *, given: bool) -> tuple[str, ...]:
    """Returns the parameters of a function that takes its arguments as one dict, and maybe the context as another.

    Such a function has no hints but dict and Mapping: def f(args), def f(arguments, context); with a schema of its own
    the first may have any name.
    """
    names = tuple(signature.parameters)
    if not names or len(names) > 2 or any(_is_typed(hints.get(name)) for name in names):
        return ()
    first = given or names[0] in _ARGUMENTS
    return names if first and (len(names) == 1 or names[1] == _CONTEXT) else ()


def _is_typed(hint: object) -> bool:
    return hint is not None and hint not in {Any, object} and (typing.get_origin(hint) or hint) not in {dict, Mapping}


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
        if isinstance(hint, type) and issubclass(hint, Scope):
            call_parameter = parameter.name
        elif hint is dataclasses.MISSING:
            raise LocalProtocolError(f"{where}: the parameter {parameter.name!r} needs a type hint")
        else:
            default = dataclasses.MISSING if parameter.default is parameter.empty else parameter.default
            names[parameter.name] = (hint, default)
    return call_parameter, names


def _output_schema(output: object, returned: object, where: str, *, bare: bool) -> Mapping[str, object] | None:
    """Returns the schema of the structured result: what was declared, else what the return type says.

    str, None and ToolResult declare nothing, alone or together. None beside a structure is a part of it.
    """
    if isinstance(output, Mapping):
        return dict(output)
    if output is not None:
        return hint_of(output, f"{where} output").schema
    if bare:  # its return type is loose: a text, or a dict with the parts of a result
        return None
    options: tuple[Any, ...] = (returned,)
    if typing.get_origin(returned) in {typing.Union, types.UnionType}:
        options = typing.get_args(returned)
    rest = [option for option in options if option not in (ToolResult, Any, object)]
    if all(option in _TEXT for option in rest):
        return None
    if str in rest:
        raise LocalProtocolError(f"{where} returns text or a structure: return ToolResult, and declare output=...")
    return hint_of(rest[0] if len(rest) == 1 else typing.Union[tuple(rest)], f"{where} output").schema  # noqa: UP007
