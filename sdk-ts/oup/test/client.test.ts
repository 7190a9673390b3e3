/** Requests and answers: what settles them, and what does no harm. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client } from "../src/client.js";
import { AuthError, Disconnected, MODELS, Mismatch, ProtocolError, ServerError, TimedOut, UNDERSTOOD, Unsupported } from "../src/index.js";
import type { ClientOptions, Dial, JsonValue } from "../src/index.js";
import { DEFAULT_CAPABILITIES } from "../src/opened.js";
import { deferred, FakeClock, FakeServer, plain, settled } from "./fake.js";
import type { Peer } from "./fake.js";

interface Pair {
  readonly client: Client;
  readonly peer: Peer;
  readonly clock: FakeClock;
  readonly server: FakeServer;
}

async function pair(options: ClientOptions = {}): Promise<Pair> {
  const clock = new FakeClock();
  const server = new FakeServer();
  const connecting = Client.connect(server.dial, { clock, ...options }, true);
  const peer = await server.connection();
  await peer.hello();
  return { client: await connecting, peer, clock, server };
}

test("a client says hello with everything that it understands, and keeps the capabilities", async () => {
  const clock = new FakeClock();
  const server = new FakeServer();
  const connecting = Client.connect(server.dial, { clock }, true);
  const hello = await (await server.connection()).hello();
  const client = await connecting;
  assert.deepEqual(hello.params["supported_features"], UNDERSTOOD);
  assert.ok(UNDERSTOOD.includes("projection.envelope.v2") && !UNDERSTOOD.includes("projection.envelope.v1"));
  assert.equal(client.state, "open");
  assert.ok(client.supports("turn/start"));
  await client.close();
  assert.equal(clock.set, 0, "no timer is left behind");
});

test("an older server without hello is asked for its capabilities", async () => {
  const server = new FakeServer();
  const connecting = Client.connect(server.dial, { clock: new FakeClock() }, true);
  const peer = await server.connection();
  peer.refuse(await peer.next("client_hello"), -32004);
  peer.answer(await peer.next("config/capabilities/list"), { capabilities: DEFAULT_CAPABILITIES as unknown as JsonValue });
  const client = await connecting;
  assert.equal(client.capabilities.version.protocol, "octos-ui/v1alpha1");
  await client.close();
});

test("another protocol and a missing feature are refused", async () => {
  for (const [options, change, error] of [
    [{}, { version: { protocol: "octos-ui/v9", schema_version: 1, jsonrpc: "2.0" } }, "incompatible_protocol"],
    [{ required: ["plan.todos.v1"] }, { supported_features: [] }, "missing_features"],
  ] as const) {
    const server = new FakeServer();
    const connecting = Client.connect(server.dial, { clock: new FakeClock(), ...options }, true);
    const peer = await server.connection();
    peer.answer(await peer.next("client_hello"), { type: "server_hello", capabilities: { ...DEFAULT_CAPABILITIES, ...change } as unknown as JsonValue });
    await assert.rejects(connecting, (fault: unknown) => fault instanceof Mismatch && fault.error === error);
    assert.ok(peer.closed);
  }
});

test("errors keep code, name, kind and data, and both ways to refuse a method are one", async () => {
  const { client, peer } = await pair();
  const asked = client.call("session/hydrate", { session_id: "s" });
  const data = { kind: "cursor_expired", method: "session/hydrate", session_id: "s", cursor: { stream: "s", seq: 1 }, ledger_head: { stream: "s", seq: 9 }, retained_seq: 9, oldest_retained_seq: 5 };
  peer.refuse(await peer.next("session/hydrate"), -32110, data);
  const fault = await asked.catch((thrown: unknown) => thrown);
  assert.ok(fault instanceof ServerError && !(fault instanceof Unsupported));
  assert.deepEqual([fault.code, fault.error, fault.kind, fault.method, fault.wellFormed], [-32110, "cursor_out_of_range", "cursor_expired", "session/hydrate", true]);
  assert.equal(fault.detail("cursor_expired", MODELS.CursorExpiredErrorData)?.oldest_retained_seq, 5);
  assert.equal(fault.detail("unknown_turn", MODELS.UnknownTurnErrorData), undefined);
  for (const code of [-32601, -32004]) {
    const call = client.call("no/such", {});
    peer.refuse(await peer.next("no/such"), code, { method: "no/such", reason: "no" });
    await assert.rejects(call, Unsupported);
  }
  const soft = client.call("loop/list", {});
  peer.answer(await peer.next("loop/list"), { unsupported: { method: "loop/list" } });
  await assert.rejects(soft, (thrown: unknown) => thrown instanceof Unsupported && thrown.message.includes("unsupported by this server"));
  const strange = client.call("loop/list", {});
  peer.say({ id: (await peer.next("loop/list")).id, error: { code: -31999, message: "odd", data: 7 } });
  await assert.rejects(strange, (thrown: unknown) => thrown instanceof ServerError && thrown.error === "unknown" && thrown.kind === undefined && thrown.data === 7);
  await client.close();
});

test("answers to nobody, requests of a server and unknown notifications end nothing", async () => {
  const notes: string[] = [];
  const { client, peer } = await pair({ onNotification: (method) => notes.push(method) });
  peer.say({ id: "99", result: {} });
  peer.say({ id: null, error: { code: -32700, message: "parse error" } });
  // OUP-FRAME-038, OUP-FRAME-039
  for (const id of ["1", "2", "theirs", 7, null]) {
    peer.say({ id, method: "server/asks", params: {} });
  }
  for (const error of ["no", {}, { code: "7", message: 7 }, { code: 1e99, message: "m" }, null]) {
    peer.say({ id: "nobody", error });
    peer.say({ id: null, error });
    const broken = client.call("session/snapshot");
    const verdict = assert.rejects(broken, (fault: unknown) => (fault instanceof ProtocolError || fault instanceof ServerError) && !(fault instanceof Disconnected));
    peer.say({ id: (await peer.next("session/snapshot")).id, error });
    await verdict;
  }
  peer.say({ method: "brand/new", params: { anything: [1] } });
  peer.say({ method: "server/heartbeat" });
  const asked = client.call("session/list");
  peer.answer(await peer.next("session/list"), { sessions: [], added: true });
  assert.deepEqual(plain(await asked), { sessions: [], added: true });
  assert.deepEqual(notes, ["brand/new", "server/heartbeat"]);
  await client.close();
});

test("a request that is never answered times out, and its late answer is passed over", async () => {
  const { client, peer, clock } = await pair({ requestTimeoutMs: 1000 });
  const slow = client.call("session/list");
  const asked = await peer.next("session/list");
  const verdict = assert.rejects(slow, (fault: unknown) => fault instanceof TimedOut && fault.method === "session/list");
  await clock.pass(1000);
  await verdict;
  peer.answer(asked, { sessions: [] });
  const again = client.call("session/list");
  peer.answer(await peer.next("session/list"), { sessions: [1] });
  assert.deepEqual(plain(await again), { sessions: [1] });
  await client.close();
});

test("a caller can give a request up", async () => {
  const { client, peer } = await pair();
  const abort = new AbortController();
  const call = client.call("session/list", {}, { signal: abort.signal });
  await peer.next("session/list");
  abort.abort(new Error("enough"));
  await assert.rejects(call, /enough/u);
  await client.close();
});

test("two calls have two ids, and every frame is one line", async () => {
  const { client, peer } = await pair();
  void client.call("session/list", { text: "a\nb" }).catch(() => undefined);
  void client.call("session/list").catch(() => undefined);
  const [first, second] = [await peer.next("session/list"), await peer.next("session/list")];
  assert.notEqual(first.id, second.id);
  assert.deepEqual(first.params, { text: "a\nb" });
  assert.deepEqual(second.params, {});
  await client.close();
});

test("what is over the limit is never sent, and the connection lives on", async () => {
  const { client, peer } = await pair();
  await assert.rejects(client.call("turn/start", { text: "é".repeat(600_000) }), (fault: unknown) => fault instanceof ProtocolError && fault.message.includes("1048576"));
  assert.equal(peer.asked.length, 0);
  assert.equal(client.state, "open");
  await client.close();
});

test("an end with requests in flight names them, and says that nobody knows what became of them", async () => {
  const { client, peer, clock } = await pair({ reconnect: { attempts: 0 } });
  const calls = [client.call("session/fork", {}), client.call("session/rollback", {})];
  await peer.next("session/rollback");
  peer.end(1006);
  for (const outcome of await Promise.allSettled(calls)) {
    assert.ok(outcome.status === "rejected" && outcome.reason instanceof Disconnected);
    assert.deepEqual(outcome.reason.inFlight, ["session/fork", "session/rollback"]);
    assert.match(outcome.reason.message, /may have been carried out or not/u);
  }
  assert.equal(client.state, "closed");
  await assert.rejects(client.call("session/list"), Disconnected);
  assert.equal(clock.set, 0);
});

test("1008 is the end, 1012 connects again at once, everything else waits longer and longer", async () => {
  const states: string[] = [];
  const refused = await pair({ onState: (state, { fault }) => states.push(`${state} ${fault?.name ?? ""}`.trim()) });
  refused.peer.end(1008);
  await assert.rejects(refused.client.call("session/list"), (fault: unknown) => fault instanceof AuthError && fault.status === 1008);
  assert.deepEqual(states, ["open", "closed AuthError"]);

  const { client, peer, clock, server } = await pair({ reconnect: { random: () => 1, attempts: 5, maxMs: 4000 } });
  peer.end(1012);
  assert.equal(clock.due, 0);
  server.refusals.push(new Disconnected("nothing there"), new Disconnected("nothing there"), new Disconnected("nothing there"), new Disconnected("nothing there"));
  const waits: number[] = [];
  for (let at = 0; at < 5; at += 1) {
    waits.push(clock.due);
    await clock.pass(clock.due);
  }
  assert.deepEqual(waits, [0, 2000, 4000, 4000, 4000]);
  await (await server.connection()).hello();
  await settled();
  assert.equal(client.state, "open");
  await client.close();
});

test("a client that is let in no longer gives up, also while it comes back", async () => {
  const { client, peer, clock, server } = await pair({ reconnect: { random: () => 0 } });
  server.refusals.push(new AuthError("the token is wrong", 401));
  peer.end(1006);
  await clock.pass(0);
  await assert.rejects(client.call("session/list"), AuthError);
  assert.equal(client.state, "closed");
  const hello = await pair({ reconnect: { random: () => 0 } });
  hello.peer.end(1006);
  await hello.clock.pass(0);
  const second = await hello.server.connection();
  await second.next("client_hello");
  second.end(1008);
  await settled();
  await assert.rejects(hello.client.call("session/list"), AuthError);
});

test("requests wait while the client comes back, so many and no more", async () => {
  const { client, peer, clock, server } = await pair({ reconnect: { random: () => 0.5 }, requestTimeoutMs: 60_000 });
  peer.end(1006);
  const held = Array.from({ length: 64 }, () => client.call("session/list"));
  await assert.rejects(client.call("session/list"), (fault: unknown) => fault instanceof Disconnected && !fault.sent);
  await clock.pass(500);
  const next = await server.connection();
  await next.hello();
  for (let at = 0; at < held.length; at += 1) {
    next.answer(await next.next("session/list"), { sessions: [] });
  }
  assert.equal((await Promise.all(held)).length, 64);
  await client.close();
});

test("a request that waits for a connection times out too", async () => {
  const { client, peer, clock } = await pair({ reconnect: { random: () => 1 }, requestTimeoutMs: 100 });
  peer.end(1006);
  const verdict = assert.rejects(client.call("session/list"), TimedOut);
  await clock.pass(100);
  await verdict;
  await client.close();
  assert.equal(clock.set, 0);
});

/** Behind these nothing can be trusted. The clients in Go and Python are held to the same. */
const UNTRUSTED: Readonly<Record<string, string>> = {
  "a blank frame": "",
  "no JSON": "nonsense",
  "a list": "[]",
  "another version": '{"jsonrpc":"1.0","method":"x"}',
  "a frame without a kind": '{"jsonrpc":"2.0"}',
  "a result and an error": '{"jsonrpc":"2.0","id":"1","result":1,"error":{}}',
  "a member twice": '{"jsonrpc":"2.0","method":"a","method":"b"}',
  "a frame over the limit": `{"jsonrpc":"2.0","method":"x","params":"${"é".repeat(600_000)}"}`,
  "an answer with a number": '{"jsonrpc":"2.0","id":1,"result":{}}',
  "an answer with a truth value": '{"jsonrpc":"2.0","id":true,"result":{}}',
  "an answer with a list": '{"jsonrpc":"2.0","id":["1"],"result":{}}',
  "an answer with an object": '{"jsonrpc":"2.0","id":{},"result":{}}',
  "an answer with null": '{"jsonrpc":"2.0","id":null,"result":{}}',
  "an answer without an id": '{"jsonrpc":"2.0","result":{}}',
  "an error with a number": '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}',
  "an error without an id": '{"jsonrpc":"2.0","error":{"code":-32603,"message":"no"}}',
  "a method that is a number": '{"jsonrpc":"2.0","method":1}',
  "a method without a name": '{"jsonrpc":"2.0","method":""}',
};

for (const [name, text] of Object.entries(UNTRUSTED)) {
  test(`${name} ends the client for good, and fails what waits`, async () => {
    const { client, peer, clock, server } = await pair({ reconnect: { random: () => 0 } });
    const broken = (fault: unknown): boolean => fault instanceof Disconnected && fault.cause instanceof ProtocolError;
    const verdict = assert.rejects(client.call("x"), (fault: unknown) => broken(fault) && fault instanceof Disconnected && fault.sent);
    await peer.next("x");
    peer.events.frame(text);
    await verdict;
    await clock.pass(0);
    assert.equal(server.peers.length, 1, "nothing is tried again");
    await assert.rejects(client.call("y"), broken);
    assert.equal(client.state, "closed");
    assert.equal(clock.set, 0);
  });
}

test("a hello that is answered by a number is not asked for again", async () => {
  const { client, peer, clock, server } = await pair({ reconnect: { random: () => 0 } });
  peer.end(1006);
  await clock.pass(0);
  const second = await server.connection();
  await second.next("client_hello");
  second.say({ id: 1, result: {} });
  await settled();
  await clock.pass(60_000);
  assert.equal(client.state, "closed");
  assert.equal(server.peers.length, 2);
});

test("the client pings every 30 s, and gives a silent server up after 60 s", async () => {
  const { client, peer, clock } = await pair({ reconnect: { random: () => 1 } });
  await clock.pass(29_999);
  assert.equal(peer.notified.length, 0);
  await clock.pass(1);
  assert.deepEqual(peer.notified.map(({ method }) => method), ["ping"]);
  peer.say({ method: "server/heartbeat", params: {} });
  await clock.pass(30_000);
  assert.equal(peer.notified.length, 2);
  assert.equal(client.state, "open");
  await clock.pass(30_000);
  assert.equal(client.state, "waiting");
  assert.ok(peer.closed);
  await client.close();
  assert.equal(clock.set, 0);
});

test("closing is idempotent, fails what waits, and stops a connection that is being made", async () => {
  const { client, peer, clock } = await pair();
  const call = client.call("session/list");
  const verdict = assert.rejects(call, Disconnected);
  await Promise.all([client.close(), client.close()]);
  await client.close();
  await verdict;
  assert.ok(peer.closed);
  await assert.rejects(client.open("x:local:y"), Disconnected);
  assert.equal(clock.set, 0);
});

test("a connection that comes to stand behind the close is closed too", async () => {
  const { client, peer, clock, server } = await pair({ reconnect: { random: () => 0 } });
  server.slow = deferred();
  peer.end(1006);
  await clock.pass(0);
  const closing = client.close();
  server.slow.resolve();
  await closing;
  await settled();
  assert.ok(server.peers[1]?.closed);
  assert.deepEqual(server.peers[1].asked, []);
  assert.equal(clock.set, 0);
});

test("a server that takes no connection is given up", async () => {
  const clock = new FakeClock();
  const deaf: Dial = (_events, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        reject(signal.reason as Error);
      });
    });
  const connecting = Client.connect(deaf, { clock, connectTimeoutMs: 700 }, true);
  const verdict = assert.rejects(connecting, (fault: unknown) => fault instanceof Disconnected && fault.message.includes("700 ms"));
  await clock.pass(700);
  await verdict;
  assert.equal(clock.set, 0);
});
