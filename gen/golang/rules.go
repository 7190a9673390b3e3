package golang

import (
	"path"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/located"
	"github.com/octet-dev/octet/gen/model"
)

const rulesHead = `
// Level says how binding a rule is.
type Level string

// The levels.
const (
	Must   Level = "must"
	Should Level = "should"
	May    Level = "may"
)

// Rule is one normative sentence of the spec.
type Rule struct {
	ID       string
	Wire     string // name of the wire whose rules it belongs to
	Area     string // the subject, the middle part of the id
	Level    Level
	Role     string   // whom it binds: "extension", "host", "manifest", "server" or "client"
	Versions []string // API versions it binds
	Text     string
	Source   string
	// NoPeer says why no faulty peer can turn the rule red; ProvenBy names a test that proves it, instead of a
	// scenario or beside one.
	NoPeer   string
	ProvenBy string
	// Unproven says why nothing proves the rule yet.
	Unproven string
}

// Area is one subject of a wire's rules.
type Area struct {
	Wire string
	Name string
	Doc  string
}

// Lookup returns a rule by id, or nil.
func Lookup(id string) *Rule {
	for i := range All {
		if All[i].ID == id {
			return &All[i]
		}
	}
	return nil
}
`

// rules emits the package that holds every rule.
func rules(spec *model.Spec, errs *located.List) (emit.File, error) {
	s := new(source)
	s.buf.WriteString(rulesHead)
	names := newScope(errs, "package "+rulesPackage)
	names.reserve("Level", "Must", "Should", "May", "Rule", "Area", "Lookup", "All", "Areas")
	s.p("")
	s.p("// The rule ids.")
	s.p("const (")
	for _, r := range spec.Rules {
		name := names.declare(ruleName(r.ID), "rule "+r.ID, model.Place{File: r.File})
		s.doc("\t", name+": "+r.Text)
		s.p("\t%s = %q", name, r.ID)
	}
	s.p(")")
	s.p("")
	s.p("// Areas lists the subjects, wire by wire.")
	s.p("var Areas = []Area{")
	for _, a := range spec.Areas {
		s.p("{Wire: %q, Name: %q, Doc: %q},", a.Wire, a.Name, a.Doc)
	}
	s.p("}")
	s.p("")
	s.p("// All lists the rules, wire by wire, in the order of the spec.")
	s.p("var All = []Rule{")
	for _, r := range spec.Rules {
		s.p("{")
		s.p("ID: %s,", ruleName(r.ID))
		s.p("Wire: %q,", r.Wire)
		s.p("Area: %q,", r.Area)
		s.p("Level: %s,", strings.ToUpper(string(r.Level[:1]))+string(r.Level[1:]))
		s.p("Role: %q,", r.Role)
		s.p("Versions: %s,", quoted(r.Wires))
		s.p("Text: %s,", strconv.Quote(r.Text))
		s.p("Source: %q,", r.Source)
		if r.NoPeer != "" {
			s.p("NoPeer: %q,", r.NoPeer)
		}
		if r.ProvenBy != "" {
			s.p("ProvenBy: %q,", r.ProvenBy)
		}
		if r.Unproven != "" {
			s.p("Unproven: %q,", r.Unproven)
		}
		s.p("},")
	}
	s.p("}")
	f, err := s.file(path.Join(root, rulesPackage, "rules.go"), "spec/rules", rulesPackage)
	if err != nil {
		return emit.File{}, err
	}
	f.Data = moveDoc(f.Data, "// Package rules lists every rule of the spec: the sentences that tests, reports and errors cite by id.\n")
	return f, nil
}

// ruleName returns the constant of a rule: EXT04Cancel003 for EXT04-CANCEL-003.
func ruleName(id string) string {
	parts := strings.Split(id, "-")
	for i, part := range parts {
		if i > 0 && len(part) > 1 {
			parts[i] = part[:1] + strings.ToLower(part[1:])
		}
	}
	return strings.Join(parts, "")
}
