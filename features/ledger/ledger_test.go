package ledger

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/verdict"
)

// Without any run, nothing that must or should be is empty without a reason.
func TestNew_everyRuleIsAccountedFor(t *testing.T) {
	l, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range l.Empty {
		t.Errorf("empty without a reason: %s", cell)
	}
	if len(l.Rows) != len(rulebook.All()) || l.Count().Judged < 500 {
		t.Errorf("%d rows, %+v", len(l.Rows), l.Count())
	}
}

const ruleOfExtensions, ruleOfHosts, ruleOfManifests = "EXT04-FRAME-001", "EXT04-NEG-011", "MAN-CAP-002"

// runOf is a report in which every judged rule of the roles has a row, save those that are left out.
func runOf(role, api string, roles []string, class func(id string) verdict.Class) *report.Report {
	r := &report.Report{Subject: report.Subject{Role: role, API: api}}
	for _, rule := range rulebook.All() {
		if c := class(rule.ID); c != "" && slices.Contains(roles, rule.Role) && rulebook.Binds(rule, api) {
			r.Rules = append(r.Rules, report.Rule{ID: rule.ID, Class: c, Reason: "because"})
		}
	}
	return r
}

// complete are runs of a host and an extension on every version, in which one rule is what change says.
func complete(change func(id, api string) verdict.Class) []Run {
	var runs []Run
	for _, api := range []string{"0.1", "0.2", "0.3", "0.4"} {
		class := func(id string) verdict.Class { return change(id, api) }
		runs = append(runs,
			Run{"octet", runOf(report.RoleHost, api, []string{"host"}, class)},
			Run{"go", runOf(report.RoleExtension, api, []string{"extension", "manifest"}, class)})
	}
	return runs
}

func rowOf(t *testing.T, l *Ledger, id string) Row {
	t.Helper()
	at := slices.IndexFunc(l.Rows, func(r Row) bool { return r.ID == id })
	if at < 0 {
		t.Fatalf("no row of %s", id)
	}
	return l.Rows[at]
}

func TestNew_cells(t *testing.T) {
	l, err := New(complete(func(id, api string) verdict.Class {
		if id == ruleOfExtensions && api == "0.2" {
			return verdict.Fail
		}
		return verdict.Pass
	}))
	if err != nil || len(l.Empty) > 0 || !slices.Equal(l.Subjects, []string{"octet", "go"}) {
		t.Fatalf("%v, subjects %v, empty %v", err, l.Subjects, l.Empty)
	}
	row := rowOf(t, l, ruleOfExtensions)
	if c := row.Cells[1]; c.Class != verdict.Fail || c.Note != "0.2: because" || row.Faulty == 0 {
		t.Errorf("got %+v", row)
	}
	if c := row.Cells[0]; !c.Beside || c.Title() != "the rule binds another role" {
		t.Errorf("a host has %+v for a rule of extensions", c)
	}
	if row := rowOf(t, l, ruleOfHosts); row.Cells[0].Class != verdict.Pass || !row.Cells[1].Beside || row.Scenarios == "0" {
		t.Errorf("got %+v", row)
	}
	if row := rowOf(t, l, ruleOfManifests); row.Cells[1].Class != verdict.Pass || !row.Cells[0].Beside {
		t.Errorf("got %+v", row)
	}
	if row := rowOf(t, l, "MAN-FILE-010"); row.Why() == "" || row.Scenarios != "0" {
		t.Errorf("a rule that no run judges is %+v", row)
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"Markdown": func(b *bytes.Buffer) error { return l.Markdown(b) },
		"HTML":     func(b *bytes.Buffer) error { return l.HTML(b) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{ruleOfExtensions, ruleOfHosts, "0.2: because", l.Count().Sentence(), "(proven by runtime/manifest)"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
	}
}

// A judged rule of which a run says nothing leaves a cell empty.
func TestNew_emptyCells(t *testing.T) {
	l, err := New(complete(func(id, api string) verdict.Class {
		if id == ruleOfHosts && api != "0.4" {
			return ""
		}
		return verdict.Pass
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := ruleOfHosts + ": no run of octet says anything about it on API 0.1, 0.2"
	if !slices.Equal(l.Empty, []string{want}) {
		t.Errorf("got %v, want %q", l.Empty, want)
	}
	var b bytes.Buffer
	if err := l.HTML(&b); err != nil || !strings.Contains(b.String(), "1 cells are empty without a reason") || !strings.Contains(b.String(), want) {
		t.Errorf("%v; the page does not say so", err)
	}
}
