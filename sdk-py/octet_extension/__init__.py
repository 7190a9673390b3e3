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

from typing import TYPE_CHECKING

from octet_extension._ambient import (
    audio_content,
    cache_warming_decision,
    current_cancellation,
    image_content,
    persistence_metadata,
    post_mutation_rescan,
    text_content,
    tool_result,
)
from octet_extension._cancellation import Cancellation
from octet_extension._dynamic_tools import Catalog, DynamicTools
from octet_extension._errors import (
    CallCancelled,
    CallFailed,
    ExtensionError,
    HostError,
    InvalidParams,
    LocalProtocolError,
    MalformedResult,
    NoParent,
    NotNegotiated,
    ProtocolError,
    RemoteProtocolError,
    RpcError,
    ToolError,
)
from octet_extension._extension import API_VERSIONS, CURRENT_API, Extension
from octet_extension._hints import Field
from octet_extension._results import ToolResult
from octet_extension._scope import Call, CommandCall, HookCall, Scope, Session
from octet_extension._source import Source
from octet_extension._tools import Tool, make_tool

if TYPE_CHECKING:
    from octet_extension._generated.feature_wire import CacheWarmingAction, CacheWarmingDecisionPayload

CancelledError = CallCancelled

__all__ = [
    "API_VERSIONS",
    "CURRENT_API",
    "CacheWarmingAction",
    "CacheWarmingDecisionPayload",
    "Call",
    "CallCancelled",
    "CallFailed",
    "Cancellation",
    "CancelledError",
    "Catalog",
    "CommandCall",
    "DynamicTools",
    "Extension",
    "ExtensionError",
    "Field",
    "HookCall",
    "HostError",
    "InvalidParams",
    "LocalProtocolError",
    "MalformedResult",
    "NoParent",
    "NotNegotiated",
    "ProtocolError",
    "RemoteProtocolError",
    "RpcError",
    "Scope",
    "Session",
    "Source",
    "Tool",
    "ToolError",
    "ToolResult",
    "audio_content",
    "cache_warming_decision",
    "current_cancellation",
    "image_content",
    "make_tool",
    "persistence_metadata",
    "post_mutation_rescan",
    "text_content",
    "tool_result",
]

# Tracebacks and documents show where people find a class. A dataclass keeps its module, which its type hints need.
for _thing in (
    Call,
    CallCancelled,
    CallFailed,
    Cancellation,
    CommandCall,
    DynamicTools,
    Extension,
    ExtensionError,
    HookCall,
    HostError,
    InvalidParams,
    LocalProtocolError,
    MalformedResult,
    NoParent,
    NotNegotiated,
    ProtocolError,
    RemoteProtocolError,
    RpcError,
    Scope,
    Session,
    Source,
    ToolError,
):
    _thing.__module__ = __name__
del _thing


def __getattr__(name: str) -> object:
    """Loads the models of a wire when somebody asks for one: most extensions need none, and API 0.3 has another."""
    if name in {"CacheWarmingAction", "CacheWarmingDecisionPayload"}:
        from octet_extension._generated import feature_wire  # noqa: PLC0415

        return getattr(feature_wire, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
