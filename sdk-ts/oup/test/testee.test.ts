/** The testee as a program, and the edges of what it is asked. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { FrameFault, readLine } from "../src/frames.js";
import { answer } from "../src/testee/answer.js";

const TESTEE = fileURLToPath(new URL("../src/testee.js", import.meta.url));

test("the program answers in order and survives what it cannot read", () => {
  const lines = [
    '{"seq":1,"op":"hello","protocol":1}',
    "{",
    "7",
    '{"seq":4,"op":"model","wire":"oup","model":"TaskListParams","text":"{}"}',
    '{"seq":5,"op":"model","wire":"oup","model":"Nothing","text":"{}"}',
    '{"seq":6,"op":"model","wire":"extension-feature","model":"TaskListParams","text":"{}"}',
    '{"seq":7,"op":"hello","protocol":2}',
    '{"seq":8,"op":"sing"}',
    '{"seq":9,"op":"envelope","wire":"oup","text":"{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"ping\\"}"}',
    '{"seq":10,"op":"envelope","wire":"oup","text":"{"}',
  ];
  const { stdout, stderr, status } = spawnSync(process.execPath, [TESTEE], { input: `${lines.join("\n")}\n`, encoding: "utf8" });
  assert.equal(stderr, "");
  assert.equal(status, 0);
  assert.deepEqual(stdout.split("\n"), [
    '{"name":"octet sdk-ts oup","ok":true,"ops":["envelope","frame","model","negotiate"],"protocol":1,"seq":1,"wires":["oup"]}',
    '{"seq":null,"verdict":"unsupported"}',
    '{"seq":null,"verdict":"unsupported"}',
    '{"error":"invalid_params","pointer":"/session_id","seq":4,"verdict":"reject","violation":"missing"}',
    '{"seq":5,"verdict":"unsupported"}',
    '{"seq":6,"verdict":"unsupported"}',
    '{"seq":7,"verdict":"unsupported"}',
    '{"seq":8,"verdict":"unsupported"}',
    '{"seq":9,"verdict":"notification"}',
    '{"seq":10,"verdict":"invalid"}',
    "",
  ]);
});

for (const [text, verdict] of [
  ["", "accept"],
  ["{}\n", "accept"],
  ["{}\r\n", "accept"],
  ["{}", "accept"],
  ["{}\r", "reject"],
  ["{\r}\n", "reject"],
  ["\n", "reject"],
  [" \t\r\n", "reject"],
  ["[]\n", "reject"],
  ['{"a":1,"a":2}\n', "reject"],
  ["\u{feff}{}\n", "reject"],
  ["{}\n[\n", "accept"],
  ["[\n{}\n", "reject"],
] as const) {
  test(`the first line is judged: ${JSON.stringify(text)}`, () => {
    const base64 = Buffer.from(text).toString("base64");
    assert.equal(answer(JSON.stringify({ seq: 1, op: "frame", wire: "oup", base64 })), `{"seq":1,"verdict":"${verdict}"}`);
  });
}

test("bytes that are no UTF-8 are no frame", () => {
  assert.throws(() => readLine(Uint8Array.of(0x7b, 0xff, 0x7d)), FrameFault);
});

test("the bound counts neither line feed nor carriage return", () => {
  const line = Buffer.from('{"a":1}\r\n');
  assert.deepEqual({ ...readLine(line, 7) }, { a: 1 });
  assert.throws(() => readLine(line, 6), /more than 6 bytes/u);
});

const CAPABILITIES = {
  version: { protocol: "octos-ui/v1alpha1", schema_version: 1, jsonrpc: "2.0" },
  capabilities_schema_version: 2,
  supported_methods: [],
  supported_notifications: [],
};

for (const [offer, changes, want] of [
  [{}, {}, { verdict: "accept" }],
  [{ required: ["plan.todos.v1"] }, {}, { error: "missing_features", verdict: "reject" }],
  [{ requested: ["plan.todos.v1"] }, { supported_features: ["plan.todos.v1", "house.own"] }, { verdict: "accept" }],
  [{ requested: ["plan.todos.v1"] }, { supported_features: ["user_question.v1"] }, { error: "unrequested_feature", verdict: "reject" }],
  [{}, { supported_features: ["coding.goal_runtime.v1"] }, { error: "unmet_dependency", verdict: "reject" }],
  [{}, { supported_methods: null }, { error: "malformed_result", verdict: "reject" }],
  [{}, { version: { ...CAPABILITIES.version, protocol: "octos-ui/v2" } }, { error: "incompatible_protocol", verdict: "reject" }],
  [{}, { version: { ...CAPABILITIES.version, schema_version: 0 } }, { error: "incompatible_protocol", verdict: "reject" }],
  [{ requested: [7] }, {}, { verdict: "unsupported" }],
  [{ required: "plan.todos.v1" }, {}, { verdict: "unsupported" }],
  [[], {}, { verdict: "unsupported" }],
] as const) {
  test(`capabilities ${JSON.stringify(changes)} are held against ${JSON.stringify(offer)}`, () => {
    const asked = { seq: 1, op: "negotiate", api: "v1alpha1", offer, selection: { ...CAPABILITIES, ...changes } };
    assert.deepEqual(JSON.parse(answer(JSON.stringify(asked))), { seq: 1, ...want });
  });
}
