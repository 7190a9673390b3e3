"""How a handler that is no tool gets its arguments: by hints where there are some, else by position.

def handler(payload)                    the payload as JSON, or as its model where handlers are typed
def handler(payload, context)           and the context of the request, a dict as on the wire
def handler(call: HookCall, payload: BeforePromptPayload)   what the hints ask for, in any order
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final

from octet_extension._errors import LocalProtocolError
from octet_extension._generated._models import Model

__all__ = ["CONTEXT", "MODEL", "PAYLOAD", "SCOPE", "Plan", "plan_of"]

SCOPE: Final = "scope"
PAYLOAD: Final = "payload"
MODEL: Final = "model"
CONTEXT: Final = "context"

Plan = tuple[str, ...]
"""What each parameter of a handler is given, in order."""


def _hints(handler: Callable[..., object]) -> Mapping[str, object]:
    try:
        hints = typing.get_type_hints(inspect.unwrap(handler))
    except (NameError, TypeError, AttributeError):  # names that exist for a type checker alone
        return {}
    return {name: hint for name, hint in hints.items() if name != "return"}


def _is_model(hint: object) -> bool:
    options = typing.get_args(hint) or (hint,)
    return any(isinstance(option, type) and issubclass(option, Model) for option in options)


def plan_of(handler: Callable[..., object], scopes: tuple[type, ...], where: str, *, typed: bool) -> Plan:
    """Reads the parameters of a handler. Raises LocalProtocolError for a handler that cannot be called.

    scopes are the classes whose instances stand for the request; typed says that the payload without a hint is
    given as its model.
    """
    hints = _hints(handler)
    plan: list[str] = []
    for parameter in inspect.signature(handler).parameters.values():
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD} or (
            parameter.kind is parameter.KEYWORD_ONLY or parameter.default is not parameter.empty
        ):
            continue
        hint: Any = hints.get(parameter.name)
        if isinstance(hint, type) and issubclass(hint, scopes):
            plan.append(SCOPE)
        elif PAYLOAD in plan or MODEL in plan:
            plan.append(CONTEXT)
        elif _is_model(hint) or (hint in {None, Any, object} and typed):
            plan.append(MODEL)
        else:
            plan.append(PAYLOAD)
    # Two bare parameters of a typed handler are the request and its payload; of any other, payload and context.
    if typed and plan == [MODEL, CONTEXT] and not hints:
        plan = [SCOPE, MODEL]
    if len(plan) != len(set(plan)):
        raise LocalProtocolError(f"{where} takes the payload, and the call or the context of the request, each once")
    return tuple(plan)
