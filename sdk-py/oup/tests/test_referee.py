"""The client before the referee, which plays its server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from served import ROOT, environment

CONFORM = os.environ.get("OCTET_CONFORM", str(ROOT / "bin" / "octet-conform"))
JUDGED = Path(__file__).with_name("judged.py")


def test_the_referee_finds_nothing(tmp_path: Path) -> None:
    client = (sys.executable, "-W", "error", str(JUDGED), "{url}", "{token}", "{session}", "{prompt}", "{decision}")
    done = subprocess.run(
        [CONFORM, "client", "--strict", "--jobs", "2", "--", *client],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " over websocket: ok on API v1alpha1: " in done.stdout
