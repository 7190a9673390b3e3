/** The tools. */

import type { ExtensionDefinition, JsonObject, SessionHandle, ToolCall } from "octet-extension";
import { defineTool, s, ToolError } from "octet-extension";
import { METHOD_NOTIFICATION } from "octet-extension/feature-wire";

import type { Seen } from "./seen.js";
import { told, use } from "./use.js";

/** A PNG of one grey pixel. */
export const PIXEL = {
  base64: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg==",
  bytes: 67,
  sha256: "e124007e0371a272f11e7fbc2414aff5a1095f3a46ad29771ea1bf3f8a5b07ca",
  type: "image/png",
} as const;

const SERVICE = s.object({ service: s.string(), with: s.json().optional() });
const NAME = s.object({ name: s.string() });

function about(name: string): string {
  return `Showcase: ${name}.`;
}

/** What only the latest version can be told of a tool. */
function latest<T extends object>(extension: ExtensionDefinition, extra: T): T | Record<string, never> {
  return extension.api === "0.4" ? extra : {};
}

/** Adds the tools that every API version has. */
export function addTools(extension: ExtensionDefinition, seen: Seen): void {
  const api = extension.api;
  extension.tool("use", { description: about("use"), args: SERVICE, ...latest(extension, { composition: { mode: "on", inline_budget: 1000 } }) }, (call, args) => use(call, args.service, args.with as JsonObject | undefined));
  extension.tool("child", { description: about("child"), args: SERVICE }, (call, args) => use(call, args.service, args.with as JsonObject | undefined));
  extension.tool("later", { description: about("later"), args: SERVICE }, (call, args) => {
    call.after(async (scope) => {
      const message = await use(scope, args.service, args.with as JsonObject | undefined).catch((fault: unknown) => (fault as Error).message);
      const notification = { level: "info", title: "later", message } as const;
      if (api === "0.3") {
        seen.note(METHOD_NOTIFICATION, notification);
      } else {
        await scope.services.notifications.show(notification);
      }
    });
    return "later";
  });
  extension.tool("wait", { description: about("wait") }, (call) => waitFor(call.signal));
  extension.tool("fail", { description: about("fail"), args: s.object({ message: s.string() }) }, (_call, { message }) => {
    throw new Error(message);
  });
  extension.tool("refuse", { description: about("refuse"), args: s.object({ message: s.string() }) }, (_call, { message }) => {
    throw new ToolError(message);
  });
  extension.tool("print", { description: about("print"), args: s.object({ text: s.string() }) }, (_call, { text }) => {
    console.log(text);
    return "printed";
  });
  extension.tool("big", { description: about("big"), args: s.object({ bytes: s.integer({ minimum: 0 }) }) }, (_call, { bytes }) => "x".repeat(bytes));
  extension.tool("remember", { description: about("remember"), ...latest(extension, { operation: { id: "remember", resource_inputs: [], resource_outputs: [] } }) }, (call) => {
    const counter = call.memory(newCounter);
    counter.value++;
    return String(counter.value);
  });
  extension.tool("seen", { description: about("seen") }, () => seen.take());
  addCount(extension);
}

function newCounter(): { value: number } {
  return { value: 0 };
}

function addCount(extension: ExtensionDefinition): void {
  const args = s.object({ word: s.string() });
  const letters = (word: string): number => Array.from(word).length;
  const text = (word: string): string => `${String(letters(word))} letters`;
  if (extension.api === "0.1") {
    extension.tool("count", { description: about("count"), args }, (_call, { word }) => text(word));
    return;
  }
  const output = s.object({ letters: s.integer() });
  extension.tool("count", { description: about("count"), args, output, ...latest(extension, { promptSnippet: "Count letters.", promptGuidelines: ["Prefer count to guessing."] }) }, (_call, { word }) => ({ text: text(word), structured: { letters: letters(word) } }));
}

/** Adds the tools of the feature wire. */
export function addFeatureTools(extension: ExtensionDefinition): void {
  extension.tool("report", { description: about("report") }, async (call) => {
    if (extension.api !== "0.1") {
      await call.progress("1 of 2", { current: 1, total: 2, unit: "files" });
      await call.output("done\n");
      await call.decorate("Indexing");
    }
    return "ok";
  });
  extension.tool("media", { description: about("media") }, (call) =>
    told(async () => {
      const { artifact_id } = await call.services.artifacts.publish({
        mime_type: PIXEL.type,
        size: PIXEL.bytes,
        sha256: PIXEL.sha256,
        data: { encoding: "base64", data: PIXEL.base64 },
      });
      return { text: "one pixel", media: [{ type: "image", artifact_id, mime_type: PIXEL.type, alt: "grey dot" }] };
    }),
  );
  extension.tool("learn", { description: about("learn"), args: NAME }, (call, { name }) => told(() => learn(call, name)));
  extension.tool("forget", { description: about("forget"), args: NAME }, (call, { name }) => told(async () => change(await call.dynamicTools.unregister(name))));
  addReady(extension);
}

async function learn(call: ToolCall, name: string): Promise<string> {
  const epoch = String(call.dynamicTools.revision + 1);
  return change(await call.dynamicTools.register(defineTool(name, { description: about(name) }, () => `${name} in epoch ${epoch}`)));
}

function change({ revision, tools }: { readonly revision: number; readonly tools: readonly string[] }): string {
  return `epoch ${String(revision)}: ${tools.join(", ")}`;
}

function addReady(extension: ExtensionDefinition): void {
  let kept: SessionHandle | undefined;
  extension.onReady((session) => {
    kept = session;
  });
  extension.tool("ready", { description: about("ready") }, () =>
    told(async () => {
      if (kept === undefined) {
        throw new ToolError("no session was kept: onReady has not run");
      }
      await kept.services.notifications.show({ level: "success", message: "ready" });
      return "shown";
    }),
  );
}

function waitFor(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) {
      end();
    }
    signal.addEventListener("abort", end, { once: true });
  });
}
