/** One running call of a tool, as its handler sees it. */

import { METHOD_NOTIFICATION, METHOD_PROGRESS, MAX_PROGRESS_OUTPUT_BYTES } from "./_generated/feature-wire.js";
import type { JsonValue } from "./_generated/json.js";
import { utf8Length } from "./_generated/json.js";
import type { RpcId } from "./_generated/wire.js";
import type { Dialect, ProgressEvent, Session } from "./dialect.js";
import type { CancelledError } from "./errors.js";
import { NotNegotiated } from "./errors.js";
import type { NotifyOptions, OutputOptions, ProgressOptions, ToolCall } from "./tool.js";

/** What a call is made of. */
export interface CallParts {
  readonly id: RpcId;
  readonly name: string;
  readonly workspace: string;
  readonly context: JsonValue;
  readonly session: Session;
  readonly dialect: Dialect;
  /** Sends one message. Throws LocalProtocolError where it does not fit a frame. */
  readonly send: (text: string) => Promise<void>;
}

/** The call's state: not settled, then settled. Settled, it sends no progress. */
export class RunningCall implements ToolCall {
  /** Whether the call has its answer. */
  settled = false;
  private sequence = 0;
  private readonly controller = new AbortController();

  constructor(private readonly parts: CallParts) {}

  get id(): RpcId {
    return this.parts.id;
  }

  get name(): string {
    return this.parts.name;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get workspace(): string {
    return this.parts.workspace;
  }

  get context(): JsonValue {
    return this.parts.context;
  }

  get flags(): Readonly<Record<string, JsonValue>> {
    return this.parts.session.flags;
  }

  /** Tells the handler that its answer is not wanted any more. */
  abort(reason: CancelledError): void {
    this.controller.abort(reason);
  }

  progress(message: string, options: ProgressOptions = {}): Promise<void> {
    return this.report({ type: "status", message, ...options });
  }

  output(text: string, options: OutputOptions = {}): Promise<void> {
    const stream = options.stream ?? "stdout";
    let sent = Promise.resolve();
    for (const data of pieces(text, MAX_PROGRESS_OUTPUT_BYTES)) {
      sent = this.report({ type: "output", stream, encoding: "utf8", data });
    }
    return sent;
  }

  notify(message: string, options: NotifyOptions = {}): Promise<void> {
    const params = this.parts.dialect.notification(message, options);
    if (!this.parts.session.notifications) {
      throw new NotNegotiated("the manifest declares no notifications: set notifications = true under [contributes]");
    }
    return this.parts.send(`{"jsonrpc":"2.0","method":${JSON.stringify(METHOD_NOTIFICATION)},"params":${params}}`);
  }

  throwIfCancelled(): void {
    this.signal.throwIfAborted();
  }

  private report(event: ProgressEvent): Promise<void> {
    const params = this.parts.dialect.progress(this.id, this.sequence + 1, event);
    if (this.settled || !this.parts.session.progress) {
      return Promise.resolve();
    }
    this.sequence++;
    return this.parts.send(`{"jsonrpc":"2.0","method":${JSON.stringify(METHOD_PROGRESS)},"params":${params}}`);
  }
}

/** Cuts a text into pieces of at most max UTF-8 bytes, never inside a character. */
export function* pieces(text: string, max: number): Generator<string> {
  if (utf8Length(text) <= max) {
    yield text;
    return;
  }
  let piece = "";
  let bytes = 0;
  for (const character of text) {
    const size = utf8Length(character);
    if (bytes + size > max) {
      yield piece;
      piece = "";
      bytes = 0;
    }
    piece += character;
    bytes += size;
  }
  yield piece;
}
