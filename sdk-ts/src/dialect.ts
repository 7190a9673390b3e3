/** What the connection leaves to the wire it speaks. */

import type { Migration } from "./migration.js";
import type { Sources } from "./source.js";
import type { JsonObject, JsonValue } from "./_generated/json.js";
import type { Method, RpcId, WireTables } from "./_generated/wire.js";
import type { DynamicTools } from "./dynamic-tools.js";
import type { WireName } from "./envelope.js";
import type { RequestContext } from "./owner.js";
import type { Outcome } from "./reply.js";
import type { Streams } from "./provider-stream.js";
import type { ErrorName } from "./refusal.js";
import type { Registry } from "./registry.js";
import type { RunningRequest } from "./running.js";
import type { NotifyOptions } from "./scope.js";
import type { Tool } from "./tool.js";

/** One event of progress. */
export type ProgressEvent =
  | { readonly type: "status"; readonly message: string; readonly current?: number; readonly total?: number; readonly unit?: string }
  | { readonly type: "output"; readonly stream: "stdout" | "stderr"; readonly encoding: "utf8"; readonly data: string }
  | { readonly type: "decoration"; readonly label: string; readonly detail?: string };

/** What was agreed at initialize. */
export interface Session {
  /** The initialize result, encoded. */
  readonly result: string;
  /** Most bytes of a frame, both ways, from the initialize answer on. */
  readonly bound: number;
  /** Most requests of the host at one time. */
  readonly maxConcurrent: number;
  readonly context: RequestContext;
  readonly flags: Readonly<Record<string, JsonValue>>;
  /** The features, on the canonical wire the capabilities, that were selected. */
  readonly features: ReadonlySet<string>;
  /** The same, as the host offered them. */
  readonly offered: ReadonlySet<string>;
  /** The methods that were selected; undefined on a wire that selects none. */
  readonly methods: ReadonlySet<string> | undefined;
  /** What the manifest declares, as the host hands it on. */
  readonly contributes: JsonObject;
  /** What the author should know, for the log. */
  readonly warnings: readonly string[];
}

/** The parameters of a cancellation that passed their model. */
export interface CancelRequest {
  readonly id: RpcId;
  readonly reason: string | undefined;
}

/** An error answer. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonValue;
}

/** A request of the host that was judged: what to run for it, and how the outcome is written. */
export interface Work {
  /** What runs, for the log. */
  readonly label: string;
  /** Name of what runs, for its handler. */
  readonly name: string;
  readonly context: RequestContext;
  readonly sessionLeaf?: JsonValue | undefined;
  run(scope: RunningRequest): unknown;
  /** Encodes what `run` returned. Throws LocalProtocolError. */
  encode(value: unknown): string;
  /** Encodes a failure as a result; absent where failures are error answers. */
  failure?(message: string): string;
  /** Whether a result over a bound is a failure of that kind too. */
  readonly tooLargeIsFailure: boolean;
}

/** What a session serves with. */
export interface Serving {
  readonly registry: Registry;
  readonly session: Session;
  readonly dynamicTools: DynamicTools;
  readonly streams: Streams;
  readonly sources: Sources;
  readonly migration: Migration | undefined;
}

/**
 * The rules of one wire. Methods that judge what the host sent throw Violation or Refusal; methods that
 * encode what the extension sends throw LocalProtocolError. Encoded text is canonical JSON.
 */
export interface Dialect {
  readonly wire: WireName;
  readonly tables: WireTables;
  readonly api: string;
  /** Bound of every frame up to the initialize answer. */
  readonly firstBound: number;
  /** Deepest level of a value in a frame. */
  readonly maxDepth: number;
  /**
   * Canonical behaviour: a frame that cannot be read ends the stream, as does every fault before
   * negotiation is complete. Otherwise such a line is answered and reading goes on.
   */
  readonly strict: boolean;
  /** Whether requests can be cancelled. */
  readonly cancellation: boolean;
  /** The methods of this API version under the names an SDK gives them. */
  readonly services: ReadonlyMap<string, Method>;
  /** The notifications of the host on this API version, by method. */
  readonly events: ReadonlyMap<string, Method>;
  /** Names of the hooks on this API version. */
  readonly hookNames: readonly string[];

  /** Refuses a tool that this wire cannot carry. Throws LocalProtocolError. */
  checkTool(tool: Tool): void;
  initialize(params: JsonValue | undefined, registry: Registry): Session;
  /** Judges a request of the host, any but initialize and shutdown. */
  open(method: string, params: JsonValue | undefined, serving: Serving): Work;
  cancel(params: JsonValue | undefined): CancelRequest;
  /** Judges the parameters of shutdown and returns its result, encoded. */
  shutdown(params: JsonValue | undefined): string;
  /** The definition of a tool, without what was not negotiated, which is logged. */
  definition(tool: Tool, features: ReadonlySet<string>, log: (line: string) => void): JsonObject;

  /** Encodes the result of a tool call. */
  result(outcome: Outcome, features: ReadonlySet<string>): string;
  /** Encodes progress. Throws NotNegotiated on a wire that has none. */
  progress(id: RpcId, sequence: number, event: ProgressEvent): string;
  /** Encodes a notification. Throws NotNegotiated on a wire that has none. */
  notification(message: string, options: NotifyOptions): string;

  error(name: ErrorName, message: string, data: JsonObject | undefined): WireError;
  /** The error that answers a request whose handler broke. */
  broken(): WireError;
  /** The error that answers a cancelled request. */
  cancelled(reason: string | undefined): WireError;
  /** The error that answers a request which shutdown interrupts. */
  interrupted(): WireError;
  /** The error that answers a request whose result does not fit a frame. */
  tooLarge(message: string): WireError;
}

/** The methods of a version that an SDK names, by that name. */
export function namedMethods(methods: readonly Method[], api: string, direction: Method["direction"]): ReadonlyMap<string, Method> {
  const rows = methods.filter((row) => row.direction === direction && row.versions.includes(api) && row.status !== "deferred");
  return new Map(rows.flatMap((row) => (row.service === undefined ? [] : [[row.service, row] as const])));
}

/** The notifications of the host on a version, by method. */
export function eventMethods(methods: readonly Method[], api: string): ReadonlyMap<string, Method> {
  return new Map([...namedMethods(methods, api, "host_to_extension").values()].map((row) => [row.name, row] as const));
}
