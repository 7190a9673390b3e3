package reference

import (
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// parents says in words what each parent class means.
var parents = map[model.Parent]string{
	model.ParentNone:       "no host request",
	model.ParentRequired:   "a live host request",
	model.ParentInitialize: "initialize, before its answer",
	model.ParentRetained:   "a live host request, or a settled one together with its owner",
	model.ParentSettled:    "a settled host request together with its owner",
	model.ParentToolCall:   "a live tool/call",
	model.ParentOptional:   "a live host request, an owner, or neither",
	model.ParentOwner:      "an owner alone",
}

// service is the name that SDKs give a method.
func service(m *model.Method) string {
	if m.Service == (model.Service{}) {
		return ""
	}
	return code(m.Service.Noun + "." + m.Service.Verb)
}

// opens lists what a feature opens.
func (p *wirePage) opens(feature string) string {
	var list []string
	for _, m := range p.wire.Methods {
		first, _, _ := strings.Cut(m.Gate, " ")
		if first == feature || p.wire.Family == model.ServerFamily && slices.Contains(m.Gates(), feature) {
			list = append(list, p.methodLink(m))
		}
	}
	for _, h := range p.wire.Hooks {
		if h.Feature == feature {
			list = append(list, "hook "+link(code(h.Name), "#"+anchor("hook", h.Name)))
		}
	}
	return strings.Join(list, ", ")
}

func (p *wirePage) hooks() {
	if len(p.wire.Hooks) == 0 {
		return
	}
	p.heading(2, "hooks", "Hooks")
	p.paragraphs("The host asks extensions whose manifest declares a hook. It waits for the deadline and goes on without an answer that is late or malformed.")
	var rows [][]string
	for _, h := range p.wire.Hooks {
		feature := ""
		if h.Feature != "-" {
			feature = link(code(h.Feature), "#"+anchor("feature", h.Feature))
		}
		rows = append(rows, []string{link(code(h.Name), "#"+anchor("hook", h.Name)), strings.Join(h.Versions, ", "), feature, wait(h.Deadline), wait(h.Aggregate), h.Deny})
	}
	p.table([]string{"Hook", "Versions", "Feature", "Deadline", "For all together", "Deny is"}, rows)
	for _, h := range p.wire.Hooks {
		p.heading(3, anchor("hook", h.Name), code(h.Name))
		p.paragraphs(text(h.Doc))
		p.table([]string{"Fact", "Value"}, [][]string{
			{"Payload", modelLink(h.Payload)},
			{"Result", modelLink(h.Result)},
			{"Order", text(h.Order)},
			{"Several answers", text(h.Merge)},
			{"No answer", text(h.Failure)},
			{"Source", text(h.Source)},
		})
	}
}

// wait gives a deadline with its unit.
func wait(l *model.Limit) string {
	if l == nil {
		return ""
	}
	return link(strconv.FormatInt(l.Value, 10)+" "+l.Unit, "#"+anchor("limit", l.Name))
}
