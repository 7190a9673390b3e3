"""What the feature wire shows of an extension at initialize, and which feature opens what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from octet_extension._agreement import Agreement, ToolSpec, Wishes
from octet_extension._generated import feature_wire as wire
from octet_extension._generated._rows import Method

__all__ = ["EXTRAS", "EXTRA_VERSIONS", "LIFECYCLE", "MANIFEST", "command", "definition", "gate", "remarks"]

MANIFEST: Final = "contributes."
_GATE: Final = re.compile(r"[a-z][a-z0-9_.]*")
EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "prompt_snippet": (wire.FEATURE_TOOL_PROMPT_METADATA_V1,),
    "prompt_guidelines": (wire.FEATURE_TOOL_PROMPT_METADATA_V1,),
    "composition": (wire.FEATURE_TOOL_COMPOSITION_V1,),
    "operation": (wire.FEATURE_OPERATION_DESCRIPTORS_V1, wire.FEATURE_RESOURCE_REFS_V1),
    "constrained_sampling": (),
}
EXTRA_VERSIONS: Final = wire.FEATURES[wire.FEATURE_TOOL_COMPOSITION_V1].versions
LIFECYCLE: Final = frozenset(
    value for name, value in vars(wire.LifecycleEvent).items() if name.isupper() and isinstance(value, str)
)


def gate(row: Method) -> str:
    """Returns the first word of a gate: a feature, or a key of the manifest."""
    found = _GATE.match(row.gate)
    return found[0] if found else ""


def command(name: str, description: str, usage: str | None) -> dict[str, object]:
    members: dict[str, object] = {"name": name, "description": description}
    return members if usage is None else {**members, "usage": usage}


def definition(tool: ToolSpec, features: frozenset[str] | None) -> dict[str, object]:
    """Returns a tool as the catalog shows it, with what the features allow; all of it where they are None."""
    members: dict[str, object] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    if tool.output_schema is not None:
        members["output_schema"] = tool.output_schema
    members |= {
        name: value for name, value in tool.extras.items() if features is None or features.issuperset(EXTRAS[name])
    }
    return members


def remarks(agreement: Agreement, wishes: Wishes) -> list[str]:
    """Says where the manifest and the code disagree: the host will refuse that, or never ask."""
    found = []
    names = {"tools": [tool.name for tool in wishes.tools], "commands": [command.name for command in wishes.commands]}
    free = {"tools": wire.FEATURE_DYNAMIC_TOOLS, "commands": wire.FEATURE_RUNTIME_COMMANDS}
    for key, have in {**names, **wishes.declared}.items():
        if free.get(key) in agreement.features:
            continue
        listed = agreement.declared.get(key)
        declared = set(listed) if isinstance(listed, (list, tuple)) else set()
        if isinstance(listed, bool) or key not in agreement.declared:
            if have and not listed:
                found.append(f"the manifest does not declare contributes.{key}: set it to true")
            continue
        what = key.replace("_", " ").removesuffix("s")
        found += [
            f"the manifest does not declare the {what} {name!r}: add it to contributes.{key}"
            for name in sorted(set(have) - declared)
        ]
        found += [
            f"the manifest declares the {what} {name!r} and the code does not: register it or take it out"
            for name in sorted(declared - set(have))
        ]
    for tool in wishes.tools:
        found += [
            f"tool {tool.name!r}: {name} is left out, the host does not take it"
            for name in tool.extras
            if not agreement.features.issuperset(EXTRAS[name])
        ]
    return found
