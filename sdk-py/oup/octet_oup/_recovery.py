"""How a session is opened again: behind what was read, or from its state where that is no longer kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Protocol, TypeVar, cast

from octet_oup._capabilities import with_capabilities
from octet_oup._errors import OupError, ProtocolError, ServerError, TimedOut
from octet_oup._events import Gap, TurnEnded, envelope, identity, optional
from octet_oup._feed import SEQUENCE, Feed, Phase, Repair
from octet_oup._generated import oup_wire as wire
from octet_oup._generated._json import Violation
from octet_oup._generated._models import Model
from octet_oup._generated._shapes import ABSENT
from octet_oup._generated.oup_calls import Calls
from octet_oup._inbox import Inbox
from octet_oup._state import envelopes_of, rows_of
from octet_oup._tolerant import tolerant

__all__ = ["Line", "Recovery"]

T = TypeVar("T")
Json = Mapping[str, object]

_EXPIRED: Final = wire.ERROR_CURSOR_OUT_OF_RANGE.code
_FOREIGN: Final = wire.ERROR_CURSOR_INVALID.code
_ENDED: Final = frozenset(state for machine, state in wire.TABLE_TERMINAL_STATES if machine == "turn")


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
    """What the recovery of a session needs of its client."""

    methods: Calls
    request_timeout: float | None

    def supports(self, method: str) -> bool:
        """Whether the server offers a method."""


class Recovery:
    """Opens one session, as often as it takes. confirmed is told the answer before anything else comes."""

    def __init__(
        self, owner: Owner, feed: Feed, params: wire.SessionOpenParams, confirmed: Callable[[wire.SessionOpened], None]
    ) -> None:
        self.repair: Repair | None = None
        """What has to be made good at the next open."""
        self._owner = owner
        self._feed = feed
        self._params = params
        self._confirmed = confirmed
        self._one = asyncio.Lock()

    async def restore(self, line: Line) -> None:
        """Opens the session on a connection, behind what was read. Raises what keeps it from being open."""
        async with self._one:
            while self._feed.phase is not Phase.OVER:
                repair = self.repair
                if repair is not None and repair.after is None:
                    await self._read_state(line, repair)
                elif repair is not None and repair.reason != SEQUENCE:
                    self.repair = None
                    self._feed.deliver(Gap(reason=repair.reason, dropped=repair.dropped, replayed=True))
                after = self._feed.ledger.cursor if repair is None or repair.after is None else repair.after
                try:
                    await self._open(line, after)
                except ServerError as refusal:
                    if after is None or refusal.code not in (_EXPIRED, _FOREIGN):
                        raise
                    self.repair = Repair("cursor_expired" if refusal.code == _EXPIRED else "cursor_invalid")
                    continue
                if self.repair is repair:
                    self.repair = None
                return

    async def _open(self, line: Line, after: wire.Cursor | None) -> None:
        params = self._params.replace(after=ABSENT if after is None else after)

        def at_once(result: object) -> None:
            opened = _opened(result)
            if self._feed.phase is Phase.OVER:
                return
            # The confirmed key carries the topic.
            self._params = self._params.replace(session_id=opened.session_id, topic=ABSENT)
            self._feed.opening(opened.session_id, after, optional(opened.cursor))
            self._confirmed(opened)

        within = self._owner.request_timeout
        await line.call(wire.METHOD_SESSION_OPEN, params.to_json(), timeout=within, at_once=at_once)

    async def _read_state(self, line: Line, repair: Repair) -> None:
        """Reads what cannot be replayed, and tells the readers that it is not."""
        key, state = self._params.session_id, None
        if self._owner.supports(wire.METHOD_SESSION_HYDRATE):
            params = wire.SessionHydrateParams(session_id=key)
            read = wire.SessionHydrateResult.from_json
            try:
                state = await self._ask(line, wire.METHOD_SESSION_HYDRATE, params, read)
            except ServerError:
                state = None
        if state is not None:
            self._rebuild(repair, state)
        else:
            self._feed.ledger.jump(self._feed.ledger.cursor if repair.reason == SEQUENCE else None, ())
            self._feed.deliver(Gap(reason=repair.reason, dropped=repair.dropped))
        self.repair = None
        for turn_id in [turn for turn in self._feed.turns if turn in self._feed.accepted]:
            await self._ask_state(line, turn_id)

    def _rebuild(self, repair: Repair, state: wire.SessionHydrateResult) -> None:
        """Goes on from a state. Readers of turns get what it holds of them and they lack; all others get the state."""
        feed = self._feed
        before = {thread: feed.ledger.last(thread) for thread in {one.thread_id for one in envelopes_of(state)}}
        feed.ledger.jump(state.cursor, (optional(state.projection_thread_sequences) or {}).items())
        feed.deliver(Gap(reason=repair.reason, dropped=repair.dropped, hydrated=state, cursor=state.cursor))
        for turn_id in list(feed.turns):
            for one in envelopes_of(state, turn_id):
                name = identity(one.to_json())
                if name is not None and one.seq > before[one.thread_id]:
                    event = envelope(name, one.to_json())
                    feed.ledger.apply(name, closes=isinstance(event, TurnEnded))
                    feed.deliver_to(turn_id, event)
            for row in rows_of(state, turn_id):
                feed.deliver_to(turn_id, row)
        for turn in optional(state.turns) or ():
            if turn.state in _ENDED:
                self._settle(turn.turn_id, turn.state)

    def _settle(self, turn_id: str, outcome: str) -> None:
        """Ends a turn whose end was lost."""
        if turn_id in self._feed.turns:
            self._feed.deliver_to(turn_id, TurnEnded(turn_id=turn_id, outcome=outcome, recovered=True))

    async def _ask_state(self, line: Line, turn_id: str) -> None:
        """Asks about a turn whose events may be lost. It is never started again for that."""
        if not self._owner.supports(wire.METHOD_TURN_STATE_GET):
            return
        params = wire.TurnStateGetParams(session_id=self._params.session_id, turn_id=turn_id)
        try:
            found = await self._ask(line, wire.METHOD_TURN_STATE_GET, params, wire.TurnStateGetResult.from_json)
        except (ServerError, TimedOut):
            return
        gone = found.state == wire.TurnState.UNKNOWN and found.running is False
        if gone or found.state in _ENDED:
            self._settle(turn_id, found.state)

    async def look_back(self, turn_id: str, inbox: Inbox) -> None:
        """Gives the reader of a turn that is over what it came to, unless something of it comes meanwhile."""
        methods, key = self._owner.methods, self._params.session_id
        try:
            found = await methods.turn_state_get(session_id=key, turn_id=turn_id)
        except OupError:
            return  # a server that does not tell is waited for
        if found.state not in _ENDED and not (found.state == wire.TurnState.UNKNOWN and found.running is False):
            return
        try:
            state = await methods.session_hydrate(session_id=key)
        except OupError:
            state = None
        if self._feed.turns.get(turn_id) is not inbox or inbox.used:
            return
        if state is not None:
            for one in envelopes_of(state, turn_id):
                if (name := identity(one.to_json())) is not None:
                    self._feed.deliver_to(turn_id, envelope(name, one.to_json()))
            for row in rows_of(state, turn_id):
                self._feed.deliver_to(turn_id, row)
        self._settle(turn_id, found.state)

    async def _ask(self, line: Line, method: str, params: Model, read: Callable[[object], T]) -> T:
        result = await line.call(method, params.to_json(), timeout=self._owner.request_timeout)
        try:
            return tolerant(read, result)
        except Violation as found:
            raise ProtocolError(f"the result of {method} breaks its model: {found}") from None


def _opened(result: object) -> wire.SessionOpened:
    members = cast(Json, result) if isinstance(result, dict) else {}
    try:
        return tolerant(wire.SessionOpened.from_json, with_capabilities(members.get("opened")))
    except Violation as found:
        raise ProtocolError(f"the result of {wire.METHOD_SESSION_OPEN} breaks its model: {found}") from None
