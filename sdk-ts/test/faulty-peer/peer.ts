/**
 * An extension on the SDK that is wrong in one way, which the referee must find under the rule it breaks.
 *
 *     peer.js --list       a JSON object for every fault: its name, the rule it breaks, the API version and a description
 *     peer.js NAME         plays the extension with a fault; `none` has none
 *
 * The SDK keeps most rules by itself, so a fault goes around it: it stands between the SDK and the pipes, holds a
 * descriptor of standard output from before the SDK took it away, or replaces a handler.
 */

import { openSync } from "node:fs";

const DIRECTORY = process.platform === "linux" ? "/proc/self/fd" : "/dev/fd";

/** Opens the pipe to the host again; where that cannot be done, the SDK leaves descriptor 1 where it is. */
function open(): number {
  try {
    return openSync(`${DIRECTORY}/1`, "a");
  } catch {
    return 1;
  }
}

// The SDK takes descriptor 1 away as soon as it is loaded.
const stdout = open();

const { FAULTS } = await import("./faults.js");
const { Peer } = await import("./tampering.js");

const wanted = process.argv[2] ?? "none";
if (wanted === "--list") {
  for (const { name, rule, doc } of FAULTS) {
    process.stdout.write(`${JSON.stringify({ name, rule, api: "0.4", doc })}\n`);
  }
} else {
  const peer = new Peer(stdout);
  const fault = FAULTS.find(({ name }) => name === wanted);
  if (fault === undefined && wanted !== "none") {
    process.stderr.write(`no fault is called ${JSON.stringify(wanted)}\n`);
    process.exit(1);
  }
  fault?.plant(peer);
  await peer.run();
}
