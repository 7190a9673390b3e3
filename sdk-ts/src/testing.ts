/**
 * A host in memory, for tests of an extension: no process, no clock, no environment. It speaks the
 * extension's API, and refuses what a real host would refuse.
 *
 * ```ts
 * const host = await TestHost.start(extension);
 * const result = await host.call("count", { text: "two words" });
 * assert.equal(result.text, "2 words");
 * await host.shutdown();
 * ```
 */

import * as canonical from "./_generated/canonical-wire.js";
import * as feature from "./_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "./_generated/json.js";
import { decodeUtf8, isObject, readJson, writeJson } from "./_generated/json.js";
import type { RpcId } from "./_generated/wire.js";
import { decode } from "./canonical.js";
import { Connection } from "./connection.js";
import type { Message } from "./envelope.js";
import { classify } from "./envelope.js";
import { LocalProtocolError } from "./errors.js";
import type { Api, ExtensionDefinition } from "./extension.js";
import { frame, FrameReader } from "./frames.js";
import { initializeParams, judgeInitialize, judgeNotification, readResult } from "./testing/host-side.js";

/** What a host of a test offers. */
export interface HostOptions {
  /** Root of the workspace; `/workspace` where it is left out. */
  readonly workspace?: string;
  /** Command-line flags by name. */
  readonly flags?: Readonly<Record<string, boolean | string | number>>;
  /** Optional features offered on API 0.2 and 0.4; progress where it is left out. */
  readonly features?: readonly string[];
  /** Whether the manifest declares notifications; true where it is left out. */
  readonly notifications?: boolean;
  /** Whether the manifest declares the session hooks, on API 0.3; false where it is left out. */
  readonly sessionHooks?: boolean;
  /** Offered number of calls at one time; 64 where it is left out. */
  readonly maxConcurrent?: number;
  /** Offered frame bound, on API 0.3; 1 MiB where it is left out. */
  readonly maxFrameBytes?: number;
}

/** Options of one call. */
export interface CallOptions {
  /** Cancels the call when it is aborted. The reason, where it is a string, travels with it. */
  readonly signal?: AbortSignal;
  /** Gets the progress events of the call as they arrive. */
  readonly onProgress?: (event: feature.ProgressEvent) => void;
}

/** The result of a call. */
export interface CallResult {
  /** The text parts, joined by line feeds. */
  readonly text: string;
  readonly isError: boolean;
  /** Undefined where there is none. */
  readonly structured: JsonValue | undefined;
  /** Undefined where there is none. */
  readonly metadata: JsonValue | undefined;
}

/** The extension answered with an error. */
export class ErrorAnswer extends Error {
  override readonly name = "ErrorAnswer";

  constructor(
    readonly code: number,
    message: string,
    readonly data: JsonValue | undefined,
  ) {
    super(message);
  }
}

interface Waiting {
  readonly resolve: (result: JsonValue) => void;
  readonly reject: (reason: Error) => void;
  readonly onProgress: ((event: feature.ProgressEvent) => void) | undefined;
}

/** One host and one extension, connected. */
export class TestHost {
  /** Everything the extension sent, in order. */
  readonly frames: JsonObject[] = [];
  /** The notifications the extension sent, in order. */
  readonly notifications: feature.Notification[] = [];
  /** The lines the extension logged. */
  readonly logs: string[] = [];
  /** The exit status, once the session has ended. */
  readonly ended: Promise<number>;

  private readonly api: Api;
  private readonly connection: Connection;
  private readonly reader: FrameReader;
  private readonly waiting = new Map<RpcId | null, Waiting>();
  private readonly watchers: { readonly wants: (frame: JsonObject) => boolean; readonly found: (frame: JsonObject) => void }[] = [];
  private nextId = 1;
  private fault: Error | undefined;

  private constructor(private readonly extension: ExtensionDefinition) {
    this.api = extension.api;
    this.reader = new FrameReader({ bound: Math.max(feature.MAX_LINE_BYTES, canonical.MAX_FRAME_BYTES), strict: true });
    let end: (status: number) => void = () => undefined;
    this.ended = new Promise((resolve) => {
      end = resolve;
    });
    this.connection = new Connection(extension.service(), {
      write: (bytes) => {
        this.receive(bytes);
      },
      ready: () => Promise.resolve(),
      log: (line) => this.logs.push(line),
      end: (status) => {
        this.fail(new Error(`the session ended with status ${String(status)}: ${this.logs.at(-1) ?? "no reason logged"}`), false);
        end(status);
      },
    });
  }

  /** Connects without a word, for tests that send frames of their own. */
  static connect(extension: ExtensionDefinition): TestHost {
    return new TestHost(extension);
  }

  /** Connects and initializes. Rejects with ErrorAnswer when the extension refuses, and when its answer breaks the wire. */
  static async start(extension: ExtensionDefinition, options: HostOptions = {}): Promise<TestHost> {
    const host = new TestHost(extension);
    await host.initialize(options);
    return host;
  }

  /** Sends initialize and judges its answer, which it returns. */
  async initialize(options: HostOptions = {}): Promise<JsonValue> {
    const tools = [...this.extension.service().tools.keys()];
    const params = initializeParams(this.api, tools, options);
    const result = await this.request(feature.METHOD_INITIALIZE, params);
    judgeInitialize(this.api, params, result);
    return result;
  }

  /** Calls a tool. Rejects with ErrorAnswer for an error answer. */
  async call(tool: string, args: JsonObject = {}, options: CallOptions = {}): Promise<CallResult> {
    const id = this.nextId;
    const context: JsonObject = { workspace: "/workspace", execution_scope: null, host: {} };
    const cancel = (): void => {
      const reason: unknown = options.signal?.reason;
      this.notify(feature.METHOD_CANCEL_REQUEST, { id, ...(typeof reason === "string" ? { reason } : {}) });
    };
    options.signal?.addEventListener("abort", cancel, { once: true });
    try {
      const params = { name: tool, arguments: args, context };
      return readResult(this.api, await this.request(feature.METHOD_TOOL_CALL, params, options.onProgress));
    } finally {
      options.signal?.removeEventListener("abort", cancel);
    }
  }

  /** Asks for shutdown and returns the exit status. */
  async shutdown(): Promise<number> {
    await this.request(feature.METHOD_SHUTDOWN, {});
    return this.ended;
  }

  /** Sends a request and returns its result. Rejects with ErrorAnswer. */
  request(method: string, params: JsonValue, onProgress?: (event: feature.ProgressEvent) => void): Promise<JsonValue> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      if (this.fault !== undefined) {
        reject(this.fault);
        return;
      }
      this.waiting.set(id, { resolve, reject, onProgress });
      this.send({ id, jsonrpc: "2.0", method, params });
    });
  }

  /** Sends a notification. */
  notify(method: string, params: JsonValue): void {
    this.send({ jsonrpc: "2.0", method, params });
  }

  /** Sends one frame: a value as canonical JSON, or a text as it stands, with an LF behind it. */
  send(message: JsonObject | string): void {
    const text = typeof message === "string" ? message : writeJson(message, feature.MAX_JSON_DEPTH);
    this.sendBytes(frame(text, Number.POSITIVE_INFINITY));
  }

  /** Sends bytes as they stand. */
  sendBytes(bytes: Uint8Array): void {
    this.connection.receive(bytes);
  }

  /** Ends the stream to the extension and returns the exit status. Calls that are running may finish first. */
  close(): Promise<number> {
    this.connection.end();
    return this.ended;
  }

  /** Does what the process does when calls take too long after the end of the stream, or output is lost. */
  abandon(): Promise<number> {
    this.connection.abandon("abandoned by the test");
    return this.ended;
  }

  /** Returns the first frame that fits, among those that have arrived and those to come. */
  frame(wants: (frame: JsonObject) => boolean): Promise<JsonObject> {
    const found = this.frames.find((one) => wants(one));
    return found !== undefined ? Promise.resolve(found) : new Promise((resolve) => this.watchers.push({ wants, found: resolve }));
  }

  private receive(bytes: Uint8Array): void {
    try {
      this.reader.push(bytes);
      for (let one = this.reader.next(); one !== undefined; one = this.reader.next()) {
        this.message(one);
      }
    } catch (fault) {
      this.fail(fault instanceof Error ? fault : new Error(String(fault)), true);
    }
  }

  private message(bytes: Uint8Array): void {
    const strict = this.api === canonical.VERSIONS[0];
    const value = strict ? decode(bytes) : readJson(decodeUtf8(bytes), { maxDepth: feature.MAX_JSON_DEPTH });
    const message = classify(strict ? "extension-canonical" : "extension-feature", value);
    if (isObject(value)) {
      this.frames.push(value);
      for (const watcher of this.watchers.filter(({ wants }) => wants(value))) {
        this.watchers.splice(this.watchers.indexOf(watcher), 1);
        watcher.found(value);
      }
    }
    switch (message.kind) {
      case "invalid":
        throw new LocalProtocolError(`the extension sent no JSON-RPC message: ${message.reason}`);
      case "request":
        throw new LocalProtocolError(`the extension sent a request of its own: ${message.method}`);
      case "notification":
        this.notification(message.method, message.params);
        return;
      case "result":
      case "error":
        this.settle(message);
        return;
    }
  }

  private notification(method: string, params: JsonValue | undefined): void {
    const event = judgeNotification(this.api, method, params);
    if (event.kind === "notification") {
      this.notifications.push(event.params);
      return;
    }
    const call = this.waiting.get(event.params.request_id);
    if (call === undefined) {
      throw new LocalProtocolError(`the extension sent progress for ${JSON.stringify(event.params.request_id)}, which is not running`);
    }
    call.onProgress?.(event.params.event);
  }

  private settle(message: Extract<Message, { kind: "result" | "error" }>): void {
    const call = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.kind === "result") {
      call?.resolve(message.result);
    } else {
      call?.reject(new ErrorAnswer(message.error.code, message.error.message, message.error.data));
    }
  }

  /** Ends every wait. After a broken frame no request is sent any more. */
  private fail(fault: Error, broken: boolean): void {
    this.fault ??= fault;
    for (const call of this.waiting.values()) {
      call.reject(broken ? this.fault : fault);
    }
    this.waiting.clear();
  }
}
