/** The directory that a migration reads, without the file system under it. */

import { LocalProtocolError } from "./errors.js";
import { Refusal } from "./refusal.js";

/**
 * The directory of another program's set-up. Paths are those of the wire: relative, with slashes, without dots. No
 * symbolic link is followed, also none that stays inside, and nothing can be written. What cannot be read rejects.
 */
export interface Source {
  /** What a path names; undefined where there is nothing. */
  kind(path: string): Promise<"file" | "directory" | "other" | undefined>;
  /** The content of a regular file of at most a frame; undefined where there is none. */
  readFile(path: string): Promise<Uint8Array | undefined>;
  /** The names in a directory, ascending; without a path those of the source root. */
  readDir(path?: string): Promise<readonly string[]>;
}

/** Opens source roots. */
export interface Sources {
  /** Rejects with a Refusal for what is no directory of its own. */
  open(root: string): Promise<Source>;
}

/** Where there is no file system. */
export const NO_SOURCES: Sources = {
  open: () => Promise.reject(badRoot("there is no file system here")),
};

/** The refusal of a source root. */
export function badRoot(reason: string): Refusal {
  return new Refusal("invalid_params", `source_root: ${reason}`, { pointer: "/source_root", reason });
}

/** Throws LocalProtocolError for a path that does not lead below a source root by itself, on any system. */
export function assertPath(path: string): void {
  if (/^[A-Za-z]:/u.test(path) || path.includes("\\") || path.includes("\0") || path.split("/").some((part) => part === "" || part === "." || part === "..")) {
    throw new LocalProtocolError(`${JSON.stringify(path.slice(0, 200))} is no path below the source root: write it relative and without dots`);
  }
}
