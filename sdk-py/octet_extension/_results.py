"""What a tool hands back, and plain JSON data made of Python values."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from octet_extension._errors import LocalProtocolError
from octet_extension._generated._json import Violation, encode
from octet_extension._generated._models import Model
from octet_extension._generated._shapes import ABSENT

__all__ = ["RESULT_MEMBERS", "Measure", "NoJson", "OverBound", "ToolResult", "measure", "plain", "result_of", "text_of"]


@dataclasses.dataclass(frozen=True, slots=True)
class ToolResult:
    """The outcome of a tool call.

    text is what the model reads: one part, or several, among them images and sounds that were published (models
    ImagePart and AudioPart of octet_extension.api_v04). structured is the value of the output type that the
    tool declares; leave it out where the tool declares none. metadata goes to the host and never to the model.
    """

    text: str | Sequence[object] = ""
    structured: object = ABSENT
    is_error: bool = False
    metadata: Mapping[str, object] | None = None

    @property
    def parts(self) -> list[object]:
        """The text as a list of parts."""
        return [self.text] if isinstance(self.text, str) else list(self.text)


class NoJson(LocalProtocolError):
    """A value of the author has no JSON form."""


RESULT_MEMBERS: Final = frozenset({"content", "is_error", "metadata", "structured_content"})
"""Members of a result that is written as a dict."""


def result_of(members: Mapping[str, object]) -> ToolResult:
    """Reads a result that is written as a dict, its content a text or a list of parts. Raises LocalProtocolError."""
    content = members.get("content")
    metadata = members.get("metadata")
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, (str, list, tuple)):
        raise LocalProtocolError("the content of a result is a text or a list of parts")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise LocalProtocolError("the metadata of a result is a dict")
    parts = content if isinstance(content, str) else [_part_of(part) for part in content]
    structured = members.get("structured_content", ABSENT)
    return ToolResult(parts, structured, bool(members.get("is_error", False)), metadata)


def _part_of(part: object) -> object:
    """Returns a part of text as its text, any other as it is."""
    if isinstance(part, Mapping) and set(part) == {"type", "text"} and isinstance(part["text"], str):
        return part["text"]
    return part


def plain(value: object) -> object:
    """Returns value as JSON data: dataclasses and mappings become dicts, enumerations their values.

    Raises LocalProtocolError for a value that has no JSON form.
    """
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if value is None or isinstance(value, (str, int, float)):  # a Number, which keeps its spelling, is a float
        return value
    if isinstance(value, Model):
        return value.to_json()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {_name(name): plain(member) for name, member in value.items()}
    if isinstance(value, (Sequence, set, frozenset)) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [plain(element) for element in value]
    raise NoJson(f"a {type(value).__name__} has no JSON form: return strings, numbers, lists, mappings or dataclasses")


def _name(name: object) -> str:
    if isinstance(name, enum.Enum):
        name = name.value
    if not isinstance(name, str):
        raise NoJson(f"the key {name!r} is no JSON member name: use a string")
    return name


def text_of(value: object) -> str:
    """Returns plain JSON data as compact text for the model."""
    try:
        return encode(value).decode("utf-8")
    except Violation as found:
        raise NoJson(f"the structured result has no JSON spelling: {found}") from None


class OverBound(LocalProtocolError):
    """A result is larger than the host takes."""


class Measure(NamedTuple):
    """The size of plain JSON data."""

    depth: int
    """Arrays and objects inside each other, the outermost included."""
    nodes: int
    """Values, the outermost included."""
    key_bytes: int
    """Bytes of the longest member name."""


def measure(value: object) -> Measure:
    """Measures plain JSON data in linear time."""
    depth = nodes = key_bytes = 0
    stack = [(value, 0)]
    while stack:
        node, level = stack.pop()
        nodes += 1
        if isinstance(node, Mapping):
            depth = max(depth, level + 1)
            key_bytes = max([key_bytes, *(len(name.encode("utf-8", "surrogatepass")) for name in node)])
            stack.extend((child, level + 1) for child in node.values())
        elif isinstance(node, (list, tuple)):
            depth = max(depth, level + 1)
            stack.extend((child, level + 1) for child in node)
    return Measure(depth, nodes, key_bytes)
