"""However a connection is cut, a reader that comes back sees what an undisturbed one sees, once and in order."""

from __future__ import annotations

import dataclasses
import random

import pytest

from octet_oup._events import Identity
from octet_oup._generated.oup_wire import Cursor
from octet_oup._threads import Ledger, Verdict

KEY = "_main:local:lab"


@dataclasses.dataclass(frozen=True)
class Entry:
    """One event of a ledger. An envelope has a thread; the others show no position."""

    place: int
    text: str
    thread: str = ""
    number: int = 0
    last: bool = False


def story(draw: random.Random, length: int) -> list[Entry]:
    entries: list[Entry] = []
    threads: dict[str, int] = {}
    made = 0
    for place in range(1, length + 1):
        if draw.random() < 0.3:
            entries.append(Entry(place, f"status {draw.randrange(3)}"))  # the same words may come twice
            continue
        if not threads or draw.random() < 0.2:
            made += 1
            threads[f"t{made}"] = 0
        thread = draw.choice(sorted(threads))
        threads[thread] += 1
        last = draw.random() < 0.1
        entries.append(Entry(place, f"{place}", thread, threads[thread], last))
        if last:
            del threads[thread]
    return entries


class Reader:
    """Reads a ledger over connections that are cut."""

    def __init__(self) -> None:
        self.ledger = Ledger(KEY, Cursor(stream=KEY, seq=0))
        self.seen: list[str] = []

    def take(self, entry: Entry) -> None:
        if not entry.thread:
            if self.ledger.unplaced(entry.text.encode()):
                self.seen.append(entry.text)
            return
        name = Identity(entry.thread, entry.thread, entry.number, Cursor(stream=KEY, seq=entry.place))
        verdict = self.ledger.judge(name)
        assert verdict in (Verdict.NEW, Verdict.REPEATED), (verdict, entry)
        if verdict is Verdict.NEW:
            self.ledger.apply(name, closes=entry.last)
            self.seen.append(entry.text)


@pytest.mark.parametrize("seed", range(200))
def test_a_reader_that_is_cut_off_sees_what_another_sees(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - the same ones every time
    entries = story(draw, 60)
    reader = Reader()
    head = 0
    while head < len(entries):
        known = reader.ledger.cursor
        assert known is not None
        # Mostly where the reader stands; at times where the server says, before that.
        after = known if draw.random() < 0.8 else Cursor(stream=KEY, seq=placed(entries, draw.randint(0, known.seq)))
        reader.ledger.replay(after)
        for entry in entries[after.seq : head]:
            reader.take(entry)
        reader.ledger.live()
        step = draw.randint(0, 12)
        for entry in entries[head : head + step]:
            reader.take(entry)
        head += step
    assert reader.seen == [entry.text for entry in entries]


def placed(entries: list[Entry], place: int) -> int:
    """Returns the last place up to there that a server would name: one that a frame shows."""
    while place and not entries[place - 1].thread:
        place -= 1
    return place


def name(thread: str, number: int, place: int | None) -> Identity:
    return Identity(thread, thread, number, None if place is None else Cursor(stream=KEY, seq=place))


def test_a_turn_that_begins_here_begins_with_one() -> None:
    ledger = Ledger(KEY, None)
    assert ledger.judge(name("t", 5, 9)) is Verdict.NEW  # it was running before
    ledger.begin("t")
    assert ledger.judge(name("t", 5, 9)) is Verdict.OUT_OF_ORDER
    assert ledger.judge(name("t", 1, 9)) is Verdict.NEW


def test_memory_is_bounded() -> None:
    ledger = Ledger(KEY, None)
    for number in range(5000):
        ledger.begin(f"t{number}")
        ledger.apply(name(f"t{number}", 1, number + 1), closes=True)
    for number in range(9000):
        assert ledger.unplaced(str(number).encode())
    assert len(ledger._streams) == len(ledger._begun) == 1024
    assert len(ledger._behind) == 4096


def test_a_jump_keeps_what_is_over_and_takes_the_numbers_it_is_given() -> None:
    ledger = Ledger(KEY, None)
    ledger.apply(name("over", 3, 1), closes=True)
    ledger.apply(name("runs", 1, 2), closes=False)
    ledger.jump(Cursor(stream=KEY, seq=50), {"runs": 7, "over": 3}.items())
    assert ledger.judge(name("over", 4, 51)) is Verdict.LATE
    assert ledger.judge(name("runs", 8, 51)) is Verdict.NEW
    assert ledger.judge(name("runs", 9, 51)) is Verdict.OUT_OF_ORDER
    assert ledger.judge(name("runs", 7, 50)) is Verdict.REPEATED


def test_what_a_replay_leaves_out_is_not_counted_off_later() -> None:
    ledger = Ledger(KEY, None)
    ledger.apply(name("t", 1, 1), closes=False)
    assert ledger.unplaced(b"not kept by the server")
    ledger.replay(ledger.cursor)
    ledger.apply(name("t", 2, 2), closes=False)
    assert ledger.unplaced(b"not kept by the server")
