/** What holds a migration adapter to its source root. */

import * as wire from "./_generated/canonical-wire.js";
import type { Serving } from "./dialect.js";
import { LocalProtocolError } from "./errors.js";
import { encodeLocal } from "./local.js";
import { Refusal } from "./refusal.js";
import type { MigrationAdapter } from "./registry.js";
import type { Scope } from "./scope.js";
import type { Source } from "./source.js";
import { assertPath } from "./source.js";

const models = wire.MODELS;

/** Most that is remembered of detections. */
const MOST_DETECTED = 32 * wire.MAX_MIGRATION_ITEMS;

/** One migration of a session: its adapter, and what detections have reported so far. */
export class Migration {
  private readonly detected = new Set<string>();

  constructor(private readonly adapter: MigrationAdapter) {}

  /** Runs the author's detection. Throws Refusal for the root, LocalProtocolError for an answer that is not sound. */
  async detect(scope: Scope, request: wire.MigrationDetectParams, { sources }: Serving): Promise<wire.MigrationDetectResult> {
    return this.find(scope, request, await sources.open(request.source_root));
  }

  /** Runs the author's import. Throws as `detect` does, and Refusal for what detection does not report. */
  async import(scope: Scope, request: wire.MigrationImportParams, { sources }: Serving): Promise<wire.MigrationImportResult> {
    const source = await sources.open(request.source_root);
    await this.assertReported(scope, request, source);
    const result = await this.adapter.import(scope, request, source);
    encodeLocal(models.MigrationImportResult, result);
    for (const { path } of [...result.models, ...result.skills, ...result.mcp_servers, ...result.diagnostics]) {
      assertPath(path);
    }
    return result;
  }

  private async find(scope: Scope, request: wire.MigrationDetectParams, source: Source): Promise<wire.MigrationDetectResult> {
    const result = await this.adapter.detect(scope, request, source);
    encodeLocal(models.MigrationDetectResult, result);
    const { config_paths: paths, diagnostics } = result;
    for (const [at, path] of paths.entries()) {
      if (paths.indexOf(path) < at) {
        throw new LocalProtocolError(`${JSON.stringify(path)} is detected twice`);
      }
      if ((await source.kind(path)) === undefined) {
        throw new LocalProtocolError(`${JSON.stringify(path)} is detected and is not there`);
      }
    }
    for (const { path } of diagnostics) {
      assertPath(path);
    }
    for (const path of paths.slice(0, Math.max(0, MOST_DETECTED - this.detected.size))) {
      this.detected.add(path);
    }
    return result;
  }

  /** Refuses what detection does not report. What it has reported once may have vanished since. */
  private async assertReported(scope: Scope, request: wire.MigrationImportParams, source: Source): Promise<void> {
    let found: readonly string[] | undefined;
    for (const [at, path] of request.config_paths.entries()) {
      if (request.config_paths.indexOf(path) < at) {
        throw badPath(at, "the path is named before: name each once");
      }
      try {
        assertPath(path);
      } catch (fault) {
        throw badPath(at, (fault as Error).message);
      }
      if (this.detected.has(path)) {
        continue;
      }
      found ??= (await this.find(scope, { source_root: request.source_root }, source)).config_paths;
      if (!found.includes(path)) {
        throw badPath(at, "detection does not report it: import what it reports");
      }
    }
  }
}

function badPath(at: number, reason: string): Refusal {
  return new Refusal("invalid_params", `config_paths: ${reason}`, { pointer: `/config_paths/${String(at)}`, reason });
}
