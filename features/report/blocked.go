package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/verdict"
)

// leastBlocked is how many rules one fault must block to be told once for all of them.
const leastBlocked = 3

// A cause is one fault that kept the scenarios of many rules from judging them: an initialize that is refused
// makes every rule red, and is one thing to mend.
type cause struct {
	class   verdict.Class
	message string
	rules   []string
	unrun   bool // their scenarios were not run at all
}

// causes are faults that block many rules, in the order of the rules.
type causes []cause

// causes finds what blocks many of some rules.
func (r *Report) causes(of func(Rule) bool) causes {
	var all causes
	for _, row := range r.Rules {
		if !red(row.Class) || !of(row) || !waits(row.Findings) {
			continue
		}
		for _, f := range row.Findings {
			i := slices.IndexFunc(all, func(c cause) bool { return c.message == f.Message })
			if i < 0 {
				all, i = append(all, cause{class: row.Class, message: f.Message}), len(all)
			}
			if !slices.Contains(all[i].rules, row.ID) {
				all[i].rules = append(all[i].rules, row.ID)
			}
		}
	}
	return slices.DeleteFunc(all, func(c cause) bool { return len(c.rules) < leastBlocked })
}

// notRun are the reasons why nothing was run for some rules, in the order of the rules.
func (r *Report) notRun(of func(Rule) bool) causes {
	var all causes
	for _, row := range r.Rules {
		if !row.NotJudged || !of(row) {
			continue
		}
		reason, _ := notRun(row)
		i := slices.IndexFunc(all, func(c cause) bool { return c.message == reason })
		if i < 0 {
			all, i = append(all, cause{class: row.Class, message: reason, unrun: true}), len(all)
		}
		all[i].rules = append(all[i].rules, row.ID)
	}
	return all
}

// first are what is to be mended before anything else is looked at: what blocks many of some rules, and last why
// scenarios were not run, which tends to follow from it.
func (r *Report) first(of func(Rule) bool) causes { return append(r.causes(of), r.notRun(of)...) }

// unrun reports whether one of the causes is that scenarios were not run.
func (all causes) unrun() bool { return len(all) > 0 && all[len(all)-1].unrun }

// keeps reports whether a red rule was not judged for these causes alone.
func (all causes) keeps(row Rule) bool {
	return red(row.Class) && (row.NotJudged && all.unrun() || all.explain(row.Findings))
}

// explains reports whether a red scenario did not get to its rules, or was not run, for these causes alone.
func (all causes) explains(s Scenario) bool {
	unrun := len(s.Findings) > 0 && !slices.ContainsFunc(s.Findings, func(f Finding) bool { return !f.unrun })
	return unrun && all.unrun() || all.explain(s.Findings)
}

// notJudged is what a report says of a rule behind the causes.
const notJudged = "not judged: what is to be mended first kept its scenarios from it"

// waits reports whether nothing but faults in what scenarios need was found.
func waits(found []Finding) bool {
	return len(found) > 0 && !slices.ContainsFunc(found, func(f Finding) bool { return !f.Missing || f.unrun || f.Line > 0 })
}

// explain reports whether the causes are all that was found.
func (all causes) explain(found []Finding) bool {
	return waits(found) && !slices.ContainsFunc(found, func(f Finding) bool {
		return !slices.ContainsFunc(all, func(c cause) bool { return c.message == f.Message })
	})
}

// text says what a cause blocks.
func (c cause) text() string {
	if c.unrun {
		return fmt.Sprintf("%d rules were not judged: %s", len(c.rules), printable(c.message))
	}
	return fmt.Sprintf("%d rules, whose scenarios did not get as far as judging them: %s", len(c.rules), printable(c.message))
}

// examples names some rules that a cause blocks, or all.
func (c cause) examples(whole bool) string { return someOf(c.rules, whole) }

// someOf is a list of rules that is short unless it is asked for as a whole.
func someOf(ids []string, whole bool) string {
	if len(ids) > 3 && !whole {
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:3], ", "), len(ids)-3)
	}
	return strings.Join(ids, ", ")
}

// examples are the scenarios that show a cause each, one for each cause: with frames if there is one; -1 where none does.
func (all causes) examples(scenarios []Scenario) []int {
	var shown []int
	for _, c := range all {
		at := -1
		for i, s := range scenarios {
			if !slices.ContainsFunc(s.Findings, func(f Finding) bool { return f.Missing && !f.unrun && f.Message == c.message }) {
				continue
			}
			if at < 0 || len(scenarios[at].Frames) == 0 && len(s.Frames) > 0 {
				at = i
			}
		}
		shown = append(shown, at)
	}
	return shown
}
