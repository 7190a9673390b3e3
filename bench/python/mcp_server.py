"""The same tool on the official MCP SDK, as its documentation has authors write one."""

from mcp.server import MCPServer

server = MCPServer("bench", log_level="ERROR")


@server.tool(structured_output=False)
async def echo(text: str) -> str:
    """Gives the text back."""
    return text


if __name__ == "__main__":
    server.run()
