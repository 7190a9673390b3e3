"""Write octet extensions in Python.

An extension is a set of tools. Declare one with type hints, and run it:

    from octet_extension import Call, Extension

    ext = Extension()

    @ext.tool("Count the words of a text")
    def count(call: Call, text: str) -> str:
        return f"{len(text.split())} words"

    if __name__ == "__main__":
        ext.run()

octet_extension.testing runs an extension in memory; octet_extension.api_v03 holds the models of API 0.3.
"""

from octet_extension._call import Call
from octet_extension._errors import (
    CallCancelled,
    CallFailed,
    ExtensionError,
    LocalProtocolError,
    NotNegotiated,
    ProtocolError,
    RemoteProtocolError,
    ToolError,
)
from octet_extension._extension import API_VERSIONS, CURRENT_API, Extension
from octet_extension._hints import Field
from octet_extension._results import ToolResult

__all__ = [
    "API_VERSIONS",
    "CURRENT_API",
    "Call",
    "CallCancelled",
    "CallFailed",
    "Extension",
    "ExtensionError",
    "Field",
    "LocalProtocolError",
    "NotNegotiated",
    "ProtocolError",
    "RemoteProtocolError",
    "ToolError",
    "ToolResult",
]

# Tracebacks and documents show where people find a class. A dataclass keeps its module, which its type hints need.
for _thing in (
    Call,
    CallCancelled,
    CallFailed,
    Extension,
    ExtensionError,
    LocalProtocolError,
    NotNegotiated,
    ProtocolError,
    RemoteProtocolError,
    ToolError,
):
    _thing.__module__ = __name__
del _thing
