import { setTimeout as sleep } from "node:timers/promises";

import { Extension, s, ToolError } from "octet-extension";

export const extension = new Extension({ api: "0.3" });

extension.tool(
  "count_words",
  {
    description: "Counts the words of a text.",
    args: s.object({
      text: s.string("The text to count."),
      unique: s.boolean("Count each different word once.").default(false),
    }),
  },
  (_call, { text, unique }) => {
    const words = wordsOf(text);
    return `${String(unique ? new Set(words).size : words.length)} words`;
  },
);

extension.tool(
  "count_slowly",
  {
    description: "Counts the words of a text one after the other.",
    args: s.object({
      text: s.string("The text to count."),
      delay_ms: s.integer({ description: "Milliseconds to wait at each word.", minimum: 0, maximum: 10_000 }).default(100),
    }),
  },
  async (call, { text, delay_ms: delay }) => {
    const words = wordsOf(text);
    for (let i = 0; i < words.length; i++) {
      await sleep(delay, undefined, { signal: call.signal });
    }
    return `${String(words.length)} words`;
  },
);

function wordsOf(text: string): readonly string[] {
  const words = text.split(/\s+/u).filter((word) => word !== "");
  if (words.length === 0) {
    throw new ToolError("text is empty: pass at least one word");
  }
  return words;
}
