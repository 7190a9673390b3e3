/** Services as a scope offers them: what it may call, in whose name, and what comes back. */

import * as canonical from "./_generated/canonical-wire.js";
import * as feature from "./_generated/feature-wire.js";
import type { JsonObject, JsonValue } from "./_generated/json.js";
import type { Caller, ServiceName, ServiceOptions } from "./_generated/services.js";
import { SERVICES, Services } from "./_generated/services.js";
import type { Method, RpcId, WireTables } from "./_generated/wire.js";
import { Codec, readShape, Violation } from "./_generated/wire.js";
import { encodeText } from "./canonical.js";
import { CancelledError, InvalidParams, LocalProtocolError, NoParent, NotNegotiated, RemoteProtocolError } from "./errors.js";
import { assertMembers, assertOpen } from "./gates.js";
import type { Link } from "./link.js";
import type { RequestContext } from "./owner.js";
import { isFiled, readFiled } from "./scratch.js";

/** Where a scope stands: its request is open, was answered, was cancelled; or it belongs to no request. */
export type Standing = "live" | "settled" | "cancelled" | "session";

/** What a caller needs to know of its scope. */
export interface Origin {
  readonly id: RpcId | undefined;
  readonly method: string | undefined;
  requestContext(): RequestContext;
  standing(): Standing;
}

const PARENT = "parent_request_id";
const OWNER = "resource_owner";

/** The services of one scope. */
export class ScopeServices extends Services {
  private readonly sender: ScopeCaller;

  constructor(link: Link, origin: Origin) {
    const sender = new ScopeCaller(link, origin);
    super(sender);
    this.sender = sender;
  }

  /**
   * Calls a service by name, `composer.set`, on the same path as its typed method. Resolves to undefined where the
   * result has no members, and for a notification.
   */
  async invoke(service: string, params: JsonObject = {}, options: ServiceOptions = {}): Promise<JsonValue | undefined> {
    const name = SERVICES.find((one) => one === service);
    if (name === undefined) {
      throw new LocalProtocolError(`there is no service ${JSON.stringify(service)}: use noun.verb, as in ${SERVICES[0]}`);
    }
    const method = this.sender.method(name);
    return method.notification ? this.sender.notify(name, params) as Promise<undefined> : ((await this.sender.request(name, params, options)) as JsonValue | undefined);
  }
}

/** Asks for changes of the tools, which only the SDK may. */
export function catalogCaller(link: Link, origin: Origin): (service: ServiceName, params: object) => Promise<unknown> {
  const caller = new ScopeCaller(link, origin);
  return (service, params) => caller.ask(caller.method(service), params, {});
}

class ScopeCaller implements Caller {
  constructor(
    private readonly link: Link,
    private readonly origin: Origin,
  ) {}

  /** Returns the row of a service on this API version. Throws NotNegotiated where it has none. */
  method(service: ServiceName): Method {
    const { dialect } = this.link;
    const row = dialect.services.get(service);
    if (row === undefined) {
      const rows = [...feature.METHODS, ...canonical.METHODS].filter((one) => one.service === service);
      const versions = rows.flatMap((one) => one.versions).join(" or ");
      throw new NotNegotiated(`API ${dialect.api} has no ${service}: use API ${versions}, or do without it`, rows[0]?.name ?? service);
    }
    return row;
  }

  async request(service: ServiceName, params: object, options: ServiceOptions = {}): Promise<unknown> {
    const method = this.method(service);
    if (method.gate === feature.FEATURE_DYNAMIC_TOOLS) {
      assertOpen(method, this.link.session);
      throw new LocalProtocolError(`${JSON.stringify(method.name)} would change the tools behind the back of the SDK: use dynamicTools`);
    }
    return this.ask(method, params, options);
  }

  /** Sends a request whatever it is about. */
  async ask(method: Method, params: object, options: ServiceOptions): Promise<unknown> {
    const text = this.judge(method, params);
    const scope = method.parent === "none" && this.link.session.methods === undefined ? undefined : this.origin;
    const answer = this.link.children.request(method.name, text, scope, options.signal, (value) => settled?.(value));
    const settled = this.link.bus.asked(method, params);
    const result = await answer;
    try {
      return isFiled(method.name, result) ? await readFiled(method.name, result, this.link.scratch, (inline) => this.read(method, inline)) : this.read(method, result);
    } catch (cause) {
      if (cause instanceof Violation) {
        throw new RemoteProtocolError(`the host answered ${JSON.stringify(method.name)} with a result that breaks the wire: ${cause.message}`, { cause });
      }
      throw cause;
    }
  }

  async notify(service: ServiceName, params: object): Promise<void> {
    const method = this.method(service);
    const text = this.judge(method, params);
    await this.link.sendFrom(`{"jsonrpc":"2.0","method":${JSON.stringify(method.name)},"params":${text}}`);
  }

  /** Says what goes out, encoded. Nothing is sent before everything was judged. */
  private judge(method: Method, given: object): string {
    const { session, dialect } = this.link;
    this.link.assertOpen();
    assertOpen(method, session);
    assertMembers(method.name, given as JsonObject, session);
    const model = shapeOf(method, dialect.api)?.params ?? "";
    const params = { ...this.link.bus.bind(method, given), ...this.filled(method, given as JsonObject, dialect.tables, model) };
    try {
      const text = new Codec<object>(dialect.tables, model).encode(params);
      return session.methods === undefined ? text : encodeText(params);
    } catch (cause) {
      if (cause instanceof Violation) {
        throw new InvalidParams(method.name, cause.pointer, cause.violation, cause.reason, { cause });
      }
      if (cause instanceof TypeError) {
        throw new InvalidParams(method.name, "", "type", cause.message, { cause });
      }
      throw cause;
    }
  }

  /** Reads a result. Throws Violation. */
  private read(method: Method, result: JsonValue): unknown {
    const { dialect } = this.link;
    const shape = shapeOf(method, dialect.api);
    if (shape?.result === undefined) {
      return undefined;
    }
    const value = readShape(dialect.tables, { type: shape.result, nullable: shape.nullable ?? false }, result);
    return isEmpty(dialect.tables, shape.result) ? undefined : value;
  }

  /** The members that tie a message to a request of the host. */
  private filled(method: Method, given: JsonObject, tables: WireTables, model: string): JsonObject {
    const { parent = "none", name } = method;
    const standing = this.origin.standing();
    if (parent === "none") {
      return {};
    }
    if (standing === "cancelled") {
      throw new CancelledError();
    }
    if (this.link.dialect.api === "0.1") {
      this.assertLive(name, standing);
      return {};
    }
    const { owner } = this.origin.requestContext();
    switch (parent) {
      case "required":
        this.assertLive(name, standing);
        return { [PARENT]: this.parentId(name) };
      case "tool_call":
        this.assertLive(name, standing);
        if (this.origin.method !== feature.METHOD_TOOL_CALL) {
          throw new NoParent(`${JSON.stringify(name)} belongs to a tool call: call it from a tool`, name);
        }
        return { [PARENT]: this.parentId(name) };
      case "initialize":
        throw new NoParent(`${JSON.stringify(name)} is sent while the session starts: declare it with extension.shortcut`, name);
      case "retained":
        return this.retained(method, standing, given, tables, model);
      case "settled":
        if (standing !== "settled") {
          throw new NoParent(`${JSON.stringify(name)} needs the answer to be sent first: call it in after()`, name);
        }
        return { [PARENT]: this.parentId(name), [OWNER]: this.ownerOf(name) };
      case "optional":
        if (standing === "live") {
          return { [PARENT]: this.parentId(name) };
        }
        return standing === "settled" && owner !== undefined ? { [OWNER]: { ...owner } } : {};
      case "owner":
        return { [OWNER]: this.ownerOf(name) };
    }
  }

  private retained(method: Method, standing: Standing, given: JsonObject, tables: WireTables, model: string): JsonObject {
    const { name } = method;
    const { owner } = this.origin.requestContext();
    const features = this.link.session.features;
    const agents = isAgentGate(method.gate);
    const lifetime = features.has(feature.FEATURE_AGENT_SESSION_LIFETIME_V1);
    if (standing === "session") {
      throw new NoParent(`${JSON.stringify(name)} belongs to a request of the host: call it from a handler`, name);
    }
    if (standing === "settled") {
      if (agents && !lifetime) {
        throw new NoParent(`${JSON.stringify(name)} needs a request of the host that is still open: call it before the answer`, name);
      }
      return { [PARENT]: this.parentId(name), [OWNER]: this.ownerOf(name) };
    }
    if (requiresOwner(tables, model) || given["editor_checkpoint"] !== undefined) {
      return { [PARENT]: this.parentId(name), [OWNER]: this.ownerOf(name) };
    }
    return { [PARENT]: this.parentId(name), ...(agents && lifetime && owner !== undefined ? { [OWNER]: { ...owner } } : {}) };
  }

  private assertLive(method: string, standing: Standing): void {
    if (standing !== "live") {
      throw new NoParent(`${JSON.stringify(method)} belongs to a request of the host that is still open: call it from a handler, before the answer`, method);
    }
  }

  private parentId(method: string): number {
    const { id } = this.origin;
    if (typeof id !== "number") {
      throw new NoParent(`${JSON.stringify(method)} needs a request of the host with a number for an id, and this one has none`, method);
    }
    return id;
  }

  private ownerOf(method: string): JsonObject {
    const { owner } = this.origin.requestContext();
    if (owner === undefined) {
      throw new NoParent(`${JSON.stringify(method)} needs the owner of a session, and this request has none: call it from a request that a session owns`, method);
    }
    return { ...owner };
  }
}

/** Whether a gate opens calls on child agents: the feature that gives the family its name, or one that needs it. */
function isAgentGate(gate: string): boolean {
  const family: string = feature.FEATURE_AGENT_SESSIONS;
  return gate === family || feature.FEATURES.some((row) => row.name === gate && row.dependsOn.includes(family));
}

/** Returns the shapes of a method on an API version: the last one that names it, else the general one. */
export function shapeOf(method: Method, api: string): Method["shapes"][number] | undefined {
  return method.shapes.slice(1).find((shape) => shape.versions.includes(api)) ?? method.shapes[0];
}

function requiresOwner(tables: WireTables, model: string): boolean {
  const row = tables.models.get(model);
  return row?.kind === "record" && row.fields.some((field) => field.name === OWNER && field.required);
}

function isEmpty(tables: WireTables, type: NonNullable<Method["shapes"][number]["result"]>): boolean {
  const row = type.kind === "ref" ? tables.models.get(type.model) : undefined;
  return row?.kind === "record" && row.fields.length === 0;
}

