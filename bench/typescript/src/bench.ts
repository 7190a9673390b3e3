/** Measures the TypeScript SDK beside what people would use instead. bench/SAMPLES.md says how it is asked and answers. */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { CHECKS, SIZES, throughput } from "./canonical.js";
import type { Plan } from "./plans.js";
import { CALLS, startPlans, STARTS } from "./plans.js";

const CALLER = fileURLToPath(new URL("../../../build/bench-caller", import.meta.url));

type Measure = (row: string, subject: string, seconds: number) => void;

const ROWS: ReadonlyMap<string, { readonly subjects: readonly string[]; readonly measure: Measure }> = new Map([
  ["typescript-canonical", { subjects: [...CHECKS.keys()], measure: measureCanonical }],
  ["typescript-call", { subjects: [...CALLS.keys()], measure: measureCall }],
  ["typescript-start", { subjects: STARTS, measure: measureStart }],
]);

function say(sample: object): void {
  console.log(JSON.stringify(sample));
}

function measureCanonical(row: string, subject: string, seconds: number): void {
  const accepts = CHECKS.get(subject);
  if (accepts === undefined) {
    return;
  }
  for (const [name, size] of SIZES) {
    say({ row, subject, case: name, metric: "throughput", unit: "MB/s", ...throughput(accepts, size, seconds / SIZES.size) });
  }
}

function measureCall(row: string, subject: string, seconds: number): void {
  const plan = CALLS.get(subject);
  if (plan !== undefined) {
    call(plan(), row, subject, seconds);
  }
}

function measureStart(row: string, subject: string, seconds: number): void {
  const plans = startPlans(subject);
  for (const plan of plans) {
    call(plan, row, subject, seconds / plans.length);
  }
}

/** Has the caller measure, which prints its samples where ours go. */
function call(plan: Plan, row: string, subject: string, seconds: number): void {
  const { status, error } = spawnSync(CALLER, { input: JSON.stringify({ row, subject, seconds, ...plan }), stdio: ["pipe", "inherit", "inherit"] });
  if (status !== 0) {
    throw error ?? new Error(`${subject} cannot be measured`);
  }
}

function main(): void {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { row: { type: "string", default: "" }, subject: { type: "string", default: "" }, seconds: { type: "string", default: "3" } },
  });
  const [command] = positionals;
  if (command === "list") {
    for (const [row, { subjects }] of ROWS) {
      for (const subject of subjects) {
        say({ row, subject });
      }
    }
    return;
  }
  const row = ROWS.get(values.row);
  const seconds = Number(values.seconds);
  if (command !== "run" || row?.subjects.includes(values.subject) !== true || !(seconds > 0)) {
    throw new Error("ask for list, or for run --row ROW --subject SUBJECT --seconds S with what list prints");
  }
  row.measure(values.row, values.subject, seconds);
}

try {
  main();
} catch (fault) {
  process.exitCode = 1;
  console.error(fault instanceof Error ? fault.message : fault);
}
