package report_test

import (
	"bytes"
	"fmt"
	"io"
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

// A case in front fails with the one cause; the rules behind it are skipped and keep their class.
func TestJUnit_tellsOnceWhatBlocksManyRules(t *testing.T) {
	r, _ := refused(t)
	var out bytes.Buffer
	if err := r.JUnit(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	first := `<testsuite name="to mend first" tests="1" failures="1" errors="0" skipped="0" time="0.000">`
	if at := strings.Index(text, "<testsuite "); at < 0 || !strings.HasPrefix(text[at:], first) {
		t.Errorf("got:\n%s\nwant the cause in a suite in front", text)
	}
	for want, times := range map[string]int{
		"<failure ": 2, `type="fail"></skipped>`: 5, "initialize: the answer is an error, want a result": 2, "said yes": 2,
		`<testsuite name="must" tests="5" failures="1" errors="0" skipped="4"`: 1,
	} {
		if got := strings.Count(text, want); got != times {
			t.Errorf("%q is there %d times, want %d, in:\n%s", want, got, times, text)
		}
	}
}

func TestSARIF_tellsOnceWhatBlocksManyRules(t *testing.T) {
	r, _ := refused(t)
	var out bytes.Buffer
	if err := r.SARIF(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if got := strings.Count(text, `"ruleId"`); got != 2 {
		t.Errorf("%d results, want one for what blocks four rules and one for X-A-005, in:\n%s", got, text)
	}
	first, last := strings.Index(text, `"ruleId": "not-judged"`), strings.Index(text, `"ruleId": "X-A-005"`)
	if first < 0 || last < first || !strings.Contains(text, "want a result (X-A-001, X-A-002, X-A-003, X-A-004)") || !strings.Contains(text, `"ruleIndex": 1`) {
		t.Errorf("got:\n%s\nwant the cause with its rules first, and each result with the place of its rule", text)
	}
}

func TestHTML_tellsOnceWhatBlocksManyRules(t *testing.T) {
	r, _ := refused(t)
	var out bytes.Buffer
	if err := r.HTML(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for want, times := range map[string]int{
		"<h2>To mend first</h2>": 1, `<details class="scenario"`: 2, `id="scenario-1"`: 1, `id="scenario-4"`: 1, `<p><a href="#scenario-1">see the frames</a></p>`: 1,
		"4 more scenarios did not get as far": 1, "<p>not judged: ": 5, `id="X-A-001" data-class="fail"`: 1,
	} {
		if got := strings.Count(text, want); got != times {
			t.Errorf("%q is there %d times, want %d", want, got, times)
		}
	}
	if strings.Index(text, "To mend first") > strings.Index(text, "By subject") {
		t.Error("the cause is not at the top")
	}
}

// What was not run is one thing, too: in JUnit, SARIF and the page, where not one rule of it has a finding of its own.
func TestReports_tellOnceThatNothingWasRun(t *testing.T) {
	const reason = "the extension does not serve: 8 scenarios in a row got no answer; the remaining 5 were not run"
	var known []verdict.Known
	var scenarios []verdict.Scenario
	for i := range 5 {
		id := fmt.Sprintf("X-A-%03d", i+1)
		known = append(known, verdict.Known{ID: id, Level: "must", Text: "the text of " + id})
		scenarios = append(scenarios, verdict.Scenario{
			Name: "scenario " + id, File: "a.feature", Line: i + 3, Rules: []string{id}, Class: verdict.NoAnswer, Reason: reason, Unrun: true,
			Stderr: "boom", Findings: []verdict.Finding{{Rule: id, Message: reason, Frame: -1, Offset: -1, Silent: true, Unrun: true}},
		})
	}
	r := report.New(report.Input{Subject: report.Subject{Name: "sample", API: "0.4"}, Rules: verdict.Aggregate(known, scenarios), Scenarios: scenarios})
	for _, c := range []struct {
		write func(io.Writer) error
		want  string // once
	}{
		{r.JUnit, "<failure "}, {r.SARIF, `"ruleId"`}, {r.HTML, "8 scenarios in a row"},
	} {
		var out bytes.Buffer
		if err := c.write(&out); err != nil {
			t.Fatal(err)
		}
		if strings.Count(out.String(), c.want) != 1 || !strings.Contains(out.String(), "5 rules were not judged: the extension does not serve") {
			t.Errorf("got:\n%s\nwant the reason, and %q, once", out.String(), c.want)
		}
	}
	if s := r.Summary; s.NotJudged != 5 || s.NotRun != 5 || len(s.Rules)+len(s.Scenarios) > 0 || s.Exit != report.ExitFindings {
		t.Errorf("the summary is %+v, want five rules and scenarios of no class, and findings", s)
	}
	var text bytes.Buffer
	if err := r.Text(&text, scenarios, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "NOT JUDGED 5 rules: " + reason + "\n    stderr: boom\nsample: not conformant on API 0.4: rules 5 not judged; 0 scenarios run and 5 not in 0.0 s, seed 0\n"
	if text.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", text.String(), want)
	}
}
