/** Words the session tests share: what to send, and what came back. */

import type { JsonObject, JsonValue } from "../src/_generated/json.js";
import { TestHost } from "../src/testing.js";
import type { HostOptions } from "../src/testing.js";
import { initializeParams } from "../src/testing/host-side.js";
import type { Api } from "../src/extension.js";
import { ExtensionDefinition } from "../src/extension.js";
import { s } from "../src/schema.js";

/** A promise and its two ends. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: Error) => void;
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: Error) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** An extension with a tool that answers at once and one that waits until it is released. */
export interface Fixture {
  readonly extension: ExtensionDefinition;
  /** Resolves when the waiting tool has been entered so many times. */
  readonly entered: (count: number) => Promise<void>;
  /** Lets every call of the waiting tool return. */
  readonly release: () => void;
  /** The signals of the waiting tool's calls. */
  readonly signals: readonly AbortSignal[];
}

export function fixture(api: Api): Fixture {
  const gate = deferred();
  const signals: AbortSignal[] = [];
  const arrivals: { readonly count: number; readonly here: () => void }[] = [];
  const extension = new ExtensionDefinition({ api });
  extension.tool("echo", { description: "Returns the text.", args: s.object({ text: s.string() }) }, (_call, { text }) => text);
  extension.tool("wait", { description: "Returns when it is released." }, async (call) => {
    signals.push(call.signal);
    for (const arrival of arrivals.filter(({ count }) => count === signals.length)) {
      arrival.here();
    }
    await gate.promise;
    return "released";
  });
  return {
    extension,
    signals,
    release: () => {
      gate.resolve();
    },
    entered: (count) =>
      new Promise((here) => {
        if (signals.length >= count) {
          here();
        } else {
          arrivals.push({ count, here });
        }
      }),
  };
}

export const CONTEXT: JsonObject = { workspace: "/w", execution_scope: null, host: {} };

/** The text of an initialize request. */
export function initializeRequest(api: Api, options: HostOptions = {}, change: (params: Record<string, JsonValue>) => void = () => undefined): JsonObject {
  const params = { ...initializeParams(api, ["echo", "wait"], options) };
  change(params);
  return { id: "init", jsonrpc: "2.0", method: "initialize", params };
}

export function callRequest(id: string | number, name: string, args: JsonValue = {}): JsonObject {
  return { id, jsonrpc: "2.0", method: "tool/call", params: { name, arguments: args, context: CONTEXT } };
}

/** Sends a frame and returns what came back before anything else could happen. */
export function sent(host: TestHost, message: JsonObject | string): readonly JsonObject[] {
  const before = host.frames.length;
  host.send(message);
  return host.frames.slice(before);
}

/** The code of the one error answer that a frame gets, and its id. */
export function refused(host: TestHost, message: JsonObject | string): { readonly id: JsonValue | undefined; readonly code: JsonValue | undefined } {
  const answers = sent(host, message);
  const error = answers[0]?.["error"] as JsonObject | undefined;
  if (answers.length !== 1 || error === undefined) {
    throw new Error(`want one error answer, got ${JSON.stringify(answers)}`);
  }
  return { id: answers[0]?.["id"], code: error["code"] };
}

/** Whether a frame answers this id. */
export function answers(id: string | number): (frame: JsonObject) => boolean {
  return (frame) => frame["id"] === id;
}
