/** The host in memory refuses what a real host would refuse. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Service } from "../src/connection.js";
import type { Dialect } from "../src/dialect.js";
import { LocalProtocolError } from "../src/errors.js";
import { ExtensionDefinition } from "../src/extension.js";
import { TestHost } from "../src/testing.js";

/** An extension that breaks the wire where its dialect is replaced. */
class Faulty extends ExtensionDefinition {
  constructor(private readonly faults: Partial<Dialect>) {
    super();
    this.tool("one", { description: "Reports and returns." }, async (call) => {
      await call.progress("working");
      return "done";
    });
  }

  override service(): Service {
    const service = super.service();
    const dialect = Object.assign(Object.create(service.dialect) as Dialect, this.faults);
    return { ...service, dialect };
  }
}

function initializedWith(protocol: object): Partial<Dialect> {
  const sound = new ExtensionDefinition().service().dialect;
  return {
    initialize: (params, registry) => ({
      ...sound.initialize(params, registry),
      result: JSON.stringify({ api_version: "0.4", commands: [], tools: [], protocol }),
    }),
  };
}

test("an initialize result that breaks the offer is refused", async () => {
  const features = ["request_cancellation", "content_parts", "time_travel"];
  const limits = { max_concurrent_requests: 1 };
  await assert.rejects(TestHost.start(new Faulty(initializedWith({ version: "0.4", features, limits }))), LocalProtocolError);
  await assert.rejects(TestHost.start(new Faulty(initializedWith({ version: "0.4", features }))), { name: "Violation", pointer: "/protocol/limits" });
});

for (const [what, faults, reason] of [
  ["a frame that is no JSON", { result: () => "nonsense" }, /value expected/u],
  ["a result that breaks its model", { result: () => '{"content":[],"is_error":false}' }, /"\/content" must have at least 1 items/u],
  ["a message that is no JSON-RPC message", { result: () => '1,"error":{}' }, /no JSON-RPC message/u],
  ["progress for a call that is not running", { progress: () => '{"event":{"message":"","type":"status"},"request_id":99,"sequence":1}' }, /99, which is not running/u],
  ["progress that breaks its model", { progress: (id) => `{"event":{"message":"","type":"status"},"request_id":${JSON.stringify(id)},"sequence":-1}` }, /"\/sequence" must be at least 0/u],
] as readonly [string, Partial<Dialect>, RegExp][]) {
  test(`${what} rejects the call`, async () => {
    const host = await TestHost.start(new Faulty(faults));
    await assert.rejects(host.call("one"), reason);
  });
}

test("after a broken frame nothing is sent any more", async () => {
  const host = await TestHost.start(new Faulty({ result: () => "nonsense" }));
  await assert.rejects(host.call("one"), /value expected/u);
  await assert.rejects(host.call("one"), /value expected/u);
});

test("the end of the session rejects what is open, with the reason logged last", async () => {
  const host = TestHost.connect(new ExtensionDefinition({ api: "0.3" }));
  const answer = host.request("no/such", {});
  await assert.rejects(answer, { name: "ErrorAnswer" });
  await assert.rejects(host.request("shutdown", {}), /the session ended with status 1: refused "no\/such"/u);
});
