/** An answer that refuses a request, before its wire has given it a code and a message. */

import type { JsonObject } from "./_generated/json.js";
import { RemoteProtocolError } from "./errors.js";

/** The errors that both wires name alike. */
export type ErrorName =
  | "parse_error"
  | "invalid_request"
  | "unknown_method"
  | "invalid_params"
  | "internal_error"
  | "request_cancelled"
  | "version_mismatch"
  | "capability_mismatch"
  | "resource_exhausted"
  | "server_error";

/** Thrown while a request is judged; becomes the error answer on its id. */
export class Refusal extends RemoteProtocolError {
  override readonly name = "Refusal";

  /**
   * @param error name of the error
   * @param message what is wrong, for people
   * @param data what the answer carries as data; the wire adds the message where it has no other place for it
   */
  constructor(
    readonly error: ErrorName,
    message: string,
    readonly data?: JsonObject,
  ) {
    super(message);
  }
}
