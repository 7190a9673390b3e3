/** The testee as a process. What it answers to each vector is tested in vectors.test.ts. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const TESTEE = fileURLToPath(new URL("../src/testee.js", import.meta.url));

test("the testee answers in order, one line each, and ends with its input", () => {
  const lines = [
    '{"seq":1,"op":"hello","protocol":1}',
    '{"seq":2,"op":"frame","wire":"extension-canonical","base64":"e30K","bound":2}',
    '{"seq":3,"op":"frame","wire":"extension-canonical","base64":"e30K","bound":1}',
    '{"seq":4,"op":"frame","wire":"extension-feature","base64":""}',
    '{"seq":5,"op":"model","wire":"extension-canonical","model":"ShutdownParams","text":"{\\"x\\":1}"}',
    '{"seq":6,"op":"model","wire":"extension-canonical","model":"toString","text":"{}"}',
    '{"seq":7,"op":"hello","protocol":2}',
    '{"seq":8,"op":"negotiate","api":"0.1"}',
    '{"seq":9,"op":"__proto__"}',
    "not a request",
    "[]",
  ];
  const { stdout, stderr, status } = spawnSync(process.execPath, [TESTEE], { input: `${lines.join("\n")}\n`, encoding: "utf8" });
  assert.equal(stderr, "");
  assert.equal(status, 0);
  assert.deepEqual(stdout.split("\n"), [
    '{"name":"octet sdk-ts","ok":true,"ops":["envelope","frame","model","negotiate"],"protocol":1,"seq":1,"wires":["extension-canonical","extension-feature","manifest"]}',
    '{"seq":2,"verdict":"accept"}',
    '{"seq":3,"verdict":"terminate"}',
    '{"seq":4,"verdict":"accept"}',
    '{"error":"invalid_params","pointer":"/x","seq":5,"verdict":"reject","violation":"unknown"}',
    '{"seq":6,"verdict":"unsupported"}',
    '{"seq":7,"verdict":"unsupported"}',
    '{"seq":8,"verdict":"unsupported"}',
    '{"seq":9,"verdict":"unsupported"}',
    '{"seq":null,"verdict":"unsupported"}',
    '{"seq":null,"verdict":"unsupported"}',
    "",
  ]);
});
