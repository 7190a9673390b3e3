/** What a caller is given of a session. Members have the names of the wire. */

import type { JsonObject, JsonValue } from "./_generated/json.js";
import { isObject } from "./_generated/json.js";
import type {
  ApprovalAutoResolvedEvent,
  ApprovalCancelledEvent,
  ApprovalDecidedEvent,
  ApprovalRequestedEvent,
  AssistantDeltaData,
  AssistantPersistedData,
  Cursor,
  EnvelopePayload,
  FileAttachedData,
  Plan,
  ProgressMetadata,
  ReasoningDeltaData,
  SessionHydrateResult,
  SessionOpened,
  SpawnCompleteData,
  ToolEndData,
  ToolProgressData,
  ToolStartData,
  TurnSteerDroppedEvent,
  TurnTerminalData,
  UserMessageData,
  UserQuestionRequestedEvent,
} from "./_generated/oup-wire.js";
import {
  METHOD_APPROVAL_AUTO_RESOLVED,
  METHOD_APPROVAL_CANCELLED,
  METHOD_APPROVAL_DECIDED,
  METHOD_APPROVAL_REQUESTED,
  METHOD_PLAN_UPDATED,
  METHOD_PROGRESS_UPDATED,
  METHOD_TURN_STARTED,
  METHOD_TURN_STEER_DROPPED,
  METHOD_USER_QUESTION_REQUESTED,
  METHOD_WARNING,
  MODELS,
} from "./_generated/oup-wire.js";
import type { Codec, OpenString } from "./_generated/wire.js";
import { Violation } from "./_generated/wire.js";

/** Where an event belongs. */
export interface Place {
  /** The turn; absent for what belongs to the session as a whole. */
  readonly turn_id?: string;
  /** Its position in the ledger, where it shows one. */
  readonly cursor?: Cursor;
}

/**
 * Events are missing. `recovered` says whether they have come, or will come, by replay behind this; otherwise
 * `snapshot` is how the session stands, and what was shown before should be drawn anew from it.
 */
export interface Gap {
  readonly type: "gap";
  readonly reason: "replay_lossy" | "cursor_expired" | "sequence" | "unconfirmed";
  readonly recovered: boolean;
  /** How many the server says it has dropped. */
  readonly dropped?: number;
  readonly snapshot?: SessionHydrateResult;
}

/** How a turn ended. Beside the outcomes of the protocol, `unknown`: the server knows nothing of it any more. */
export interface Terminal extends Omit<TurnTerminalData, "outcome"> {
  readonly type: "terminal";
  readonly outcome: TurnTerminalData["outcome"] | "unknown" | OpenString;
}

/** One event. */
export type OupEvent = Place &
  (
    | { readonly type: "started"; readonly timestamp: string }
    | ({ readonly type: "user_message"; readonly client_message_id?: string } & UserMessageData)
    | ({ readonly type: "delta" } & AssistantDeltaData)
    | ({ readonly type: "reasoning" } & ReasoningDeltaData)
    /** The text of a segment, whole: it replaces the deltas of that segment. */
    | ({ readonly type: "message" } & AssistantPersistedData)
    | ({ readonly type: "tool_start" } & ToolStartData)
    | ({ readonly type: "tool_progress" } & ToolProgressData)
    | ({ readonly type: "tool_end" } & ToolEndData)
    | ({ readonly type: "file" } & FileAttachedData)
    | { readonly type: "approval"; readonly request: ApprovalRequestedEvent }
    | { readonly type: "approval_decided"; readonly decision: ApprovalDecidedEvent }
    | { readonly type: "approval_auto_resolved"; readonly decision: ApprovalAutoResolvedEvent }
    | { readonly type: "approval_cancelled"; readonly approval_id: string; readonly reason: ApprovalCancelledEvent["reason"] }
    | { readonly type: "question"; readonly request: UserQuestionRequestedEvent }
    | { readonly type: "plan"; readonly plan: Plan }
    | { readonly type: "progress"; readonly metadata: ProgressMetadata }
    | { readonly type: "warning"; readonly code: string; readonly message: string }
    | { readonly type: "steer_dropped"; readonly inputs: TurnSteerDroppedEvent["inputs"]; readonly reason: TurnSteerDroppedEvent["reason"] }
    /** Work in the background is done; `turn_id` is the turn that started it, which has often ended. */
    | ({ readonly type: "background" } & SpawnCompleteData)
    /** A connection has opened the session, perhaps this one. */
    | { readonly type: "opened"; readonly opened: SessionOpened }
    | Gap
    | Terminal
    /** What this version of the client does not know. */
    | { readonly type: "unknown"; readonly method: string; readonly params: JsonValue }
  );

/** The payload of an envelope as an event. */
export function fromPayload(payload: EnvelopePayload, clientMessage: string | undefined): OupEvent {
  switch (payload.type) {
    case "user_message":
      return { ...payload.data, type: "user_message", ...(clientMessage === undefined ? {} : { client_message_id: clientMessage }) };
    case "assistant_delta":
      return { ...payload.data, type: "delta" };
    case "reasoning_delta":
      return { ...payload.data, type: "reasoning" };
    case "assistant_persisted":
      return { ...payload.data, type: "message" };
    case "tool_start":
      return { ...payload.data, type: "tool_start" };
    case "tool_progress":
      return { ...payload.data, type: "tool_progress" };
    case "tool_end":
      return { ...payload.data, type: "tool_end" };
    case "file_attached":
      return { ...payload.data, type: "file" };
    case "turn_terminal":
      return { ...payload.data, type: "terminal" };
    case "background/spawn_complete":
      return { ...payload.data, type: "background", turn_id: payload.data.parent_turn_id };
  }
}

/** Reads params by a model and makes an event of them. */
type Reader = (params: JsonValue) => OupEvent;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [METHOD_TURN_STARTED, by(MODELS.TurnStartedEvent, ({ timestamp }) => ({ type: "started", timestamp }))],
  [METHOD_TURN_STEER_DROPPED, by(MODELS.TurnSteerDroppedEvent, ({ inputs, reason }) => ({ type: "steer_dropped", inputs, reason }))],
  [METHOD_APPROVAL_REQUESTED, by(MODELS.ApprovalRequestedEvent, (request) => ({ type: "approval", request }))],
  [METHOD_APPROVAL_DECIDED, by(MODELS.ApprovalDecidedEvent, (decision) => ({ type: "approval_decided", decision }))],
  [METHOD_APPROVAL_AUTO_RESOLVED, by(MODELS.ApprovalAutoResolvedEvent, (decision) => ({ type: "approval_auto_resolved", decision }))],
  [METHOD_APPROVAL_CANCELLED, by(MODELS.ApprovalCancelledEvent, ({ approval_id, reason }) => ({ type: "approval_cancelled", approval_id, reason }))],
  [METHOD_USER_QUESTION_REQUESTED, by(MODELS.UserQuestionRequestedEvent, (request) => ({ type: "question", request }))],
  [METHOD_PLAN_UPDATED, by(MODELS.PlanUpdatedEvent, ({ plan }) => ({ type: "plan", plan }))],
  [METHOD_PROGRESS_UPDATED, by(MODELS.ProgressUpdatedEvent, ({ metadata }) => ({ type: "progress", metadata }))],
  [METHOD_WARNING, by(MODELS.WarningEvent, ({ code, message }) => ({ type: "warning", code, message }))],
]);

function by<T extends { readonly turn_id?: string | null }>(codec: Codec<T>, make: (params: T) => OupEvent): Reader {
  return (value) => {
    const params = codec.read(value);
    const { turn_id: turn } = params;
    return typeof turn === "string" ? { ...make(params), turn_id: turn } : make(params);
  };
}

/** A notification as an event. What is not known, or breaks its model, becomes `unknown`. */
export function fromNotification(method: string, params: JsonValue): OupEvent {
  try {
    return READERS.get(method)?.(params) ?? unknown(method, params);
  } catch (fault) {
    if (fault instanceof Violation) {
      return unknown(method, params);
    }
    throw fault;
  }
}

/** An event that this version does not know, with its turn where it names one. */
export function unknown(method: string, params: JsonValue): OupEvent {
  const turn = member(params, "turn_id");
  return { type: "unknown", method, params, ...(turn === undefined ? {} : { turn_id: turn }) };
}

/** A string member, or undefined. */
export function member(value: JsonValue, name: string): string | undefined {
  const found = isObject(value) ? value[name] : undefined;
  return typeof found === "string" ? found : undefined;
}

/** What of an envelope has to be there for it to have a place in a stream. */
export interface Facts {
  readonly thread: string;
  readonly turn: string;
  readonly seq: number;
  readonly cursor: Cursor | undefined;
  readonly event: OupEvent;
}

/** Reads an envelope. A payload that this version does not know becomes `unknown`; an end with an outcome that it does not know is an end. */
export function readEnvelope(method: string, params: JsonValue): Facts | undefined {
  const thread = member(params, "thread_id");
  const turn = member(params, "turn_id");
  if (!isObject(params) || thread === undefined || turn === undefined || typeof params["seq"] !== "number") {
    return undefined;
  }
  const cursor = readCursor(params["cursor"]);
  const place = { turn_id: turn, ...(cursor === undefined ? {} : { cursor }) };
  return { thread, turn, seq: params["seq"], cursor, event: { ...place, ...payloadEvent(method, params) } };
}

function payloadEvent(method: string, params: JsonObject): OupEvent {
  try {
    return fromPayload(MODELS.BareEnvelope.read(params).payload, member(params, "client_message_id"));
  } catch (fault) {
    if (!(fault instanceof Violation)) {
      throw fault;
    }
  }
  const payload = params["payload"];
  const data = isObject(payload) ? payload["data"] : undefined;
  const known = member(payload ?? null, "type");
  if (known === "turn_terminal") {
    const { error, token_usage: usage } = MODELS.TurnTerminalData.read({ ...strip(data ?? null), outcome: "errored" });
    return { type: "terminal", outcome: member(data ?? null, "outcome") ?? "unknown", ...(error === undefined ? {} : { error }), ...(usage === undefined ? {} : { token_usage: usage }) };
  }
  return { type: "unknown", method, params };
}

/** The members of an end that fit their models. */
function strip(data: JsonValue): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const [name, codec] of [["error", MODELS.TurnFailure], ["token_usage", MODELS.TokenUsage]] as const) {
    const value = isObject(data) ? data[name] : undefined;
    try {
      if (value !== undefined) {
        codec.read(value);
        kept[name] = value;
      }
    } catch (fault) {
      if (!(fault instanceof Violation)) {
        throw fault;
      }
    }
  }
  return kept;
}

/** A cursor, or undefined for what is none. */
export function readCursor(value: JsonValue | undefined): Cursor | undefined {
  return isObject(value) && typeof value["stream"] === "string" && typeof value["seq"] === "number" ? { stream: value["stream"], seq: value["seq"] } : undefined;
}
