/** A request of the host that is being served, as its handler sees it. */

import { FEATURE_PROGRESS_DECORATION, FEATURE_REQUEST_PROGRESS, MAX_PROGRESS_OUTPUT_BYTES, METHOD_NOTIFICATION, METHOD_PROGRESS } from "./_generated/feature-wire.js";
import type { HostState } from "./_generated/feature-wire.js";
import type { JsonValue } from "./_generated/json.js";
import { utf8Length } from "./_generated/json.js";
import type { RpcId } from "./_generated/wire.js";
import type { Origin, Standing } from "./caller.js";
import { ScopeServices } from "./caller.js";
import type { ProgressEvent } from "./dialect.js";
import type { DynamicTools } from "./dynamic-tools.js";
import { CancelledError, LocalProtocolError, NotNegotiated } from "./errors.js";
import type { Link } from "./link.js";
import type { Owner, RequestContext } from "./owner.js";
import type { CommandCall, DecorationOptions, HookCall, NotifyOptions, OutputOptions, ProgressOptions, Scope, SessionHandle, ToolCall } from "./scope.js";

/** What every scope shares with the session. */
abstract class SessionScope implements SessionHandle, Origin {
  abstract readonly id: RpcId | undefined;
  abstract readonly method: string | undefined;
  private offered: ScopeServices | undefined;

  constructor(
    protected readonly link: Link,
    protected readonly origin: RequestContext,
    readonly dynamicTools: DynamicTools,
  ) {}

  get api(): string {
    return this.link.dialect.api;
  }

  get workspace(): string {
    return this.origin.workspace;
  }

  get flags(): Readonly<Record<string, JsonValue>> {
    return this.link.session.flags;
  }

  get features(): ReadonlySet<string> {
    return this.link.session.features;
  }

  get host(): HostState {
    return this.origin.host;
  }

  get signal(): AbortSignal {
    return this.link.signal;
  }

  get services(): ScopeServices {
    this.offered ??= new ScopeServices(this.link, this);
    return this.offered;
  }

  requestContext(): RequestContext {
    return this.origin;
  }

  abstract standing(): Standing;
}

/** A session without a request: what outlives every request gets. */
export class RunningSession extends SessionScope {
  get id(): undefined {
    return undefined;
  }

  get method(): undefined {
    return undefined;
  }

  standing(): Standing {
    return "session";
  }
}

/** What a running request is made of. */
export interface RunningParts {
  readonly id: RpcId;
  readonly method: string;
  readonly name: string;
  readonly context: RequestContext;
  readonly link: Link;
  readonly dynamicTools: DynamicTools;
  readonly sessionLeaf?: JsonValue | undefined;
}

/** A request: live, then settled or cancelled. Only a live one sends progress. */
export class RunningRequest extends SessionScope implements ToolCall, CommandCall, HookCall {
  readonly id: RpcId;
  private state: Exclude<Standing, "session"> = "live";
  private sequence = 0;
  private controller: AbortController | undefined;
  private reason: CancelledError | undefined;
  private later: ((scope: Scope) => unknown)[] | undefined;

  constructor(private readonly parts: RunningParts) {
    super(parts.link, parts.context, parts.dynamicTools);
    this.id = parts.id;
  }

  get method(): string {
    return this.parts.method;
  }

  get name(): string {
    return this.parts.name;
  }

  get sessionLeaf(): JsonValue | undefined {
    return this.parts.sessionLeaf;
  }

  /** Whether the request has its answer, or needs none any more. */
  get settled(): boolean {
    return this.state !== "live";
  }

  override get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.reason !== undefined) {
        this.controller.abort(this.reason);
      }
    }
    return this.controller.signal;
  }

  get context(): JsonValue {
    return this.origin.raw;
  }

  get owner(): Owner | undefined {
    return this.origin.owner;
  }

  get executionScope(): string | null {
    return this.origin.executionScope;
  }

  standing(): Standing {
    return this.state;
  }

  /** Takes the answer that was sent; returns what is to run behind it. */
  settle(state: "settled" | "cancelled"): readonly ((scope: Scope) => unknown)[] | undefined {
    this.state = state;
    const { later } = this;
    this.later = undefined;
    return later;
  }

  /** Tells the handler that its answer is not wanted any more. */
  abort(reason: CancelledError): void {
    this.reason ??= reason;
    this.controller?.abort(this.reason);
  }

  /** The scope of what runs behind the answer. */
  aftermath(): RunningRequest {
    const scope = new RunningRequest(this.parts);
    scope.state = "settled";
    return scope;
  }

  progress(message: string, options: ProgressOptions = {}): Promise<void> {
    return this.report({ type: "status", message, ...options }, FEATURE_REQUEST_PROGRESS);
  }

  output(text: string, options: OutputOptions = {}): Promise<void> {
    const stream = options.stream ?? "stdout";
    let sent = Promise.resolve();
    for (const data of pieces(text, MAX_PROGRESS_OUTPUT_BYTES)) {
      sent = this.report({ type: "output", stream, encoding: "utf8", data }, FEATURE_REQUEST_PROGRESS);
    }
    return sent;
  }

  decorate(label: string, options: DecorationOptions = {}): Promise<void> {
    return this.report({ type: "decoration", label, ...options }, FEATURE_PROGRESS_DECORATION);
  }

  notify(message: string, options: NotifyOptions = {}): Promise<void> {
    const { dialect, session } = this.link;
    const params = dialect.notification(message, options);
    if (session.contributes["notifications"] !== true) {
      throw new NotNegotiated("the manifest declares no notifications: set notifications = true under [contributes]", METHOD_NOTIFICATION);
    }
    return this.link.sendFrom(`{"jsonrpc":"2.0","method":${JSON.stringify(METHOD_NOTIFICATION)},"params":${params}}`);
  }

  after(work: (scope: Scope) => unknown): void {
    if (this.state !== "live") {
      throw new LocalProtocolError("the request has its answer: register with after() before it is answered");
    }
    this.later ??= [];
    this.later.push(work);
  }

  memory<T>(factory: () => T): T {
    return this.link.memory.value(this.origin, factory);
  }

  throwIfCancelled(): void {
    if (this.reason !== undefined) {
      throw this.reason;
    }
  }

  private report(event: ProgressEvent, feature: string): Promise<void> {
    const params = this.link.dialect.progress(this.id, this.sequence + 1, event);
    if (this.state !== "live" || !this.link.session.features.has(feature)) {
      return Promise.resolve();
    }
    this.sequence++;
    return this.link.sendFrom(`{"jsonrpc":"2.0","method":${JSON.stringify(METHOD_PROGRESS)},"params":${params}}`);
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
