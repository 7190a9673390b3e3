"""The author guide: every block of Python is type-checked as it stands, imported, and run where it is a test."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from octet_extension.testing import ProcessHost

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "python.md"
BLOCK = re.compile(r"^```(\w+)\n((?:#![^\n]*\n)?# (\S+)\n.*?)^```$", re.MULTILINE | re.DOTALL)
SDK = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = GUIDE.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    assert len(blocks) == text.count("```") // 2, "every block names its file in its first line"
    names = [name for _, _, name in blocks]
    assert len(names) == len(set(names))
    assert {language for language, _, _ in blocks} == {"python", "toml"}
    where = tmp_path_factory.mktemp("guide")
    for _, code, name in blocks:
        (where / name).write_text(code, encoding="utf-8")
        (where / name).chmod(0o755)
    return where


def run(*command: str, folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_block_is_typed(folder: Path) -> None:
    blocks = sorted(path.name for path in folder.glob("*.py"))
    assert len(blocks) >= 13
    run(sys.executable, "-m", "mypy", "--strict", "--config-file", str(SDK / "pyproject.toml"), *blocks, folder=folder)


def test_every_block_can_be_imported_and_served(folder: Path) -> None:
    modules = sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("test_"))
    code = "\n".join(f"import {name}; {name}.ext.connect()" for name in modules)
    run(sys.executable, "-c", code, folder=folder)


def test_the_tests_pass(folder: Path) -> None:
    run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder), folder=folder)


def test_the_first_tool_runs(folder: Path) -> None:
    manifest = tomllib.loads((folder / "extension.toml").read_text(encoding="utf-8"))
    assert manifest["contributes"]["tools"] == ["greet"]
    with ProcessHost(folder) as host:
        assert host.call("greet", name="Ada", loud=True).text == "HELLO ADA"
    assert host.status == 0
