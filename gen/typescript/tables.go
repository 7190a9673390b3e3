package typescript

import (
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// list writes a table constant whose rows are the constants of its entries.
func (m *module) list(name, doc, kind string, rows []string) {
	m.claim(name, doc)
	m.use(kind, "type")
	m.printf("/** %s */\nexport const %s: readonly %s[] = [", doc, name, kind)
	for _, row := range rows {
		m.printf("\n  %s,", row)
	}
	if len(rows) > 0 {
		m.printf("\n")
	}
	m.printf("];\n\n")
}

func (m *module) methods() {
	if len(m.wire.Methods) == 0 {
		return
	}
	rows := make([]string, len(m.wire.Methods))
	for i, method := range m.wire.Methods {
		name := "METHOD_" + constant(method.Name)
		if slices.IndexFunc(m.wire.Methods, func(o *model.Method) bool { return o.Name == method.Name }) == i {
			m.claim(name, "method "+method.Name)
			m.doc("", method.Doc, method.Source, method.Versions)
			m.printf("export const %s = %s;\n\n", name, quote(method.Name))
		}
		rows[i] = m.methodRow(name, method)
	}
	m.list("METHODS", "Every method, in the order of the spec.", "Method", rows)
}

func (m *module) methodRow(name string, method *model.Method) string {
	parts := []string{
		"name: " + name,
		"versions: " + quoteAll(method.Versions),
		"direction: " + quote(string(method.Direction)),
		fmt.Sprintf("notification: %t", method.Notification),
		"gate: " + quote(method.Gate),
		"status: " + quote(method.Status),
	}
	if m.wire.Family == model.ServerFamily {
		parts = append(parts,
			fmt.Sprintf("gateStrict: %t", method.GateMode == model.StrictGate),
			"transports: "+quoteAll(method.Transports),
			"durable: "+quote(method.Durable))
	}
	if method.Lane != "" {
		parts = append(parts, "lane: "+quote(method.Lane))
	}
	if method.Offer != "" {
		parts = append(parts, "offer: "+quote(method.Offer))
	}
	if method.Terminal != "" {
		parts = append(parts, "terminal: "+quote(method.Terminal))
	}
	if method.Parent != "" {
		parts = append(parts, "parent: "+quote(string(method.Parent)))
	}
	if method.Service.Noun != "" {
		parts = append(parts, "service: "+quote(method.Service.Noun+"."+method.Service.Verb))
	}
	shapes := make([]string, len(method.Shapes))
	for i, shape := range method.Shapes {
		fields := []string{"versions: " + quoteAll(shape.Versions)}
		if shape.Params != nil {
			fields = append(fields, "params: "+quote(shape.Params.Name))
		}
		if shape.Result != nil {
			fields = append(fields, "result: "+m.shape(shape.Result), fmt.Sprintf("nullable: %t", shape.Nullable))
		}
		shapes[i] = "{ " + strings.Join(fields, ", ") + " }"
	}
	parts = append(parts, "shapes: ["+strings.Join(shapes, ", ")+"]")
	return "{ " + strings.Join(parts, ", ") + " }"
}

func (m *module) errors() {
	if len(m.wire.Errors) == 0 {
		return
	}
	rows := make([]string, len(m.wire.Errors))
	for i, row := range m.wire.Errors {
		rows[i] = "ERROR_" + constant(row.Name)
		m.claim(rows[i], "error "+row.Name)
		m.use("ErrorCode", "type")
		m.doc("", row.Doc, row.Source, nil)
		m.printf("export const %s: ErrorCode = { name: %s, code: %s, message: %s, fixed: %t };\n\n",
			rows[i], quote(row.Name), m.integer(row.Code), quote(row.Message), row.Fixed)
	}
	m.list("ERRORS", "Every error, in the order of the spec.", "ErrorCode", rows)
}

func (m *module) limits() {
	if len(m.wire.Limits) == 0 {
		return
	}
	rows := make([]string, len(m.wire.Limits))
	for i, limit := range m.wire.Limits {
		name := constant(limit.Name)
		m.claim(name, "limit "+limit.Name)
		m.doc("", limit.Doc+" Unit: "+limit.Unit+".", limit.Source, nil)
		m.printf("export const %s = %s;\n\n", name, m.integer(limit.Value))
		rows[i] = fmt.Sprintf("{ name: %s, value: %s, unit: %s, negotiable: %t }", quote(limit.Name), name, quote(limit.Unit), limit.Negotiable)
	}
	m.list("LIMITS", "Every limit, in the order of the spec.", "Limit", rows)
}

func (m *module) features() {
	if len(m.wire.Features) == 0 {
		return
	}
	rows := make([]string, len(m.wire.Features))
	for i, feature := range m.wire.Features {
		name := "FEATURE_" + constant(feature.Name)
		m.claim(name, "feature "+feature.Name)
		m.doc("", feature.Doc+" Offered: "+feature.Offered+".", feature.Source, feature.Versions)
		m.printf("export const %s = %s;\n\n", name, quote(feature.Name))
		defaults := ""
		if m.wire.Family == model.ServerFamily {
			defaults = fmt.Sprintf(", sets: %s, origin: %s", quoteAll(feature.Sets), quote(feature.Origin))
		}
		rows[i] = fmt.Sprintf("{ name: %s, versions: %s, required: %t, dependsOn: %s%s }",
			name, quoteAll(feature.Versions), feature.Required, quoteAll(feature.DependsOn), defaults)
	}
	m.union("KnownFeature", "One of the features.", rows, "FEATURE_", func(i int) string { return m.wire.Features[i].Name })
	m.list("FEATURES", "Every feature, in the order of the spec.", "Feature", rows)
}

// union writes the type of the names of a table.
func (m *module) union(name, doc string, rows []string, prefix string, entry func(int) string) {
	m.claim(name, doc)
	m.printf("/** %s */\nexport type %s =", doc, name)
	for i := range rows {
		m.printf("\n  | typeof %s%s", prefix, constant(entry(i)))
	}
	m.printf(";\n\n")
}

func (m *module) capabilities() {
	if len(m.wire.Capabilities) == 0 {
		return
	}
	rows := make([]string, len(m.wire.Capabilities))
	for i, capability := range m.wire.Capabilities {
		name := "CAPABILITY_" + constant(capability.Name)
		m.claim(name, "capability "+capability.Name)
		m.doc("", capability.Doc, capability.Source, nil)
		m.printf("export const %s = %s;\n\n", name, quote(capability.Name))
		rows[i] = fmt.Sprintf("{ name: %s, offer: %s, status: %s, needs: %s }",
			name, quote(capability.Offer), quote(capability.Status), quoteAll(capability.Needs))
	}
	m.union("KnownCapability", "One of the capabilities.", rows, "CAPABILITY_", func(i int) string { return m.wire.Capabilities[i].Name })
	m.list("CAPABILITIES", "Every capability, in the order of the spec.", "Capability", rows)
}

func (m *module) hooks() {
	if len(m.wire.Hooks) == 0 {
		return
	}
	rows := make([]string, len(m.wire.Hooks))
	for i, hook := range m.wire.Hooks {
		name := "HOOK_" + constant(hook.Name)
		m.claim(name, "hook "+hook.Name)
		m.doc("", hook.Doc, hook.Source, hook.Versions)
		m.printf("export const %s = %s;\n\n", name, quote(hook.Name))
		rows[i] = fmt.Sprintf("{ name: %s, versions: %s, feature: %s, payload: %s, result: %s, deny: %s }",
			name, quoteAll(hook.Versions), quote(hook.Feature), quote(hook.Payload.Name), quote(hook.Result.Name), quote(hook.Deny))
	}
	m.list("HOOKS", "Every hook, in the order of the spec.", "Hook", rows)
}

// tables writes the fixed lists: a list of one column as an array of strings, of two columns with distinct
// keys as an object from key to value, and any other as an array of rows.
func (m *module) tables() {
	for _, table := range m.wire.Tables {
		name := constant(table.Name)
		m.claim(name, "table "+table.Name)
		doc := table.Doc
		if len(table.Columns) > 1 {
			doc += " Columns: " + strings.Join(table.Columns, ", ") + "."
		}
		m.doc("", doc, table.Source, nil)
		open, end := "[", "]"
		keyed := hasKeys(table)
		if keyed {
			open, end = "{", "}"
		}
		m.printf("export const %s = %s\n", name, open)
		for _, row := range table.Rows {
			switch {
			case keyed:
				m.printf("  %s: %s,\n", property(row[0]), quote(row[1]))
			case len(row) == 1:
				m.printf("  %s,\n", quote(row[0]))
			default:
				m.printf("  %s,\n", quoteAll(row))
			}
		}
		m.printf("%s as const;\n\n", end)
	}
}

// hasKeys reports whether a table can be an object from its first column to its second.
func hasKeys(table *model.Table) bool {
	if len(table.Columns) != 2 {
		return false
	}
	seen := map[string]bool{"__proto__": true}
	for _, row := range table.Rows {
		if seen[row[0]] {
			return false
		}
		seen[row[0]] = true
	}
	return true
}
