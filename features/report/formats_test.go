package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/verdict"
)

func TestSARIF(t *testing.T) {
	r, _ := sample(false)
	var out bytes.Buffer
	if err := r.SARIF(&out); err != nil {
		t.Fatal(err)
	}
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			// One result for each red rule and scenario.
			Results []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || len(log.Runs[0].Results) != 2 {
		t.Fatalf("got %s, want one run of SARIF 2.1.0 with two results", out.String())
	}
	for i, want := range []struct{ rule, level string }{{"X-A-002", "error"}, {"X-A-003", "warning"}} {
		got := log.Runs[0].Results[i]
		if got.RuleID != want.rule || got.Level != want.level || log.Runs[0].Tool.Driver.Rules[got.RuleIndex].ID != want.rule {
			t.Errorf("result %d is %+v, want rule %s of level %s, named by its index", i, got, want.rule, want.level)
		}
	}
}

func TestMarkdown(t *testing.T) {
	r, _ := sample(false)
	r.Rules[1].Text = "a | b <script> `x` *y*"
	var out bytes.Buffer
	if err := r.Markdown(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"**not conformant** on API 0.4", "| fail | 1 | 2 |", "`X-A-002` | a \\| b &lt;script&gt; \\`x\\` \\*y\\* |", "### Advice", "--seed 7"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
}

func TestGitHub(t *testing.T) {
	r, _ := sample(false)
	r.Rules[1].Reason = "100%\n::error::forged"
	var out bytes.Buffer
	if err := r.GitHub(&out); err != nil {
		t.Fatal(err)
	}
	want := "::error file=./sample,line=1,title=X-A-002::two Found: 100%25\\n::error::forged\n::warning file=./sample,line=1,title=X-A-003::three Found: not nice\n"
	if got := strings.ReplaceAll(out.String(), "%0A", `\n`); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestBadge(t *testing.T) {
	r, _ := sample(false)
	var out bytes.Buffer
	if err := r.Badge(&out); err != nil {
		t.Fatal(err)
	}
	if want := `{"schemaVersion":1,"label":"octet API 0.4","message":"1 rules broken","color":"red"}` + "\n"; out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}

func TestHTML(t *testing.T) {
	r, _ := sample(false)
	r.Subject.Name = `<img src=x onerror=alert(1)>`
	r.Scenarios[1].Stderr = "</script><script>alert(1)</script>"
	var out bytes.Buffer
	if err := r.HTML(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, hostile := range []string{"<img src=x", "<script>alert"} {
		if strings.Contains(text, hostile) {
			t.Errorf("%q reached the page unescaped", hostile)
		}
	}
	for _, want := range []string{`id="X-A-002"`, `href="#scenario-1"`, `id="scenario-1"`, `data-frame="1"`, "ff 1b", "X-A</span>", `<span class="reason">wrong</span></summary>`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in the page", want)
		}
	}
	for _, reference := range []string{"http://", "https://", "<link", "src="} {
		if strings.Contains(strings.ReplaceAll(text, "&lt;img src=x", ""), reference) {
			t.Errorf("the page refers to something outside of it: %q", reference)
		}
	}
}

// The byte of a finding is marked, a whole character of it.
func TestHTML_marksTheByte(t *testing.T) {
	r, _ := sample(false)
	text, offset, frame := `{"a":"ü"}`, 6, 1
	r.Scenarios[1].Frames[1] = report.Frame{Index: 1, Lane: "extension", Text: &text, Size: len(text), LineFeed: true}
	r.Scenarios[1].Findings[0].Offset, r.Scenarios[1].Findings[0].Frame = &offset, &frame
	var out bytes.Buffer
	if err := r.HTML(&out); err != nil {
		t.Fatal(err)
	}
	if want := `<pre class="raw">{&#34;a&#34;:&#34;<mark>ü</mark>&#34;}</pre>`; !strings.Contains(out.String(), want) {
		t.Errorf("%q is missing in the page", want)
	}
}

func TestCompare(t *testing.T) {
	before, _ := sample(false)
	after, _ := sample(false)
	after.Rules[0].Class, after.Rules[0].Reason = verdict.Fail, "broke"
	after.Rules[1].Class = verdict.Pass
	after.Rules = after.Rules[:3]
	var out bytes.Buffer
	worse, err := report.Differences(&out, before, after)
	if err != nil || !worse {
		t.Errorf("got %v, %v, want worse", worse, err)
	}
	want := `worse    X-A-001: pass -> fail: one
    broke
better   X-A-002: fail -> pass: two
changed  X-A-004: not applicable -> not judged: four
sample -> sample: rules got worse; 1 better, 1 otherwise changed
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if worse, _ := report.Differences(&out, after, after); worse {
		t.Error("a run is worse than itself")
	}
}

func TestRead(t *testing.T) {
	r, _ := sample(false)
	path := filepath.Join(t.TempDir(), "r.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := r.JSON(&out); err != nil {
		t.Fatal(err)
	}
	write(out.String())
	if got, err := report.Read(path); err != nil || len(report.Compare(r, got)) > 0 {
		t.Errorf("got %v, want the report that was written", err)
	}
	for text, want := range map[string]string{"{": "is no report", `{"format":"x"}`: `has the format "x"`} {
		write(text)
		if _, err := report.Read(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want an error with %q and the file", text, err, want)
		}
	}
}

// A red rule whose findings are all known does not count; an entry that nothing needed is a finding.
func TestNew_known(t *testing.T) {
	scenarios := []verdict.Scenario{{
		Name: "bad", Rules: []string{"X-A-001"}, Class: verdict.Fail, Reason: "wrong",
		Findings: []verdict.Finding{{Rule: "X-A-001", Message: "wrong", Frame: -1, Offset: -1}, {Rule: "X-A-001", Message: "worse", Frame: -1, Offset: -1}},
	}}
	rows := verdict.Aggregate([]verdict.Known{{ID: "X-A-001", Level: "must"}}, scenarios)
	run := func(stale []string, known ...string) *report.Report {
		return report.New(report.Input{
			Rules: rows, Scenarios: scenarios,
			Known: func(rule, message string) bool { return rule == "X-A-001" && slices.Contains(known, message) },
			Stale: func(judged func(string) bool) []string {
				if !judged("X-A-001") || judged("X-A-002") {
					t.Error("the rule that was judged is not told from others")
				}
				return stale
			},
		})
	}
	for _, c := range []struct {
		name  string
		r     *report.Report
		exit  int
		known int
	}{
		{"nothing is known", run(nil), report.ExitFindings, 0},
		{"one of two is known", run(nil, "wrong"), report.ExitFindings, 0},
		{"all is known", run(nil, "wrong", "worse"), report.ExitClean, 1},
		{"an entry is stale", run([]string{"known.txt:1: X-A-001 gone"}, "wrong", "worse"), report.ExitFindings, 1},
	} {
		if c.r.Summary.Exit != c.exit || c.r.Summary.Known != c.known {
			t.Errorf("%s: exit %d with %d known, want %d with %d", c.name, c.r.Summary.Exit, c.r.Summary.Known, c.exit, c.known)
		}
	}
}
