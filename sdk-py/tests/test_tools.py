"""Functions to tools: schemas from hints, arguments to values, results from returns."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict, Union

import pytest

from octet_extension import Call, CallFailed, Extension, Field, LocalProtocolError, ToolResult
from octet_extension._hints import hint_of
from octet_extension._output_schema import check_output_schema
from octet_extension._schema import Misfit, validate
from octet_extension.testing import TestHost


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


@dataclasses.dataclass
class Shape:
    name: str
    points: list[Point]
    tags: list[str] = dataclasses.field(default_factory=list)
    inner: int = dataclasses.field(default=7, init=False)


class Options(TypedDict):
    deep: bool
    limit: NotRequired[int]


@dataclasses.dataclass
class Loop:
    inner: Optional[Loop] = None  # noqa: UP045 - the older spelling is read too


@dataclasses.dataclass
class Picky:
    n: int

    def __post_init__(self) -> None:
        if self.n < 0:
            raise ValueError("n is negative")


CASES: list[tuple[Any, dict[str, Any], object, object]] = [
    (str, {"type": "string"}, "a", "a"),
    (int, {"type": "integer"}, 1, 1),
    (float, {"type": "number"}, 1, 1.0),
    (bool, {"type": "boolean"}, True, True),
    (None, {"type": "null"}, None, None),
    (Any, {}, [1], [1]),
    (object, {}, {"a": 1}, {"a": 1}),
    (dict, {"type": "object"}, {"a": 1}, {"a": 1}),
    (list, {"type": "array"}, [1, "a"], [1, "a"]),
    (list[int], {"type": "array", "items": {"type": "integer"}}, [1], [1]),
    (Sequence[str], {"type": "array", "items": {"type": "string"}}, ["a"], ["a"]),
    (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}, {"a": 2}, {"a": 2.0}),
    (Mapping[str, str], {"type": "object", "additionalProperties": {"type": "string"}}, {}, {}),
    (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, None),
    (Union[str, int], {"anyOf": [{"type": "string"}, {"type": "integer"}]}, 5, 5),  # noqa: UP007
    (Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}, "a", "a"),  # noqa: UP045
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, "b", "b"),
    (Literal["a", 1, True], {"enum": ["a", 1, True]}, 1, 1),
    (Color, {"type": "string", "enum": ["red", "blue"]}, "blue", Color.BLUE),
    (Level, {"enum": [1, 2]}, 2, Level.HIGH),
    (Annotated[str, "A name"], {"type": "string", "description": "A name"}, "a", "a"),
    (
        Annotated[int, Field(description="How many", minimum=0, maximum=9, examples=[1])],
        {"type": "integer", "description": "How many", "minimum": 0, "maximum": 9, "examples": [1]},
        3,
        3,
    ),
    (
        Annotated[list[str], Field(min_items=1, max_items=2)],
        {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
        ["a"],
        ["a"],
    ),
    (Annotated[str, Field(min_length=1, max_length=2)], {"type": "string", "minLength": 1, "maxLength": 2}, "a", "a"),
    (
        Point,
        {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
            "required": ["x"],
            "additionalProperties": False,
        },
        {"x": 1},
        Point(1),
    ),
    (
        Options,
        {
            "type": "object",
            "properties": {"deep": {"type": "boolean"}, "limit": {"type": "integer"}},
            "required": ["deep"],
            "additionalProperties": False,
        },
        {"deep": True},
        {"deep": True},
    ),
]


@pytest.mark.parametrize(("hint", "schema", "given", "typed"), CASES)
def test_a_hint_gives_schema_and_value(hint: Any, schema: dict[str, Any], given: object, typed: object) -> None:
    compiled = hint_of(hint, "here")
    assert compiled.schema == schema
    validate(compiled.schema, given)
    found = compiled.convert(given)
    assert found == typed
    assert type(found) is type(typed)


def test_a_nested_hint_builds_everything() -> None:
    compiled = hint_of(Shape | None, "here")
    given = {"name": "s", "points": [{"x": 1}, {"x": 2, "y": 3}]}
    validate(compiled.schema, given)
    assert compiled.convert(given) == Shape("s", [Point(1), Point(2, 3)])
    assert "inner" not in str(compiled.schema)


@pytest.mark.parametrize(
    ("hint", "reason"),
    [
        (bytes, "bytes has no schema"),
        (set[int], "has no schema"),
        (dict[int, str], "keys"),
        (Literal[b"x"], "Literal"),
        (Loop, "holds itself"),
        (Callable[[], int], "has no schema"),
    ],
)
def test_a_hint_without_a_schema_is_refused(hint: Any, reason: str) -> None:
    with pytest.raises(LocalProtocolError, match=f"^here.*{reason}"):
        hint_of(hint, "here")


def schema_of(function: Callable[..., object], **options: Any) -> Mapping[str, Any]:
    ext = Extension()
    ext.tool("Does something", **options)(function)
    return ext._tools[ext.tools[0]].parameters


def test_parameters_become_the_schema() -> None:
    def search(call: Call, text: str, limit: int = 5, color: Color = Color.RED, where: str | None = None) -> str:
        return ""

    assert schema_of(search) == {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "limit": {"type": "integer", "default": 5},
            "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
            "where": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "required": ["text"],
        "additionalProperties": False,
    }


def test_a_tool_without_parameters() -> None:
    assert schema_of(lambda: "x", name="nothing") == {"type": "object", "properties": {}, "additionalProperties": False}


def test_values_reach_the_function() -> None:
    ext = Extension()

    @ext.tool("Shows what it got")
    def show(point: Point, color: Color, numbers: dict[str, float], call: Call, picky: Picky | None = None) -> str:
        return repr((point, color, numbers, call.tool))

    with TestHost(ext) as host:
        result = host.call("show", point={"x": 1}, color="red", numbers={"a": 1})
        assert result.text == repr((Point(1), Color.RED, {"a": 1.0}, "show"))
        failed = host.call("show", point={"x": 1}, color="red", numbers={}, picky={"n": -1})
        assert failed.is_error
        assert failed.text == "ValueError: n is negative"


def test_a_schema_by_hand() -> None:
    ext = Extension()
    schema = {"type": "object", "properties": {"n": {"type": "integer", "exclusiveMinimum": 0}}, "required": ["n"]}

    @ext.tool("Shows what it got", parameters=schema)
    def show(call: Call, arguments: dict[str, object]) -> str:
        return repr(arguments)

    with TestHost(ext) as host:
        assert host.call("show", n=1, more=[None]).text == "{'more': [None], 'n': 1}"
        with pytest.raises(CallFailed, match="/n must be more than 0"):
            host.call("show", n=0)


@dataclasses.dataclass
class Counts:
    words: int
    kinds: dict[str, int] | None = None


@pytest.mark.parametrize("api", ["0.2", "0.3", "0.4"])
def test_a_return_type_declares_the_output(api: str) -> None:
    ext = Extension(api=api)

    @ext.tool("Counts")
    def count(text: str) -> Counts:
        return Counts(len(text.split()))

    @ext.tool("Counts, and says so", output=Counts)
    def tell(text: str) -> ToolResult:
        return ToolResult("a few", structured=Counts(2, {"a": 2}))

    @ext.tool("Counts in the old way")
    def old(text: str) -> dict[str, int] | None:
        return {"words": 1} if text else None

    with TestHost(ext) as host:
        result = host.call("count", text="a b")
        assert result.structured == {"words": 2, "kinds": None}
        assert result.text == '{"kinds":null,"words":2}'
        result = host.call("tell", text="a a")
        assert (result.text, result.structured) == ("a few", {"words": 2, "kinds": {"a": 2}})
        assert host.call("old", text="a").structured == {"words": 1}
        assert host.call("old", text="").text == "null"


@pytest.mark.parametrize("returned", ["text", None, ToolResult("text")])
def test_text_needs_no_declaration(returned: object) -> None:
    ext = Extension()

    @ext.tool("Says")
    def say() -> str | ToolResult | None:
        return returned  # type: ignore[return-value]

    with TestHost(ext) as host:
        assert host.call("say").text == ("" if returned is None else "text")


def returns_text_or_more() -> str | Counts:
    return ""


def takes_anything(*texts: str) -> str:
    return ""


def takes_options(**options: str) -> str:
    return ""


def takes_places(text: str, /) -> str:
    return ""


def has_no_hint(text) -> str:  # type: ignore[no-untyped-def]
    return ""


def has_a_strange_hint(text: Unheard) -> str:  # type: ignore[name-defined]  # noqa: F821
    return ""


def takes_two(a: dict[str, object], b: dict[str, object]) -> str:
    return ""


@pytest.mark.parametrize(
    ("function", "options", "reason"),
    [
        (returns_text_or_more, {}, "declare output"),
        (takes_anything, {}, "'texts' must have a name"),
        (takes_options, {}, "'options' must have a name"),
        (takes_places, {}, "'text' must have a name"),
        (has_no_hint, {}, "'text' needs a type hint"),
        (has_a_strange_hint, {}, "module level"),
        (takes_two, {"parameters": {"type": "object"}}, "one parameter"),
        (lambda: "", {"name": "no good"}, "/name"),
        (lambda: "", {"name": "x" * 129}, "128 bytes"),
        (lambda: "", {"name": "bad", "parameters": {"type": "string"}}, "one parameter"),
        (lambda: "", {"name": "bad", "output": {"$ref": "#"}}, r"may not use /\$ref"),
        (lambda: "", {"name": "bad", "output": set[int]}, "output: set"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused(
    function: Callable[..., object], options: dict[str, Any], reason: str
) -> None:
    ext = Extension()
    with pytest.raises(LocalProtocolError, match=reason):
        ext.tool("Does something", **options)(function)
    assert ext.tools == ()


def test_descriptions_and_names() -> None:
    ext = Extension()

    @ext.tool()
    def documented() -> str:
        """Says what it does."""
        return ""

    with pytest.raises(LocalProtocolError, match="needs a description"):
        ext.tool(name="silent")(lambda: "")
    with pytest.raises(LocalProtocolError, match="needs a description"):
        ext.tool("  ", name="silent")(lambda: "")
    with pytest.raises(LocalProtocolError, match="is there already"):
        ext.tool("Again", name="documented")(lambda: "")
    assert ext.tools == ("documented",)
    assert ext._tools["documented"].description == "Says what it does."


def test_api_03_has_no_fractions_in_schemas() -> None:
    ext = Extension(api="0.3")

    def half(part: float = 0.5) -> str:
        return ""

    with pytest.raises(LocalProtocolError, match="integer"):
        ext.tool("Halves")(half)
    with pytest.raises(LocalProtocolError, match="name"):
        ext.tool("Nameless", name="")(lambda: "")


def test_an_extension_says_what_it_can_be() -> None:
    with pytest.raises(LocalProtocolError, match=r"0\.1, 0\.2, 0\.3, 0\.4"):
        Extension(api="0.5")
    with pytest.raises(LocalProtocolError, match="at least 1"):
        Extension(concurrency=0)


# --- the schema validator

SCHEMAS: list[tuple[object, object, str]] = [
    ({"type": "string"}, 1, ""),
    ({"type": ["string", "null"]}, 1, ""),
    ({"type": "integer"}, 1.5, ""),
    ({"type": "integer"}, True, ""),
    ({"type": "number"}, "1", ""),
    ({"type": "nonsense"}, 1, ""),
    ({"const": 1}, True, ""),
    ({"const": [1, {"a": None}]}, [1, {"a": False}], ""),
    ({"enum": [1, "a"]}, "b", ""),
    ({"minLength": 2}, "é", ""),
    ({"maxLength": 1}, "ab", ""),
    ({"minimum": 1}, 0, ""),
    ({"maximum": 1}, 1.5, ""),
    ({"exclusiveMinimum": 1}, 1, ""),
    ({"exclusiveMaximum": 1}, 1, ""),
    ({"minItems": 1}, [], ""),
    ({"maxItems": 1}, [1, 2], ""),
    ({"uniqueItems": True}, [1, True, 1.0], "/2"),
    ({"uniqueItems": True}, [{"a": [1], "b": 2}, {"b": 2, "a": [1]}], "/1"),
    ({"items": {"type": "string"}}, ["a", 1], "/1"),
    ({"minProperties": 1}, {}, ""),
    ({"maxProperties": 1}, {"a": 1, "b": 1}, ""),
    ({"required": ["a/b"]}, {}, "/a~1b"),
    ({"properties": {"a": {"type": "string"}}}, {"a": 1}, "/a"),
    ({"properties": {"a": False}}, {"a": 1}, "/a"),
    ({"additionalProperties": False, "properties": {"a": {}}}, {"a": 1, "b": 1}, "/b"),
    ({"additionalProperties": {"type": "string"}}, {"b": 1}, "/b"),
    ({"allOf": [{"type": "integer"}, {"minimum": 3}]}, 2, ""),
    ({"anyOf": [{"type": "string"}, {"minimum": 3}]}, 2, ""),
    ({"oneOf": [{"type": "integer"}, {"minimum": 1}]}, 2, ""),
]


@pytest.mark.parametrize(("schema", "value", "pointer"), SCHEMAS)
def test_a_misfit_is_found_at_its_place(schema: object, value: object, pointer: str) -> None:
    with pytest.raises(Misfit) as caught:
        validate(schema, value)
    assert caught.value.pointer == pointer


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, None),
        (True, 1),
        ({"type": "integer"}, 2.0),
        ({"type": ["string", "null"]}, None),
        ({"const": 1}, 1.0),
        ({"enum": [True]}, True),
        ({"minLength": 1, "maxLength": 1}, "\U0001f427"),
        ({"uniqueItems": True}, [1, True, "1", None, [1], {"a": 1}]),
        ({"items": {}, "minItems": 1}, [None]),
        ({"required": "a", "properties": [], "type": 7, "enum": 3, "allOf": 1, "minimum": "x"}, 1),
        ({"oneOf": [{"type": "string"}, {"minimum": 1}]}, 2),
        ({"pattern": "^x$", "format": "date", "$ref": "#/nowhere"}, "anything else"),
    ],
)
def test_what_fits_is_accepted(schema: object, value: object) -> None:
    validate(schema, value)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ([], "must be an object"),
        ({"pattern": "x"}, "/pattern"),
        ({"properties": {"a": {"format": "x"}}}, "/properties/a/format"),
        ({"properties": {"a": True}}, "/properties/a must be an object"),
        ({"items": [{}]}, "/items must be an object"),
        ({"anyOf": [{}, 1]}, "/anyOf/1 must be an object"),
        ({"additionalProperties": 1}, "/additionalProperties"),
        ({"properties": {"x" * 257: {}}}, "256 bytes"),
    ],
)
def test_an_output_schema_has_rules_of_its_own(schema: object, reason: str) -> None:
    with pytest.raises(LocalProtocolError, match=reason):
        check_output_schema(schema)


def test_an_output_schema_may_be_32_levels_deep() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(31):
        schema = {"items": schema}
    check_output_schema(schema)
    with pytest.raises(LocalProtocolError, match="33 levels"):
        check_output_schema({"items": schema})


def test_unique_items_take_linear_time() -> None:
    validate({"uniqueItems": True}, list(range(200_000)))
