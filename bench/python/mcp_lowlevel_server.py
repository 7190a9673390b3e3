"""The same on the lower half of the official MCP SDK, which judges no arguments: the least that it can cost."""

import anyio
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


async def list_tools(
    _context: ServerRequestContext, _params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    """Returns the one tool."""
    return types.ListToolsResult(
        tools=[types.Tool(name="echo", description="Gives the text back", input_schema=SCHEMA)]
    )


async def call_tool(_context: ServerRequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Gives the text back."""
    text = (params.arguments or {})["text"]
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def serve() -> None:
    """Serves standard input and output until they end."""
    server = Server("bench", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(serve)
