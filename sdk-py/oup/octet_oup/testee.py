"""The codec under judgement: one JSON request a line on standard input, one answer a line on standard output.

    octet-conform vectors -- python -m octet_oup.testee

Requests are answered in order and never end the program; what it does not know it calls unsupported.
"""

from __future__ import annotations

import base64
import binascii
import sys
from collections.abc import Callable, Mapping
from typing import Final

from octet_oup._envelope import EnvelopeFault, classify
from octet_oup._frames import FrameFault, read_line
from octet_oup._generated import _json, oup_wire
from octet_oup._generated._json import JsonSyntaxError, Violation
from octet_oup._negotiation import Mismatch, check_capabilities

__all__ = ["answer", "main"]

_PROTOCOL: Final = 1
_REQUEST_DEPTH: Final = 600  # a request may carry a value at the deepest legal level, inside its own object
_WIRE: Final = "oup"

_Request = Mapping[str, object]
_Answer = dict[str, object]

_UNSUPPORTED: Final[_Answer] = {"verdict": "unsupported"}


def _hello(_: _Request) -> _Answer:
    ops = sorted(name for name in _OPS if name != "hello")
    return {"ok": True, "name": "octet sdk-py oup", "protocol": _PROTOCOL, "ops": ops, "wires": [_WIRE]}


def _frame(request: _Request) -> _Answer:
    text = request.get("base64")
    if request.get("wire") != _WIRE or not isinstance(text, str):
        return _UNSUPPORTED
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        return _UNSUPPORTED
    bound = request.get("bound")
    first = data[: data.find(b"\n") + 1] or data
    try:
        if first:
            read_line(first, bound if isinstance(bound, int) else oup_wire.MAX_TEXT_FRAME_BYTES)
    except FrameFault:
        return {"verdict": "reject"}
    return {"verdict": "accept"}


def _model(request: _Request) -> _Answer:
    name, text = request.get("model"), request.get("text")
    model = oup_wire.MODELS.get(name) if request.get("wire") == _WIRE and isinstance(name, str) else None
    if model is None or not isinstance(text, str):
        return _UNSUPPORTED
    try:
        return {"verdict": "accept", "encoded": model.recode(text).decode("utf-8")}
    except JsonSyntaxError:
        return {"verdict": "malformed"}
    except Violation as found:
        return {"verdict": "reject", "pointer": found.pointer, "violation": found.violation, "error": found.error}


def _envelope_kind(request: _Request) -> _Answer:
    text = request.get("text")
    if request.get("wire") != _WIRE or not isinstance(text, str):
        return _UNSUPPORTED
    try:
        return {"verdict": classify(_json.parse(text))}
    except (JsonSyntaxError, EnvelopeFault):
        return {"verdict": "invalid"}


def _negotiate(request: _Request) -> _Answer:
    offer = request.get("offer")
    if request.get("api") not in oup_wire.VERSIONS or not isinstance(offer, dict):
        return _UNSUPPORTED
    requested, required = _tokens(offer.get("requested", [])), _tokens(offer.get("required", []))
    if requested is None or required is None:
        return _UNSUPPORTED
    try:
        check_capabilities(request.get("selection"), requested=requested, required=required)
    except Mismatch as found:
        return {"verdict": "reject", "error": found.error}
    return {"verdict": "accept"}


def _tokens(value: object) -> list[str] | None:
    if not isinstance(value, list):
        return None
    tokens = [token for token in value if isinstance(token, str)]
    return tokens if len(tokens) == len(value) else None


_OPS: Final[Mapping[str, Callable[[_Request], _Answer]]] = {
    "envelope": _envelope_kind,
    "frame": _frame,
    "hello": _hello,
    "model": _model,
    "negotiate": _negotiate,
}


def answer(request: object) -> _Answer:
    """Answers one request."""
    if not isinstance(request, dict):
        return dict(_UNSUPPORTED)
    op = request.get("op")
    run = _OPS.get(op) if isinstance(op, str) else None
    return {"seq": request.get("seq")} | (_UNSUPPORTED if run is None else run(request))


def main() -> None:
    """Answers the requests on standard input until it ends."""
    for line in sys.stdin.buffer:
        try:
            request = _json.parse(line, max_depth=_REQUEST_DEPTH)
        except JsonSyntaxError as fault:
            sys.stderr.write(f"testee: a request cannot be read: {fault}\n")
            request = None
        sys.stdout.buffer.write(_json.encode(answer(request), max_depth=_REQUEST_DEPTH) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
