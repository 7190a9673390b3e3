"""The package as people get it: built, installed into an empty environment, and used there. No network is used."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = """
import pathlib
import octet_oup
from octet_oup.wire import REQUESTS, TaskListParams
home = pathlib.Path(octet_oup.__file__).parent
assert (home / "py.typed").exists()
assert REQUESTS["task/list"].gate == "harness.task_control.v1"
assert TaskListParams(session_id="ada:local:desk").encode() == b'{"session_id":"ada:local:desk"}'
print(home)
"""


def clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}


def pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=clean())
    assert done.returncode == 0, done.stderr


def test_the_wheel_installs_into_an_empty_environment_and_works(tmp_path: Path) -> None:
    pip("wheel", str(ROOT), "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(tmp_path))
    (wheel,) = tmp_path.glob("*.whl")
    home = tmp_path / "empty"
    venv.create(home, with_pip=False)
    python = home / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    pip("--python", str(python), "install", "--no-index", "--no-deps", str(wheel))
    done = subprocess.run(
        [str(python), "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=True, env=clean(), cwd=tmp_path
    )
    assert done.stdout.startswith(str(home))
