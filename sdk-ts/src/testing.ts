/**
 * A host in memory, for tests of an extension: no process, no clock, no environment. It speaks the
 * extension's API, refuses what a real host would refuse, and answers services as the test says.
 *
 * ```ts
 * const host = await TestHost.start(extension);
 * const result = await host.call("count", { text: "two words" });
 * assert.equal(result.text, "2 words");
 * host.on("composer.get", () => ({ text: "draft" }));
 * await host.shutdown();
 * ```
 */

import * as canonical from "./_generated/canonical-wire.js";
import * as feature from "./_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "./_generated/json.js";
import { decodeUtf8, isObject, readJson, writeJson } from "./_generated/json.js";
import type { ServiceName } from "./_generated/services.js";
import type { RpcId } from "./_generated/wire.js";
import { decode } from "./canonical.js";
import { Connection } from "./connection.js";
import type { Message } from "./envelope.js";
import { classify } from "./envelope.js";
import { LocalProtocolError } from "./errors.js";
import type { Api, ExtensionDefinition } from "./extension.js";
import { frame, FrameReader } from "./frames.js";
import type { Owner } from "./owner.js";
import { ErrorAnswer } from "./testing/error-answer.js";
import { HostServices } from "./testing/host-services.js";
import type { ServiceHandler } from "./testing/host-services.js";
import { contributesOf, initializeParams, judgeInitialize, judgeOutgoing, namedMethod, readResult } from "./testing/host-side.js";
import type { Outgoing } from "./testing/host-side.js";
import type { Sources } from "./source.js";
import { NO_SOURCES } from "./source.js";

export { ErrorAnswer };
export type { Outgoing, ServiceHandler };

/** What a host of a test offers. */
export interface HostOptions {
  /** Root of the workspace; `/workspace` where it is left out. */
  readonly workspace?: string;
  /** Command-line flags by name. */
  readonly flags?: Readonly<Record<string, boolean | string | number>>;
  /** Optional features, on API 0.3 capabilities, that are offered; all of them where it is left out. */
  readonly features?: readonly string[];
  /** What the manifest declares beside tools; what the extension registered where it is left out. */
  readonly contributes?: Partial<feature.Contributes>;
  /** What the host says about itself at the start; nothing where it is left out. */
  readonly host?: feature.HostState;
  /** Whether the manifest declares notifications; true where it is left out. */
  readonly notifications?: boolean;
  /** Whether the manifest declares the session hooks, on API 0.3; whether one is registered where it is left out. */
  readonly sessionHooks?: boolean;
  /** Offered number of calls at one time; 64 where it is left out. */
  readonly maxConcurrent?: number;
  /** Offered frame bound, on API 0.3; 1 MiB where it is left out. */
  readonly maxFrameBytes?: number;
  /** Opens what a migration reads, as fileSources does; without it every source root is refused. */
  readonly sources?: Sources;
}

/** Who owns what a test asks, where it says nothing else. */
export const OWNER: Owner = { session_id: "owner", extension_instance_id: "instance", process_generation: 1 };

/** Options of one request. */
export interface RequestOptions {
  /** Owner of the session; {@link OWNER} where it is left out, null for none. API 0.1 has none. */
  readonly owner?: Owner | null;
  /** What the host says about itself; nothing where it is left out. */
  readonly host?: feature.HostState;
  /** Cancels the request when it is aborted. The reason, where it is a string, travels with it. */
  readonly signal?: AbortSignal;
  /** Gets the progress events of the request as they arrive. */
  readonly onProgress?: (event: feature.ProgressEvent) => void;
}

/** Options of one call. */
export interface CallOptions extends RequestOptions {
  /** The catalog epoch the model saw; not sent where it is left out. */
  readonly revision?: number;
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

const UTF8 = new TextEncoder();

interface Waiting {
  readonly resolve: (result: JsonValue) => void;
  readonly reject: (reason: Error) => void;
  readonly onProgress: ((event: feature.ProgressEvent) => void) | undefined;
}

/** One host and one extension, connected. */
export class TestHost {
  /** Everything the extension sent, in order. */
  readonly frames: JsonObject[] = [];
  /** What the extension asked and told the host, in order. */
  readonly sent: Outgoing[] = [];
  /** The notifications the extension showed, in order. */
  readonly notifications: feature.Notification[] = [];
  /** The lines the extension logged. */
  readonly logs: string[] = [];
  /** The exit status, once the session has ended. */
  readonly ended: Promise<number>;

  private readonly api: Api;
  private readonly strict: boolean;
  private readonly connection: Connection;
  private readonly reader: FrameReader;
  private readonly services: HostServices;
  private readonly waiting = new Map<RpcId | null, Waiting>();
  private readonly watchers: { readonly wants: (frame: JsonObject) => boolean; readonly found: (frame: JsonObject) => void }[] = [];
  private nextId = 1;
  private fault: Error | undefined;

  private constructor(private readonly extension: ExtensionDefinition, sources: Sources = NO_SOURCES) {
    this.api = extension.api;
    this.strict = this.api === canonical.VERSIONS[0];
    this.reader = new FrameReader({ bound: Math.max(feature.MAX_LINE_BYTES, canonical.MAX_FRAME_BYTES), strict: true });
    this.services = new HostServices((message) => {
      this.send(message);
    }, this.strict);
    let end: (status: number) => void = () => undefined;
    this.ended = new Promise((resolve) => {
      end = resolve;
    });
    this.connection = new Connection(extension.service(), {
      write: (text, bound) => {
        const bytes = frame(text, bound);
        if (bytes !== undefined) {
          this.receive(bytes);
        }
        return bytes !== undefined;
      },
      ready: () => Promise.resolve(),
      sources,
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
    const host = new TestHost(extension, options.sources);
    await host.initialize(options);
    return host;
  }

  /** Sends initialize and judges its answer, which it returns. */
  async initialize(options: HostOptions = {}): Promise<JsonValue> {
    const { registry } = this.extension.service();
    const tools = [...registry.tools.keys()];
    this.services.begin(tools);
    const contributes = { ...contributesOf(registry, this.api), ...options.contributes };
    const params = initializeParams(this.api, tools, { sessionHooks: registry.hooks.size > 0, ...options, contributes });
    const result = await this.request(feature.METHOD_INITIALIZE, params);
    judgeInitialize(this.api, params, result);
    return result;
  }

  /**
   * Answers a service, `composer.get`, from now on. Services without a handler are refused; shortcuts, changes of
   * the tools and completions are taken unless a handler says otherwise.
   */
  on(service: ServiceName, handler: ServiceHandler): this {
    namedMethod(this.api, service);
    this.services.on(service, handler);
    return this;
  }

  /** Calls a tool. Rejects with ErrorAnswer for an error answer. */
  async call(tool: string, args: JsonObject = {}, options: CallOptions = {}): Promise<CallResult> {
    const revision = options.revision === undefined ? {} : { catalog_revision: options.revision };
    return readResult(this.api, await this.ask(feature.METHOD_TOOL_CALL, { name: tool, arguments: args, ...revision }, options));
  }

  /** Runs a command. */
  async command(name: string, args: readonly string[] = [], options: RequestOptions = {}): Promise<feature.CommandExecuteResult> {
    const result = await this.ask(feature.METHOD_COMMAND_EXECUTE, { name, arguments: args }, options);
    return feature.MODELS.CommandExecuteResult.read(result);
  }

  /** Asks a hook of API 0.1, 0.2 or 0.4, and returns its answer. */
  async hook(name: string, payload: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    return (await this.ask(feature.METHOD_HOOK_RUN, { hook: name, payload }, options)) as JsonObject;
  }

  /** Asks for context. */
  async collectContext(prompt: string | null, options: RequestOptions = {}): Promise<readonly feature.ContextContribution[]> {
    return (await this.ask(feature.METHOD_CONTEXT_COLLECT, { prompt }, options)) as never;
  }

  /** Asks what a surface shows. */
  async collectStatus(surface: feature.UiSurface, options: RequestOptions = {}): Promise<feature.StatusContribution | null> {
    return (await this.ask(feature.METHOD_STATUS_COLLECT, { surface }, options)) as never;
  }

  /** Asks for the menu. */
  async collectMenu(options: RequestOptions = {}): Promise<feature.MenuCollectResult> {
    return feature.MODELS.MenuCollectResult.read(await this.ask(feature.METHOD_MENU_COLLECT, {}, options));
  }

  /** Asks how a call of a tool is shown. */
  async render(name: string, args: JsonObject, output: string, options: RequestOptions & { readonly isError?: boolean } = {}): Promise<readonly feature.ToolRenderSegment[]> {
    const params = { name, arguments: args, output, is_error: options.isError ?? false };
    return feature.MODELS.ToolRenderResult.read(await this.ask(feature.METHOD_TOOL_RENDER, params, options)).segments;
  }

  /** Tells the extension of an event, named as it is registered on the wire: `turn_started`. */
  event(name: string, params: JsonObject): void {
    this.notify(namedMethod(this.api, `events.${name}`).name, params);
  }

  /** Sends a request with a context, and cancels it when the signal says so. Rejects with ErrorAnswer. */
  async ask(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonValue> {
    const id = this.nextId;
    const owner = options.owner === undefined ? OWNER : options.owner;
    const context: JsonObject = {
      workspace: "/workspace",
      execution_scope: null,
      ...(owner === null || this.api === "0.1" ? {} : { resource_owner: { ...owner } }),
      host: { ...(options.host as JsonObject | undefined) },
    };
    const cancel = (): void => {
      const reason: unknown = options.signal?.reason;
      this.notify(feature.METHOD_CANCEL_REQUEST, { id, ...(typeof reason === "string" ? { reason } : {}) });
    };
    options.signal?.addEventListener("abort", cancel, { once: true });
    try {
      return await this.request(method, { ...params, context }, options.onProgress);
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
    this.sendBytes(UTF8.encode(`${text}\n`));
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
    const value = this.strict ? decode(bytes) : readJson(decodeUtf8(bytes), { maxDepth: feature.MAX_JSON_DEPTH });
    const message = classify(this.strict ? "extension-canonical" : "extension-feature", value);
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
      case "request": {
        const request = judgeOutgoing(this.api, message.method, message.params, false);
        this.sent.push(request);
        void this.services.answer(message.id, request);
        return;
      }
      case "notification":
        this.notification(judgeOutgoing(this.api, message.method, message.params, true));
        return;
      case "result":
      case "error":
        this.settle(message);
        return;
    }
  }

  private notification(told: Outgoing): void {
    switch (told.method) {
      case feature.METHOD_CANCEL_REQUEST:
        this.services.cancel(told.params["id"] as RpcId);
        return;
      case feature.METHOD_PROGRESS: {
        const { request_id: id, event } = told.params as unknown as feature.ProgressParams;
        const call = this.waiting.get(id);
        if (call === undefined) {
          throw new LocalProtocolError(`the extension sent progress for ${JSON.stringify(id)}, which is not running`);
        }
        call.onProgress?.(event);
        return;
      }
      case feature.METHOD_NOTIFICATION:
        this.notifications.push(told.params as unknown as feature.Notification);
    }
    this.sent.push(told);
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
