package golang

import (
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// serviceNote says what a service needs.
func (s *services) serviceNote(m service, single bool) string {
	note := "Method " + m.Name + "."
	if m.Gate != "-" {
		note = "Method " + m.Name + ", opened by " + m.Gate + "."
	}
	note += " " + parentNotes[m.Parent]
	if member(m.Shapes[0].Params, bindingMember) != nil {
		note = strings.TrimSuffix(note, ".") + " once the bus is bound, and goes out under the binding in force."
	}
	if fields := m.Shapes[0].Params; !single && (member(fields, parentMember) != nil || member(fields, ownerMember) != nil) {
		note += " Parent and owner in params are filled in."
	}
	return note
}

var parentNotes = map[model.Parent]string{
	model.ParentNone:       "It works in every scope.",
	model.ParentRequired:   "It works while the request of the scope runs.",
	model.ParentInitialize: "It works while initialize is answered.",
	model.ParentRetained:   "It works while the request of the scope runs, and behind it where the scope has an owner.",
	model.ParentSettled:    "It works once the request of the scope has been answered, where the scope has an owner.",
	model.ParentToolCall:   "It works while a tool call runs.",
	model.ParentOptional:   "It works in every scope.",
	model.ParentOwner:      "It works in a scope that has an owner.",
}

func (m service) sourceNote(wire *model.Wire) string {
	return (&pkg{wire: wire}).sourceNote(m.Source, m.Versions)
}

// invokeFile writes the calling of services by name.
func (s *services) invokeFile(t *source) []string {
	wire := s.wire.Module.Go
	t.p("// named holds the services by name: where their method stands, and whether it cannot go without an owner.")
	t.p("var named = map[string]struct { index int; owned bool }{")
	for _, m := range s.sent() {
		t.p("%q: {%d, %t},", m.Service.Noun+"."+m.Service.Verb, m.index, s.ownsAlways(m.Shapes[0].Params))
	}
	t.p("}")
	t.p("")
	t.p("// MethodOf returns the method of a service such as %q, or nil.", s.example())
	t.p("func MethodOf(service string) *wirejson.Method {")
	t.p("row, known := named[service]")
	t.p("if !known { return nil }")
	t.p("return &%s.Methods[row.index]", wire)
	t.p("}")
	t.p("")
	t.p("// Invoke calls a service by name. Arguments are the JSON object of the members that the typed service takes;")
	t.p("// the result is JSON, {} where there is none. It checks what the typed service checks.")
	t.p("func Invoke(ctx context.Context, link Link, service string, arguments []byte) ([]byte, error) {")
	t.p("row, known := named[service]")
	t.p("if !known { return nil, wirejson.UnknownServiceError(service) }")
	t.p("m := &%s.Methods[row.index]", wire)
	t.p("tie, err := link.Tie(m, row.owned)")
	t.p("if err != nil { return nil, err }")
	t.p("filled := []wirejson.Member{}")
	t.p("if parent, tied := tie.Parent.Get(); tied {")
	t.p("filled = append(filled, wirejson.Member{Name: %q, Value: strconv.AppendInt(nil, parent, 10)})", parentMember)
	t.p("}")
	if s.owner != nil {
		t.p("if owner, owned := tie.Owner.Get(); owned {")
		t.p("filled = append(filled, wirejson.Member{Name: %q, Value: owner.AppendJSON(nil)})", ownerMember)
		t.p("}")
	}
	if s.bound {
		t.p("if tie.Binding != \"\" {")
		t.p("filled = append(filled, wirejson.Member{Name: %q, Value: wirejson.AppendString(nil, tie.Binding)})", bindingMember)
		t.p("}")
	}
	t.p("text, err := wirejson.Fill(arguments, %s.MaxDepth, filled, %q, %q)", wire, parentMember, ownerMember)
	t.p("if err != nil { return nil, err }")
	t.p("shape, _ := m.Shape(tie.Version)")
	t.p("params, err := %s.DecodeAny(shape.Params, text)", wire)
	t.p("if err != nil { return nil, err }")
	t.p("if m.Notification { return []byte(\"{}\"), tell(ctx, link, m, params) }")
	t.p("return ask(ctx, link, m, params, shape.Reader(%s.MaxDepth, %s.DecodeAny))", wire, wire)
	t.p("}")
	return []string{"context", "strconv", "", s.wirePath(), supportPath}
}

func (s *services) example() string {
	first := s.sent()[0].Service
	return first.Noun + "." + first.Verb
}
