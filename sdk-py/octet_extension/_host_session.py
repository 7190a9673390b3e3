"""A host in a test: what it sends, what it waits for, and how it judges what comes back."""

from __future__ import annotations

import abc
import dataclasses
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Self, TypeVar, cast

from octet_extension import _envelope
from octet_extension._connection import State
from octet_extension._envelope import Id, Message
from octet_extension._errors import CallFailed, LocalProtocolError, RemoteProtocolError
from octet_extension._frames import FrameReader
from octet_extension._generated import canonical_wire, feature_wire
from octet_extension._generated._json import Violation
from octet_extension._generated._models import Model
from octet_extension._generated._rows import Method
from octet_extension._generated._shapes import ABSENT
from octet_extension._generated.feature_wire import Notification, ProgressEvent
from octet_extension._host_answers import HostRequest, Sent, ServiceHandler, Services
from octet_extension._host_side import CanonicalHost, FeatureHost, HostSide, Setting

__all__ = ["CallResult", "HostSession", "PendingCall"]

PATIENCE: Final = 10.0
"""Seconds that a wait takes before it gives up."""
_FROM_HOST: Final = "host_to_extension"
_Judged = TypeVar("_Judged", bound=Model)


@dataclasses.dataclass(frozen=True, slots=True)
class CallResult:
    """What a tool call came back with."""

    text: str
    """The text parts, one per line."""
    parts: tuple[str, ...]
    structured: object
    """The structured content, or None."""
    is_error: bool
    metadata: object
    content: tuple[Model, ...]
    """Every part as its model, media included; empty on API 0.1."""
    progress: tuple[ProgressEvent, ...]


class PendingCall:
    """A call that has been sent."""

    def __init__(self, host: HostSession, request: Id) -> None:
        self._host = host
        self.request = request
        self.response: Message | None = None
        self.events: list[ProgressEvent] = []

    @property
    def progress(self) -> tuple[ProgressEvent, ...]:
        """The progress so far."""
        return tuple(self.events)

    def wait_progress(self, count: int = 1, *, timeout: float = PATIENCE) -> tuple[ProgressEvent, ...]:
        """Waits for a number of progress events. Raises TimeoutError."""
        self._host.wait(lambda: len(self.events) >= count, f"{count} progress events", timeout)
        return self.progress

    def cancel(self, reason: str | None = None) -> None:
        """Sends a cancellation; it does not wait."""
        self._host.cancel(self.request, reason)

    def result(self, *, timeout: float = PATIENCE) -> CallResult:
        """Waits for the answer. Raises CallFailed for an error answer, TimeoutError for none."""
        response = self._host.wait_response(self, timeout)
        if response.kind == _envelope.ERROR:
            raise self._host.failure(response)
        answer = self._host.side.answer(response.body)
        text = "\n".join(answer.parts)
        return CallResult(
            text, answer.parts, answer.structured, answer.is_error, answer.metadata, answer.content, self.progress
        )

    def value(self, *, timeout: float = PATIENCE) -> object:
        """Waits for the answer and returns it as JSON. Raises CallFailed for an error answer."""
        response = self._host.wait_response(self, timeout)
        if response.kind == _envelope.ERROR:
            raise self._host.failure(response)
        return response.body


class HostSession(abc.ABC):
    """The host side of one session. Leaving its with block shuts the extension down and waits for its end."""

    def __init__(self, setting: Setting, services: Mapping[str, ServiceHandler]) -> None:
        self.side: HostSide = CanonicalHost(setting) if setting.api in canonical_wire.VERSIONS else FeatureHost(setting)
        self.notifications: list[Notification] = []
        """What the extension showed to the person."""
        self.sent: list[Sent] = []
        """Every request and notification of the extension's own, progress and notifications for people included."""
        self.requests: list[HostRequest] = []
        """Every request among them, in order."""
        self._services = Services(services)
        self._services.catalog = [str(name) for name in _names(setting.contributes.get("tools"))]
        self.transcript: list[tuple[str, bytes]] = []
        """Every payload, with "host" or "extension" for who wrote it."""
        self.orderly: bool | None = None
        """Whether the session ended as it should; None while it runs."""
        self._frames = FrameReader(self.side.bound, forgiving=self.side.forgiving)
        self._changed = threading.Condition(threading.RLock())
        self._pending: dict[Id, PendingCall] = {}
        self._fault: RemoteProtocolError | None = None
        self._next_id = 0
        self._installing: Id | None = None
        self._state = State.NEW
        self._opened = False

    # --- the way to the extension

    @abc.abstractmethod
    def _launch(self) -> None:
        """Starts the extension."""

    @abc.abstractmethod
    def send_bytes(self, data: bytes) -> None:
        """Sends bytes as they are."""

    @abc.abstractmethod
    def end_input(self) -> None:
        """Ends the input of the extension."""

    @abc.abstractmethod
    def _join(self) -> None:
        """Waits for the extension to be gone and lets go of everything that belongs to it."""

    # --- use

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__(BaseException, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        try:
            self.close()
        except RemoteProtocolError:
            if kind is None:
                raise

    def launch(self) -> None:
        """Starts the extension and says nothing to it. A second launch does nothing."""
        if self._state is State.NEW:
            self._state = State.READY
            self._launch()

    def start(self) -> None:
        """Starts the extension and negotiates. Raises CallFailed when it refuses. A second start does nothing."""
        if self._opened:
            return
        self._opened = True
        self.launch()
        with self._changed:
            self._installing = self._next_id + 1
        opening = self._request(self.side.initialize_method, self.side.initialize_params())
        response = self.wait_response(opening, PATIENCE)
        if response.kind == _envelope.ERROR:
            raise self.failure(response)

    def call(self, tool: str, /, **arguments: object) -> CallResult:
        """Calls a tool and waits for its result. Raises CallFailed for an error answer."""
        return self.begin(tool, **arguments).result()

    def begin(self, tool: str, /, **arguments: object) -> PendingCall:
        """Calls a tool without waiting."""
        self.start()
        return self._request(self.side.call_method, self.side.call_params(tool, arguments))

    def cancel(self, request: Id, reason: str | None = None) -> None:
        """Sends a cancellation for a request."""
        message = self.side.notification(self.side.cancel_method, self.side.cancel_params(request, reason))
        self.send(self.side.spell(message))

    def close(self) -> None:
        """Shuts the extension down and waits for its end. Raises RemoteProtocolError for what it did wrong.

        A second close does nothing but raise the same again.
        """
        if self._state is State.READY:
            self._state = State.CLOSED
            try:
                if self.orderly is None:
                    ending = self._request(self.side.shutdown_method, {})
                    if self._fault is None:
                        self.wait_response(ending, PATIENCE)
            finally:
                self.end_input()
                self._join()
        if self._fault is not None:
            raise self._fault

    # --- services

    def serve(self, service: str, handler: ServiceHandler) -> None:
        """Answers the requests of a service, "composer.get", from now on."""
        self._services.handlers[service] = handler

    def hold(self, service: str) -> None:
        """Leaves the requests of a service to the test, which gets them from wait_request."""
        self._services.held.add(service)

    def wait_request(self, service: str, count: int = 1, *, timeout: float = PATIENCE) -> HostRequest:
        """Waits for a number of requests of a service and returns the last of them. Raises TimeoutError."""

        def found() -> list[HostRequest]:
            return [request for request in self.requests if request.service == service]

        self.wait(lambda: len(found()) >= count, f"a request for {service}", timeout)
        return found()[count - 1]

    def wait_sent(self, service: str, count: int = 1, *, timeout: float = PATIENCE) -> Sent:
        """Waits for a number of messages of a service and returns the last of them. Raises TimeoutError."""

        def found() -> list[Sent]:
            return [sent for sent in self.sent if sent.service == service]

        self.wait(lambda: len(found()) >= count, f"a message for {service}", timeout)
        return found()[count - 1]

    # --- what a host asks besides tools

    def ask(self, method: str, params: Mapping[str, object]) -> object:
        """Sends any request, waits, judges the result and returns it as JSON. Raises CallFailed for an error."""
        self.start()
        result = self._request(method, params).value()
        return self.side.judged(self.side.dialect.methods[method], result)

    def command(self, name: str, *arguments: str) -> dict[str, object]:
        """Runs a command and returns its result."""
        params = {"name": name, "arguments": list(arguments), "context": self.side.context()}
        return cast("dict[str, object]", self.ask(self._method(self.side.dialect.command_method), params))

    def hook(self, name: str, payload: Mapping[str, object] | Model) -> dict[str, object]:
        """Runs a hook and returns its result."""
        members = payload.to_json() if isinstance(payload, Model) else payload
        params = self.side.hook_params(name, members)
        return cast("dict[str, object]", self.ask(self.side.dialect.hook_method, params))

    def collect_context(self, prompt: str | None = None) -> list[object]:
        """Asks for contributions to a prompt."""
        params = {"prompt": prompt, "context": self.side.context()}
        return cast("list[object]", self.ask(self._collector("context"), params))

    def collect_status(self, surface: str = "status") -> dict[str, object] | None:
        """Asks for the text of a surface."""
        params = {"surface": surface, "context": self.side.context()}
        return cast("dict[str, object] | None", self.ask(self._collector("status"), params))

    def collect_menu(self) -> dict[str, object]:
        """Asks for the menu."""
        params = {"context": self.side.context()}
        return cast("dict[str, object]", self.ask(self._collector("menu"), params))

    def render(
        self, tool: str, arguments: Mapping[str, object], output: str, *, is_error: bool = False
    ) -> list[object]:
        """Asks how to show what a tool did, and returns the segments."""
        params = {
            "name": tool,
            "arguments": dict(arguments),
            "output": output,
            "is_error": is_error,
            "context": self.side.context(),
        }
        result = cast("dict[str, object]", self.ask(self._collector("renderer"), params))
        return cast("list[object]", result["segments"])

    def complete(self, text: str, cursor: int | None = None, revision: int = 1) -> dict[str, object]:
        """Asks for completions at a cursor, which stands at the end unless told; it counts UTF-8 bytes."""
        at = len(text.encode("utf-8")) if cursor is None else cursor
        params = {"text": text, "cursor": at, "revision": revision}
        return cast("dict[str, object]", self.ask(self._collector("autocomplete"), params))

    def emit(self, event: str, params: Mapping[str, object] | Model) -> None:
        """Tells the extension something, "turn_started"; it does not wait."""
        self.start()
        row = self.side.dialect.service(f"events.{event}")
        if row is None:
            raise LocalProtocolError(f"API {self.side.setting.api} has no event {event!r}")
        members = params.to_json() if isinstance(params, Model) else params
        self.send(self.side.spell(self.side.notification(row.name, members)))

    def _collector(self, what: str) -> str:
        return self._method(self.side.dialect.collectors.get(what))

    def _method(self, method: str | None) -> str:
        if method is None or not self.side.dialect.has(method):
            raise LocalProtocolError(f"API {self.side.setting.api} has no such request")
        return method

    # --- the raw wire, for tests of the wire itself

    def request(self, method: str, params: Mapping[str, object]) -> PendingCall:
        """Sends any request."""
        return self._request(method, params)

    def send(self, payload: bytes) -> None:
        """Sends a payload, a line feed behind it."""
        self.transcript.append(("host", payload))
        self.send_bytes(payload + b"\n")

    def wait_end(self, *, timeout: float = PATIENCE) -> bool:
        """Waits for the session to end by itself. Reports whether it ended as it should. Raises TimeoutError."""
        self.wait(lambda: self.orderly is not None, "the end of the session", timeout)
        return self.orderly is True

    def wait(self, reached: Callable[[], bool], what: str, timeout: float) -> None:
        """Waits until a condition holds. Raises TimeoutError, or the fault that the extension committed."""
        with self._changed:
            self._changed.wait_for(lambda: reached() or self._fault is not None, timeout)
            if reached():
                return
            if self._fault is not None:
                raise self._fault
        raise TimeoutError(f"{what} did not come within {timeout} s")

    def wait_response(self, pending: PendingCall, timeout: float) -> Message:
        """Waits for the answer to a request. Raises RemoteProtocolError when the session ends without one."""
        self.wait(lambda: pending.response is not None or self.orderly is not None, "an answer", timeout)
        if pending.response is None:
            raise RemoteProtocolError("the session ended without an answer")
        return pending.response

    def failure(self, response: Message) -> CallFailed:
        """Returns the exception for an error answer."""
        error = feature_wire.ErrorObject.from_json(response.body)
        data = None if error.data is ABSENT else error.data
        return CallFailed(self.side.error_name(error.code), error.code, error.message, data)

    # --- inside

    def ended(self, *, orderly: bool) -> None:
        """Takes the end of the extension. For the way to it."""
        with self._changed:
            self.orderly = orderly
            self._changed.notify_all()

    def _request(self, method: str, params: Mapping[str, object]) -> PendingCall:
        with self._changed:
            self._next_id += 1
            pending = PendingCall(self, self._next_id)
            self._pending[pending.request] = pending
        try:
            self.send(self.side.spell(self.side.request(pending.request, method, params)))
        except Violation as found:
            raise LocalProtocolError(f"the request cannot be sent: {found}") from None
        return pending

    def arrived(self, data: bytes) -> None:
        """Judges what the extension wrote. For the way to it."""
        with self._changed:
            try:
                self._frames.feed(data)
                while self._fault is None and (payload := self._frames.next_payload()) is not None:
                    self.transcript.append(("extension", payload))
                    self._message(self.side.read(payload))
            except RemoteProtocolError as fault:
                self._fault = fault
            self._changed.notify_all()

    def _message(self, message: Message) -> None:
        if message.kind in {_envelope.RESULT, _envelope.ERROR}:
            pending = self._pending.pop(message.id, None) if message.id is not None else None
            if pending is None:
                raise RemoteProtocolError(f"an answer came to {message.id!r}, which is not open")
            if message.kind == _envelope.RESULT and message.id == self._installing:
                self.side.install(message.body)  # before what the extension sends right behind it
                self._frames.bound = self.side.bound
            pending.response = message
            return
        row = self.side.dialect.methods.get(message.method)
        if row is None or not self.side.dialect.has(row.name) or row.direction == _FROM_HOST:
            raise RemoteProtocolError(f"the extension sent {message.method!r}, which is no message of an extension")
        if message.method == self.side.cancel_method:
            self._take_cancel(message)
            return
        self.side.check_gate(row)
        params = self._judged(self.side.dialect.params_model(row), message)
        body = cast("dict[str, object]", message.body)
        self.sent.append(Sent(row.service or row.name, row.name, body))
        if isinstance(params, feature_wire.ProgressParams):
            self._take_progress(params)
        elif isinstance(params, feature_wire.Notification):
            self.notifications.append(params)
        elif message.id is not None:
            self._take_request(message.id, row, body)

    def _take_request(self, request: Id, row: Method, params: Mapping[str, object]) -> None:
        if any(other.id == request for other in self.requests):
            raise RemoteProtocolError(f"the extension used the id {request!r} twice")
        found = HostRequest(self, request, row, params)
        self.requests.append(found)
        self._services.answer(found, row, self.side)

    def _take_cancel(self, message: Message) -> None:
        name, reason = self.side.dialect.cancellation(message.body)
        found = next((request for request in self.requests if request.id == name), None)
        if found is None:
            raise RemoteProtocolError(f"the extension cancelled {name!r}, which it never asked")
        if found.cancelled is not None:
            raise RemoteProtocolError(f"the extension cancelled {name!r} twice")
        found.cancelled = reason or ""

    def _take_progress(self, params: feature_wire.ProgressParams) -> None:
        pending = self._pending.get(params.request_id)
        if pending is None:
            raise RemoteProtocolError(f"progress came for {params.request_id!r}, which is not open")
        if params.sequence != len(pending.events) + 1:
            raise RemoteProtocolError(f"progress came with sequence {params.sequence}, not {len(pending.events) + 1}")
        pending.events.append(params.event)

    def _judged(self, model: type[_Judged], message: Message) -> _Judged:
        try:
            return model.from_json(message.body)
        except Violation as found:
            raise RemoteProtocolError(f"the parameters of {message.method}: {found}") from None


def _names(listed: object) -> tuple[object, ...]:
    return tuple(listed) if isinstance(listed, (list, tuple)) else ()
