// Puts the page and the client side by side, so that a directory of files is all that a browser needs.
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const site = here("../../dist/examples/browser/");

for (const file of ["index.html", "page.css"]) cpSync(here(file), `${site}${file}`);

rmSync(`${site}octet-oup`, { recursive: true, force: true });
cpSync(here("../../dist/src"), `${site}octet-oup`, {
  recursive: true,
  filter: (path) => !/\/src\/(node|testee)\b|\.d\.ts$/u.test(path.replaceAll("\\", "/")),
});

// A browser resolves addresses, not names of packages.
const page = `${site}page.js`;
writeFileSync(page, readFileSync(page, "utf8").replaceAll('from "octet-oup"', 'from "./octet-oup/index.js"'));
