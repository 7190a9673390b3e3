"""The guide, the example and the pages of the package: every block is type-checked as it stands, and run."""

from __future__ import annotations

import asyncio
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from peer import approval, new_id, question, run
from served import OCTET, ROOT, environment, home, serving

from octet_oup._generated.oup_wire import ApprovalRequestedEvent, UserQuestionRequestedEvent

PACKAGE = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs" / "guide" / "oup-python.md"
BLOCK = re.compile(r"^```(\w+)\n(# (\S+)\n.*?)^```$", re.MULTILINE | re.DOTALL)
WORD = "let-me-in"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = GUIDE.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    assert len(blocks) == text.count("```") // 2, "every block names its file in its first line"
    assert {language for language, _, _ in blocks} == {"python", "yaml"}
    where = tmp_path_factory.mktemp("guide")
    for _, code, name in blocks:
        (where / name).write_text(code, encoding="utf-8")
    assert len(list(where.glob("*.py"))) == 6
    return where


def server(folder: Path, *more: str) -> tuple[str, ...]:
    (folder / "work").mkdir(exist_ok=True)
    script = ("--model", f"scripted:{folder / 'script.yaml'}", "--cwd", str(folder / "work"))
    return (OCTET, "serve", "--stdio", *script, "--data-dir", str(folder / "data"), *more)


def output(folder: Path, *command: str, **more: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", *command],
        cwd=folder,
        env=environment(folder) | more,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return done.stdout


def typed(folder: Path, names: Sequence[str]) -> None:
    settings = ("--strict", "--config-file", str(PACKAGE / "pyproject.toml"))
    command = [sys.executable, "-m", "mypy", *settings, *names]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_block_is_typed(folder: Path) -> None:
    typed(folder, sorted(path.name for path in folder.glob("*.py")))


def test_the_controller_counts(folder: Path) -> None:
    assert "completed I count.\n\nThere are two of them." in output(folder, "controller.py", *server(folder))


def test_what_happens_can_be_watched(folder: Path) -> None:
    shown = output(folder, "watch.py", *server(folder))
    assert shown.startswith("I count.\n[shell ")
    assert "[complete: 0" in shown
    assert shown.endswith("There are two of them.\ncompleted\n")


def test_a_turn_is_stopped(folder: Path) -> None:
    assert output(folder, "stop.py", *server(folder)) == "interrupted interrupted\n"


def test_the_rest_is_there(folder: Path) -> None:
    lines = output(folder, "more.py", *server(folder)).splitlines()
    assert lines[0] == "workspace_write"
    assert "'mode': 'workspace_write'" in lines[1]
    assert lines[2].startswith("not here: ")
    assert lines[3].startswith("unknown_preview -32103 UnknownPreviewErrorData(")


def test_a_cursor_is_kept(folder: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path, WORD) as listening:
            for _ in range(2):
                shown = await asyncio.to_thread(output, folder, "keep.py", listening.url, WORD)
                assert shown == "You said: good morning\n"

    run(scenario)
    assert (folder / "cursor.json").exists()


def test_a_person_is_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = runpy.run_path(str(folder / "person.py"))
    said = iter(["yes", "always", "never", "Nested", "my own"])
    monkeypatch.setattr("builtins.input", lambda _: next(said))

    async def scenario() -> None:
        asked = ApprovalRequestedEvent.from_json(approval(new_id(), new_id())["params"])
        decisions = [await names["on_approval"](asked) for _ in range(3)]
        assert [(one.word, one.scope) for one in decisions] == [
            ("approve", "request"),
            ("approve", "tool"),
            ("deny", "request"),
        ]
        questions = UserQuestionRequestedEvent.from_json(question(new_id(), new_id())["params"])
        answers = [(await names["on_question"](questions))[0] for _ in range(2)]
        assert [(list(one.labels), one.text) for one in answers] == [(["Nested"], ""), ([], "my own")]

    run(scenario)


def test_the_example_runs_a_turn_and_approves_a_tool(tmp_path: Path) -> None:
    example = PACKAGE / "examples" / "controller.py"
    assert len(example.read_text(encoding="utf-8").splitlines()) <= 21
    shown = output(tmp_path, str(example), "make it", *home(tmp_path), "--stdio")
    assert shown == "completed: I make it.\n\nDone with it.\nshell complete\n"


def test_the_block_of_the_page_runs(tmp_path: Path) -> None:
    text = (PACKAGE / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 40
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "block.py").write_text(code, encoding="utf-8")
    typed(tmp_path, ["block.py"])
    octet, _, *options = home(tmp_path)
    (tmp_path / "octet").write_text(f'#!/bin/sh\nexec {octet} "$@" {" ".join(options)}\n', encoding="utf-8")
    (tmp_path / "octet").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{environment(tmp_path)['PATH']}"
    assert output(tmp_path, "block.py", PATH=path) == "completed I make it.\n\nDone with it.\n"
