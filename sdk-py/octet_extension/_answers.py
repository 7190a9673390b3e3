"""What handlers return, as the result that the wire has for it. Judging comes after."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence

from octet_extension._errors import LocalProtocolError
from octet_extension._generated._models import Model
from octet_extension._results import plain
from octet_extension._signature import CONTEXT, MODEL, SCOPE, Plan

__all__ = [
    "command",
    "completion",
    "contributions",
    "dispose",
    "hook",
    "members",
    "menu",
    "replacement",
    "required",
    "segments",
    "status",
]


def members(returned: object, where: str) -> dict[str, object]:
    """Returns a model or a mapping as JSON; nothing returned says nothing."""
    if returned is None:
        return {}
    if isinstance(returned, (Model, Mapping)):
        found = plain(returned)
        if isinstance(found, dict):
            return found
    raise LocalProtocolError(f"{where} returned a {type(returned).__name__}: return its model, or a dict like it")


def hook(returned: object, where: str, word: str | None) -> dict[str, object]:
    """Returns what a hook answers. A helper's answer that stands in place of its own member is set right.

    word is the member that a bare text is for, None where a text is no answer.
    """
    if word is not None and isinstance(returned, str):
        return {word: returned}
    found = members(returned, where)
    for member, value in found.items():
        if isinstance(value, dict) and list(value) == [member]:
            return {**found, **value}
    return found


def required(returned: object) -> object:
    """Returns a model or a mapping as JSON."""
    return members(returned, "the handler")


def command(returned: object) -> object:
    """A text is what is shown; nothing shows nothing."""
    if isinstance(returned, str):
        return {"text": returned}
    return {"text": "", **members(returned, "the command")}


def contributions(returned: object) -> object:
    """One contribution, a list of them, or nothing."""
    if returned is None:
        return []
    if isinstance(returned, (Model, Mapping)):
        return [plain(returned)]
    return plain(returned)


def status(surface: str, returned: object) -> object:
    """A text, a contribution, or nothing."""
    if returned is None:
        return None
    if isinstance(returned, str):
        return {"surface": surface, "text": returned}
    return {"surface": surface, **members(returned, "the status")}


def menu(returned: object) -> object:
    """A menu, or a list of its items."""
    if isinstance(returned, Sequence) and not isinstance(returned, str):
        return {"items": plain(returned)}
    return members(returned, "the menu")


def segments(returned: object) -> object:
    """A text, a list of segments, or the result itself."""
    if isinstance(returned, str):
        return {"segments": [{"text": returned}]}
    if isinstance(returned, Sequence):
        return {"segments": plain(returned)}
    return members(returned, "the renderer")


def completion(returned: object) -> object:
    """Completions; nothing leaves the text to others."""
    return {"prefix": "", "items": [], **members(returned, "the completion")}


def replacement(returned: object) -> object:
    """The input that takes the place of what was typed."""
    if isinstance(returned, str):
        return {"data": returned}
    return members(returned, "the interception")


async def dispose(
    function: Callable[..., object] | None, plan: Plan, scope: object, payload: Mapping[str, object], model: Model
) -> object:
    """Frees resources; nothing returned says that it went well."""
    given = {SCOPE: scope, MODEL: model, CONTEXT: {}}
    returned = None if function is None else function(*(given.get(what, payload) for what in plan))
    if inspect.isawaitable(returned):
        returned = await returned
    if returned is not None:
        return returned
    listed = payload["resources"]
    resources = listed if isinstance(listed, list) else []
    return {"results": [{"resource": resource, "status": "completed"} for resource in resources]}
