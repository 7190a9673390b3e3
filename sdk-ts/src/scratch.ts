/** Results that a host hands over as a file of the scratch directory (EXT04-NEST-004). */

import type { ScratchFile } from "./_generated/feature-wire.js";
import { MAX_JSON_DEPTH, METHOD_COMPOSITION_CALL, METHOD_COMPOSITION_CONTEXT, MODELS, WIRE_ENVIRONMENT } from "./_generated/feature-wire.js";
import type { JsonValue } from "./_generated/json.js";
import { decodeUtf8, isObject, JsonSyntaxError, readJson } from "./_generated/json.js";
import type { ViolationKind } from "./_generated/wire.js";
import { Violation } from "./_generated/wire.js";

/** The variable in which a host names the directory. */
export const SCRATCH_VARIABLE: keyof typeof WIRE_ENVIRONMENT = "OCTET_EXTENSION_SCRATCH";

/** The scratch directory of a process. */
export interface Scratch {
  /**
   * Returns the bytes of a file that are what its description says, and removes it in any case. Rejects with a
   * Violation that lies in the description.
   */
  take(file: ScratchFile): Promise<Uint8Array>;
  /** Removes a file. Never rejects. */
  discard(name: string): Promise<void>;
}

interface Filed {
  /** The member that describes the file. */
  readonly member: string;
  /** The member that the content becomes; undefined where the content is the whole result. */
  readonly value?: string;
}

const FILED: ReadonlyMap<string, Filed> = new Map<string, Filed>([
  [METHOD_COMPOSITION_CONTEXT, { member: "context_file" }],
  [METHOD_COMPOSITION_CALL, { member: "value_file", value: "value" }],
]);

/** Where there is no directory: in memory, or under a host that names none. */
export const NO_SCRATCH: Scratch = {
  take: () => Promise.reject(misfit("/path", `cannot be read, because ${SCRATCH_VARIABLE} names no directory: run under a host that sets it`)),
  discard: () => Promise.resolve(),
};

/** Returns how a description is broken by the file that it names. */
export function misfit(pointer: string, reason: string, violation: ViolationKind = "value"): Violation {
  return new Violation(violation, pointer, "", reason);
}

/** Whether something is a name that stands for an entry of a directory. */
export function isFlat(name: unknown): name is string {
  try {
    return typeof name === "string" && MODELS.FlatName.read(name) !== "." && name !== "..";
  } catch {
    return false;
  }
}

/** Whether a result of a method describes a file in place of its value. */
export function isFiled(method: string, result: JsonValue): boolean {
  const filed = FILED.get(method);
  return filed !== undefined && isObject(result) && Object.hasOwn(result, filed.member);
}

/**
 * Reads a result that is filed as if it stood in the line. Rejects with a Violation that tells nothing of the
 * content: one of the content lies where it would in a result that stood in the line.
 *
 * @param judge reads a result, and throws Violation
 */
export async function readFiled(method: string, result: JsonValue, scratch: Scratch, judge: (result: JsonValue) => unknown): Promise<unknown> {
  const { member, value } = FILED.get(method) ?? { member: "" };
  const described = isObject(result) ? result[member] : undefined;
  try {
    judge(result);
  } catch (fault) {
    const name = described !== undefined && isObject(described) ? described["path"] : undefined;
    if (isFlat(name)) {
      await scratch.discard(name);
    }
    throw fault;
  }
  const file = MODELS.ScratchFile.read(described ?? null);
  const content = await contentOf(file, `/${member}`, scratch, MAX_JSON_DEPTH - (value === undefined ? 0 : 1));
  if (value === undefined && isObject(content) && Object.hasOwn(content, member)) {
    throw misfit(`/${member}`, `${label(file)} refers to another file: the host must write the record itself`, "forbidden");
  }
  try {
    return judge(value === undefined ? content : { [value]: content });
  } catch (fault) {
    throw fault instanceof Violation ? misfit(fault.pointer, `${label(file)} breaks the model of the result there: the host must write what the model says`, fault.violation) : fault;
  }
}

async function contentOf(file: ScratchFile, at: string, scratch: Scratch, maxDepth: number): Promise<JsonValue> {
  try {
    if (!isFlat(file.path)) {
      throw misfit("/path", "is named outside the scratch directory: the host must give the name of a file in it", "pattern");
    }
    const text = textOf(await scratch.take(file));
    return readJson(text, { maxDepth });
  } catch (fault) {
    if (fault instanceof Violation) {
      throw misfit(`${at}${fault.pointer}`, `${label(file)} ${fault.reason}`, fault.violation);
    }
    throw fault instanceof JsonSyntaxError ? misfit(at, `${label(file)} is no strict JSON: the host must write one strict JSON value`) : fault;
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes);
  } catch {
    throw misfit("", "is not UTF-8: the host must write JSON in UTF-8");
  }
}

function label(file: ScratchFile): string {
  return `the file ${JSON.stringify(file.path)}`;
}
