/** The scratch directory of the process. */

import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { lstat, open, unlink } from "node:fs/promises";
import { basename, join } from "node:path";

import type { ScratchFile } from "../_generated/feature-wire.js";
import type { Scratch } from "../scratch.js";
import { misfit, NO_SCRATCH, SCRATCH_VARIABLE } from "../scratch.js";

// Windows lacks some of the flags that the types promise.
const flags: Readonly<Partial<Record<string, number>>> = { ...constants };
const READ_ONE_FILE = constants.O_RDONLY | (flags["O_NOFOLLOW"] ?? 0) | (flags["O_NONBLOCK"] ?? 0);

/** Reads the files that the host leaves for the extension. Links are not followed. */
export const processScratch: Scratch = {
  take: async (file) => {
    const directory = process.env[SCRATCH_VARIABLE] ?? "";
    if (directory === "") {
      return NO_SCRATCH.take(file);
    }
    // On Windows a flat name may lead to another drive.
    if (basename(file.path) !== file.path) {
      throw misfit("/path", "is named outside the scratch directory: the host must give the name of a file in it", "pattern");
    }
    const path = join(directory, file.path);
    try {
      return await read(path, file);
    } finally {
      await remove(path);
    }
  },
  discard: async (name) => {
    const directory = process.env[SCRATCH_VARIABLE] ?? "";
    if (directory !== "" && basename(name) === name) {
      await remove(join(directory, name));
    }
  },
};

async function read(path: string, file: ScratchFile): Promise<Uint8Array> {
  const named = await lstat(path, { bigint: true }).catch((fault: unknown) => {
    throw (fault as NodeJS.ErrnoException).code === "ENOENT"
      ? misfit("/path", "is not in the scratch directory: the host must write it before it answers")
      : misfit("/path", "cannot be looked at: the host must let the extension read it");
  });
  if (!named.isFile()) {
    throw misfit("/path", "is no regular file: the host must write a file there, and no link");
  }
  const handle = await open(path, READ_ONE_FILE).catch(() => {
    throw misfit("/path", "cannot be opened: the host must let the extension read it");
  });
  try {
    return await readOpened(handle, named, file);
  } finally {
    await handle.close();
  }
}

async function readOpened(handle: FileHandle, named: BigIntStats, file: ScratchFile): Promise<Uint8Array> {
  const opened = await handle.stat({ bigint: true });
  // What has taken the place of the file since is another one.
  if (opened.dev !== named.dev || opened.ino !== named.ino) {
    throw misfit("/path", "was replaced while it was opened: the host must leave it alone once it has answered");
  }
  if (opened.size !== BigInt(file.bytes)) {
    throw misfit("/bytes", `has ${String(opened.size)} bytes and not ${String(file.bytes)}: the host must tell its exact size`);
  }
  const bytes = new Uint8Array(file.bytes);
  for (let at = 0; at < bytes.length;) {
    const { bytesRead } = await handle.read(bytes, at, bytes.length - at, at);
    if (bytesRead === 0) {
      throw misfit("/bytes", "ends before its size: the host must leave it alone once it has answered");
    }
    at += bytesRead;
  }
  if (createHash("sha256").update(bytes).digest("hex") !== file.sha256) {
    throw misfit("/sha256", "has another SHA-256 digest: the host must tell that of its content");
  }
  return bytes;
}

/** Removes a file or a link. A directory stays; what cannot be removed goes with the scratch directory. */
async function remove(path: string): Promise<void> {
  try {
    if (!(await lstat(path)).isDirectory()) {
      await unlink(path);
    }
  } catch {
    // It is gone, or its host removes it.
  }
}
