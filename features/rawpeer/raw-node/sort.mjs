#!/usr/bin/env node
// An extension of API 0.2 that speaks the wire by hand: events and closures, nothing but what Node brings.
import process from "node:process";

const LONGEST = 1 << 20;
const live = new Map(); // id as spelled -> how to answer
let ready = false;
let progress = false;
let leaving = false;

process.stdout.on("error", () => process.exit(1));
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const answer = (id, result) => write({ id, result });
const refuse = (id, code, message, data) => write({ id, error: { code, message, ...(data && { data }) } });
const said = (text, failed = false) => ({ content: [{ type: "text", text }], is_error: failed });

const empty = { type: "object", properties: {}, additionalProperties: false };
const catalog = [
  { name: "sort", description: "Sorts words.", parameters: { type: "object", properties: { words: { type: "array", items: { type: "string" } } }, required: ["words"] } },
  { name: "linger", description: "Waits until it is told to stop.", parameters: empty },
  { name: "flood", description: "Says a lot.", parameters: empty },
];

const tools = new Map([
  ["sort", (id, { words }, done) => {
    const good = Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === "string");
    write({ method: "notification", params: { message: good ? `sorting ${words.length} words` : "nothing to sort", level: "info" } });
    done(good ? said([...words].sort().join(" ")) : said("give some words", true));
  }],
  ["flood", (id, given, done) => done(said("word ".repeat(30_000)))],
  ["linger", (id, given, done) => {
    let sequence = 0;
    const tick = () => {
      if (progress && sequence < 3) {
        write({ method: "$/progress", params: { request_id: id, sequence: ++sequence, event: { type: "status", message: "waiting" } } });
      }
    };
    tick();
    const timer = setInterval(tick, 200);
    return () => clearInterval(timer);
  }],
]);

function call(id, params) {
  const name = params?.name;
  const given = params?.arguments;
  if (typeof name !== "string" || typeof given !== "object" || given === null || Array.isArray(given) || "catalog_revision" in params) {
    refuse(id, -32602, "a call has a name and an object of arguments");
    return;
  }
  const tool = tools.get(name);
  if (tool === undefined) {
    refuse(id, -32601, `no tool is called ${name.slice(0, 200)}`);
    return;
  }
  const key = JSON.stringify(id);
  let stop;
  live.set(key, (message) => {
    live.delete(key);
    stop?.();
    write({ id, ...message });
  });
  // Behind what stands in the same read, so that a cancellation finds the call.
  setImmediate(() => {
    if (live.has(key)) {
      stop = tool(id, given, (result) => live.get(key)?.({ result }));
    }
  });
}

function cancel(id, reason) {
  live.get(JSON.stringify(id))?.({ error: { code: -32800, message: "request cancelled", ...(reason !== undefined && { data: { reason } }) } });
}

function begin(id, params) {
  const offer = params?.protocol;
  if (params?.api_version !== "0.2" || offer === undefined) {
    refuse(id, -32000, "this extension speaks API 0.2");
    return false;
  }
  const known = ["request_cancellation", "content_parts", "request_progress"];
  const missing = offer.required_features.filter((name) => !known.includes(name));
  if (missing.length > 0) {
    refuse(id, -32000, "features are missing", { unsupported_features: missing });
    return false;
  }
  const features = [...offer.required_features, ...offer.optional_features.filter((name) => name === "request_progress")];
  progress = features.includes("request_progress");
  ready = true;
  answer(id, {
    api_version: "0.2",
    commands: [],
    tools: catalog,
    protocol: { version: offer.version, features, limits: { max_concurrent_requests: Math.min(8, offer.limits.max_concurrent_requests) } },
  });
  return true;
}

function leave(status) {
  leaving = true;
  process.stdout.write("", () => process.exit(status));
}

function serve(id, method, params) {
  if (live.has(JSON.stringify(id))) {
    refuse(id, -32600, "this id is in use");
  } else if (method === "initialize") {
    if (ready) {
      refuse(id, -32600, "initialized already");
    } else if (!begin(id, params)) {
      leave(3);
    }
  } else if (!ready) {
    refuse(id, -32600, "initialize comes first");
  } else if (method === "tool/call") {
    call(id, params);
  } else if (method === "shutdown") {
    for (const key of [...live.keys()]) {
      cancel(JSON.parse(key), "shutdown");
    }
    answer(id, {});
    leave(0);
  } else {
    refuse(id, -32601, `no method is called ${method.slice(0, 200)}`);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function take(bytes) {
  let message;
  try {
    const text = utf8.decode(bytes);
    if (text.trim() === "") {
      return;
    }
    message = JSON.parse(text);
  } catch {
    refuse(null, -32700, "parse error");
    return;
  }
  if (typeof message !== "object" || message === null || Array.isArray(message)) {
    refuse(null, -32600, "a message is an object");
    return;
  }
  const { id, method, params } = message;
  if (id === undefined) {
    if (method === "$/cancelRequest") {
      cancel(params?.id, params?.reason);
    }
  } else if (method === undefined && ("result" in message || "error" in message)) {
    return;
  } else if (message.jsonrpc !== "2.0" || typeof method !== "string") {
    refuse(id, -32600, "this is no request of JSON-RPC 2.0");
  } else {
    serve(id, method, params);
  }
}

let rest = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  for (let end = rest.indexOf(10); end >= 0 && end <= LONGEST && !leaving; end = rest.indexOf(10)) {
    const line = rest.subarray(0, end);
    rest = rest.subarray(end + 1);
    take(line);
  }
  const end = rest.indexOf(10);
  if ((end < 0 ? rest.length : end) > LONGEST) {
    leave(3);
  }
});
process.stdin.on("end", () => leave(0));
