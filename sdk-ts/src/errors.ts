/**
 * Every error the SDK throws on purpose. The two protocol errors say who broke the rules: *local* is the
 * extension (a call to the SDK, or a value it asked to send), *remote* is the host.
 */

import type { JsonValue } from "./_generated/json.js";

/** The extension broke a rule by calling the SDK so. */
export class LocalProtocolError extends Error {
  override readonly name: string = "LocalProtocolError";
}

/** The host broke a rule of the wire. Where a value broke its model, the cause is a Violation that says where. */
export class RemoteProtocolError extends Error {
  override readonly name: string = "RemoteProtocolError";
}

/** The bytes on the stream are not frames any more; nothing behind them is looked at. */
export class FrameFault extends RemoteProtocolError {
  override readonly name = "FrameFault";
}

/**
 * The session does not carry this: its API version has none, the host did not offer it, the extension does not
 * use it, or the manifest does not declare it. The message says which, and what to do.
 */
export class NotNegotiated extends LocalProtocolError {
  override readonly name = "NotNegotiated";

  /**
   * @param message what is missing, and the remedy
   * @param method the method on the wire that was asked for, where it is one
   */
  constructor(
    message: string,
    readonly method?: string,
  ) {
    super(message);
  }
}

/** The scope cannot give a service the request of the host that it must belong to. */
export class NoParent extends LocalProtocolError {
  override readonly name = "NoParent";

  /**
   * @param message what is missing, and the remedy
   * @param method the method on the wire that was asked for
   */
  constructor(
    message: string,
    readonly method: string,
  ) {
    super(message);
  }
}

/** Parameters of a service break their model. Nothing was sent. */
export class InvalidParams extends LocalProtocolError {
  override readonly name = "InvalidParams";

  /**
   * @param method the method on the wire
   * @param pointer where, as a JSON Pointer from the root of the parameters
   * @param violation the way the value breaks the model
   */
  constructor(
    readonly method: string,
    readonly pointer: string,
    readonly violation: string,
    reason: string,
    options?: ErrorOptions,
  ) {
    super(`${JSON.stringify(method)}: ${pointer === "" ? "value" : JSON.stringify(pointer)} ${reason}`, options);
  }
}

/** A value is over a bound of the wire, or does not fit a frame. It was not sent. */
export class TooLarge extends LocalProtocolError {
  override readonly name = "TooLarge";
}

/** The host answered a service with an error. */
export class HostError extends Error {
  override readonly name = "HostError";
  /** The first word of the message, which names the reason where it is one of the wire's tokens. */
  readonly token: string;

  /**
   * @param method the method on the wire
   * @param code of the error
   * @param text message of the error
   * @param data of the error; undefined where there is none
   */
  constructor(
    readonly method: string,
    readonly code: number,
    readonly text: string,
    readonly data: JsonValue | undefined,
  ) {
    super(`the host refused ${JSON.stringify(method)} with ${String(code)}: ${text}`);
    this.token = text.split(" ", 1)[0] ?? "";
  }
}

/** Arguments or structured content break their schema. */
export class SchemaMismatch extends Error {
  override readonly name = "SchemaMismatch";

  /**
   * @param pointer where, as a JSON Pointer
   * @param reason the rule, for people
   */
  constructor(
    readonly pointer: string,
    readonly reason: string,
  ) {
    super(`${pointer === "" ? "value" : JSON.stringify(pointer)} ${reason}`);
  }
}

/** Throw it from a tool to answer the call with a result that says the tool failed. The message goes to the model. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/**
 * The work was cancelled: by the host, by the end of the request it belongs to, or by shutdown. Thrown by
 * `throwIfCancelled` and by services, and the reason of every signal.
 */
export class CancelledError extends Error {
  override readonly name = "CancelledError";

  /** @param reason what the host gave as reason, if it gave one */
  constructor(readonly reason?: string) {
    super(reason === undefined ? "the call was cancelled" : `the call was cancelled: ${reason}`);
  }
}
