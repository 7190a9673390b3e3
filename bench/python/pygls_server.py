"""The same on the JSON-RPC of pygls. It has no tools, so nothing judges the arguments."""

from typing import Any

from pygls.protocol import JsonRPCProtocol, default_converter
from pygls.server import JsonRPCServer

server = JsonRPCServer(JsonRPCProtocol, default_converter)


@server.feature("bench/echo")
async def echo(params: Any) -> dict[str, object]:
    """Gives the text back."""
    return {"text": params.text}


if __name__ == "__main__":
    server.start_io()
