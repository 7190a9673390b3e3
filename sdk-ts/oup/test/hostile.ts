/** A server on standard streams that does what its first argument says. */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { DEFAULT_CAPABILITIES } from "../src/opened.js";

const [deed = ""] = process.argv.slice(2);

interface Asked {
  readonly id?: string;
  readonly method: string;
  readonly params: { readonly session_id?: string };
}

function text(frame: object): string {
  return `${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`;
}

function hello({ id }: Asked): string {
  return text({ id, result: { type: "server_hello", transport: "stdio", client_transport: "stdio", client: null, capabilities: { ...DEFAULT_CAPABILITIES, supported_features: [] } } });
}

const DEEDS: Readonly<Record<string, (asked: Asked) => void>> = {
  /** Everything in one write, with notifications between. */
  together: ({ id }) => {
    process.stdout.write(text({ method: "one", params: {} }) + text({ id, result: "done" }) + text({ method: "two", params: {} }));
  },
  /** One byte a write. */
  bytes: ({ id }) => {
    for (const byte of Buffer.from(text({ id, result: "dé" }))) {
      process.stdout.write(Buffer.from([byte]));
    }
  },
  large: ({ id }) => {
    process.stdout.write(text({ id, result: "x".repeat(2 ** 20) }));
  },
  noise: () => {
    process.stdout.write("starting up ...\n");
  },
  dies: () => {
    process.stderr.write("cannot go on\n");
    process.exit(7);
  },
  silent: () => undefined,
  /** A child of its own holds the output when it dies. */
  leaves: ({ id }) => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: ["ignore", "inherit", "ignore"] });
    process.stdout.write(text({ id, result: child.pid ?? 0 }), () => process.exit(3));
  },
  /** Does not end with its input, nor when it is asked to. */
  stubborn: ({ id }) => {
    process.stdout.write(text({ id, result: process.pid }));
  },
};

if (deed === "stubborn") {
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 1000);
}

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const asked = JSON.parse(line) as Asked;
  if (asked.method === "client_hello") {
    process.stdout.write(hello(asked));
  } else {
    DEEDS[deed]?.(asked);
  }
});
