/** An extension as a child process, driven line by line. */

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import type { JsonObject, JsonValue } from "../src/_generated/json.js";
import { writeJson } from "../src/_generated/json.js";

export interface ChildOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A running child. Everything it writes is kept. */
export class Child {
  readonly process: ChildProcessWithoutNullStreams;
  /** The lines of standard output so far. */
  readonly lines: string[] = [];
  /** Standard error so far. */
  stderr = "";
  /** The exit status, or the name of the signal. */
  readonly ended: Promise<number | string>;
  private readonly watchers: { readonly wants: (frame: JsonObject) => boolean; readonly found: (frame: JsonObject) => void }[] = [];

  constructor(command: string, args: readonly string[], options: ChildOptions = {}) {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("OCTET_") && !name.startsWith("NODE_")));
    this.process = spawn(command, args, { env: { ...env, ...options.env }, cwd: options.cwd });
    this.process.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    // A child that ended does not read any more.
    this.process.stdin.on("error", () => undefined);
    const reader = createInterface({ input: this.process.stdout });
    reader.on("line", (line) => {
      this.lines.push(line);
      const frame = JSON.parse(line) as JsonObject;
      for (const watcher of this.watchers.filter(({ wants }) => wants(frame))) {
        watcher.found(frame);
      }
    });
    this.ended = new Promise((resolve, reject) => {
      this.process.on("error", reject);
      this.process.on("close", (code, signal) => {
        resolve(code ?? signal ?? "unknown");
      });
    });
  }

  send(message: JsonValue): void {
    this.process.stdin.write(`${writeJson(message, 100)}\n`);
  }

  /** Returns the first frame that fits among those to come. Rejects when the child ends first. */
  frame(wants: (frame: JsonObject) => boolean): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      this.watchers.push({ wants, found: resolve });
      void this.ended.then((status) => {
        reject(new Error(`the child ended with ${String(status)}: ${this.stderr}`));
      });
    });
  }

  /** Sends a request and returns its answer. */
  ask(message: JsonObject): Promise<JsonObject> {
    const answer = this.frame((frame) => frame["id"] === message["id"]);
    this.send(message);
    return answer;
  }
}
