"""The codec under judgement: one JSON request a line on standard input, one answer a line on standard output.

    octet-conform vectors -- python -m octet_extension.testee

Requests are answered in order and never end the program; what it does not know it calls unsupported.
"""

from __future__ import annotations

import base64
import binascii
import sys
from collections.abc import Callable, Mapping
from typing import Final, cast

from octet_extension import _canonical, _canonical_envelope, _contract, _feature_envelope, _negotiation
from octet_extension._envelope import EnvelopeFault, Message
from octet_extension._frames import FrameFault, FrameReader
from octet_extension._generated import _json, canonical_wire, feature_wire, manifest_doc
from octet_extension._generated._json import JsonSyntaxError, Violation
from octet_extension._generated._models import Decoded
from octet_extension._mismatch import Mismatch

__all__ = ["answer", "main"]

_PROTOCOL: Final = 1
_REQUEST_DEPTH: Final = 600  # a request may carry a value at the deepest legal level, inside its own object

_Request = Mapping[str, object]
_Answer = dict[str, object]

_FEATURE: Final = "extension-feature"
_CANONICAL: Final = "extension-canonical"
_MODELS: Final[Mapping[str, Mapping[str, type[Decoded]]]] = {
    _FEATURE: feature_wire.MODELS,
    _CANONICAL: canonical_wire.MODELS,
    "manifest": manifest_doc.MODELS,
}
_DEPTHS: Final = {_FEATURE: feature_wire.MAX_JSON_DEPTH, _CANONICAL: canonical_wire.MAX_JSON_DEPTH}
_BOUNDS: Final = {_FEATURE: feature_wire.MAX_LINE_BYTES, _CANONICAL: canonical_wire.MAX_FRAME_BYTES}
_READERS: Final[Mapping[str, Callable[[str], Message]]] = {
    _FEATURE: lambda text: _feature_envelope.classify(_json.parse(text, max_depth=feature_wire.MAX_JSON_DEPTH)),
    _CANONICAL: lambda text: _canonical_envelope.classify(_canonical.check(text.encode())),
}
_UNSUPPORTED: Final[_Answer] = {"verdict": "unsupported"}


def _hello(_: _Request) -> _Answer:
    ops = sorted(name for name in _OPS if name != "hello")
    return {"ok": True, "name": "octet sdk-py", "protocol": _PROTOCOL, "ops": ops, "wires": sorted(_MODELS)}


def _frame(request: _Request) -> _Answer:
    wire, text = request.get("wire"), request.get("base64")
    if not isinstance(wire, str) or wire not in _BOUNDS or not isinstance(text, str):
        return _UNSUPPORTED
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        return _UNSUPPORTED
    bound = request.get("bound")
    return {"verdict": _judge_frame(wire, data, bound if isinstance(bound, int) else _BOUNDS[wire])}


def _judge_frame(wire: str, data: bytes, bound: int) -> str:
    """Judges the first frame of a stream that ends behind data."""
    reader = FrameReader(bound, forgiving=wire == _FEATURE)
    reader.feed(data)
    reader.feed(b"")
    try:
        payload = reader.next_payload()
        if payload is None:  # nothing but lines that are passed over
            return "accept"
        if wire == _CANONICAL:
            _canonical.check(payload)
        elif not isinstance(_json.parse(payload, max_depth=_DEPTHS[wire]), dict):
            return "reject"
    except FrameFault:
        return "terminate"
    except JsonSyntaxError:
        return "reject"
    return "accept"


def _model(request: _Request) -> _Answer:
    wire, name, text = request.get("wire"), request.get("model"), request.get("text")
    model = _MODELS[wire].get(name) if isinstance(wire, str) and wire in _MODELS and isinstance(name, str) else None
    if model is None or not isinstance(text, str):
        return _UNSUPPORTED
    try:
        return {"verdict": "accept", "encoded": model.recode(text).decode("utf-8")}
    except JsonSyntaxError:
        return {"verdict": "malformed"}
    except Violation as found:
        return {"verdict": "reject", "pointer": found.pointer, "violation": found.violation, "error": found.error}


def _envelope_kind(request: _Request) -> _Answer:
    wire, text = request.get("wire"), request.get("text")
    read = _READERS.get(cast(str, wire))
    if read is None or not isinstance(text, str):
        return _UNSUPPORTED
    try:
        return {"verdict": read(text).kind}
    except (JsonSyntaxError, EnvelopeFault):
        return {"verdict": "invalid"}


def _negotiate(request: _Request) -> _Answer:
    api, offer, selection = request.get("api"), request.get("offer"), request.get("selection")
    try:
        if api in canonical_wire.VERSIONS:
            _contract.negotiate_contract(offer, selection)
        elif isinstance(api, str) and api in _negotiation.FEATURE_VERSIONS:
            _negotiation.negotiate_features(api, offer, selection)
        else:
            return _UNSUPPORTED
    except Mismatch as fault:
        return {"verdict": "reject", "error": fault.error}
    return {"verdict": "accept"}


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
