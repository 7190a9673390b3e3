/** Bytes that nobody wrote: vectors of the spec with small changes, for the fuzz targets. */

import { readdirSync, readFileSync } from "node:fs";

import fc from "fast-check";

interface Row {
  readonly text?: string;
  readonly hex?: string;
  readonly model?: string;
}

/** A vector that has a text or bytes. */
export interface Seed {
  readonly wire: string;
  readonly op: string;
  readonly model?: string;
  readonly bytes: Buffer;
}

/** The vectors of wires, in the order of files and rows. */
export function vectors(folder: URL, ...wires: readonly string[]): readonly Seed[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json")).sort();
  return names.flatMap((name) => {
    const { wire, op, vectors: rows } = JSON.parse(readFileSync(new URL(name, folder), "utf8")) as { wire: string; op: string; vectors: readonly Row[] };
    const known = wires.includes(wire) ? rows.filter(({ text, hex }) => text !== undefined || hex !== undefined) : [];
    return known.map(({ text, hex, model }) => ({
      wire,
      op,
      ...(model === undefined ? {} : { model }),
      bytes: hex === undefined ? Buffer.from(text ?? "") : Buffer.from(hex, "hex"),
    }));
  });
}

/** What breaks a text, or nearly does. */
const PIECES: readonly Buffer[] = [
  ...["{", "}", "[", "]", ",", ":", '"', "\\", "\\u", "\\ud800", "\\u0000", "-", "-0", "1e400", "1.0", "NaN", "null", "true", '""', '"id":1,', '"__proto__":1,', " ", "\t", "\n", "\r\n", "\0", "\u2028", "é😀", "[".repeat(200), '{"a":'.repeat(200), "9".repeat(400)].map((text) => Buffer.from(text)),
  ...["ff", "eda080", "efbbbf", "f09f98"].map((hex) => Buffer.from(hex, "hex")),
];

const change = fc.tuple(fc.nat(4095), fc.oneof(fc.constantFrom(...PIECES), fc.uint8Array({ maxLength: 3 })), fc.nat(6));

/** Seeds with up to four changes: where, what is put there, and how much it replaces. */
export function mutated<T extends { readonly bytes: Buffer }>(seeds: readonly T[]): fc.Arbitrary<T> {
  return fc.tuple(fc.constantFrom(...seeds), fc.array(change, { maxLength: 4 })).map(([seed, changes]) => {
    let bytes = seed.bytes;
    for (const [at, piece, cut] of changes) {
      const here = at % (bytes.length + 1);
      bytes = Buffer.concat([bytes.subarray(0, here), piece, bytes.subarray(here + cut)]);
    }
    return { ...seed, bytes };
  });
}

/** Runs a target a few hundred times, or for OCTET_FUZZ_SECONDS, and tells how often that was. */
export async function drive<T>(name: string, inputs: fc.Arbitrary<T>, target: (input: T) => Promise<void> | void): Promise<void> {
  const until = Date.now() + 1000 * Number(process.env["OCTET_FUZZ_SECONDS"] ?? "0");
  let runs = 0;
  do {
    await fc.assert(
      fc.asyncProperty(inputs, async (input) => {
        runs += 1;
        await target(input);
      }),
      { numRuns: 300 },
    );
  } while (Date.now() < until);
  console.log(`fuzz ${name} execs: ${String(runs)}`);
}
