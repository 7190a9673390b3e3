"""How fast a frame is checked to be canonical: ours, and the public ways, which write it again and compare."""

import json
import time
from collections.abc import Callable
from typing import Final

import jcs
import rfc8785
from octet_extension import _canonical

SIZES: Final = {"64 B": 64, "1 KiB": 1 << 10, "16 KiB": 16 << 10, "256 KiB": 256 << 10, "1 MiB": 1 << 20}
_ROUNDS: Final = 5
_WARM_UP: Final = 0.25  # of the time of a case

Check = Callable[[bytes], bool]


def _ours(frame: bytes) -> bool:
    _canonical.check(frame)
    return True


def _json(frame: bytes) -> bool:
    text = json.dumps(json.loads(frame), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode() == frame


CHECKS: Final[dict[str, Check]] = {
    "octet-extension": _ours,
    "json": _json,
    "rfc8785": lambda frame: rfc8785.dumps(json.loads(frame)) == frame,
    "jcs": lambda frame: jcs.canonicalize(json.loads(frame)) == frame,
}
"""The checks, ours first."""


def frame(size: int) -> bytes:
    """Returns a canonical frame of so many bytes: rows of numbers and text, like the argument of a tool."""
    head, tail = b'{"rows":[', b"]}"
    rows: list[bytes] = []
    room = size - len(head) - len(tail)
    while room > 0:
        taken = b'{"line":%d,"ok":true,"text":"%s"},' % (len(rows), 'a \\"line\\" of tøxt'.encode())
        if room - len(taken) < 16:
            rows.append(b'{"t":"%s"}' % (b"x" * (room - 8)))
            break
        rows.append(taken[:-1])
        room -= len(taken)
    return head + b",".join(rows) + tail


def throughput(check: Check, size: int, seconds: float) -> tuple[float, int]:
    """Returns megabytes a second, the best of some rounds, and how many frames were checked in all."""
    sent = frame(size)
    if len(sent) != size or not check(sent):
        raise SystemExit(f"the frame of {size} bytes is not accepted")
    if _refused(check, sent[:-1] + b" }"):
        raise SystemExit("a frame that is not canonical is accepted")
    clock, count = time.perf_counter, 0
    end = clock() + _WARM_UP * seconds
    while clock() < end:
        check(sent)
        count += 1
    repeat = max(1, round(count / _WARM_UP * (1 - _WARM_UP) / _ROUNDS))
    took = []
    for _ in range(_ROUNDS):
        began = clock()
        for _ in range(repeat):
            check(sent)
        took.append(clock() - began)
    return repeat * size / sorted(took)[_ROUNDS // 2] / 1e6, repeat * _ROUNDS


def _refused(check: Check, sent: bytes) -> bool:
    try:
        return check(sent)
    except ValueError:
        return False
