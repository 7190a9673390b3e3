/** What only API 0.3 has: session hooks, a migration adapter, a model provider. */

import type { ExtensionDefinition, Source } from "octet-extension";
import type { MigrationDiagnostic } from "octet-extension/canonical-wire";
import { METHOD_HOOK_RUN } from "octet-extension/canonical-wire";

import type { Seen } from "./seen.js";

const CONTINUE = { disposition: { kind: "continue" } } as const;

/** What the showcase imports from. */
const SETTINGS = "settings.json";

/** Reads the settings and takes nothing over but what is wrong with them. */
async function diagnose(path: string, source: Source): Promise<readonly MigrationDiagnostic[]> {
  const content = await source.readFile(path).catch(() => undefined);
  if (content === undefined) {
    return [{ path, severity: "warning", reason: "the file cannot be read" }];
  }
  let settings: unknown;
  try {
    settings = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content));
  } catch {
    settings = undefined;
  }
  return typeof settings === "object" && settings !== null && !Array.isArray(settings) ? [] : [{ path, severity: "error", reason: "the file is no JSON object" }];
}

export function addProvider(extension: ExtensionDefinition, seen: Seen): void {
  extension.hooks.sessionStart((hook, payload) => {
    seen.note(METHOD_HOOK_RUN, { hook: hook.name, payload });
    return CONTINUE;
  });
  extension.hooks.sessionEnd((hook, payload) => {
    seen.note(METHOD_HOOK_RUN, { hook: hook.name, payload });
    return CONTINUE;
  });
  extension.migration({
    detect: async (_scope, _request, source) => {
      const detected = (await source.kind(SETTINGS).catch(() => undefined)) === "file";
      return { detected, config_paths: detected ? [SETTINGS] : [], diagnostics: [] };
    },
    import: async (_scope, { config_paths: paths }, source) => {
      const found = await Promise.all(paths.map((path) => diagnose(path, source)));
      return { models: [], skills: [], mcp_servers: [], diagnostics: found.flat() };
    },
  });
  extension.provider({
    stream: async (stream) => {
      await stream.event("started", {});
      await stream.event("text_delta", { text: "hello" });
      await stream.event("finished", {});
    },
  });
}
