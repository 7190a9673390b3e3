package verdict_test

import (
	"testing"

	"github.com/octet-dev/octet/features/verdict"
)

func TestAggregate(t *testing.T) {
	known := []verdict.Known{{ID: "A", Level: "must"}, {ID: "B", Level: "must"}, {ID: "C", Level: "should"}, {ID: "D", Level: "must"}, {ID: "E", Level: "must"}, {ID: "F", Level: "must"}, {ID: "G", Level: "should"}, {ID: "H", Level: "must"}}
	finding := func(rule string) []verdict.Finding {
		return []verdict.Finding{{Rule: rule, Message: rule + " broken", Frame: -1}}
	}
	rows := verdict.Aggregate(known, []verdict.Scenario{
		{Name: "one", Rules: []string{"A"}, Class: verdict.Pass},
		{Name: "two", Rules: []string{"A"}, Class: verdict.NotApplicable, Reason: "no tool"},
		{Name: "three", Rules: []string{"B"}, Class: verdict.Fail, Reason: "C broken", Findings: finding("C")},
		{Name: "four", Rules: []string{"C"}, Class: verdict.Pass},
		{Name: "five", Rules: []string{"D"}, Class: verdict.NotApplicable, Reason: "no tool"},
		{Name: "six", Rules: []string{"E"}, Class: verdict.NoAnswer, Reason: "E silent", Findings: []verdict.Finding{{Rule: "E", Message: "E silent", Frame: -1, Silent: true}}},
		{Name: "seven", Rules: []string{"F"}, Class: verdict.Errored, Reason: "disk full"},
		{Name: "left out", Rules: []string{"G"}, Class: verdict.NoAnswer, Unrun: true, Findings: []verdict.Finding{{Rule: "G", Message: "left out", Frame: -1, Silent: true, Unrun: true}}},
		{Name: "ran", Rules: []string{"G"}, Class: verdict.NoAnswer, Findings: []verdict.Finding{{Rule: "G", Message: "G silent", Frame: -1, Silent: true}}},
		{Name: "idle", Rules: []string{"H"}, Class: verdict.Fail, Reason: "C broken", Idle: "no tool", Findings: finding("C")},
		{Name: "eight", Rules: []string{"F"}, Class: verdict.Pass},
	})
	want := map[string]struct {
		class  verdict.Class
		reason string
	}{
		"A": {verdict.Pass, ""},
		"B": {verdict.Pass, ""},
		"C": {verdict.Fail, "C broken"},
		"D": {verdict.NotApplicable, "no tool"},
		"E": {verdict.NoAnswer, "E silent"},
		"F": {verdict.Errored, "disk full"},
		"G": {verdict.NoAnswer, "G silent"},
		"H": {verdict.NotApplicable, "no tool"},
	}
	if len(rows) != len(want) {
		t.Fatalf("rows: got %d, want %d", len(rows), len(want))
	}
	for i, row := range rows {
		if row.ID != known[i].ID || row.Level != known[i].Level {
			t.Errorf("row %d: got %s %s, want %s %s", i, row.ID, row.Level, known[i].ID, known[i].Level)
		}
		if w := want[row.ID]; row.Class != w.class || row.Reason != w.reason {
			t.Errorf("%s: got %s %q, want %s %q", row.ID, row.Class, row.Reason, w.class, w.reason)
		}
	}
}

// The scenario that is about a rule is told first of those that found it broken, even behind many others.
func TestAggregate_beginsWithTheScenarioOfTheRule(t *testing.T) {
	found := []verdict.Finding{{Rule: "A", Message: "A broken", Frame: -1}}
	var scenarios []verdict.Scenario
	for range 30 {
		scenarios = append(scenarios, verdict.Scenario{Name: "another", Rules: []string{"B"}, Class: verdict.Fail, Findings: found})
	}
	scenarios = append(scenarios, verdict.Scenario{Name: "its own", Rules: []string{"A"}, Class: verdict.Fail, Findings: found})
	rows := verdict.Aggregate([]verdict.Known{{ID: "A"}, {ID: "B"}}, scenarios)
	if got := rows[0].Findings[0].Scenario; got != "its own" {
		t.Errorf("got %q first, want %q", got, "its own")
	}
}
