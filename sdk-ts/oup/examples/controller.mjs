// Gives an octet server one job, decides about its tools, and prints what came out.
// node controller.mjs "how many files are here?" octet serve --stdio --model scripted:script.yaml
import { stdio } from "octet-oup/node";

const [job = "", ...server] = process.argv.slice(2);

const client = await stdio(server, {
  onApproval: ({ tool_name: tool }) => (tool === "shell" ? "approve" : { decision: "deny", note: "only shell commands today" }),
});
try {
  const session = await client.open("_main:local:controller");
  const turn = await session.turn(job);
  const { status, text, tools } = await turn.result();
  console.log(`${status}: ${text}`);
  for (const tool of tools) console.log(`${tool.name} ${tool.status}`);
} finally {
  await client.close();
}
