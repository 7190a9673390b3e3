/** A link to a server that is a child process: one frame a line on its standard streams. */

import type { ChildProcessByStdio } from "node:child_process";
import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

import type { Clock } from "../environment.js";
import { systemClock } from "../environment.js";
import { Disconnected, reasonOf } from "../errors.js";
import type { Dial, Link, LinkEnd, LinkEvents } from "../link.js";
import type { ClientOptions } from "../options.js";
import { Lines } from "./lines.js";

/** How a server is started. */
export interface StdioOptions extends ClientOptions {
  readonly cwd?: string;
  /** The whole environment; that of this process unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Takes what the server writes to standard error; passed through unless given. */
  readonly stderr?: (text: string) => void;
  /** Time for the server to end by itself when its input has ended, and again when it was asked to. */
  readonly graceMs?: number;
}

const GRACE_MS = 5000;

/** Starts a process and carries frames to and from it. */
export function spawner([command, ...args]: readonly string[], options: StdioOptions): Dial {
  return (events) =>
    new Promise((resolve, reject) => {
      const { cwd, env, stderr } = options;
      if (command === undefined) {
        throw new TypeError("argv is empty: name the command of the server");
      }
      // In a group of its own, so that nothing of it is left when it has to be ended.
      const child = spawn(command, args, {
        stdio: ["pipe", "pipe", stderr === undefined ? "inherit" : "pipe"], detached: process.platform !== "win32",
        ...(cwd === undefined ? {} : { cwd }), ...(env === undefined ? {} : { env }),
      }) as ChildProcessByStdio<Writable, Readable, Readable | null>;
      child.stderr?.setEncoding("utf8").on("data", (text: string) => stderr?.(text));
      child.once("spawn", () => {
        resolve(new ProcessLink(child, command, events, options.graceMs ?? GRACE_MS, options.clock ?? systemClock));
      });
      child.once("error", (fault) => {
        reject(new Disconnected(`the server "${command}" cannot be started: ${fault.message}`));
      });
    });
}

class ProcessLink implements Link {
  readonly transport = "stdio";
  private readonly lines = new Lines();
  private readonly gone: Promise<void>;
  private over = false;
  private closing: Promise<void> | undefined;

  constructor(
    private readonly child: ChildProcessByStdio<Writable, Readable, Readable | null>,
    private readonly command: string,
    private readonly events: LinkEvents,
    private readonly graceMs: number,
    private readonly clock: Clock,
  ) {
    this.gone = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        const how = code === null ? `by ${String(signal)}` : `with status ${String(code)}`;
        this.finish({ reason: `the server "${this.command}" ended ${how}` });
        resolve();
      });
    });
    child.once("exit", () => {
      this.kill("SIGKILL"); // what the server left behind in its group, and holds its output
    });
    child.on("error", () => undefined); // told by the close
    child.stdin.on("error", () => undefined); // the same
    child.stdout.on("data", (chunk: Buffer) => {
      this.take(() => this.lines.push(chunk));
    });
    child.stdout.once("end", () => {
      this.take(() => [this.lines.rest()].filter((line) => line !== undefined));
    });
  }

  readonly pause = (): void => {
    this.child.stdout.pause();
  };

  readonly resume = (): void => {
    this.child.stdout.resume();
  };

  send(text: string): void {
    if (!this.over && this.child.stdin.writable) {
      this.child.stdin.write(`${text}\n`);
    }
  }

  close(): Promise<void> {
    this.over = true;
    this.closing ??= this.end();
    return this.closing;
  }

  private take(lines: () => Iterable<string>): void {
    if (this.over) {
      return;
    }
    try {
      for (const line of lines()) {
        this.events.frame(line);
      }
    } catch (fault) {
      this.finish({ reason: reasonOf(fault), ...(fault instanceof Error ? { fault } : {}) });
      void this.close();
    }
  }

  private finish(end: LinkEnd): void {
    if (!this.over) {
      this.over = true;
      this.events.ended(end);
    }
  }

  /** Ends the input, then asks, then insists. */
  private async end(): Promise<void> {
    const { child } = this;
    child.stdout.resume();
    child.stdin.end();
    const steps = (["SIGTERM", "SIGKILL"] as const).map((signal, at) =>
      this.clock.after(this.graceMs * (at + 1), () => {
        this.kill(signal);
      }),
    );
    await this.gone;
    for (const stop of steps) {
      stop();
    }
  }

  private kill(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    try {
      if (pid !== undefined) {
        process.kill(process.platform === "win32" ? pid : -pid, signal);
      }
    } catch {
      // nothing of it is left
    }
  }
}
