/** Approvals and questions: asked once, answered once, and asked again only where the answer may be lost. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { AskContext, ClientOptions, JsonObject } from "../src/index.js";
import { plain, settled, TURN } from "./fake.js";
import type { Peer } from "./fake.js";
import { all, back, begin, stage } from "./stage.js";

const FIRST = "5f4b0000-0000-4000-8000-000000000001";
const SECOND = "5f4b0000-0000-4000-8000-000000000002";

function approval(peer: Peer, id = FIRST): void {
  peer.notify("approval/requested", { approval_id: id, turn_id: TURN, tool_name: "shell", title: "Run a command", body: "make clean" });
}

function decided(peer: Peer, id = FIRST): void {
  peer.notify("approval/decided", { approval_id: id, turn_id: TURN, decision: "approve", decided_at: "2026-10-09T08:01:00Z", decided_by: "" });
}

function question(peer: Peer): void {
  const options = [{ label: "Flat", description: "" }, { label: "Nested", description: "" }];
  const one = { header: "Layout", question: "Which?", options, multi_select: false, allow_free_text: true };
  peer.notify("user_question/requested", { question_id: SECOND, turn_id: TURN, title: "Choose", body: "", questions: [one, { ...one, header: "Name" }] });
}

/** Params of an answer without the session. */
function said({ params }: { readonly params: JsonObject }): unknown {
  return plain({ ...params, session_id: undefined });
}

for (const [name, callback, want] of [
  ["a word", () => "approve", { decision: "approve" }],
  ["a scope and a note", () => Promise.resolve({ decision: "deny", scope: "turn", note: "no" }), { decision: "deny", approval_scope: "turn", client_note: "no" }],
  ["a callback that throws", () => Promise.reject(new Error("the dialog broke")), { decision: "deny", client_note: "denied because the callback of the client failed: the dialog broke" }],
] as const) {
  test(`an approval is decided by ${name}`, async () => {
    const on = await stage({ onApproval: callback as NonNullable<ClientOptions["onApproval"]> });
    await begin(on);
    approval(on.peer);
    const asked = await on.peer.next("approval/respond");
    assert.deepEqual(said(asked), { approval_id: FIRST, ...want });
    on.peer.answer(asked, { approval_id: FIRST, accepted: true, status: "accepted", runtime_resumed: true });
    await on.client.close();
  });
}

test("without a callback, or with one that leaves it, nothing is answered", async () => {
  for (const options of [{}, { onApproval: () => undefined, onQuestion: () => undefined }]) {
    const on = await stage(options);
    const turn = await begin(on);
    approval(on.peer);
    question(on.peer);
    await settled();
    assert.deepEqual(on.peer.asked, []);
    on.peer.terminal(2, 4);
    assert.deepEqual((await all(turn)).map(({ type }) => type), ["started", "user_message", "approval", "question", "terminal"]);
    await on.client.close();
  }
});

test("a caller may decide later, outside a callback", async () => {
  const on = await stage();
  await begin(on);
  const deciding = on.session.decide(FIRST, { decision: "approve", scope: "session" });
  const asked = await on.peer.next("approval/respond");
  assert.deepEqual(said(asked), { approval_id: FIRST, decision: "approve", approval_scope: "session" });
  on.peer.answer(asked, { approval_id: FIRST, accepted: true, status: "accepted", runtime_resumed: true });
  assert.equal((await deciding).runtime_resumed, true);
  await on.client.close();
});

test("the callback of a session goes before that of its client", async () => {
  const on = await stage({ onApproval: () => "approve" }, { onApproval: () => "deny" });
  await begin(on);
  approval(on.peer);
  assert.equal((await on.peer.next("approval/respond")).params["decision"], "deny");
  await on.client.close();
});

test("questions are answered in one frame: a label, free words, or both spelled out", async () => {
  const on = await stage({ onQuestion: () => ["Nested", "Call it lab"] });
  await begin(on);
  question(on.peer);
  const asked = await on.peer.next("user_question/respond");
  assert.deepEqual(said(asked), { question_id: SECOND, answers: [{ selected_labels: ["Nested"] }, { free_text: "Call it lab" }] });
  await on.client.close();
  const broken = await stage({ onQuestion: () => { throw new Error("no window"); } });
  await begin(broken);
  question(broken.peer);
  const { params } = await broken.peer.next("user_question/respond");
  assert.match(JSON.stringify(params["answers"]), /no window.*no window/u);
  await broken.client.close();
});

test("one request is asked once however often it is told, also over a cut", async () => {
  let asked = 0;
  let decide: (decision: "approve") => void = () => undefined;
  const on = await stage({
    onApproval: () => {
      asked += 1;
      return new Promise((resolve) => {
        decide = resolve;
      });
    },
  });
  const turn = await begin(on);
  approval(on.peer);
  approval(on.peer);
  on.peer.end(1006);
  const peer = await back(on);
  await peer.opens(5, () => {
    approval(peer);
  });
  await settled();
  assert.equal(asked, 1);
  decide("approve");
  const answered = await peer.next("approval/respond");
  peer.answer(answered, { approval_id: FIRST, accepted: true, status: "accepted", runtime_resumed: true });
  decided(peer);
  peer.terminal(2, 6);
  assert.deepEqual((await all(turn)).map(({ type }) => type), ["started", "user_message", "approval", "approval_decided", "terminal"]);
  await on.client.close();
});

test("an answer that may be lost is sent again when the server asks again, and is not asked of the caller", async () => {
  let asked = 0;
  const on = await stage({ onApproval: () => { asked += 1; return "approve"; } });
  await begin(on);
  approval(on.peer);
  await on.peer.next("approval/respond");
  on.peer.end(1006);
  await settled();
  const peer = await back(on);
  await peer.opens(5, () => {
    approval(peer);
  });
  const again = await peer.next("approval/respond");
  assert.equal(again.params["decision"], "approve");
  assert.equal(asked, 1);
  peer.refuse(again, -32011, { kind: "approval_not_pending" });
  await on.client.close();
});

test("what was settled while the client was away is not asked, and its callback hears that nobody waits", async () => {
  const asked: string[] = [];
  const signals: AbortSignal[] = [];
  const onApproval = ({ approval_id: id }: { readonly approval_id: string }, { signal }: AskContext): Promise<undefined> => {
    asked.push(id);
    signals.push(signal);
    return new Promise(() => undefined);
  };
  const on = await stage({ onApproval });
  await begin(on);
  approval(on.peer);
  on.peer.end(1006);
  const peer = await back(on);
  await peer.opens(9, () => {
    approval(peer, SECOND);
    decided(peer, SECOND);
  });
  await settled();
  assert.deepEqual(asked, [FIRST]);
  assert.ok(signals[0]?.aborted, "the server did not offer it again");
  approval(peer, SECOND.replace("2", "3"));
  peer.notify("approval/cancelled", { approval_id: SECOND.replace("2", "3"), turn_id: TURN, reason: "turn_interrupted" });
  assert.ok(signals[1]?.aborted);
  await on.client.close();
});

test("an answer that the server refuses is told as a warning", async () => {
  const on = await stage({ onQuestion: () => ["only one"] });
  const stream = on.session.events();
  await begin(on);
  question(on.peer);
  on.peer.refuse(await on.peer.next("user_question/respond"), -32108, { kind: "user_question_invalid" });
  await settled();
  on.session.close();
  const told = (await all(stream)).at(-1);
  assert.ok(told?.type === "warning" && told.code === "answer_refused" && told.message.includes("user_question/respond"));
  await on.client.close();
});
