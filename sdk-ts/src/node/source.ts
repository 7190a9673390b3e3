/** Source roots in the file system. */

import type { BigIntStats } from "node:fs";
import { constants } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { isAbsolute, join } from "node:path";

import { MAX_FRAME_BYTES } from "../_generated/canonical-wire.js";
import { LocalProtocolError } from "../errors.js";
import type { Source, Sources } from "../source.js";
import { assertPath, badRoot } from "../source.js";

// Windows lacks some of the flags that the types promise.
const flags: Readonly<Partial<Record<string, number>>> = { ...constants };
const READ_ONE_FILE = constants.O_RDONLY | (flags["O_NOFOLLOW"] ?? 0) | (flags["O_NONBLOCK"] ?? 0);

/** Opens source roots of this machine. */
export const fileSources: Sources = {
  open: async (root) => {
    if (!isAbsolute(root) || root.includes("\0")) {
      throw badRoot("the path is not absolute");
    }
    const found = await look(root).catch(() => undefined);
    if (found?.isDirectory() !== true) {
      throw badRoot(found === undefined ? "there is nothing that can be read" : "it is no directory; a symbolic link to one is not followed");
    }
    return new Directory(root);
  },
};

class Directory implements Source {
  constructor(private readonly root: string) {}

  async kind(path: string): Promise<"file" | "directory" | "other" | undefined> {
    const found = await this.find(path);
    if (found === undefined) {
      return undefined;
    }
    return found.isFile() ? "file" : found.isDirectory() ? "directory" : "other";
  }

  async readFile(path: string): Promise<Uint8Array | undefined> {
    const named = await this.find(path);
    if (named === undefined) {
      return undefined;
    }
    if (!named.isFile()) {
      throw new LocalProtocolError(`${JSON.stringify(path)} is no regular file`);
    }
    const handle = await open(join(this.root, path), READ_ONE_FILE);
    try {
      const opened = await handle.stat({ bigint: true });
      // What has taken the place of the file since is another one.
      if (opened.dev !== named.dev || opened.ino !== named.ino) {
        throw new LocalProtocolError(`${JSON.stringify(path)} was replaced while it was opened`);
      }
      if (opened.size > BigInt(MAX_FRAME_BYTES)) {
        throw new LocalProtocolError(`${JSON.stringify(path)} has more than ${String(MAX_FRAME_BYTES)} bytes`);
      }
      const bytes = new Uint8Array(Number(opened.size));
      let end = 0;
      for (let got = -1; end < bytes.length && got !== 0; end += got) {
        ({ bytesRead: got } = await handle.read(bytes, end, bytes.length - end, end));
      }
      return bytes.subarray(0, end);
    } finally {
      await handle.close();
    }
  }

  async readDir(path?: string): Promise<readonly string[]> {
    if (path !== undefined && (await this.kind(path)) !== "directory") {
      throw new LocalProtocolError(`${JSON.stringify(path)} is no directory`);
    }
    return (await readdir(join(this.root, path ?? "."))).sort();
  }

  /** Describes what a path names. Rejects where a link stands in the way. */
  private async find(path: string): Promise<BigIntStats | undefined> {
    assertPath(path);
    let at = this.root;
    let found = await look(at);
    if (found?.isDirectory() !== true) {
      throw new LocalProtocolError("the source root was replaced");
    }
    for (const name of path.split("/")) {
      at = join(at, name);
      found = await look(at);
      if (found?.isSymbolicLink() === true) {
        throw new LocalProtocolError(`${JSON.stringify(path)} leads over a symbolic link, which is not followed`);
      }
    }
    return found;
  }
}

/** Describes one entry; undefined where there is none. */
async function look(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") {
      return undefined;
    }
    throw fault;
  }
}
