/** The same on the JSON-RPC of VS Code. It has no tools, so nothing judges the arguments. */

import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";

const connection = createMessageConnection(new StreamMessageReader(process.stdin), new StreamMessageWriter(process.stdout));
connection.onRequest("bench/echo", ({ text }: { readonly text: string }) => ({ text }));
connection.listen();
