/** What the host in memory answers when the extension asks. */

import * as canonical from "../_generated/canonical-wire.js";
import * as feature from "../_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "../_generated/json.js";
import type { ErrorCode, RpcId } from "../_generated/wire.js";
import { ErrorAnswer } from "./error-answer.js";
import type { Outgoing } from "./host-side.js";

/**
 * Answers a service: returns the result, or throws ErrorAnswer. The signal is aborted when the extension gives
 * the request up. Undefined is an empty result.
 */
export type ServiceHandler = (params: JsonObject, signal: AbortSignal) => JsonObject | undefined | Promise<JsonObject | undefined>;

/** The services of one host. */
export class HostServices {
  private readonly handlers = new Map<string, ServiceHandler>();
  private readonly open = new Map<RpcId, AbortController>();
  private revision = 0;
  private tools: readonly string[] = [];

  constructor(
    private readonly send: (message: JsonObject) => void,
    private readonly canonical: boolean,
  ) {
    this.on("shortcuts.register", () => ({}));
    this.on("tools.register", (params) => this.change([...this.tools, ...(params["tools"] as readonly JsonObject[]).map((tool) => tool["name"] as string)]));
    this.on("tools.unregister", (params) => this.change(this.tools.filter((name) => !(params["names"] as readonly string[]).includes(name))));
    this.on("autocomplete.register", () => ({ accepted: true }));
  }

  /** Sets the tools that the extension named when it started. */
  begin(tools: readonly string[]): void {
    this.tools = tools;
  }

  on(service: string, handler: ServiceHandler): void {
    this.handlers.set(service, handler);
  }

  /** Answers a request of the extension, once its handler has. */
  async answer(id: RpcId, request: Outgoing): Promise<void> {
    const controller = new AbortController();
    this.open.set(id, controller);
    const reply = await this.reply(request, controller.signal);
    this.open.delete(id);
    this.send({ id, jsonrpc: "2.0", ...reply });
  }

  /** Takes a cancellation of the extension. */
  cancel(id: RpcId): void {
    this.open.get(id)?.abort();
  }

  private async reply(request: Outgoing, signal: AbortSignal): Promise<JsonObject> {
    const { service } = request;
    const handler = service === undefined ? undefined : this.handlers.get(service);
    try {
      if (handler === undefined) {
        throw new ErrorAnswer(feature.ERROR_UNKNOWN_METHOD.code, this.text(feature.ERROR_UNKNOWN_METHOD, `unsupported_feature ${request.method}`));
      }
      const result = await handler(request.params, signal);
      return signal.aborted ? errorOf(this.cancelled()) : { result: result ?? {} };
    } catch (fault) {
      const internal = feature.ERROR_INTERNAL_ERROR;
      return errorOf(signal.aborted ? this.cancelled() : fault instanceof ErrorAnswer ? fault : new ErrorAnswer(internal.code, this.text(internal, String(fault))));
    }
  }

  private cancelled(): ErrorAnswer {
    const { code, message } = feature.ERROR_REQUEST_CANCELLED;
    return new ErrorAnswer(code, message);
  }

  /** The message of an error; the canonical wire fixes it. */
  private text(row: ErrorCode, message: string): string {
    return this.canonical ? (canonical.ERRORS.find((one) => one.code === row.code)?.message ?? message) : message;
  }

  private change(names: readonly string[]): JsonObject {
    this.revision++;
    this.tools = [...new Set(names)].sort();
    return { revision: this.revision, tools: this.tools };
  }
}

function errorOf({ code, message, data }: ErrorAnswer): JsonObject {
  const error: Record<string, JsonValue> = { code, message };
  if (data !== undefined) {
    error["data"] = data;
  }
  return { error };
}
