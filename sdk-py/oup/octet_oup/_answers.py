"""Approvals and questions: who is asked, what was answered, and what is still owed to the server."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Final, Protocol, TypeAlias

from octet_oup._errors import Disconnected, OupError, TimedOut
from octet_oup._generated import oup_wire as wire
from octet_oup._generated._shapes import ABSENT
from octet_oup._generated.oup_calls import Calls

__all__ = ["Answer", "Decision", "Desk", "OnApproval", "OnQuestion"]

_MOST_CASES: Final = 1024  # requests that are remembered; settled ones are forgotten first
_MOST_WORDS: Final = 400  # characters of an exception that go into a note
_log = logging.getLogger("octet_oup")


@dataclasses.dataclass(frozen=True, slots=True)
class Decision:
    """What is to become of a request for approval.

    scope says for how long the decision is remembered: request (this one alone), turn, tool, or session.
    """

    word: str
    scope: str = wire.ApprovalScope.REQUEST
    note: str = ""

    @classmethod
    def approve(cls, scope: str = wire.ApprovalScope.REQUEST, note: str = "") -> Decision:
        """Lets the tool run."""
        return cls(wire.ApprovalDecision.APPROVE, scope, note)

    @classmethod
    def deny(cls, note: str = "", scope: str = wire.ApprovalScope.REQUEST) -> Decision:
        """Keeps the tool from running. The note is kept with the decision."""
        return cls(wire.ApprovalDecision.DENY, scope, note)


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question: labels of its options, words of its own, or both."""

    labels: Sequence[str] = ()
    text: str = ""

    def on_the_wire(self) -> wire.UserQuestionAnswer:
        """Returns the answer as it is sent."""
        return wire.UserQuestionAnswer(selected_labels=self.labels or ABSENT, free_text=self.text or ABSENT)


OnApproval: TypeAlias = Callable[[wire.ApprovalRequestedEvent], Awaitable[Decision]]
"""Decides a request. One that raises denies, with the reason as the note."""
OnQuestion: TypeAlias = Callable[[wire.UserQuestionRequestedEvent], Awaitable[Sequence[Answer]]]
"""Answers each question of a request, in order. One that raises answers each with the reason."""


class Owner(Protocol):
    """What a desk needs of its session."""

    @property
    def key(self) -> str:
        """The session."""

    @property
    def methods(self) -> Calls:
        """What it calls."""

    def spawn(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Runs something that ends with the client."""


@dataclasses.dataclass(slots=True, eq=False)
class _Case:
    turn_id: str
    send: Callable[[], Awaitable[object]] | None = None
    """Sends what was decided; None while it is not."""
    ask: Callable[[_Case], Coroutine[object, object, None]] | None = None
    """Puts it before the callback; None where there is none, or it has been."""
    task: asyncio.Task[None] | None = None
    told: bool = True
    """The server has said that it waits, since the session was opened last."""
    settled: bool = False


_Work: TypeAlias = Callable[[_Case], Coroutine[object, object, None]]


class Desk:
    """The requests of one session. Each is put before its callback once, and not while older events are replayed."""

    def __init__(self, owner: Owner, on_approval: OnApproval | None, on_question: OnQuestion | None) -> None:
        self._owner = owner
        self._on_approval = on_approval
        self._on_question = on_question
        self._cases: OrderedDict[str, _Case] = OrderedDict()
        self._open = False

    def approval(self, request: wire.ApprovalRequestedEvent) -> bool:
        """Takes a request in, and reports whether it is new. One that is told again is still waited for."""
        return self._take(request.approval_id, request.turn_id, self._decide(request))

    def question(self, request: wire.UserQuestionRequestedEvent) -> bool:
        """Takes questions in, and reports whether they are new."""
        return self._take(request.question_id, request.turn_id, self._reply(request))

    def settled(self, request_id: str) -> None:
        """Notes that a request is no longer waited for, wherever it was decided."""
        self._settle(self._cases.setdefault(request_id, _Case("")))
        self._trim()

    def turn_ended(self, turn_id: str) -> None:
        """Notes that nothing of a turn is waited for."""
        for case in self._cases.values():
            if case.turn_id == turn_id:
                self._settle(case)

    def hold(self) -> None:
        """Asks nobody until release: what is told now may have been decided since."""
        self._open = False
        for case in self._cases.values():
            case.told = False

    def release(self) -> None:
        """Asks about what is still waited for, and sends again what was decided and lost on its way.

        By now the server has told everything that it waits for.
        """
        self._open = True
        for case in self._cases.values():
            if case.told:
                self._go_on(case)
            else:
                self._settle(case)

    def close(self) -> None:
        """Asks nobody any more."""
        self._open = False
        for case in self._cases.values():
            self._settle(case)

    def _settle(self, case: _Case) -> None:
        case.settled = True
        if case.task is not None and case.send is None:  # somebody is still thinking about it
            case.task.cancel()

    def _take(self, request_id: str, turn_id: str, ask: _Work | None) -> bool:
        case = self._cases.get(request_id)
        new = case is None
        if case is None:
            case = self._cases[request_id] = _Case(turn_id, ask=ask)
        case.told = True
        self._trim()
        if self._open:
            self._go_on(case)
        return new

    def _go_on(self, case: _Case) -> None:
        if case.settled or case.task is not None:
            return
        if case.send is not None:
            case.task = self._owner.spawn(self._deliver(case))
        elif case.ask is not None:
            ask, case.ask = case.ask, None
            case.task = self._owner.spawn(ask(case))

    def _trim(self) -> None:
        while len(self._cases) > _MOST_CASES:
            oldest = next((name for name, case in self._cases.items() if case.settled), next(iter(self._cases)))
            self._settle(self._cases.pop(oldest))

    # --- asking

    def _decide(self, request: wire.ApprovalRequestedEvent) -> _Work | None:
        ask = self._on_approval
        if ask is None:
            return None

        async def work(case: _Case) -> None:
            try:
                decision = await ask(request)
                if not isinstance(decision, Decision):
                    raise TypeError(f"on_approval returned {decision!r}: return a Decision")  # noqa: TRY301
            except Exception as fault:  # noqa: BLE001 - the turn must not hang on it
                _log.exception("on_approval failed, so %r is denied", request.title)
                decision = Decision.deny(_words(fault))
            case.send = lambda: self._owner.methods.approval_respond(
                session_id=self._owner.key,
                approval_id=request.approval_id,
                decision=decision.word,
                approval_scope=decision.scope,
                client_note=decision.note or ABSENT,
            )
            await self._deliver(case)

        return work

    def _reply(self, request: wire.UserQuestionRequestedEvent) -> _Work | None:
        ask = self._on_question
        if ask is None:
            return None

        async def work(case: _Case) -> None:
            try:
                answers = list(await ask(request))
                if len(answers) != len(request.questions):
                    raise ValueError(  # noqa: TRY301
                        f"on_question returned {len(answers)} answers to {len(request.questions)} questions: "
                        "return one for each"
                    )
            except Exception as fault:  # noqa: BLE001 - the turn must not hang on it
                _log.exception("on_question failed, so %r is answered with the reason", request.title)
                answers = [Answer(text=f"no answer: {_words(fault)}")] * len(request.questions)
            case.send = lambda: self._owner.methods.user_question_respond(
                session_id=self._owner.key,
                question_id=request.question_id,
                answers=[answer.on_the_wire() for answer in answers],
            )
            await self._deliver(case)

        return work

    async def _deliver(self, case: _Case) -> None:
        assert case.send is not None  # noqa: S101
        try:
            await case.send()
        except (Disconnected, TimedOut):
            return  # told again when the session is opened again, if it is still waited for
        except OupError as fault:
            _log.warning("an answer was refused: %s", fault)
        finally:
            case.task = None
        case.settled = True


def _words(fault: Exception) -> str:
    return f"{type(fault).__name__}: {fault}"[:_MOST_WORDS]
