"""The rules for the schemas of structured results on the feature wire. Source: feature 4.2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from octet_extension._errors import LocalProtocolError
from octet_extension._generated.feature_wire import (
    MAX_OUTPUT_SCHEMA_DEPTH,
    MAX_OUTPUT_SCHEMA_KEY_BYTES,
    TABLE_OUTPUT_SCHEMA_KEYWORDS,
)
from octet_extension._results import measure
from octet_extension._schema import below

__all__ = ["check_output_schema"]


def check_output_schema(schema: object) -> None:
    """Judges a schema against the rules for output schemas. Raises LocalProtocolError.

    Source: feature 4.2. Only listed keywords, nodes that are objects, bounded depth and property names.
    """
    depth = measure(schema).depth
    if depth > MAX_OUTPUT_SCHEMA_DEPTH:
        raise LocalProtocolError(
            f"the output schema is {depth} levels deep: at most {MAX_OUTPUT_SCHEMA_DEPTH} are legal"
        )
    _check_node(schema, "")


def _check_node(node: object, pointer: str) -> None:
    if not isinstance(node, Mapping):
        raise LocalProtocolError(f"the output schema node {pointer or '/'} must be an object")
    for keyword, value in node.items():
        here = below(pointer, str(keyword))
        if keyword not in TABLE_OUTPUT_SCHEMA_KEYWORDS:
            raise LocalProtocolError(f"the output schema may not use {here}: take one of the listed keywords")
        if keyword == "properties" and isinstance(value, Mapping):
            for name, child in value.items():
                if len(str(name).encode()) > MAX_OUTPUT_SCHEMA_KEY_BYTES:
                    raise LocalProtocolError(
                        f"a property name below {here} has more than {MAX_OUTPUT_SCHEMA_KEY_BYTES} bytes"
                    )
                _check_node(child, below(here, str(name)))
        elif keyword == "items" or (keyword == "additionalProperties" and not isinstance(value, bool)):
            _check_node(value, here)
        elif keyword in {"allOf", "anyOf", "oneOf"} and isinstance(value, Sequence):
            for index, child in enumerate(value):
                _check_node(child, below(here, index))
