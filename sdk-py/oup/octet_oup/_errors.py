"""What can go wrong between a client and a server.

OupError
    ServerError          the server answered a request with an error
        Unsupported      this server, or this connection, does not offer the method
    Disconnected         the connection ended: whatever was in flight may or may not have happened
        AuthError        the server refuses the credential, so nothing connects again
    TimedOut             no answer came in time: the request may or may not have happened
    ProtocolError        the server broke a rule of the protocol
    Mismatch             the server speaks another protocol, or lacks a feature that is needed
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from octet_oup._generated import oup_wire
from octet_oup._generated._json import Violation
from octet_oup._generated._models import Model
from octet_oup._generated._shapes import ABSENT

__all__ = [
    "AuthError",
    "Disconnected",
    "Mismatch",
    "OupError",
    "ProtocolError",
    "ServerError",
    "TimedOut",
    "Unsupported",
]


class OupError(Exception):
    """The root of every exception of this package."""


class ServerError(OupError):
    """The server answered with an error.

    code is the number, name its row in the error table (empty where it has none), kind the word in its detail that
    programs go by (empty where there is none), method what was asked for. data is the model of that kind, plain
    JSON where there is none, and None without detail. message is for people.
    """

    def __init__(self, method: str, code: int, message: str, data: object = None) -> None:
        self.kind = _kind(data)
        self.name = _name(code, self.kind)
        known = f" ({self.kind or self.name})" if self.kind or self.name else ""
        super().__init__(f"{method}: {message} [{code}{known}]")
        self.method = method
        self.code = code
        self.message = message
        self.data = _typed(self.kind, data)


class Unsupported(ServerError):
    """The method is outside the protocol, not offered, or its feature is not in force. reason says which."""

    @property
    def reason(self) -> str:
        """Why, in words for people; empty where the server does not say."""
        return _member(self.data, "reason")


class Disconnected(OupError):
    """The connection ended, or there is none.

    in_flight names the methods without an answer: their outcome is unknown, and only the state of the session tells
    it. It is empty where the request of the caller was never sent. close_code is that of the WebSocket, else None.
    """

    def __init__(self, reason: str, *, in_flight: Sequence[str] = (), close_code: int | None = None) -> None:
        waiting = f"; without an answer: {', '.join(in_flight)}" if in_flight else ""
        super().__init__(reason + waiting)
        self.reason = reason
        self.in_flight = tuple(in_flight)
        self.close_code = close_code


class AuthError(Disconnected):
    """The server refuses the credential, or has withdrawn it."""


class TimedOut(OupError, TimeoutError):
    """No answer came in time. The request was sent, and may still be carried out."""


class ProtocolError(OupError):
    """The server sent what the protocol does not allow."""


class Mismatch(OupError):
    """A server does not fit. error names why in one word, for programs."""

    def __init__(self, error: str, detail: str) -> None:
        super().__init__(detail)
        self.error = error


_NAMES: Final[Mapping[int, str]] = {row.code: row.name for row in oup_wire.ERRORS.values()}
_KINDS: Final[Mapping[str, tuple[str, str]]] = {
    kind: (error, model)
    for kind, error, model, *_ in (*oup_wire.TABLE_SERVICE_ERROR_KINDS, *oup_wire.TABLE_ERROR_KINDS)
}
_UNAVAILABLE: Final = next(
    kind for kind, _, model, _ in oup_wire.TABLE_ERROR_KINDS if model == oup_wire.RuntimeUnavailableErrorData.__name__
)  # read alike under every code, as older servers send it under several
_REFUSALS: Final = frozenset(
    row.code
    for row in (
        oup_wire.ERROR_METHOD_NOT_FOUND,
        oup_wire.ERROR_METHOD_NOT_SUPPORTED,
        oup_wire.ERROR_UNSUPPORTED_CAPABILITY,
    )
)


def answered(method: str, error: oup_wire.ErrorObject) -> ServerError:
    """Returns the exception for the error that a method was answered with."""
    kind = Unsupported if error.code in _REFUSALS else ServerError
    return kind(method, error.code, error.message, None if error.data is ABSENT else error.data)


def refused(method: str, found: oup_wire.UnsupportedResult) -> Unsupported:
    """Returns the exception for a success that says the command is not supported."""
    row = oup_wire.ERROR_UNSUPPORTED_CAPABILITY
    return Unsupported(method, row.code, row.message, found.unsupported.to_json())


def _kind(data: object) -> str:
    kind = data.get("kind") if isinstance(data, dict) else None
    return kind if isinstance(kind, str) else ""


def _name(code: int, kind: str) -> str:
    return _KINDS[kind][0] if kind == _UNAVAILABLE else _NAMES.get(code, "")


def _typed(kind: str, data: object) -> object:
    if not isinstance(data, dict):
        return data
    name = _KINDS.get(kind, ("", ""))[1] if kind else "MethodNotSupportedErrorData"
    model = oup_wire.MODELS.get(name)
    if model is None or not issubclass(model, Model):
        return data
    try:
        return model.from_json(data)
    except Violation:
        return data


def _member(data: object, name: str) -> str:
    value = data.get(name) if isinstance(data, dict) else getattr(data, name, "")
    return value if isinstance(value, str) else ""
