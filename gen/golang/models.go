package golang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// shape is how a field stands in its struct.
type shape uint8

const (
	hidden shape = iota // a required constant: written by itself, not in the struct
	direct              // required and never null: the plain type
	option              // absent or null are possible: an Opt
)

func shapeOf(f *model.Field) shape {
	switch {
	case !f.Required || f.Nullable:
		return option
	case f.Type.Kind == model.Const:
		return hidden
	default:
		return direct
	}
}

// fieldType returns the Go type of a field.
func (p *pkg) fieldType(m *model.Model, f *model.Field) string {
	t := p.goType(f.Type)
	if shapeOf(f) == option {
		if p.inline(m, f) {
			t = "*" + t
		}
		return "wirejson.Opt[" + t + "]"
	}
	return t
}

// inline reports whether a field would put its struct inside itself.
func (p *pkg) inline(m *model.Model, f *model.Field) bool {
	seen := map[*model.Model]bool{}
	var reaches func(t *model.Type) bool
	reaches = func(t *model.Type) bool {
		if t.Kind != model.Ref || t.Ref.Kind == model.Union || t.Ref.Kind == model.Choice {
			return false
		}
		if t.Ref == m {
			return true
		}
		if seen[t.Ref] {
			return false
		}
		seen[t.Ref] = true
		return slices.ContainsFunc(t.Ref.Fields, func(f *model.Field) bool { return reaches(f.Type) })
	}
	return reaches(f.Type)
}

func (p *pkg) goType(t *model.Type) string {
	switch t.Kind {
	case model.Boolean:
		return "bool"
	case model.Integer:
		return "int64"
	case model.Number:
		return "json.Number"
	case model.JSON, model.Object:
		return "json.RawMessage"
	case model.ID:
		return "wirejson.ID"
	case model.Array:
		return "[]" + p.goType(t.Elem)
	case model.Map:
		return "map[string]" + p.goType(t.Elem)
	case model.Ref:
		return t.Ref.Name
	default:
		return "string"
	}
}

func (p *pkg) modelsFile(s *source) []string {
	s.p("// Models lists the names of all models, in the order of the spec.")
	s.p("var Models = []string{")
	for _, m := range p.wire.Models {
		s.p("%q,", m.Name)
	}
	s.p("}")
	s.p("")
	for _, m := range p.wire.Models {
		at := model.Place{File: m.File, Pointer: m.Pointer}
		p.names.declare(m.Name, "model "+m.Name, at)
		p.names.declare("Decode"+m.Name, "the decode function of "+m.Name, at)
		p.names.declare("Decode"+m.Name+"Value", "the decode function of "+m.Name, at)
		s.p("")
		switch m.Kind {
		case model.Record:
			p.record(s, m)
		case model.Union:
			p.union(s, m)
		case model.Choice:
			p.choice(s, m)
		case model.Enum:
			p.enum(s, m)
		case model.Alias:
			s.doc("", m.Name+": "+m.Doc, sentence(m.Type.Constraint()), p.sourceNote(m.Source, m.Versions))
			s.p("type %s = %s", m.Name, p.goType(m.Type))
		}
	}
	var imports []string
	if namesJSON.Match(s.buf.Bytes()) {
		imports = append(imports, "encoding/json", "")
	}
	if namesSupport.Match(s.buf.Bytes()) {
		imports = append(imports, supportPath)
	}
	return imports
}

func (p *pkg) record(s *source, m *model.Model) {
	kind := "Unlisted members are kept in Unknown and written back."
	if m.Closed {
		kind = "Unlisted members are refused."
	}
	if len(m.ExactlyOne) > 0 {
		kind += " Exactly one of " + strings.Join(m.ExactlyOne, ", ") + " is present."
	}
	if len(m.AtMostOne) > 0 {
		kind += " At most one of " + strings.Join(m.AtMostOne, ", ") + " is present."
	}
	if len(m.Forbidden) > 0 {
		kind += " It must not carry " + strings.Join(m.Forbidden, ", ") + "."
	}
	var constants []string
	for _, f := range m.Fields {
		if shapeOf(f) == hidden {
			constants = append(constants, fmt.Sprintf("%s %q", f.Name, f.Type.Const))
		}
	}
	if len(constants) > 0 {
		kind += " It always carries " + strings.Join(constants, ", ") + "."
	}
	s.doc("", m.Name+": "+m.Doc, kind, p.sourceNote(m.Source, m.Versions))
	if m.Closed && !slices.ContainsFunc(m.Fields, func(f *model.Field) bool { return shapeOf(f) != hidden }) {
		s.p("type %s struct{}", m.Name)
		return
	}
	s.p("type %s struct {", m.Name)
	fields := newScope(p.errs, "struct "+m.Name)
	fields.reserve("AppendJSON", "Format", "MarshalJSON", "UnmarshalJSON", "Validate")
	if !m.Closed {
		fields.reserve("Unknown")
	}
	for _, f := range m.Fields {
		if shapeOf(f) == hidden {
			continue
		}
		name := fields.declare(goName(f.Name), "member "+strconv.Quote(f.Name), model.Place{File: m.File, Pointer: m.Pointer + "/properties/" + f.Name})
		s.doc("\t", strings.Join(nonEmpty(f.Doc, sentence(presence(f)+f.Type.Constraint()), p.sourceNote("", f.Versions)), " "))
		s.p("\t%s %s `json:%q`", name, p.fieldType(m, f), f.Name)
	}
	if !m.Closed {
		s.p("\t// Unknown holds the members the spec does not list, ascending by name.")
		s.p("\tUnknown []wirejson.Member `json:\"-\"`")
	}
	s.p("}")
}

func nonEmpty(parts ...string) []string {
	return slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" })
}

func (p *pkg) union(s *source, m *model.Model) {
	var arms []string
	for _, v := range m.Variants {
		arm := v.Record.Name
		if v.Deferred {
			arm += " (deferred: not legal yet)"
		}
		arms = append(arms, arm)
	}
	s.doc("", m.Name+": "+m.Doc, "The member "+strconv.Quote(m.Tag)+" selects the variant: "+strings.Join(arms, ", ")+".",
		p.sourceNote(m.Source, m.Versions))
	p.sealed(s, m)
	for _, v := range m.Variants {
		s.p("func (%s) is%s() {}", v.Record.Name, m.Name)
	}
}

func (p *pkg) choice(s *source, m *model.Model) {
	s.doc("", m.Name+": "+m.Doc, "A string is a "+m.Word.Name+", an object a "+m.Object.Name+".", p.sourceNote(m.Source, m.Versions))
	p.sealed(s, m)
	s.p("func (%s) is%s() {}", m.Word.Name, m.Name)
	s.p("func (%s) is%s() {}", m.Object.Name, m.Name)
}

// sealed writes the interface that the arms of a model implement.
func (p *pkg) sealed(s *source, m *model.Model) {
	s.p("type %s interface {", m.Name)
	s.p("wirejson.Encoder")
	s.p("is%s()", m.Name)
	s.p("encode(w *wirejson.Writer)")
	s.p("}")
	s.p("")
}

func (p *pkg) enum(s *source, m *model.Model) {
	kind := "Other values are refused."
	if m.Open {
		kind = "Other values are kept and written back."
	}
	s.doc("", m.Name+": "+m.Doc, kind, p.sourceNote(m.Source, m.Versions))
	s.p("type %s string", m.Name)
	s.p("")
	s.p("// The values of %s.", m.Name)
	s.p("const (")
	var names []string
	for i, v := range m.Values {
		at := model.Place{File: m.File, Pointer: m.Pointer + "/enum/" + strconv.Itoa(i)}
		suffix := goName(v.Value)
		if suffix == "" {
			p.errs.Addf(at.File, at.Pointer, "value %q gives no Go name; use letters and digits", v.Value)
		}
		name := p.names.declare(m.Name+suffix, "value "+strconv.Quote(v.Value)+" of "+m.Name, at)
		names = append(names, name)
		s.doc("\t", v.Doc)
		s.p("\t%s %s = %q", name, m.Name, v.Value)
	}
	s.p(")")
	s.p("")
	s.p("// Known reports whether the spec lists the value.")
	s.p("func (x %s) Known() bool {", m.Name)
	s.p("switch x {")
	s.p("case %s:", strings.Join(names, ", "))
	s.p("return true")
	s.p("}")
	s.p("return false")
	s.p("}")
}

// presence says in words when a field may be left out or null.
func presence(f *model.Field) string {
	switch {
	case f.Required && f.Nullable:
		return "required, may be null; "
	case f.Required:
		return "required; "
	case f.Nullable:
		return "optional, may be null; "
	default:
		return "optional; "
	}
}

// sentence makes a full sentence of a list of clauses.
func sentence(text string) string {
	text = strings.TrimSuffix(strings.TrimSpace(text), ";")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
