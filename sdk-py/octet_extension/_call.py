"""What a tool sees of the call that it serves."""

from __future__ import annotations

import base64
import re
import threading
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from octet_extension._connection import Call as LiveCall
from octet_extension._connection import Connection
from octet_extension._errors import CallCancelled, LocalProtocolError
from octet_extension._generated._shapes import ABSENT
from octet_extension._generated.feature_wire import (
    MAX_PROGRESS_OUTPUT_BYTES,
    NotificationLevel,
    NotificationLevelValue,
    OutputEncoding,
    OutputEncodingValue,
    OutputStream,
    OutputStreamValue,
    ProgressEvent,
    ProgressOutput,
    ProgressStatus,
)

__all__ = ["Call"]

_Send: TypeAlias = Callable[[Callable[[Connection], bool]], bool]
# Terminal escape sequences, and control characters but tab and line feed.
_CONTROL: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\-_]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Call:
    """One call of a tool. Its methods may be used from any thread, and do nothing once it is answered."""

    def __init__(self, live: LiveCall, send: _Send) -> None:
        self._live = live
        self._send = send
        self._cancelled = threading.Event()
        self._reason = ""
        self._on_cancel: Callable[[], object] | None = None

    @property
    def tool(self) -> str:
        """The name the tool was called by."""
        return self._live.tool.name

    @property
    def context(self) -> Mapping[str, object]:
        """Where the call runs, as the host sent it; empty if that was no object."""
        return self._live.invocation.context

    @property
    def workspace(self) -> str:
        """The root of the workspace."""
        found = self.context.get("workspace")
        return found if isinstance(found, str) else self._live.session.workspace

    @property
    def flags(self) -> Mapping[str, object]:
        """The command-line flags of the extension with their values, defaults included."""
        return self._live.session.flags

    @property
    def api(self) -> str:
        """The API version of the session."""
        return self._live.session.api

    @property
    def features(self) -> frozenset[str]:
        """What was negotiated: features, or on API 0.3 capabilities."""
        return self._live.session.features

    def progress(
        self, message: str, *, current: int | None = None, total: int | None = None, unit: str | None = None
    ) -> None:
        """Says how far the call is: done units, units in all, and what a unit is.

        A host that shows no progress gets none. Raises NotNegotiated on API 0.1 and 0.3, which have no progress.
        """
        self._report(
            ProgressStatus(
                message=message,
                current=ABSENT if current is None else current,
                total=ABSENT if total is None else total,
                unit=ABSENT if unit is None else unit,
            )
        )

    def output(self, data: str | bytes, *, stream: OutputStreamValue = OutputStream.STDOUT) -> None:
        """Passes on output of the work as it appears, in chunks that the host can show.

        Bytes travel as base64. Raises NotNegotiated like progress.
        """
        encoding: OutputEncodingValue = OutputEncoding.UTF8 if isinstance(data, str) else OutputEncoding.BASE64
        for chunk in _chunks(data):
            self._report(ProgressOutput(stream=stream, encoding=encoding, data=chunk))

    def _report(self, event: ProgressEvent) -> None:
        self._send(lambda connection: connection.progress(self._live, event))

    def notify(
        self, message: str, *, level: NotificationLevelValue = NotificationLevel.INFO, title: str | None = None
    ) -> None:
        """Shows a message to the person, as plain text: control characters are taken out.

        Raises NotNegotiated when the manifest does not declare notifications, and on API 0.3, which has none.
        """
        heading = None if title is None else _CONTROL.sub("", title)
        text = _CONTROL.sub("", message)
        self._send(lambda connection: connection.notify(level, heading, text))

    @property
    def cancelled(self) -> bool:
        """Whether the call has been answered without its tool: cancelled, or ended with the session."""
        return self._cancelled.is_set()

    @property
    def cancel_reason(self) -> str:
        """Why the call was cancelled; empty if it was not."""
        return self._reason

    def raise_if_cancelled(self) -> None:
        """Raises CallCancelled when the call was cancelled."""
        if self._cancelled.is_set():
            raise CallCancelled(self._reason)

    def wait_cancelled(self, timeout: float | None = None) -> bool:
        """Waits until the call is cancelled, at most timeout seconds. Reports whether it was.

        This is how a tool pauses. It blocks, so a coroutine awaits asyncio.sleep instead, which a cancellation
        interrupts.
        """
        return self._cancelled.wait(timeout)

    def end(self, reason: str) -> None:
        """Tells the tool that its call has been answered. For the runtime."""
        self._reason = reason
        self._cancelled.set()
        hook = self._on_cancel
        if hook is not None:
            hook()

    def when_ended(self, hook: Callable[[], object]) -> None:
        """Has a function called when the call is cancelled, at once if it is already. For the runtime."""
        if self._on_cancel is not None:
            raise LocalProtocolError("a call has one hook")
        self._on_cancel = hook
        if self._cancelled.is_set():
            hook()


def _chunks(data: str | bytes) -> list[str]:
    """Cuts output so that each chunk holds at most the bytes that a host shows, characters kept whole."""
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
    chunks: list[str] = []
    start = 0
    while start < len(raw):
        end = min(start + MAX_PROGRESS_OUTPUT_BYTES, len(raw))
        if isinstance(data, str):
            while end < len(raw) and raw[end] & 0xC0 == 0x80:
                end -= 1
            chunks.append(raw[start:end].decode("utf-8"))
        else:
            chunks.append(base64.b64encode(raw[start:end]).decode("ascii"))
        start = end
    return chunks
