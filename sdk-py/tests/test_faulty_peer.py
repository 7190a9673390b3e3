import json
import subprocess
import sys
from pathlib import Path

PEER = Path(__file__).parent / "faulty_peer" / "peer.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, PEER, *arguments], input="", capture_output=True, text=True, check=False)


def test_lists_its_faults() -> None:
    rows = [json.loads(line) for line in run("--list").stdout.splitlines()]
    assert len({row["name"] for row in rows}) == len(rows) >= 40
    assert all(row["doc"] and row["rule"].startswith("EXT04-") and row["api"] == "0.4" for row in rows)


def test_plays_a_sound_peer_and_no_fault_that_it_does_not_have() -> None:
    sound = run("none")
    assert (sound.returncode, sound.stdout) == (0, "")
    unknown = run("no-such-fault")
    assert unknown.returncode == 1
    assert "no fault is called 'no-such-fault'" in unknown.stderr
