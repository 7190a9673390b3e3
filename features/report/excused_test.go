package report_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/verdict"
)

// broken is a run in which two must-rules and a should-rule are red.
func broken(change func(*report.Input)) (*report.Report, []verdict.Scenario) {
	var scenarios []verdict.Scenario
	var known []verdict.Known
	for _, rule := range []struct{ id, level string }{{"X-A-001", "must"}, {"X-A-002", "must"}, {"X-A-003", "should"}} {
		scenarios = append(scenarios, verdict.Scenario{
			Name: "about " + rule.id, File: "a.feature", Line: 3, Rules: []string{rule.id}, Class: verdict.Fail, Reason: "wrong",
			Findings: []verdict.Finding{{Rule: rule.id, Message: "wrong", Frame: -1, Offset: -1}},
		})
		known = append(known, verdict.Known{ID: rule.id, Level: rule.level, Text: "text of " + rule.id})
	}
	in := report.Input{
		Subject: report.Subject{Name: "sample", API: "0.4", Command: []string{"./sample"}}, Run: report.Run{Seed: 7},
		Rules: verdict.Aggregate(known, scenarios), Scenarios: scenarios,
	}
	change(&in)
	return report.New(in), scenarios
}

// shows looks for texts in every report that people and programs read.
func shows(t *testing.T, r *report.Report, scenarios []verdict.Scenario, want map[string][]string) {
	t.Helper()
	for name, write := range map[string]func(io.Writer) error{
		"text": func(w io.Writer) error { return r.Text(w, scenarios, report.TextOptions{}) },
		"json": r.JSON, "junit": r.JUnit, "sarif": r.SARIF, "markdown": r.Markdown, "github": r.GitHub, "html": r.HTML,
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		for _, text := range want[name] {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s: %q is missing in\n%s", name, text, out.String())
			}
		}
	}
}

// A rule that the set lacks is shown and does not count; one that it has counts at the level of the set.
func TestRequirements(t *testing.T) {
	r, scenarios := broken(func(in *report.Input) {
		in.Run.Requirements = "3"
		in.Required = func(id string) (string, bool) {
			return map[string]string{"X-A-001": "should"}[id], id == "X-A-001"
		}
	})
	if r.Summary.Exit != report.ExitClean || r.Summary.Beyond != 2 || r.Summary.Should[verdict.Fail] != 1 || len(r.Summary.Rules) != 0 {
		t.Errorf("got %+v", r.Summary)
	}
	shows(t, r, scenarios, map[string][]string{
		"text":     {"should: X-A-001 text", "beyond the requirements: X-A-002 text", "ok on API 0.4, requirements 3: rules none, 2 beyond the requirements failing;"},
		"json":     {`"requirements": "3"`, `"beyond_requirements": true`, `"beyond_requirements": 2`},
		"junit":    {`tests="1" failures="0" errors="0" skipped="1"`},
		"sarif":    {`"level": "note"`},
		"markdown": {"Requirements: 3\n", "### Advice"},
		"github":   {"::warning file=./sample,line=1,title=X-A-002::"},
		"html":     {"requirements 3", "must, beyond the requirements"},
	})
	strict, _ := broken(func(in *report.Input) {
		in.Run.Strict = true
		in.Required = func(id string) (string, bool) { return "should", id == "X-A-001" }
	})
	if strict.Summary.Exit != report.ExitFindings || strict.Summary.Rules[verdict.Fail] != 1 {
		t.Errorf("a strict run counts %+v", strict.Summary)
	}
}

// A flake that passed when it was repeated does not count; how often it failed is in every report.
func TestFlaky(t *testing.T) {
	r, scenarios := broken(func(in *report.Input) {
		in.Flaky = func(rule, scenario, message string) bool {
			return rule == "X-A-001" && scenario == "about X-A-001" && message == "wrong"
		}
		in.Repeats = []report.Repeats{{Scenario: "about X-A-001", Failed: 3, Runs: 11, Low: 0.0975, High: 0.5656}, {Scenario: "about X-A-002", Failed: 11, Runs: 11, Low: 0.7412, High: 1}}
		in.Stale = func(func(string) bool) []string { return []string{"flaky:7: X-A-009 late"} }
	})
	if r.Summary.Exit != report.ExitFindings || r.Summary.Flaky != 1 || r.Summary.Rules[verdict.Fail] != 1 {
		t.Errorf("got %+v", r.Summary)
	}
	const told = "about X-A-001 failed in 3 of 11 runs (95 % interval 10 % to 57 %)"
	shows(t, r, scenarios, map[string][]string{
		"text":     {"flaky: X-A-001 wrong\n", "repeated: " + told + "\n", "11 of 11 runs (95 % interval 74 % to 100 %), which is no flake: it counts", "STALE flaky:7: X-A-009 late", "1 flaky"},
		"json":     {`"known_flaky": true`, `"runs": 11`, `"low": 0.0975`},
		"junit":    {`failures="1" errors="0" skipped="1"`},
		"sarif":    {`"level": "note"`},
		"markdown": {"### Known flakes", "- " + told, "### Stale entries"},
		"github":   {"::notice file=./sample,line=1,title=X-A-001::"},
		"html":     {"must, flaky", told},
	})
}
