/** Commands, hooks and what the host collects, on the feature wire. */

import type { ExtensionDefinition } from "octet-extension";
import { METHOD_RESOURCE_DISPOSE, METHOD_SHORTCUT_TRIGGER } from "octet-extension/feature-wire";
import type { MenuCollectResult } from "octet-extension/feature-wire";

import type { Seen } from "./seen.js";
import { PIXEL } from "./tools.js";

const CONTINUE = { action: "continue" } as const;

export function addCommands(extension: ExtensionDefinition): void {
  extension.command("echo", { description: "Showcase: echo." }, (_call, args) => {
    const text = args.join(" ");
    return { text, notifications: [{ level: "info", message: "echoed" }], context: [{ label: "echo", content: text }] };
  });
  extension.command("fail", { description: "Showcase: fail." }, () => {
    throw new Error("no luck");
  });
}

/** Adds the hooks of the API version. */
export function addHooks(extension: ExtensionDefinition): void {
  const { hooks, api } = extension;
  hooks.beforePrompt((_hook, { prompt }) =>
    prompt.includes("secret")
      ? { disposition: { action: "deny", reason: "no secrets" } }
      : { disposition: CONTINUE, context: [{ label: "hook", content: "seen" }] },
  );
  hooks.afterResponse(() => ({ notifications: [{ level: "info", message: "heard" }] }));
  hooks.beforeToolCall((_hook, { name }) => ({ disposition: name === "bash" ? { action: "deny", reason: "deletes files" } : CONTINUE }));
  hooks.afterToolCall(() => ({ disposition: CONTINUE }));
  if (api === "0.1") {
    return;
  }
  hooks.providerRetry((_hook, { kind }) => ({
    provider_retry: kind === "before_generation" ? "retry" : kind === "stream_start" ? { delay: { additional_delay_ms: 500 } } : "stop",
  }));
  hooks.beforePersistence((_hook, { run_id: run }) => ({ persistence_metadata: { value: { run }, public: true } }));
  hooks.postMutation((_hook, { state, affected_resources: resources }) => ({
    post_mutation: state === "committed" ? { action: "request_rescan", resource_ids: resources } : { action: "no_rescan" },
  }));
  if (api === "0.4") {
    addLatestHooks(extension);
  }
}

function addLatestHooks({ hooks }: ExtensionDefinition): void {
  hooks.modelTurnStart(() => ({ session_operation: CONTINUE }));
  hooks.modelTurnEnd(() => ({ session_operation: CONTINUE }));
  hooks.sessionBeforeCompact(() => ({ session_operation: CONTINUE }));
  hooks.sessionCompact(() => ({ session_operation: CONTINUE }));
  hooks.cacheWarmingDecision((_hook, { decision }) => ({ cache_warming_decision: decision.action === "warm" ? "stop" : null }));
  hooks.compactionStrategy(() => ({ compaction_frames: [PIXEL.base64] }));
  hooks.resourcesDiscover((_hook, { cwd }) => ({ resource_paths: { skill_paths: [`${cwd}/skills`] } }));
}

const MENU: MenuCollectResult = {
  title: "Showcase",
  items: [
    { id: "echo", label: "Echo", command: "echo", arguments: ["hi"], destructive: false, recommended: true },
    { id: "more", label: "More", items: [{ id: "fail", label: "Fail", command: "fail", arguments: [], destructive: true, recommended: false }] },
  ],
};

/** Adds what the host collects, and what the person types and presses. */
export function addCollectors(extension: ExtensionDefinition, seen: Seen): void {
  const { api } = extension;
  extension.context((_scope, prompt) => [{ label: "showcase", content: prompt ?? "none", placement: "system_suffix" }]);
  extension.status("status", () => ({ text: "ready", priority: 1 }));
  extension.status("header", () => null);
  extension.status("footer", () => {
    throw new Error("no footer");
  });
  extension.renderer("count", (_scope, { output }) => [{ text: output, style_role: null }]);
  if (api === "0.1") {
    return;
  }
  extension.menu(() => MENU);
  extension.shortcut("showcase:hello", { key: "ctrl+shift+h", description: "Say hello" }, () => {
    seen.note(METHOD_SHORTCUT_TRIGGER, { id: "showcase:hello" });
  });
  extension.autocomplete((_scope, { text, cursor }) => {
    const before = Buffer.from(text, "utf8").subarray(0, cursor).toString("utf8");
    if (before.endsWith("/ed") && api === "0.4") {
      return {
        prefix: "/ed",
        items: [{ value: "/edit(\n)", label: "/edit", description: null, replace_after_bytes: 1, cursor_offset_bytes: 6 }],
      };
    }
    return before.endsWith("/he") ? { prefix: "/he", items: [{ value: "/hello", label: "/hello", description: null }] } : { prefix: "", items: [] };
  });
  if (api === "0.4") {
    extension.interceptInput((_scope, data) => (data === "q" ? "" : data));
    extension.onDispose((_scope, request) => {
      seen.note(METHOD_RESOURCE_DISPOSE, request);
      return undefined;
    });
  }
}
