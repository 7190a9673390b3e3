/** An extension as a process. */

import { SHUTDOWN_REPLY_MS, WIRE_ENVIRONMENT } from "../_generated/feature-wire.js";
import { Connection } from "../connection.js";
import { LocalProtocolError } from "../errors.js";
import { ExtensionDefinition } from "../extension.js";
import { ProcessSink } from "./sink.js";
import { reserveStdin, reserveStdout } from "./stdout.js";

/** The variable in which a host names the API version it speaks. */
const API_VARIABLE: keyof typeof WIRE_ENVIRONMENT = "OCTET_EXTENSION_API_VERSION";

/** Exit status when the host speaks another API version than the extension. */
const WRONG_VERSION = 2;

/** How long calls may go on after standard input has ended. */
const DRAIN_MS = SHUTDOWN_REPLY_MS / 2;

let running = false;

/** Returns the API version the host announced in the environment. */
function announced(): string | undefined {
  return process.env[API_VARIABLE];
}

/** An extension that serves a host on standard input and output. */
export class Extension extends ExtensionDefinition {
  /**
   * Serves the host until it asks for shutdown, standard input ends, or the stream breaks; then exits the
   * process: with status 0 after an orderly end, 1 after a fault, 2 when the host announced another API
   * version. The promise resolves never. Call it once in a process; a second call throws LocalProtocolError.
   */
  run(): Promise<never> {
    if (running) {
      throw new LocalProtocolError("an extension is running in this process already: call run once");
    }
    running = true;
    reserveStdout();
    reserveStdin();
    const version = announced();
    if (version !== undefined && version !== this.api) {
      process.stderr.write(`octet-extension: the host speaks API ${JSON.stringify(version)}, this extension ${this.api}: set api_version = "${this.api}" in its extension.toml, or write it for the API of the host\n`);
      process.exit(WRONG_VERSION);
    }
    const sink: ProcessSink = new ProcessSink((reason) => {
      connection.abandon(reason);
    });
    const connection = new Connection(this.service(), sink);
    surviveStrayErrors(sink);
    read(connection, sink);
    return new Promise(() => undefined);
  }
}

/** An error outside every handler is the extension's, not the session's. */
function surviveStrayErrors(sink: ProcessSink): void {
  const report = (error: unknown): void => {
    sink.log(`error outside a call: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  };
  process.on("uncaughtException", report);
  process.on("unhandledRejection", report);
}

function read(connection: Connection, sink: ProcessSink): void {
  const stdin = reserveStdin();
  stdin.start((bytes) => {
    sink.gather(() => {
      connection.receive(bytes);
    });
    if (sink.busy) {
      stdin.pause();
      void sink.ready().then(() => {
        stdin.resume();
      });
    }
  });
  stdin.on("end", () => {
    connection.end();
    setTimeout(() => {
      connection.abandon("calls were still running when standard input had ended");
    }, DRAIN_MS);
  });
  stdin.on("error", (error: Error) => {
    connection.abandon(`standard input is gone: ${error.message}`);
  });
  stdin.on("close", () => {
    if (!stdin.ended) {
      connection.abandon("standard input is gone: this process closed it, which belongs to the SDK");
    }
  });
  process.on("beforeExit", () => {
    connection.abandon("nothing is read any more: leave standard input to the SDK");
  });
}

// Under a host nothing may reach standard output, not even what the extension prints while it is loading.
if (announced() !== undefined) {
  reserveStdout();
  reserveStdin();
}
