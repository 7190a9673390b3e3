"""The example in memory and as a process."""

from pathlib import Path

import session_log
from session_log import ext

from octet_extension.testing import ProcessHost, TestHost

BINDING = {"session_id": "s-1", "extension_instance_id": "i-1", "process_generation": 1}
GO_ON = {"disposition": {"kind": "continue"}}


def test_sessions_are_logged() -> None:
    session_log.log.clear()
    with TestHost(ext) as host:
        assert host.call("sessions").text == "no session yet"
        assert host.hook("session_start", {"binding": BINDING}) == GO_ON
        ended = {"binding": BINDING, "outcome": "completed", "reason": "reload", "duration_ms": 7}
        assert host.hook("session_end", ended) == GO_ON
        assert host.call("sessions").text == "s-1 started\ns-1 completed after 7 ms: reload"


def test_as_a_process() -> None:
    with ProcessHost(Path(__file__).parent) as host:
        assert host.hook("session_start", {"binding": BINDING}) == GO_ON
        assert host.call("sessions").text == "s-1 started"
    assert host.status == 0
