/**
 * Schemas written once: the same expression gives the JSON Schema the host shows to the model, the static
 * type of the value, and the check of what arrives.
 *
 * ```ts
 * const args = s.object({ text: s.string("what to count"), unique: s.boolean().default(false) });
 * type Args = Infer<typeof args>; // { text: string; unique: boolean }
 * ```
 */

import type { JsonObject, JsonValue } from "./_generated/json.js";
import { isObject, Numeral } from "./_generated/json.js";
import { LocalProtocolError, SchemaMismatch } from "./errors.js";

/** Whether a member must be there: `required`, may be absent: `optional`, or is filled in: `defaulted`. */
export type Presence = "required" | "optional" | "defaulted";

/** The static type of a schema. */
export type Infer<S> = S extends Schema<infer T, Presence> ? T : never;

/** The members of an object schema. */
export type Members = Readonly<Record<string, Schema<unknown, Presence>>>;

type Keys<M extends Members, P extends Presence> = { [K in keyof M]: M[K] extends Schema<unknown, P> ? K : never }[keyof M];
type Flat<T> = { [K in keyof T]: T[K] };

/** The static type of an object with these members. */
export type ObjectOf<M extends Members> = Flat<
  { [K in Keys<M, "required" | "defaulted">]: Infer<M[K]> } & { [K in Keys<M, "optional">]?: Infer<M[K]> }
>;

/** A JSON Schema as plain JSON. */
export type JsonSchema = JsonObject;

type Read<T> = (value: JsonValue, at: string) => T;

/** One schema. Immutable: every method returns another schema. Make one with {@link s}. */
export class Schema<out T, out P extends Presence = "required"> {
  /** @internal */
  constructor(
    /** The JSON Schema that describes the values. */
    readonly json: JsonSchema,
    private readonly read: Read<T>,
    readonly presence: P,
    private readonly fallback?: () => T,
  ) {}

  /** Says what the value means. */
  describe(description: string): Schema<T, P> {
    return new Schema({ ...this.json, description }, this.read, this.presence, this.fallback);
  }

  /** Gives values that show what is meant. */
  examples(...examples: readonly (T & JsonValue)[]): Schema<T, P> {
    return new Schema({ ...this.json, examples }, this.read, this.presence, this.fallback);
  }

  /** Lets the member be absent from its object, where it then reads as undefined. */
  optional(): Schema<T, "optional"> {
    return new Schema(this.json, this.read, "optional");
  }

  /** Fills in a value when the member is absent from its object. */
  default(value: T & JsonValue): Schema<T, "defaulted"> {
    const json = { ...this.json, default: value };
    return new Schema<T, "defaulted">(json, this.read, "defaulted", () => this.read(value, ""));
  }

  /** Allows null beside the values of the schema. */
  nullable(): Schema<T | null, P> {
    const { type } = this.json;
    const json =
      typeof type === "string" && this.json["enum"] === undefined
        ? { ...this.json, type: [type, "null"] }
        : { anyOf: [this.json, { type: "null" }] };
    return new Schema<T | null, P>(json, (value, at) => (value === null ? null : this.read(value, at)), this.presence, this.fallback);
  }

  /**
   * Judges a value and returns it with its defaults filled in, as plain objects, arrays and numbers. Throws
   * SchemaMismatch for the first member, in the order of the schema, that does not fit.
   */
  parse(value: JsonValue | undefined, at = ""): T {
    if (value !== undefined) {
      return this.read(value, at);
    }
    if (this.fallback !== undefined) {
      return this.fallback();
    }
    throw new SchemaMismatch(at, "is missing: the member is required");
  }
}

/** Bounds of a string, in characters. */
export interface StringOptions {
  readonly description?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  /** A regular expression that must match somewhere in the text. Not allowed in an output schema. */
  readonly pattern?: string;
}

/** Bounds of a number. */
export interface NumberOptions {
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Bounds of an array. */
export interface ArrayOptions {
  readonly description?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Makes schemas. Each takes a description, or options that hold one. */
export const s = {
  string(options: string | StringOptions = {}): Schema<string> {
    const bounds = named(options);
    const pattern = bounds.pattern === undefined ? undefined : new RegExp(bounds.pattern, "u");
    return new Schema(
      { type: "string", ...bounds },
      (value, at) => {
        if (typeof value !== "string") {
          throw new SchemaMismatch(at, "must be a string");
        }
        const length = bounds.minLength === undefined && bounds.maxLength === undefined ? 0 : Array.from(value).length;
        within(length, bounds.minLength, bounds.maxLength, at, "characters");
        if (pattern?.test(value) === false) {
          throw new SchemaMismatch(at, `must match ${pattern.source}`);
        }
        return value;
      },
      "required",
    );
  },

  boolean(description?: string): Schema<boolean> {
    return new Schema(
      { type: "boolean", ...named(description ?? {}) },
      (value, at) => {
        if (typeof value !== "boolean") {
          throw new SchemaMismatch(at, "must be true or false");
        }
        return value;
      },
      "required",
    );
  },

  /** A number, fractions included. */
  number(options: string | NumberOptions = {}): Schema<number> {
    const bounds = named(options);
    return new Schema({ type: "number", ...bounds }, (value, at) => numberOf(value, bounds, at, "number"), "required");
  },

  /** A whole number that JavaScript holds exactly. */
  integer(options: string | NumberOptions = {}): Schema<number> {
    const bounds = named(options);
    return new Schema({ type: "integer", ...bounds }, (value, at) => numberOf(value, bounds, at, "integer"), "required");
  },

  /** One of a few strings. */
  enum<const V extends string>(values: readonly V[], description?: string): Schema<V> {
    return new Schema(
      { type: "string", enum: values, ...named(description ?? {}) },
      (value, at) => {
        const found = values.find((one) => one === value);
        if (found === undefined) {
          throw new SchemaMismatch(at, `must be one of ${values.map((one) => JSON.stringify(one)).join(", ")}`);
        }
        return found;
      },
      "required",
    );
  },

  array<T>(items: Schema<T>, options: string | ArrayOptions = {}): Schema<readonly T[]> {
    const bounds = named(options);
    return new Schema(
      { type: "array", items: items.json, ...bounds },
      (value, at) => {
        if (!Array.isArray(value)) {
          throw new SchemaMismatch(at, "must be an array");
        }
        within(value.length, bounds.minItems, bounds.maxItems, at, "items");
        return value.map((item: JsonValue, i) => items.parse(item, `${at}/${String(i)}`));
      },
      "required",
    );
  },

  /** An object with these members and no others. */
  object<M extends Members>(members: M, description?: string): Schema<ObjectOf<M>> {
    const entries = Object.entries(members).map(([name, schema]) => ({ name, pointer: below("", name), schema }));
    const required = entries.filter(({ schema }) => schema.presence === "required").map(({ name }) => name);
    const json = {
      type: "object",
      properties: Object.fromEntries(entries.map(({ name, schema }) => [name, schema.json])),
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
      ...named(description ?? {}),
    };
    return new Schema(json, (value, at) => objectOf(members, entries, value, at) as ObjectOf<M>, "required");
  },

  /** Any JSON value. Numbers arrive as JavaScript numbers, rounded where they must be. */
  json(description?: string): Schema<JsonValue> {
    return new Schema(named(description ?? {}), (value) => plain(value), "required");
  },
} as const;

/** Options with a bare description put in its place. */
function named<O extends { readonly description?: string }>(options: string | O): O & JsonObject {
  return (typeof options === "string" ? { description: options } : { ...options }) as O & JsonObject;
}

function within(count: number, least: number | undefined, most: number | undefined, at: string, unit: string): void {
  if (least !== undefined && count < least) {
    throw new SchemaMismatch(at, `must have at least ${String(least)} ${unit}`);
  }
  if (most !== undefined && count > most) {
    throw new SchemaMismatch(at, `must have at most ${String(most)} ${unit}`);
  }
}

function numberOf(value: JsonValue, bounds: NumberOptions, at: string, kind: "number" | "integer"): number {
  const number = typeof value === "number" || value instanceof Numeral ? Number(value) : Number.NaN;
  if (kind === "integer" ? !Number.isSafeInteger(number) : !Number.isFinite(number)) {
    throw new SchemaMismatch(at, kind === "integer" ? "must be a whole number" : "must be a number");
  }
  if (bounds.minimum !== undefined && number < bounds.minimum) {
    throw new SchemaMismatch(at, `must be at least ${String(bounds.minimum)}`);
  }
  if (bounds.maximum !== undefined && number > bounds.maximum) {
    throw new SchemaMismatch(at, `must be at most ${String(bounds.maximum)}`);
  }
  return number;
}

/** A member of an object, with the pointer to it from there. */
interface Entry {
  readonly name: string;
  readonly pointer: string;
  readonly schema: Schema<unknown, Presence>;
}

function objectOf(members: Members, entries: readonly Entry[], value: JsonValue, at: string): Record<string, unknown> {
  if (!isObject(value)) {
    throw new SchemaMismatch(at, "must be an object");
  }
  const out: Record<string, unknown> = {};
  for (const { name, pointer, schema } of entries) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given !== undefined || schema.presence !== "optional") {
      put(out, name, schema.parse(given, at + pointer));
    }
  }
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(members, name)) {
      throw new SchemaMismatch(below(at, name), "is not a member: leave it out");
    }
  }
  return out;
}

/** Sets a member, whatever its name. */
function put(out: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__") {
    Object.defineProperty(out, name, { value, enumerable: true, writable: true, configurable: true });
  } else {
    out[name] = value;
  }
}

function below(at: string, name: string): string {
  return `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Returns a value in ordinary JavaScript objects and numbers. */
export function plain(value: JsonValue): JsonValue {
  if (value instanceof Numeral) {
    return Number(value);
  }
  if (Array.isArray(value)) {
    return value.map((item: JsonValue) => plain(item));
  }
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)])) : value;
}

/**
 * Checks that a schema uses only keywords of a list. Throws LocalProtocolError with the place of the first
 * one that is not.
 */
export function assertKeywords(schema: JsonValue, keywords: ReadonlySet<string>, at = ""): void {
  if (!isObject(schema)) {
    return;
  }
  for (const [keyword, value] of Object.entries(schema)) {
    const here = below(at, keyword);
    if (!keywords.has(keyword)) {
      throw new LocalProtocolError(`output schema uses ${JSON.stringify(here)}: the wire does not allow this keyword, leave it out`);
    }
    const inner: readonly [string, JsonValue][] =
      keyword === "properties" && isObject(value)
        ? Object.entries(value)
        : Array.isArray(value) && (keyword === "anyOf" || keyword === "allOf" || keyword === "oneOf")
          ? value.map((one: JsonValue, i) => [String(i), one])
          : [];
    for (const [name, one] of inner) {
      assertKeywords(one, keywords, below(here, name));
    }
    if (keyword === "items") {
      assertKeywords(value, keywords, here);
    }
  }
}
