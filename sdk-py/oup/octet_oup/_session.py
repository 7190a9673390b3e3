"""One session on a client, as a program sees it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from typing import Protocol

from octet_oup._answers import Answer, Decision, Desk, OnApproval, OnQuestion
from octet_oup._errors import Disconnected, OupError
from octet_oup._events import Event, TurnEnded, optional
from octet_oup._feed import Feed, Phase, Repair
from octet_oup._generated import oup_wire as wire
from octet_oup._generated._shapes import ABSENT
from octet_oup._generated.oup_calls import Calls
from octet_oup._inbox import Inbox, Parcel
from octet_oup._recovery import Line, Recovery
from octet_oup._turn import Input, Turn, items, new_turn_id

__all__ = ["Events", "Session"]

Json = Mapping[str, object]


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
        self._desk = Desk(self, on_approval, on_question)
        self._feed = Feed(self.key, optional(params.after), self._desk, owner.changed)
        self._feed.mend = self._mend
        self._recovery = Recovery(owner, self._feed, params, self._confirmed)
        self._first = self._feed.inbox() if listen else None
        if self._first is not None:
            self._feed.listeners.append(self._first)

    # --- for the caller

    @property
    def cursor(self) -> wire.Cursor | None:
        """The position behind which nothing is missing that you asked for: safe to keep, and to open with again.

        It moves when you have been given what stands before it. What nobody listened to counts as given.
        """
        return self._feed.track.cursor

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
        self._feed.ledger.begin(turn_id)
        try:
            await self._owner.start_turn(params)
        except BaseException:
            turn.close()
            raise
        if turn_id in self._feed.turns:
            self._feed.accepted.add(turn_id)
        return turn

    def follow(self, turn_id: str) -> Turn:
        """Returns a turn that was started before, as after a restart of your program: from what nobody has read on.

        Of one that has ended, it gives what the server still has of it.
        """
        turn = self._follow(turn_id, interrupt_when_cancelled=False)
        self._feed.accepted.add(turn_id)
        inbox = self._feed.turns[turn_id]
        for event in self._first.waiting() if self._first is not None else ():
            if event.turn_id == turn_id:
                inbox.put(Parcel(event, None))
                if isinstance(event, TurnEnded):
                    self._feed.end_turn(turn_id)
        if not inbox.used:
            self._owner.spawn(self._recovery.look_back(turn_id, inbox))
        return turn

    def events(self) -> Events:
        """Returns everything that happens from now on; of a session opened with a cursor, from that cursor on.

        Events wait for you, and when many wait the connection is not read: read them, or close.
        """
        inbox, self._first = self._first, None
        if inbox is None:
            inbox = self._feed.inbox()
            self._feed.listeners.append(inbox)
        return Events(inbox, self._unlisten)

    async def hydrate(self, *include: str) -> wire.SessionHydrateResult:
        """Reads the state of the session: the sections that are named, or all of them."""
        return await self.methods.session_hydrate(session_id=self.key, include=list(include) or ABSENT)

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
        self._feed.forget_turn(turn_id)

    def _follow(self, turn_id: str, *, interrupt_when_cancelled: bool) -> Turn:
        if turn_id in self._feed.turns:
            raise ValueError(f"the turn {turn_id} is followed already: one stream a turn")
        if self._feed.phase is Phase.OVER:
            raise self._feed.why or Disconnected("the session was let go of")
        inbox = self._feed.turns[turn_id] = self._feed.inbox()
        return Turn(self, turn_id, inbox, interrupt_when_cancelled=interrupt_when_cancelled)

    def _unlisten(self, inbox: Inbox) -> None:
        if inbox in self._feed.listeners:
            self._feed.listeners.remove(inbox)

    # --- for its client

    @property
    def crowd(self) -> int:
        """How many events wait for the slowest reader."""
        return self._feed.crowd

    def take(self, method: str, params: Json) -> None:
        """Takes a notification in."""
        self._feed.take(method, params)

    def lose(self) -> None:
        """Notes that the connection is gone."""
        self._feed.lose()

    def finish(self, why: Exception | None) -> None:
        """Ends every stream, behind what waits in it."""
        self._feed.finish(why)

    async def restore(self, line: Line) -> None:
        """Opens the session on a connection, behind what was read. Raises what keeps it from being open."""
        await self._recovery.restore(line)

    def _confirmed(self, opened: wire.SessionOpened) -> None:
        before, self.key, self.opened = self.key, opened.session_id, opened
        self._owner.enter(self, before)

    def _mend(self, repair: Repair) -> None:
        """Goes aside, and opens the session again on the same connection."""
        self._feed.lose()
        self._recovery.repair = repair
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
