/**
 * What the caller needs to know of each subject: how it starts, what opens it, how a call is spelled.
 *
 * The caller is one program for every subject of every language: bench/caller, written in Go, with frames that are ready
 * before the clock runs, over pipes; node itself gives its children sockets. A client of a subject's own library would put
 * its own cost on top, a different one each time; and who calls an extension of ours is a host in Go anyway.
 */

import { fileURLToPath } from "node:url";

import { LATEST_PROTOCOL_VERSION } from "@modelcontextprotocol/sdk/types.js";

import * as canonical from "../../../sdk-ts/dist/src/_generated/canonical-wire.js";
import * as feature from "../../../sdk-ts/dist/src/_generated/feature-wire.js";
import { canonicalJson } from "../../../sdk-ts/dist/src/canonical.js";
import type { Api } from "../../../sdk-ts/dist/src/extension.js";
import { initializeParams } from "../../../sdk-ts/dist/src/testing/host-side.js";

const ID = "%ID%";
const TEXT = "%TEXT%";
const CURRENT: Api = "0.4";
const CANONICAL: Api = canonical.VERSIONS[0];

/** How one subject is measured; bench/caller/plan.go says what the members mean. */
export interface Plan {
  readonly case?: string;
  readonly command: readonly string[];
  readonly framing: "lines" | "headers";
  readonly opening?: readonly { readonly send: string; readonly answered?: boolean }[];
  readonly call?: string;
}

function server(name: string, ...args: string[]): string[] {
  return [process.execPath, fileURLToPath(new URL(name, import.meta.url)), ...args];
}

/** Writes a message. The caller puts a bare number in place of the word for the id, so its quotes go. */
function spell(message: object): string {
  return canonicalJson(message as never).replace(`"${ID}"`, ID);
}

function request(method: string, params: object, id: string | number): string {
  return spell({ jsonrpc: "2.0", id, method, params });
}

function octet(api: Api): Plan {
  const wire = api === CANONICAL ? canonical : feature;
  const context = { workspace: "/work", ...(api === CANONICAL ? {} : { execution_scope: null, host: {} }) };
  return {
    command: server("octet-server.js", api),
    framing: "lines",
    opening: [{ send: request(wire.METHOD_INITIALIZE, initializeParams(api, ["echo"], { features: [] }), 0), answered: true }],
    call: request(wire.METHOD_TOOL_CALL, { name: "echo", arguments: { text: TEXT }, context }, ID),
  };
}

function mcp(program: string): Plan {
  const hello = { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {}, clientInfo: { name: "bench", version: "1" } };
  return {
    command: server(program),
    framing: "lines",
    opening: [{ send: request("initialize", hello, 0), answered: true }, { send: spell({ jsonrpc: "2.0", method: "notifications/initialized" }) }],
    call: request("tools/call", { name: "echo", arguments: { text: TEXT } }, ID),
  };
}

function vscode(): Plan {
  return { command: server("vscode-server.js"), framing: "headers", call: request("bench/echo", { text: TEXT }, ID) };
}

/** How calls are measured, ours first. */
export const CALLS: ReadonlyMap<string, () => Plan> = new Map([
  ["octet-extension", () => octet(CURRENT)],
  [`octet-extension, API ${CANONICAL}`, () => octet(CANONICAL)],
  ["@modelcontextprotocol/sdk", () => mcp("mcp-server.js")],
  ["@modelcontextprotocol/sdk, low level", () => mcp("mcp-lowlevel-server.js")],
  ["vscode-jsonrpc", vscode],
  ["bare echo", () => ({ command: server("echo.js"), framing: "lines", call: request("echo", { text: TEXT }, ID) })],
]);

/** What a program of a few lines imports, ours first. */
const IMPORTS: ReadonlyMap<string, string> = new Map([
  ["octet-extension", new URL("../../../sdk-ts/dist/src/index.js", import.meta.url).href],
  ["@modelcontextprotocol/sdk", "@modelcontextprotocol/sdk/server/mcp.js"],
  ["vscode-jsonrpc", "vscode-jsonrpc/node"],
  ["Node alone", ""],
]);

/** Returns the ways a start of a subject is measured. */
export function startPlans(subject: string): Plan[] {
  const found: Plan[] = [];
  const imported = IMPORTS.get(subject);
  if (imported !== undefined) {
    const program = imported === "" ? "" : `import ${JSON.stringify(resolved(imported))}; process.exit()`;
    found.push({ case: "import", command: [process.execPath, "--input-type=module", "--eval", program], framing: "lines" });
  }
  const call = CALLS.get(subject);
  if (call !== undefined) {
    found.push({ ...call(), case: "first answer" });
  }
  return found;
}

/** A program given on the command line looks for packages from the working directory, which has none. */
function resolved(specifier: string): string {
  return specifier.startsWith("file:") ? specifier : import.meta.resolve(specifier);
}

/** Every subject whose start is measured. */
export const STARTS: readonly string[] = [...new Set([...IMPORTS.keys(), ...CALLS.keys()])];
