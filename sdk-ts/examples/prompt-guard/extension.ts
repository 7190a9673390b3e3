import { Extension } from "octet-extension";

export const extension = new Extension();

/** How often the guard stepped in, for each session on its own. */
const newCount = (): { denied: number } => ({ denied: 0 });

const KEY = /\bsk-[A-Za-z0-9]{16,}\b/u;
const DELETION = /\brm\s+-[a-z]*r/u;

extension.hooks.beforePrompt((hook, { prompt }) => {
  if (!KEY.test(prompt)) {
    return undefined;
  }
  hook.memory(newCount).denied++;
  return { disposition: { action: "deny", reason: "the prompt holds a key: take it out and send it again" } };
});

extension.hooks.beforeToolCall((hook, { name, arguments: args }) => {
  const { command } = args;
  if (name !== "bash" || typeof command !== "string" || !DELETION.test(command)) {
    return undefined;
  }
  hook.memory(newCount).denied++;
  return { disposition: { action: "deny", reason: "the command deletes a folder: delete single files by name" } };
});

extension.command("guard", { description: "Says how often the guard stepped in.", usage: "/guard" }, (call) => {
  const { denied } = call.memory(newCount);
  return denied === 0 ? "nothing was stopped" : `${String(denied)} stopped`;
});
