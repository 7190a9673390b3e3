/** What both dialects need to turn the author's values into frames. */

import type { JsonObject, JsonValue } from "./_generated/json.js";
import type { Codec } from "./_generated/wire.js";
import { Violation } from "./_generated/wire.js";
import { LocalProtocolError, TooLarge } from "./errors.js";
import { plain } from "./schema.js";

/** A value of the author has no JSON form. */
export class NoJson extends LocalProtocolError {}

/** Encodes a value of the extension. What breaks its model, or is no JSON, is the extension's own fault. */
export function encodeLocal<T>(codec: Pick<Codec<T>, "model" | "encode">, value: T): string {
  try {
    return codec.encode(value);
  } catch (cause) {
    if (cause instanceof Violation && (cause.violation === "bytes" || cause.violation === "items")) {
      throw new TooLarge(`${codec.model}: ${cause.message}`, { cause });
    }
    if (cause instanceof TypeError) {
      throw new NoJson(`${codec.model}: ${cause.message}`, { cause });
    }
    if (cause instanceof Violation) {
      throw new LocalProtocolError(`${codec.model}: ${cause.message}`, { cause });
    }
    throw cause;
  }
}

/** Returns flag values by name, without a prototype: names come from outside. */
export function flagsOf(values: readonly { readonly name: string; readonly value: JsonValue }[]): Readonly<Record<string, JsonValue>> {
  const flags = Object.create(null) as Record<string, JsonValue>;
  for (const { name, value } of values) {
    flags[name] = plain(value);
  }
  return flags;
}

/** Returns a record as the JSON object it is, unknown members included. */
export function opaque(record: object): JsonObject {
  return record as JsonObject;
}

/** How far a value reaches. */
export interface Extent {
  /** Levels, the value itself being the first and what it holds one more. */
  readonly levels: number;
  /** Values of every kind. */
  readonly nodes: number;
}

/** Measures a value; stops counting once a bound is passed. */
export function measure(value: JsonValue, bounds: Extent): Extent {
  let levels = 0;
  let nodes = 0;
  const visit = (one: JsonValue, level: number): void => {
    nodes++;
    levels = Math.max(levels, level);
    if (levels > bounds.levels || nodes > bounds.nodes || typeof one !== "object" || one === null) {
      return;
    }
    for (const member of Object.values(one as JsonObject)) {
      visit(member, level + 1);
    }
  };
  visit(value, 1);
  return { levels, nodes };
}
