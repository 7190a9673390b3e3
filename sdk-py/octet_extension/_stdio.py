"""Takes standard input and output for the protocol, and gives everybody else something harmless.

After claim, file descriptor 0 is empty and 1 leads to standard error. So a print, a write of a C library or
of a child process cannot break a frame, and none of them can take bytes away from the host.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Final

if sys.platform == "win32":
    import msvcrt

__all__ = ["Pipes", "claim"]

_CHUNK: Final = 1 << 16


class Pipes:
    """The two ends of the protocol."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink

    def read(self) -> bytes:
        """Returns the bytes that have arrived; none at the end of input, or when input cannot be read."""
        try:
            return os.read(self._source, _CHUNK)
        except OSError:
            return b""

    def close(self) -> None:
        """Lets go of both ends: in a forked child, which has no part in the protocol."""
        for descriptor in (self._source, self._sink):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._source = self._sink = -1

    def write(self, data: bytes) -> None:
        """Writes all of data. Raises OSError when the host reads no more."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._sink, rest) :]


def claim() -> Pipes:
    """Moves the protocol to file descriptors of its own, which no child process inherits."""
    nothing = _fill_standard_descriptors()
    source, sink = os.dup(0), os.dup(1)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    if sys.platform == "win32":
        msvcrt.setmode(source, os.O_BINARY)
        msvcrt.setmode(sink, os.O_BINARY)
    if sys.stdout is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()  # what was printed until now
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - it stays open
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - it stays open
    sys.stdout = sys.stderr
    return Pipes(source, sink)


def _fill_standard_descriptors() -> int:
    """Opens the null device, also in place of a standard stream that came closed, and returns a descriptor of it."""
    while (nothing := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(nothing, True)
    return nothing
