"""What comes in for one session: judged, turned into events, and handed to whoever reads them.

    aside --session/open is answered--> opening --the notification session/open--> live
      ^                                    |                                        |
      +------- the connection ends, the server dropped events, numbers are missing -+

What comes while a session is aside is not looked at: it is told again.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
from collections.abc import Callable, Mapping
from typing import Final

from octet_oup._answers import Desk
from octet_oup._capabilities import with_capabilities
from octet_oup._events import (
    ApprovalCancelled,
    ApprovalDecided,
    ApprovalRequested,
    BackgroundEnded,
    Event,
    Gap,
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
from octet_oup._inbox import Inbox, Parcel, Track
from octet_oup._threads import Ledger, Verdict
from octet_oup._tolerant import tolerant

__all__ = ["SEQUENCE", "Feed", "Phase", "Repair"]

Json = Mapping[str, object]

SEQUENCE: Final = "sequence"
"""Why a session is opened again when numbers of a stream are missing."""
_LOSSY: Final = "replay_lossy"
_KEPT: Final = "yes"  # what the table says of an event that the ledger keeps
_SNAPSHOTS: Final = {wire.METHOD_TASK_UPDATED: "task_id", wire.METHOD_PLAN_UPDATED: "session_id"}
"""What is told at every open as it is now, and the member that says what it is about."""
_ASKS: Final = (wire.METHOD_APPROVAL_REQUESTED, wire.METHOD_USER_QUESTION_REQUESTED)
_MOST_SNAPSHOTS: Final = 1024


class Phase(enum.Enum):
    """Where a session stands on this client."""

    ASIDE = "aside"
    OPENING = "opening"
    LIVE = "live"
    OVER = "over"


@dataclasses.dataclass(frozen=True, slots=True)
class Repair:
    """Why a session has to be opened again. after is where to, None to read its state first."""

    reason: str
    dropped: int | None = None
    after: wire.Cursor | None = None


class Feed:
    """The events of one session on their way to its readers. mend is told when it has to be opened again."""

    def __init__(self, key: str, after: wire.Cursor | None, desk: Desk, changed: Callable[[], None]) -> None:
        self.phase = Phase.ASIDE
        self.ledger = Ledger(key if after is None else after.stream, after)
        self.track = Track(after)
        self.turns: dict[str, Inbox] = {}
        self.accepted: set[str] = set()
        """Those of the turns that the server has accepted, so that it knows how they stand."""
        self.listeners: list[Inbox] = []
        self.why: Exception | None = None
        """What the session failed with."""
        self.mend: Callable[[Repair], None] = lambda _: None
        self._desk = desk
        self._changed = changed
        self._snapshots: dict[tuple[str, object], bytes] = {}
        self._opens_at: int | None = None
        self._stumbled: tuple[str, int] | None = None

    # --- readers

    def inbox(self) -> Inbox:
        """Returns a queue for a reader."""
        inbox = Inbox(self.track, self._changed)
        if self.phase is Phase.OVER:
            self._close(inbox)
        return inbox

    @property
    def crowd(self) -> int:
        """How many events wait for the slowest reader."""
        return max((len(inbox) for inbox in (*self.listeners, *self.turns.values())), default=0)

    def deliver(self, event: Event) -> None:
        """Gives an event to everybody whom it concerns."""
        parcel = Parcel(event, event.cursor)
        for inbox in self.listeners:
            inbox.put(parcel)
        if isinstance(event, Gap):
            for inbox in self.turns.values():
                inbox.put(parcel)
        elif event.turn_id in self.turns:
            self.turns[event.turn_id].put(parcel)
        self.track.add(parcel)
        if isinstance(event, TurnEnded):
            self.end_turn(event.turn_id)

    def deliver_to(self, turn_id: str, event: Event) -> None:
        """Gives an event that everybody else has in another form to the reader of a turn."""
        inbox = self.turns.get(turn_id)
        if inbox is not None:
            inbox.put(Parcel(event, None))
        if isinstance(event, TurnEnded):
            self.end_turn(turn_id)

    def end_turn(self, turn_id: str) -> None:
        """Lets the reader of a turn end behind what waits."""
        self._desk.turn_ended(turn_id)
        inbox = self.forget_turn(turn_id)
        if inbox is not None:
            inbox.finish()

    def forget_turn(self, turn_id: str) -> Inbox | None:
        """Sends the events of a turn to nobody, and returns the queue that its reader has."""
        self.accepted.discard(turn_id)
        return self.turns.pop(turn_id, None)

    def finish(self, why: Exception | None) -> None:
        """Ends every stream, behind what waits in it."""
        self.phase = Phase.OVER
        self.why = why
        self._desk.close()
        for inbox in (*self.listeners, *self.turns.values()):
            self._close(inbox)
        self.turns.clear()

    def _close(self, inbox: Inbox) -> None:
        if self.why is None:
            inbox.finish()
        else:
            inbox.fail(self.why)

    # --- phases

    def lose(self) -> None:
        """Goes aside."""
        if self.phase is not Phase.OVER:
            self.phase = Phase.ASIDE

    def opening(self, key: str, after: wire.Cursor | None, place: wire.Cursor | None) -> None:
        """Takes in what comes from now on: the replay behind after, up to the place of the open itself."""
        self.phase = Phase.OPENING
        self.ledger.stream = key
        self.ledger.replay(after)
        self._opens_at = None if place is None else place.seq
        self._desk.hold()

    def _was_opened(self, params: Json) -> None:
        try:
            opened = tolerant(wire.SessionOpened.from_json, with_capabilities(params))
        except Violation:
            self.deliver(Unknown(method=wire.METHOD_SESSION_OPEN, params=params))
            return
        cursor = optional(opened.cursor)
        self.ledger.move(cursor)
        self.track.add(Parcel(None, cursor))
        there = cursor is None or self._opens_at is None or cursor.seq >= self._opens_at
        if self.phase is Phase.OPENING and there:
            self.phase = Phase.LIVE
            self.ledger.live()
            self._desk.release()

    # --- what comes in

    def take(self, method: str, params: Json) -> None:
        """Takes a notification in."""
        if self.phase in (Phase.ASIDE, Phase.OVER):
            return
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
            self.deliver(Unknown(method=wire.METHOD_PROJECTION_ENVELOPE, params=params))
            return
        verdict = self.ledger.judge(name)
        if verdict is Verdict.OUT_OF_ORDER:
            again = self._stumbled == (name.thread_id, name.seq)
            self._stumbled = (name.thread_id, name.seq)
            if not again:
                self.mend(Repair(SEQUENCE, after=self.ledger.cursor))
                return
            if name.seq > self.ledger.last(name.thread_id):
                self.mend(Repair(SEQUENCE))
                return
            verdict = Verdict.LATE  # the ledger has it so: a repetition under a place of its own
        if verdict is Verdict.LATE:
            self.ledger.move(name.cursor)
            self.track.add(Parcel(None, name.cursor))
        elif verdict is Verdict.NEW:
            event = envelope(name, params)
            self.ledger.apply(name, closes=isinstance(event, (TurnEnded, BackgroundEnded)))
            self.deliver(event)

    def _notification(self, method: str, params: Json) -> None:
        if self._told_before(method, params) and method not in _ASKS:
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
                self.ledger.begin(turn)
        self.deliver(event)

    def _told_before(self, method: str, params: Json) -> bool:
        """Whether an event that shows no position was told before; what asks for an answer is known by its id too."""
        spelling = hashlib.blake2b(method.encode() + _json.encode(params), digest_size=16).digest()
        about = _SNAPSHOTS.get(method)
        if about is None:
            row = wire.NOTIFICATIONS.get(method)
            return (row is None or row.durable == _KEPT) and not self.ledger.unplaced(spelling)
        thing = (method, params.get(about))
        told = self._snapshots.get(thing) == spelling
        if len(self._snapshots) >= _MOST_SNAPSHOTS:
            self._snapshots.clear()
        self._snapshots[thing] = spelling
        return told and self.phase is Phase.OPENING

    def _lossy(self, params: Json) -> None:
        try:
            event = wire.ReplayLossyEvent.from_json(params)
            given, dropped = optional(event.last_durable_cursor), event.dropped_count
        except Violation:
            given, dropped = None, None
        known = self.ledger.cursor
        usable = given is not None and known is not None and given.stream == known.stream and given.seq <= known.seq
        self.mend(Repair(_LOSSY, dropped=dropped, after=given if usable else None))
