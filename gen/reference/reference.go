// Package reference emits the Markdown reference: one page per wire, one page of rules per wire, and the
// page that leads to them.
package reference

import (
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/model"
)

// New returns the reference emitter.
func New() emit.Emitter { return emitter{} }

type emitter struct{}

func (emitter) Name() string { return "reference" }

func (emitter) Emit(spec *model.Spec) ([]emit.File, error) {
	files := []emit.File{index(spec)}
	for _, wire := range spec.Wires {
		files = append(files, (&wirePage{page: newPage("spec/wires.json", wire.Title), wire: wire, rules: hasRules(spec, wire)}).make())
		if hasRules(spec, wire) {
			files = append(files, rulesPage(spec, wire))
		}
	}
	return files, nil
}

func hasRules(spec *model.Spec, wire *model.Wire) bool { return len(rulesOf(spec, wire)) > 0 }

func rulesOf(spec *model.Spec, wire *model.Wire) []*model.Rule {
	var list []*model.Rule
	for _, r := range spec.Rules {
		if r.Wire == wire.Name {
			list = append(list, r)
		}
	}
	return list
}

func wireFile(wire *model.Wire) string { return wire.Name + ".md" }

func rulesFile(wire *model.Wire) string { return wire.Name + "-rules.md" }

func index(spec *model.Spec) emit.File {
	p := newPage("spec/wires.json", "Reference")
	p.paragraphs("Everything here is made from the data in `spec/`. Change the data, not these pages.")
	var rows [][]string
	for _, w := range spec.Wires {
		rules := ""
		if list := rulesOf(spec, w); len(list) > 0 {
			rules = link(itoa(len(list))+" rules", rulesFile(w))
		}
		rows = append(rows, []string{
			link(text(w.Title), wireFile(w)), codes(w.Versions), itoa(len(w.Methods)), itoa(len(w.Models)), rules,
		})
	}
	p.table([]string{"Wire", "Versions", "Methods", "Models", "Rules"}, rows)
	return p.file("README.md")
}

// rulesPage lists every rule of a wire, area by area.
func rulesPage(spec *model.Spec, wire *model.Wire) emit.File {
	list := rulesOf(spec, wire)
	var files []string
	for _, r := range list {
		if file := "spec/" + r.File; !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	p := newPage(strings.Join(files, ", "), "Rules of: "+wire.Title)
	p.paragraphs("Every sentence that an implementation must, should or may keep. Tests, reports and errors cite the ids, which are never reused. " +
		"The shapes the rules speak of are on the " + link("page of the wire", wireFile(wire)) + ".")
	p.paragraphs(proofs(list))
	var toc [][]string
	for _, a := range spec.Areas {
		if a.Wire == wire.Name {
			toc = append(toc, []string{link(a.Name, "#"+anchor("area", a.Name)), text(a.Doc), itoa(len(inArea(list, a)))})
		}
	}
	p.table([]string{"Area", "Subject", "Rules"}, toc)
	for _, a := range spec.Areas {
		if a.Wire != wire.Name {
			continue
		}
		p.heading(2, anchor("area", a.Name), a.Name)
		p.paragraphs(text(a.Doc))
		for _, r := range inArea(list, a) {
			p.heading(3, r.ID, r.ID)
			p.paragraphs(text(r.Text))
			p.line("")
			p.line("- **%s**, binds the %s, API %s", r.Level, r.Role, strings.Join(r.Wires, ", "))
			p.line("- source: %s", text(r.Source))
			if r.NoPeer != "" {
				p.line("- no faulty peer breaks it: %s", text(r.NoPeer))
			}
			if r.ProvenBy != "" {
				p.line("- proven by %s", code(r.ProvenBy))
			}
			if r.Unproven != "" {
				p.line("- nothing proves it yet: %s", text(r.Unproven))
			}
		}
	}
	return p.file(rulesFile(wire))
}

// proofs counts the ways in which the rules of a wire are proven.
func proofs(list []*model.Rule) string {
	var run, elsewhere, unproven int
	for _, r := range list {
		switch {
		case r.Unproven != "":
			unproven++
		case r.NoPeer != "":
			elsewhere++
		default:
			run++
		}
	}
	return itoa(len(list)) + " rules: " + itoa(run) + " are judged by scenarios, " +
		itoa(elsewhere) + " are proven elsewhere in this repository, " + itoa(unproven) + " are not proven yet."
}

func inArea(rules []*model.Rule, a *model.Area) []*model.Rule {
	var list []*model.Rule
	for _, r := range rules {
		if r.Area == a.Name {
			list = append(list, r)
		}
	}
	return list
}
