"""The test hosts themselves: what an extension does wrong is found."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from driver import ALL_APIS, extension

from octet_extension import Extension, LocalProtocolError, RemoteProtocolError
from octet_extension.testing import ProcessHost, TestHost

CALL = (
    b'{"jsonrpc":"2.0","method":"$/progress","params":'
    b'{"event":{"message":"m","type":"status"},"request_id":%d,"sequence":%d}}\n'
)


def started(api: str = "0.4", **setting: Any) -> tuple[TestHost, int]:
    """A host whose extension has a call open."""
    ext = Extension(api=api)
    ext.tool("Waits", name="wait")(waiting)
    host = TestHost(ext, **setting)
    request = host.begin("wait").request
    assert isinstance(request, int)
    return host, request


async def waiting() -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"nonsense\n", "nonsense"),
        (b"[1]\n", "object"),
        (b'{"jsonrpc":"2.0","id":77,"result":{}}\n', "77"),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}\n', "1, which is not open"),
        (b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}\n', "None"),
        (b'{"jsonrpc":"2.0","id":"x","method":"tools/register","params":{}}\n', "tools"),
        (b'{"jsonrpc":"2.0","method":"notification","params":{"level":"loud","message":"m"}}\n', "level"),
        (CALL % (77, 1), "77"),
        (CALL % (2, 2), "sequence 2"),
        (CALL % (2, -1), "sequence"),
        (b"x" * ((1 << 20) + 1), "more than 1048576 bytes"),
    ],
)
def test_what_an_extension_does_wrong_is_raised(data: bytes, reason: str) -> None:
    host, request = started()
    assert request == 2
    host.arrived(data)
    with pytest.raises(RemoteProtocolError, match=reason):
        host.call("wait")
    with pytest.raises(RemoteProtocolError, match=reason):
        host.close()


def test_messages_that_were_not_negotiated_are_raised() -> None:
    host, _ = started(features=(), notifications=False)
    host.arrived(CALL % (2, 1))
    with pytest.raises(RemoteProtocolError, match="progress"):
        host.close()
    host, _ = started(features=(), notifications=False)
    host.arrived(b'{"jsonrpc":"2.0","method":"notification","params":{"message":"m"}}\n')
    with pytest.raises(RemoteProtocolError, match="notification"):
        host.close()


@pytest.mark.parametrize("data", [b'{"jsonrpc": "2.0"}\n', b"{}\r\n", b"\n"])
def test_frames_of_api_03_are_held_to_their_spelling(data: bytes) -> None:
    host, _ = started("0.3")
    host.arrived(data)
    with pytest.raises(RemoteProtocolError):
        host.close()


@pytest.mark.parametrize("api", ALL_APIS)
@pytest.mark.parametrize(
    "result", [{}, {"content": 7, "is_error": False}, {"content": [], "is_error": "no", "metadata": 1}]
)
def test_a_bad_result_is_raised(api: str, result: object) -> None:
    host, _ = started(api)
    with pytest.raises(RemoteProtocolError, match="ToolCallResult"):
        host.side.answer(result)
    host.close()


@pytest.mark.parametrize("api", ALL_APIS)
def test_a_bad_answer_to_initialize_is_raised(api: str) -> None:
    host = TestHost(extension(api))
    with pytest.raises(RemoteProtocolError):
        host.side.install({"api_version": api, "tools": []})


def test_a_catalog_that_differs_is_raised() -> None:
    ext = extension("0.1")
    host = TestHost(ext)
    with pytest.raises(RemoteProtocolError, match="echo"):
        host.side.install({"api_version": "0.1", "tools": [], "commands": []})
    with pytest.raises(RemoteProtocolError, match="answered for API"):
        host.side.install({"api_version": "0.2", "tools": [], "commands": []})


def test_a_wait_ends() -> None:
    host, _ = started()
    pending = host.begin("wait")
    with pytest.raises(TimeoutError, match="an answer did not come"):
        pending.result(timeout=0.01)
    with pytest.raises(TimeoutError, match="2 progress events"):
        pending.wait_progress(2, timeout=0.01)
    with pytest.raises(TimeoutError, match="the end"):
        host.wait_end(timeout=0.01)
    host.close()


def test_a_failing_test_keeps_its_own_exception() -> None:
    ext = Extension()
    ext.tool("Waits", name="wait")(waiting)
    with pytest.raises(KeyError, match="mine"), TestHost(ext) as host:
        host.arrived(b"nonsense\n")
        raise KeyError("mine")


def test_what_a_frame_cannot_carry_is_the_fault_of_the_test() -> None:
    with TestHost(extension("0.3")) as host:
        with pytest.raises(LocalProtocolError):
            host.call("echo", text=1.5)
        assert host.call("echo", text="x").text == "x"


def test_the_transcript_holds_every_payload() -> None:
    with TestHost(extension("0.4")) as host:
        host.call("echo", text="x")
    assert [who for who, _ in host.transcript] == ["host", "extension"] * 3
    assert host.orderly
    host.close()


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "extension.toml").write_text('api_version = "0.4"\n[entrypoint]\ncommand = "ghost"\n', encoding="utf-8")
    with pytest.raises(FileNotFoundError):
        ProcessHost(tmp_path).start()
