"""The migration adapter: what the SDK answers in the author's place, and what it does not let out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octet_extension import CallFailed, Extension, Source
from octet_extension.api_v03 import MigrationDetectParams, MigrationImportParams
from octet_extension.testing import TestHost

Json = dict[str, Any]
NOTHING: Json = {"models": [], "skills": [], "mcp_servers": [], "diagnostics": []}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.json").write_text('{"b":1}')
    (tmp_path / "link.json").symlink_to("a.json")
    (tmp_path / "way").symlink_to("sub")
    return tmp_path


def adapter(*detect: str, skill: str = "") -> Extension:
    """Detects what is there of those named, and answers an import with a skill."""
    ext = Extension(api="0.3")

    @ext.migration_detect
    def find(source: Source, params: MigrationDetectParams) -> Json:
        def there(path: str) -> bool:
            try:
                source.stat(path)
            except FileNotFoundError:
                return path == "gone.json"
            except (OSError, ValueError):
                return True
            return True

        found = [path for path in detect if there(path)]
        return {"detected": bool(found), "config_paths": found, "diagnostics": []}

    @ext.migration_import
    async def take(source: Source, params: MigrationImportParams) -> Json:
        if skill == "fail":
            raise RuntimeError("secret detail")
        gone: list[Json] = []
        for path in params.config_paths:
            try:
                source.read_file(path)
            except FileNotFoundError:
                gone.append({"path": path, "severity": "warning", "reason": "gone"})
        return NOTHING | {
            "diagnostics": gone,
            "skills": [{"path": skill, "name": "n", "content": "c"}] if skill else [],
        }

    return ext


def code_of(act: Callable[[], object]) -> int:
    with pytest.raises(CallFailed) as caught:
        act()
    assert "secret" not in str(caught.value)
    return caught.value.code


def test_detects_what_is_there(root: Path) -> None:
    with TestHost(adapter("a.json", "sub/b.json", "none.json")) as host:
        found = host.ask("migration/detect", {"source_root": str(root)})
    assert found == {"detected": True, "config_paths": ["a.json", "sub/b.json"], "diagnostics": []}


@pytest.mark.parametrize("name", ["", "relative", "/none", "/a.json", "/way"])
def test_refuses_a_root_that_is_no_directory_of_its_own(root: Path, name: str) -> None:
    with TestHost(adapter()) as host:
        path = f"{root}{name}" if name.startswith("/") else name
        assert code_of(lambda: host.ask("migration/detect", {"source_root": path})) == -32602
        assert code_of(lambda: host.ask("migration/import", {"source_root": path, "config_paths": []})) == -32602


@pytest.mark.parametrize(
    "detect",
    [["a.json", "a.json"], ["../a.json"], ["/etc/passwd"], ["link.json"], ["way/b.json"], ["gone.json"], ["c:a"]],
)
def test_lets_no_unsound_detection_out(root: Path, detect: list[str]) -> None:
    with TestHost(adapter(*detect)) as host:
        assert code_of(lambda: host.ask("migration/detect", {"source_root": str(root)})) == -32603


@pytest.mark.parametrize(
    ("paths", "skill", "code"),
    [
        (["a.json", "a.json"], "", -32602),
        (["../a.json"], "", -32602),
        (["sub"], "", -32602),
        (["a.json"], "../x", -32603),
        (["a.json"], "fail", -32603),
    ],
)
def test_refuses_an_import(root: Path, paths: list[str], skill: str, code: int) -> None:
    with TestHost(adapter("a.json", skill=skill)) as host:
        asked = {"source_root": str(root), "config_paths": paths}
        assert code_of(lambda: host.ask("migration/import", asked)) == code


def test_imports_what_detection_reports_also_when_it_has_vanished(root: Path) -> None:
    with TestHost(adapter("a.json", skill="sub/b.json")) as host:
        asked = {"source_root": str(root), "config_paths": ["a.json"]}
        skills = [{"path": "sub/b.json", "name": "n", "content": "c"}]
        assert host.ask("migration/import", asked) == NOTHING | {"skills": skills}
        (root / "a.json").unlink()
        gone = [{"path": "a.json", "severity": "warning", "reason": "gone"}]
        assert host.ask("migration/import", asked) == NOTHING | {"skills": skills, "diagnostics": gone}


def test_a_source_reads_below_its_root_alone(root: Path) -> None:
    ext = Extension(api="0.3")
    seen: list[object] = []

    @ext.migration_detect
    def find(source: Source, params: Json) -> Json:
        seen.extend([source.read_file("sub/b.json"), source.read_dir(), source.read_dir("sub")])
        for path in ("link.json", "way/b.json", "../x", "/etc/passwd", "sub", "", "."):
            with pytest.raises((OSError, ValueError)) as caught:
                source.read_file(path)
            assert not isinstance(caught.value, FileNotFoundError)
        with pytest.raises(OSError, match="symbolic link"):
            source.read_dir("way")
        return {"detected": False, "config_paths": [], "diagnostics": []}

    with TestHost(ext) as host:
        host.ask("migration/detect", {"source_root": str(root)})
    assert seen == [b'{"b":1}', ["a.json", "link.json", "sub", "way"], ["b.json"]]
