/** One extension that does a little of everything, the same in every language the SDK exists in. */

import process from "node:process";

import type { Api, ExtensionDefinition } from "octet-extension";
import { METHODS as CANONICAL_METHODS, VERSIONS as CANONICAL_VERSIONS } from "octet-extension/canonical-wire";
import { METHOD_SHORTCUT_TRIGGER, METHODS as FEATURE_METHODS, VERSIONS as FEATURE_VERSIONS } from "octet-extension/feature-wire";

import { addCollectors, addCommands, addHooks } from "./handlers.js";
import { addProvider } from "./provider.js";
import { Seen } from "./seen.js";
import { addFeatureTools, addTools } from "./tools.js";

const CURRENT: Api = "0.4";

/** The API version that the host announced in the environment; the current one where it did not. */
export function announcedApi(): Api {
  const announced = process.env["OCTET_EXTENSION_API_VERSION"] ?? CURRENT;
  const known: readonly Api[] = [...FEATURE_VERSIONS, ...CANONICAL_VERSIONS];
  const api = known.find((one) => one === announced);
  if (api === undefined) {
    throw new Error(`the host speaks API ${JSON.stringify(announced)}: use one of ${known.join(", ")}`);
  }
  return api;
}

/** Adds everything to an extension that its API version has. */
export function equip<E extends ExtensionDefinition>(extension: E): E {
  const seen = new Seen();
  addTools(extension, seen);
  addEvents(extension, seen);
  if (extension.api === CANONICAL_VERSIONS[0]) {
    addProvider(extension, seen);
  } else {
    addFeatureTools(extension);
    addCommands(extension);
    addHooks(extension);
    addCollectors(extension, seen);
  }
  return extension;
}

type Registration = (handler: (event: object) => void) => unknown;

/** Notes every event of the API version. A shortcut notes its own trigger. */
function addEvents(extension: ExtensionDefinition, seen: Seen): void {
  const registrations = extension.events as unknown as Readonly<Record<string, Registration>>;
  for (const { name, service, versions } of [...FEATURE_METHODS, ...CANONICAL_METHODS]) {
    const [noun, verb] = service?.split(".") ?? [];
    if (noun === "events" && verb !== undefined && versions.includes(extension.api) && name !== METHOD_SHORTCUT_TRIGGER) {
      registrations[camel(verb)]?.call(extension.events, (event) => {
        seen.note(name, event);
      });
    }
  }
}

function camel(verb: string): string {
  return verb.replaceAll(/_([a-z])/gu, (_all, letter: string) => letter.toUpperCase());
}
