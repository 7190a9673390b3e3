"""What can go wrong, and whose fault it is.

ExtensionError
    ToolError            raised by a tool: the call ends with an error result that carries the text
    CallCancelled        raised inside a tool whose call was cancelled
    RpcError             raised by a handler: its request is answered with that protocol error
    CallFailed           seen by a host: the call was answered with a protocol error
    HostError            the host refused a service, with a code and a message
    ProtocolError        never raised itself; one of the two below says who broke a rule
        LocalProtocolError   we did: the author of the extension, or this package
            InvalidParams    the arguments of a service or an answer of a handler break their model
            NoParent         the message belongs to a request of the host, and there is none
            NotNegotiated    the host did not agree to what was asked for
        RemoteProtocolError  the peer did
            MalformedResult  the result of a service breaks its model
"""

from __future__ import annotations

__all__ = [
    "CallCancelled",
    "CallFailed",
    "ExtensionError",
    "HostError",
    "InvalidParams",
    "LocalProtocolError",
    "MalformedResult",
    "NoParent",
    "NotNegotiated",
    "ProtocolError",
    "RemoteProtocolError",
    "RpcError",
    "ToolError",
]


class ExtensionError(Exception):
    """The root of every exception of this package."""


class ToolError(ExtensionError):
    """A tool could not do what it was asked.

    The text goes to the model as a result with is_error set, so say what is wrong and what would help.
    """


class CallCancelled(ExtensionError):
    """The call that is served was cancelled, or a service that it waited for; what is left is to clean up."""


class RpcError(ExtensionError):
    """A handler answers its request with an error of the protocol: a code, a message, and data where there is any.

    The code is one of the error table, or of the range that the wire leaves to extensions. Any other, and that of a
    cancelled request, which the host alone brings about, is answered as an internal error.
    """

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data


class CallFailed(ExtensionError):
    """A call was answered with a protocol error. name is the row of the error table, or empty."""

    def __init__(self, name: str, code: int, message: str, data: object) -> None:
        super().__init__(f"{message} ({code})")
        self.name = name
        self.code = code
        self.message = message
        self.data = data


class HostError(ExtensionError):
    """The host refused a service. name is the row of the error table, or empty; data is None where there is none."""

    def __init__(self, name: str, code: int, message: str, data: object) -> None:
        super().__init__(f"{message} ({code})")
        self.name = name
        self.code = code
        self.message = message
        self.data = data

    @property
    def token(self) -> str:
        """The first word of the message, by which some services say what is wrong."""
        return self.message.split(maxsplit=1)[0] if self.message.strip() else ""


class ProtocolError(ExtensionError):
    """A rule of the protocol was broken. Catch this one; what is raised is local or remote."""

    def __init__(self, *args: object) -> None:
        if type(self) is ProtocolError:
            raise TypeError("raise LocalProtocolError or RemoteProtocolError: a broken rule has somebody who broke it")
        super().__init__(*args)


class LocalProtocolError(ProtocolError):
    """This side broke a rule: the call that raised must not be made so."""


class InvalidParams(LocalProtocolError):
    """A message of this side breaks its model. pointer says where, violation how."""

    def __init__(self, what: str, pointer: str, violation: str, detail: str) -> None:
        super().__init__(f"{what}{pointer}: {detail}")
        self.pointer = pointer
        self.violation = violation


class NoParent(LocalProtocolError):
    """The message is tied to a request of the host, and none fits: send it from a handler, while it runs or after.

    method is its name on the wire.
    """

    def __init__(self, text: str, method: str = "") -> None:
        super().__init__(text)
        self.method = method


class NotNegotiated(LocalProtocolError):
    """The message needs a feature or a declaration that this session does not have. method is its name on the wire."""

    def __init__(self, text: str, method: str = "") -> None:
        super().__init__(text)
        self.method = method


class RemoteProtocolError(ProtocolError):
    """The peer broke a rule."""


class MalformedResult(RemoteProtocolError):
    """The host answered a service with something else than its result. pointer says where, violation how."""

    def __init__(self, method: str, pointer: str, violation: str, detail: str) -> None:
        super().__init__(
            f"the host answered {method} wrongly: {pointer}: {detail}"
            if pointer
            else f"the host answered {method} wrongly: {detail}"
        )
        self.method = method
        self.pointer = pointer
        self.violation = violation
