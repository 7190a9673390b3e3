/** The OpenRPC documents of the spec against the official meta-schema. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

import { Ajv } from "ajv";

const SPEC = new URL("../../../spec/", import.meta.url);

const load = createRequire(import.meta.url);
const { openrpcDocument: meta } = load("@open-rpc/meta-schema") as { openrpcDocument: Record<string, unknown> };
const { default: schemaMeta } = load("@json-schema-tools/meta-schema") as { default: Record<string, unknown> };

/** Compiles the official meta-schema. It names the one for JSON Schema it leans on with and without a final slash. */
function compile(): (document: unknown) => readonly string[] {
  const ajv = new Ajv({ strict: false, allErrors: true });
  ajv.addFormat("uri", (text) => URL.canParse(text));
  ajv.addFormat("uri-reference", (text) => URL.canParse(text, "https://example.com/"));
  ajv.addSchema(plain(schemaMeta));
  ajv.addSchema({ $ref: String(schemaMeta["$id"]) }, String(schemaMeta["$id"]).replace(/\/$/u, ""));
  const validate = ajv.compile(plain(meta));
  return (document) => {
    validate(document);
    return (validate.errors ?? []).map((error) => `${error.instancePath}: ${error.message ?? error.keyword}`);
  };
}

/** A meta-schema without the claim to be judged by itself. */
function plain(schema: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== "$schema"));
}

const judge = compile();
const folders = readdirSync(SPEC, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const documents = folders.flatMap((folder) =>
  readdirSync(new URL(`${folder.name}/`, SPEC))
    .filter((name) => name.endsWith("openrpc.json"))
    .map((name) => `${folder.name}/${name}`),
);

test("there is a document for each wire, and two for OUP", () => {
  for (const path of ["extension-canonical/openrpc.json", "extension-feature/openrpc.json", "oup/openrpc.json", "oup/services-openrpc.json"]) {
    assert.ok(documents.includes(path), path);
  }
});

for (const path of documents) {
  const document = JSON.parse(readFileSync(new URL(path, SPEC), "utf8")) as Record<string, unknown>;

  test(`${path} is an OpenRPC document`, () => {
    assert.deepEqual(judge(document), []);
  });

  test(`${path} would be refused with a fault in it`, () => {
    const [first, ...rest] = document["methods"] as readonly Record<string, unknown>[];
    assert.notDeepEqual(judge({ ...document, methods: [{ ...first, params: "none" }, ...rest] }), []);
    assert.notDeepEqual(judge({ ...document, methods: [{ ...first, stray: 1 }, ...rest] }), []);
    assert.notDeepEqual(judge({ ...document, info: undefined, openrpc: "9.9.9" }), []);
  });
}
