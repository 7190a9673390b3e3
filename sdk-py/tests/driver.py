"""A connection under test: messages in as dicts, answers out as dicts, in one thread and without a clock."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from octet_extension import Extension
from octet_extension._connection import Request
from octet_extension._generated import canonical_wire, feature_wire
from octet_extension._generated._json import encode
from octet_extension._happenings import Closed, Event, Remark, RequestStarted
from octet_extension.testing import TestHost

FEATURE_APIS = feature_wire.VERSIONS
CANCELLING_APIS = ("0.2", "0.3", "0.4")
ALL_APIS = ("0.1", "0.2", "0.3", "0.4")


def extension(api: str, *, concurrency: int | None = None) -> Extension:
    """An extension with one tool of each kind."""
    ext = Extension(api=api, concurrency=concurrency)

    @ext.tool("Returns the text")
    def echo(text: str) -> str:
        return text

    if api != "0.1":

        @ext.tool(
            "Returns the text and its length", output={"type": "object", "properties": {"n": {"type": "integer"}}}
        )
        def measure(text: str) -> dict[str, object]:
            return {"n": len(text)}

    return ext


class Wire:
    """One session, driven by hand."""

    def __init__(self, ext: Extension, **setting: Any) -> None:
        self.api = ext.api
        self.strict = ext.api in canonical_wire.VERSIONS
        self.side = TestHost(ext, **setting).side
        self.connection = ext.connect()
        self.events: list[Event] = []

    # --- in

    def bytes(self, data: bytes) -> list[Any]:
        self.connection.receive(data)
        while (event := self.connection.next_event()) is not None:
            self.events.append(event)
        return self.heard()

    def say(self, message: object) -> list[Any]:
        return self.bytes(encode(message) + b"\n")

    def request(self, request: object, method: str, params: object) -> list[Any]:
        return self.say({"jsonrpc": "2.0", "id": request, "method": method, "params": params})

    def notify(self, method: str, params: object) -> list[Any]:
        return self.say({"jsonrpc": "2.0", "method": method, "params": params})

    def initialize(self, request: object = 0, **changes: object) -> Any:
        (answer,) = self.request(request, "initialize", self.offer(**changes))
        return answer

    def offer(self, **changes: object) -> dict[str, object]:
        return {**self.side.initialize_params(), **changes}

    def call(self, request: object, tool: str = "echo", **arguments: object) -> list[Any]:
        return self.request(request, "tool/call", self.side.call_params(tool, arguments))

    def cancel(self, request: object, **more: object) -> list[Any]:
        return self.notify("$/cancelRequest", {"id": request, **more})

    # --- out

    def heard(self) -> list[Any]:
        data = self.connection.take_output()
        assert not data or data.endswith(b"\n")
        frames = data.split(b"\n")[:-1]
        for frame in frames:
            assert encode(json.loads(frame)) == frame, "every frame is in the canonical spelling"
        return [json.loads(frame) for frame in frames]

    def started(self, request: object) -> Request:
        """The live call of a request."""
        calls = [
            event.request for event in self.events if isinstance(event, RequestStarted) and event.request.id == request
        ]
        return calls[-1]

    @property
    def closed(self) -> Closed | None:
        found = [event for event in self.events if isinstance(event, Closed)]
        assert len(found) <= 1
        return found[0] if found else None

    @property
    def remarks(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Remark)]


def ready(api: str, *, concurrency: int | None = None, **setting: Any) -> Wire:
    """A session behind its initialize."""
    wire = Wire(extension(api, concurrency=concurrency), **setting)
    assert "result" in wire.initialize()
    return wire


def code(answer: Mapping[str, Any]) -> int:
    found = answer["error"]["code"]
    assert isinstance(found, int)
    return found
