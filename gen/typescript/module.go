package typescript

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/model"
)

// module collects the text of one generated module.
type module struct {
	wire  *model.Wire
	body  strings.Builder
	types map[string]string // imported type, with the support module it comes from
	names names
	err   error // the first thing that cannot be expressed
}

func wireModule(wire *model.Wire) ([]byte, error) {
	m := &module{wire: wire, types: map[string]string{}, names: names{}}
	m.versions()
	for _, one := range wire.Models {
		m.claim(one.Name, "model "+one.Name)
		m.declaration(one)
	}
	m.wireTables()
	m.codecs()
	m.methods()
	m.errors()
	m.limits()
	m.features()
	m.capabilities()
	m.hooks()
	m.tables()
	if m.err != nil {
		return nil, m.err
	}
	return []byte(m.head() + strings.TrimSuffix(m.body.String(), "\n")), nil
}

func (m *module) printf(format string, args ...any) { fmt.Fprintf(&m.body, format, args...) }

func (m *module) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, args...)
	}
}

func (m *module) claim(name, owner string) {
	if err := m.names.claim(name, owner); err != nil {
		m.fail("%w", err)
	}
}

// use imports a type. from is "json" for the reader's module, "type" for the validator's.
func (m *module) use(name, from string) { m.types[name] = from }

func (m *module) head() string {
	var b strings.Builder
	source := path.Join("spec", path.Dir(m.wire.Files.Models[0]))
	fmt.Fprintf(&b, "// %s\n\n", emit.Marker(source))
	b.WriteString(comment("", m.wire.Title+"\n\n"+m.wire.Doc) + "\n")
	for _, from := range []struct{ key, file string }{{"json", "./json.js"}, {"type", "./wire.js"}} {
		var names []string
		for name, key := range m.types {
			if key == from.key {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			slices.Sort(names)
			fmt.Fprintf(&b, "import type { %s } from %s;\n", strings.Join(names, ", "), quote(from.file))
		}
	}
	b.WriteString("import { Codec } from \"./wire.js\";\n\n")
	return b.String()
}

// doc writes a documentation comment.
func (m *module) doc(indent, text, source string, versions []string) {
	if len(versions) > 0 && len(versions) < len(m.wire.Versions) {
		text += " API " + strings.Join(versions, ", ") + "."
	}
	if source != "" {
		text += " (" + source + ")"
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	m.printf("%s", comment(indent, text))
}

// comment returns a documentation comment.
func comment(indent, text string) string {
	text = strings.ReplaceAll(text, "*/", "* /")
	if !strings.Contains(text, "\n") {
		return indent + "/** " + text + " */\n"
	}
	var b strings.Builder
	b.WriteString(indent + "/**\n")
	for _, line := range strings.Split(text, "\n") {
		b.WriteString(strings.TrimRight(indent+" * "+line, " ") + "\n")
	}
	b.WriteString(indent + " */\n")
	return b.String()
}

func (m *module) versions() {
	m.claim("VERSIONS", "the version list")
	m.claim("Version", "the version type")
	m.printf("/** The API versions that share these bindings. */\n")
	m.printf("export const VERSIONS = %s as const;\n\n", quoteAll(m.wire.Versions))
	m.printf("/** One of the API versions. */\nexport type Version = (typeof VERSIONS)[number];\n\n")
}

// wireTables writes what the validator interprets.
func (m *module) wireTables() {
	m.claim("WIRE", "the wire tables")
	m.use("WireTables", "type")
	m.printf("/** The tables the validator interprets. */\nexport const WIRE: WireTables = {\n")
	m.printf("  name: %s,\n  maxDepth: %s,\n", quote(m.wire.Name), m.integer(int64(m.wire.MaxDepth)))
	m.printf("  envelopeError: %s,\n", quote(m.wire.EnvelopeError))
	if m.wire.VersionError != "" {
		m.printf("  versionError: %s,\n", quote(m.wire.VersionError))
	}
	m.printf("  errors: new Map([\n")
	for _, row := range m.wire.Violations {
		m.printf("    [%s, %s],\n", quote(string(row.Violation)), quote(row.Error))
	}
	m.printf("  ]),\n  models: new Map([\n")
	for _, one := range m.wire.Models {
		m.table(one)
	}
	m.printf("  ]),\n};\n\n")
}

// codecs writes the codec of every model, and a pair of functions for each.
func (m *module) codecs() {
	m.claim("MODELS", "the codec table")
	m.printf("/** Every model by name. */\nexport const MODELS = {\n")
	for _, one := range m.wire.Models {
		m.printf("  %s: new Codec<%s>(WIRE, %s),\n", one.Name, one.Name, quote(one.Name))
	}
	m.printf("} as const;\n\n")
	for _, one := range m.wire.Models {
		m.claim("decode"+one.Name, "the decoder of "+one.Name)
		m.claim("encode"+one.Name, "the encoder of "+one.Name)
		m.printf("/** Reads {@link %s}. Throws JsonSyntaxError or Violation. */\n", one.Name)
		m.printf("export function decode%s(text: string | Uint8Array): %s {\n  return MODELS.%s.decode(text);\n}\n\n", one.Name, one.Name, one.Name)
		m.printf("/** Writes {@link %s} in its canonical spelling. Throws Violation. */\n", one.Name)
		m.printf("export function encode%s(value: %s): string {\n  return MODELS.%s.encode(value);\n}\n\n", one.Name, one.Name, one.Name)
	}
}
