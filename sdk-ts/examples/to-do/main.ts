import { extension } from "./extension.js";

await extension.run();
