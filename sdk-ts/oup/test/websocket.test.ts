/** Real WebSockets: what a handshake is refused with, how a connection is closed, and what is too large. */

import assert from "node:assert/strict";
import { once } from "node:events";
import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { after, test } from "node:test";

import { WebSocketServer } from "ws";
import type { Connected } from "ws";

import { builtInSocket } from "../src/environment.js";
import type { WebSocketOptions } from "../src/node/index.js";
import { AuthError, Disconnected, ProtocolError, websocket } from "../src/node/index.js";
import { DEFAULT_CAPABILITIES } from "../src/opened.js";
import { address, websocket as inBrowser } from "../src/websocket.js";

const servers: Server[] = [];

after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

interface Frame {
  readonly id?: string;
  readonly method: string;
}

/** A server that lets in who has the token, says hello, and leaves the rest to a test. */
async function listen(serve: (socket: Connected, frame: Frame) => void, token?: string): Promise<{ readonly url: string; readonly sockets: Connected[]; readonly paths: string[] }> {
  const sockets: Connected[] = [];
  const paths: string[] = [];
  const upgrades = new WebSocketServer({ noServer: true });
  const allowed = (url: string | undefined): boolean => token === undefined || new URL(url ?? "", "http://x").searchParams.get("token") === token;
  const server = createServer((request, response) => {
    response.writeHead(allowed(request.url) ? 426 : 401).end();
  });
  server.on("upgrade", (request, raw: Socket, head) => {
    paths.push(request.url ?? "");
    if (!allowed(request.url)) {
      raw.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      return;
    }
    upgrades.handleUpgrade(request, raw, head, (socket) => {
      sockets.push(socket);
      socket.on("message", (data) => {
        const frame = JSON.parse(String(data)) as Frame;
        if (frame.method === "client_hello") {
          socket.send(JSON.stringify({ jsonrpc: "2.0", id: frame.id, result: { type: "server_hello", capabilities: { ...DEFAULT_CAPABILITIES, supported_features: [] } } }));
        } else {
          serve(socket, frame);
        }
      });
    });
  });
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, sockets, paths };
}

const AT_ONCE: WebSocketOptions = { reconnect: { random: () => 0 } };

test("an address of a server is enough, and the token travels in the query", () => {
  assert.equal(address("http://127.0.0.1:8080", "a b").href, "ws://127.0.0.1:8080/api/ui-protocol/ws?token=a+b");
  assert.equal(address("https://host/", undefined).href, "wss://host/api/ui-protocol/ws");
  assert.equal(address("ws://host/other?x=1#y", undefined).href, "ws://host/other?x=1");
  assert.throws(() => address("ftp://host", undefined), TypeError);
});

test("an answer comes, also one in several pieces, and binary messages mean nothing", async () => {
  const { url, paths } = await listen((socket, { id }) => {
    socket.send(Buffer.from("binary"));
    socket.send(`{"jsonrpc":"2.0","id":"${String(id)}",`, { fin: false });
    socket.send('"result":"dé"}', { fin: true });
  }, "secret");
  const client = await websocket(url, { token: "secret" });
  assert.equal(await client.call("x"), "dé");
  assert.deepEqual(paths, ["/api/ui-protocol/ws?token=secret"]);
  await client.close();
  await client.close();
});

test("a wrong token and an address where nothing answers are told apart", async () => {
  const { url } = await listen(() => undefined, "secret");
  await assert.rejects(websocket(url, { token: "wrong" }), (fault: unknown) => fault instanceof AuthError && fault.status === 401);
  await assert.rejects(websocket("ws://127.0.0.1:1"), (fault: unknown) => fault instanceof Disconnected && /nothing answers/u.test(fault.message));
  await assert.rejects(inBrowser("ws://127.0.0.1:1"), builtInSocket() === undefined ? /octet-oup\/node/u : Disconnected);
});

for (const code of [1012, 1009, 1006, 1000]) {
  test(`closed with ${String(code)}, the client comes back`, async () => {
    let calls = 0;
    const { url, sockets } = await listen((socket, { id }) => {
      calls += 1;
      if (calls > 1) {
        socket.send(JSON.stringify({ jsonrpc: "2.0", id, result: "again" }));
      } else if (code === 1006) {
        socket.terminate();
      } else {
        socket.close(code);
      }
    });
    const client = await websocket(url, AT_ONCE);
    await assert.rejects(client.call("x"), (fault: unknown) => fault instanceof Disconnected && fault.sent);
    assert.equal(await client.call("x"), "again");
    assert.equal(sockets.length, 2);
    await client.close();
  });
}

test("closed with 1008, it does not", async () => {
  const { url, sockets } = await listen((socket) => {
    socket.close(1008, "auth_expired");
  });
  const client = await websocket(url, AT_ONCE);
  await assert.rejects(client.call("x"), Disconnected);
  await assert.rejects(client.call("x"), (fault: unknown) => fault instanceof AuthError && fault.message.includes("auth_expired"));
  assert.equal(client.state, "closed");
  assert.equal(sockets.length, 1);
});

test("a message over the limit ends the client for good", async () => {
  const { url, sockets } = await listen((socket, { id }) => {
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, result: "x".repeat(2 ** 20) }));
  });
  const client = await websocket(url, AT_ONCE);
  for (let calls = 0; calls < 2; calls += 1) {
    await assert.rejects(client.call("x"), (fault: unknown) => fault instanceof Disconnected && fault.cause instanceof ProtocolError);
  }
  assert.equal(sockets.length, 1);
  await client.close();
});

test("closing does not wait for a server that has stopped to talk", { timeout: 20_000 }, async () => {
  const { url, sockets } = await listen(() => undefined);
  const client = await websocket(url);
  sockets[0]?.pause();
  await client.close();
  assert.equal(client.state, "closed");
});
