"""The protocol of an extension without any input or output: bytes in, events out; outcomes in, bytes out.

    new --initialize answered--> ready --shutdown answered, or a fault that ends the stream--> closed
     |                             |
     +--refused, or a fault--------+--end of input--> ending: live calls may still be answered --> closed

Every message that needs no tool is answered here: initialize, shutdown, faults, unknown methods and tools.
A connection is not thread safe; its owner holds a lock around each call.
"""

from __future__ import annotations

import dataclasses
import enum
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from octet_extension import _envelope
from octet_extension._dialect import Dialect, Invocation, Refusal, Session, ToolSpec
from octet_extension._envelope import EnvelopeFault, Id, Message
from octet_extension._errors import LocalProtocolError, NotNegotiated
from octet_extension._feature_dialect import notification_message, progress_message
from octet_extension._frames import FrameFault, FrameReader
from octet_extension._generated import feature_wire
from octet_extension._generated._json import JsonSyntaxError, Violation
from octet_extension._results import ToolResult

__all__ = ["Call", "CallEnded", "CallStarted", "Closed", "Connection", "Event", "InputEnded", "Remark", "State"]

_LF: Final = b"\n"
_MAX_REMARK: Final = 1000  # characters; a peer's own words may be part of it


class State(enum.Enum):
    """Where the session stands."""

    NEW = "new"
    READY = "ready"
    ENDING = "ending"
    CLOSED = "closed"


@dataclasses.dataclass(eq=False, slots=True)
class Call:
    """A tool call that has no answer yet. Two calls are the same only if they are one object."""

    id: Id
    tool: ToolSpec
    invocation: Invocation
    session: Session
    sequence: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class CallStarted:
    """A tool has to run."""

    call: Call


@dataclasses.dataclass(frozen=True, slots=True)
class CallEnded:
    """A call was answered for its tool, by a cancellation or the end of the session: the tool may stop."""

    call: Call
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Remark:
    """Something people should read on stderr."""

    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class InputEnded:
    """No further message will come; live calls may still be answered."""


@dataclasses.dataclass(frozen=True, slots=True)
class Closed:
    """The session is over. orderly says whether the host meant it."""

    orderly: bool


Event: TypeAlias = CallStarted | CallEnded | Remark | InputEnded | Closed


class Connection:
    """One session of an extension."""

    def __init__(self, dialect: Dialect, tools: Sequence[ToolSpec], *, concurrency: int | None = None) -> None:
        self.state = State.NEW
        self.session: Session | None = None
        self._dialect = dialect
        self._tools = {tool.name: tool for tool in tools}
        self._concurrency = concurrency
        self._frames = FrameReader(dialect.first_frame_bound, forgiving=not dialect.strict)
        self._bound = dialect.first_frame_bound
        self._live: dict[Id, Call] = {}
        self._events: deque[Event] = deque()
        self._out: list[bytes] = []

    # --- what comes in

    def receive(self, data: bytes) -> None:
        """Takes bytes as they arrived; no bytes mean the end of input."""
        self._frames.feed(data)

    def next_event(self) -> Event | None:
        """Returns the next event, or None when more bytes are needed."""
        while not self._events and self.state is not State.CLOSED:
            try:
                payload = self._frames.next_payload()
            except FrameFault as fault:
                self._close(str(fault))
                break
            if payload is None:
                if self._frames.ended and self.state is not State.ENDING:
                    self.state = State.ENDING
                    self._events.append(InputEnded())
                break
            self._take(payload)
        return self._events.popleft() if self._events else None

    @property
    def live(self) -> int:
        """How many calls have no answer yet."""
        return len(self._live)

    def _take(self, payload: bytes) -> None:
        try:
            value = self._dialect.parse(payload)
        except JsonSyntaxError as fault:
            if self._dialect.strict:
                self._close(f"a frame cannot be read: {fault}")
            else:
                self._remark(f"a line cannot be read: {fault}")
                if self.state is not State.NEW:
                    self._answer_error(None, self._dialect.unreadable())
            return
        try:
            message = self._dialect.classify(value)
        except EnvelopeFault as fault:
            self._faulty(value, fault)
            return
        if message.kind == _envelope.REQUEST and message.id is not None:
            self._request(message.id, message)
        elif message.kind == _envelope.NOTIFICATION:
            self._notification(message)
        else:
            self._response()

    def _faulty(self, value: object, fault: EnvelopeFault) -> None:
        self._remark(f"a message is wrong: {fault.reason}")
        answered, request = self._dialect.answerable(value)
        if not answered or (request is None and self.state is State.NEW):
            return
        self._answer_error(request, self._dialect.bad_request(fault.reason))
        if self.state is State.NEW and self._dialect.strict:
            self._close("the first message was wrong")

    def _response(self) -> None:
        text = "a response came to a request that was never sent"
        if self._dialect.strict:
            self._close(text)
        else:
            self._remark(text)

    def _request(self, request: Id, message: Message) -> None:
        if self.state is State.NEW:
            if message.method == self._dialect.initialize_method:
                self._initialize(request, message.body)
                return
            self._answer_error(request, self._dialect.not_yet(message.method))
            if self._dialect.strict:
                self._close(f"{message.method} came before {self._dialect.initialize_method}")
        elif request in self._live:
            self._answer_error(request, self._dialect.bad_request("a request with this id is still running"))
        elif message.method == self._dialect.call_method:
            self._tool_call(request, message.body)
        elif message.method == self._dialect.shutdown_method:
            self._shutdown(request, message.body)
        elif message.method == self._dialect.initialize_method:
            self._answer_error(request, self._dialect.bad_request(f"{message.method} came a second time"))
            if self._dialect.strict:
                self._close(f"{message.method} came a second time")
        else:
            self._answer_error(request, self._dialect.unknown_method(message.method))

    def _initialize(self, request: Id, params: object) -> None:
        try:
            opening = self._dialect.open(params, tuple(self._tools.values()), concurrency=self._concurrency)
            frame = self._spell(self._dialect.response(request, opening.result))
            bound = min(self._bound, opening.session.frame_bound)
            if len(frame) > bound:
                raise self._dialect.too_large(len(frame), bound)
        except Violation as found:
            self._refuse_start(request, self._dialect.internal(str(found)))
            return
        except Refusal as refusal:
            self._refuse_start(request, refusal)
            return
        self._out.append(frame + _LF)
        self.session = opening.session
        self.state = State.READY
        self._bound = self._frames.bound = opening.session.frame_bound
        for text in opening.remarks:
            self._remark(text)

    def _refuse_start(self, request: Id, refusal: Refusal) -> None:
        self._answer_error(request, refusal)
        self._close(f"{self._dialect.initialize_method} is refused: {refusal.detail}")

    def _tool_call(self, request: Id, params: object) -> None:
        session = self.session
        if session is None:
            raise LocalProtocolError("a call needs a session")
        try:
            invocation = self._dialect.invocation(params)
            tool = self._tools.get(invocation.tool)
            if tool is None:
                raise self._dialect.unknown_tool(invocation.tool)
            if len(self._live) >= session.concurrency:
                raise self._dialect.too_many(session.concurrency)
        except Refusal as refusal:
            self._answer_error(request, refusal)
            return
        call = Call(request, tool, invocation, session)
        self._live[request] = call
        self._events.append(CallStarted(call))

    def _notification(self, message: Message) -> None:
        if message.method != self._dialect.cancel_method or self.state is State.NEW:
            self._remark(f"the notification {message.method[:80]!r} is not served")
            return
        try:
            request, reason = self._dialect.cancellation(message.body)
        except Violation as found:
            self._remark(f"{message.method}: {found}")
            return
        call = self._live.get(request)
        if call is not None:
            self._end_call(call, self._dialect.cancelled(reason), reason or "cancelled")

    def _end_call(self, call: Call, refusal: Refusal, reason: str) -> None:
        if self.fail(call, refusal):
            self._events.append(CallEnded(call, reason))

    def _shutdown(self, request: Id, params: object) -> None:
        try:
            result = self._dialect.shutdown(params)
        except Refusal as refusal:
            self._answer_error(request, refusal)
            return
        self._interrupt(self._dialect.shutdown_method)
        self._send(self._dialect.response(request, result), request)
        self.state = State.CLOSED
        self._events.append(Closed(orderly=True))

    def _interrupt(self, reason: str) -> None:
        for call in list(self._live.values()):
            self._end_call(call, self._dialect.interrupted(reason), reason)

    # --- what goes out

    @property
    def has_output(self) -> bool:
        """Whether bytes wait to be written."""
        return bool(self._out)

    def take_output(self) -> bytes:
        """Returns the bytes that wait to be written, each frame complete."""
        if not self._out:
            return b""
        data = b"".join(self._out)
        self._out.clear()
        return data

    def succeed(self, call: Call, result: ToolResult) -> bool:
        """Answers a call with what its tool returned. Reports whether the call was still open.

        Raises LocalProtocolError for a result that the wire does not carry; the call stays open.
        """
        if self._live.get(call.id) is not call:
            return False
        try:
            value = self._dialect.tool_result(call.tool, result)
            frame = self._spell(self._dialect.response(call.id, value))
        except Violation as found:
            raise LocalProtocolError(f"the result of tool {call.tool.name!r}: {found}") from None
        del self._live[call.id]
        self._queue(frame, call.id)
        return True

    def fail(self, call: Call, refusal: Refusal) -> bool:
        """Answers a call with an error. Reports whether the call was still open."""
        if self._live.get(call.id) is not call:
            return False
        del self._live[call.id]
        self._answer_error(call.id, refusal)
        return True

    def refuse_arguments(self, call: Call, pointer: str, detail: str) -> bool:
        """Answers a call whose arguments do not fit its tool."""
        return self.fail(call, self._dialect.bad_arguments(pointer, detail))

    def fail_internally(self, call: Call, detail: str) -> bool:
        """Answers a call that this side failed to serve."""
        return self.fail(call, self._dialect.internal(detail))

    def refuse_busy(self, call: Call) -> bool:
        """Answers a call that cannot start because cancelled tools are still running."""
        return self.fail(call, self._dialect.too_many(call.session.concurrency))

    def progress(self, call: Call, event: feature_wire.ProgressEvent) -> bool:
        """Reports progress of a call. Reports whether the call was still open; nothing is sent otherwise.

        A host that did not take the feature gets nothing, and that is no fault. Raises NotNegotiated on an API
        version without progress, LocalProtocolError for a bad event.
        """
        if call.session.api not in feature_wire.METHODS[feature_wire.METHOD_PROGRESS].versions:
            raise NotNegotiated(f"API {call.session.api} has no progress: leave it out, or use another API version")
        if self._live.get(call.id) is not call or not call.session.may_progress:
            return False
        try:
            self._notify(progress_message(call.id, call.sequence + 1, event))
        except Violation as found:
            raise LocalProtocolError(f"progress: {found}") from None
        call.sequence += 1
        return True

    def notify(self, level: feature_wire.NotificationLevelValue, title: str | None, message: str) -> bool:
        """Sends a message to the person. Reports whether the session was still open.

        Raises NotNegotiated when the manifest does not declare notifications, or the wire has none.
        """
        if self._dialect.api not in feature_wire.METHODS[feature_wire.METHOD_NOTIFICATION].versions:
            raise NotNegotiated(f"API {self._dialect.api} has no notifications: leave them out, or use another version")
        if self.session is None or not self.session.may_notify:
            raise NotNegotiated("notifications are closed: set contributes.notifications = true in the manifest")
        if self.state is not State.READY:
            return False
        try:
            self._notify(notification_message(level, title, message))
        except Violation as found:
            raise LocalProtocolError(f"notification: {found}") from None
        return True

    def end(self, reason: str) -> None:
        """Ends a session whose input has ended: live calls are answered, nothing else is sent."""
        if self.state is not State.CLOSED:
            self._interrupt(reason)
            self.state = State.CLOSED
            self._events.append(Closed(orderly=True))

    def lose_output(self) -> None:
        """Ends a session whose host reads no more: nothing can be answered."""
        if self.state is not State.CLOSED:
            self._events.extend(CallEnded(call, "output lost") for call in self._live.values())
            self._live.clear()
            self._out.clear()
            self._close("the host reads no more")

    def _spell(self, message: Mapping[str, object]) -> bytes:
        return self._dialect.spell(message)

    def _notify(self, message: Mapping[str, object]) -> None:
        frame = self._spell(message)
        if len(frame) > self._bound:
            raise LocalProtocolError(f"the message has {len(frame)} bytes and a frame at most {self._bound}")
        self._out.append(frame + _LF)

    def _send(self, message: Mapping[str, object], request: Id) -> None:
        self._queue(self._spell(message), request)

    def _queue(self, frame: bytes, request: Id) -> None:
        if len(frame) > self._bound:
            self._answer_error(request, self._dialect.too_large(len(frame), self._bound))
        else:
            self._out.append(frame + _LF)

    def _answer_error(self, request: Id | None, refusal: Refusal) -> None:
        bare = Refusal(refusal.row, refusal.row.message)
        try:
            frame = self._spell(self._dialect.error(request, refusal))
        except Violation:  # a text of the author's tool that no frame can carry
            frame = self._spell(self._dialect.error(request, bare))
        if len(frame) > self._bound:
            frame = self._spell(self._dialect.error(request, bare))
        if len(frame) <= self._bound:
            self._out.append(frame + _LF)
        else:
            self._close(f"no answer fits a frame of {self._bound} bytes")

    def _remark(self, text: str) -> None:
        self._events.append(Remark(text[:_MAX_REMARK]))

    def _close(self, reason: str) -> None:
        """Ends the stream for a fault. Calls still running are told, not answered."""
        self._remark(reason)
        self._events.extend(CallEnded(call, reason) for call in self._live.values())
        self._live.clear()
        self.state = State.CLOSED
        self._events.append(Closed(orderly=False))
