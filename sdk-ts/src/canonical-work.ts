/** The requests of a host on the canonical wire, each judged and handed to what the author registered. */

import * as wire from "./_generated/canonical-wire.js";
import type { JsonValue } from "./_generated/json.js";
import type { Codec } from "./_generated/wire.js";
import { encodeText } from "./canonical.js";
import type { Serving, Work } from "./dialect.js";
import { encodeLocal } from "./local.js";
import type { RequestContext } from "./owner.js";
import { looseContext } from "./owner.js";
import { Refusal } from "./refusal.js";
import type { RunningRequest } from "./running.js";

const models = wire.MODELS;

/** Encodes what must be canonical down to its opaque parts. */
export function encode<T>(codec: Codec<T>, value: T): string {
  encodeLocal(codec, value);
  return encodeText(value as JsonValue);
}

type Opener = (params: JsonValue, serving: Serving) => Work;

const OPENERS: ReadonlyMap<string, Opener> = new Map<string, Opener>([
  [wire.METHOD_HOOK_RUN, hook],
  [wire.METHOD_MIGRATION_DETECT, detect],
  [wire.METHOD_MIGRATION_IMPORT, importSetup],
  [wire.METHOD_PROVIDER_STREAM, stream],
]);

/** Judges any request but tool/call. Throws Violation or Refusal. */
export function openRequest(method: string, params: JsonValue | undefined, serving: Serving): Work {
  const opener = OPENERS.get(method);
  if (opener === undefined || serving.session.methods?.has(method) !== true) {
    throw new Refusal("unknown_method", `unknown method: ${method}`, { method });
  }
  return opener(params ?? null, serving);
}

/** A work whose failures are error answers. */
function work<T>(label: string, context: RequestContext, codec: Codec<T>, run: (scope: RunningRequest) => unknown): Work {
  return { label, name: label, context, run, encode: (value) => encode(codec, value as T), tooLargeIsFailure: false };
}

const CONTINUE: wire.SessionHookResult = { disposition: { kind: "continue" } };

function hook(params: JsonValue, { registry, session }: Serving): Work {
  const request = models.SessionHookParams.read(params);
  const { binding } = request.payload;
  const handler = registry.hooks.get(request.hook);
  const context = looseContext({ resource_owner: { ...binding } }, session.context.workspace);
  return {
    ...work(`hook ${JSON.stringify(request.hook)}`, context, models.SessionHookResult, async (scope) => (await handler?.(scope, request.payload as never)) ?? CONTINUE),
    name: request.hook,
  };
}

function detect(params: JsonValue, serving: Serving): Work {
  const { session } = serving;
  const request = models.MigrationDetectParams.read(params);
  return work("migration", session.context, models.MigrationDetectResult, (scope) => serving.migration?.detect(scope, request, serving));
}

function importSetup(params: JsonValue, serving: Serving): Work {
  const { session } = serving;
  const request = models.MigrationImportParams.read(params);
  return work("migration", session.context, models.MigrationImportResult, (scope) => serving.migration?.import(scope, request, serving));
}

function stream(params: JsonValue, { registry, session, streams }: Serving): Work {
  const request = models.ProviderStreamRequest.read(params);
  const { provider } = registry;
  return work(`stream ${JSON.stringify(request.stream_id)}`, session.context, models.ProviderStreamAccepted, async (scope) => {
    const reason = provider === undefined ? "no provider is registered" : await provider.refuse?.(scope, request);
    if (provider === undefined || reason !== undefined) {
      return { stream_id: request.stream_id, accepted: false, ...(reason === undefined ? {} : { reason }) };
    }
    scope.after((later) => streams.run(later, request, provider));
    return { stream_id: request.stream_id, accepted: true };
  });
}
