"""The package as people get it: built, installed into an empty environment, and run there. No network is used."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

from octet_extension.testing import ProcessHost

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = """#!{python}
import sys
from octet_extension import Call, Extension
ext = Extension()
@ext.tool("Says where it runs")
def where(call: Call) -> str:
    import octet_extension
    return octet_extension.__file__
ext.run()
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
    project = tmp_path / "hello"
    project.mkdir()
    (project / "main.py").write_text(SCRIPT.format(python=python), encoding="utf-8")
    (project / "main.py").chmod(0o755)
    (project / "extension.toml").write_text(
        'name = "hello"\nversion = "1.0.0"\napi_version = "0.4"\n[entrypoint]\ncommand = "main.py"\n'
        '[contributes]\ntools = ["where"]\n',
        encoding="utf-8",
    )
    with ProcessHost(project) as host:
        assert host.call("where").text.startswith(str(home))
    assert host.status == 0
    module = "import octet_extension, octet_extension.testing, octet_extension.api_v03, octet_extension.api_v04"
    typed = "import pathlib; assert (pathlib.Path(octet_extension.__file__).parent / 'py.typed').exists()"
    subprocess.run([str(python), "-c", f"{module}\n{typed}"], check=True, timeout=60, env=clean(), cwd=tmp_path)
