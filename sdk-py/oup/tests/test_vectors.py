"""Runs every OUP vector of the spec through the testee's functions."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from octet_oup import testee

VECTORS = Path(__file__).resolve().parents[3] / "spec" / "vectors"
REPEAT = re.compile(r"@@REP:(.+?):([0-9]+)@@", re.DOTALL)


def repeated(text: str) -> str:
    return REPEAT.sub(lambda found: found[1] * int(found[2]), text)


def cases() -> Iterator[Any]:
    for path in sorted(VECTORS.glob("oup-*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        for vector in document["vectors"]:
            yield pytest.param(document["wire"], document["op"], vector, id=vector["id"])


CASES = list(cases())


def question(wire: str, op: str, vector: dict[str, Any]) -> dict[str, object]:
    asked: dict[str, object] = {"seq": 1, "op": op, "wire": wire}
    asked |= {name: vector[name] for name in ("model", "api", "offer", "selection", "bound") if name in vector}
    if op == "frame":
        data = bytes.fromhex(vector["hex"]) if "hex" in vector else repeated(vector["text"]).encode()
        asked["base64"] = base64.b64encode(data).decode()
    elif "text" in vector:
        asked["text"] = repeated(vector["text"])
    return asked


@pytest.mark.parametrize(("wire", "op", "vector"), CASES)
def test_vector(wire: str, op: str, vector: dict[str, Any]) -> None:
    got = testee.answer(question(wire, op, vector))
    want: dict[str, object] = {"seq": 1, "verdict": vector["verdict"]}
    want |= {name: vector[name] for name in ("pointer", "violation", "error") if name in vector}
    if op == "model" and vector["verdict"] == "accept":
        want["encoded"] = repeated(vector.get("encoded", vector["text"]))
    assert got == want, vector["note"]


def test_floor() -> None:
    assert len(CASES) >= 150
