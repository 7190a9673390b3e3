import { Extension } from "octet-extension";

import { announcedApi, equip } from "./showcase.js";

await equip(new Extension({ api: announcedApi(), uses: "all", runtimeCommands: true })).run();
