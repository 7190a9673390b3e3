"""Bytes that nobody wrote: vectors of the spec with small changes, for the fuzz targets of both distributions."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

VECTORS = Path(__file__).resolve().parents[2] / "spec" / "vectors"

# What breaks a text, or nearly does.
PIECES = [
    *(
        text.encode()
        for text in (
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            '"',
            "\\",
            "\\u",
            "\\ud800",
            "\\u0000",
            "-",
            "-0",
            "1e400",
            "1.0",
            "NaN",
            "null",
            "true",
            '""',
            '"id":1,',
            " ",
            "\t",
        )
    ),
    *(
        b"\n",
        b"\r\n",
        b"\x00",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        b"[" * 200,
        b'{"a":' * 200,
        b"9" * 400,
        b"a" * 300,
        "é😀".encode(),
    ),
]

# A change is where, what is put there, and how much it replaces.
CHANGES = st.lists(
    st.tuples(st.integers(0, 4095), st.sampled_from(PIECES) | st.binary(max_size=3), st.integers(0, 6)), max_size=4
)


def changed(seed: bytes, changes: Sequence[tuple[int, bytes, int]]) -> bytes:
    for at, piece, cut in changes:
        here = at % (len(seed) + 1)
        seed = seed[:here] + piece + seed[here + cut :]
    return seed


def mutated(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    return st.builds(changed, st.sampled_from(seeds), CHANGES)


def vectors(*wires: str) -> Iterator[tuple[str, str | None, bytes]]:
    """Yields operation, model and bytes of every vector that has a text or bytes."""
    for path in sorted(VECTORS.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["wire"] not in wires:
            continue
        for row in document["vectors"]:
            if "hex" in row:
                yield document["op"], row.get("model"), bytes.fromhex(row["hex"])
            elif "text" in row:
                yield document["op"], row.get("model"), row["text"].encode("utf-8", "surrogatepass")


def drive(name: str, target: Callable[[bytes], None], seeds: Sequence[bytes]) -> None:
    """Runs a target a few hundred times, or for OCTET_FUZZ_SECONDS, and tells how often that was."""
    runs = 0

    def counted(data: bytes) -> None:
        nonlocal runs
        runs += 1
        target(data)

    until = time.monotonic() + float(os.environ.get("OCTET_FUZZ_SECONDS", "0"))
    while True:
        test = given(data=mutated(seeds))(counted)
        settings(max_examples=300, deadline=None, database=None, suppress_health_check=list(HealthCheck))(test)()
        if time.monotonic() >= until:
            break
    print(f"\nfuzz {name} execs: {runs}")  # noqa: T201 - what make fuzz adds up
