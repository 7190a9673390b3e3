"""What the caller needs to know of each subject: how it starts, what opens it, how a call is spelled.

The caller is one program for every subject of every language: bench/caller, written in Go, with frames that are ready
before the clock runs. A client of a subject's own library would put its own cost on top, a different one each time; and
who calls an extension of ours is a host in Go anyway.
"""

import json
import sys
from pathlib import Path
from typing import Final

from octet_extension import CURRENT_API
from octet_extension._generated import canonical_wire
from octet_extension._generated._json import encode
from octet_extension._host_side import CanonicalHost, FeatureHost, HostSide, Setting

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent.parent
ID: Final = "%ID%"
TEXT: Final = "%TEXT%"
CANONICAL: Final = canonical_wire.VERSIONS[0]

Plan = dict[str, object]

# The caller puts a bare number in place of the word, so its quotes go.
_QUOTED_ID: Final = f'"{ID}"'


def _server(name: str, *arguments: str) -> list[str]:
    return [sys.executable, str(HERE / name), *arguments]


def _compact(message: object) -> str:
    return json.dumps(message, separators=(",", ":"))


def _octet(api: str) -> Plan:
    setting = Setting(
        api=api,
        contributes={"tools": ["echo"]},
        features=(),
        flags={},
        workspace="/work",
        concurrency=64,
        max_frame_bytes=canonical_wire.MAX_FRAME_BYTES,
    )
    host: HostSide = CanonicalHost(setting) if api == CANONICAL else FeatureHost(setting)
    initialize = host.request(0, host.initialize_method, host.initialize_params())
    call = host.request(ID, host.call_method, host.call_params("echo", {"text": TEXT}))
    return {
        "command": _server("octet_server.py", api),
        "framing": "lines",
        "opening": [{"send": encode(initialize).decode(), "answered": True}],
        "call": encode(call).decode().replace(_QUOTED_ID, ID),
    }


def _mcp(server: str) -> Plan:
    from mcp_types.version import LATEST_HANDSHAKE_VERSION  # noqa: PLC0415 - the one subject that needs it

    client = {"name": "bench", "version": "1"}
    hello = {"protocolVersion": LATEST_HANDSHAKE_VERSION, "capabilities": {}, "clientInfo": client}
    call = {"name": "echo", "arguments": {"text": TEXT}}
    return {
        "command": _server(server),
        "framing": "lines",
        "opening": [
            {"send": _request("initialize", hello, 0), "answered": True},
            {"send": _compact({"jsonrpc": "2.0", "method": "notifications/initialized"})},
        ],
        "call": _request("tools/call", call, ID),
    }


def _pygls() -> Plan:
    call = _request("bench/echo", {"text": TEXT}, ID)
    return {"command": _server("pygls_server.py"), "framing": "headers", "call": call}


def _echo() -> Plan:
    return {"command": _server("echo.py"), "framing": "lines", "call": _request("echo", {"text": TEXT}, ID)}


def _request(method: str, params: object, request: object) -> str:
    message = {"jsonrpc": "2.0", "id": request, "method": method, "params": params}
    return _compact(message).replace(_QUOTED_ID, ID)


SUBJECTS: Final = {
    "octet-extension": lambda: _octet(CURRENT_API),
    f"octet-extension, API {CANONICAL}": lambda: _octet(CANONICAL),
    "mcp": lambda: _mcp("mcp_server.py"),
    "mcp, low level": lambda: _mcp("mcp_lowlevel_server.py"),
    "pygls": _pygls,
    "bare echo": _echo,
}
"""How a call is measured, ours first."""

IMPORTS: Final = {
    "octet-extension": "import octet_extension",
    "mcp": "import mcp.server",
    "pygls": "import pygls.server",
    "Python alone": "",
}
"""What a program of a few lines imports, ours first."""


def call_plan(subject: str) -> Plan:
    """Returns how calls of a subject are measured."""
    return {"environment": [f"PYTHONPATH={ROOT / 'sdk-py'}"], **SUBJECTS[subject]()}


def import_plan(subject: str) -> Plan:
    """Returns how the import of a subject is measured: a program that imports it and ends."""
    command = [sys.executable, "-c", IMPORTS[subject]]
    return {"case": "import", "command": command, "framing": "lines", "environment": [f"PYTHONPATH={ROOT / 'sdk-py'}"]}
