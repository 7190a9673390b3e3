/** What only API 0.3 has: session hooks, a migration adapter, a model provider. */

import type { ExtensionDefinition } from "octet-extension";
import { METHOD_HOOK_RUN } from "octet-extension/canonical-wire";

import type { Seen } from "./seen.js";

const CONTINUE = { disposition: { kind: "continue" } } as const;

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
    detect: () => ({ detected: true, config_paths: ["settings.json"], diagnostics: [] }),
    import: () => ({ models: [], skills: [], mcp_servers: [], diagnostics: [] }),
  });
  extension.provider({
    stream: async (stream) => {
      await stream.event("started", {});
      await stream.event("text_delta", { text: "hello" });
      await stream.event("finished", {});
    },
  });
}
