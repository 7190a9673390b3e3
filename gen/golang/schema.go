package golang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// schemaFile writes the descriptors that the validator interprets. Models refer to each other by index,
// so that the whole table is plain data even where models are recursive.
func (p *pkg) schemaFile(s *source) []string {
	s.p("const (")
	for i, m := range p.wire.Models {
		if i == 0 {
			s.p("model%s = iota", m.Name)
		} else {
			s.p("model%s", m.Name)
		}
	}
	s.p(")")
	s.p("")
	s.p("var schema = wirejson.Schema{")
	s.p("MaxDepth: MaxDepth,")
	if len(p.wire.Violations) > 0 {
		s.p("ErrorNames: []wirejson.ErrorName{")
		for _, v := range p.wire.Violations {
			s.p("{Kind: %q, Name: %q},", v.Violation, v.Error)
		}
		s.p("},")
		s.p("EnvelopeError: %q,", p.wire.EnvelopeError)
		if p.wire.VersionError != "" {
			s.p("VersionError: %q,", p.wire.VersionError)
		}
	}
	s.p("Models: []wirejson.Model{")
	for _, m := range p.wire.Models {
		p.describe(s, m)
	}
	s.p("},")
	s.p("}")
	return []string{supportPath}
}

func (p *pkg) describe(s *source, m *model.Model) {
	s.p("{")
	s.p("Name: %q,", m.Name)
	if m.Envelope {
		s.p("Envelope: true,")
	}
	switch m.Kind {
	case model.Record:
		s.p("Shape: wirejson.RecordShape,")
		if m.Closed {
			s.p("Closed: true,")
		}
		if len(m.Forbidden) > 0 {
			s.p("Forbidden: %s,", quoted(m.Forbidden))
		}
		if len(m.ExactlyOne) > 0 {
			s.p("ExactlyOne: %s,", quoted(m.ExactlyOne))
		}
		if len(m.AtMostOne) > 0 {
			s.p("AtMostOne: %s,", quoted(m.AtMostOne))
		}
		if len(m.Fields) > 0 {
			s.p("Fields: []wirejson.Field{")
			for _, f := range m.Fields {
				s.p("{Name: %q, %s%sType: wirejson.Type%s},", f.Name, set("Required", f.Required), set("Nullable", f.Nullable), p.describeType(f.Type))
			}
			s.p("},")
		}
	case model.Union:
		s.p("Shape: wirejson.UnionShape,")
		s.p("Tag: %q,", m.Tag)
		s.p("Variants: []wirejson.Variant{")
		for _, v := range m.Variants {
			s.p("{Tag: %q, %sModel: model%s},", v.TagValue, set("Deferred", v.Deferred), v.Record.Name)
		}
		s.p("},")
	case model.Choice:
		s.p("Shape: wirejson.ChoiceShape,")
		s.p("Word: model%s,", m.Word.Name)
		s.p("Object: model%s,", m.Object.Name)
	case model.Enum:
		s.p("Shape: wirejson.EnumShape,")
		if m.Open {
			s.p("Open: true,")
		}
		var values []string
		for _, v := range m.Values {
			values = append(values, v.Value)
		}
		s.p("Values: %s,", quoted(values))
	case model.Alias:
		s.p("Shape: wirejson.AliasShape,")
		s.p("Type: wirejson.Type%s,", p.describeType(m.Type))
	}
	s.p("},")
}

func set(name string, value bool) string {
	if !value {
		return ""
	}
	return name + ": true, "
}

var typeKinds = map[model.TypeKind]string{
	model.String: "StringType", model.Boolean: "BooleanType", model.Integer: "IntegerType", model.Number: "NumberType",
	model.JSON: "JSONType", model.Object: "ObjectType", model.ID: "IDType", model.Array: "ArrayType", model.Map: "MapType",
	model.Const: "ConstType", model.Ref: "RefType",
}

var controlClasses = map[model.Controls]string{
	model.NoControls: "NoControls", model.TextControls: "TextControls", model.EditControls: "EditControls",
}

// describeType returns the composite literal of a type, from its opening brace on.
func (p *pkg) describeType(t *model.Type) string {
	parts := []string{"Kind: wirejson." + typeKinds[t.Kind]}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	addBound := func(name string, b *model.Bound) {
		if b == nil {
			return
		}
		if b.Limit == "" {
			add("%s: wirejson.Bound{Max: %d}", name, b.Value)
			return
		}
		add("%s: wirejson.Bound{Max: %d, Limit: %q}", name, b.Value, b.Limit)
	}
	if t.Kind == model.Ref {
		add("Ref: model%s", t.Ref.Name)
	}
	if t.Kind == model.Const {
		add("Const: %q", t.Const)
	}
	if t.MinBytes > 0 {
		add("MinBytes: %d", t.MinBytes)
	}
	addBound("MaxBytes", t.MaxBytes)
	if t.NotBlank {
		add("NotBlank: true")
	}
	if t.Controls != model.AnyControls {
		add("Controls: wirejson.%s", controlClasses[t.Controls])
	}
	if pattern := t.Pattern + t.KeyPattern; pattern != "" {
		add("Pattern: &wirejson.Pattern{Source: %s}", goPattern(pattern))
	}
	if t.Minimum != nil {
		add("HasMin: true, Min: %d", *t.Minimum)
	}
	if t.Maximum != nil {
		add("HasMax: true, Max: %d", *t.Maximum)
		if t.MaximumLimit != "" {
			add("MaxLimit: %q", t.MaximumLimit)
		}
	}
	addBound("MaxEncodedBytes", t.MaxEncodedBytes)
	if t.Elem != nil {
		add("Elem: &wirejson.Type%s", p.describeType(t.Elem))
	}
	if t.MinItems > 0 {
		add("MinItems: %d", t.MinItems)
	}
	addBound("MaxItems", t.MaxItems)
	if t.Unique {
		add("Unique: true")
	}
	if t.UniqueBy != "" {
		add("UniqueBy: %q", t.UniqueBy)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// goPattern returns the pattern as a literal. RE2's $ without flags matches at the very end only, as the
// dialect wants.
func goPattern(pattern string) string {
	if strings.Contains(pattern, "`") {
		return strconv.Quote(pattern)
	}
	return "`" + pattern + "`"
}
