/** The same on the lower half of the official MCP SDK, which judges no arguments: the least that it can cost. */

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";

// eslint-disable-next-line @typescript-eslint/no-deprecated -- the lower half is what is measured here
const server = new Server({ name: "bench", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
  content: [{ type: "text", text: String(params.arguments?.["text"]) }],
}));
await server.connect(new StdioServerTransport());
