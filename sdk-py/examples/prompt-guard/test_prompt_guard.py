"""The example in memory and as a process."""

from pathlib import Path

from prompt_guard import ext

from octet_extension.testing import ProcessHost, TestHost

DENIED = {"action": "deny", "reason": "the prompt holds a key: take it out"}
REMINDER = {"label": "prompt-guard", "content": "Never repeat keys.", "placement": "system_suffix"}


def test_keys_do_not_pass() -> None:
    with TestHost(ext) as host:
        assert host.hook("before_prompt", {"prompt": "use sk-abcdefgh1"}) == {"disposition": DENIED}
        assert host.hook("before_prompt", {"prompt": "hello"}) == {"context": [REMINDER]}
        assert host.command("guard")["text"] == "2 prompts"


def test_harmless_tools_pass() -> None:
    with TestHost(ext) as host:
        assert host.hook("before_tool_call", {"name": "bash", "arguments": {"command": "ls"}}) == {}
        refused = host.hook("before_tool_call", {"name": "bash", "arguments": {"command": "rm -rf /"}})
        assert refused["disposition"] == {"action": "deny", "reason": "that deletes everything"}


def test_as_a_process() -> None:
    with ProcessHost(Path(__file__).parent) as host:
        assert host.hook("before_prompt", {"prompt": "use sk-abcdefgh1"}) == {"disposition": DENIED}
    assert host.status == 0
