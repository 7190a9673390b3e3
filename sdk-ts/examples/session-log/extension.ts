import { Extension } from "octet-extension";

export const extension = new Extension({ api: "0.3" });

/** Most sessions that are remembered; the oldest goes first. */
const KEPT = 100;

const log = new Map<string, string>();

extension.onSessionStart(({ sessionId }) => {
  log.set(sessionId, "running");
  const oldest = log.size > KEPT ? log.keys().next().value : undefined;
  if (oldest !== undefined) {
    log.delete(oldest);
  }
});

extension.onSessionEnd(({ sessionId, outcome, durationMs }) => {
  log.set(sessionId, `${outcome} after ${String(durationMs)} ms`);
});

extension.tool("list_sessions", { description: "Lists the sessions since the extension started." }, () => {
  const lines = [...log].map(([session, state]) => `${session}: ${state}`);
  return lines.length === 0 ? "no session yet" : lines.join("\n");
});
