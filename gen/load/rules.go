package load

import (
	"regexp"
	"slices"

	"github.com/octet-dev/octet/gen/located"
	"github.com/octet-dev/octet/gen/model"
)

var ruleID = regexp.MustCompile(`^([A-Z][A-Z0-9]*)-([A-Z]+)-[0-9]{3}$`)

type ruleLoader struct {
	spec     *model.Spec
	errs     *located.List
	ids      map[string]bool
	prefixes map[string]string // the wire whose rules start so
}

func (r *ruleLoader) wire(n node) *model.Wire {
	name := n.text("wire")
	for _, w := range r.spec.Wires {
		if w.Name == name {
			return w
		}
	}
	r.errs.Addf(n.file, n.at("wire"), "%q is no wire; use a name of %s", name, wiresFile)
	return nil
}

func (r *ruleLoader) load(root node) {
	wire := r.wire(root)
	if wire == nil {
		return
	}
	used := map[string]bool{}
	areas := root.get("areas")
	for _, n := range root.get("rules").items() {
		rule := &model.Rule{
			ID:       n.text("id"),
			Wire:     wire.Name,
			File:     root.file,
			Level:    model.Level(n.text("level")),
			Role:     n.text("role"),
			Wires:    n.texts("wires"),
			Text:     n.text("text"),
			Source:   n.text("source"),
			NoPeer:   n.text("no_peer"),
			ProvenBy: n.text("proven_by"),
			Unproven: n.text("unproven"),
		}
		r.checkID(n, rule, areas)
		r.checkProof(n, rule)
		used[rule.Area] = true
		for i, v := range rule.Wires {
			if !slices.Contains(wire.Versions, v) {
				r.errs.Addf(n.file, n.at("wires")+"/"+itoa(i), "the wire %s has no version %q; correct it", wire.Name, v)
			}
		}
		r.spec.Rules = append(r.spec.Rules, rule)
	}
	for _, n := range areas.members() {
		if !used[n.name] {
			r.errs.Addf(n.file, n.pointer, "no rule belongs to area %q; remove it", n.name)
		}
		r.spec.Areas = append(r.spec.Areas, &model.Area{Wire: wire.Name, Name: n.name, Doc: n.value.Text()})
	}
}

func (r *ruleLoader) checkID(n node, rule *model.Rule, areas node) {
	at := n.get("id")
	parts := ruleID.FindStringSubmatch(rule.ID)
	if parts == nil {
		r.errs.Addf(at.file, at.pointer, "%q is no rule id; write PREFIX-AREA-NNN", rule.ID)
		return
	}
	prefix := parts[1]
	rule.Area = parts[2]
	if !areas.has(rule.Area) {
		r.errs.Addf(at.file, at.pointer, "the area %q of rule %s is not described; add it to areas", rule.Area, rule.ID)
	}
	if r.ids[rule.ID] {
		r.errs.Addf(at.file, at.pointer, "the rule id %s comes twice; ids are never reused", rule.ID)
	}
	r.ids[rule.ID] = true
	if owner, taken := r.prefixes[prefix]; taken && owner != rule.Wire {
		r.errs.Addf(at.file, at.pointer, "the prefix %s belongs to wire %s; use another one", prefix, owner)
		return
	}
	r.prefixes[prefix] = rule.Wire
}

// checkProof holds a rule to one way of being proven: by scenarios and a faulty peer of its role, by the place
// that it names, or not yet. What an extension does is proven in every case.
func (r *ruleLoader) checkProof(n node, rule *model.Rule) {
	ofExtension := rule.Role == "extension"
	permission := rule.Level == model.May
	switch {
	case rule.Unproven != "" && rule.ProvenBy != "":
		r.errs.Addf(n.file, n.at("unproven"), "the rule %s is proven elsewhere already; remove unproven or proven_by", rule.ID)
	case rule.Unproven != "" && ofExtension && !permission:
		r.errs.Addf(n.file, n.at("unproven"), "the rule %s binds the extension; prove it with a scenario and a faulty peer", rule.ID)
	}
}

// checkVectors holds the names in a vectors file against the spec.
func checkVectors(root node, rules *ruleLoader) {
	wire := rules.wire(root)
	if wire == nil {
		return
	}
	// A refused negotiation is judged on one side and need not reach the wire as an error row.
	reported := root.text("op") != "negotiate"
	known := map[string]bool{}
	for _, n := range root.get("vectors").items() {
		id := n.text("id")
		if known[id] {
			rules.errs.Addf(n.file, n.at("id"), "the vector %q comes twice; give it another id", id)
		}
		known[id] = true
		if name := n.text("model"); n.has("model") && !slices.ContainsFunc(wire.Models, func(m *model.Model) bool { return m.Name == name }) {
			rules.errs.Addf(n.file, n.at("model"), "%q is no model of %s; correct the name", name, wire.Name)
		}
		if name := n.text("rule"); !rules.ids[name] {
			rules.errs.Addf(n.file, n.at("rule"), "%q is no rule; correct the id", name)
		}
		if name := n.text("violation"); n.has("violation") && !slices.Contains(model.Violations, model.Violation(name)) {
			rules.errs.Addf(n.file, n.at("violation"), "%q is no violation; correct the name", name)
		}
		if name := n.text("error"); reported && n.has("error") && !slices.ContainsFunc(wire.Errors, func(e *model.ErrorCode) bool { return e.Name == name }) {
			rules.errs.Addf(n.file, n.at("error"), "%q is no error of %s; correct the name", name, wire.Name)
		}
	}
}

// checkRequirements compares a frozen requirement set with the rules.
func checkRequirements(root node, rules *ruleLoader) {
	for _, m := range root.get("rules").members() {
		if !rules.ids[m.name] {
			rules.errs.Addf(root.file, m.pointer, "%q is no rule; a rule that a frozen set names is never removed", m.name)
		}
	}
}
