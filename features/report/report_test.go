package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
)

var update = flag.Bool("update", false, "rewrite the published schema")

func sample(strict bool) (*report.Report, []verdict.Scenario) {
	scenarios := []verdict.Scenario{
		{Name: "good", File: "a.feature", Line: 3, Rules: []string{"X-A-001"}, Class: verdict.Pass},
		{
			Name: "bad", File: "a.feature", Line: 9, Rules: []string{"X-A-002"}, Class: verdict.Fail, Reason: "wrong",
			Findings: []verdict.Finding{{Rule: "X-A-002", Message: "wrong \x1b[31m", Frame: 1, Offset: 4}},
			Frames: []wire.Frame{
				{Index: 0, Lane: wire.ToSubject, Bytes: []byte(`{"id":1}`), Size: 8, Ended: true},
				{Index: 1, Lane: wire.FromSubject, At: time.Millisecond, Bytes: []byte("\xff\x1b"), Size: 2, Ended: true},
			},
			Stderr: "oops\n", Ended: "exit code 3",
		},
		{Name: "mild", File: "a.feature", Line: 12, Rules: []string{"X-A-003"}, Class: verdict.Fail, Reason: "not nice", Findings: []verdict.Finding{{Rule: "X-A-003", Message: "not nice", Frame: -1, Offset: -1}}},
		{Name: "idle", File: "a.feature", Line: 15, Rules: []string{"X-A-004"}, Class: verdict.NotApplicable, Reason: "no tool"},
	}
	known := []verdict.Known{{ID: "X-A-001", Level: "must", Text: "one"}, {ID: "X-A-002", Level: "must", Text: "two"}, {ID: "X-A-003", Level: "should", Text: "three"}, {ID: "X-A-004", Level: "must", Text: "four"}}
	return report.New(report.Input{
		Subject: report.Subject{Name: "sample", API: "0.4", Command: []string{"./sample"}},
		Run:     report.Run{Seed: 7, Scale: 1, Jobs: 1, Strict: strict},
		Rules:   verdict.Aggregate(known, scenarios), Scenarios: scenarios, Duration: time.Second,
	}), scenarios
}

func TestText(t *testing.T) {
	r, scenarios := sample(false)
	var out bytes.Buffer
	if err := r.Text(&out, scenarios, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	want := `FAIL X-A-002 (must): two
    wrong \x1b[31m

fail: bad (a.feature:9)
    wrong
     0      0.0ms --> {"id":1}
>    1      1.0ms <-- \xff\x1b
  stderr: oops
  ended: exit code 3

not applicable: no tool (X-A-004)
should: X-A-003 three
    not nice
sample: not conformant on API 0.4: rules 1 fail, 1 pass, 1 not applicable; 4 scenarios in 1.0 s, seed 7
`
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}

func TestText_showsEachFindingBeforeOneAgain(t *testing.T) {
	var scenarios []verdict.Scenario
	for i := range 8 {
		f := verdict.Finding{Rule: "X-A-001", Message: "everywhere", Frame: -1, Offset: -1}
		if i == 7 {
			f.Rule, f.Message = "X-A-002", "in one place"
		}
		scenarios = append(scenarios, verdict.Scenario{Name: fmt.Sprintf("scenario %d", i), File: "a.feature", Line: i, Class: verdict.Fail, Reason: f.Message, Findings: []verdict.Finding{f}})
	}
	known := []verdict.Known{{ID: "X-A-001", Level: "must", Text: "one"}, {ID: "X-A-002", Level: "must", Text: "two"}}
	r := report.New(report.Input{Rules: verdict.Aggregate(known, scenarios), Scenarios: scenarios})
	var out bytes.Buffer
	if err := r.Text(&out, scenarios, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "fail: scenario"); got != 2 || !strings.Contains(out.String(), "fail: scenario 7") {
		t.Errorf("got:\n%s\nwant scenario 0, scenario 7 and none of the others", out.String())
	}
	if want := "6 more did not pass"; !strings.Contains(out.String(), want) {
		t.Errorf("got:\n%s\nwant %q in it", out.String(), want)
	}
}

// What a fault of one rule looks like is seen best where the scenario is about that rule, however many meet it.
func TestText_showsTheScenarioOfTheRule(t *testing.T) {
	var scenarios []verdict.Scenario
	for i, rule := range []string{"X-A-001", "X-A-002", "X-A-003"} {
		f := verdict.Finding{Rule: "X-A-003", Message: fmt.Sprintf("id %d is wrong", i), Frame: -1, Offset: -1}
		scenarios = append(scenarios, verdict.Scenario{Name: "about " + rule, File: "a.feature", Line: i + 1, Rules: []string{rule}, Class: verdict.Fail, Reason: f.Message, Findings: []verdict.Finding{f}})
	}
	known := []verdict.Known{{ID: "X-A-001", Level: "must"}, {ID: "X-A-002", Level: "must"}, {ID: "X-A-003", Level: "must", Text: "three"}}
	r := report.New(report.Input{Rules: verdict.Aggregate(known, scenarios), Scenarios: scenarios})
	var out bytes.Buffer
	if err := r.Text(&out, scenarios, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "fail: about"); got != 1 || !strings.Contains(out.String(), "fail: about X-A-003 (a.feature:3)") {
		t.Errorf("got:\n%s\nwant the scenario about X-A-003 and no other", out.String())
	}
	if want := "2 more did not pass"; !strings.Contains(out.String(), want) {
		t.Errorf("got:\n%s\nwant %q in it", out.String(), want)
	}
}

func TestText_marksWhatCounts(t *testing.T) {
	s := verdict.Scenario{Name: "both", File: "a.feature", Line: 1, Class: verdict.Fail, Reason: "not nice", Findings: []verdict.Finding{
		{Rule: "X-A-002", Message: "not nice", Frame: 0, Offset: -1}, {Rule: "X-A-001", Message: "wrong", Frame: 1, Offset: -1},
	}, Frames: []wire.Frame{{Index: 0, Bytes: []byte("{}"), Size: 2, Ended: true}, {Index: 1, Bytes: []byte("[]"), Size: 2, Ended: true}}}
	scenarios := []verdict.Scenario{s}
	r := report.New(report.Input{Rules: verdict.Aggregate([]verdict.Known{{ID: "X-A-001", Level: "must"}, {ID: "X-A-002", Level: "should"}}, scenarios), Scenarios: scenarios})
	var out bytes.Buffer
	if err := r.Text(&out, scenarios, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fail: both (a.feature:1)\n    wrong\n", "\n>    1 "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got:\n%s\nwant %q in it", out.String(), want)
		}
	}
}

func TestText_saysLastWhatToAdd(t *testing.T) {
	var scenarios []verdict.Scenario
	var known []verdict.Known
	for i, reason := range []string{"no hooks", "no call; add one", "no menu"} {
		id := fmt.Sprintf("X-A-%03d", i+1)
		known = append(known, verdict.Known{ID: id, Level: "must"})
		scenarios = append(scenarios, verdict.Scenario{Name: id, Rules: []string{id}, Class: verdict.NotApplicable, Reason: reason})
	}
	r := report.New(report.Input{Rules: verdict.Aggregate(known, scenarios), Scenarios: scenarios})
	var out bytes.Buffer
	if err := r.Text(&out, scenarios, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "not applicable: no hooks (X-A-001)\nnot applicable: no menu (X-A-003)\nnot applicable: no call; add one (X-A-002)\n"
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("got:\n%s\nwant first:\n%s", out.String(), want)
	}
}

func TestExit(t *testing.T) {
	must := func(c verdict.Class) verdict.Rule { return verdict.Rule{ID: "X", Level: "must", Class: c} }
	passed := []verdict.Scenario{{Class: verdict.Pass}}
	should := verdict.Rule{ID: "Y", Level: "should", Class: verdict.Fail}
	tests := []struct {
		name      string
		strict    bool
		rules     []verdict.Rule
		scenarios []verdict.Scenario
		want      int
	}{
		{"clean", false, []verdict.Rule{must(verdict.Pass), must(verdict.NotApplicable)}, passed, report.ExitClean},
		{"broken", false, []verdict.Rule{must(verdict.Pass), must(verdict.Fail)}, nil, report.ExitFindings},
		{"silent", false, []verdict.Rule{must(verdict.Pass), must(verdict.NoAnswer)}, nil, report.ExitFindings},
		{"should", false, []verdict.Rule{must(verdict.Pass), should}, passed, report.ExitClean},
		{"should, strict", true, []verdict.Rule{must(verdict.Pass), should}, nil, report.ExitFindings},
		{"errored", false, []verdict.Rule{must(verdict.Pass)}, []verdict.Scenario{{Class: verdict.Errored}}, report.ExitUnable},
		{"errored and broken", false, []verdict.Rule{must(verdict.Fail)}, []verdict.Scenario{{Class: verdict.Errored}}, report.ExitFindings},
		{"nothing judged", false, []verdict.Rule{must(verdict.NotApplicable)}, []verdict.Scenario{{Class: verdict.NotApplicable}}, report.ExitUnable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := report.New(report.Input{Run: report.Run{Strict: tt.strict}, Rules: tt.rules, Scenarios: tt.scenarios})
			if r.Summary.Exit != tt.want {
				t.Errorf("exit: got %d, want %d", r.Summary.Exit, tt.want)
			}
		})
	}
}

func TestJSON_keepsItsSchema(t *testing.T) {
	text, err := report.Schema()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("report.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("report.json")
	if err != nil {
		t.Fatal(err)
	}
	r, _ := sample(true)
	var out bytes.Buffer
	if err := r.JSON(&out); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(&out)
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(doc); err != nil {
		t.Errorf("the report breaks its schema: %v", err)
	}
	object, ok := doc.(map[string]any)
	if !ok {
		t.Fatalf("the report is a %T", doc)
	}
	object["surprise"] = json.Number("1")
	if compiled.Validate(object) == nil {
		t.Error("the schema accepts a member that no report has")
	}
}

func TestJUnit(t *testing.T) {
	r, _ := sample(false)
	var out bytes.Buffer
	if err := r.JUnit(&out); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(out.Bytes(), new(any)); err != nil {
		t.Errorf("no XML: %v", err)
	}
	for _, want := range []string{`<testsuite name="must" tests="3" failures="1" errors="0" skipped="1"`, `<failure message="wrong `, `<skipped message="no tool"`, `<testsuite name="should" tests="1" failures="0" errors="0" skipped="1"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got:\n%s\nwant %s in it", out.String(), want)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("a control character went into the XML")
	}
}

func TestSchema_isCurrent(t *testing.T) {
	want, err := report.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(report.SchemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(report.SchemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the types say; run 'go test ./features/report -update'", report.SchemaFile)
	}
}
