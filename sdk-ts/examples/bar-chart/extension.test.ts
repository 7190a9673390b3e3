import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { inflateSync } from "node:zlib";

import type { ArtifactPublishParams } from "octet-extension/feature-wire";
import { ErrorAnswer, TestHost } from "octet-extension/testing";

import { extension } from "./extension.js";

test("the chart is published as an image and shown beside the numbers", async () => {
  const host = await TestHost.start(extension);
  let png = Buffer.alloc(0);
  host.on("artifacts.publish", (params) => {
    const { data, size, sha256, mime_type: type } = params as unknown as ArtifactPublishParams;
    png = Buffer.from(data?.data ?? "", "base64");
    assert.deepEqual([size, sha256, type], [png.length, createHash("sha256").update(png).digest("hex"), "image/png"]);
    return { artifact_id: "art-1" };
  });
  const result = await host.call("bar_chart", { values: [1, 2] });
  assert.equal(result.text, "bars: 1, 2");
  assert.match(JSON.stringify(host.frames.at(-1)), /\{"alt":"bars: 1, 2","artifact_id":"art-1","mime_type":"image\/png","type":"image"\}/u);
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [16, 64]);
  const pixels = inflateSync(png.subarray(41, 41 + png.readUInt32BE(33)));
  const row = (y: number): readonly number[] => [...pixels.subarray(y * 17 + 1, y * 17 + 17)];
  assert.deepEqual(row(0), [...Array<number>(8).fill(255), ...Array<number>(7).fill(48), 255]);
  assert.deepEqual(row(63), [...Array<number>(7).fill(48), 255, ...Array<number>(7).fill(48), 255]);
});

test("a host without artifacts gets the numbers; one that refuses fails the call of the tool", async () => {
  const plain = await TestHost.start(extension, { features: [] });
  assert.equal((await plain.call("bar_chart", { values: [0] })).text, "bars: 0");
  const refusing = await TestHost.start(extension);
  refusing.on("artifacts.publish", () => {
    throw new ErrorAnswer(-32002, "no session");
  });
  assert.equal((await refusing.call("bar_chart", { values: [1] })).isError, true);
});
