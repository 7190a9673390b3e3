/** A client with one open session on a server in memory. */

import assert from "node:assert/strict";

import { Client } from "../src/client.js";
import type { ClientOptions, OpenOptions, OupEvent, Session, Turn } from "../src/index.js";
import { FakeClock, FakeServer, SESSION, TURN } from "./fake.js";
import type { Peer } from "./fake.js";

export interface Stage {
  readonly client: Client;
  readonly clock: FakeClock;
  readonly server: FakeServer;
  readonly peer: Peer;
  readonly session: Session;
}

export async function stage(options: ClientOptions = {}, open: OpenOptions = {}, server = new FakeServer()): Promise<Stage> {
  const clock = new FakeClock();
  const connecting = Client.connect(server.dial, { clock, reconnect: { random: () => 0 }, ...options }, true);
  const peer = await server.connection();
  await peer.hello();
  const client = await connecting;
  const [session] = await Promise.all([client.open(SESSION, open), peer.opens(1)]);
  return { client, clock, server, peer, session };
}

export async function begin({ session, peer }: Stage): Promise<Turn> {
  const starting = session.turn("How many tests fail?", { id: TURN });
  const asked = await peer.next("turn/start");
  assert.deepEqual(asked.params["input"], [{ kind: "text", text: "How many tests fail?" }]);
  peer.answer(asked, { accepted: true });
  peer.notify("turn/started", { turn_id: TURN, timestamp: "2026-10-09T08:00:00Z" });
  peer.envelope(1, 3, "user_message", { text: "How many tests fail?" });
  return starting;
}

/** The next connection of the client, after hello. */
export async function back({ clock, server }: Stage): Promise<Peer> {
  await clock.pass(0);
  const peer = await server.connection();
  await peer.hello();
  return peer;
}

/** All events of a stream that ends. */
export async function all(turn: AsyncIterable<OupEvent>): Promise<OupEvent[]> {
  const events: OupEvent[] = [];
  for await (const event of turn) {
    events.push(event);
  }
  return events;
}
