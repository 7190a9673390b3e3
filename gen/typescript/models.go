package typescript

import (
	"fmt"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// maxSafeInteger is the greatest integer that a JavaScript number holds together with its neighbours.
const maxSafeInteger = 1<<53 - 1

// declaration writes the TypeScript type of a model.
func (m *module) declaration(one *model.Model) {
	m.doc("", one.Doc, one.Source, one.Versions)
	switch one.Kind {
	case model.Record:
		m.record(one)
	case model.Union:
		arms := make([]string, len(one.Variants))
		for i, variant := range one.Variants {
			arms[i] = variant.Record.Name
		}
		m.printf("export type %s = %s;\n\n", one.Name, strings.Join(arms, " | "))
	case model.Choice:
		m.printf("export type %s = %s | %s;\n\n", one.Name, one.Word.Name, one.Object.Name)
	case model.Enum:
		arms := make([]string, len(one.Values))
		for i, value := range one.Values {
			arms[i] = quote(value.Value)
		}
		if one.Open {
			m.use("OpenString", "type")
			arms = append(arms, "OpenString")
		}
		m.printf("export type %s =\n  | %s;\n\n", one.Name, strings.Join(arms, "\n  | "))
	case model.Alias:
		m.printf("export type %s = %s;\n\n", one.Name, m.typeName(one.Type))
	}
}

func (m *module) record(one *model.Model) {
	if len(one.Fields) == 0 {
		if one.Closed {
			m.printf("export type %s = Readonly<Record<string, never>>;\n\n", one.Name)
			return
		}
		m.use("JsonObject", "json")
		m.printf("export type %s = JsonObject;\n\n", one.Name)
		return
	}
	m.printf("export interface %s {\n", one.Name)
	for _, field := range one.Fields {
		m.doc("  ", field.Doc, "", nil)
		name := property(field.Name)
		if !field.Required {
			name += "?"
		}
		kind := m.typeName(field.Type)
		if field.Nullable {
			kind = nullable(kind)
		}
		m.printf("  readonly %s: %s;\n", name, kind)
	}
	m.printf("}\n\n")
}

func nullable(kind string) string {
	if inner, ok := strings.CutPrefix(kind, "NonNullable<"); ok {
		return strings.TrimSuffix(inner, ">")
	}
	return kind + " | null"
}

// typeName returns the TypeScript type of a shape that is not null.
func (m *module) typeName(t *model.Type) string {
	switch t.Kind {
	case model.String:
		return "string"
	case model.Boolean:
		return "boolean"
	case model.Integer:
		return "number"
	case model.Number:
		m.use("JsonNumber", "json")
		return "JsonNumber"
	case model.JSON:
		m.use("JsonValue", "json")
		return "NonNullable<JsonValue>"
	case model.Object:
		m.use("JsonObject", "json")
		return "JsonObject"
	case model.ID:
		m.use("RpcId", "type")
		return "RpcId"
	case model.Array:
		return "readonly " + element(m.typeName(t.Elem)) + "[]"
	case model.Map:
		return "Readonly<Record<string, " + m.typeName(t.Elem) + ">>"
	case model.Const:
		return quote(t.Const)
	case model.Ref:
		return t.Ref.Name
	}
	m.fail("type kind %q is unknown to this emitter", t.Kind)
	return "never"
}

func element(kind string) string {
	if strings.HasPrefix(kind, "readonly ") {
		return "(" + kind + ")"
	}
	return kind
}

// table writes the row of a model in the table that the validator interprets.
func (m *module) table(one *model.Model) {
	m.printf("    [\n      %s,\n", quote(one.Name))
	switch one.Kind {
	case model.Record:
		m.recordTable(one)
	case model.Union:
		m.printf("      {\n        kind: \"union\",\n        tag: %s,\n        variants: new Map([\n", quote(one.Tag))
		for _, variant := range one.Variants {
			m.printf("          [%s, { model: %s, deferred: %t }],\n", quote(variant.TagValue), quote(variant.Record.Name), variant.Deferred)
		}
		m.printf("        ]),\n      },\n")
	case model.Choice:
		m.printf("      { kind: \"choice\", word: %s, object: %s },\n", quote(one.Word.Name), quote(one.Object.Name))
	case model.Enum:
		values := make([]string, len(one.Values))
		for i, value := range one.Values {
			values[i] = value.Value
		}
		m.printf("      { kind: \"enum\", open: %t, values: %s },\n", one.Open, quoteAll(values))
	case model.Alias:
		m.printf("      { kind: \"alias\", type: %s },\n", m.shape(one.Type))
	}
	m.printf("    ],\n")
}

func (m *module) recordTable(one *model.Model) {
	m.printf("      {\n        kind: \"record\",\n        closed: %t,\n", one.Closed)
	if one.Envelope {
		m.printf("        envelope: true,\n")
	}
	if len(one.Forbidden) > 0 {
		m.printf("        forbidden: %s,\n", quoteAll(one.Forbidden))
	}
	if len(one.ExactlyOne) > 0 {
		m.printf("        exactlyOne: %s,\n", quoteAll(one.ExactlyOne))
	}
	if len(one.AtMostOne) > 0 {
		m.printf("        atMostOne: %s,\n", quoteAll(one.AtMostOne))
	}
	m.printf("        fields: [\n")
	for _, field := range one.Fields {
		m.printf("          { name: %s, required: %t, nullable: %t, type: %s },\n",
			quote(field.Name), field.Required, field.Nullable, m.shape(field.Type))
	}
	m.printf("        ],\n      },\n")
}

// shape returns a type as the validator reads it.
func (m *module) shape(t *model.Type) string {
	parts := []string{"kind: " + quote(string(t.Kind))}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch t.Kind {
	case model.String:
		m.stringShape(t, add)
	case model.Integer, model.Number:
		if t.Minimum != nil {
			add("minimum: %s", m.integer(*t.Minimum))
		}
		if t.Maximum != nil {
			add("maximum: %s", m.integer(*t.Maximum))
		}
	case model.ID:
		if t.MaxBytes == nil || t.Maximum == nil {
			m.fail("an id needs both its bounds")
			break
		}
		add("maxBytes: %s", m.integer(t.MaxBytes.Value))
		add("maximum: %s", m.integer(*t.Maximum))
	case model.JSON, model.Object:
		m.bound("maxEncodedBytes", t.MaxEncodedBytes, add)
	case model.Array:
		m.arrayShape(t, add)
	case model.Map:
		add("element: %s", m.shape(t.Elem))
		if t.KeyPattern != "" {
			add("keyPattern: new RegExp(%s, \"u\")", quote(t.KeyPattern))
		}
	case model.Const:
		add("value: %s", quote(t.Const))
	case model.Ref:
		add("model: %s", quote(t.Ref.Name))
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

func (m *module) stringShape(t *model.Type, add func(string, ...any)) {
	if t.MinBytes > 0 {
		add("minBytes: %s", m.integer(int64(t.MinBytes)))
	}
	m.bound("maxBytes", t.MaxBytes, add)
	if t.NotBlank {
		add("notBlank: true")
	}
	if t.Controls != model.AnyControls {
		add("controls: %s", quote(string(t.Controls)))
	}
	if t.Pattern != "" {
		add("pattern: new RegExp(%s, \"u\")", quote(t.Pattern))
	}
}

func (m *module) arrayShape(t *model.Type, add func(string, ...any)) {
	add("element: %s", m.shape(t.Elem))
	if t.MinItems > 0 {
		add("minItems: %s", m.integer(int64(t.MinItems)))
	}
	m.bound("maxItems", t.MaxItems, add)
	if t.Unique {
		add("unique: true")
	}
	if t.UniqueBy != "" {
		add("uniqueBy: %s", quote(t.UniqueBy))
	}
	m.bound("maxEncodedBytes", t.MaxEncodedBytes, add)
}

func (m *module) bound(name string, bound *model.Bound, add func(string, ...any)) {
	if bound != nil {
		add("%s: %s", name, m.integer(bound.Value))
	}
}

// integer returns a number literal, and fails for one that a JavaScript number would round.
func (m *module) integer(n int64) string {
	if n > maxSafeInteger || n < -maxSafeInteger {
		m.fail("%d is beyond the integers a JavaScript number holds; lower the bound", n)
	}
	return fmt.Sprint(n)
}
