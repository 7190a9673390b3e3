"""One legal spelling: what the check accepts is exactly what the encoder writes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_json import TEXTS

from octet_extension import _canonical
from octet_extension._generated._json import JsonSyntaxError, Violation

MAXIMUM = 2**53 - 1
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-MAXIMUM, MAXIMUM) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_written_is_accepted_and_comes_back(value: Any) -> None:
    data = _canonical.encode(value)
    assert _canonical.check(data) == value


@given(VALUES, st.booleans())
def test_any_other_spelling_is_refused(value: Any, ascii_only: bool) -> None:
    canonical = _canonical.encode(value)
    for other in (
        json.dumps(value, ensure_ascii=ascii_only, indent=1).encode(),
        json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"), sort_keys=True).encode(),
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(),
        b" " + canonical,
        canonical + b"\n",
    ):
        if other == canonical:
            assert _canonical.check(other) == value
        else:
            with pytest.raises(JsonSyntaxError):
                _canonical.check(other)


@given(VALUES, st.integers(0, 1 << 30), st.integers(0, 255))
def test_a_changed_byte_gives_another_value_or_none(value: Any, place: int, byte: int) -> None:
    data = bytearray(_canonical.encode(value))
    data[place % len(data)] = byte
    try:
        found = _canonical.check(bytes(data))
    except JsonSyntaxError:
        return
    assert _canonical.encode(found) == bytes(data)


@given(st.binary(max_size=80))
def test_any_bytes_are_accepted_or_refused(data: bytes) -> None:
    try:
        value = _canonical.check(data)
    except JsonSyntaxError:
        return
    assert _canonical.encode(value) == data


@pytest.mark.parametrize("number", [MAXIMUM + 1, -MAXIMUM - 1, 10**700, 1.5, 2.0, -0.0])
def test_no_other_numbers(number: float) -> None:
    for value in (number, [number], {"a": {"b": [number]}}):
        with pytest.raises(Violation):
            _canonical.encode(value)


@pytest.mark.parametrize(
    "text",
    [
        "1.0", "1e1", "-0", "0.5", "1E400", "NaN", "-Infinity", "9007199254740992", "-9007199254740992", "9" * 5000,
        '{"a":1,"a":1}', '{"b":1,"a":1}', '"\\u0061"', '"\\/"', '"\\u000A"', "[1, 2]", "\ufeff1", "", "nul",
    ],
)  # fmt: skip
def test_check_refuses(text: str) -> None:
    with pytest.raises(JsonSyntaxError):
        _canonical.check(text.encode())


def test_long_digits_inside_a_string_are_no_number() -> None:
    for text in ("9007199254740992", "1.5e7", ":0.5", "[9.9e9"):
        data = json.dumps([text], separators=(",", ":")).encode()
        assert _canonical.check(data) == [text]
        assert _canonical.encode([text]) == data


def test_depth_32_is_the_deepest() -> None:
    deepest = b"[" * 32 + b"1" + b"]" * 32
    assert _canonical.encode(_canonical.check(deepest)) == deepest
    _canonical.check(b"[" * 33 + b"]" * 33)
    for data in (b"[" * 33 + b"1" + b"]" * 33, b"[" * 34 + b"]" * 34, b"[" * 500_000):
        with pytest.raises(JsonSyntaxError, match="32"):
            _canonical.check(data)
    value: object = 1
    for _ in range(33):
        value = [value]
    with pytest.raises(Violation, match="32"):
        _canonical.encode(value)


def test_the_first_difference_is_named() -> None:
    with pytest.raises(JsonSyntaxError) as caught:
        _canonical.check(b'{"a": 1}')
    assert caught.value.offset == 5
