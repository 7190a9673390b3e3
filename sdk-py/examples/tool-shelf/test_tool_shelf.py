"""The example in memory and as a process."""

from pathlib import Path

from tool_shelf import ext

from octet_extension.testing import ProcessHost, TestHost


def test_a_note_becomes_a_tool() -> None:
    with TestHost(ext) as host:
        assert host.call("shelve", name="milk", note="two litres").text == "epoch 1: read_milk"
        assert host.call("read_milk").text == "two litres"
        assert host.call("discard", name="milk").text == "epoch 2: the shelf is empty"
        assert [sent.service for sent in host.sent] == ["tools.register", "tools.unregister"]


def test_a_bad_name_is_an_error_of_the_tool() -> None:
    with TestHost(ext) as host:
        result = host.call("shelve", name="two words", note="")
        assert result.is_error
        assert "two words" in result.text
        assert host.sent == []


def test_a_host_with_a_fixed_catalog() -> None:
    with TestHost(ext, features=()) as host:
        result = host.call("shelve", name="milk", note="")
        assert result.is_error
        assert "dynamic_tools" in result.text


def test_as_a_process() -> None:
    with ProcessHost(Path(__file__).parent) as host:
        assert host.call("shelve", name="milk", note="two litres").text == "epoch 1: read_milk"
    assert host.status == 0
