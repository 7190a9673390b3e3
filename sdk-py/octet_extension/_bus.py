"""The event bus as a session sees it: the binding in force, and the topics that the author wants to hear of.

It changes while frames are taken, so that an answer and a notice take effect in the order in which the host has
sent them. Whoever uses it holds the lock of the session.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final

from octet_extension._errors import NoParent
from octet_extension._generated import canonical_wire as wire
from octet_extension._generated._json import Violation
from octet_extension._generated._models import Model
from octet_extension._generated._rows import Method

__all__ = ["Bus"]

_BINDING: Final = "binding_id"
_TOPIC: Final = "topic"
_UNKNOWN: Final = -1  # below every revision


@dataclasses.dataclass(eq=False, slots=True)
class _Asked:
    """A subscription that waits for its answer."""

    topic: str
    binding: str
    fresh: bool
    """Whether the topic was not wanted before."""


class Bus:
    """Follows the bus of one session."""

    def __init__(self) -> None:
        self._binding = ""
        self._revision = _UNKNOWN
        self._broken = False
        self._wanted: dict[str, int] = {}  # the newest revision of each topic under the binding
        self._asked: dict[str, _Asked] = {}

    def bind(self, row: Method, members: Mapping[str, object]) -> Mapping[str, object]:
        """Returns the members of a message with the binding in force. Raises NoParent where it has none."""
        if row.gate != wire.CAPABILITY_EVENT_BUS:
            return members
        if self._broken:
            raise NoParent(
                f"{row.name}: a notice of the bus could not be understood, so that its binding is withdrawn; "
                "the bus comes back with another process",
                row.name,
            )
        if not self._binding:
            raise NoParent(
                f"{row.name}: the host has not bound the bus yet; send it from a handler of "
                f"{wire.METHOD_BUS_LIFECYCLE}",
                row.name,
            )
        given = members.get(_BINDING, self._binding)
        if given != self._binding and isinstance(given, str):
            raise NoParent(f"{row.name}: the binding {given[:80]!r} is not in force; leave it out", row.name)
        return {**members, _BINDING: given}

    def misunderstood(self, row: Method) -> None:
        """Takes a notice that breaks its model. One of the bus ends it for this process (EXT03-BUS-009)."""
        self._broken = self._broken or row.name == wire.METHOD_BUS_LIFECYCLE

    def heard(self, notice: Model) -> list[tuple[Method, Mapping[str, object]]]:
        """Takes a notice. Returns the subscriptions to make again (EXT03-BUS-008)."""
        if self._broken:
            return []
        again: list[str] = []
        match notice:
            case wire.BusBindingNotice(binding_id=binding, binding_revision=revision):
                if revision > self._revision:
                    self._binding, self._revision = binding, revision
                    self._wanted = dict.fromkeys(self._wanted, _UNKNOWN)
                    again = sorted(self._wanted)
            case wire.BusTopicAvailable():
                if self._grow(notice.binding_id, notice.topic, notice.topic_revision):
                    again = [notice.topic]
            case wire.BusTopicUnavailable():
                self._grow(notice.binding_id, notice.topic, notice.topic_revision)
        row = wire.METHODS[wire.METHOD_BUS_SUBSCRIBE]
        return [(row, {_BINDING: self._binding, _TOPIC: topic}) for topic in again]

    def asked(self, request: str, row: Method, params: Mapping[str, object]) -> None:
        """Takes a request that goes out. A topic is wanted from then on: a notice may overtake the answer."""
        if row.name == wire.METHOD_BUS_UNSUBSCRIBE:
            self._wanted.pop(str(params[_TOPIC]), None)
        if row.name != wire.METHOD_BUS_SUBSCRIBE:
            return
        topic = str(params[_TOPIC])
        self._asked[request] = _Asked(topic, self._binding, topic not in self._wanted)
        self._wanted.setdefault(topic, _UNKNOWN)

    def settled(self, request: str, result: object) -> None:
        """Takes the result of a request, None for one that has none. That of a replaced binding says nothing."""
        asked = self._asked.pop(request, None)
        if asked is None:
            return
        try:
            answer = wire.BusSubscribeResult.from_json(result)
        except Violation:
            if asked.fresh and asked.binding == self._binding:
                self._wanted.pop(asked.topic, None)
            return
        if isinstance(answer, (wire.BusSubscribePending, wire.BusSubscribeActive)):
            self._grow(answer.binding_id, asked.topic, answer.topic_revision)

    def _grow(self, binding: str, topic: str, revision: int) -> bool:
        """Takes over a revision of a wanted topic. Reports whether it is news."""
        known = self._wanted.get(topic)
        if known is None or binding != self._binding or revision <= known:
            return False
        self._wanted[topic] = revision
        return True
