package golang

import (
	"strconv"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

func (p *pkg) hooksFile(s *source) []string {
	s.p("// The hook names.")
	s.p("const (")
	for _, h := range p.wire.Hooks {
		at := h.At.Under("/name")
		name := p.names.declare("Hook"+goName(h.Name), "hook "+strconv.Quote(h.Name), at)
		s.doc("\t", name+": "+h.Doc, hookNote(h), p.sourceNote(h.Source, h.Versions))
		s.p("\t%s = %q", name, h.Name)
	}
	s.p(")")
	s.p("")
	s.p("// Hooks is the hook table, in the order of the spec.")
	s.p("var Hooks = []wirejson.Hook{")
	for _, h := range p.wire.Hooks {
		s.p("{")
		s.p("Name: Hook%s,", goName(h.Name))
		s.p("Versions: %s,", quoted(h.Versions))
		s.p("Feature: %q,", h.Feature)
		s.p("Payload: %q,", h.Payload.Name)
		s.p("Result: %q,", h.Result.Name)
		if h.Deadline != nil {
			s.p("DeadlineMS: %s,", goName(h.Deadline.Name))
		}
		if h.Aggregate != nil {
			s.p("AggregateMS: %s,", goName(h.Aggregate.Name))
		}
		s.p("Deny: %q,", h.Deny)
		s.p("},")
	}
	s.p("}")
	s.p("")
	s.p("// LookupHook returns the row of a hook, or nil.")
	s.p("func LookupHook(name string) *wirejson.Hook {")
	s.p("switch name {")
	for i, h := range p.wire.Hooks {
		s.p("case Hook%s: return &Hooks[%d]", goName(h.Name), i)
	}
	s.p("}")
	s.p("return nil")
	s.p("}")
	return []string{supportPath}
}

// hookNote says what the host makes of the answers.
func hookNote(h *model.Hook) string {
	return strings.Join([]string{
		"Order: " + strings.TrimSuffix(h.Order, ".") + ".",
		"Several answers: " + strings.TrimSuffix(h.Merge, ".") + ".",
		"No answer: " + strings.TrimSuffix(h.Failure, ".") + ".",
		"A disposition to deny is " + h.Deny + ".",
	}, " ")
}
