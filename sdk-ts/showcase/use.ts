/** Services called by name, and what came of it as text. */

import type { JsonObject, Scope } from "octet-extension";
import { CancelledError, canonicalJson, HostError, InvalidParams, NoParent, NotNegotiated, RemoteProtocolError, ToolError, Violation } from "octet-extension";

/** Calls a service and returns its result as canonical JSON. Throws ToolError with what went wrong. */
export async function use(scope: Scope, service: string, params: JsonObject = {}): Promise<string> {
  return told(async () => canonicalJson((await scope.services.invoke(service, params)) ?? {}));
}

/** Turns what a service throws into a failure that says it in one line. */
export async function told<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (fault) {
    throw new ToolError(faultText(fault), { cause: fault });
  }
}

function faultText(fault: unknown): string {
  if (fault instanceof HostError) {
    return `HostError ${String(fault.code)} ${fault.text}`;
  }
  if (fault instanceof NotNegotiated) {
    return `NotNegotiated ${fault.method ?? ""}`;
  }
  if (fault instanceof NoParent) {
    return `NoParent ${fault.method}`;
  }
  if (fault instanceof RemoteProtocolError && fault.cause instanceof Violation) {
    return `Malformed ${fault.cause.pointer} ${fault.cause.violation}`;
  }
  if (fault instanceof InvalidParams) {
    return `Invalid ${fault.pointer} ${fault.violation}`;
  }
  return fault instanceof CancelledError ? "Cancelled" : fault instanceof Error ? fault.message : String(fault);
}
