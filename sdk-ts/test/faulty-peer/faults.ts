/** The faults: one broken rule each. */

import { spawn } from "node:child_process";
import { isUtf8 } from "node:buffer";
import { writeSync } from "node:fs";

import type { Message, Peer } from "./tampering.js";
import { decoded, encoded, lines } from "./tampering.js";

const CANCEL = "$/cancelRequest";
const CALL = "tool/call";
const CANCELLED = -32800;

type Plant = (peer: Peer) => void;

/** One way to be wrong: how the peer differs, as the end of "a peer that ...". */
export interface Fault {
  readonly name: string;
  readonly rule: string;
  readonly doc: string;
  readonly plant: Plant;
}

function fault(name: string, rule: string, doc: string, plant: Plant): Fault {
  return { name, rule: `EXT04-${rule}`, doc, plant };
}

// What is written.

function respell(change: (line: Buffer) => Buffer): Plant {
  return (peer) => {
    peer.line = change;
  };
}

function replace(from: string, to: string): Plant {
  return respell((line) => Buffer.from(line.toString().replaceAll(from, to)));
}

function change(see: (message: Message, peer: Peer) => Message | undefined): Plant {
  return (peer) => {
    peer.message = (message) => see(message, peer);
  };
}

function changeResult(see: (result: Record<string, unknown>) => void): Plant {
  return change((message) => {
    if (message.result !== undefined && message.result !== null && "content" in message.result) {
      see(message.result);
    }
    return message;
  });
}

function changeError(code: number, see: (error: { code: number; data?: unknown }) => void): Plant {
  return change((message) => {
    if (message.error?.code === code) {
      see(message.error);
    }
    return message;
  });
}

/** Does something behind the answer to a method. */
function behind(method: string, act: (peer: Peer, asked: Message) => void): Plant {
  return (peer) => {
    peer.written = (asked) => {
      if (asked.method === method) {
        act(peer, asked);
      }
    };
  };
}

function markFirst(peer: Peer): void {
  let mark = "\ufeff";
  peer.line = (line) => {
    const marked = Buffer.concat([Buffer.from(mark), line]);
    mark = "";
    return marked;
  };
}

function latin1(line: Buffer): Buffer {
  const [head = "", ...tail] = line.toString().split("é");
  return Buffer.concat([Buffer.from(head), ...tail.flatMap((part) => [Buffer.from([0xe9]), Buffer.from(part)])]);
}

function unendedFarewell(peer: Peer): void {
  peer.line = (line) => (peer.leaving ? line.subarray(0, -1) : line);
}

// What is read.

function reading(see: (data: Buffer, peer: Peer) => Buffer): Plant {
  return (peer) => {
    peer.chunk = (data) => see(data, peer);
  };
}

function asking(see: (message: Message, peer: Peer) => boolean): Plant {
  return (peer) => {
    peer.request = (message) => see(message, peer);
  };
}

function leave(): never {
  process.exit(3);
}

function lineLimit(peer: Peer): void {
  let length = 0;
  peer.chunk = (data) => {
    length += data.length;
    if (length > 1 << 16) {
      leave();
    }
    if (data.includes("\n")) {
      length = 0;
    }
    return data;
  };
}

function answerBlankLines(data: Buffer, peer: Peer): Buffer {
  for (const line of lines(data)) {
    if (line.at(-1) === 0x0a && line.toString().trim() === "") {
      peer.error(null, -32700, "parse error");
    }
  }
  return data;
}

function splitAtSeparator(data: Buffer): Buffer {
  return Buffer.from(data.toString().replaceAll("\u2028", "\n"));
}

/** Acts at a line that is not JSON, which the SDK does not get to see. */
function malformed(act: () => void): Plant {
  return reading((data) => {
    const whole = data.at(-1) === 0x0a && lines(data).length === 1 && data.toString().trim() !== "";
    if (!whole || decoded(data) !== undefined) {
      return data;
    }
    act();
    return Buffer.alloc(0);
  });
}

function foldMembers(data: Buffer): Buffer {
  const messages = lines(data).map(decoded);
  if (data.at(-1) !== 0x0a || messages.includes(undefined)) {
    return data;
  }
  const folded = messages.map((message) => Object.fromEntries(Object.entries(message ?? {}).map(([name, value]) => [name.toLowerCase(), value])));
  return encoded(folded);
}

function anyVersion(peer: Peer): void {
  let asked: unknown;
  peer.chunk = (data) => {
    const message = decoded(data);
    if (message?.method !== "initialize" || message.params === undefined || asked !== undefined) {
      return data;
    }
    asked = message.params["api_version"];
    message.params["api_version"] = "0.4";
    return encoded([message]);
  };
  peer.message = (message) => {
    if (message.result !== undefined && message.result !== null && "api_version" in message.result) {
      message.result["api_version"] = asked;
    }
    return message;
  };
}

function dropUsedIds(peer: Peer): void {
  const running = new Set<string>();
  peer.request = (message) => {
    const id = JSON.stringify(message.id);
    if (message.method === undefined || !("id" in message)) {
      return true;
    }
    const used = running.has(id);
    running.add(id);
    return !used;
  };
  peer.written = (asked) => {
    running.delete(JSON.stringify(asked.id));
  };
}

function rememberCancel(peer: Peer): void {
  const named = new Set<string>();
  peer.request = (message) => {
    if (message.method === CANCEL) {
      named.add(JSON.stringify(message.params?.["id"]));
    } else if (message.method !== undefined && named.has(JSON.stringify(message.id))) {
      peer.error(message.id, CANCELLED, "request cancelled");
      return false;
    }
    return true;
  };
}

function dropCancelled(data: Buffer): Buffer {
  const messages = lines(data).map((line) => decoded(line) ?? {});
  const named = messages.filter(({ method }) => method === CANCEL).map(({ params }) => params?.["id"]);
  return messages.length < 2 || named.length === 0 ? data : encoded(messages.filter(({ method, id }) => method !== CALL || !named.includes(id)));
}

function cancelAll(data: Buffer, peer: Peer): Buffer {
  return data.includes(CANCEL) ? Buffer.concat([data, encoded(peer.calls.map(({ id }) => ({ jsonrpc: "2.0", method: CANCEL, params: { id } })))]) : data;
}

function hangAfterFailure(peer: Peer): void {
  let failed = false;
  peer.request = (message) => {
    const hangs = failed && message.method === CALL;
    failed ||= message.method === CALL && message.params?.["name"] === "fail";
    return !hangs;
  };
}

// What the process does.

/** Keeps the process. */
function stay(): void {
  Reflect.set(process, "exit", () => undefined);
  setInterval(() => undefined, 1000);
}

function runOn(peer: Peer): void {
  peer.ended = () => {
    stay();
    return false;
  };
}

function echoing(act: (peer: Peer) => void): Plant {
  return (peer) => {
    peer.echo = (text) => {
      act(peer);
      return text;
    };
  };
}

function leaveProcess(peer: Peer): void {
  spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000)"], { stdio: ["ignore", peer.stdout, "ignore"], detached: true }).unref();
}

export const FAULTS: readonly Fault[] = [
  fault("prints-in-stream", "FRAME-001", "prints to the descriptor of its output in a handler", echoing((peer) => writeSync(peer.stdout, "debug: echo was called\n"))),
  fault("byte-order-mark", "FRAME-001", "begins its output with a byte order mark", markFirst),
  fault("unended-farewell", "FRAME-002", "leaves out the line feed of its last frame", unendedFarewell),
  fault("latin-1", "FRAME-003", "writes in the encoding of its locale", respell(latin1)),
  fault("long-line", "FRAME-004", "answers with more than a line may hold", changeResult((result) => {
    result["content"] = [{ type: "text", text: "x".repeat(1 << 20) }];
  })),
  fault("dies-of-carriage-return", "FRAME-005", "dies of a CR before a line feed", reading((data) => (data.includes("}\r\n") ? leave() : data))),
  fault("answers-blank-lines", "FRAME-005", "answers a blank line with parse_error", reading(answerBlankLines)),
  fault("line-limit", "FRAME-006", "reads lines of at most 64 KiB, as line readers do unasked", lineLimit),
  fault("splits-at-separator", "FRAME-007", "takes U+2028 for the end of a line", reading(splitAtSeparator)),
  fault("decodes-reads", "FRAME-007", "decodes every read on its own and dies at half a character", reading((data) => (isUtf8(data) ? data : leave()))),
  fault("one-frame-a-read", "FRAME-007", "takes one frame from every read", reading((data) => lines(data)[0] ?? data)),
  fault("cr-lf", "FRAME-008", "ends its lines in CR LF", replace("\n", "\r\n")),
  fault("blank-lines", "FRAME-008", "writes a blank line behind every frame", replace("\n", "\n\n")),
  fault("blanks", "FRAME-009", "writes a blank behind every colon", replace('":', '": ')),
  fault("text-ids", "ENV-004", "answers under the text of an id", change((message, peer) => (peer.asked(message) === undefined ? message : { ...message, id: String(message.id) }))),
  fault("empty-method", "ENV-005", "takes an empty method name for a response", asking(({ method }) => method !== "")),
  fault("two-answers", "ENV-006", "answers every call twice", behind(CALL, (peer, { id }) => {
    peer.error(id, -32603, "internal error");
  })),
  fault("answers-notices", "ENV-007", "answers notifications that it does not know", asking((message, peer) => {
    if (message.method !== undefined && message.method !== CANCEL && !("id" in message)) {
      peer.error(null, -32600, "invalid request");
    }
    return true;
  })),
  fault("folded-members", "ENV-013", "does not tell the cases of members apart", reading(foldMembers)),
  fault("any-version", "INIT-004", "answers with whatever version was asked for", anyVersion),
  fault("content-as-text", "RESULT-001", "writes content as a string", changeResult((result) => {
    result["content"] = "octet";
  })),
  fault("no-flag", "RESULT-004", "leaves out a flag that is false", changeResult((result) => {
    delete result["is_error"];
  })),
  fault("says-initialized", "ORDER-005", "says that it is initialized, as clients of language servers do", behind("initialize", (peer) => {
    peer.say({ method: "initialized", params: {} });
  })),
  fault("drops-used-ids", "ORDER-004", "passes over a request under an id that is in flight", dropUsedIds),
  fault("progress-in-place", "PROG-003", "numbers every progress by one", change((message) => {
    if (message.method === "$/progress" && message.params !== undefined) {
      message.params["sequence"] = 1;
    }
    return message;
  })),
  fault("progress-behind-answer", "PROG-002", "reports progress behind the answer", behind(CALL, (peer, { id }) => {
    peer.say({ method: "$/progress", params: { request_id: id, sequence: 99, event: { type: "status", message: "done" } } });
  })),
  fault("silence-for-unknown", "ERR-001", "passes over requests of an unknown method", change((message) => (message.error?.code === -32601 ? undefined : message))),
  fault("dies-of-malformed", "ERR-003", "dies of a line that is not JSON", malformed(leave)),
  fault("silence-for-malformed", "ERR-003", "passes over a line that is not JSON", malformed(() => undefined)),
  fault("dies-of-a-byte", "ERR-003", "dies of one byte that is no UTF-8", reading((data) => (lines(data).every((line) => line.at(-1) !== 0x0a || isUtf8(line)) ? data : leave()))),
  fault("codes-of-the-web", "ERR-005", "uses codes of the web", changeError(-32601, (error) => {
    error.code = 404;
  })),
  fault("ignores-cancel", "CANCEL-001", "lets a cancelled call run on", asking(({ method }) => method !== CANCEL)),
  fault("cancelled-as-internal", "CANCEL-002", "answers a cancelled call with internal_error", changeError(CANCELLED, (error) => {
    error.code = -32603;
  })),
  fault("drops-cancelled", "CANCEL-003", "drops a call that the same read cancels", reading(dropCancelled)),
  fault("answers-stray-cancel", "CANCEL-004", "answers a cancellation of what does not run", asking((message, peer) => {
    const id = message.params?.["id"];
    if (message.method === CANCEL && !peer.live.has(JSON.stringify(id))) {
      peer.error(id, CANCELLED, "request cancelled");
    }
    return true;
  })),
  fault("remembers-cancel", "CANCEL-005", "remembers a cancellation of an id that was never sent", rememberCancel),
  fault("cancels-all", "CANCEL-006", "cancels every call that runs", reading(cancelAll)),
  fault("keeps-the-reason", "CANCEL-009", "does not repeat the reason of a cancellation", changeError(CANCELLED, (error) => {
    delete error.data;
  })),
  fault("few-calls", "LIMIT-001", "has room for two calls and drops the next", asking(({ method }, peer) => method !== CALL || peer.calls.length < 3)),
  fault("hangs-after-failure", "CALL-005", "answers no call behind one that failed", hangAfterFailure),
  fault("failure-as-success", "CALL-006", "does not say that a tool failed", (peer) => {
    peer.fail = () => "it failed";
  }),
  fault("silence-for-shutdown", "SHUT-001", "never answers shutdown", change((message, peer) => (peer.asked(message)?.method === "shutdown" ? undefined : message))),
  fault("null-farewell", "SHUT-002", "answers shutdown with null", change((message, peer) => (peer.asked(message)?.method === "shutdown" ? { ...message, result: null } : message))),
  fault("owes-calls", "SHUT-003", "leaves running calls unanswered at shutdown", change((message, peer) => (peer.leaving && message.error?.code === CANCELLED ? undefined : message))),
  fault("goodbye", "SHUT-004", "sends a notification behind its answer to shutdown", behind("shutdown", (peer) => {
    peer.say({ method: "notification", params: { message: "bye" } });
  })),
  fault("stays", "SHUT-005", "runs on behind its answer to shutdown", behind("shutdown", stay)),
  fault("runs-on-without-input", "PROC-001", "runs on when its input ends", runOn),
  fault("exits-in-call", "PROC-003", "exits in the middle of a call", echoing(() => process.exit(0))),
  fault("leaves-process", "PROC-004", "leaves a process behind that holds its output open", echoing(leaveProcess)),
];
