/** What node itself costs: every line goes back as it came. */

process.stdin.on("data", (chunk: Buffer) => {
  process.stdout.write(chunk);
});
