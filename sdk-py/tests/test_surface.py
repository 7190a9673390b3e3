"""What the package shows: names, errors, documents that are true."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import octet_extension
from octet_extension import _errors, api_v03, testee, testing
from octet_extension._generated import canonical_wire

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = Path(__file__).with_name("exported_names.txt")


def exported() -> str:
    lines = []
    for module in (octet_extension, testing, testee):
        names = module.__all__
        assert list(names) == sorted(names, key=lambda name: (not name.isupper(), name)), module.__name__
        lines += [f"{module.__name__}.{name}" for name in names]
    return "".join(f"{line}\n" for line in lines)


def test_the_exported_names_are_the_golden_ones() -> None:
    assert exported() == GOLDEN.read_text(encoding="utf-8")


def test_everything_else_is_underscored() -> None:
    modules = {path.stem for path in (ROOT / "octet_extension").glob("*.py")}
    assert {name for name in modules if not name.startswith("_")} == {"api_v03", "api_v04", "testee", "testing"}


def test_exported_classes_report_the_package_as_their_home() -> None:
    for name in ("Call", "Extension", "ToolError", "LocalProtocolError"):
        assert getattr(octet_extension, name).__module__ == "octet_extension"


def test_api_03_has_every_name_of_its_wire() -> None:
    for name in canonical_wire.__all__:
        assert getattr(api_v03, name) is getattr(canonical_wire, name)
    assert set(canonical_wire.__all__) < set(api_v03.__all__)


def test_the_tree_of_errors_is_the_one_that_is_drawn() -> None:
    drawn = re.findall(r"^( *)([A-Z]\w+)", _errors.__doc__ or "", re.MULTILINE)
    above: list[tuple[int, str]] = []
    found = {}
    for indent, name in drawn:
        above = [(depth, parent) for depth, parent in above if depth < len(indent)]
        if above or name == "ExtensionError":
            found[name] = above[-1][1] if above else "Exception"
            above.append((len(indent), name))
    assert found == {name: getattr(_errors, name).__bases__[0].__name__ for name in _errors.__all__}


def test_blame_has_a_name() -> None:
    with pytest.raises(TypeError, match="LocalProtocolError or RemoteProtocolError"):
        octet_extension.ProtocolError("somebody")


def python_files(text: str) -> dict[str, str]:
    """The files that the README has its reader write: name and content."""
    return dict(re.findall(r"cat > (\S+\.py) <<'PY'\n(.*?)\nPY\n", text, re.DOTALL))


def test_the_readme_is_true(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 40
    files = python_files(text)
    assert sorted(files) == ["hello.py", "test_hello.py"]
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_nothing_is_needed_at_run_time() -> None:
    listed = set(sys.stdlib_module_names) | {"octet_extension"}
    for path in (ROOT / "octet_extension").rglob("*.py"):
        for name in re.findall(r"^(?:from|import) ([a-zA-Z0-9_]+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert name in listed, path
