"""The extension as a real process: file descriptors, environment, exit status."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from octet_extension import CallFailed
from octet_extension.testing import ProcessHost

PATIENCE = 60.0
HELLO = (
    '{"name":"octet sdk-py","ok":true,"ops":["envelope","frame","model","negotiate"],"protocol":1,"seq":1,'
    '"wires":["extension-canonical","extension-feature","manifest"]}'
)
SCRIPT = """#!{python}
import os, subprocess, sys, threading
from concurrent.futures import ThreadPoolExecutor
from octet_extension import Call, Extension
{before}
ext = Extension(api={api!r})

@ext.tool("Talks where it should not")
def stray() -> str:
    print("printed")
    os.write(1, b"written\\n")
    subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
    subprocess.run(["sh", "-c", "echo from a shell; cat"], check=True)
    try:
        input()
    except EOFError:
        return "nothing to read"
    return "read something"

@ext.tool("Never ends")
def stuck() -> str:
    with ThreadPoolExecutor() as pool:
        return pool.submit(threading.Event().wait).result()

@ext.tool("Answers in two processes")
def fork() -> str:
    child = os.fork()
    if child == 0:
        print("in the child", file=sys.stderr)
    return "parent" if child else "child"

@ext.tool("Answers while its child runs on")
def linger() -> str:
    if os.fork() == 0:
        threading.Event().wait(600)
    return "parent"

if __name__ == "__main__":
    ext.run()
"""
every_wire = pytest.mark.parametrize("api", ["0.3", "0.4"])
Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def write(api: str, *, before: str = "") -> Path:
        script = tmp_path / "main.py"
        script.write_text(SCRIPT.format(python=sys.executable, api=api, before=before), encoding="utf-8")
        script.chmod(0o755)
        (tmp_path / "extension.toml").write_text(
            f'name = "made"\nversion = "1.0.0"\napi_version = "{api}"\n'
            '[entrypoint]\ncommand = "main.py"\n[contributes]\ntools = ["stray", "stuck", "fork", "linger"]\n',
            encoding="utf-8",
        )
        return tmp_path

    return write


def environment(**changes: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OCTET_")}
    return {**clean, **changes}


def run(directory: Path, given: bytes, **changes: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [str(directory / "main.py")],
        input=given,
        capture_output=True,
        timeout=PATIENCE,
        env=environment(**changes),
        check=False,
    )


@every_wire
def test_stray_output_goes_to_standard_error(make: Make, api: str) -> None:
    with ProcessHost(make(api)) as host:
        assert host.call("stray").text == "nothing to read"
        log = host.log
    for words in ("printed", "written", "from a child", "from a shell"):
        assert words in log
    assert host.status == 0


def test_output_before_run_is_moved_too(make: Make) -> None:
    with ProcessHost(make("0.4", before="print('early')"), environment={"PYTHONUNBUFFERED": ""}) as host:
        assert host.call("stray").text == "nothing to read"
        assert "early" in host.log


@every_wire
def test_another_api_version_in_the_environment_is_refused_unread(make: Make, api: str) -> None:
    done = run(make(api), b"", OCTET_EXTENSION_API_VERSION="9.9")
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == 1
    assert b"9.9" in done.stderr
    assert api.encode() in done.stderr
    assert run(make(api), b"", OCTET_EXTENSION_API_VERSION=api).returncode == 0


@every_wire
def test_the_end_of_input_is_an_orderly_end(make: Make, api: str) -> None:
    done = run(make(api), b"")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("given", [b"\n", b"nonsense\n", b'{"a": 1}\n', b"{}"])
def test_a_bad_frame_of_api_03_is_a_failure(make: Make, given: bytes) -> None:
    done = run(make("0.3"), given)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"octet-extension: ")


@every_wire
def test_a_refused_initialize_is_a_failure(make: Make, api: str) -> None:
    host = ProcessHost(make(api))
    host.launch()
    pending = host.request("initialize", {**host.side.initialize_params(), "api_version": "9.9"})
    with pytest.raises(CallFailed):
        pending.result()
    assert host.wait_end() is False
    host.close()
    assert host.status == 1


@every_wire
def test_a_tool_that_never_ends_does_not_hold_the_process(make: Make, api: str) -> None:
    with ProcessHost(make(api)) as host:
        pending = host.begin("stuck")
        ending = host.request("shutdown", {})
        host.wait_response(ending, PATIENCE)
        with pytest.raises(CallFailed):
            pending.result()
        assert host.wait_end(timeout=PATIENCE)
    assert host.status == 0


@every_wire
def test_a_forked_child_has_no_part_in_the_protocol(make: Make, api: str) -> None:
    with ProcessHost(make(api)) as host:
        process = host.process
        for _ in range(3):
            assert host.call("fork").text == "parent"
        assert host.call("stray").text == "nothing to read"
    assert host.status == 0
    assert host.log.count("in the child") == 3
    assert "never sent" not in host.log
    assert process.poll() == 0


@every_wire
def test_a_forked_child_that_runs_on_holds_no_end_of_the_host(make: Make, api: str) -> None:
    script = make(api) / "main.py"
    gate = script.parent / "gate"
    os.mkfifo(gate)
    source = script.read_text(encoding="utf-8")
    script.write_text(source.replace("threading.Event().wait(600)", f"open({str(gate)!r}).read()"), encoding="utf-8")
    process = subprocess.Popen(
        [str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()
    )
    assert process.stdin is not None
    assert process.stdout is not None
    side = ProcessHost(script.parent).side
    messages = [
        side.request(1, "initialize", side.initialize_params()),
        side.request(2, "tool/call", side.call_params("linger", {})),
    ]
    for message in messages:
        process.stdin.write(side.spell(message) + b"\n")
        process.stdin.flush()
        assert process.stdout.readline()
    process.stdin.close()
    late = threading.Timer(PATIENCE, gate.write_text, [""])  # the child goes on once somebody writes
    late.start()
    assert process.stdout.read() == b""
    assert process.wait(PATIENCE) == 0
    assert late.is_alive()
    late.cancel()
    gate.write_text("")
    process.stdout.close()


@every_wire
def test_lost_output_ends_the_process_with_input_open(make: Make, api: str) -> None:
    host = ProcessHost(make(api))
    frame = host.side.spell(host.side.request(99, "no/such", {})) + b"\n"
    read, write = os.pipe()
    process = subprocess.Popen(
        [str(make(api) / "main.py")], stdin=subprocess.PIPE, stdout=write, stderr=subprocess.PIPE, env=environment()
    )
    os.close(write)
    os.close(read)
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(
        host.side.spell(host.side.request(1, "initialize", host.side.initialize_params())) + b"\n" + frame
    )
    process.stdin.flush()
    assert process.wait(PATIENCE) == 1
    assert b"reads no more" in process.stderr.read()
    process.stdin.close()
    process.stderr.close()


def test_an_interrupt_ends_quietly(make: Make) -> None:
    # What is started by a job in the background of a shell ignores interrupts; so would the extension.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    host = ProcessHost(make("0.4"))
    try:
        host.start()
    finally:
        signal.signal(signal.SIGINT, handler)
    process = host.process
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    host.close()
    assert "Traceback" not in host.log


def test_a_process_without_standard_error_serves(make: Make) -> None:
    script = make("0.4") / "main.py"
    wrapper = script.with_name("closed.sh")
    wrapper.write_text(f'#!/bin/sh\nexec "{script}" 2>&-\n', encoding="utf-8")
    wrapper.chmod(0o755)
    manifest = script.with_name("extension.toml")
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("main.py", "closed.sh"), encoding="utf-8")
    with ProcessHost(script.parent) as host:
        assert host.call("stray").text == "nothing to read"
    assert host.status == 0


def test_the_testee_answers_line_by_line() -> None:
    lines = [
        b'{"seq":1,"op":"hello","protocol":1}',
        b'{"seq":"two","op":"dance"}',
        b"not json",
        b"[1]",
        b'{"seq":5,"op":"model","wire":"extension-canonical","model":"ShutdownResult","text":"{\\"terminal\\":\\"x\\"}"}',
        b'{"seq":6,"op":"model","wire":"nowhere","model":"ShutdownResult","text":"{}"}',
        b'{"seq":7,"op":"model","wire":"manifest","model":"Nothing","text":"{}"}',
        b'{"seq":8,"op":"frame","wire":"extension-canonical","base64":"not base64!"}',
        b'{"seq":9,"op":"negotiate","api":"0.1","offer":{},"selection":{}}',
        b'{"seq":10,"op":"envelope","wire":"extension-feature","text":"{"}',
        b'{"seq":11,"op":"envelope","wire":"manifest","text":"{}"}',
    ]
    done = subprocess.run(
        [sys.executable, "-m", "octet_extension.testee"],
        input=b"\n".join(lines) + b"\n",
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout.decode().splitlines() == [
        HELLO,
        '{"seq":"two","verdict":"unsupported"}',
        '{"verdict":"unsupported"}',
        '{"verdict":"unsupported"}',
        '{"error":"invalid_params","pointer":"/terminal","seq":5,"verdict":"reject","violation":"value"}',
        '{"seq":6,"verdict":"unsupported"}',
        '{"seq":7,"verdict":"unsupported"}',
        '{"seq":8,"verdict":"unsupported"}',
        '{"seq":9,"verdict":"unsupported"}',
        '{"seq":10,"verdict":"invalid"}',
        '{"seq":11,"verdict":"unsupported"}',
    ]


def test_no_thread_is_left_behind() -> None:
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("process-host")]
