/**
 * Every error the SDK throws on purpose. The two protocol errors say who broke the rules: *local* is the
 * extension (a call to the SDK, or a value it asked to send), *remote* is the host.
 */

/** The extension broke a rule by calling the SDK so. */
export class LocalProtocolError extends Error {
  override readonly name: string = "LocalProtocolError";
}

/** The host broke a rule of the wire. */
export class RemoteProtocolError extends Error {
  override readonly name: string = "RemoteProtocolError";
}

/** The bytes on the stream are not frames any more; nothing behind them is looked at. */
export class FrameFault extends RemoteProtocolError {
  override readonly name = "FrameFault";
}

/**
 * The session does not carry this message: its API version has none, or the manifest does not declare it.
 * Thrown by `progress`, `output` and `notify`.
 */
export class NotNegotiated extends LocalProtocolError {
  override readonly name = "NotNegotiated";
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

/** The call was cancelled. Thrown by `throwIfCancelled`, and the reason of the call's signal. */
export class CancelledError extends Error {
  override readonly name = "CancelledError";

  /** @param reason what the host gave as reason, if it gave one */
  constructor(readonly reason?: string) {
    super(reason === undefined ? "the call was cancelled" : `the call was cancelled: ${reason}`);
  }
}
