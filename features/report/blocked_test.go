package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
)

// refused is a run in which initialize was refused, so that no scenario got to what it judges, but for one.
func refused(t *testing.T) (*report.Report, []verdict.Scenario) {
	t.Helper()
	const reason = "initialize: the answer is an error, want a result"
	var known []verdict.Known
	var scenarios []verdict.Scenario
	for i := range 6 {
		id := fmt.Sprintf("X-A-%03d", i+1)
		level := "must"
		if i == 5 {
			level = "should"
		}
		known = append(known, verdict.Known{ID: id, Level: level, Text: "the text of " + id})
		s := verdict.Scenario{Name: "scenario " + id, File: "a.feature", Line: i + 3, Rules: []string{id}, Class: verdict.Fail, Reason: reason}
		s.Findings = []verdict.Finding{{Rule: id, Message: reason, Frame: -1, Offset: -1, Missing: true}}
		if i == 1 || i == 2 {
			s.Frames = []wire.Frame{{Lane: wire.ToSubject, Bytes: []byte(`{"id":1}`), Size: 8, Ended: true}}
		}
		if i == 4 {
			s.Reason, s.Findings[0].Message, s.Findings[0].Missing = "said yes", "said yes", false
		}
		scenarios = append(scenarios, s)
	}
	return report.New(report.Input{
		Subject: report.Subject{Name: "sample", API: "0.4"}, Run: report.Run{Seed: 7},
		Rules: verdict.Aggregate(known, scenarios), Scenarios: scenarios,
	}), scenarios
}

func TestText_tellsOnceWhatBlocksManyRules(t *testing.T) {
	r, scenarios := refused(t)
	var out bytes.Buffer
	if err := r.Text(&out, scenarios, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	want := `FAIL 4 rules, whose scenarios did not get as far as judging them: initialize: the answer is an error, want a result
    X-A-001, X-A-002, X-A-003 and 1 more
FAIL X-A-005 (must): the text of X-A-005
    said yes

fail: scenario X-A-002 (a.feature:4)
    initialize: the answer is an error, want a result
     0      0.0ms --> {"id":1}

fail: scenario X-A-005 (a.feature:7)
    said yes

in the same way 3 more did not get as far as judging their rules; --verbose shows all

should: X-A-006 the text of X-A-006
    initialize: the answer is an error, want a result
`
	if got, _, _ := strings.Cut(out.String(), "sample:"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}

	out.Reset()
	if err := r.Text(&out, scenarios, report.TextOptions{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"X-A-001", "X-A-002", "X-A-003", "X-A-004", "X-A-005"} {
		if !strings.Contains(out.String(), "fail: scenario "+id) {
			t.Errorf("verbose: scenario %s is not shown", id)
		}
	}
}

func TestText_tellsRulesApartThatFewScenariosShare(t *testing.T) {
	r, scenarios := refused(t)
	few := report.New(report.Input{Rules: verdict.Aggregate([]verdict.Known{{ID: "X-A-001", Level: "must", Text: "one"}, {ID: "X-A-002", Level: "must", Text: "two"}}, scenarios[:2]), Scenarios: scenarios[:2], Subject: r.Subject})
	var out bytes.Buffer
	if err := few.Text(&out, scenarios[:2], report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"FAIL X-A-001 (must): one\n", "FAIL X-A-002 (must): two\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got:\n%s\nwant %q in it", out.String(), want)
		}
	}
}

func TestMarkdown_tellsOnceWhatBlocksManyRules(t *testing.T) {
	r, _ := refused(t)
	var out bytes.Buffer
	if err := r.Markdown(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"### To mend first\n\n- 5 rules, whose scenarios", "(X-A-001, X-A-002, X-A-003 and 2 more)", "| `X-A-005` |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got:\n%s\nwant %q in it", out.String(), want)
		}
	}
	if strings.Contains(out.String(), "| `X-A-001` |") {
		t.Errorf("got:\n%s\nwant no row of its own for a rule that was not judged", out.String())
	}
}

func TestGitHub_tellsOnceWhatBlocksManyRules(t *testing.T) {
	r, _ := refused(t)
	var out bytes.Buffer
	if err := r.GitHub(&out); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "::error "); got != 2 {
		t.Errorf("got:\n%s\nwant one error for what blocks four rules and one for X-A-005", out.String())
	}
}
