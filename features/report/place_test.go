package report_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/verdict"
)

// Every report says where in the manifest a finding is.
func TestPlaces(t *testing.T) {
	scenarios := []verdict.Scenario{{
		Name: "keys", File: "a.feature", Line: 3, Rules: []string{"X-A-001"}, Class: verdict.Fail, Reason: "unknown key",
		Findings: []verdict.Finding{
			{Rule: "X-A-001", Message: "unknown key", Frame: -1, Offset: -1, Line: 4, Column: 7},
			{Rule: "X-A-001", Message: "another key", Frame: -1, Offset: -1, Line: 5, Column: 1},
		},
	}}
	r := report.New(report.Input{
		Subject:   report.Subject{Name: "sample", API: report.UnknownAPI, Directory: "x", Manifest: "x/extension.toml", Command: []string{}},
		Rules:     verdict.Aggregate([]verdict.Known{{ID: "X-A-001", Level: "must", Text: "one"}}, scenarios),
		Scenarios: scenarios,
	})
	text := func(w io.Writer) error { return r.Text(w, scenarios, report.TextOptions{}) }
	for name, c := range map[string]struct {
		write func(io.Writer) error
		want  []string
	}{
		"text":     {text, []string{"    x/extension.toml:4:7: unknown key\n", "    x/extension.toml:5:1: another key\n"}},
		"json":     {r.JSON, []string{`"line": 4,`, `"column": 7`, `"line": 5,`}},
		"junit":    {r.JUnit, []string{"keys: x/extension.toml:4:7: unknown key", "keys: x/extension.toml:5:1: another key"}},
		"sarif":    {r.SARIF, []string{`"uri": "x/extension.toml"`, `"startColumn": 7`, `"startLine": 5`}},
		"markdown": {r.Markdown, []string{"x/extension.toml:4:7: unknown key"}},
		"github":   {r.GitHub, []string{"::error file=x/extension.toml,line=4,col=7,title=X-A-001::"}},
		"html":     {r.HTML, []string{"x/extension.toml:4:7: unknown key", "x/extension.toml:5:1: another key"}},
	} {
		var out bytes.Buffer
		if err := c.write(&out); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, out.String())
			}
		}
	}
}
