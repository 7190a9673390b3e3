/** A call of a tool as work, on either wire. */

import type { JsonValue } from "./_generated/json.js";
import type { Dialect, Work } from "./dialect.js";
import { NoJson } from "./local.js";
import type { RequestContext } from "./owner.js";
import { failure, outcome } from "./reply.js";
import type { RunningRequest } from "./running.js";
import type { Tool } from "./tool.js";

/** Makes the work of a call. Throws SchemaMismatch for arguments that break the schema of the tool. */
export class ToolWork implements Work {
  readonly name: string;
  private readonly args: unknown;

  constructor(
    private readonly dialect: Dialect,
    private readonly tool: Tool,
    args: JsonValue,
    readonly context: RequestContext,
    private readonly features: ReadonlySet<string>,
    /** A canonical host wants an error answer for what is over a bound. */
    readonly tooLargeIsFailure: boolean,
  ) {
    this.name = tool.name;
    this.args = tool.args.parse(args);
  }

  get label(): string {
    return `tool ${JSON.stringify(this.name)}`;
  }

  run(scope: RunningRequest): unknown {
    return this.tool.run(scope, this.args);
  }

  encode(value: unknown): string {
    try {
      return this.dialect.result(outcome(value, this.tool.output), this.features);
    } catch (fault) {
      if (this.tooLargeIsFailure && (fault instanceof NoJson || fault instanceof TypeError || fault instanceof RangeError)) {
        throw new NoJson(`the result of ${this.label} is refused: ${fault.message}: return well-formed text, finite numbers, arrays and plain objects alone`, { cause: fault });
      }
      throw fault;
    }
  }

  failure(message: string): string {
    return this.dialect.result(failure(message), this.features);
  }
}
