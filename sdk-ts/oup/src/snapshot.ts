/** What a client reads of a snapshot of a session, without counting on more of it than it needs. */

import type { JsonValue } from "./_generated/json.js";
import { isObject } from "./_generated/json.js";
import type { SessionHydrateResult } from "./_generated/oup-wire.js";
import { METHOD_PROJECTION_ENVELOPE } from "./_generated/oup-wire.js";
import type { Facts, OupEvent } from "./events.js";
import { member, readEnvelope } from "./events.js";

/** The envelopes of a snapshot; one of them may stand in several lists. */
export function envelopesOf(snapshot: SessionHydrateResult | undefined): readonly JsonValue[] {
  if (snapshot === undefined) {
    return [];
  }
  const { replayed_projection_envelopes: all, projection_envelopes: same, projection_snapshot: whole, replayed_envelopes: children, replayed_tool_envelopes: tools } = snapshot;
  return [all, same, whole?.envelopes, children, tools].flatMap((list) => (Array.isArray(list) ? (list as JsonValue[]) : []));
}

/**
 * The events that a snapshot holds, in the order in which they happened: what a page draws a session from when it
 * starts, and behind a gap. Needs the feature projection.envelope.v2.
 */
export function eventsOf(snapshot: SessionHydrateResult): readonly OupEvent[] {
  const place = ({ cursor }: Facts): number => cursor?.seq ?? 0;
  return [...byStream(envelopesOf(snapshot))].sort((a, b) => place(a) - place(b)).map(({ event }) => event);
}

/** Envelopes in the order of their streams, none twice. */
export function byStream(envelopes: readonly JsonValue[]): readonly Facts[] {
  const facts = new Map<string, Facts>();
  for (const envelope of envelopes) {
    const read = readEnvelope(METHOD_PROJECTION_ENVELOPE, envelope);
    if (read !== undefined) {
      facts.set(`${String(read.seq)} ${read.thread}`, read);
    }
  }
  return [...facts.values()].sort((a, b) => (a.thread === b.thread ? a.seq - b.seq : a.thread < b.thread ? -1 : 1));
}

/** How the turns of a snapshot stand. */
export function turnStates(snapshot: SessionHydrateResult | undefined): ReadonlyMap<string, string> {
  const turns: unknown = snapshot?.turns;
  const rows = Array.isArray(turns) ? (turns as JsonValue[]) : [];
  return new Map(rows.filter(isObject).map((row) => [member(row, "turn_id") ?? "", member(row, "state") ?? "unknown"]));
}
