/** octet serve on both transports: turns, approvals, questions, interrupts, steering, and coming back after its end. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import type { Client, ClientOptions, OupEvent } from "../src/node/index.js";
import { AuthError, eventsOf, ServerError, stdio, Unsupported, websocket } from "../src/node/index.js";
import { Home } from "./served.js";

const KEY = "_main:local:desk";
const homes: Home[] = [];

after(async () => {
  await Promise.all(homes.map((home) => home.clear()));
});

function newHome(): Home {
  const home = new Home();
  homes.push(home);
  return home;
}

for (const transport of ["stdio", "websocket"] as const) {
  test(`over ${transport}: a turn, a tool that is approved, one that is denied, steering and an interrupt`, async () => {
    const home = newHome();
    const asked: string[] = [];
    const options: ClientOptions = {
      onQuestion: ({ questions }) => questions.map(({ options: labels }) => labels.at(-1)?.label ?? ""),
      onApproval: ({ tool_name: tool }) => {
        asked.push(tool);
        return asked.length > 1 ? { decision: "deny", note: "once is enough" } : "approve";
      },
    };
    const client = transport === "stdio" ? await stdio(home.argv("--stdio"), { ...options, env: home.env }) : await websocket(await home.listen(), options);
    assert.ok(client.supports("turn/start"));
    await assert.rejects(client.call("no/such/method"), Unsupported);
    const session = await client.open(KEY, { cwd: home.work });
    assert.equal(session.opened.workspace_root, home.work);
    const stream = session.events();

    const events: OupEvent[] = [];
    const turn = await session.turn("please make it");
    for await (const event of turn) {
      events.push(event);
    }
    const result = await turn.result();
    assert.deepEqual([result.status, result.text, result.tools.map(({ name, status }) => `${name} ${status ?? ""}`)], ["completed", "I make it.\n\nDone with it.", ["shell complete"]]);
    assert.ok((result.usage?.input_tokens ?? 0) > 0);
    assert.deepEqual(asked, ["shell"]);
    assert.ok(existsSync(join(home.work, "made.txt")));
    const types = new Set(events.map(({ type }) => type));
    for (const type of ["started", "user_message", "reasoning", "delta", "message", "tool_start", "approval", "approval_decided", "tool_end", "terminal"] as const) {
      assert.ok(types.has(type), type);
    }
    assert.ok(!types.has("unknown"), "everything that the server tells is known");

    const answered = await (await session.turn("ask me")).result();
    assert.match(answered.text, /Nested/u);

    const denied = await (await session.turn("make it again")).result();
    assert.deepEqual(denied.tools.map(({ status }) => status), ["skipped"]);

    const long = await session.turn("talk long");
    for await (const event of long) {
      if (event.type === "delta") {
        break;
      }
    }
    assert.equal((await long.steer("and softer")).steered, true);
    await assert.rejects(session.turn("another"), (fault: unknown) => fault instanceof ServerError && fault.is("turn_in_progress"));
    assert.equal((await long.interrupt()).interrupted, true);
    assert.equal((await long.result()).status, "interrupted");

    const snapshot = await session.hydrate();
    assert.deepEqual(snapshot.turns?.map(({ state }) => state), ["completed", "completed", "completed", "interrupted"]);
    assert.equal(eventsOf(snapshot).filter(({ type }) => type === "terminal").length, 4);
    assert.equal((await client.methods.turnStateGet({ session_id: session.key, turn_id: long.id })).state, "interrupted");
    const { sessions } = await client.methods.sessionList({});
    assert.deepEqual(sessions.map(({ id }) => id), [KEY]);
    await client.close();
    const seen: string[] = [];
    for await (const { type } of stream) {
      seen.push(type);
    }
    assert.equal(seen.filter((type) => type === "terminal").length, 4);
  });
}

test("a killed server is waited for: the turn it ran ends as orphaned, and the next one works", async () => {
  const home = newHome();
  const states: string[] = [];
  const url = await home.listen();
  const client = await websocket(url, { reconnect: { firstMs: 50, maxMs: 200, attempts: 100 }, onState: (state) => states.push(state) });
  const session = await client.open(KEY);
  const first = await (await session.turn("hello")).result();
  assert.equal(first.text, "You said: hello");
  const long = await session.turn("talk long");
  let cut = false;
  const events: OupEvent[] = [];
  for await (const event of long) {
    events.push(event);
    if (event.type === "delta" && !cut) {
      cut = true;
      await home.end();
      await home.listen();
    }
  }
  const result = await long.result();
  assert.deepEqual([result.status, result.error?.code], ["errored", "orphaned_by_restart"]);
  assert.ok(!events.some(({ type }) => type === "gap"), "nothing is missing");
  assert.equal((await (await session.turn("still there?")).result()).text, "You said: still there?");
  const kept = session.cursor;
  await home.end("SIGTERM");
  await home.listen();
  assert.equal((await (await session.turn("and now?")).result()).status, "completed");
  await client.close();
  assert.deepEqual([...new Set(states)], ["open", "waiting", "closed"]);

  // Another process goes on from the cursor that was kept.
  const later: Client = await websocket(url);
  const resumed = await later.open(KEY, { ...(kept === undefined ? {} : { after: kept }) });
  const replayed: OupEvent[] = [];
  for await (const event of resumed.events()) {
    replayed.push(event);
    if (event.type === "terminal") {
      break;
    }
  }
  assert.ok(replayed.some((event) => event.type === "user_message" && event.text === "and now?"));
  assert.ok(!replayed.some((event) => event.type === "user_message" && event.text !== "and now?"));
  await later.close();
});

test("an approval outlives the client that was asked", async () => {
  const home = newHome();
  const url = await home.listen();
  const first = await websocket(url);
  const session = await first.open(KEY);
  const turn = await session.turn("make it");
  for await (const event of turn) {
    if (event.type === "approval") {
      break;
    }
  }
  await first.close();
  let asked = 0;
  const second = await websocket(url, {
    onApproval: () => {
      asked += 1;
      return "approve";
    },
  });
  const again = await second.open(KEY);
  const result = await again.follow(turn.id).result();
  assert.deepEqual([result.status, asked], ["completed", 1]);
  await second.close();
});

test("without the token nobody is let in", async () => {
  const home = newHome();
  const url = await home.listen("--auth-token", "secret");
  await assert.rejects(websocket(url, { token: "wrong" }), (fault: unknown) => fault instanceof AuthError && fault.status === 401);
  const client = await websocket(url, { token: "secret" });
  await client.close();
});
