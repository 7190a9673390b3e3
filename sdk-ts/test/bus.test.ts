/** The event bus: which binding a message carries, and which subscriptions are made again. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { BusTopicAvailable, BusTopicParams } from "../src/_generated/canonical-wire.js";
import { CAPABILITY_EVENT_BUS, METHOD_BUS_SUBSCRIBE, METHOD_BUS_UNSUBSCRIBE, METHOD_PROVIDERS_REGISTER, METHODS } from "../src/_generated/canonical-wire.js";
import type { JsonObject } from "../src/_generated/json.js";
import type { Method } from "../src/_generated/wire.js";
import { Bus } from "../src/bus.js";
import { NoParent } from "../src/errors.js";
import { ExtensionDefinition } from "../src/extension.js";
import { TestHost } from "../src/testing.js";

const TOPIC = "bus.other.news";
const SUBSCRIBE = row(METHOD_BUS_SUBSCRIBE);

function row(name: string): Method {
  const found = METHODS.find((method) => method.name === name);
  assert.ok(found);
  return found;
}

const binding = (id: string, revision: number) => ({ kind: "binding", binding_id: id, binding_revision: revision }) as const;

const available = (id: string, revision: number): BusTopicAvailable => ({
  kind: "topic_available", binding_id: id, topic: TOPIC, topic_revision: revision, publisher_instance_id: "i", process_generation: 1,
});

const pending = (id: string, revision: number): JsonObject => ({ state: "pending", binding_id: id, topic_revision: revision });

function subscribed(answer: JsonObject | undefined): Bus {
  const bus = new Bus();
  bus.heard(binding("b1", 1));
  bus.asked(SUBSCRIBE, bus.bind(SUBSCRIBE, { topic: TOPIC }))?.(answer);
  return bus;
}

test("a message carries the binding in force", () => {
  const bus = new Bus();
  assert.throws(() => bus.bind(SUBSCRIBE, { topic: TOPIC }), NoParent);
  assert.deepEqual(bus.heard(binding("b1", 1)), []);
  assert.deepEqual(bus.bind(SUBSCRIBE, { topic: TOPIC }), { topic: TOPIC, binding_id: "b1" });
  assert.deepEqual(bus.bind(SUBSCRIBE, { topic: TOPIC, binding_id: "b1" }), { topic: TOPIC, binding_id: "b1" });
  assert.throws(() => bus.bind(SUBSCRIBE, { topic: TOPIC, binding_id: "b0" }), NoParent);
  assert.deepEqual(bus.bind(row(METHOD_PROVIDERS_REGISTER), {}), {});
});

test("a new binding renews, an older one does not", () => {
  const bus = subscribed(pending("b1", 0));
  assert.deepEqual(bus.heard(binding("b0", 1)), []);
  assert.deepEqual(bus.heard(binding("b2", 2)), [TOPIC]);
});

test("news of a topic renew", () => {
  assert.deepEqual(subscribed(pending("b1", 3)).heard(available("b1", 4)), [TOPIC]);
  assert.deepEqual(subscribed(pending("b1", 4)).heard(available("b1", 4)), []);
  assert.deepEqual(subscribed(pending("b0", 9)).heard(available("b1", 4)), [TOPIC]);
  assert.deepEqual(subscribed(pending("b1", 3)).heard(available("b0", 4)), []);
});

test("what was refused or dropped is not renewed", () => {
  assert.deepEqual(subscribed(undefined).heard(binding("b2", 2)), []);
  const bus = subscribed(pending("b1", 0));
  bus.asked(row(METHOD_BUS_UNSUBSCRIBE), { topic: TOPIC, binding_id: "b1" });
  assert.deepEqual(bus.heard(binding("b2", 2)), []);
});

test("a notice that says nothing ends the bus", () => {
  const bus = subscribed(pending("b1", 0));
  bus.misunderstood();
  assert.deepEqual(bus.heard(binding("b2", 2)), []);
  assert.throws(() => bus.bind(SUBSCRIBE, { topic: TOPIC }), NoParent);
});

test("a session subscribes again, until a notice breaks its model", async () => {
  const extension = new ExtensionDefinition({ api: "0.3", uses: [CAPABILITY_EVENT_BUS] });
  extension.tool("listen", { description: "Listens." }, async (call) => {
    try {
      return (await call.services.bus.subscribe({ topic: TOPIC })).state;
    } catch (fault) {
      return fault instanceof NoParent ? "NoParent" : String(fault);
    }
  });
  const asked: unknown[] = [];
  const host = await TestHost.start(extension);
  host.on("bus.subscribe", (params) => {
    const { binding_id: id } = params as unknown as BusTopicParams;
    asked.push(id);
    return pending(id, 0);
  });
  assert.equal((await host.call("listen")).text, "NoParent");
  host.event("bus_lifecycle", { ...binding("b1", 1) });
  assert.equal((await host.call("listen")).text, "pending");
  host.event("bus_lifecycle", { ...binding("b2", 2) });
  assert.equal((await host.call("listen")).text, "pending");
  assert.deepEqual(asked, ["b1", "b2", "b2"]);
  host.notify("bus/lifecycle", { kind: "weather" });
  assert.equal((await host.call("listen")).text, "NoParent");
});
