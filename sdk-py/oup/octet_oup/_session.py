"""One session on a client: what comes in finds its readers, and what was lost is fetched again.

aside --session/open is answered--> opening --the notification session/open--> live
  ^                                    |                                        |
  +------- the connection ends, the server dropped events, numbers are missing -+
"""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import hashlib
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from typing import Final, Protocol, TypeVar, cast

from octet_oup._answers import Answer, Decision, Desk, OnApproval, OnQuestion
from octet_oup._capabilities import with_capabilities
from octet_oup._errors import Disconnected, OupError, ProtocolError, ServerError, TimedOut
from octet_oup._events import (
    ApprovalCancelled,
    ApprovalDecided,
    ApprovalRequested,
    BackgroundEnded,
    Event,
    Gap,
    Message,
    QuestionRequested,
    TurnEnded,
    TurnStarted,
    Unknown,
    envelope,
    identity,
    notification,
    optional,
)
from octet_oup._generated import _json
from octet_oup._generated import oup_wire as wire
from octet_oup._generated._json import Violation
from octet_oup._generated._shapes import ABSENT
from octet_oup._generated.oup_calls import Calls
from octet_oup._inbox import Inbox, Parcel, Track
from octet_oup._threads import Ledger, Verdict
from octet_oup._turn import Input, Turn, items, new_turn_id

__all__ = ["Events", "Session"]

T = TypeVar("T")
Json = Mapping[str, object]

_EXPIRED: Final = wire.ERROR_CURSOR_OUT_OF_RANGE.code
_FOREIGN: Final = wire.ERROR_CURSOR_INVALID.code
_KEPT: Final = "yes"  # what the table says of an event that the ledger keeps
_SNAPSHOTS: Final = {wire.METHOD_TASK_UPDATED: "task_id", wire.METHOD_PLAN_UPDATED: "session_id"}
"""What is told at every open as it is now, and the member that says what it is about."""
_ENDED: Final = frozenset(state for machine, state in wire.TABLE_TERMINAL_STATES if machine == "turn")
_LOST: Final = wire.TurnState.UNKNOWN
_MOST_SNAPSHOTS: Final = 1024


class Line(Protocol):
    """One connection, as a session uses it to find its way back."""

    async def call(
        self,
        method: str,
        params: Json,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - in the time of the clock
        at_once: Callable[[object], None] | None = None,
    ) -> object:
        """Sends a request."""


class Owner(Protocol):
    """What a session needs of its client."""

    methods: Calls
    request_timeout: float | None

    def spawn(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Runs something that ends with the client."""

    def supports(self, method: str) -> bool:
        """Whether the server offers a method."""

    def enter(self, session: Session, before: str) -> None:
        """Takes a session in under the key that the server confirmed."""

    def leave(self, session: Session) -> None:
        """Sends what comes for a session to nobody."""

    def line(self) -> Line | None:
        """The connection, None while there is none."""

    def changed(self) -> None:
        """Is told when there is room again."""

    async def start_turn(self, params: wire.TurnStartParams) -> None:
        """Starts a turn, again with the same id when the connection breaks over it."""


class _Phase(enum.Enum):
    ASIDE = "aside"
    OPENING = "opening"
    LIVE = "live"
    OVER = "over"


@dataclasses.dataclass(frozen=True, slots=True)
class _Repair:
    """Why a session has to be opened again. after is where to, None to read its state first."""

    reason: str
    dropped: int | None = None
    after: wire.Cursor | None = None


class Events:
    """Everything that happens in a session, in order. Ends when it is closed, or with the session."""

    def __init__(self, inbox: Inbox, leave: Callable[[Inbox], None]) -> None:
        self._inbox = inbox
        self._leave = leave

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        """Returns the next event. Raises what the session failed with."""
        event = await self._inbox.get()
        if event is None:
            raise StopAsyncIteration
        return event

    def close(self) -> None:
        """Stops listening."""
        self._leave(self._inbox)
        self._inbox.abandon()


class Session:
    """A session that is open on a client. Client.open makes it."""

    def __init__(
        self,
        owner: Owner,
        params: wire.SessionOpenParams,
        *,
        listen: bool,
        on_approval: OnApproval | None,
        on_question: OnQuestion | None,
    ) -> None:
        self.key = params.session_id
        """The key that the server confirmed."""
        self.opened: wire.SessionOpened | None = None
        """What the server said when it opened the session last."""
        self._owner = owner
        self._params = params
        after = optional(params.after)
        self._ledger = Ledger(after.stream if after is not None else self.key, after)
        self._track = Track(after)
        self._desk = Desk(self, on_approval, on_question)
        self._turns: dict[str, Inbox] = {}
        self._accepted: set[str] = set()
        self._first = Inbox(self._track, owner.changed) if listen else None
        self._listeners: list[Inbox] = [] if self._first is None else [self._first]
        self._snapshots: dict[tuple[str, object], bytes] = {}
        self._phase = _Phase.ASIDE
        self._opens_at: int | None = None
        self._repair: _Repair | None = None
        self._stumbled: tuple[str, int] | None = None
        self._restoring = asyncio.Lock()
        self._over: Exception | None = None

    # --- for the caller

    @property
    def cursor(self) -> wire.Cursor | None:
        """The position behind which nothing is missing that you asked for: safe to keep, and to open with again.

        It moves when you have been given what stands before it. What nobody listened to counts as given.
        """
        return self._track.cursor

    @property
    def workspace(self) -> str:
        """The folder that the server works in; empty where it does not say."""
        return "" if self.opened is None else optional(self.opened.workspace_root) or ""

    @property
    def methods(self) -> Calls:
        """Every method of the protocol, typed."""
        return self._owner.methods

    async def turn(
        self,
        words: Input,
        *,
        id: str | None = None,  # noqa: A002 - the word of the protocol
        media: Sequence[wire.FileRef] = (),
        reasoning_effort: str | None = None,
        interrupt_when_cancelled: bool = False,
    ) -> Turn:
        """Starts a turn, and returns it when the server has accepted it.

        When the connection breaks over it, it is started again with the same id, which makes no second turn. With
        interrupt_when_cancelled, a task that is cancelled while it waits for an event interrupts the turn.
        """
        turn_id = new_turn_id() if id is None else id
        params = wire.TurnStartParams(
            session_id=self.key,
            turn_id=turn_id,
            input=items(words),
            media=media or ABSENT,
            reasoning_effort=reasoning_effort or ABSENT,
        )
        params.read(params.to_json())
        turn = self._follow(turn_id, interrupt_when_cancelled=interrupt_when_cancelled)
        self._ledger.begin(turn_id)
        try:
            await self._owner.start_turn(params)
        except BaseException:
            turn.close()
            raise
        if turn_id in self._turns:
            self._accepted.add(turn_id)
        return turn

    def follow(self, turn_id: str) -> Turn:
        """Returns a turn that runs already, as after a restart of your program: from what nobody has read on."""
        turn = self._follow(turn_id, interrupt_when_cancelled=False)
        self._accepted.add(turn_id)
        inbox = self._turns[turn_id]
        for event in self._first.waiting() if self._first is not None else ():
            if event.turn_id == turn_id:
                inbox.put(Parcel(event, None))
                if isinstance(event, TurnEnded):
                    self._end_turn(turn_id)
        return turn

    def events(self) -> Events:
        """Returns everything that happens from now on; of a session opened with a cursor, from that cursor on.

        Events wait for you, and when many wait the connection is not read: read them, or close.
        """
        inbox, self._first = self._first, None
        if inbox is None:
            inbox = Inbox(self._track, self._owner.changed)
            if self._phase is _Phase.OVER:
                inbox.finish()
            self._listeners.append(inbox)
        return Events(inbox, self._unlisten)

    async def hydrate(self, *include: str) -> wire.SessionHydrateResult:
        """Reads the state of the session: the sections that are named, or all of them."""
        return await self.methods.session_hydrate(session_id=self.key, include=include or ABSENT)

    async def decide(self, approval_id: str, decision: Decision) -> wire.ApprovalRespondResult:
        """Decides a request for approval by hand."""
        return await self.methods.approval_respond(
            session_id=self.key,
            approval_id=approval_id,
            decision=decision.word,
            approval_scope=decision.scope,
            client_note=decision.note or ABSENT,
        )

    async def answer(self, question_id: str, answers: Sequence[Answer]) -> wire.UserQuestionRespondResult:
        """Answers the questions of a request by hand, one answer each, in their order."""
        return await self.methods.user_question_respond(
            session_id=self.key, question_id=question_id, answers=[answer.on_the_wire() for answer in answers]
        )

    def detach(self) -> None:
        """Lets go of the session on this client. On the server it goes on as it is."""
        self._owner.leave(self)
        self.finish(None)

    # --- for its turns and its desk

    def spawn(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Runs something that ends with the client."""
        return self._owner.spawn(work)

    def forget_turn(self, turn_id: str) -> None:
        """Sends the events of a turn to nobody."""
        self._turns.pop(turn_id, None)
        self._accepted.discard(turn_id)

    def _follow(self, turn_id: str, *, interrupt_when_cancelled: bool) -> Turn:
        if turn_id in self._turns:
            raise ValueError(f"the turn {turn_id} is followed already: one stream a turn")
        if self._phase is _Phase.OVER:
            raise self._over or Disconnected("the session was let go of")
        inbox = self._turns[turn_id] = Inbox(self._track, self._owner.changed)
        return Turn(self, turn_id, inbox, interrupt_when_cancelled=interrupt_when_cancelled)

    def _unlisten(self, inbox: Inbox) -> None:
        if inbox in self._listeners:
            self._listeners.remove(inbox)

    # --- for its client

    @property
    def crowd(self) -> int:
        """How many events wait for the slowest reader."""
        return max((len(inbox) for inbox in (*self._listeners, *self._turns.values())), default=0)

    def lose(self) -> None:
        """Notes that the connection is gone."""
        if self._phase is not _Phase.OVER:
            self._phase = _Phase.ASIDE

    def finish(self, why: Exception | None) -> None:
        """Ends every stream, behind what waits in it."""
        self._phase = _Phase.OVER
        self._over = why
        self._desk.close()
        for inbox in (*self._listeners, *self._turns.values()):
            if why is None:
                inbox.finish()
            else:
                inbox.fail(why)
        self._turns.clear()

    def take(self, method: str, params: Json) -> None:
        """Takes a notification in."""
        if self._phase in (_Phase.ASIDE, _Phase.OVER):
            return  # it will be told again
        if method == wire.METHOD_PROJECTION_ENVELOPE:
            self._envelope(params)
        elif method == wire.METHOD_SESSION_OPEN:
            self._was_opened(params)
        elif method == wire.METHOD_PROTOCOL_REPLAY_LOSSY:
            self._lossy(params)
        else:
            self._notification(method, params)

    def _envelope(self, params: Json) -> None:
        name = identity(params)
        if name is None:
            self._deliver(Unknown(method=wire.METHOD_PROJECTION_ENVELOPE, params=params))
            return
        verdict = self._ledger.judge(name)
        if verdict is Verdict.OUT_OF_ORDER and self._stumbled == (name.thread_id, name.seq):
            if name.seq <= self._ledger.last(name.thread_id):
                verdict = Verdict.LATE  # the ledger has it so: a repetition under a place of its own
            else:
                self._mend(_Repair("sequence"))
                return
        if verdict is Verdict.OUT_OF_ORDER:
            self._stumbled = (name.thread_id, name.seq)
            self._mend(_Repair("sequence", after=self._ledger.cursor))
        elif verdict is Verdict.LATE:
            self._ledger.move(name.cursor)
            self._track.add(Parcel(None, name.cursor))
        elif verdict is Verdict.NEW:
            event = envelope(name, params)
            self._ledger.apply(name, closes=isinstance(event, (TurnEnded, BackgroundEnded)))
            self._deliver(event)

    def _notification(self, method: str, params: Json) -> None:
        row = wire.NOTIFICATIONS.get(method)
        spelling = hashlib.blake2b(method.encode() + _json.encode(params), digest_size=16).digest()
        about = _SNAPSHOTS.get(method)
        if about is not None:
            told = self._snapshots.get((method, params.get(about)))
            if told == spelling and self._phase is _Phase.OPENING:
                return
            if len(self._snapshots) >= _MOST_SNAPSHOTS:
                self._snapshots.clear()
            self._snapshots[method, params.get(about)] = spelling
        elif (row is None or row.durable == _KEPT) and not self._ledger.unplaced(spelling) and not _asks(method):
            return
        event = notification(method, params)
        match event:
            case ApprovalRequested(request=request):
                if not self._desk.approval(request):
                    return
            case QuestionRequested(request=question):
                if not self._desk.question(question):
                    return
            case ApprovalDecided(approval_id=approval) | ApprovalCancelled(approval_id=approval):
                self._desk.settled(approval)
            case TurnStarted(turn_id=turn):
                self._ledger.begin(turn)
        self._deliver(event)

    def _deliver(self, event: Event) -> None:
        parcel = Parcel(event, event.cursor)
        for inbox in self._listeners:
            inbox.put(parcel)
        if isinstance(event, Gap):
            for inbox in self._turns.values():
                inbox.put(parcel)
        elif event.turn_id in self._turns:
            self._turns[event.turn_id].put(parcel)
        self._track.add(parcel)
        if isinstance(event, TurnEnded):
            self._end_turn(event.turn_id)

    def _end_turn(self, turn_id: str) -> None:
        self._desk.turn_ended(turn_id)
        self._accepted.discard(turn_id)
        inbox = self._turns.pop(turn_id, None)
        if inbox is not None:
            inbox.finish()

    # --- the way back

    def _was_opened(self, params: Json) -> None:
        try:
            opened = wire.SessionOpened.from_json(with_capabilities(params))
        except Violation:
            self._deliver(Unknown(method=wire.METHOD_SESSION_OPEN, params=params))
            return
        cursor = optional(opened.cursor)
        self._ledger.move(cursor)
        self._track.add(Parcel(None, cursor))
        if self._phase is _Phase.OPENING and (cursor is None or self._opens_at is None or cursor.seq >= self._opens_at):
            self._phase = _Phase.LIVE
            self._ledger.live()
            self._desk.release()

    def _lossy(self, params: Json) -> None:
        try:
            event = wire.ReplayLossyEvent.from_json(params)
        except Violation:
            event = wire.ReplayLossyEvent(session_id=self.key, dropped_count=0)
        known, given = self._ledger.cursor, optional(event.last_durable_cursor)
        usable = given is not None and known is not None and given.stream == known.stream and given.seq <= known.seq
        self._mend(_Repair("replay_lossy", dropped=event.dropped_count, after=given if usable else None))

    def _mend(self, repair: _Repair) -> None:
        """Goes aside, and opens the session again on the same connection."""
        self._phase = _Phase.ASIDE
        self._repair = repair
        line = self._owner.line()
        if line is not None:
            self._owner.spawn(self._mended(line))

    async def _mended(self, line: Line) -> None:
        try:
            await self.restore(line)
        except Disconnected:
            return  # it is restored with the next connection
        except OupError as fault:
            self._owner.leave(self)
            self.finish(fault)

    async def restore(self, line: Line) -> None:
        """Opens the session on a connection, behind what was read. Raises what keeps it from being open."""
        async with self._restoring:
            while True:
                repair = self._repair
                if repair is not None and repair.after is None:
                    await self._read_state(line, repair)
                elif repair is not None and repair.reason != "sequence":
                    self._repair = None
                    self._deliver(Gap(reason=repair.reason, dropped=repair.dropped, replayed=True))
                after = self._ledger.cursor if repair is None or repair.after is None else repair.after
                try:
                    await self._open(line, after)
                except ServerError as refusal:
                    if after is None or refusal.code not in (_EXPIRED, _FOREIGN):
                        raise
                    expired = refusal.code == _EXPIRED
                    self._repair = _Repair("cursor_expired" if expired else "cursor_invalid")
                    continue
                if self._repair is repair:
                    self._repair = None
                return

    async def _open(self, line: Line, after: wire.Cursor | None) -> None:
        params = self._params.replace(session_id=self.key, after=ABSENT if after is None else after)

        def at_once(result: object) -> None:
            opened = _opened(result)
            before, self.key, self.opened = self.key, opened.session_id, opened
            cursor = optional(opened.cursor)
            self._opens_at = None if cursor is None else cursor.seq
            self._ledger.stream = self.key
            self._phase = _Phase.OPENING
            self._desk.hold()
            self._params = self._params.replace(topic=ABSENT)  # the confirmed key carries it
            self._ledger.replay(after)
            self._owner.enter(self, before)

        await line.call(
            wire.METHOD_SESSION_OPEN, params.to_json(), timeout=self._owner.request_timeout, at_once=at_once
        )

    async def _read_state(self, line: Line, repair: _Repair) -> None:
        """Reads what cannot be replayed, and tells the readers that it is not."""
        hydrated: wire.SessionHydrateResult | None = None
        if self._owner.supports(wire.METHOD_SESSION_HYDRATE):
            try:
                hydrated = await self._ask(
                    line,
                    wire.METHOD_SESSION_HYDRATE,
                    wire.SessionHydrateParams(session_id=self.key),
                    wire.SessionHydrateResult.from_json,
                )
            except ServerError:
                hydrated = None
        if hydrated is not None:
            self._rebuild(repair, hydrated)
        else:
            kept = self._ledger.cursor if repair.reason == "sequence" else None
            self._ledger.jump(kept, ())
            self._deliver(Gap(reason=repair.reason, dropped=repair.dropped))
        self._repair = None
        for turn_id in [turn for turn in self._turns if turn in self._accepted]:
            await self._ask_state(line, turn_id)

    def _rebuild(self, repair: _Repair, state: wire.SessionHydrateResult) -> None:
        told = {(one.thread_id, one.seq): one for one in _envelopes(state)}
        numbers = dict(optional(state.projection_thread_sequences) or {})
        before = {thread: self._ledger.last(thread) for thread, _ in told}
        self._ledger.jump(state.cursor, numbers.items())
        self._deliver(
            Gap(reason=repair.reason, dropped=repair.dropped, hydrated=state, cursor=state.cursor, replayed=False)
        )
        for (thread, seq), one in sorted(told.items()):
            inbox = self._turns.get(one.turn_id)
            name = identity(one.to_json())
            if inbox is not None and name is not None and seq > before[thread]:
                event = envelope(name, one.to_json())
                inbox.put(Parcel(event, None))
                self._ledger.apply(name, closes=isinstance(event, TurnEnded))
                if isinstance(event, TurnEnded):
                    self._end_turn(one.turn_id)
        for turn in optional(state.turns) or ():
            if turn.turn_id in self._turns and turn.state in _ENDED:
                self._settle(turn.turn_id, turn.state, state)

    def _settle(self, turn_id: str, outcome: str, state: wire.SessionHydrateResult | None = None) -> None:
        """Ends a turn whose end was lost, with what is known of it."""
        inbox = self._turns[turn_id]
        for row in (optional(state.messages) or ()) if state is not None else ():
            if optional(row.turn_id) == turn_id and row.role == wire.MessageRole.ASSISTANT:
                inbox.put(Parcel(Message(turn_id=turn_id, text=row.content, segment=f"row {row.seq}"), None))
        inbox.put(Parcel(TurnEnded(turn_id=turn_id, outcome=outcome, recovered=True), None))
        self._end_turn(turn_id)

    async def _ask_state(self, line: Line, turn_id: str) -> None:
        """Asks about a turn whose events may be lost. It is never started again for that."""
        if not self._owner.supports(wire.METHOD_TURN_STATE_GET):
            return
        try:
            found = await self._ask(
                line,
                wire.METHOD_TURN_STATE_GET,
                wire.TurnStateGetParams(session_id=self.key, turn_id=turn_id),
                wire.TurnStateGetResult.from_json,
            )
        except (ServerError, TimedOut):
            return
        gone = found.state == _LOST and found.running is False
        if turn_id in self._turns and (gone or found.state in _ENDED):
            self._settle(turn_id, found.state)

    async def _ask(
        self,
        line: Line,
        method: str,
        params: wire.SessionHydrateParams | wire.TurnStateGetParams,
        read: Callable[[object], T],
    ) -> T:
        result = await line.call(method, params.to_json(), timeout=self._owner.request_timeout)
        try:
            return read(result)
        except Violation as found:
            raise ProtocolError(f"the result of {method} breaks its model: {found}") from None


def _asks(method: str) -> bool:
    """Whether a notification asks for an answer: one that is told again is still waited for."""
    return method in (wire.METHOD_APPROVAL_REQUESTED, wire.METHOD_USER_QUESTION_REQUESTED)


def _opened(result: object) -> wire.SessionOpened:
    members = cast(Json, result) if isinstance(result, dict) else {}
    try:
        return wire.SessionOpened.from_json(with_capabilities(members.get("opened")))
    except Violation as found:
        raise ProtocolError(f"the result of {wire.METHOD_SESSION_OPEN} breaks its model: {found}") from None


def _envelopes(state: wire.SessionHydrateResult) -> Sequence[wire.BareEnvelope]:
    """Returns every envelope in a state; one may stand in several lists."""
    snapshot = optional(state.projection_snapshot)
    lists = (
        state.replayed_envelopes,
        state.replayed_tool_envelopes,
        state.replayed_projection_envelopes,
        state.projection_envelopes,
        None if snapshot is None else snapshot.envelopes,
    )
    return [one for found in lists for one in optional(found) or ()]
