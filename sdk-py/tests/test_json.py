"""The strict reader and the one-spelling writer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octet_extension._generated._json import JsonSyntaxError, Number, Violation, encode, parse, too_deep

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a":1,"a":2}', "stands twice"),
        ('{"a":1,"\\u0061":2}', "stands twice"),
        ('[{"k":{"b":1,"b":1}}]', "stands twice"),
        ('"\\ud800"', "lone surrogate"),
        ('{"\\udc00":1}', "lone surrogate"),
        ('"\\ud800\\u0061"', "lone surrogate"),
        ('"\ud800"', "lone surrogate"),
        ("NaN", "NaN is not JSON"),
        ("[-Infinity]", "not JSON"),
        ("[1,]", "offset"),
        ("01", "offset 1"),
        ("1.", "offset"),
        ("+1", "offset 0"),
        ('"a\tb"', "control character"),
        ("\ufeff1", "offset 0"),
        ("1 2", "extra data"),
        ("", "offset 0"),
        ("{'a':1}", "offset"),
        ("[" * 129 + "1" + "]" * 129, "enclose"),
    ],
)
def test_parse_refuses(text: str, reason: str) -> None:
    with pytest.raises(JsonSyntaxError, match=reason):
        parse(text)


@pytest.mark.parametrize("data", [b"\xff", b'"\xc0\xaf"', b'"\xed\xa0\x80"', b'"\xf5\x80\x80\x80"', b'"\xe2\x82'])
def test_parse_refuses_bytes_that_are_not_utf8(data: bytes) -> None:
    with pytest.raises(JsonSyntaxError, match="UTF-8"):
        parse(data)


@pytest.mark.parametrize(
    "text", ["1.50", "1e2", "1E+2", "-0", "-0.0", "1e400", "0.1", "9" * 5000, "-" + "9" * 700, "12345678901234567890"]
)
def test_numbers_keep_their_spelling(text: str) -> None:
    for wrapped in (text, f"[{text}]", f'{{"a":{text}}}'):
        assert encode(parse(wrapped)) == wrapped.encode()


def test_a_negative_zero_is_found_behind_many_signs() -> None:
    for count in (0, 1, 63, 64, 65, 200):
        text = "[" + "-1," * count + "-0]"
        assert encode(parse(text)) == text.encode()


def test_integers_stay_exact() -> None:
    assert parse("12345678901234567890") == 12345678901234567890
    assert type(parse("7")) is int
    assert isinstance(parse("7.0"), Number)
    assert parse("7.0") == 7


def test_members_keep_their_order() -> None:
    value = parse('{"b":1,"a":2}')
    assert isinstance(value, dict)
    assert list(value) == ["b", "a"]


def test_escaped_pairs_and_backslashes_are_no_lone_surrogates() -> None:
    assert parse('"\\ud83d\\udc27"') == "\U0001f427"
    assert parse('"\\\\ud800"') == "\\ud800"


def test_depth_counts_what_encloses_a_value() -> None:
    assert not too_deep(b"[" * 4 + b"]" * 4, 3)
    assert too_deep(b"[" * 5 + b"]" * 5, 3)
    assert too_deep(b"[" * 4 + b"1" + b"]" * 4, 3)
    assert too_deep(b'{"a":[[[1]]]}', 3)
    assert not too_deep(b'"[[[[[["', 3)
    assert not too_deep(b'["\\"[[[[", "[[[["]', 1)
    assert not too_deep(b"[],[],[],[],[]", 1)
    parse("[" * 128 + "1" + "]" * 128)


def depth_of(value: Any) -> int:
    """Returns how many arrays and objects enclose the value that is deepest."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return max((1 + depth_of(one) for one in inner), default=0)


@given(VALUES | st.lists(st.text('[]{}"\\', max_size=6), max_size=6), st.integers(0, 9))
def test_depth_is_the_same_counted_on_brackets_and_on_values(value: Any, bound: int) -> None:
    assert too_deep(encode(value), bound) == (depth_of(value) > bound)
    # So many brackets beside it that their number settles nothing.
    assert too_deep(encode([value, [[]] * 200]), bound + 2) == (depth_of(value) > bound + 1)


def test_a_flood_of_brackets_is_refused_without_recursion() -> None:
    with pytest.raises(JsonSyntaxError, match="enclose"):
        parse("[" * 1_000_000)
    with pytest.raises(JsonSyntaxError):
        parse('["' + "\\" * 999_999)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (float("nan"), "no JSON spelling"),
        ([float("inf")], "no JSON spelling"),
        ({1: 2}, "not a string"),
        ([{"a": {None: 1}}], "not a string"),
        (b"bytes", "a bytes has no JSON form"),
        ({"a": {1, 2}}, "a set has no JSON form"),
        ("\ud800", "lone surrogate"),
        ({"\udfff": 1.5}, "lone surrogate"),
    ],
)
def test_encode_refuses(value: object, reason: str) -> None:
    with pytest.raises(Violation, match=reason):
        encode(value)


def test_encode_refuses_what_holds_itself() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(Violation, match="enclose"):
        encode(loop)


def test_encode_spells_strings_one_way() -> None:
    assert encode('"\\\b\t\n\f\r\x00\x1f/<>&\x7f\x85\u2028\ufeff\U0001f427') == (
        b'"\\"\\\\\\b\\t\\n\\f\\r\\u0000\\u001f/<>&\x7f\xc2\x85\xe2\x80\xa8\xef\xbb\xbf\xf0\x9f\x90\xa7"'
    )


LONG = st.lists(TEXTS, min_size=1, max_size=3).map(lambda some: "".join(some) + "".join(some * 3000)[:9000])


@given(LONG | LONG.map(lambda text: text + "\x00\b\f"), st.floats(allow_nan=False, allow_infinity=False))
def test_long_strings_are_spelled_like_short_ones(text: str, number: float) -> None:
    for value in (text, [text, 1], {"a": {"b": text}, "c": [None, True, number]}):
        wanted = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        assert encode(value) == wanted.encode()
        assert parse(wanted) == value


def test_encode_refuses_a_lone_surrogate_in_a_long_string() -> None:
    with pytest.raises(Violation, match="lone surrogate"):
        encode({"a": "x" * 9000 + "\udc00"})


@pytest.mark.parametrize(("value", "reason"), [(8, "range"), ([-8], "range"), ({"a": 0.5}, "no other numbers")])
def test_encode_keeps_to_the_largest_integer(value: object, reason: str) -> None:
    assert encode([7, -7, True, "8"], largest=7) == b'[7,-7,true,"8"]'
    with pytest.raises(Violation, match=reason):
        encode(value, largest=7)


def test_encode_sorts_members_by_scalar_value() -> None:
    assert encode({"\U0001f600": 1, "\ue000": 2, "": 3, "a b": 4, "a": 5}) == (
        '{"":3,"a":5,"a b":4,"\ue000":2,"\U0001f600":1}'.encode()
    )
    assert encode({"b": 1.5, "a": [], "c": {}, "d": (1, [2.5])}) == b'{"a":[],"b":1.5,"c":{},"d":[1,[2.5]]}'


@given(VALUES)
def test_what_is_written_reads_back(value: Any) -> None:
    data = encode(value)
    assert json.loads(data) == value
    again = parse(data)
    assert again == value
    assert encode(again) == data


@given(st.binary(max_size=64) | st.text(max_size=64).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        value = parse(data)
    except JsonSyntaxError:
        return
    assert json.loads(data) is not None or value is None


@given(st.text('[]{}",:\\u0dD8a19-.eE \n', max_size=40))
def test_any_text_like_json_is_read_or_refused(text: str) -> None:
    try:
        value = parse(text)
    except JsonSyntaxError:
        return
    assert parse(encode(value)) == value
