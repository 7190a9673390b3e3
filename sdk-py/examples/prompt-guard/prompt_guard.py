#!/usr/bin/env python3
"""Hooks on API 0.4: looks at prompts before they are sent and at tools before they run."""

import re

from octet_extension import CommandCall, Extension, HookCall
from octet_extension.api_v04 import (
    BeforePromptHookResult,
    BeforePromptPayload,
    BeforeToolCallHookResult,
    BeforeToolCallPayload,
    ContextContribution,
    DispositionDeny,
)

ext = Extension()

KEY = re.compile(r"\b(?:sk|ghp|xoxb)[-_][A-Za-z0-9]{8,}")


@ext.hooks.before_prompt
def no_keys(call: HookCall, payload: BeforePromptPayload) -> BeforePromptHookResult:
    """Refuses a prompt that holds what looks like a key, and reminds the model of the rule."""
    call.memory(Count).prompts += 1
    if KEY.search(payload.prompt):
        return BeforePromptHookResult(disposition=DispositionDeny(reason="the prompt holds a key: take it out"))
    reminder = ContextContribution(label="prompt-guard", content="Never repeat keys.", placement="system_suffix")
    return BeforePromptHookResult(context=[reminder])


@ext.hooks.before_tool_call
def no_force(payload: BeforeToolCallPayload) -> BeforeToolCallHookResult | None:
    """Refuses to delete everything. Nothing returned is no objection."""
    if "rm -rf /" in str(payload.arguments.get("command", "")):
        return BeforeToolCallHookResult(disposition=DispositionDeny(reason="that deletes everything"))
    return None


class Count:
    """What one session has seen."""

    prompts = 0


@ext.command("Says how many prompts the guard has seen.", name="guard", usage="/guard")
def guard(call: CommandCall, arguments: list[str]) -> str:  # noqa: ARG001 - it takes none
    """Reports."""
    return f"{call.memory(Count).prompts} prompts"


if __name__ == "__main__":
    ext.run()
