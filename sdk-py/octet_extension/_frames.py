"""Lines in, payloads out: a reader that holds no more than its bound, for both wires.

The canonical wire ends at the first fault of a line. The feature wire forgives a carriage return and a
blank line; it ends only at a line over the bound.
"""

from __future__ import annotations

from octet_extension._errors import RemoteProtocolError

__all__ = ["FrameFault", "FrameReader"]

_LF = 0x0A
_CR = 0x0D
_BLANK = b" \t\r"


class FrameFault(RemoteProtocolError):
    """The bytes are not frames. The stream cannot be read on."""


class FrameReader:
    """Cuts a stream of bytes into payloads, line feeds taken off.

    bound is the largest payload in bytes and may be changed between two frames; it holds at once, also for
    bytes that have arrived already. The reader keeps at most bound + 1 bytes beyond what was fed last.
    """

    __slots__ = ("_buffer", "_ended", "_forgiving", "_searched", "bound")

    def __init__(self, bound: int, *, forgiving: bool) -> None:
        self.bound = bound
        self._forgiving = forgiving
        self._buffer = bytearray()
        self._searched = 0
        self._ended = False

    def feed(self, data: bytes) -> None:
        """Adds bytes as they arrived; no bytes mean the end of the stream."""
        if data:
            self._buffer += data
        else:
            self._ended = True

    @property
    def ended(self) -> bool:
        """Whether the stream has ended and every frame of it was taken."""
        return self._ended and not self._buffer

    def next_payload(self) -> bytes | None:
        """Returns the next payload, or None when more bytes are needed. Raises FrameFault."""
        while True:
            end = self._buffer.find(_LF, self._searched)
            if end < 0:
                self._judge_rest()
                self._searched = len(self._buffer)
                return None
            if end > self.bound:
                raise self._over_bound()
            with memoryview(self._buffer) as whole:
                payload = bytes(whole[:end])
            del self._buffer[: end + 1]
            self._searched = 0
            if self._forgiving:
                if not payload.strip(_BLANK):
                    continue
                return payload
            if not payload:
                raise FrameFault("a line is empty: send one value a line")
            if payload[-1] == _CR:
                raise FrameFault("a line ends in a carriage return: end it with a line feed alone")
            return payload

    def _judge_rest(self) -> None:
        if len(self._buffer) > self.bound:
            raise self._over_bound()
        if self._ended and self._buffer:
            blank = self._forgiving and not self._buffer.strip(_BLANK)
            self._buffer.clear()
            if blank:
                return
            raise FrameFault("the stream ends inside a line: end every frame with a line feed")

    def _over_bound(self) -> FrameFault:
        self._buffer.clear()
        return FrameFault(f"a line has more than {self.bound} bytes")
