"""A model that an extension provides: a generator of events is accepted, numbered and sent.

    @ext.provider_stream
    def infer(request: ProviderStreamRequest) -> Iterator[tuple[str, object]]:
        yield "started", {}
        yield "text_delta", {"text": "hello"}
        yield "finished", {}

What runs until the first event decides: ToolError refuses the stream with its text.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from octet_extension._courier import describe
from octet_extension._errors import CallCancelled, LocalProtocolError, ToolError
from octet_extension._generated._models import Model
from octet_extension._generated.canonical_wire import MAX_PROVIDER_STREAM_EVENTS, ProviderStreamEventKind
from octet_extension._scope import Scope, current
from octet_extension._signature import CONTEXT, MODEL, SCOPE, Plan

__all__ = ["Streams"]

_LAST: Final = frozenset({ProviderStreamEventKind.FINISHED, ProviderStreamEventKind.ERROR})


class Streams:
    """The streams of one extension."""

    def __init__(self, function: Callable[..., object], plan: Plan, log: Callable[[str], None]) -> None:
        self._function = function
        self._plan = plan
        self._log = log
        self._lock = threading.Lock()
        self._open: dict[str, Scope] = {}

    def serve(self, scope: Scope, members: Mapping[str, object], model: Model) -> object:
        """Answers a request for a stream, and sends its events once the answer is out."""
        name = str(members["stream_id"])
        given = {SCOPE: scope, MODEL: model, CONTEXT: {}}
        events = self._function(*(given.get(what, members) for what in self._plan))
        if not isinstance(events, Iterator):
            raise LocalProtocolError("the function that provides a stream is a generator: yield kind and payload")
        try:
            first = next(events, None)
        except ToolError as fault:
            return {"stream_id": name, "accepted": False, "reason": str(fault)}
        with self._lock:
            self._open[name] = scope
        scope.after(lambda settled: self._pump(settled, name, first, events))
        return {"stream_id": name, "accepted": True}

    def cancel(self, members: Mapping[str, object]) -> None:
        """Takes the host's cancellation of a stream."""
        with self._lock:
            scope = self._open.get(str(members.get("stream_id")))
        if scope is not None:
            scope.cancellation.end(str(members.get("reason", "cancelled")))

    def _pump(self, scope: Scope, name: str, first: object, events: Iterator[object]) -> None:
        mark = current.set(scope)
        try:
            self._send_all(scope, name, first, events)
        finally:
            current.reset(mark)
            close = getattr(events, "close", None)
            if close is not None:
                close()
            with self._lock:
                self._open.pop(name, None)

    def _send_all(self, scope: Scope, name: str, first: object, events: Iterator[object]) -> None:
        sequence = 0
        event = first
        while event is not None and sequence < MAX_PROVIDER_STREAM_EVENTS - 1:
            kind, payload = _parts(event)
            _send(scope, name, sequence, kind, payload)
            sequence += 1
            if kind in _LAST:
                return
            try:
                event = next(events, None)
            except CallCancelled:
                return
            except Exception as fault:  # noqa: BLE001 - the generator is code of the author
                self._log(describe(fault))
                _send(scope, name, sequence, ProviderStreamEventKind.ERROR, {"message": "the provider failed"})
                return
            if scope.cancelled:
                return
        _send(scope, name, sequence, ProviderStreamEventKind.ERROR, {"message": "the stream ended too early"})


def _send(scope: Scope, name: str, sequence: int, kind: str, payload: object) -> None:
    members = {"stream_id": name, "sequence": sequence, "kind": kind, "payload": payload}
    scope.link.tell(scope, "provider_stream.event", members)


def _parts(event: object) -> tuple[str, object]:
    if isinstance(event, str):
        return event, {}
    if isinstance(event, tuple) and len(event) == 2 and isinstance(event[0], str):
        return event[0], event[1]
    raise LocalProtocolError("an event of a stream is its kind, or kind and payload")
