/** What can go wrong between a client and a server, told apart by what a program can do about it. */

import type { JsonValue } from "./_generated/json.js";
import { isObject } from "./_generated/json.js";
import type { ErrorObject } from "./_generated/oup-wire.js";
import { ERROR_KINDS, ERROR_METHOD_NOT_FOUND, ERROR_METHOD_NOT_SUPPORTED, ERROR_UNSUPPORTED_CAPABILITY, ERRORS, MODELS } from "./_generated/oup-wire.js";
import type { Codec, OpenString } from "./_generated/wire.js";
import { Violation } from "./_generated/wire.js";

const NAMES: ReadonlyMap<number, string> = new Map(ERRORS.map(({ code, name }) => [code, name]));
const CODECS: ReadonlyMap<string, Codec<unknown>> = new Map<string, Codec<unknown>>(Object.entries(MODELS));
const DETAILS: ReadonlyMap<string, string> = new Map(ERROR_KINDS.map(([kind, , model]) => [kind, model]));

/** The kinds of failures that the protocol names. */
export type KnownKind = (typeof ERROR_KINDS)[number][0];

/** The server refused a request, or failed at it. Go by `code`, then by `kind`; the message is for people. */
export class ServerError extends Error {
  override readonly name: string = "ServerError";
  readonly code: number;
  /** Name of the code in the error table of the protocol; `unknown` for another one. */
  readonly error: string;
  readonly data: JsonValue | undefined;
  /** `data.kind`, where the server gave one. */
  readonly kind: KnownKind | OpenString | undefined;

  /** @param method the method that was asked for */
  constructor(
    answer: ErrorObject,
    readonly method: string,
  ) {
    super(answer.message);
    this.code = answer.code;
    this.error = NAMES.get(answer.code) ?? "unknown";
    this.data = answer.data;
    const kind = isObject(answer.data) ? answer.data["kind"] : undefined;
    this.kind = typeof kind === "string" ? kind : undefined;
  }

  /** Whether it is a failure of a kind. */
  is(kind: KnownKind): boolean {
    return this.kind === kind;
  }

  /** `data` by the model of a kind, such as `error.detail("cursor_expired", MODELS.CursorExpiredErrorData)`; undefined for another kind or shape. */
  detail<T>(kind: KnownKind, codec: Codec<T>): T | undefined {
    return this.kind === kind ? fits(codec, this.data) : undefined;
  }

  /** Whether `data` is as the model of its kind says; true where the kind has none. */
  get wellFormed(): boolean {
    const codec = CODECS.get(DETAILS.get(this.kind ?? "") ?? "");
    return codec === undefined || fits(codec, this.data) !== undefined;
  }
}

function fits<T>(codec: Codec<T>, value: JsonValue | undefined): T | undefined {
  try {
    return codec.read(value ?? null);
  } catch (fault) {
    if (fault instanceof Violation) {
      return undefined;
    }
    throw fault;
  }
}

const UNSUPPORTED: ReadonlySet<number> = new Set([ERROR_METHOD_NOT_FOUND.code, ERROR_METHOD_NOT_SUPPORTED.code, ERROR_UNSUPPORTED_CAPABILITY.code]);

/** The server does not offer the method on this connection, whichever way it says so. */
export class Unsupported extends ServerError {
  override readonly name = "Unsupported";
}

/** The error that an answer stands for. */
export function serverError(answer: ErrorObject, method: string): ServerError {
  return UNSUPPORTED.has(answer.code) ? new Unsupported(answer, method) : new ServerError(answer, method);
}

/**
 * The connection ended. What was in flight may have been carried out or not; nobody here knows. Where `sent` is
 * false, the request never left and can be made again without a thought.
 */
export class Disconnected extends Error {
  override readonly name = "Disconnected";

  /**
   * @param reason why, for people
   * @param inFlight methods that were asked for and not answered
   * @param sent whether the request that fails with this had been sent
   */
  constructor(
    reason: string,
    readonly inFlight: readonly string[] = [],
    readonly sent = false,
    options: ErrorOptions = {},
  ) {
    super(reason, options);
  }
}

/** The server does not let this client in, or no longer. Connecting again with the same token does not help. */
export class AuthError extends Error {
  override readonly name = "AuthError";

  /** @param status the HTTP status or close code that said so */
  constructor(
    reason: string,
    readonly status: number,
  ) {
    super(reason);
  }
}

/** A frame broke the rules of the protocol. Where a value broke its model, the cause is a Violation that says where. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** A request was not answered in time. It may have been carried out; its answer is passed over when it comes. */
export class TimedOut extends Error {
  override readonly name = "TimedOut";

  constructor(
    readonly method: string,
    readonly milliseconds: number,
  ) {
    super(`${method} was not answered within ${String(milliseconds)} ms: ask again with a greater timeoutMs, or look at the server`);
  }
}

/** Text of anything thrown. */
export function reasonOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}
