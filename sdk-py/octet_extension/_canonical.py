"""The one spelling of API 0.3: a check of payload bytes, and the encoder that writes it.

The check parses strictly, writes the value again and compares. A duplicate, a wrong order, white space, a
needless escape or a number in another spelling all show as a difference of bytes.
"""

from __future__ import annotations

import json
from typing import Final, NoReturn

from octet_extension._generated import _json
from octet_extension._generated._json import JsonSyntaxError, Violation
from octet_extension._generated.canonical_wire import MAX_JSON_DEPTH, MAX_PORTABLE_JSON_INTEGER

__all__ = ["check", "encode"]

_SHORT: Final = 15  # digits and a sign that are in the portable range whatever they are


def _refuse(text: str) -> NoReturn:
    raise JsonSyntaxError(f"{text[:40]} is not an integer")


def _portable(text: str) -> int:
    if len(text) > _SHORT and (len(text) > 17 or abs(int(text)) > MAX_PORTABLE_JSON_INTEGER):
        raise JsonSyntaxError(f"{text[:40]} is outside the portable range")
    return int(text)


_READER: Final = json.JSONDecoder(parse_float=_refuse, parse_constant=_refuse)
_CAREFUL_READER: Final = json.JSONDecoder(parse_float=_refuse, parse_constant=_refuse, parse_int=_portable)
_DIGITS: Final = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))
_LONG_INTEGER: Final = b"0" * (_SHORT + 1)


def _reader(payload: bytes, *, sparse: bool) -> json.JSONDecoder:
    """Returns the reader that judges every integer where one may be too large, or where there can be but a few."""
    return _CAREFUL_READER if sparse or _LONG_INTEGER in payload.translate(_DIGITS) else _READER


def check(payload: bytes) -> object:
    """Returns the value of a payload in its canonical spelling. Raises JsonSyntaxError for any other.

    The payload comes without its line feed. Nothing is allocated beyond a small multiple of its size.
    """
    try:
        text = payload.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise JsonSyntaxError("the bytes are not UTF-8", fault.start) from None
    if _json.too_deep(payload, MAX_JSON_DEPTH):
        raise JsonSyntaxError(f"more than {MAX_JSON_DEPTH} arrays and objects enclose a value")
    sparse = _json.is_sparse(payload)
    try:
        value, end = _reader(payload, sparse=sparse).raw_decode(text)
        respelled = _json.respell(value, sparse=sparse)
    except json.JSONDecodeError as fault:
        raise JsonSyntaxError(fault.msg.lower().removesuffix(" at"), fault.pos) from None
    except Violation as fault:
        raise JsonSyntaxError(fault.detail) from None
    if end != len(text):
        raise JsonSyntaxError("text stands behind the value", end)
    if respelled != payload:
        raise JsonSyntaxError("the spelling is not canonical", _first_difference(respelled, payload))
    return value


def _first_difference(left: bytes, right: bytes) -> int:
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def encode(value: object) -> bytes:
    """Returns the canonical spelling of plain JSON data. Raises Violation for what has none.

    A fraction, an integer outside the portable range, a lone surrogate and nesting over the bound have none.
    """
    return _json.encode(value, max_depth=MAX_JSON_DEPTH, largest=MAX_PORTABLE_JSON_INTEGER)
