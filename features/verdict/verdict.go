// Package verdict says what a run found: per scenario, and from all scenarios together per rule.
package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/octet-dev/octet/features/wire"
)

// Class is the outcome of a scenario or a rule.
type Class string

// The classes, worst first. A missing prerequisite is a Fail, never a NotApplicable.
const (
	Fail          Class = "fail"           // the extension broke a rule
	NoAnswer      Class = "no_answer"      // the extension said nothing within the deadline
	Errored       Class = "errored"        // our fault or the machine's: nothing is said about the extension
	Pass          Class = "pass"           //
	NotApplicable Class = "not_applicable" // nothing to judge here, with a reason
)

// Classes lists the classes, worst first.
func Classes() []Class { return []Class{Fail, NoAnswer, Errored, Pass, NotApplicable} }

// Text is the class as people read it.
func (c Class) Text() string {
	switch c {
	case NoAnswer:
		return "no answer"
	case NotApplicable:
		return "not applicable"
	default:
		return string(c)
	}
}

// interrupted is the reason of a scenario that the run was interrupted in or before.
const interrupted = "interrupted"

// Interrupt takes back what a scenario found: its subject was ended under it.
func (s *Scenario) Interrupt() {
	s.Class, s.Reason, s.Findings = Errored, interrupted, nil
}

// Interrupted reports whether the run was interrupted before the scenario was judged.
func (s *Scenario) Interrupted() bool { return s.Class == Errored && s.Reason == interrupted }

// Finding is one broken rule at one place.
type Finding struct {
	Rule    string // id; empty if the fault is in no rule's name
	Message string
	Frame   int // index in the recording; -1 if the fault is in no single frame
	Offset  int // byte in that frame; -1 if the fault has no place
	// Line and Column are the place in the manifest, from 1; 0 if the fault is not in it.
	Line, Column int
	// Step marks what a step of the scenario has found; all else was found by looking at every frame.
	Step bool
	// Silent marks a fault that is nothing but an answer that did not come in time.
	Silent bool
	// Missing marks a fault in what a scenario needs before it can judge its own rules.
	Missing bool
	// Unrun marks the fault of a scenario that is Unrun.
	Unrun bool
}

// Scenario is the outcome of one scenario.
type Scenario struct {
	Name     string
	File     string
	Line     int
	Rules    []string // what it proves, in the order of its tags
	Class    Class
	Reason   string    // why, for every class but Pass
	Findings []Finding // everything broken, rules of other scenarios included
	Duration time.Duration
	Idle     string // why its own rules could not be judged, although others were found broken; empty where they could
	Unrun    bool   // not run, because nothing answers; the reason is the same for all of a run

	Steps   int      // that were taken of a scenario that is red
	Again   string   // a command line that has it again; empty if none is known
	Minimal *Minimal // nil: nobody has tried to leave frames out

	Frames  []wire.Frame // what passed; empty for a pass
	Dropped int          // frames that were counted only
	Stderr  string       // the newest of it
	Ended   string       // how the subject ended
}

// Minimal says how many frames of the host a failure needs. The frames of the scenario are then those of a run
// without the others, and so are the places of its findings.
type Minimal struct {
	Finding Finding  // what the frames show
	Kept    int      // frames of the host
	Sent    []string // origins of those that there were
	Steps   int      // of the scenario that were taken then
	Tries   int
	Least   bool   // without any one of them, but for initialize, the failure is lost
	Note    string // why they are not the least, or not fewer; empty if they are
}

// Text is what people read of it.
func (m *Minimal) Text() string {
	frames := fmt.Sprintf("%d of %d frames of the host", m.Kept, len(m.Sent))
	switch {
	case m.Sent == nil:
		return "not minimised: " + m.Note
	case !m.Least:
		return fmt.Sprintf("%s, perhaps more than the failure needs: %s", frames, m.Note)
	case m.Kept == 1:
		return frames + ", which the failure needs"
	default:
		return frames + ", each of which the failure needs"
	}
}

// Rule is the outcome of one rule over all scenarios.
type Rule struct {
	ID        string
	Level     string
	Text      string
	Source    string // where the rule comes from
	Class     Class
	Reason    string
	Findings  []Located
	Scenarios []string // names of the scenarios that prove it
}

// Located is a finding with the scenario that made it.
type Located struct {
	Finding
	Scenario string
}

// Known is what the aggregation needs to know of a rule.
type Known struct{ ID, Level, Text, Source string }

// maxLocated bounds the findings kept per rule: a rule broken in every frame needs no list of all.
const maxLocated = 20

// Aggregate turns scenarios into one row per known rule that a scenario proves or a finding names, in
// the order of the known rules.
//
// A finding makes its rule red wherever it was made. Otherwise the worst class of the scenarios that
// prove the rule counts, except that a scenario which found only other rules broken speaks for its own.
func Aggregate(known []Known, scenarios []Scenario) []Rule {
	rows := map[string]*Rule{}
	row := func(id string) *Rule {
		if rows[id] == nil {
			rows[id] = &Rule{ID: id, Class: NotApplicable}
		}
		return rows[id]
	}
	// The scenarios of a rule show it best.
	for _, proves := range []bool{true, false} {
		for _, s := range scenarios {
			for _, f := range s.Findings {
				if f.Rule == "" || slices.Contains(s.Rules, f.Rule) != proves {
					continue
				}
				r := row(f.Rule)
				if len(r.Findings) < maxLocated {
					r.Findings = append(r.Findings, Located{Finding: f, Scenario: s.Name})
				}
			}
		}
	}
	for _, s := range scenarios {
		for _, id := range s.Rules {
			r := row(id)
			if !slices.Contains(r.Scenarios, s.Name) {
				r.Scenarios = append(r.Scenarios, s.Name)
			}
			r.merge(s)
		}
	}
	var out []Rule
	for _, k := range known {
		r := rows[k.ID]
		if r == nil {
			continue
		}
		r.Level, r.Text, r.Source = k.Level, k.Text, k.Source
		if len(r.Findings) > 0 {
			// What was seen says more than what was left out.
			first := max(slices.IndexFunc(r.Findings, func(f Located) bool { return !f.Unrun }), 0)
			r.Class, r.Reason = Fail, r.Findings[first].Message
			if !slices.ContainsFunc(r.Findings, func(f Located) bool { return !f.Silent }) {
				r.Class = NoAnswer
			}
		}
		out = append(out, *r)
	}
	return out
}

func (r *Rule) merge(s Scenario) {
	class, reason := s.Class, s.Reason
	if class == Fail || class == NoAnswer {
		if !slices.ContainsFunc(s.Findings, func(f Finding) bool { return f.Rule == r.ID || f.Rule == "" }) {
			class, reason = Pass, ""
			if s.Idle != "" {
				class, reason = NotApplicable, s.Idle
			}
		}
	}
	rank := func(c Class) int { return slices.Index(Classes(), c) }
	if cmp.Less(rank(class), rank(r.Class)) || r.Class == class && r.Reason == "" {
		r.Class, r.Reason = class, reason
	}
}
