/** OUP, the protocol between an application and an octet server: models, methods, errors, limits, features and tables. */

export * from "./_generated/oup-wire.js";
export { JsonSyntaxError, Numeral } from "./_generated/json.js";
export type { JsonNumber, JsonObject, JsonValue } from "./_generated/json.js";
export { Codec, Violation } from "./_generated/wire.js";
export type { ErrorCode, Feature, Limit, Method, OpenString, ViolationKind } from "./_generated/wire.js";
