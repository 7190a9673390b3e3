#!/usr/bin/env node
/** The codec testee: reads one JSON request a line on stdin and answers one line on stdout, in order. */

import { createInterface } from "node:readline";

import { answer } from "./testee/answer.js";

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
for await (const line of lines) {
  process.stdout.write(`${answer(line)}\n`);
}
