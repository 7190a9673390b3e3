/** The subject: a tool that gives its text back, on the API version that the command line names. */

import type { Api } from "../../../sdk-ts/dist/src/extension.js";
import { Extension, s } from "../../../sdk-ts/dist/src/index.js";

const extension = new Extension({ api: process.argv[2] as Api });
extension.tool("echo", { description: "Gives the text back", args: s.object({ text: s.string() }) }, (_call, { text }) => text);
await extension.run();
