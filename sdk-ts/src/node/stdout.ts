/** Standard output belongs to the protocol: the SDK keeps it and sends everybody else to standard error. */

/** Writes bytes to standard output; the callback reports what became of them. */
export type Write = (bytes: Uint8Array, done: (error?: Error | null) => void) => boolean;

let reserved: Write | undefined;

/**
 * Takes standard output away from the process: from now on `console.log` and `process.stdout.write` end on
 * standard error. Returns the only way that still leads to standard output. The same one when called again.
 */
export function reserveStdout(): Write {
  if (reserved === undefined) {
    const { stdout, stderr } = process;
    const write = stdout.write.bind(stdout) as Write;
    stdout.write = stderr.write.bind(stderr);
    reserved = write;
  }
  return reserved;
}
