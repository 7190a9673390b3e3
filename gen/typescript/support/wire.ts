/**
 * The one validator: it interprets the model tables of every wire, so that the same value gets the same
 * verdict, violation and JSON Pointer whichever model it belongs to.
 */

import type { JsonNumber, JsonObject, JsonValue } from "./json.js";
import { compareNames, decodeUtf8, isObject, Numeral, readJson, utf8Length, writeJson } from "./json.js";

/** A JSON-RPC id as it travels. */
export type RpcId = string | number;

/** Any string, without hiding the known values beside it from an editor. */
export type OpenString = string & Record<never, never>;

/** The ways a value breaks its model. */
export type ViolationKind =
  | "not_object"
  | "unknown"
  | "forbidden"
  | "missing"
  | "null"
  | "type"
  | "range"
  | "items"
  | "bytes"
  | "value"
  | "pattern"
  | "duplicate"
  | "tag"
  | "deferred"
  | "id";

/** A value breaks its model. */
export class Violation extends Error {
  override readonly name = "Violation";

  /**
   * @param violation the way it breaks it
   * @param pointer where, as a JSON Pointer (RFC 6901) from the root of the value
   * @param error name of the wire's error under which it is reported
   * @param reason the rule, for people
   */
  constructor(
    readonly violation: ViolationKind,
    readonly pointer: string,
    readonly error: string,
    readonly reason: string,
  ) {
    super(`${pointer === "" ? "value" : JSON.stringify(pointer)} ${reason}`);
  }
}

/** The control characters a string may hold: none at all, line feed and tab, or those and carriage return. */
export type Controls = "none" | "text" | "edit";

/** The shape of a field, an element or an alias. Bytes are UTF-8 bytes of the decoded text. */
export type Type =
  | {
      readonly kind: "string";
      readonly minBytes?: number;
      readonly maxBytes?: number;
      readonly notBlank?: boolean;
      readonly controls?: Controls;
      readonly pattern?: RegExp;
    }
  | { readonly kind: "boolean" }
  | { readonly kind: "integer"; readonly minimum: number; readonly maximum: number }
  | { readonly kind: "number"; readonly minimum?: number; readonly maximum?: number }
  | { readonly kind: "json" | "object"; readonly maxEncodedBytes?: number }
  | { readonly kind: "id"; readonly maxBytes: number; readonly maximum: number }
  | {
      readonly kind: "array";
      readonly element: Type;
      readonly minItems?: number;
      readonly maxItems?: number;
      readonly unique?: boolean;
      readonly uniqueBy?: string;
      readonly maxEncodedBytes?: number;
    }
  | { readonly kind: "map"; readonly element: Type; readonly keyPattern?: RegExp }
  | { readonly kind: "const"; readonly value: string }
  | { readonly kind: "ref"; readonly model: string };

/** One member of a record; a record lists its members in the order in which they are judged. */
export interface Field {
  readonly name: string;
  readonly type: Type;
  readonly required: boolean;
  readonly nullable: boolean;
}

/** One named shape. */
export type Model =
  | {
      readonly kind: "record";
      readonly closed: boolean;
      readonly envelope?: boolean;
      readonly forbidden?: readonly string[];
      /** Of these members one is present, null not counted. */
      readonly exactlyOne?: readonly string[];
      /** Of these members no two are present, null not counted. */
      readonly atMostOne?: readonly string[];
      readonly fields: readonly Field[];
    }
  | {
      readonly kind: "union";
      readonly tag: string;
      readonly variants: ReadonlyMap<string, { readonly model: string; readonly deferred: boolean }>;
    }
  /** A string is judged by the enumeration `word`, an object by the record `object`. */
  | { readonly kind: "choice"; readonly word: string; readonly object: string }
  | { readonly kind: "enum"; readonly values: readonly string[]; readonly open: boolean }
  | { readonly kind: "alias"; readonly type: Type };

/** The tables of one wire. */
export interface WireTables {
  readonly name: string;
  readonly maxDepth: number;
  readonly errors: ReadonlyMap<ViolationKind, string>;
  readonly envelopeError: string;
  /** What a wrong member `jsonrpc` of an envelope is reported as, where it is not `envelopeError`. */
  readonly versionError?: string;
  readonly models: ReadonlyMap<string, Model>;
}

/**
 * How a message of an extension is tied to a request of the host: not at all (`none`); to a live one
 * (`required`, and `tool_call` for a tool call only); to initialize before its answer (`initialize`); to a live
 * one, or a settled one together with its owner (`retained`); to a settled one with its owner (`settled`); to a
 * live one, an owner or neither (`optional`); to an owner alone (`owner`).
 */
export type Parent = "none" | "required" | "initialize" | "retained" | "settled" | "tool_call" | "optional" | "owner";

/** One row of a hook table: what the host asks, and which feature or capability opens it (`-` for none). */
export interface Hook {
  readonly name: string;
  readonly versions: readonly string[];
  readonly feature: string;
  readonly payload: string;
  readonly result: string;
  /** What becomes of a disposition to deny. */
  readonly deny: string;
}

/** One row of a method table. A shape without params or result has none. */
export interface Method {
  readonly name: string;
  readonly versions: readonly string[];
  readonly direction: "host_to_extension" | "extension_to_host" | "client_to_server" | "server_to_client" | "both";
  readonly notification: boolean;
  /** What opens it; `-` for none; features joined by `+` open it together. */
  readonly gate: string;
  /** Between a client and a server: the gate is closed too where a connection named no feature. */
  readonly gateStrict?: boolean;
  /** Between a client and a server: where it is spoken; empty for what no server sends. */
  readonly transports?: readonly string[];
  /** Between a client and a server: `yes`, `no`, or `-` for what only reads. */
  readonly durable?: string;
  /** Between a client and a server: `legacy` for what is sent to older clients alone. */
  readonly lane?: string;
  readonly status: string;
  readonly offer?: string;
  readonly terminal?: string;
  /** How a message of an extension is tied to a request of the host. */
  readonly parent?: Parent;
  /** What an SDK calls it: noun and verb, joined by a dot. */
  readonly service?: string;
  readonly shapes: readonly {
    readonly versions: readonly string[];
    readonly params?: string;
    readonly result?: Type;
    readonly nullable?: boolean;
  }[];
}

/** One row of an error table; a fixed message must be sent exactly so. */
export interface ErrorCode {
  readonly name: string;
  readonly code: number;
  readonly message: string;
  readonly fixed: boolean;
}

/** One row of a limit table. */
export interface Limit {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly negotiable: boolean;
}

/** One row of a feature table. */
export interface Feature {
  readonly name: string;
  readonly versions: readonly string[];
  readonly required: boolean;
  readonly dependsOn: readonly string[];
  /** Between a client and a server: the default sets that hold it. */
  readonly sets?: readonly string[];
  /** Between a client and a server: `registry`, `server` or `retired`. */
  readonly origin?: string;
}

/** One row of a capability table. */
export interface Capability {
  readonly name: string;
  readonly offer: string;
  readonly status: string;
  readonly needs: readonly string[];
}

/** Reads and writes one model of a wire. */
export class Codec<T> {
  constructor(
    private readonly wire: WireTables,
    readonly model: string,
  ) {}

  /** Reads text or UTF-8 bytes. Throws JsonSyntaxError or Violation. */
  decode(text: string | Uint8Array): T {
    const source = typeof text === "string" ? text : decodeUtf8(text);
    return this.read(readJson(source, { maxDepth: this.wire.maxDepth }));
  }

  /** Judges a value that was read already and returns the same value. Throws Violation. */
  read(value: JsonValue): T {
    new Validator(this.wire, this.model).model(this.model, value);
    return value as T;
  }

  /** Judges a value and writes its canonical spelling. Throws Violation, or TypeError for what JSON cannot carry. */
  encode(value: T): string {
    new Validator(this.wire, this.model).model(this.model, value as JsonValue);
    return writeJson(value, this.wire.maxDepth);
  }
}

/** Judges a value by the shape a method table gives for a result, and returns the same value. Throws Violation. */
export function readShape(wire: WireTables, shape: { readonly type: Type; readonly nullable: boolean }, value: JsonValue): JsonValue {
  if (value !== null || !shape.nullable) {
    new Validator(wire, "").element(shape.type, value);
  }
  return value;
}

/** Judges one value. It keeps the way to the member at hand, and spells it only for a value that is broken. */
class Validator {
  private readonly envelope: boolean;
  private readonly path: (string | number)[] = [];

  constructor(
    private readonly wire: WireTables,
    root: string,
  ) {
    const model = wire.models.get(root);
    this.envelope = model?.kind === "record" && model.envelope === true;
  }

  /** Returns the violation of the value at hand, or of what stands below it. */
  private broken(violation: ViolationKind, reason: string, ...further: (string | number)[]): Violation {
    const pointer = [...this.path, ...further].map((token) => `/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
    const error = this.envelope ? this.envelopeError(pointer) : (this.wire.errors.get(violation) ?? "");
    return new Violation(violation, pointer, error, reason);
  }

  private envelopeError(pointer: string): string {
    return pointer === "/jsonrpc" ? (this.wire.versionError ?? this.wire.envelopeError) : this.wire.envelopeError;
  }

  model(name: string, value: JsonValue | undefined): void {
    const model = this.wire.models.get(name);
    switch (model?.kind) {
      case "record":
        this.record(model, this.members(value));
        return;
      case "union":
        this.union(model, this.members(value));
        return;
      case "choice":
        if (typeof value !== "string" && !isObject(value)) {
          throw this.broken("type", "must be a string or an object");
        }
        this.model(typeof value === "string" ? model.word : model.object, value);
        return;
      case "enum":
        if (typeof value !== "string") {
          throw this.broken("type", "must be a string");
        }
        if (!model.open && !model.values.includes(value)) {
          throw this.broken("value", `must be one of ${model.values.map((one) => JSON.stringify(one)).join(", ")}`);
        }
        return;
      case "alias":
        this.type(model.type, value);
        return;
      case undefined:
        throw new TypeError(`wire ${this.wire.name} has no model ${JSON.stringify(name)}`);
    }
  }

  private members(value: JsonValue | undefined): JsonObject {
    if (!isObject(value)) {
      throw this.broken("not_object", "must be an object");
    }
    return value;
  }

  private record(model: Extract<Model, { kind: "record" }>, members: JsonObject): void {
    if (model.closed) {
      this.closed(model, members);
    }
    for (const name of model.forbidden ?? []) {
      if (own(members, name) !== undefined) {
        throw this.broken("forbidden", "must be absent on this version", name);
      }
    }
    for (const field of model.fields) {
      this.field(field, own(members, field.name));
    }
    if (model.exactlyOne !== undefined || model.atMostOne !== undefined) {
      this.together(model, members);
    }
  }

  private closed(model: Extract<Model, { kind: "record" }>, members: JsonObject): void {
    let unknown: string | undefined;
    for (const name of Object.keys(members)) {
      if (members[name] !== undefined && !model.fields.some((field) => field.name === name) && (unknown === undefined || compareNames(name, unknown) < 0)) {
        unknown = name;
      }
    }
    if (unknown !== undefined) {
      throw this.broken("unknown", "is not a member of this model", unknown);
    }
  }

  /** Judges the members that exclude each other. */
  private together(model: Extract<Model, { kind: "record" }>, members: JsonObject): void {
    for (const names of [model.exactlyOne, model.atMostOne]) {
      const present = names?.filter((name) => (own(members, name) ?? null) !== null) ?? [];
      if (names === model.exactlyOne && names?.[0] !== undefined && present.length === 0) {
        throw this.broken("missing", `is missing: one of ${names.join(", ")} is required`, names[0]);
      }
      if (names !== undefined && present[1] !== undefined) {
        throw this.broken("forbidden", `must be absent: only one of ${names.join(", ")} may be present`, present[1]);
      }
    }
  }

  private field(field: Field, value: JsonValue | undefined): void {
    if (value === undefined) {
      if (field.required) {
        throw this.broken("missing", "is missing: the member is required", field.name);
      }
    } else if (value !== null) {
      this.path.push(field.name);
      this.type(field.type, value);
      this.path.pop();
    } else if (!field.nullable) {
      throw this.broken("null", "must not be null", field.name);
    }
  }

  private union(model: Extract<Model, { kind: "union" }>, members: JsonObject): void {
    const tag = own(members, model.tag);
    const variant = typeof tag === "string" ? model.variants.get(tag) : undefined;
    if (variant === undefined) {
      const known = [...model.variants.keys()].map((one) => JSON.stringify(one)).join(", ");
      throw this.broken("tag", `must be one of ${known}`, model.tag);
    }
    if (variant.deferred) {
      throw this.broken("deferred", "names a variant that may not be sent yet", model.tag);
    }
    this.model(variant.model, members);
  }

  private type(type: Type, value: JsonValue | undefined): void {
    switch (type.kind) {
      case "ref":
        this.model(type.model, value);
        return;
      case "string":
        this.string(type, value);
        return;
      case "const":
        if (typeof value !== "string") {
          throw this.broken("type", "must be a string");
        }
        if (value !== type.value) {
          throw this.broken("value", `must be ${JSON.stringify(type.value)}`);
        }
        return;
      case "boolean":
        if (typeof value !== "boolean") {
          throw this.broken("type", "must be a boolean");
        }
        return;
      case "integer":
        if (!isInteger(value)) {
          throw this.broken("type", "must be an integer without fraction or exponent");
        }
        this.range(type, value);
        return;
      case "number":
        if (!isNumber(value)) {
          throw this.broken("type", "must be a number");
        }
        this.range(type, value);
        return;
      case "id":
        this.id(type, value);
        return;
      case "json":
      case "object":
        this.opaque(type, value);
        return;
      case "array":
        this.array(type, value);
        return;
      case "map":
        this.map(type, value);
        return;
    }
  }

  private string(type: Extract<Type, { kind: "string" }>, value: JsonValue | undefined): void {
    if (typeof value !== "string") {
      throw this.broken("type", "must be a string");
    }
    if (type.minBytes !== undefined && shorter(value, type.minBytes)) {
      throw this.broken("bytes", `must have at least ${String(type.minBytes)} bytes`);
    }
    if (type.maxBytes !== undefined && longer(value, type.maxBytes)) {
      throw this.broken("bytes", `must have at most ${String(type.maxBytes)} bytes`);
    }
    if (type.notBlank === true && /^[\t-\r ]*$/.test(value)) {
      throw this.broken("bytes", "must not be blank");
    }
    if (type.controls !== undefined && CONTROLS[type.controls].test(value)) {
      throw this.broken("pattern", "must hold no control character that is not allowed there");
    }
    if (type.pattern !== undefined && !type.pattern.test(value)) {
      throw this.broken("pattern", `must match ${type.pattern.source}`);
    }
  }

  private range(type: { readonly minimum?: number; readonly maximum?: number }, value: JsonNumber): void {
    const number = Number(value);
    if (type.minimum !== undefined && number < type.minimum) {
      throw this.broken("range", `must be at least ${String(type.minimum)}`);
    }
    if (type.maximum !== undefined && number > type.maximum) {
      throw this.broken("range", `must be at most ${String(type.maximum)}`);
    }
  }

  private id(type: Extract<Type, { kind: "id" }>, value: JsonValue | undefined): void {
    const legal =
      typeof value === "string"
        ? value !== "" && !longer(value, type.maxBytes)
        : isInteger(value) && !Object.is(Number(value), -0) && Number(value) >= 0 && Number(value) <= type.maximum;
    if (!legal) {
      throw this.broken(
        "id",
        `must be a string of 1 to ${String(type.maxBytes)} bytes or an integer from 0 to ${String(type.maximum)}`,
      );
    }
  }

  private opaque(type: Extract<Type, { kind: "json" | "object" }>, value: JsonValue | undefined): void {
    if (value === undefined || value === null) {
      throw this.broken("null", "must not be null");
    }
    if (type.kind === "object" && !isObject(value)) {
      throw this.broken("type", "must be an object");
    }
    this.encoded(type.maxEncodedBytes, value);
  }

  private encoded(maxBytes: number | undefined, value: JsonValue): void {
    if (maxBytes !== undefined && longer(writeJson(value, this.wire.maxDepth), maxBytes)) {
      throw this.broken("bytes", `must have at most ${String(maxBytes)} bytes when encoded`);
    }
  }

  private array(type: Extract<Type, { kind: "array" }>, value: JsonValue | undefined): void {
    if (!isArray(value)) {
      throw this.broken("type", "must be an array");
    }
    value.forEach((element, i) => {
      this.path.push(i);
      this.element(type.element, element);
      this.path.pop();
    });
    if (type.minItems !== undefined && value.length < type.minItems) {
      throw this.broken("items", `must have at least ${String(type.minItems)} items`);
    }
    if (type.maxItems !== undefined && value.length > type.maxItems) {
      throw this.broken("items", `must have at most ${String(type.maxItems)} items`);
    }
    if (type.unique === true || type.uniqueBy !== undefined) {
      this.unique(type.uniqueBy, value);
    }
    this.encoded(type.maxEncodedBytes, value);
  }

  element(type: Type, value: JsonValue | undefined): void {
    if (value === null || value === undefined) {
      throw this.broken("null", "must not be null");
    }
    this.type(type, value);
  }

  private unique(by: string | undefined, elements: readonly JsonValue[]): void {
    const seen = new Set<string>();
    elements.forEach((element, i) => {
      const key = by !== undefined && isObject(element) ? own(element, by) : element;
      const spelling = key === undefined ? undefined : writeJson(key, this.wire.maxDepth);
      if (spelling === undefined) {
        return;
      }
      if (seen.has(spelling)) {
        const what = by === undefined ? "must differ" : `must differ in ${JSON.stringify(by)}`;
        throw this.broken("duplicate", `repeats an earlier element: elements ${what}`, i);
      }
      seen.add(spelling);
    });
  }

  private map(type: Extract<Type, { kind: "map" }>, value: JsonValue | undefined): void {
    if (!isObject(value)) {
      throw this.broken("type", "must be an object");
    }
    for (const name of Object.keys(value).sort(compareNames)) {
      if (type.keyPattern?.test(name) === false) {
        throw this.broken("pattern", `must have a name that matches ${type.keyPattern.source}`, name);
      }
      this.path.push(name);
      this.element(type.element, value[name]);
      this.path.pop();
    }
  }
}

/** The control characters that a class does not allow. */
const CONTROLS: Readonly<Record<Controls, RegExp>> = {
  none: /[\p{Cc}]/u,
  text: /[^\P{Cc}\n\t]/u,
  edit: /[^\P{Cc}\n\t\r]/u,
};

function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isNumber(value: unknown): value is JsonNumber {
  return typeof value === "number" || value instanceof Numeral;
}

/** Reports whether a number is spelled as an integer, whatever its size. */
function isInteger(value: unknown): value is JsonNumber {
  // From 1e21 on a number is spelled with an exponent.
  return typeof value === "number" ? Number.isInteger(value) && Math.abs(value) < 1e21 : value instanceof Numeral && /^-?[0-9]+$/.test(value.text);
}

/** Reads a member without looking at the prototype, so that values made by hand are safe too. */
function own(members: JsonObject, name: string): JsonValue | undefined {
  const value = members[name];
  return value === undefined || Object.hasOwn(members, name) ? value : undefined;
}

/** Reports whether a text has fewer UTF-8 bytes than min; counts only where the length leaves it open. */
function shorter(text: string, min: number): boolean {
  return text.length < min && utf8Length(text) < min;
}

/** Reports whether a text has more UTF-8 bytes than max; counts only where the length leaves it open. */
function longer(text: string, max: number): boolean {
  return text.length > max || (text.length * 3 > max && utf8Length(text) > max);
}
