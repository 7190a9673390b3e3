"""The one validator: which violation, where, in which order, and the four states of a member."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_json import VALUES

from octet_extension._generated import canonical_wire, feature_wire, manifest_doc
from octet_extension._generated._json import JsonSyntaxError, Violation, parse
from octet_extension._generated._models import Field, Model, RecordShape, Ref, Scalar, UnionShape, Variant
from octet_extension._generated._shapes import (
    ABSENT,
    ANY,
    BOOLEAN,
    OBJECT,
    Absent,
    Blob,
    Choice,
    Const,
    Id,
    Integer,
    List,
    MapOf,
    Real,
    Shape,
    Text,
)


def violation(shape: Shape, text: str) -> tuple[str, str]:
    with pytest.raises(Violation) as caught:
        shape.read(parse(text))
    return caught.value.violation, caught.value.pointer


@pytest.mark.parametrize(
    ("shape", "text", "expected"),
    [
        (Text(), "1", "type"),
        (Text(min_bytes=2), '"a"', "bytes"),
        (Text(max_bytes=2), '"éa"', "bytes"),
        (Text(not_blank=True), '" \\t\\n\\u000b\\f\\r"', "bytes"),
        (Text(pattern="^[a-z]+$"), '"a\\n"', "pattern"),
        (Text(pattern="^[a-z]+$"), '"a1"', "pattern"),
        (Text(pattern=r"^\d+$"), '"\u0663"', "pattern"),
        (Text(max_bytes=1, pattern="^[a-z]+$"), '"A1"', "bytes"),
        (Const("x"), "null", "type"),
        (Const("x"), '"y"', "value"),
        (Choice(("a", "b")), '"c"', "value"),
        (Choice(("a", "b")), "true", "type"),
        (Choice(("a",), keep_unknown=True), "1", "type"),
        (BOOLEAN, "0", "type"),
        (Integer(0, 9), "1.0", "type"),
        (Integer(0, 9), "1e0", "type"),
        (Integer(0, 9), "true", "type"),
        (Integer(0, 9), '"1"', "type"),
        (Integer(0, 9), "10", "range"),
        (Integer(0, 9), "-1", "range"),
        (Integer(0, 9), "9" * 5000, "range"),
        (Integer(0, 9), "-" + "9" * 5000, "range"),
        (Real(0, 1), '"1"', "type"),
        (Real(0, 1), "true", "type"),
        (Real(0, 1), "1.5", "range"),
        (Real(0, 1), "-0.5", "range"),
        (Id(max_bytes=4, maximum=9), '""', "id"),
        (Id(max_bytes=4, maximum=9), '"ééé"', "id"),
        (Id(max_bytes=4, maximum=9), "-1", "id"),
        (Id(max_bytes=4, maximum=9), "-0", "id"),
        (Id(max_bytes=4, maximum=9), "1.5", "id"),
        (Id(max_bytes=4, maximum=9), "10", "id"),
        (Id(max_bytes=4, maximum=9), "true", "id"),
        (Id(max_bytes=4, maximum=9), "[]", "id"),
        (OBJECT, "[]", "type"),
        (Blob(max_encoded_bytes=4), '"abc"', "bytes"),
        (Blob(object_only=True, max_encoded_bytes=4), '{"a":1}', "bytes"),
        (List(BOOLEAN), "{}", "type"),
        (List(BOOLEAN, min_items=1), "[]", "items"),
        (List(BOOLEAN, max_items=1), "[true,true]", "items"),
        (MapOf(BOOLEAN), "[]", "type"),
    ],
)
def test_shape_refuses(shape: Shape, text: str, expected: str) -> None:
    assert violation(shape, text) == (expected, "")


@pytest.mark.parametrize(
    ("shape", "text", "expected"),
    [
        (List(BOOLEAN, max_items=1), "[true,null]", ("null", "/1")),
        (List(BOOLEAN, max_items=1), "[true,1]", ("type", "/1")),
        (List(Text(), unique=True), '["a","b","a","b"]', ("duplicate", "/2")),
        (List(OBJECT, unique_by="n"), '[{"n":"a"},{},{"n":"a"}]', ("duplicate", "/2")),
        (MapOf(BOOLEAN), '{"a/b~c":null}', ("null", "/a~1b~0c")),
        (MapOf(BOOLEAN), '{"":1}', ("type", "/")),
        (MapOf(BOOLEAN), '{"b":1,"a":null}', ("null", "/a")),
        (MapOf(BOOLEAN, key_pattern="^[a-z]$"), '{"A":true}', ("pattern", "/A")),
        (MapOf(List(BOOLEAN)), '{"a":[1]}', ("type", "/a/0")),
    ],
)
def test_shape_points_at_the_place(shape: Shape, text: str, expected: tuple[str, str]) -> None:
    assert violation(shape, text) == expected


@pytest.mark.parametrize(
    ("shape", "text", "typed"),
    [
        (Text(min_bytes=1, max_bytes=2), '"é"', "é"),
        (Choice(("a",), keep_unknown=True), '"zz"', "zz"),
        (Integer(-1, 9), "-1", -1),
        (Integer(0, 9), "-0", 0),
        (Real(), "1e400", float("inf")),
        (Id(max_bytes=4, maximum=9), '"abcd"', "abcd"),
        (Id(max_bytes=None, maximum=None), "99", 99),
        (ANY, "[null]", [None]),
        (Blob(max_encoded_bytes=5), '"abc"', "abc"),
        (List(Text(), unique=True), '["a","A"]', ["a", "A"]),
        (MapOf(Text(), key_pattern="^[a-z]$"), '{"a":"b"}', {"a": "b"}),
    ],
)
def test_shape_accepts(shape: Shape, text: str, typed: object) -> None:
    assert shape.read(parse(text)) == typed


# --- records and unions


@dataclasses.dataclass(slots=True, kw_only=True)
class Leaf(Model):
    VIOLATION_ERRORS: ClassVar[Mapping[str, str]] = {"missing": "leaf_error"}
    name: str | Absent | None = ABSENT
    size: int = 1


@dataclasses.dataclass(slots=True, kw_only=True)
class Tree(Model):
    VIOLATION_ERRORS: ClassVar[Mapping[str, str]] = {"missing": "tree_error", "unknown": "tree_unknown"}
    leaf: Leaf
    leaves: Sequence[Leaf] | Absent = ABSENT
    unknown_members: Mapping[str, object] = dataclasses.field(default_factory=dict)


class Kind(Model):
    __slots__ = ()


@dataclasses.dataclass(slots=True, kw_only=True)
class Near(Kind):
    kind: str = "near"


@dataclasses.dataclass(slots=True, kw_only=True)
class Far(Kind):
    kind: str = "far"


class Word(Scalar):
    __slots__ = ()
    SHAPE: ClassVar[Shape] = Text(max_bytes=3)
    VIOLATION_ERRORS: ClassVar[Mapping[str, str]] = {"null": "word_error", "bytes": "word_bytes"}


Leaf.SHAPE = RecordShape(
    Leaf,
    (Field("name", "name", Text(max_bytes=3), nullable=True), Field("size", "size", Integer(1, 9), required=True)),
    closed=True,
)
Tree.SHAPE = RecordShape(
    Tree,
    (Field("leaf", "leaf", Ref(Leaf), required=True), Field("leaves", "leaves", List(Ref(Leaf)))),
    forbidden=("saw", "axe"),
)
Kind.SHAPE = UnionShape("kind", (Variant("near", Near), Variant("far", Far, deferred=True)))
Near.SHAPE = RecordShape(Near, (Field("kind", "kind", Const("near"), required=True),), closed=True)
Far.SHAPE = RecordShape(Far, (Field("kind", "kind", Const("far"), required=True),), closed=True)


@pytest.mark.parametrize(
    ("model", "text", "expected"),
    [
        (Tree, "[]", ("not_object", "")),
        (Tree, "null", ("not_object", "")),
        (Tree, '{"axe":1,"saw":1}', ("forbidden", "/saw")),
        (Tree, "{}", ("missing", "/leaf")),
        (Tree, '{"leaf":null}', ("null", "/leaf")),
        (Tree, '{"leaf":7}', ("not_object", "/leaf")),
        (Tree, '{"leaf":{"size":1},"leaves":null}', ("null", "/leaves")),
        (Tree, '{"leaf":{"size":1},"leaves":[{"size":1},{}]}', ("missing", "/leaves/1/size")),
        (Leaf, '{"b":1,"size":0,"a":1}', ("unknown", "/a")),
        (Leaf, '{"name":1}', ("type", "/name")),
        (Leaf, '{"size":0,"name":"long"}', ("bytes", "/name")),
        (Kind, "7", ("not_object", "")),
        (Kind, "{}", ("tag", "/kind")),
        (Kind, '{"kind":1}', ("tag", "/kind")),
        (Kind, '{"kind":"other"}', ("tag", "/kind")),
        (Kind, '{"kind":"far"}', ("deferred", "/kind")),
        (Kind, '{"kind":"near","x":1}', ("unknown", "/x")),
    ],
)
def test_record_and_union_refuse(model: type[Model], text: str, expected: tuple[str, str]) -> None:
    with pytest.raises(Violation) as caught:
        model.decode(text)
    assert (caught.value.violation, caught.value.pointer) == expected


def test_the_smallest_unknown_name_is_reported_by_its_bytes() -> None:
    with pytest.raises(Violation) as caught:
        Leaf.from_json({"\U0001f600": 1, "\ue000": 1, "size": 1})
    assert caught.value.pointer == "/\ue000"


def test_the_root_decides_which_error_reports_a_violation() -> None:
    with pytest.raises(Violation) as caught:
        Tree.from_json({"leaf": {}})
    assert caught.value.error == "tree_error"
    with pytest.raises(Violation) as caught:
        Leaf.from_json({})
    assert caught.value.error == "leaf_error"


@pytest.mark.parametrize(
    "text",
    [
        '{"size":1}',
        '{"name":null,"size":1}',
        '{"name":"","size":1}',
        '{"name":"abc","size":9}',
    ],
)
def test_absent_null_and_empty_stay_apart(text: str) -> None:
    assert Leaf.decode(text).encode() == text.encode()


def test_unknown_members_are_kept_and_written_back() -> None:
    text = '{"a":[1.50,{"y":1,"x":null}],"leaf":{"size":1},"z":-0}'
    tree = Tree.decode(text)
    assert dict(tree.unknown_members)["z"] == 0
    assert tree.encode() == b'{"a":[1.50,{"x":null,"y":1}],"leaf":{"size":1},"z":-0}'


def test_encode_judges_what_it_writes() -> None:
    assert Tree(leaf=Leaf(), leaves=(Leaf(size=2),)).encode() == b'{"leaf":{"size":1},"leaves":[{"size":2}]}'
    with pytest.raises(Violation) as caught:
        Tree(leaf=Leaf(), leaves=(Leaf(), Leaf(size=0))).encode()
    assert (caught.value.violation, caught.value.pointer) == ("range", "/leaves/1/size")


def test_a_union_reads_into_its_variant() -> None:
    assert Kind.decode('{"kind":"near"}') == Near()
    assert Near().encode() == b'{"kind":"near"}'
    assert Kind.recode('{ "kind" : "near" }') == b'{"kind":"near"}'


def test_a_named_string_reads_into_text() -> None:
    assert Word.decode('"abc"') == "abc"
    assert Word.recode('"\\u0061"') == b'"a"'
    for text, error in (("null", "word_error"), ('"abcd"', "word_bytes")):
        with pytest.raises(Violation) as caught:
            Word.decode(text)
        assert caught.value.error == error


def test_absent_is_false_and_named() -> None:
    assert not ABSENT
    assert repr(ABSENT) == "ABSENT"


# --- the real tables

WIRES: list[Any] = [feature_wire, canonical_wire, manifest_doc]
MODELS = [(wire.__name__, name, model) for wire in WIRES for name, model in wire.MODELS.items()]


@given(st.sampled_from(MODELS), VALUES)
def test_no_model_raises_anything_but_a_violation(model: tuple[str, str, type[Model | Scalar]], value: object) -> None:
    error = "none"
    try:
        model[2].from_json(value)
    except Violation as found:
        error = found.error
    assert error or not model[2].VIOLATION_ERRORS


@given(st.sampled_from(MODELS), st.binary(max_size=40))
def test_no_decoder_raises_anything_else(model: tuple[str, str, type[Model | Scalar]], data: bytes) -> None:
    try:
        model[2].decode(data)
    except (Violation, JsonSyntaxError):
        return


def test_every_violation_has_an_error_on_each_wire() -> None:
    for wire in (feature_wire, canonical_wire):
        assert len(wire.ToolCallParams.VIOLATION_ERRORS) == 15
        assert set(wire.ToolCallParams.VIOLATION_ERRORS.values()) <= set(wire.ERRORS)
        assert set(wire.JsonRpcRequest.VIOLATION_ERRORS.values()) == {"invalid_request"}
