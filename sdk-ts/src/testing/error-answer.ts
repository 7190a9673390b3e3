/** An error as answer, from either side. */

import type { JsonValue } from "../_generated/json.js";

/** The extension answered with an error; or, thrown by the handler of a service, the host does. */
export class ErrorAnswer extends Error {
  override readonly name = "ErrorAnswer";

  constructor(
    readonly code: number,
    message: string,
    readonly data?: JsonValue,
  ) {
    super(message);
  }
}
