/** Sessions and turns: what their events become, where the cursor stands, and what comes back after an end. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client } from "../src/client.js";
import { Disconnected, ServerError } from "../src/index.js";
import type { JsonObject, OupEvent } from "../src/index.js";
import { FakeClock, FakeServer, plain, SESSION, settled, TURN } from "./fake.js";
import { all, back, begin, stage } from "./stage.js";

function snapshot(more: JsonObject = {}): JsonObject {
  return { session_id: SESSION, cursor: { stream: SESSION, seq: 90 }, messages: [], threads: [], turns: [], pending_approvals: [], ...more };
}

function bare(seq: number, ledger: number, type: string, data: JsonObject): JsonObject {
  return { thread_id: TURN, turn_id: TURN, seq, cursor: { stream: SESSION, seq: ledger }, payload: { type, data } };
}

const meta = { message_id: "m1", persisted_at: "2026-10-09T08:00:05Z" };

test("a turn is a stream of typed events and ends with its terminal", async () => {
  const on = await stage();
  const turn = await begin(on);
  const { peer } = on;
  peer.envelope(2, 4, "reasoning_delta", { text: "hm" });
  peer.envelope(3, 5, "tool_start", { tool_call_id: "c1", name: "shell", arguments_preview: "{}" });
  peer.notify("progress/updated", { turn_id: TURN, metadata: { kind: "status", message: "running", odd: [1] } });
  peer.envelope(4, 7, "tool_progress", { tool_call_id: "c1", message: "half" });
  peer.envelope(5, 8, "tool_end", { tool_call_id: "c1", status: "complete", output_preview: "2 failed", duration_ms: 8 });
  peer.notify("plan/updated", { turn_id: TURN, plan: { items: [], updated_at_ms: 1 } });
  peer.notify("warning", { turn_id: TURN, code: "odd", message: "something" });
  peer.delta(6, 9, "Two ");
  peer.delta(7, 10, "tset");
  peer.envelope(8, 11, "assistant_persisted", { text: "Two tests fail.", assistant_segment_id: "s1", meta });
  peer.envelope(9, 12, "file_attached", { path: "a.txt", mime: "text/plain", size_bytes: 3, attachment_owner: {} });
  peer.terminal(10, 13);
  const events = await all(turn);
  assert.deepEqual(
    events.map(({ type }) => type),
    ["started", "user_message", "reasoning", "tool_start", "progress", "tool_progress", "tool_end", "plan", "warning", "delta", "delta", "message", "file", "terminal"],
  );
  assert.ok(events.every(({ turn_id: id }) => id === TURN));
  assert.deepEqual(events[9], { type: "delta", turn_id: TURN, cursor: { stream: SESSION, seq: 9 }, text: "Two ", assistant_segment_id: "s1" });
  const result = await turn.result();
  assert.deepEqual(plain([result.status, result.text, result.usage]), ["completed", "Two tests fail.", { input_tokens: 3 }]);
  assert.deepEqual(result.tools.map(({ name, status, output_preview: output }) => [name, status, output]), [["shell", "complete", "2 failed"]]);
  assert.deepEqual(on.session.cursor, { stream: SESSION, seq: 13 });
  await on.client.close();
});

test("the result alone is enough", async () => {
  const on = await stage();
  const turn = await begin(on);
  const result = turn.result();
  on.peer.delta(2, 4, "Hi");
  on.peer.envelope(3, 5, "turn_terminal", { outcome: "errored", error: { code: "runtime_error", message: "the model failed" } });
  const { status, text, usage, error } = await result;
  assert.deepEqual([status, text, usage, error?.code], ["errored", "Hi", undefined, "runtime_error"]);
  assert.throws(() => turn[Symbol.asyncIterator](), /given once/u);
  await on.client.close();
});

test("events, enum values and members that are not known pass through", async () => {
  const on = await stage();
  const turn = await begin(on);
  on.peer.envelope(2, 4, "brand_new", { anything: 1 });
  on.peer.envelope(3, 5, "tool_end", { tool_call_id: "c1", status: "exploded" });
  on.peer.notify("turn/brand_new", { turn_id: TURN, extra: true });
  on.peer.notify("turn/started", { turn_id: 7 });
  on.peer.notify("projection/envelope", { odd: true });
  on.peer.envelope(4, 6, "assistant_delta", { text: "x", assistant_segment_id: "s1", added: 1 });
  on.peer.envelope(5, 7, "turn_terminal", { outcome: "abducted", error: { code: "x", message: "y" }, token_usage: 7 });
  const events = await all(turn);
  assert.deepEqual(events.map(({ type }) => type), ["started", "user_message", "unknown", "unknown", "unknown", "delta", "terminal"]);
  const last = events.at(-1);
  assert.ok(last?.type === "terminal" && last.outcome === "abducted" && last.error?.code === "x");
  assert.equal((await turn.result()).status, "abducted");
  await on.client.close();
});

test("duplicates are one fact, and nothing comes behind an end", async () => {
  const on = await stage();
  const session = on.session.events();
  const turn = await begin(on);
  on.peer.delta(2, 4, "a");
  on.peer.delta(2, 4, "a");
  on.peer.envelope(1, 3, "user_message", { text: "How many tests fail?" });
  on.peer.terminal(3, 5);
  on.peer.terminal(3, 5);
  on.peer.terminal(4, 6, "errored");
  on.peer.delta(5, 7, "late");
  assert.equal((await all(turn)).filter(({ type }) => type === "delta").length, 1);
  assert.equal((await turn.result()).status, "completed");
  on.peer.notify("warning", { code: "last", message: "" });
  const seen: string[] = [];
  for await (const event of session) {
    seen.push(event.type);
    if (event.type === "warning") {
      break;
    }
  }
  assert.deepEqual(seen, ["started", "user_message", "delta", "terminal", "warning"]);
  await on.client.close();
});

test("the cursor moves only behind what every reader has been given", async () => {
  const on = await stage();
  assert.deepEqual(on.session.cursor, { stream: SESSION, seq: 1 }, "nobody waits for the opening");
  const session = on.session.events();
  const turn = await begin(on);
  on.peer.delta(2, 4, "a");
  on.peer.terminal(3, 5);
  const at = (): number => on.session.cursor?.seq ?? 0;
  assert.equal(at(), 1);
  await all(turn);
  assert.equal(at(), 1, "another reader has not");
  await session.next();
  await session.next();
  assert.equal(at(), 3);
  await session.return?.();
  assert.equal(at(), 5);
  await on.client.close();
});

test("the cursor does not pass over what another reader has not taken", async () => {
  const on = await stage();
  const turn = await begin(on);
  const other = on.session.follow(TURN.replace("1", "2"));
  on.peer.envelope(1, 4, "user_message", { text: "other" }, { thread_id: other.id, turn_id: other.id });
  const events = other[Symbol.asyncIterator]();
  await events.next();
  assert.deepEqual(on.session.cursor, { stream: SESSION, seq: 1 });
  turn.detach();
  assert.deepEqual(on.session.cursor, { stream: SESSION, seq: 4 });
  await on.client.close();
});

test("the position in the answer to session/open counts only when it is told", async () => {
  const server = new FakeServer();
  const clock = new FakeClock();
  const connecting = Client.connect(server.dial, { clock, reconnect: { random: () => 0 } }, true);
  const peer = await server.connection();
  await peer.hello();
  const client = await connecting;
  const opening = client.open(SESSION, { after: { stream: SESSION, seq: 4 } });
  const asked = await peer.next("session/open");
  assert.deepEqual(asked.params["after"], { stream: SESSION, seq: 4 });
  peer.answer(asked, { opened: { session_id: SESSION, cursor: { stream: SESSION, seq: 9 } } });
  const session = await opening;
  assert.deepEqual(session.cursor, { stream: SESSION, seq: 4 });
  assert.equal(session.opened.capabilities.version.protocol, "octos-ui/v1alpha1", "an older server leaves them out");
  peer.end(1012);
  const next = await back({ client, clock, server, peer, session });
  assert.deepEqual((await next.next("session/open")).params["after"], { stream: SESSION, seq: 4 });
  await client.close();
});

test("what is replayed behind a cursor waits for a reader, and can be followed by its turn", async () => {
  const server = new FakeServer();
  const clock = new FakeClock();
  const connecting = Client.connect(server.dial, { clock }, true);
  const peer = await server.connection();
  await peer.hello();
  const client = await connecting;
  const opening = client.open(SESSION, { after: { stream: SESSION, seq: 4 } });
  await peer.opens(8, () => {
    peer.delta(3, 5, "a");
    peer.delta(4, 6, "b");
  });
  const session = await opening;
  assert.equal(session.cursor?.seq, 4);
  const turn = session.follow(TURN);
  peer.terminal(5, 9);
  assert.deepEqual((await all(turn)).map(({ type }) => type), ["delta", "delta", "terminal"]);
  assert.equal((await turn.result()).text, "ab");
  assert.deepEqual(session.cursor, { stream: SESSION, seq: 9 });
  await client.close();
});

test("a turn that has ended is followed to its end", async () => {
  const on = await stage();
  const session = on.session.events();
  const turn = on.session.follow(TURN);
  const asked = await on.peer.next("turn/state/get");
  assert.equal(asked.params["turn_id"], TURN);
  on.peer.answer(asked, { session_id: SESSION, turn_id: TURN, state: "interrupted", running: false });
  on.peer.answer(await on.peer.next("session/hydrate"), snapshot({
    turns: [{ turn_id: TURN, state: "interrupted" }],
    projection_envelopes: [
      bare(1, 2, "user_message", { text: "go" }),
      bare(2, 3, "assistant_persisted", { text: "Half", assistant_segment_id: "s", meta }),
      bare(3, 4, "turn_terminal", { outcome: "interrupted", error: { code: "interrupted", message: "stopped" } }),
    ],
  }));
  const { status, text, error } = await turn.result();
  assert.deepEqual([status, text, error?.code], ["interrupted", "Half", "interrupted"]);
  const never = on.session.follow(TURN.replace("1", "3"));
  on.peer.answer(await on.peer.next("turn/state/get"), { session_id: SESSION, turn_id: never.id, state: "unknown", running: false });
  on.peer.refuse(await on.peer.next("session/hydrate"), -32004, { kind: "method_not_supported", method: "session/hydrate", reason: "is not served" });
  assert.equal((await never.result()).status, "unknown", "one that never was");
  const running = on.session.follow(TURN.replace("1", "4"));
  on.peer.answer(await on.peer.next("turn/state/get"), { session_id: SESSION, turn_id: running.id, state: "active", running: true });
  on.peer.envelope(1, 4, "user_message", { text: "on" }, { thread_id: running.id, turn_id: running.id });
  on.peer.envelope(2, 5, "turn_terminal", { outcome: "completed" }, { thread_id: running.id, turn_id: running.id });
  assert.equal((await running.result()).status, "completed");
  assert.deepEqual((await Promise.all([session.next(), session.next()])).map(({ value }) => (value as OupEvent).turn_id), [running.id, running.id], "what is past is told to the reader of the turn alone");
  await on.client.close();
});

test("a refused start tells why, and leaves nothing behind", async () => {
  const on = await stage();
  const starting = on.session.turn("again", { id: TURN });
  on.peer.refuse(await on.peer.next("turn/start"), -32600, { kind: "turn_in_progress", turn_id: TURN });
  await assert.rejects(starting, (fault: unknown) => fault instanceof ServerError && fault.is("turn_in_progress"));
  await on.client.close();
});

test("steer and interrupt name the turn; leaving the stream interrupts only when asked", async () => {
  const on = await stage();
  const turn = await begin(on);
  const steering = turn.steer("Skip the slow ones");
  const steer = await on.peer.next("turn/steer");
  assert.equal(steer.params["expected_turn_id"], TURN);
  on.peer.answer(steer, { turn_id: TURN, steered: true });
  assert.equal((await steering).steered, true);
  for await (const event of turn) {
    assert.equal(event.turn_id, turn.id);
    break;
  }
  assert.deepEqual(on.peer.asked, [], "the turn goes on");
  on.peer.terminal(2, 4);
  assert.equal((await turn.result()).status, "completed");

  const second = on.session.turn("x", { id: TURN.replace("1", "2"), interruptOnLeave: true });
  on.peer.answer(await on.peer.next("turn/start"), { accepted: true });
  const left = await second;
  on.peer.notify("turn/started", { turn_id: left.id, timestamp: "2026-10-09T08:00:00Z" });
  for await (const event of left) {
    assert.equal(event.turn_id, left.id);
    break;
  }
  assert.equal((await on.peer.next("turn/interrupt")).params["turn_id"], left.id);
  await on.client.close();
});

test("a start in flight is sent again with its id, and the first one counts", async () => {
  for (const verdict of ["accepted", "turn_id_in_use", "turn_in_progress"]) {
    const on = await stage();
    const starting = on.session.turn("once", { id: TURN });
    await on.peer.next("turn/start");
    on.peer.end(1006);
    const peer = await back(on);
    const open = await peer.opens(9, () => {
      if (verdict === "turn_id_in_use") {
        peer.envelope(1, 3, "user_message", { text: "once" });
        peer.terminal(2, 4);
      }
    });
    assert.deepEqual(open.params["after"], { stream: SESSION, seq: 1 });
    const again = await peer.next("turn/start");
    assert.equal(again.params["turn_id"], TURN);
    if (verdict === "accepted") {
      peer.answer(again, { accepted: true });
    } else {
      peer.refuse(again, -32600, { kind: verdict, turn_id: TURN });
    }
    const turn = await starting;
    if (verdict !== "turn_id_in_use") {
      peer.envelope(1, 10, "user_message", { text: "once" });
      peer.terminal(2, 11);
    }
    assert.deepEqual((await all(turn)).map(({ type }) => type), ["user_message", "terminal"], verdict);
    await on.client.close();
  }
});

test("a turn goes on over a cut: what came before the cut is not given twice, with or without a cursor", async () => {
  const on = await stage();
  const turn = await begin(on);
  on.peer.delta(2, 4, "a");
  on.peer.notify("progress/updated", { turn_id: TURN, metadata: { kind: "status", message: "one" } });
  on.peer.notify("progress/updated", { turn_id: TURN, metadata: { kind: "status", message: "one" } });
  const lost = on.session.hydrate();
  const verdict = assert.rejects(lost, (fault: unknown) => fault instanceof Disconnected && fault.sent);
  on.peer.end(1006);
  await verdict;
  const peer = await back(on);
  const open = await peer.opens(9, () => {
    peer.delta(2, 4, "a"); // at least once
    for (const message of ["one", "one", "one", "two"]) {
      peer.notify("progress/updated", { turn_id: TURN, metadata: { kind: "status", message } });
    }
    peer.delta(3, 8, "b");
  });
  assert.deepEqual(open.params["after"], { stream: SESSION, seq: 4 });
  peer.terminal(4, 10);
  const events = await all(turn);
  assert.deepEqual(
    events.map((event) => (event.type === "progress" ? event.metadata.message : event.type)),
    ["started", "user_message", "delta", "one", "one", "one", "two", "delta", "terminal"],
  );
  assert.equal((await turn.result()).text, "ab");
  await on.client.close();
});

test("a gap in a stream opens the session again from the last whole place, and nothing is missing", async () => {
  const on = await stage();
  const turn = await begin(on);
  on.peer.delta(2, 4, "a");
  on.peer.delta(4, 6, "c");
  on.peer.delta(5, 7, "d"); // comes again by replay
  const open = await on.peer.opens(8, () => {
    on.peer.delta(3, 5, "b");
    on.peer.delta(4, 6, "c");
    on.peer.delta(5, 7, "d");
  });
  assert.deepEqual(open.params["after"], { stream: SESSION, seq: 4 });
  on.peer.terminal(6, 9);
  const events = await all(turn);
  assert.deepEqual(events.map(({ type }) => type), ["started", "user_message", "delta", "delta", "delta", "delta", "terminal"]);
  assert.equal((await turn.result()).text, "abcd");
  await on.client.close();
});

test("a gap that the ledger has too is told, and the snapshot goes in its place", async () => {
  const on = await stage();
  const turn = await begin(on);
  on.peer.delta(3, 6, "b");
  await on.peer.opens(8, () => {
    on.peer.delta(3, 6, "b");
  });
  on.peer.answer(await on.peer.next("session/hydrate"), snapshot({
    turns: [{ turn_id: TURN, state: "active" }], projection_thread_sequences: { [TURN]: 3 },
    replayed_projection_envelopes: [bare(3, 6, "assistant_persisted", { text: "ab", assistant_segment_id: "s1", meta }), bare(1, 3, "user_message", { text: "x" })],
  }));
  const open = await on.peer.opens(91);
  assert.deepEqual(open.params["after"], { stream: SESSION, seq: 90 });
  on.peer.delta(4, 92, "c");
  on.peer.terminal(5, 93);
  const events = await all(turn);
  assert.deepEqual(events.map(({ type }) => type), ["started", "user_message", "gap", "message", "delta", "terminal"]);
  const gap = events[2];
  assert.ok(gap?.type === "gap" && gap.reason === "sequence" && !gap.recovered && gap.snapshot?.turns?.length === 1);
  assert.equal((await turn.result()).text, "abc");
  await on.client.close();
});

test("a step back in an open stream is a sign of loss too", async () => {
  const on = await stage();
  await begin(on);
  on.peer.delta(2, 4, "a");
  on.peer.delta(1, 9, "odd");
  assert.deepEqual((await on.peer.next("session/open")).params["after"], { stream: SESSION, seq: 4 });
  await on.client.close();
});

test("a turn that begins in the middle has lost its start", async () => {
  const on = await stage();
  const starting = on.session.turn("x", { id: TURN });
  on.peer.answer(await on.peer.next("turn/start"), { accepted: true });
  const turn = await starting;
  on.peer.delta(2, 4, "a");
  await on.peer.opens(8, () => {
    on.peer.envelope(1, 3, "user_message", { text: "x" });
    on.peer.delta(2, 4, "a");
  });
  on.peer.terminal(3, 9);
  assert.deepEqual((await all(turn)).map(({ type }) => type), ["user_message", "delta", "terminal"]);
  await on.client.close();
});

test("replay_lossy that comes late goes back behind what has come since", async () => {
  const on = await stage();
  await begin(on);
  on.peer.delta(2, 4, "a");
  on.peer.notify("protocol/replay_lossy", { dropped_count: 2, last_durable_cursor: { stream: SESSION, seq: 3 } });
  assert.deepEqual((await on.peer.next("session/open")).params["after"], { stream: SESSION, seq: 3 });
  await on.client.close();
});

test("replay_lossy goes back to the last good place, is told, and does not loop", async () => {
  const on = await stage();
  const turn = await begin(on);
  on.peer.delta(2, 4, "a");
  on.peer.notify("protocol/replay_lossy", { dropped_count: 2, last_durable_cursor: { stream: SESSION, seq: 4 } });
  on.peer.delta(5, 7, "d");
  const open = await on.peer.opens(8, () => {
    on.peer.delta(3, 5, "b");
    on.peer.notify("protocol/replay_lossy", { dropped_count: 1, last_durable_cursor: { stream: SESSION, seq: 5 } });
  });
  assert.deepEqual(open.params["after"], { stream: SESSION, seq: 4 });
  const second = await on.peer.opens(8, () => {
    on.peer.notify("protocol/replay_lossy", { dropped_count: 1, last_durable_cursor: { stream: SESSION, seq: 5 } });
  });
  assert.deepEqual(second.params["after"], { stream: SESSION, seq: 5 });
  on.peer.answer(await on.peer.next("session/hydrate"), snapshot({ turns: [{ turn_id: TURN, state: "completed" }] }));
  await on.peer.opens(91);
  const events = await all(turn);
  assert.deepEqual(
    events.map((event) => (event.type === "gap" ? `gap ${event.reason} ${String(event.recovered)} ${String(event.dropped)}` : event.type)),
    ["started", "user_message", "delta", "gap replay_lossy true 2", "delta", "gap replay_lossy true 1", "gap replay_lossy false 1", "terminal"],
  );
  assert.equal((await turn.result()).status, "completed");
  await on.client.close();
});

test("a cursor that has expired is dropped: snapshot, gap, and on from there", async () => {
  const on = await stage();
  const stream = on.session.events();
  const turn = await begin(on);
  on.peer.end(1006);
  const peer = await back(on);
  peer.refuse(await peer.next("session/open"), -32110, { kind: "cursor_expired" });
  peer.answer(await peer.next("session/hydrate"), snapshot({ turns: [{ turn_id: TURN, state: "interrupted" }] }));
  assert.deepEqual((await peer.opens(91)).params["after"], { stream: SESSION, seq: 90 });
  const events = await all(turn);
  assert.deepEqual(events.map(({ type }) => type), ["started", "user_message", "gap", "terminal"]);
  assert.equal((await turn.result()).status, "interrupted");
  await stream.return?.();
  assert.deepEqual(on.session.cursor, { stream: SESSION, seq: 91 });
  await on.client.close();
});

test("a turn whose session was never confirmed is looked at in a snapshot", async () => {
  const server = new FakeServer();
  const clock = new FakeClock();
  const connecting = Client.connect(server.dial, { clock, reconnect: { random: () => 0 } }, true);
  const peer = await server.connection();
  await peer.hello();
  const client = await connecting;
  const opening = client.open(SESSION);
  peer.answer(await peer.next("session/open"), { opened: { session_id: SESSION, cursor: { stream: SESSION, seq: 1 } } });
  const session = await opening;
  const starting = session.turn("x", { id: TURN });
  await peer.next("turn/start");
  peer.end(1006);
  const next = await back({ client, clock, server, peer, session });
  next.answer(await next.next("session/hydrate"), snapshot());
  await next.opens(91);
  next.answer(await next.next("turn/start"), { accepted: true });
  next.envelope(1, 92, "user_message", { text: "x" });
  next.terminal(2, 93);
  assert.deepEqual((await all(await starting)).map(({ type }) => type), ["gap", "user_message", "terminal"]);
  assert.deepEqual(next.asked, [], "a turn that was not accepted is not looked for");
  await client.close();
});

test("behind a snapshot streams go on where it says, or where they are", async () => {
  for (const sequences of [{ [TURN]: 7 }, {}]) {
    const on = await stage();
    const turn = await begin(on);
    on.peer.end(1006);
    const peer = await back(on);
    peer.refuse(await peer.next("session/open"), -32110, { kind: "cursor_expired" });
    peer.answer(await peer.next("session/hydrate"), snapshot({ turns: [{ turn_id: TURN, state: "active" }], projection_thread_sequences: sequences }));
    await peer.opens(91);
    peer.delta(9, 92, "c");
    if (sequences[TURN] === undefined) {
      peer.terminal(10, 93);
      assert.deepEqual((await all(turn)).map(({ type }) => type), ["started", "user_message", "gap", "delta", "terminal"]);
    } else {
      assert.deepEqual((await peer.next("session/open")).params["after"], { stream: SESSION, seq: 91 }, "8 is missing");
    }
    await on.client.close();
  }
});

test("a turn of which the server knows nothing any more is settled and never sent again", async () => {
  const on = await stage();
  const turn = await begin(on);
  on.peer.end(1006);
  const peer = await back(on);
  peer.refuse(await peer.next("session/open"), -32110, { kind: "cursor_expired" });
  peer.answer(await peer.next("session/hydrate"), snapshot());
  await peer.opens(91);
  peer.answer(await peer.next("turn/state/get"), { session_id: SESSION, turn_id: TURN, state: "unknown", running: false });
  assert.equal((await turn.result()).status, "unknown");
  assert.deepEqual(peer.asked, []);
  await on.client.close();
});

test("a session that the server lost begins anew, and the gap says so", async () => {
  const on = await stage();
  const events = on.session.events();
  on.peer.end(1006);
  const peer = await back(on);
  peer.refuse(await peer.next("session/open"), -32110, { kind: "cursor_expired" });
  peer.refuse(await peer.next("session/hydrate"), -32100, { kind: "unknown_session", session_id: SESSION });
  assert.equal((await peer.opens(1)).params["after"], undefined);
  const { value } = (await events.next()) as { value: OupEvent };
  assert.ok(value.type === "gap" && value.reason === "cursor_expired" && value.snapshot === undefined);
  await on.client.close();
});

test("a recovery that is cut is made up for on the next connection", async () => {
  const on = await stage();
  const turn = await begin(on);
  on.peer.end(1006);
  const second = await back(on);
  second.refuse(await second.next("session/open"), -32110, { kind: "cursor_expired" });
  await second.next("session/hydrate");
  second.end(1006);
  await settled();
  const third = await back(on);
  third.answer(await third.next("session/hydrate"), snapshot({ turns: [{ turn_id: TURN, state: "active" }], projection_thread_sequences: { [TURN]: 7 } }));
  await third.opens(91);
  third.terminal(8, 92);
  assert.deepEqual((await all(turn)).map(({ type }) => type), ["started", "user_message", "gap", "terminal"]);
  await on.client.close();
});

test("a cursor of another session is the caller's mistake", async () => {
  const server = new FakeServer();
  const connecting = Client.connect(server.dial, { clock: new FakeClock() }, true);
  const peer = await server.connection();
  await peer.hello();
  const client = await connecting;
  const opening = client.open(SESSION, { after: { stream: "other", seq: 4 } });
  peer.refuse(await peer.next("session/open"), -32111, { kind: "cursor_stream_mismatch" });
  await assert.rejects(opening, (fault: unknown) => fault instanceof ServerError && fault.error === "cursor_invalid");
  await client.close();
});

test("an end while a session is opened fails the opening", async () => {
  const server = new FakeServer();
  const connecting = Client.connect(server.dial, { clock: new FakeClock() }, true);
  const peer = await server.connection();
  await peer.hello();
  const client = await connecting;
  const opening = client.open(SESSION);
  await peer.next("session/open");
  const verdict = assert.rejects(opening, (fault: unknown) => fault instanceof Disconnected && fault.sent);
  peer.end(1006);
  await verdict;
  await client.close();
});

test("when the server is gone for good, streams end with that behind what had come", async () => {
  const on = await stage({ reconnect: { attempts: 0 } });
  const turn = await begin(on);
  const session = on.session.events();
  on.peer.delta(2, 4, "a");
  on.peer.end(1006);
  const seen: string[] = [];
  await assert.rejects(async () => {
    for await (const event of turn) {
      seen.push(event.type);
    }
  }, Disconnected);
  assert.deepEqual(seen, ["started", "user_message", "delta"]);
  await assert.rejects(turn.result(), Disconnected);
  await session.next();
  await assert.rejects(session.next(), Disconnected);
  await assert.rejects(on.session.turn("more"), Disconnected);
  assert.equal(on.clock.set, 0);
});

test("closing ends the streams of sessions quietly, and turns without an end with a fault", async () => {
  const on = await stage();
  const turn = await begin(on);
  const session = on.session.events();
  await on.client.close();
  assert.equal((await session.next()).done, true);
  await assert.rejects(turn.result(), Disconnected);
});

test("a session that was closed here is not opened again, and its frames fall away", async () => {
  const notes: string[] = [];
  const on = await stage({ onNotification: (method) => notes.push(method) });
  on.session.close();
  on.peer.notify("warning", { code: "x", message: "y" });
  on.peer.end(1012);
  const peer = await back(on);
  await settled();
  assert.deepEqual(peer.asked, []);
  assert.deepEqual(notes, ["warning"]);
  await on.client.close();
});

test("late results of work in the background come on their own stream and reopen nothing", async () => {
  const on = await stage();
  const session = on.session.events();
  const turn = await begin(on);
  on.peer.terminal(2, 4);
  const data = { parent_turn_id: TURN, task_id: "k", content: "Report ready", message_id: "m", source: "background", persisted_at: "2026-10-09T08:11:40Z" };
  const child = { thread_id: `${TURN}:background:k`, turn_id: "k" } satisfies JsonObject;
  on.peer.envelope(1, 5, "background/spawn_complete", data, child);
  on.peer.envelope(2, 6, "background/spawn_complete", data, child);
  assert.deepEqual((await all(turn)).map(({ type }) => type), ["started", "user_message", "terminal"]);
  on.session.close();
  const rest = await all(session);
  assert.deepEqual(rest.map(({ type }) => type), ["started", "user_message", "terminal", "background"]);
  assert.equal(rest[3]?.turn_id, TURN);
  await on.client.close();
});

