import { Extension } from "octet-extension";

export const extension = new Extension();

/** What is to be done, for each session on its own. */
const newList = (): string[] => [];

extension.command("to-do", { description: "Remembers what is to be done, or says it.", usage: "/to-do [TEXT]" }, (call, words) => {
  const list = call.memory(newList);
  if (words.length > 0) {
    list.push(words.join(" "));
  }
  return list.length === 0 ? "nothing to do" : list.map((item, i) => `${String(i + 1)}. ${item}`).join("\n");
});

// The model reads the list with every prompt.
extension.context((scope) => {
  const list = scope.memory(newList);
  return list.length === 0 ? [] : [{ label: "to do", content: `To do: ${list.join("; ")}`, placement: "system_suffix" }];
});

extension.menu(() => ({ title: "To do", items: [{ id: "show", label: "Show the list", command: "to-do" }] }));
