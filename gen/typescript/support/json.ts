/**
 * Strict JSON: a reader that refuses what a lenient one would repair, and a writer of the one canonical
 * spelling. Neither touches the environment or trusts its input: depth is bounded before recursion, and
 * names from a peer never reach a prototype.
 */

/**
 * A JSON value in plain JavaScript. Objects made by the reader have no prototype, so `__proto__` and
 * `constructor` are members like any other. A member that is absent reads as `undefined`.
 */
export type JsonValue = null | boolean | number | string | Numeral | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** The spelling of a JSON number. */
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/**
 * A number that a JavaScript number would not write back as it was spelled: `2.0`, `1e3`,
 * `9007199254740993`. The reader makes one instead of rounding; the writer writes its text unchanged.
 */
export class Numeral {
  /** @param text a JSON number; anything else is a TypeError. */
  constructor(readonly text: string) {
    NUMBER.lastIndex = 0;
    if (NUMBER.exec(text)?.[0] !== text) {
      throw new TypeError(`${JSON.stringify(text)} is not a JSON number`);
    }
  }

  /** The nearest JavaScript number. */
  valueOf(): number {
    return Number(this.text);
  }
}

/** A number as the reader returns it. */
export type JsonNumber = number | Numeral;

/** The text is not strict JSON, or not canonical where that was asked for. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";

  /**
   * @param reason what is wrong, without the place
   * @param offset where, in UTF-16 units from the start of the text
   */
  constructor(
    readonly reason: string,
    readonly offset: number,
  ) {
    super(`offset ${String(offset)}: ${reason}`);
  }
}

/** How the reader judges a text. */
export interface ReadOptions {
  /** Deepest legal level of a value, the root having level 0. */
  readonly maxDepth: number;
  /** Refuse every spelling but the one the writer produces, and numbers that are not portable integers. */
  readonly canonical?: boolean;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns the text of UTF-8 bytes. Invalid UTF-8 is a JsonSyntaxError; a byte order mark stays in the text. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new JsonSyntaxError("the bytes are not UTF-8", 0);
  }
}

/**
 * Reads one JSON value and nothing else: duplicate members, lone surrogates and values beyond the depth
 * bound are refused. Throws JsonSyntaxError.
 */
export function readJson(text: string, options: ReadOptions): JsonValue {
  if (!text.isWellFormed()) {
    throw new JsonSyntaxError("lone surrogate", 0);
  }
  return new Reader(text, options).document();
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
const NINE = 0x39;

/** Units of a string from which on it is worthwhile to look at the rest in one go. */
const LONG = 64;
const CONTROL = /[\u0000-\u001f]/;
/** Digits of a number that is exact whatever they are. */
const EXACT_DIGITS = 15;

/** Texts of ASCII as bytes, which are read several times as fast as the units of a string. One text at a time. */
const PAD = new Uint8Array(1 << 16);
const WORDS = new DataView(PAD.buffer);
const UTF8_ENCODER = new TextEncoder();

/** The last long text that was read without an escape: what is handed on as it came is not looked at again. */
let knownPlain = "";

/** Puts the start of a text on the pad. Returns how many units from there are its bytes one by one, which is none where one is not ASCII. */
function onPad(text: string): number {
  const { read, written } = UTF8_ENCODER.encodeInto(text, PAD);
  return read === written ? read : 0;
}

/** Reports whether a byte below 0x20 stands on a part of the pad. */
function hasControl(from: number, to: number): boolean {
  let at = from;
  let found = 0;
  for (; at + 16 <= to; at += 16) {
    const a = WORDS.getInt32(at, true);
    const b = WORDS.getInt32(at + 4, true);
    const c = WORDS.getInt32(at + 8, true);
    const d = WORDS.getInt32(at + 12, true);
    // The topmost bit of a byte is set where it was clear and taking 0x20 away sets it.
    found |= ((a - 0x20202020) & ~a) | ((b - 0x20202020) & ~b) | ((c - 0x20202020) & ~c) | ((d - 0x20202020) & ~d);
  }
  for (; at < to; at++) {
    found |= (PAD[at] as number) < 0x20 ? 0x80 : 0;
  }
  return (found & 0x80808080) !== 0;
}

/** What each one-letter escape stands for. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

class Reader {
  private at = 0;
  private readonly maxDepth: number;
  private readonly canonical: boolean;
  /** Units in front of this are on the pad. */
  private readonly ascii: number;
  /** Where the next quote and the next backslash stand, seen from a long string; -1 where none follows. */
  private quote = 0;
  private backslash = 0;

  constructor(
    private readonly text: string,
    options: ReadOptions,
  ) {
    this.maxDepth = options.maxDepth;
    this.canonical = options.canonical ?? false;
    this.ascii = onPad(text);
  }

  document(): JsonValue {
    this.space();
    const value = this.value(0);
    this.space();
    if (this.at !== this.text.length) {
      throw this.fault("text after the value");
    }
    return value;
  }

  private fault(reason: string, offset = this.at): JsonSyntaxError {
    return new JsonSyntaxError(reason, offset);
  }

  private unit(at: number): number {
    return at < this.ascii ? (PAD[at] as number) : this.text.charCodeAt(at);
  }

  private space(): void {
    for (;;) {
      const unit = this.unit(this.at);
      if (unit > 0x20 || (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09)) {
        return;
      }
      if (this.canonical) {
        throw this.fault("white space outside a string is not canonical");
      }
      this.at++;
    }
  }

  private value(level: number): JsonValue {
    if (level > this.maxDepth) {
      throw this.fault(`value nested deeper than ${String(this.maxDepth)} levels`);
    }
    switch (this.unit(this.at)) {
      case 0x7b:
        return this.object(level);
      case 0x5b:
        return this.array(level);
      case QUOTE:
        return this.string();
      case 0x74:
        return this.literal("true", true);
      case 0x66:
        return this.literal("false", false);
      case 0x6e:
        return this.literal("null", null);
      default:
        return this.number();
    }
  }

  private literal<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) {
      throw this.fault("value expected");
    }
    this.at += word.length;
    return value;
  }

  private object(level: number): JsonObject {
    // Made by Object.create, every object would be a dictionary, which costs many times as much.
    const members = Object.setPrototypeOf({}, null) as Record<string, JsonValue>;
    let last: string | undefined;
    this.at++;
    this.space();
    if (this.take(0x7d)) {
      return members;
    }
    // A name behind all those before it is none of them.
    let ascending = true;
    for (;;) {
      const start = this.at;
      if (this.unit(start) !== QUOTE) {
        throw this.fault("member name expected");
      }
      const name = this.string();
      ascending &&= last === undefined || compareNames(last, name) < 0;
      if (!ascending) {
        this.assertNew(name, members, start);
      }
      last = name;
      this.space();
      if (!this.take(COLON)) {
        throw this.fault("colon expected");
      }
      this.space();
      members[name] = this.value(level + 1);
      this.space();
      if (this.take(0x7d)) {
        return members;
      }
      if (!this.take(COMMA)) {
        throw this.fault("comma or closing brace expected");
      }
      this.space();
    }
  }

  /** Judges a name that does not stand behind those before it. */
  private assertNew(name: string, members: JsonObject, start: number): void {
    if (name in members) {
      throw this.fault(`member ${JSON.stringify(name)} is given twice`, start);
    }
    if (this.canonical) {
      throw this.fault(`member ${JSON.stringify(name)} is out of canonical order`, start);
    }
  }

  private array(level: number): readonly JsonValue[] {
    const elements: JsonValue[] = [];
    this.at++;
    this.space();
    if (this.take(0x5d)) {
      return elements;
    }
    for (;;) {
      elements.push(this.value(level + 1));
      this.space();
      if (this.take(0x5d)) {
        return elements;
      }
      if (!this.take(COMMA)) {
        throw this.fault("comma or closing bracket expected");
      }
      this.space();
    }
  }

  private take(sign: number): boolean {
    if (this.unit(this.at) !== sign) {
      return false;
    }
    this.at++;
    return true;
  }

  private string(): string {
    let at = this.at + 1;
    let start = at;
    let out = "";
    for (;;) {
      const unit = this.unit(at);
      if (unit === QUOTE) {
        this.at = at + 1;
        const last = this.text.slice(start, at);
        if (last.length > LONG) {
          knownPlain = last;
        }
        return out === "" ? last : out + last;
      }
      if (unit >= 0x20 && unit !== BACKSLASH) {
        at = at - start === LONG ? this.plainEnd(at) : at + 1;
        continue;
      }
      this.at = at;
      if (unit !== BACKSLASH) {
        throw this.fault(Number.isNaN(unit) ? "string without a closing quote" : "control character in a string");
      }
      out += this.text.slice(start, at) + this.escape();
      at = start = this.at;
    }
  }

  /** Returns where a long string ends or has its next escape, and the next unit where a control character may come first. */
  private plainEnd(at: number): number {
    if (this.quote >= 0 && this.quote < at) {
      this.quote = this.text.indexOf('"', at);
    }
    if (this.backslash >= 0 && this.backslash < at) {
      this.backslash = this.text.indexOf("\\", at);
    }
    const end = this.backslash < 0 ? this.quote : Math.min(this.quote, this.backslash);
    if (end < 0) {
      return at + 1;
    }
    const special = end <= this.ascii ? hasControl(at, end) : CONTROL.test(this.text.slice(at, end));
    return special ? at + 1 : end;
  }

  private escape(): string {
    const start = this.at;
    const letter = this.text[start + 1] ?? "";
    let out = ESCAPES.get(letter);
    if (out !== undefined) {
      this.at += 2;
    } else if (letter === "u") {
      out = this.unicode();
    } else {
      throw this.fault("unknown escape");
    }
    if (this.canonical && JSON.stringify(out) !== `"${this.text.slice(start, this.at)}"`) {
      throw this.fault("escape is not canonical", start);
    }
    return out;
  }

  private unicode(): string {
    const first = this.hex(this.at);
    if (first < 0xd800 || first > 0xdfff) {
      this.at += 6;
      return String.fromCharCode(first);
    }
    const second = this.text.startsWith("\\u", this.at + 6) ? this.hex(this.at + 6) : 0;
    if (first > 0xdbff || second < 0xdc00 || second > 0xdfff) {
      throw this.fault("lone surrogate");
    }
    this.at += 12;
    return String.fromCharCode(first, second);
  }

  private hex(escape: number): number {
    const digits = this.text.slice(escape + 2, escape + 6);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) {
      throw this.fault("four hexadecimal digits expected", escape);
    }
    return Number.parseInt(digits, 16);
  }

  private number(): JsonNumber {
    const short = this.digits();
    if (short !== undefined) {
      return short;
    }
    NUMBER.lastIndex = this.at;
    const text = NUMBER.exec(this.text)?.[0];
    if (text === undefined) {
      throw this.fault("value expected");
    }
    const value = Number(text);
    const exact = String(value) === text;
    if (this.canonical && !(exact && Number.isSafeInteger(value))) {
      throw this.fault(`number ${text} is not a portable integer in its canonical spelling`);
    }
    this.at += text.length;
    return exact || text === "-0" ? value : new Numeral(text);
  }

  /** Reads a number that is a few digits and nothing else. */
  private digits(): number | undefined {
    const { at } = this;
    let end = at;
    let value = 0;
    let unit = this.unit(end);
    for (; unit >= ZERO && unit <= NINE; unit = this.unit(end)) {
      value = value * 10 + (unit - ZERO);
      end++;
    }
    const length = end - at;
    const longer = unit === 0x2e || unit === 0x65 || unit === 0x45;
    if (length === 0 || length > EXACT_DIGITS || longer || (length > 1 && this.unit(at) === ZERO)) {
      return undefined;
    }
    this.at = end;
    return value;
  }
}

/** Orders names by Unicode scalar value, which is the order of their UTF-8 bytes and not that of UTF-16. */
export function compareNames(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) {
      return rank(x) - rank(y);
    }
  }
  return a.length - b.length;
}

/** Moves the surrogates, which stand for the planes above the first, behind U+FFFF. */
function rank(unit: number): number {
  if (unit < 0xd800) {
    return unit;
  }
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Counts the UTF-8 bytes of a well-formed text. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff)) {
      bytes += 2;
    } else if (unit >= 0x80) {
      bytes += 1;
    }
  }
  return bytes;
}

/**
 * Writes a value in its canonical spelling: members ascending by name, no white space, the shortest
 * escapes. Members that are `undefined` are left out. Throws a TypeError for what JSON cannot carry: a
 * lone surrogate, a number that is not finite, nesting beyond maxDepth (so also a cycle), and any object
 * that is neither plain, nor an array, nor a Numeral.
 */
export function writeJson(value: unknown, maxDepth: number): string {
  return write(value, 0, maxDepth);
}

function write(value: unknown, level: number, maxDepth: number): string {
  if (level > maxDepth) {
    throw new TypeError(`value nested deeper than ${String(maxDepth)} levels`);
  }
  switch (typeof value) {
    case "string":
      return quote(value);
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (!Number.isFinite(value)) {
        throw new TypeError(`${String(value)} is not a JSON number`);
      }
      return String(value);
    case "object":
      break;
    default:
      throw new TypeError(`a ${typeof value} is not a JSON value`);
  }
  if (value === null) {
    return "null";
  }
  if (value instanceof Numeral) {
    return value.text;
  }
  return Array.isArray(value) ? writeArray(value, level, maxDepth) : writeObject(value, level, maxDepth);
}

function writeArray(elements: readonly unknown[], level: number, maxDepth: number): string {
  let out = "[";
  for (let i = 0; i < elements.length; i++) {
    out += i === 0 ? write(elements[i], level + 1, maxDepth) : `,${write(elements[i], level + 1, maxDepth)}`;
  }
  return `${out}]`;
}

function writeObject(value: object, level: number, maxDepth: number): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    throw new TypeError("only plain objects, arrays and numerals are JSON values");
  }
  const members = value as Record<string, unknown>;
  // Pieces are strung together and copied once, when the whole text is encoded.
  let out = "{";
  let mark = "";
  for (const name of ascending(Object.keys(members))) {
    if (members[name] !== undefined) {
      out += `${mark}${quote(name)}:${write(members[name], level + 1, maxDepth)}`;
      mark = ",";
    }
  }
  return `${out}}`;
}

/** Sorts names in place; most stand in order already. */
function ascending(names: string[]): string[] {
  for (let i = 1; i < names.length; i++) {
    if (compareNames(names[i - 1] ?? "", names[i] ?? "") > 0) {
      return names.sort(compareNames);
    }
  }
  return names;
}

function quote(text: string): string {
  if (!text.isWellFormed()) {
    throw new TypeError("a text with a lone surrogate cannot be written as UTF-8");
  }
  return isPlain(text) ? `"${text}"` : JSON.stringify(text);
}

/** Reports whether a well-formed text holds nothing that is escaped. */
function isPlain(text: string): boolean {
  if (text.length > LONG) {
    return text === knownPlain || (!text.includes('"') && !text.includes("\\") && (onPad(text) === text.length ? !hasControl(0, text.length) : !CONTROL.test(text)));
  }
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || unit === QUOTE || unit === BACKSLASH) {
      return false;
    }
  }
  return true;
}

/** Reports whether a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Numeral);
}
