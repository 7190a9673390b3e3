"""The event bus: which binding a message carries, and which subscriptions are made again."""

from __future__ import annotations

from typing import Any

import pytest

from octet_extension import Call, Extension, HostError, NoParent
from octet_extension._bus import Bus
from octet_extension._generated._rows import Method
from octet_extension.api_v03 import (
    CAPABILITY_EVENT_BUS,
    METHOD_BUS_LIFECYCLE,
    METHOD_BUS_SUBSCRIBE,
    METHOD_BUS_UNSUBSCRIBE,
    METHOD_PROVIDERS_REGISTER,
    METHODS,
    BusBindingNotice,
    BusTopicAvailable,
)
from octet_extension.testing import TestHost

TOPIC = "bus.other.news"
SUBSCRIBE = METHODS[METHOD_BUS_SUBSCRIBE]


def binding(name: str, revision: int) -> BusBindingNotice:
    return BusBindingNotice(binding_id=name, binding_revision=revision)


def available(name: str, revision: int) -> BusTopicAvailable:
    return BusTopicAvailable(
        binding_id=name, topic=TOPIC, topic_revision=revision, publisher_instance_id="i", process_generation=1
    )


def pending(name: str, revision: int) -> dict[str, Any]:
    return {"state": "pending", "binding_id": name, "topic_revision": revision}


def subscribed(answer: object) -> Bus:
    bus = Bus()
    bus.heard(binding("b1", 1))
    bus.asked("c-1", SUBSCRIBE, dict(bus.bind(SUBSCRIBE, {"topic": TOPIC})))
    bus.settled("c-1", answer)
    return bus


def test_a_message_carries_the_binding_in_force() -> None:
    bus = Bus()
    with pytest.raises(NoParent, match="not bound"):
        bus.bind(SUBSCRIBE, {"topic": TOPIC})
    assert bus.heard(binding("b1", 1)) == []
    assert bus.bind(SUBSCRIBE, {"topic": TOPIC}) == {"topic": TOPIC, "binding_id": "b1"}
    assert bus.bind(SUBSCRIBE, {"topic": TOPIC, "binding_id": "b1"})["binding_id"] == "b1"
    with pytest.raises(NoParent, match="not in force"):
        bus.bind(SUBSCRIBE, {"topic": TOPIC, "binding_id": "b0"})
    other = METHODS[METHOD_PROVIDERS_REGISTER]
    assert bus.bind(other, {}) == {}


def test_a_new_binding_renews() -> None:
    bus = subscribed(pending("b1", 0))
    assert bus.heard(binding("b0", 1)) == []
    assert bus.heard(binding("b2", 2)) == [(SUBSCRIBE, {"topic": TOPIC, "binding_id": "b2"})]


@pytest.mark.parametrize(
    ("answer", "notice", "again"),
    [
        (pending("b1", 3), available("b1", 4), True),
        (pending("b1", 4), available("b1", 4), False),
        (pending("b0", 9), available("b1", 4), True),
        (pending("b1", 3), available("b0", 4), False),
    ],
)
def test_news_of_a_topic_renew(answer: object, notice: BusTopicAvailable, *, again: bool) -> None:
    assert bool(subscribed(answer).heard(notice)) is again


def test_what_was_refused_or_dropped_is_not_renewed() -> None:
    assert subscribed(None).heard(binding("b2", 2)) == []
    bus = subscribed(pending("b1", 0))
    bus.asked("c-2", METHODS[METHOD_BUS_UNSUBSCRIBE], {"topic": TOPIC, "binding_id": "b1"})
    assert bus.heard(binding("b2", 2)) == []


def test_a_notice_that_says_nothing_ends_the_bus() -> None:
    bus = subscribed(pending("b1", 0))
    row: Method = METHODS[METHOD_BUS_LIFECYCLE]
    bus.misunderstood(row)
    assert bus.heard(binding("b2", 2)) == []
    with pytest.raises(NoParent, match="withdrawn"):
        bus.bind(SUBSCRIBE, {"topic": TOPIC})


def test_a_session_subscribes_again() -> None:
    ext = Extension(api="0.3", uses=(CAPABILITY_EVENT_BUS,))

    @ext.tool()
    def listen(call: Call) -> str:
        """Listens."""
        try:
            return type(call.services.bus.subscribe(topic=TOPIC)).__name__
        except (HostError, NoParent) as fault:
            return type(fault).__name__

    with TestHost(ext) as host:
        host.serve("bus.subscribe", lambda params: pending(str(params["binding_id"]), 0))
        assert host.call("listen").text == "NoParent"
        host.emit("bus_lifecycle", binding("b1", 1))
        assert host.call("listen").text == "BusSubscribePending"
        host.emit("bus_lifecycle", binding("b2", 2))
        assert host.wait_sent("bus.subscribe", 2).params == {"topic": TOPIC, "binding_id": "b2"}
