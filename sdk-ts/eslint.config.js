import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "node_modules/", "oup/dist/"] },
  js.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "no-restricted-syntax": ["error", { selector: "ExportDefaultDeclaration", message: "export by name" }],
      // node:test returns a promise from test() that the runner itself waits for.
      "@typescript-eslint/no-floating-promises": [
        "error",
        { allowForKnownSafeCalls: [{ from: "package", name: ["test", "describe", "it", "suite"], package: "node:test" }] },
      ],
    },
  },
  {
    // The core knows no environment: only src/node, what stands beside it for OUP, the commands and the tests may touch it.
    files: ["src/**/*.ts", "oup/src/**/*.ts"],
    ignores: ["src/node/**", "src/testee/**", "src/testee.ts", "src/index.ts", "oup/src/environment.ts", "oup/src/node/**", "oup/src/testee/**", "oup/src/testee.ts"],
    rules: {
      "no-restricted-imports": ["error", { patterns: [{ group: ["node:*", "./node/*", "../node/*"], message: "the core touches no environment" }] }],
      "no-restricted-globals": ["error", "process", "Buffer", "console", "setTimeout", "setInterval", "setImmediate", "globalThis"],
    },
  },
  {
    // What is generated is held by tsc and by its vectors: rules that ask for the type of every expression need two minutes
    // for it. The spec's identifier classes exclude control characters by naming them.
    files: ["src/_generated/**", "oup/src/_generated/**"],
    extends: [tseslint.configs.disableTypeChecked],
    rules: { "no-control-regex": "off" },
  },
  {
    files: ["**/*.mjs", "**/*.js"],
    languageOptions: { globals: { process: "readonly", console: "readonly", URL: "readonly" } },
  },
);
