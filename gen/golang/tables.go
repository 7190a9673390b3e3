package golang

import (
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

func (p *pkg) methodsFile(s *source) []string {
	s.p("// The method names.")
	s.p("const (")
	var names []string
	for i, m := range p.wire.Methods {
		if twin := firstOf(p.wire.Methods, m.Name); twin < i {
			names = append(names, names[twin])
			continue
		}
		name := p.names.declare("Method"+goName(m.Name), "method "+strconv.Quote(m.Name), m.At.Under("/name"))
		names = append(names, name)
		s.doc("\t", name+": "+m.Doc, p.sourceNote(m.Source, m.Versions))
		s.p("\t%s = %q", name, m.Name)
	}
	s.p(")")
	s.p("")
	s.p("// Methods is the method table, in the order of the spec.")
	s.p("var Methods = []wirejson.Method{")
	for i, m := range p.wire.Methods {
		p.methodRow(s, m, names[i])
	}
	s.p("}")
	s.p("")
	if p.wire.Family == model.ServerFamily {
		p.lookup(s, names, "LookupRequest", "a request", func(m *model.Method) bool { return !m.Notification })
		s.p("")
		p.lookup(s, names, "LookupNotification", "a notification", func(m *model.Method) bool { return m.Notification })
	} else {
		p.lookup(s, names, "LookupMethod", "a method", func(*model.Method) bool { return true })
	}
	return []string{supportPath}
}

// firstOf returns the index of the first method of a name.
func firstOf(methods []*model.Method, name string) int {
	return slices.IndexFunc(methods, func(m *model.Method) bool { return m.Name == name })
}

// lookup writes the function that finds some of the methods by name.
func (p *pkg) lookup(s *source, names []string, function, what string, in func(*model.Method) bool) {
	s.p("// %s returns the row of %s, or nil.", function, what)
	s.p("func %s(name string) *wirejson.Method {", function)
	s.p("switch name {")
	for i, name := range names {
		if in(p.wire.Methods[i]) {
			s.p("case %s: return &Methods[%d]", name, i)
		}
	}
	s.p("}")
	s.p("return nil")
	s.p("}")
}

var directions = map[model.Direction]string{
	model.HostToExtension: "wirejson.HostToExtension",
	model.ExtensionToHost: "wirejson.ExtensionToHost",
	model.ClientToServer:  "wirejson.ClientToServer",
	model.ServerToClient:  "wirejson.ServerToClient",
	model.Both:            "wirejson.BothDirections",
}

func (p *pkg) methodRow(s *source, m *model.Method, name string) {
	s.p("{")
	s.p("Name: %s,", name)
	s.p("Versions: %s,", quoted(m.Versions))
	if m.Notification {
		s.p("Notification: true,")
	}
	s.p("Direction: %s,", directions[m.Direction])
	s.p("Gate: %q,", m.Gate)
	if m.GateMode == model.StrictGate {
		s.p("GateStrict: true,")
	}
	if len(m.Transports) > 0 {
		s.p("Transports: %s,", quoted(m.Transports))
	}
	if m.Durable != "" {
		s.p("Durable: %q,", m.Durable)
	}
	if m.Lane != "" {
		s.p("Lane: %q,", m.Lane)
	}
	if m.Offer != "" {
		s.p("Offer: %q,", m.Offer)
	}
	if m.Terminal != "" {
		s.p("Terminal: %q,", m.Terminal)
	}
	s.p("Status: %q,", m.Status)
	if m.Parent != "" {
		s.p("Parent: %q,", m.Parent)
	}
	if m.Service != (model.Service{}) {
		s.p("Service: %q,", m.Service.Noun+"."+m.Service.Verb)
	}
	s.p("Shapes: []wirejson.MethodShape{")
	for _, shape := range m.Shapes {
		row := "Versions: " + quoted(shape.Versions)
		if shape.Params != nil {
			row += ", Params: " + strconv.Quote(shape.Params.Name)
		}
		if r := shape.Result; r != nil {
			if r.Kind == model.Array {
				row += ", ResultArray: true"
				r = r.Elem
			}
			row += ", Result: " + strconv.Quote(r.Ref.Name)
		}
		if shape.Nullable {
			row += ", ResultNullable: true"
		}
		s.p("{%s},", row)
	}
	s.p("},")
	s.p("},")
}

func (p *pkg) errorsFile(s *source) []string {
	s.p("// The error codes.")
	s.p("const (")
	for _, e := range p.wire.Errors {
		at := e.At.Under("/name")
		name := p.names.declare("Code"+goName(e.Name), "error "+strconv.Quote(e.Name), at)
		p.names.declare("Err"+goName(e.Name), "error "+strconv.Quote(e.Name), at)
		s.doc("\t", name+": "+e.Doc, p.sourceNote(e.Source, nil))
		s.p("\t%s = %d", name, e.Code)
	}
	s.p(")")
	s.p("")
	s.p("// The rows of the error table.")
	s.p("var (")
	for _, e := range p.wire.Errors {
		s.p("Err%[1]s = wirejson.ErrorCode{Name: %[2]q, Code: Code%[1]s, Message: %[3]q, Fixed: %[4]t}", goName(e.Name), e.Name, e.Message, e.Fixed)
	}
	s.p(")")
	s.p("")
	s.p("// Errors is the error table, in the order of the spec.")
	s.p("var Errors = []wirejson.ErrorCode{")
	for _, e := range p.wire.Errors {
		s.p("Err%s,", goName(e.Name))
	}
	s.p("}")
	s.p("")
	s.p("// ErrorByName returns a row of the error table by name, the name a Violation carries included.")
	s.p("func ErrorByName(name string) (wirejson.ErrorCode, bool) {")
	s.p("switch name {")
	for _, e := range p.wire.Errors {
		s.p("case %q: return Err%s, true", e.Name, goName(e.Name))
	}
	s.p("}")
	s.p("return wirejson.ErrorCode{}, false")
	s.p("}")
	s.p("")
	s.p("// ErrorByCode returns the first row of the error table with a code.")
	s.p("func ErrorByCode(code int64) (wirejson.ErrorCode, bool) {")
	s.p("switch code {")
	var seen []int64
	for _, e := range p.wire.Errors {
		if slices.Contains(seen, e.Code) {
			continue
		}
		seen = append(seen, e.Code)
		s.p("case Code%[1]s: return Err%[1]s, true", goName(e.Name))
	}
	s.p("}")
	s.p("return wirejson.ErrorCode{}, false")
	s.p("}")
	return []string{supportPath}
}

func (p *pkg) limitsFile(s *source) []string {
	s.p("// The limits.")
	s.p("const (")
	for _, l := range p.wire.Limits {
		at := l.At.Under("/name")
		name := p.names.declare(goName(l.Name), "limit "+strconv.Quote(l.Name), at)
		s.doc("\t", name+": "+l.Doc+" Unit: "+l.Unit+".", p.sourceNote(l.Source, nil))
		s.p("\t%s = %d", name, l.Value)
	}
	s.p(")")
	s.p("")
	s.p("// Limits is the limit table, in the order of the spec.")
	s.p("var Limits = []wirejson.Limit{")
	for _, l := range p.wire.Limits {
		s.p("{Name: %q, Value: %s, Unit: %q, Negotiable: %t},", l.Name, goName(l.Name), l.Unit, l.Negotiable)
	}
	s.p("}")
	return []string{supportPath}
}

func (p *pkg) featuresFile(s *source) []string {
	s.p("// The feature names.")
	s.p("const (")
	for _, f := range p.wire.Features {
		at := f.At.Under("/name")
		name := p.names.declare("Feature"+goName(f.Name), "feature "+strconv.Quote(f.Name), at)
		s.doc("\t", name+": "+f.Doc, p.sourceNote(f.Source, f.Versions))
		s.p("\t%s = %q", name, f.Name)
	}
	s.p(")")
	s.p("")
	s.p("// Features is the feature table, in the order of the spec.")
	s.p("var Features = []wirejson.Feature{")
	for _, f := range p.wire.Features {
		s.p("{")
		s.p("Name: Feature%s,", goName(f.Name))
		s.p("Versions: %s,", quoted(f.Versions))
		if f.Required {
			s.p("Required: true,")
		}
		if len(f.DependsOn) > 0 {
			s.p("DependsOn: []string{%s},", prefixed("Feature", f.DependsOn))
		}
		s.p("Offered: %q,", f.Offered)
		if len(f.Sets) > 0 {
			s.p("Sets: %s,", quoted(f.Sets))
		}
		if f.Origin != "" {
			s.p("Origin: %q,", f.Origin)
		}
		s.p("},")
	}
	s.p("}")
	s.p("")
	s.p("// LookupFeature returns the row of a feature, or nil.")
	s.p("func LookupFeature(name string) *wirejson.Feature {")
	s.p("switch name {")
	for i, f := range p.wire.Features {
		s.p("case Feature%s: return &Features[%d]", goName(f.Name), i)
	}
	s.p("}")
	s.p("return nil")
	s.p("}")
	return []string{supportPath}
}

// prefixed returns the constants of some names as an expression list.
func prefixed(prefix string, names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = prefix + goName(name)
	}
	return strings.Join(list, ", ")
}

func (p *pkg) capabilitiesFile(s *source) []string {
	s.p("// The capability names.")
	s.p("const (")
	for _, c := range p.wire.Capabilities {
		at := c.At.Under("/name")
		name := p.names.declare("Capability"+goName(c.Name), "capability "+strconv.Quote(c.Name), at)
		s.doc("\t", name+": "+c.Doc, p.sourceNote(c.Source, nil))
		s.p("\t%s = %q", name, c.Name)
	}
	s.p(")")
	s.p("")
	s.p("// Capabilities is the capability table, in the order of the spec.")
	s.p("var Capabilities = []wirejson.Capability{")
	for _, c := range p.wire.Capabilities {
		s.p("{")
		s.p("Name: Capability%s,", goName(c.Name))
		s.p("Offer: %q,", c.Offer)
		s.p("Status: %q,", c.Status)
		if len(c.Needs) > 0 {
			s.p("Needs: []string{%s},", prefixed("Method", c.Needs))
		}
		s.p("},")
	}
	s.p("}")
	s.p("")
	s.p("// LookupCapability returns the row of a capability, or nil.")
	s.p("func LookupCapability(name string) *wirejson.Capability {")
	s.p("switch name {")
	for i, c := range p.wire.Capabilities {
		s.p("case Capability%s: return &Capabilities[%d]", goName(c.Name), i)
	}
	s.p("}")
	s.p("return nil")
	s.p("}")
	return []string{supportPath}
}

// tablesFile writes a table of one column as a list of strings, any other as a list of rows.
func (p *pkg) tablesFile(s *source) []string {
	for _, t := range p.wire.Tables {
		at := t.At.Under("/name")
		name := p.names.declare("Table"+goName(t.Name), "table "+strconv.Quote(t.Name), at)
		s.p("")
		if len(t.Columns) == 1 {
			s.doc("", name+": "+t.Doc, p.sourceNote(t.Source, nil))
			s.p("var %s = []string{", name)
			for _, row := range t.Rows {
				s.p("%q,", row[0])
			}
			s.p("}")
			continue
		}
		row := p.names.declare(goName(t.Name)+"Row", "the rows of table "+strconv.Quote(t.Name), at)
		s.p("// %s is one row of %s.", row, name)
		s.p("type %s struct {", row)
		columns := newScope(p.errs, "struct "+row)
		for _, c := range t.Columns {
			s.p("%s string", columns.declare(goName(c), "column "+strconv.Quote(c), at))
		}
		s.p("}")
		s.p("")
		s.doc("", name+": "+t.Doc, p.sourceNote(t.Source, nil))
		s.p("var %s = []%s{", name, row)
		for _, cells := range t.Rows {
			list := make([]string, len(cells))
			for i, cell := range cells {
				list[i] = strconv.Quote(cell)
			}
			s.p("{%s},", strings.Join(list, ", "))
		}
		s.p("}")
	}
	return nil
}
