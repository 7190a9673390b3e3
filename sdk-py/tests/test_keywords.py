"""What the newer keywords of the dialect refuse: violation and pointer, as the other languages judge."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from octet_extension._generated import _models, _shapes
from octet_extension._generated._json import Violation


class Delay(_models.Model):
    __slots__ = ("delay",)
    delay: int

    def __init__(self, *, delay: int) -> None:
        self.delay = delay


class Item(_models.Model):
    __slots__ = ("command", "items", "note", "title")

    def __init__(self, *, command: Any = None, items: Any = None, note: Any = None, title: Any = None) -> None:
        self.command, self.items, self.note, self.title = command, items, note, title


WORD = _shapes.Choice(("retry", "stop"))
Delay.SHAPE = _models.RecordShape(
    Delay, (_models.Field("delay", "delay", _shapes.Integer(0, 9), required=True),), closed=True
)
EITHER = _models.EitherShape(WORD, Delay)
Item.SHAPE = _models.RecordShape(
    Item,
    (
        _models.Field("command", "command", _shapes.Text(), nullable=True),
        _models.Field("items", "items", _shapes.List(_models.Ref(Item), max_encoded_bytes=40), nullable=True),
        _models.Field("note", "note", _shapes.Text(controls="text")),
        _models.Field("title", "title", _shapes.Text(controls="none", pattern="^[a-z\x7f]*$")),
    ),
    closed=True,
    exactly_one=("command", "items"),
    at_most_one=("note", "title", "command"),
)


class Advice(_models.Either):
    __slots__ = ()
    SHAPE: ClassVar[_shapes.Shape] = EITHER


def verdict(shape: _shapes.Shape, value: object) -> tuple[str, str] | None:
    try:
        shape.read(value)
    except Violation as found:
        return found.violation, found.pointer
    return None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"command": "a"}, None),
        ({"items": []}, None),
        ({"items": [{"command": "a"}]}, None),
        ({}, ("missing", "/command")),
        ({"command": None}, ("missing", "/command")),
        ({"command": None, "items": None}, ("missing", "/command")),
        ({"command": "a", "items": None}, None),
        ({"command": "a", "items": []}, ("forbidden", "/items")),
        ({"command": "a", "items": [], "note": "n"}, ("forbidden", "/items")),
        ({"command": "a", "title": "t"}, ("forbidden", "/command")),
        ({"items": [], "note": "n", "title": "t"}, ("forbidden", "/title")),
        ({"command": "a", "items": [], "more": 1}, ("unknown", "/more")),
        ({"command": 1}, ("type", "/command")),
        ({"items": [{"items": [{}]}]}, ("missing", "/items/0/items/0/command")),
        ({"items": [{"command": "x" * 24}]}, None),
        ({"items": [{"command": "x" * 25}]}, ("bytes", "/items")),
        ({"items": [{"command": "x" * 25}, {}]}, ("missing", "/items/1/command")),
        ({"items": [], "note": "a\tb\nc"}, None),
        ({"items": [], "note": "a\rb"}, ("pattern", "/note")),
        ({"items": [], "note": "\x00"}, ("pattern", "/note")),
        ({"items": [], "note": "\x9f"}, ("pattern", "/note")),
        ({"items": [], "note": "\xa0"}, None),
        ({"items": [], "title": "a\n"}, ("pattern", "/title")),
        ({"items": [], "title": "\x7f"}, ("pattern", "/title")),
        ({"items": [], "title": "A"}, ("pattern", "/title")),
    ],
)
def test_members_that_exclude_each_other_and_controls(value: object, expected: tuple[str, str] | None) -> None:
    assert verdict(Item.SHAPE, value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("retry", None),
        ("wait", ("value", "")),
        ({"delay": 3}, None),
        ({"delay": 10}, ("range", "/delay")),
        ({}, ("missing", "/delay")),
        (3, ("type", "")),
        (None, ("type", "")),
        (["retry"], ("type", "")),
    ],
)
def test_the_json_type_selects_what_judges(value: object, expected: tuple[str, str] | None) -> None:
    assert verdict(EITHER, value) == expected


def test_a_choice_is_written_back() -> None:
    assert Advice.recode(b'"stop"') == b'"stop"'
    assert Advice.recode(b'{"delay": 3}') == b'{"delay":3}'
    assert Advice.from_json("stop") == "stop"
    assert Advice.decode('{"delay":1}') == Delay(delay=1)


@pytest.mark.parametrize(
    ("controls", "legal"), [("", "\x00\t\n\r\x9f"), ("none", ""), ("text", "\t\n"), ("edit", "\t\n\r")]
)
def test_each_class_of_controls(controls: str, legal: str) -> None:
    shape = _shapes.Text(controls=controls)
    for code in [*range(0x20), *range(0x7F, 0xA0)]:
        expected = None if not controls or chr(code) in legal else ("pattern", "")
        assert verdict(shape, chr(code)) == expected, hex(code)
    assert verdict(shape, "plain \u2028 \xa0") is None


def test_bounds_come_before_controls_and_controls_before_the_pattern() -> None:
    assert verdict(_shapes.Text(max_bytes=1, controls="none"), "\x00\x00") == ("bytes", "")
    with pytest.raises(Violation, match=r"U\+0001"):
        _shapes.Text(controls="none", pattern="^a$").read("\x01")


def test_a_model_is_copied_with_other_values() -> None:
    assert Delay(delay=1).replace(delay=2) == Delay(delay=2)
    with pytest.raises(TypeError):
        Delay(delay=1).replace(other=2)
