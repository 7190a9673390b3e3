"""Results of composition that come as a file of the scratch directory (EXT04-NEST-004)."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from octet_extension import Call, Extension, MalformedResult
from octet_extension._generated import feature_wire
from octet_extension._scratch import VARIABLE
from octet_extension.testing import TestHost

RECORD = {
    "tools": [{"name": "read", "description": "d", "parameters": {}}],
    "store": {"k": 1},
    "limits": {"timeout_ms": 30_000, "max_calls": 256},
}


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "scratch"
    directory.mkdir()
    monkeypatch.setenv(VARIABLE, str(directory))
    return directory


def described(content: bytes, name: str = "f", **changes: object) -> dict[str, object]:
    return {"path": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()} | changes


def ask(work: Callable[[Call], object], service: str, answer: Mapping[str, object]) -> object:
    """Runs work inside a tool, with one answer of the host, and returns what came of it."""
    ext = Extension(api="0.4", uses=("tool_composition_v1",))
    found: list[object] = []

    @ext.tool("Does what the test says")
    def do(call: Call) -> str:
        try:
            found.append(work(call))
        except MalformedResult as fault:
            found.append(fault)
        return "done"

    with TestHost(ext, services={service: lambda params: answer}) as host:
        host.call("do")
    return found[0]


def ask_context(file: Mapping[str, object]) -> object:
    return ask(lambda call: call.services.composition.context(), "composition.context", {"context_file": file})


def ask_value(file: Mapping[str, object]) -> object:
    return ask(
        lambda call: call.invoke("composition.call", {"name": "read", "arguments": {}}),
        "composition.call",
        {"value_file": file},
    )


def test_the_author_does_not_see_that_a_context_came_as_a_file(scratch: Path) -> None:
    content = json.dumps(RECORD).encode()
    (scratch / "answer-1").write_bytes(content)
    found = ask_context(described(content, "answer-1"))
    assert found == feature_wire.CompositionContextResult.from_json(RECORD)
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("value", ["text", {"value_file": 1}, None, [1, "ü"]])
def test_the_author_does_not_see_that_a_value_came_as_a_file(scratch: Path, value: object) -> None:
    content = json.dumps(value, ensure_ascii=False).encode()
    (scratch / "f").write_bytes(content)
    assert ask_value(described(content)) == {"value": value}
    assert list(scratch.iterdir()) == []


def malformed(found: object, pointer: str, violation: str, word: str) -> None:
    """Demands a fault of the host at one place, which tells nothing of what a file holds."""
    assert isinstance(found, MalformedResult), found
    assert (found.pointer, found.violation) == (pointer, violation), str(found)
    assert word in str(found)
    assert "s3cret" not in str(found)


SECRET = b'"s3cret"'
DEEP = b"[" * 513 + b"]" * 513
BOUND = feature_wire.MAX_COMPOSITION_FILE_BYTES


@pytest.mark.parametrize(
    ("content", "file", "pointer", "violation", "word"),
    [
        (SECRET, described(SECRET, bytes=9), "/bytes", "value", "has 8 bytes and not 9"),
        (SECRET, described(b'"S3cret"'), "/sha256", "value", "digest"),
        (b"", described(b""), "/bytes", "range", "/value_file/bytes"),
        (SECRET, described(SECRET, bytes=BOUND + 1), "/bytes", "range", "/value_file/bytes"),
        (b" " * BOUND + SECRET, described(SECRET), "/bytes", "value", "and not 8"),
        (b'"s3cret\xff"', described(b'"s3cret\xff"'), "", "value", "UTF-8"),
        (b'{"s3cret":1,"s3cret":2}', described(b'{"s3cret":1,"s3cret":2}'), "", "value", "strict JSON"),
        (b'1,"s3cret":2', described(b'1,"s3cret":2'), "", "value", "strict JSON"),
        (DEEP, described(DEEP), "", "value", "strict JSON"),
    ],
    ids=["size", "digest", "empty", "too large", "more than told", "utf8", "twice", "two values", "too deep"],
)
def test_a_bad_file_is_the_fault_of_the_host_and_goes(
    scratch: Path, *, content: bytes, file: dict[str, object], pointer: str, violation: str, word: str
) -> None:
    (scratch / "f").write_bytes(content)
    malformed(ask_value(file), f"/value_file{pointer}", violation, word)
    assert list(scratch.iterdir()) == []


def test_a_link_is_not_followed_and_goes(scratch: Path) -> None:
    (scratch / "other").write_bytes(SECRET)
    (scratch / "f").symlink_to("other")
    malformed(ask_value(described(SECRET)), "/value_file/path", "value", "no regular file")
    assert [entry.name for entry in scratch.iterdir()] == ["other"]


def test_a_link_that_takes_the_place_of_a_file_is_not_followed(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (scratch / "f").write_bytes(SECRET)
    (scratch / "other").write_bytes(SECRET)
    opening = os.open

    def swapping(path: str, flags: int, **how: int) -> int:
        if path == "f":
            (scratch / "f").unlink()
            (scratch / "f").symlink_to("other")
        return opening(path, flags, **how)

    monkeypatch.setattr(os, "open", swapping)
    monkeypatch.setattr(os, "supports_dir_fd", {*os.supports_dir_fd, swapping})
    malformed(ask_value(described(SECRET)), "/value_file/path", "value", "cannot be opened")


def test_a_directory_is_no_file_and_stays(scratch: Path) -> None:
    (scratch / "f").mkdir()
    malformed(ask_value(described(SECRET)), "/value_file/path", "value", "no regular file")
    assert (scratch / "f").is_dir()


def test_a_file_that_is_not_there(scratch: Path) -> None:
    malformed(ask_value(described(SECRET)), "/value_file/path", "value", "is not in the scratch directory")


@pytest.mark.parametrize("name", ["..", ".", "../f", "/f", "a\\f", ""])
def test_a_name_that_leads_elsewhere(scratch: Path, name: str) -> None:
    (scratch.parent / "f").write_bytes(SECRET)
    found = ask_value(described(SECRET, name))
    malformed(found, "/value_file/path", "pattern" if name else "bytes", "/value_file/path")
    assert (scratch.parent / "f").exists()


@pytest.mark.parametrize(
    ("content", "pointer", "violation"),
    [
        (b'{"tools":[{"description":"s3cret","name":"","parameters":{}}]}', "/tools/0/name", "bytes"),
        (b'{"store":{"s3cret":1}}', "/tools", "missing"),
        (b'["s3cret"]', "", "not_object"),
        (json.dumps({"context_file": described(SECRET)}).encode(), "/context_file", "forbidden"),
    ],
)
def test_a_context_in_a_file_is_judged_by_its_model(
    scratch: Path, content: bytes, pointer: str, violation: str
) -> None:
    (scratch / "f").write_bytes(content)
    malformed(ask_context(described(content)), pointer, violation, "the file 'f'")
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("by_path", [False, True])
@pytest.mark.parametrize("value", [None, ""])
def test_without_a_scratch_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, value: str | None, by_path: bool
) -> None:
    (tmp_path / "f").write_bytes(SECRET)
    monkeypatch.chdir(tmp_path)
    if by_path:
        monkeypatch.setattr("octet_extension._scratch._Directory._RELATIVE", False)
    monkeypatch.delenv(VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)
    malformed(ask_value(described(SECRET)), "/value_file/path", "value", VARIABLE)


def test_where_the_platform_opens_by_path_alone(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("octet_extension._scratch._Directory._RELATIVE", False)
    (scratch / "f").write_bytes(b"1")
    assert ask_value(described(b"1")) == {"value": 1}
    assert list(scratch.iterdir()) == []
