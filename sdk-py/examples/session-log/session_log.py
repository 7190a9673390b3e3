#!/usr/bin/env python3
"""Session hooks on API 0.3: keeps a log of the sessions that this process was bound to."""

import threading

from octet_extension import Extension
from octet_extension.api_v03 import SessionEnd, SessionStart

ext = Extension(api="0.3")

lock = threading.Lock()
log: list[str] = []


@ext.hooks.session_start
def started(payload: SessionStart) -> None:
    """Notes a start. The host goes on whatever is returned, and waits only a moment."""
    with lock:
        log.append(f"{payload.binding.session_id} started")


@ext.hooks.session_end
def ended(payload: SessionEnd) -> None:
    """Notes an end, with how the work ended and why the binding did."""
    with lock:
        log.append(f"{payload.binding.session_id} {payload.outcome} after {payload.duration_ms} ms: {payload.reason}")


@ext.tool("Returns the sessions of this process, the oldest first.")
def sessions() -> str:
    """Shows the log."""
    with lock:
        return "\n".join(log) or "no session yet"


if __name__ == "__main__":
    ext.run()
