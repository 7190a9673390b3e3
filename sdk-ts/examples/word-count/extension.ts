import { setTimeout as sleep } from "node:timers/promises";

import { Extension, s, ToolError } from "octet-extension";

export const extension = new Extension();

extension.tool(
  "count_words",
  {
    description: "Counts the words, characters and lines of a text.",
    args: s.object({
      text: s.string("The text to count."),
      unique: s.boolean("Count each different word once.").default(false),
    }),
    output: s.object({ words: s.integer(), characters: s.integer(), lines: s.integer() }),
  },
  (_call, { text, unique }) => {
    const found = wordsOf(text);
    const words = unique ? new Set(found).size : found.length;
    return {
      text: `${String(words)} words`,
      structured: { words, characters: Array.from(text).length, lines: text.split("\n").length },
    };
  },
);

extension.tool(
  "count_slowly",
  {
    description: "Counts the words of a text one after the other and shows how far it is.",
    args: s.object({
      text: s.string("The text to count."),
      delay_ms: s.integer({ description: "Milliseconds to wait at each word.", minimum: 0, maximum: 10_000 }).default(100),
    }),
  },
  async (call, { text, delay_ms: delay }) => {
    const words = wordsOf(text);
    for (const [i, word] of words.entries()) {
      await sleep(delay, undefined, { signal: call.signal });
      await call.progress(word, { current: i + 1, total: words.length, unit: "words" });
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
