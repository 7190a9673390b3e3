"""The protocol of an extension without any input or output: bytes in, events out; outcomes in, bytes out.

    new --initialize--> opening --shortcuts answered--> ready --shutdown answered, or a fault--> closed
     |                     |                              |
     +--refused, or fault--+------------------------------+--end of input--> ending: live requests --> closed
                                                                             may still be answered

Every message that needs no handler is answered here: initialize, shutdown, faults, unknown methods and tools.
A connection is not thread safe; its owner holds a lock around each call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final, cast

from octet_extension import _children, _envelope
from octet_extension._agreement import Agreement, Opening, Refusal, Wishes
from octet_extension._catalogs import Catalogs
from octet_extension._children import Child, Children
from octet_extension._dialect import Dialect
from octet_extension._endpoints import Endpoints
from octet_extension._envelope import EnvelopeFault, Id, Message
from octet_extension._errors import CallCancelled, LocalProtocolError
from octet_extension._frames import FrameFault, FrameReader
from octet_extension._generated._json import JsonSyntaxError, Violation
from octet_extension._generated._rows import Method
from octet_extension._happenings import (
    Closed,
    Event,
    InputEnded,
    Leaving,
    Noticed,
    Opened,
    Remark,
    Request,
    RequestEnded,
    RequestStarted,
    State,
)
from octet_extension._results import NoJson, OverBound, ToolResult

__all__ = ["Connection", "Request", "State"]

_LF: Final = b"\n"
_MAX_REASON: Final = 1000  # bytes of a cancellation's reason, far below every bound
_MAX_REMARK: Final = 1000  # characters; a peer's own words may be part of it


class Connection:
    """One session of an extension."""

    def __init__(self, dialect: Dialect, wishes: Wishes, endpoints: Endpoints | None = None) -> None:
        self.state = State.NEW
        self.agreement: Agreement | None = None
        self.dialect = dialect
        self.catalogs = Catalogs(wishes.tools, kept=dialect.kept_catalogs)
        self.shortcuts: set[str] = set()
        """Ids of the shortcuts that the host admitted."""
        self.says_goodbye = False
        """Whether shutdown is answered when leave is called, and not at once."""
        self._wishes = wishes
        self._endpoints = endpoints or {}
        self._children = Children(dialect.max_children, dialect.max_child_ids)
        self.bus = dialect.bus()
        """The event bus, None where the wire has none."""
        self._opening: tuple[Id, Opening, dict[Child, str]] | None = None
        self._frames = FrameReader(dialect.first_frame_bound, forgiving=not dialect.strict)
        self._bound = dialect.first_frame_bound
        self._live: dict[Id, Request] = {}
        self._farewell: tuple[Id, dict[str, object]] | None = None
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
        """How many requests have no answer yet."""
        return len(self._live)

    def _take(self, payload: bytes) -> None:
        try:
            value = self.dialect.parse(payload)
        except JsonSyntaxError as fault:
            if self.dialect.strict:
                self._close(f"a frame cannot be read: {fault}")
            else:
                self._remark(f"a line cannot be read: {fault}")
                self._unreadable(payload, str(fault))
            return
        try:
            message = self.dialect.classify(value)
        except EnvelopeFault as fault:
            self._faulty(value, fault)
            return
        if message.kind == _envelope.REQUEST and message.id is not None:
            self._request(message.id, message)
        elif message.kind == _envelope.NOTIFICATION:
            self._notification(message)
        else:
            self._response(message)

    def _unreadable(self, payload: bytes, reason: str) -> None:
        """Answers a line that is no strict JSON, under its own id where that can be read."""
        found = self.dialect.salvage(payload)
        try:
            message = None if found is None else self.dialect.classify(found[0])
        except EnvelopeFault:
            message = None
        if found is None or message is None:
            if self.state is not State.NEW:
                self._answer_error(None, self.dialect.unreadable())
        elif message.kind == _envelope.REQUEST and message.id is not None:
            refusal = self.dialect.bad_params(found[1], reason)
            if self.state is State.NEW and message.method == self.dialect.initialize_method:
                self._refuse_start(message.id, refusal)
            else:
                self._answer_error(message.id, refusal)
        elif message.kind != _envelope.NOTIFICATION:
            child = self._children.waiting(message.id)
            if child is not None:
                self._settle_child(child, _children.FAILED, None)

    def _faulty(self, value: object, fault: EnvelopeFault) -> None:
        self._remark(f"a message is wrong: {fault.reason}")
        if isinstance(value, dict) and "method" not in value:
            child = self._children.waiting(value.get("id"))
            if child is not None:  # whoever waits for it must not wait for ever
                self._settle_child(child, _children.FAILED, None)
                return
        answered, request = self.dialect.answerable(value)
        if not answered or (request is None and self.state is State.NEW):
            return
        self._answer_error(request, self.dialect.bad_request(fault.reason))
        if self.state is State.NEW and self.dialect.strict:
            self._close("the first message was wrong")

    def _response(self, message: Message) -> None:
        child = self._children.waiting(message.id)
        if child is None:
            issued = self._children.issued(message.id)
            explained = self._children.bury(message.id)
            text = (
                "a request was answered again, or late"
                if issued
                else "a response came to a request that was never sent"
            )
            if self.dialect.strict and not explained:
                self._close(text)
            else:
                self._remark(text)
            return
        answered = message.kind == _envelope.RESULT
        self._settle_child(child, _children.ANSWERED if answered else _children.FAILED, message.body)

    def _settle_child(self, child: Child, ending: str, value: object) -> None:
        if self.bus is not None:
            self.bus.settled(child.id, None if ending != _children.ANSWERED else value)
        if not self._children.settle(child, ending, value):
            return
        if self._opening is not None and child in self._opening[2]:
            self._admit_shortcut(child)

    def _request(self, request: Id, message: Message) -> None:
        if self.state is State.OPENING:
            self._answer_error(request, self.dialect.bad_request("the first request has no answer yet"))
        elif self.state is State.NEW:
            if message.method == self.dialect.initialize_method:
                self._initialize(request, message.body)
                return
            self._answer_error(request, self.dialect.not_yet(message.method))
            if self.dialect.strict:
                self._close(f"{message.method} came before {self.dialect.initialize_method}")
        elif request in self._live:
            self._answer_error(request, self.dialect.bad_request("a request with this id is still running"))
        elif message.method == self.dialect.call_method:
            self._tool_call(request, message.body)
        elif message.method == self.dialect.shutdown_method:
            self._shutdown(request, message.body)
        elif message.method == self.dialect.initialize_method:
            self._answer_error(request, self.dialect.bad_request(f"{message.method} came a second time"))
            if self.dialect.strict:
                self._close(f"{message.method} came a second time")
        else:
            self._other_request(request, message)

    def _initialize(self, request: Id, params: object) -> None:
        try:
            opening = self.dialect.open(params, self._wishes)
            frame = self._spell(self.dialect.response(request, opening.result))
            bound = min(self._bound, opening.agreement.frame_bound)
            if len(frame) > bound:
                raise self.dialect.too_large(len(frame), bound)
        except Violation as found:
            self._refuse_start(request, self.dialect.internal(str(found)))
            return
        except Refusal as refusal:
            self._refuse_start(request, refusal)
            return
        self.agreement = opening.agreement
        self.state = State.OPENING
        self._opening = (request, opening, {})
        self._register_shortcuts(request, opening)
        if not self._opening[2]:
            self._open()

    def _register_shortcuts(self, request: Id, opening: Opening) -> None:
        """Asks for the keys before initialize is answered: the host takes none later."""
        row = self.dialect.service("shortcuts.register")
        if self._opening is None or row is None or self.dialect.closed_gate(row, opening.agreement):
            return
        for shortcut in self._wishes.shortcuts:
            params = {
                "parent_request_id": request,
                "id": shortcut.id,
                "key": shortcut.key,
                "description": shortcut.description,
            }
            try:
                self.dialect.params_model(row).from_json(params)
            except Violation as found:
                self._remark(f"the shortcut {shortcut.id!r} cannot be registered: {found}")
                continue
            child = self._children.open(row, None)
            self._opening[2][child] = shortcut.id
            self._out.append(self._spell(self.dialect.request(child.id, row.name, params)) + _LF)

    def _admit_shortcut(self, child: Child) -> None:
        if self._opening is None:
            return
        name = self._opening[2].pop(child)
        if child.ending == _children.ANSWERED:
            self.shortcuts.add(name)
        else:
            self._remark(f"the host refused the shortcut {name!r}: {str(child.value)[:400]}")
        if not self._opening[2]:
            self._open()

    def _open(self) -> None:
        if self._opening is None or self.state is not State.OPENING:
            return
        request, opening, _ = self._opening
        self._opening = None
        self._out.append(self._spell(self.dialect.response(request, opening.result)) + _LF)
        self.state = State.READY
        self._bound = self._frames.bound = opening.agreement.frame_bound
        for text in opening.remarks:
            self._remark(text)
        self._events.append(Opened(opening.agreement))

    def _refuse_start(self, request: Id, refusal: Refusal) -> None:
        self._answer_error(request, refusal)
        self._close(f"{self.dialect.initialize_method} is refused: {refusal.detail}")

    def _tool_call(self, request: Id, params: object) -> None:
        agreement = self._agreed()
        try:
            invocation = self.dialect.invocation(params, agreement)
            tools = self.catalogs.at(invocation.revision)
            if tools is None:
                raise self.dialect.unknown_revision(invocation.revision or 0)
            tool = tools.get(invocation.tool)
            if tool is None:
                raise self.dialect.unknown_tool(invocation.tool)
            self._check_room(agreement)
        except Refusal as refusal:
            self._answer_error(request, refusal)
            return
        self._start(Request(request, self.dialect.methods[self.dialect.call_method], tool, invocation, agreement))

    def _other_request(self, request: Id, message: Message) -> None:
        agreement = self._agreed()
        try:
            row = self.dialect.methods.get(message.method)
            if row is None or row.notification or not self.dialect.has(message.method):
                raise self.dialect.unknown_method(message.method)
            invocation = self.dialect.admit(row, message.body, self._endpoints, agreement)
            self._check_room(agreement)
        except Refusal as refusal:
            self._answer_error(request, refusal)
            return
        self._start(Request(request, row, None, invocation, agreement))

    def _agreed(self) -> Agreement:
        if self.agreement is None:
            raise LocalProtocolError("a request needs a session")
        return self.agreement

    def _check_room(self, agreement: Agreement) -> None:
        if len(self._live) >= agreement.concurrency:
            raise self.dialect.too_many(agreement.concurrency)

    def _start(self, request: Request) -> None:
        self._live[request.id] = request
        self._events.append(RequestStarted(request))

    def _notification(self, message: Message) -> None:
        if self.state in {State.NEW, State.OPENING}:
            self._remark(f"the notification {message.method[:80]!r} came before the session was open")
        elif message.method == self.dialect.cancel_method:
            self._cancelled(message)
        else:
            self._notice(message)

    def _cancelled(self, message: Message) -> None:
        try:
            request, reason = self.dialect.cancellation(message.body)
        except Violation as found:
            self._remark(f"{message.method}: {found}")
            return
        live = self._live.get(request)
        child = self._children.waiting(request)
        if live is not None:
            self._end_request(live, self.dialect.cancelled(reason), reason or "cancelled", tell=True)
        elif child is not None:
            self._settle_child(child, _children.CANCELLED, reason or "the host cancelled it")

    def _notice(self, message: Message) -> None:
        """Judges what the host tells. What is malformed or was not agreed is dropped."""
        row = self.dialect.methods.get(message.method)
        if row is None or not row.notification or not row.service or not self.dialect.has(message.method):
            self._remark(f"the notification {message.method[:80]!r} is not served")
            return
        missing = self.dialect.closed_gate(row, self._agreed())
        if missing:
            self._remark(f"{row.name} came and needs {missing}")
            return
        try:
            params = self.dialect.params_model(row).from_json(message.body)
        except Violation as found:
            self._remark(f"{row.name} is malformed: {found}")
            if self.bus is not None:
                self.bus.misunderstood(row)
            return
        if self.bus is not None:
            for again, members in self.bus.heard(params):
                self._subscribe_again(again, members)
        self._events.append(Noticed(row, params, cast("Mapping[str, object]", message.body)))

    def _subscribe_again(self, row: Method, params: Mapping[str, object]) -> None:
        try:
            self.ask(row, params, None)
        except (CallCancelled, LocalProtocolError) as fault:
            self._remark(f"a subscription is not renewed: {fault}")

    def _end_request(self, request: Request, refusal: Refusal, reason: str, *, tell: bool) -> None:
        """Answers a request for its handler. tell says whether the host hears of the requests that waited for it."""
        if self._live.get(request.id) is not request:
            return
        if tell:
            for child in self._children.of(request):
                self.give_up(child, reason)
        self.fail(request, refusal, reason)
        self._events.append(RequestEnded(request, reason))

    def _shutdown(self, request: Id, params: object) -> None:
        try:
            result = self.dialect.shutdown(params)
        except Refusal as refusal:
            self._answer_error(request, refusal)
            return
        self._interrupt(self.dialect.shutdown_method)
        self.state = State.ENDING
        self._farewell = (request, result)
        if self.says_goodbye:
            self._events.append(Leaving(cast("Mapping[str, object]", params)))
        else:
            self.leave()

    def leave(self) -> None:
        """Answers the shutdown of the host, which ends the session."""
        if self.state is State.ENDING and self._farewell is not None:
            request, result = self._farewell
            self._send(self.dialect.response(request, result), request)
            self.state = State.CLOSED
            self._events.append(Closed(orderly=True))

    def _interrupt(self, reason: str) -> None:
        """Answers what is live, and ends every request of this side without a word: the host is leaving."""
        for request in list(self._live.values()):
            self._end_request(request, self.dialect.interrupted(reason), reason, tell=False)
        self._end_children(reason)

    def _end_children(self, reason: str) -> None:
        self._opening = None
        for child in self._children.all():
            self._settle_child(child, _children.CANCELLED, reason)

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

    def is_open(self, request: Request) -> bool:
        """Reports whether a request has no answer yet."""
        return self._live.get(request.id) is request

    def succeed_tool(self, request: Request, result: ToolResult) -> bool:
        """Answers a tool call with what its tool returned. Reports whether the call was still open.

        Raises LocalProtocolError for a result that the wire does not carry; the call stays open.
        """
        if self._live.get(request.id) is not request or request.tool is None:
            return False
        try:
            value = self.dialect.tool_result(request.tool, result)
        except Violation as found:
            kind = OverBound if found.violation in {"bytes", "items"} else NoJson
            raise kind(f"the result of tool {request.tool.name!r}: {found}") from None
        return self.succeed(request, value)

    def succeed(self, request: Request, value: object) -> bool:
        """Answers a request with a judged result. Reports whether it was still open.

        Raises LocalProtocolError for a result that no frame can carry; the request stays open.
        """
        if self._live.get(request.id) is not request:
            return False
        surplus = self.dialect.ungated(request.row, value, request.agreement)
        if surplus:
            raise LocalProtocolError(f"the answer to {request.row.name} carries {surplus}")
        try:
            frame = self._spell(self.dialect.response(request.id, value))
        except Violation as found:
            raise NoJson(f"the result: {found}") from None
        if len(frame) > self._bound:
            raise OverBound(f"the answer has {len(frame)} bytes and a frame at most {self._bound}")
        self._leave(request, "answered")
        self._out.append(frame + _LF)
        return True

    def fail(self, request: Request, refusal: Refusal, reason: str = "answered") -> bool:
        """Answers a request with an error. Reports whether it was still open."""
        if self._live.get(request.id) is not request:
            return False
        self._leave(request, reason)
        self._answer_error(request.id, refusal)
        return True

    def _leave(self, request: Request, reason: str) -> None:
        """Takes a request off the list. What still waits on its behalf is over."""
        del self._live[request.id]
        for child in self._children.of(request):
            self._settle_child(child, _children.CANCELLED, reason)

    def refuse_arguments(self, request: Request, pointer: str, detail: str) -> bool:
        """Answers a tool call whose arguments do not fit its tool."""
        return self.fail(request, self.dialect.bad_arguments(pointer, detail))

    def fail_internally(self, request: Request, detail: str) -> bool:
        """Answers a request that this side failed to serve; detail goes to the host, and may be empty."""
        return self.fail(request, self.dialect.internal(detail))

    def fail_over_bound(self, request: Request, detail: str) -> bool:
        """Answers a request whose result is too large to send."""
        return self.fail(request, self.dialect.over_bound(detail))

    def refuse_busy(self, request: Request) -> bool:
        """Answers a request that cannot start because cancelled handlers are still running."""
        return self.fail(request, self.dialect.too_many(request.agreement.concurrency))

    def progress(self, request: Request, event: Mapping[str, object]) -> bool:
        """Reports progress of a request. Reports whether it was still open; nothing is sent otherwise.

        A host that did not take the feature gets nothing, and that is no fault. Raises LocalProtocolError for a bad
        event.
        """
        if self._live.get(request.id) is not request:
            return False
        if self.dialect.event_feature(event) not in request.agreement.features:
            return False
        try:
            method, params = self.dialect.progress(request.id, request.sequence + 1, event)
        except Violation as found:
            raise LocalProtocolError(f"progress: {found}") from None
        self._out.append(self._fitting(self.dialect.methods[method], self.dialect.notification(method, params)) + _LF)
        request.sequence += 1
        return True

    # --- requests and notifications of this side

    def ask(
        self,
        row: Method,
        params: Mapping[str, object],
        parent: Request | None,
        done: Callable[[], object] | None = None,
    ) -> Child:
        """Sends a request. Raises LocalProtocolError for what cannot be sent, CallCancelled once nobody listens."""
        self._check_sending(row)
        child = self._children.open(row, parent, done)
        try:
            self._out.append(self._fitting(row, self.dialect.request(child.id, row.name, params)) + _LF)
        except LocalProtocolError:
            self._children.settle(child, _children.CANCELLED, "never sent")
            raise
        if self.bus is not None:
            self.bus.asked(child.id, row, params)
        return child

    def tell(self, row: Method, params: Mapping[str, object]) -> None:
        """Sends a notification. Raises like ask."""
        self._check_sending(row)
        self._out.append(self._fitting(row, self.dialect.notification(row.name, params)) + _LF)

    def give_up(self, child: Child, reason: str) -> None:
        """Cancels a request of this side: the host is told once, and it is over here at once."""
        if self._children.waiting(child.id) is not child:
            return
        if self.dialect.cancel_method is not None and self.state is State.READY:
            params = self.dialect.cancel_params(child.id, reason[:_MAX_REASON])
            self._out.append(self._spell(self.dialect.notification(self.dialect.cancel_method, params)) + _LF)
        self._settle_child(child, _children.CANCELLED, reason)

    def _check_sending(self, row: Method) -> None:
        if self.state in {State.ENDING, State.CLOSED}:
            raise CallCancelled("the session is over")
        if self.state is not State.READY:
            raise LocalProtocolError(f"{row.name}: the session is not open yet: wait for on_ready")

    def _fitting(self, row: Method, message: Mapping[str, object]) -> bytes:
        try:
            frame = self._spell(message)
        except Violation as found:
            raise LocalProtocolError(f"{row.name}: {found}") from None
        if len(frame) > self._bound:
            raise LocalProtocolError(f"{row.name} has {len(frame)} bytes and a frame at most {self._bound}: send less")
        return frame

    def end(self, reason: str) -> None:
        """Ends a session whose input has ended: live calls are answered, nothing else is sent."""
        if self.state is not State.CLOSED:
            self._interrupt(reason)
            self.state = State.CLOSED
            self._events.append(Closed(orderly=True))

    def abandon(self) -> None:
        """Ends a session that belongs to another process: nothing is told to anybody."""
        self.state = State.CLOSED
        self._live.clear()
        self._out.clear()
        self._events.clear()
        self._opening = None

    def lose_output(self) -> None:
        """Ends a session whose host reads no more: nothing can be answered."""
        if self.state is not State.CLOSED:
            self._events.extend(RequestEnded(request, "output lost") for request in self._live.values())
            self._live.clear()
            self._end_children("output lost")
            self._out.clear()
            self._close("the host reads no more")

    def _spell(self, message: Mapping[str, object]) -> bytes:
        return self.dialect.spell(message)

    def _send(self, message: Mapping[str, object], request: Id) -> None:
        self._queue(self._spell(message), request)

    def _queue(self, frame: bytes, request: Id) -> None:
        if len(frame) > self._bound:
            self._answer_error(request, self.dialect.too_large(len(frame), self._bound))
        else:
            self._out.append(frame + _LF)

    def _answer_error(self, request: Id | None, refusal: Refusal) -> None:
        bare = Refusal(refusal.row, refusal.row.message)
        try:
            frame = self._spell(self.dialect.error(request, refusal))
        except Violation:  # a text of the author's tool that no frame can carry
            frame = self._spell(self.dialect.error(request, bare))
        if len(frame) > self._bound:
            frame = self._spell(self.dialect.error(request, bare))
        if len(frame) <= self._bound:
            self._out.append(frame + _LF)
        else:
            self._close(f"no answer fits a frame of {self._bound} bytes")

    def _remark(self, text: str) -> None:
        self._events.append(Remark(text[:_MAX_REMARK]))

    def _close(self, reason: str) -> None:
        """Ends the stream for a fault. Calls still running are told, not answered."""
        self._remark(reason)
        self._events.extend(RequestEnded(request, reason) for request in self._live.values())
        self._live.clear()
        self._end_children(reason)
        self.state = State.CLOSED
        self._events.append(Closed(orderly=False))
