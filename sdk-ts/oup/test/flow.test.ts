/** Events that nobody takes stop the reading, cost bounded memory, and are never dropped. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { HARD_MARK, HIGH_MARK } from "../src/flow.js";
import type { OupEvent } from "../src/index.js";
import { FakeServer, SESSION, settled } from "./fake.js";
import type { Peer } from "./fake.js";
import { back, begin, stage } from "./stage.js";

/** So many deltas, the first with this number in its stream. */
function flood(peer: Peer, first: number, count: number): void {
  for (let at = first; at < first + count; at += 1) {
    peer.delta(at, at + 2, "x");
  }
}

async function take(stream: AsyncIterator<OupEvent>, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    assert.equal((await stream.next()).done, false);
  }
}

test("reading stops at so many events, and goes on when half of them are taken", async () => {
  const on = await stage();
  const turn = await begin(on);
  const stream = turn[Symbol.asyncIterator]();
  flood(on.peer, 2, HIGH_MARK - 3);
  assert.equal(on.peer.paused, 0);
  flood(on.peer, HIGH_MARK - 1, 1);
  assert.equal(on.peer.paused, 1);
  const before = on.peer.resumed;
  await take(stream, HIGH_MARK / 2 - 1);
  assert.equal(on.peer.resumed, before);
  await take(stream, 1);
  assert.equal(on.peer.resumed, before + 1);
  on.peer.terminal(HIGH_MARK, HIGH_MARK + 2);
  assert.equal((await turn.result()).text.length, HIGH_MARK - 2, "nothing was dropped");
  await on.client.close();
});

test("an answer that is waited for is read past what waits, up to a bound", async () => {
  const on = await stage();
  await begin(on);
  flood(on.peer, 2, HIGH_MARK - 2);
  assert.equal(on.peer.paused, 1);
  const before = on.peer.resumed;
  const call = on.client.call("session/list");
  assert.equal(on.peer.resumed, before + 1, "otherwise the answer would never come");
  flood(on.peer, HIGH_MARK, HARD_MARK - HIGH_MARK);
  assert.equal(on.peer.paused, 2);
  on.peer.answer(await on.peer.next("session/list"), {});
  await call;
  await on.client.close();
});

test("leaving a stream lets go what waits in it", async () => {
  const on = await stage();
  const turn = await begin(on);
  flood(on.peer, 2, HIGH_MARK);
  assert.equal(on.peer.paused, 1);
  const before = on.peer.resumed;
  turn.detach();
  assert.equal(on.peer.resumed, before + 1);
  assert.equal(on.session.cursor?.seq, HIGH_MARK + 3);
  await on.client.close();
});

test("a socket that cannot stop reading is given up, and the client resumes when the reader is back", async () => {
  const on = await stage({}, {}, new FakeServer({ pausable: false }));
  const turn = await begin(on);
  const stream = turn[Symbol.asyncIterator]();
  flood(on.peer, 2, HARD_MARK - 3);
  assert.equal(on.client.state, "open");
  flood(on.peer, HARD_MARK - 1, 1);
  assert.equal(on.client.state, "waiting");
  assert.ok(on.peer.closed);
  await settled();
  assert.equal(on.server.peers.length, 1);
  await take(stream, HARD_MARK - HIGH_MARK / 2);
  const peer = await back(on);
  const open = await peer.opens(HARD_MARK + 9);
  assert.deepEqual(open.params["after"], { stream: SESSION, seq: HARD_MARK + 1 });
  peer.terminal(HARD_MARK, HARD_MARK + 10);
  assert.equal((await turn.result()).text.length, HARD_MARK - 2);
  await on.client.close();
});
