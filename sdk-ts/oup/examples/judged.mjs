// One turn, so that the referee can judge the client that carries it:
// octet-conform client -- node judged.mjs {session} {prompt} {decision} {url} {token}
// octet-conform client -- node judged.mjs {session} {prompt} {decision} {server}
import { stdio, websocket } from "octet-oup/node";

const [session = "", prompt = "", decision, url = "", ...rest] = process.argv.slice(2);
const options = {
  onApproval: () => (decision === "approve" ? "approve" : "deny"),
  onQuestion: ({ questions }) => questions.map(({ options: offered }) => offered[0]?.label ?? ""),
};
const client = await (url.includes("://") ? websocket(url, { ...options, token: rest[0] }) : stdio([url, ...rest], options));
try {
  const { status, text } = await (await (await client.open(session)).turn(prompt)).result();
  console.log(`${status}: ${text}`);
  process.exitCode = status === "completed" ? 0 : 1;
} finally {
  await client.close();
}
