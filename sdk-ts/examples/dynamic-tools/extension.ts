import type { Tool } from "octet-extension";
import { defineTool, Extension, NotNegotiated, s, ToolError } from "octet-extension";

export const extension = new Extension({ uses: ["dynamic_tools"] });

const language = s.string({ description: "The language, in lower case.", pattern: "^[a-z]+$", maxLength: 32 });

extension.tool(
  "learn_greeting",
  { description: "Learns how people greet in a language, and adds a tool that does it.", args: s.object({ language, greeting: s.string("The greeting.") }) },
  async (call, { language, greeting }) => {
    const { revision } = await changed(() => call.dynamicTools.register(greetIn(language, greeting)));
    return `learnt ${language}, in catalog ${String(revision)}`;
  },
);

extension.tool("forget_greeting", { description: "Takes the tool of a language away.", args: s.object({ language }) }, async (call, { language }) => {
  const { tools } = await changed(() => call.dynamicTools.unregister(nameOf(language)));
  return `forgot ${language}, ${String(tools.length)} tools are left`;
});

function nameOf(language: string): string {
  return `greet_in_${language}`;
}

function greetIn(language: string, greeting: string): Tool {
  const spec = { description: `Greets a person in ${language}.`, args: s.object({ name: s.string() }) };
  return defineTool(nameOf(language), spec, (_call, { name }) => `${greeting} ${name}`);
}

/** A host that keeps its tools is no fault of ours: the model is told. */
async function changed<T>(change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (fault) {
    if (fault instanceof NotNegotiated) {
      throw new ToolError("this host does not let tools come and go", { cause: fault });
    }
    throw fault;
  }
}
