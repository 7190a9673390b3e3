package ledger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/generated/rules"
)

// Run is a report of a subject. Runs of one subject on several API versions have one label.
type Run struct {
	Label  string
	Report *report.Report
}

// Ledger is one row for each rule of the spec.
type Ledger struct {
	Subjects []string
	Rows     []Row
	// Empty names the cells of must- and should-rules that are empty without a reason.
	Empty []string
}

// Row is what is known of one rule.
type Row struct {
	ID, Area, Level, Role, Text string
	APIs                        []string
	Scenarios                   string // how many prove it; "all" if every frame is judged by it
	Faulty                      int    // peers, hosts and manifests that break it
	Cells                       []Cell // one for each subject
	Reason                      string // why no run judges it; empty if one does
	ProvenBy                    string // a place in the repository, instead of a scenario or beside one
}

// Cell is what runs found about a rule in one subject.
type Cell struct {
	Class   verdict.Class // the worst over all versions; empty: no run says anything
	Note    string        // each version that the class is of, with its reason
	Missing []string      // versions of the rule on which no run says anything
	Beside  bool          // the rule binds another role than the subject's
}

// New makes the ledger. It wants a verdict on every judged rule in each subject of its role, on every version that
// the rule binds; a subject that was never run on a version of a rule leaves its cell empty.
func New(runs []Run) (*Ledger, error) {
	proofs, err := Proofs()
	if err != nil {
		return nil, err
	}
	l := &Ledger{}
	for _, r := range runs {
		if !slices.Contains(l.Subjects, r.Label) {
			l.Subjects = append(l.Subjects, r.Label)
		}
	}
	for _, r := range rulebook.All() {
		row := Row{
			ID: r.ID, Area: r.Wire + " " + r.Area, Level: string(r.Level), Role: r.Role, Text: r.Text, APIs: r.Versions,
			Reason: r.NoPeer, ProvenBy: r.ProvenBy, Scenarios: "0",
		}
		if r.Unproven != "" {
			row.Reason = "nothing proves it yet: " + r.Unproven
		}
		if p := proofs[r.ID]; p != nil {
			row.Faulty = len(p.Faulty)
			row.Scenarios = fmt.Sprint(len(p.Scenarios))
			if p.Heard {
				row.Scenarios = "all"
			}
		}
		for _, label := range l.Subjects {
			row.Cells = append(row.Cells, cell(r, label, runs))
		}
		l.look(r, &row)
		l.Rows = append(l.Rows, row)
	}
	return l, nil
}

// look notes the cells of a rule that are empty without a reason. A permission needs none.
func (l *Ledger) look(r rulebook.Rule, row *Row) {
	if r.Level == rules.May || row.Reason != "" {
		return
	}
	empty := func(what string) { l.Empty = append(l.Empty, r.ID+": "+what) }
	if row.Scenarios == "0" {
		empty("no scenario proves it")
	}
	if row.Faulty == 0 {
		empty("nothing faulty breaks it")
	}
	for i, c := range row.Cells {
		if len(c.Missing) > 0 {
			empty(fmt.Sprintf("no run of %s says anything about it on API %s", l.Subjects[i], strings.Join(c.Missing, ", ")))
		}
	}
}

func cell(r rulebook.Rule, label string, runs []Run) Cell {
	c := Cell{Beside: !slices.ContainsFunc(runs, func(run Run) bool { return run.Label == label && binds(r.Role, run.Report) })}
	if c.Beside {
		return c
	}
	var notes []string
	for _, api := range r.Versions {
		row := find(r.ID, label, api, runs)
		if row == nil {
			c.Missing = append(c.Missing, api)
			continue
		}
		if worse(row.Class, c.Class) {
			c.Class, notes = row.Class, nil
		}
		if row.Class == c.Class {
			note := api
			if row.Reason != "" {
				note += ": " + row.Reason
			}
			notes = append(notes, note)
		}
	}
	c.Note = strings.Join(notes, "; ")
	return c
}

// binds reports whether a rule of a role is about the subject of a report. A manifest is that of an extension.
func binds(role string, r *report.Report) bool {
	for _, alone := range []string{report.RoleHost, report.RoleServer, report.RoleClient} {
		if (role == alone) != (r.Subject.Role == alone) {
			return false
		}
	}
	return true
}

// find returns the row of a rule in the run of a subject on a version, nil if there is none.
func find(id, label, api string, runs []Run) *report.Rule {
	for _, run := range runs {
		if run.Label != label || run.Report.Subject.API != api {
			continue
		}
		if at := slices.IndexFunc(run.Report.Rules, func(row report.Rule) bool { return row.ID == id }); at >= 0 {
			return &run.Report.Rules[at]
		}
	}
	return nil
}

func worse(a, b verdict.Class) bool {
	return b == "" || slices.Index(verdict.Classes(), a) < slices.Index(verdict.Classes(), b)
}
