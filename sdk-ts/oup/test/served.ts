/** The server itself, octet serve, in a home of its own and with a model that plays a file. */

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The host, which `make build` makes. OCTET names another. */
export const OCTET = process.env["OCTET"] ?? fileURLToPath(new URL("../../../../bin/octet", import.meta.url));

const SCRIPT = `
script: 1
name: played
context_window: 8000
steps:
  - when: {result_of: shell}
    text: Done with it.
    chunk: 4
    usage: {input: 100, output: 12}
    repeat: always
  - when: {user_contains: make it}
    reasoning: I need a shell.
    text: I make it.
    chunk: 3
    calls: [{name: shell, arguments: {command: echo made > made.txt}}]
    usage: {input: 900, output: 30}
    repeat: always
  - when: {result_of: ask_user}
    text: "They said \${result}."
    repeat: always
  - when: {user_contains: ask me}
    calls:
      - name: ask_user
        arguments:
          questions:
            - question: Which layout?
              options: [{label: Flat, description: one folder}, {label: Nested, description: by package}]
    repeat: always
  - when: {user_contains: talk long}
    text: la la la la la la la la la la la la la la la la la la la la la la la la la la la la la la la la la la la la
    chunk: 1
    pause: 250ms
    repeat: always
  - text: "You said: \${user}"
    chunk: 2
    repeat: always
`;

/** A folder with a workspace, a script and what the server keeps. */
export class Home {
  readonly folder = mkdtempSync(join(tmpdir(), "octet-oup-"));
  readonly work = join(this.folder, "work");
  /** Nothing of the person who runs the tests. */
  readonly env = { HOME: this.folder, PATH: process.env["PATH"] };
  private process: ChildProcess | undefined;
  private port = 0;

  constructor() {
    if (!existsSync(OCTET)) {
      throw new Error(`there is no ${OCTET}: run make build-go first, or name another one with OCTET`);
    }
    mkdirSync(this.work);
    writeFileSync(join(this.folder, "script.yaml"), SCRIPT);
  }

  /** The command of the server. */
  argv(...how: readonly string[]): readonly string[] {
    return [OCTET, "serve", ...how, "--model", `scripted:${join(this.folder, "script.yaml")}`, "--data-dir", join(this.folder, "data"), "--cwd", this.work];
  }

  /** Starts a server that listens, on the same port as the one before. */
  async listen(...how: readonly string[]): Promise<string> {
    const [command = "", ...args] = this.argv("--listen", `127.0.0.1:${String(this.port)}`, ...how);
    const child = spawn(command, args, { env: this.env, stdio: ["ignore", "ignore", "pipe"] });
    this.process = child;
    let said = "";
    for await (const line of createInterface({ input: child.stderr })) {
      said += `${line}\n`;
      const port = /octet serves at http:\/\/127\.0\.0\.1:(\d+)/u.exec(line)?.[1];
      if (port !== undefined) {
        child.stderr.resume();
        this.port = Number(port);
        return `ws://127.0.0.1:${port}`;
      }
    }
    throw new Error(`octet serve ended before it took connections:\n${said}`);
  }

  /** Ends the server: as a power cut does, or with a signal that it may take its time for. */
  async end(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
    const { process: child } = this;
    this.process = undefined;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await once(child, "exit");
    }
  }

  async clear(): Promise<void> {
    await this.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
