package typescript

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/model"
)

// callsFile writes what a client of a wire calls and hears: a method a row, and the codecs of notifications.
func callsFile(wire *model.Wire) (emit.File, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\n%s\n", emit.Marker("spec/"+strings.Join(wire.Files.Methods, ", spec/")),
		comment("", "What a client calls and hears, typed. Wire: "+strings.TrimSuffix(wire.Title, ".")+"."))
	fmt.Fprintf(&b, "import type { JsonObject, JsonValue } from \"./json.js\";\nimport * as wire from %s;\nimport type { Codec } from \"./wire.js\";\n\n", quote("./"+wire.Module.TypeScript+".js"))
	b.WriteString(callsText)
	taken := names{}
	for _, m := range wire.Methods {
		if m.Direction != model.ClientToServer || !m.Carries() {
			continue
		}
		name := methodName(m.Name)
		if err := taken.claim(name, "method "+m.Name); err != nil {
			return emit.File{}, err
		}
		writeCall(&b, m, name)
	}
	b.WriteString("}\n\n")
	writeHeard(&b, wire)
	return emit.File{Path: path.Join(folderOf(wire.Family), callsName(wire)), Data: []byte(b.String())}, nil
}

// callsName is the file of the calls: "oup-calls.ts" beside "oup-wire.ts".
func callsName(wire *model.Wire) string {
	return strings.TrimSuffix(wire.Module.TypeScript, "-wire") + "-calls.ts"
}

// methodName returns the name of a row as a method: "session/status.get" gives sessionStatusGet.
func methodName(name string) string { return camel(strings.ToLower(constant(name))) }

const callsText = `/** Options of one call. */
export interface CallOptions {
  /** Gives up waiting when it is aborted. The server is not told. */
  readonly signal?: AbortSignal;
}

/** Carries out what the calls say: a client has one for each connection or scope. */
export interface Caller {
  /** Sends a request and returns what read makes of its result. read throws Violation for one that breaks its model. */
  call<R>(method: string, params: JsonObject, read: (result: JsonValue) => R, options?: CallOptions): Promise<R>;
  /** Sends a notification. Resolves when the connection takes more. */
  tell(method: string, params: JsonObject): Promise<void>;
}

/** Judges params before they are sent. Throws Violation. */
function checked<T>(codec: Codec<T>, params: T): JsonObject {
  const value = params as unknown as JsonObject;
  codec.read(value);
  return value;
}

/**
 * What a client sends, a method for each row of the table. Each rejects with Violation for params that break
 * their model, and else with what the Caller throws.
 */
export class Calls {
  constructor(private readonly caller: Caller) {}
`

func writeCall(b *strings.Builder, m *model.Method, name string) {
	shape := m.Shapes[0]
	constant := "wire.METHOD_" + constant(m.Name)
	codec := "wire.MODELS." + shape.Params.Name
	params := "params: wire." + shape.Params.Name
	if !hasRequired(shape.Params) && len(shape.Params.ExactlyOne) == 0 {
		params += " = {}"
	}
	note := m.Doc
	if m.Gate != "-" {
		note += " Opened by " + m.Gate + "."
	}
	if m.Source != "" {
		note += " (" + m.Source + ")"
	}
	fmt.Fprintf(b, "\n%s", comment("  ", note))
	if m.Notification {
		fmt.Fprintf(b, "  async %s(%s): Promise<void> {\n    await this.caller.tell(%s, checked(%s, params));\n  }\n", name, params, constant, codec)
		return
	}
	result := shape.Result.Ref.Name
	fmt.Fprintf(b, "  async %s(%s, options?: CallOptions): Promise<wire.%s> {\n    return this.caller.call(%s, checked(%s, params), (result) => wire.MODELS.%s.read(result), options);\n  }\n",
		name, params, result, constant, codec, result)
}

// writeHeard writes the notifications of a server: their types by method, and their codecs.
func writeHeard(b *strings.Builder, wire *model.Wire) {
	told := slices.DeleteFunc(slices.Clone(wire.Methods), func(m *model.Method) bool { return m.Direction != model.ServerToClient || !m.Carries() })
	b.WriteString("/** What each notification of a server carries. */\nexport interface Heard {\n")
	for _, m := range told {
		fmt.Fprintf(b, "%s  readonly %s: wire.%s;\n", comment("  ", m.Doc), property(m.Name), m.Shapes[0].Params.Name)
	}
	b.WriteString("}\n\n/** The codec of what each notification of a server carries, in the order of the spec. */\n")
	b.WriteString("export const HEARD: { readonly [M in keyof Heard]: Codec<Heard[M]> } = {\n")
	for _, m := range told {
		fmt.Fprintf(b, "  %s: wire.MODELS.%s,\n", property(m.Name), m.Shapes[0].Params.Name)
	}
	b.WriteString("};\n\n/** Reports whether a method is a notification of a server that this table has. */\n")
	b.WriteString("export function isHeard(method: string): method is keyof Heard {\n  return Object.hasOwn(HEARD, method);\n}\n")
}
