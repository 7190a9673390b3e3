package report

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"github.com/octet-dev/octet/features/verdict"
)

// The parts of SARIF 2.1.0 that a report fills.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	ColumnKind  string            `json:"columnKind"`
	Invocations []sarifInvocation `json:"invocations"`
	Results     []sarifResult     `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name  string      `json:"name"`
	Rules []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID                   string            `json:"id"`
	ShortDescription     sarifText         `json:"shortDescription"`
	DefaultConfiguration sarifConfig       `json:"defaultConfiguration"`
	Properties           map[string]string `json:"properties,omitempty"`
}

type sarifConfig struct {
	Level string `json:"level"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifInvocation struct {
	ExecutionSuccessful bool `json:"executionSuccessful"`
	ExitCode            int  `json:"exitCode"`
}

type sarifResult struct {
	RuleID              string            `json:"ruleId"`
	RuleIndex           int               `json:"ruleIndex"`
	Level               string            `json:"level"`
	Message             sarifText         `json:"message"`
	Locations           []sarifLocation   `json:"locations"`
	PartialFingerprints map[string]string `json:"partialFingerprints"`
}

type sarifLocation struct {
	PhysicalLocation sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	ArtifactLocation sarifArtifact `json:"artifactLocation"`
	Region           sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
}

// Severity of a SARIF result.
const (
	sarifError   = "error"
	sarifWarning = "warning"
	sarifNote    = "note"
)

func (r *Report) sarifLevel(row Rule) string {
	switch {
	case r.counts(row):
		return sarifError
	case row.Level == "should" && !row.excused():
		return sarifWarning
	default:
		return sarifNote
	}
}

// blockedRule is the id of the results about what kept scenarios from judging many rules.
const blockedRule = "not-judged"

// sarifFirst are the results about what is to be mended first, and the rule that they have in common.
func (r *Report) sarifFirst(first causes) (rules []sarifRule, results []sarifResult) {
	rules, results = []sarifRule{}, []sarifResult{}
	for _, c := range first {
		key := c.message
		if c.unrun {
			key = "unrun" // how many scenarios it was differs from run to run
		}
		results = append(results, sarifResult{
			RuleID: blockedRule, Level: sarifError, Message: sarifText{c.text() + " (" + c.examples(true) + ")"},
			Locations:           []sarifLocation{r.sarifLocation(Finding{})},
			PartialFingerprints: map[string]string{"octetFinding/v1": blockedRule + "/" + key},
		})
	}
	if len(results) > 0 {
		rules = append(rules, sarifRule{
			ID: blockedRule, ShortDescription: sarifText{"One fault kept the scenarios of many rules from judging them: mend it first."},
			DefaultConfiguration: sarifConfig{sarifError},
		})
	}
	return rules, results
}

func (r *Report) sarifLocation(f Finding) sarifLocation {
	return sarifLocation{PhysicalLocation: sarifPhysical{
		ArtifactLocation: sarifArtifact{URI: r.place()}, Region: sarifRegion{max(f.Line, 1), f.Column},
	}}
}

// SARIF writes the report in the Static Analysis Results Interchange Format 2.1.0: one result for each
// fault that kept scenarios from judging many rules, then one for each other rule and scenario that is red and was run. A program has no source here, so a result points at its place in the manifest,
// at the manifest, or at the program.
func (r *Report) SARIF(w io.Writer) error {
	first := r.first(r.counts)
	rules, results := r.sarifFirst(first)
	run := sarifRun{
		Tool:        sarifTool{Driver: sarifDriver{Name: "octet-conform", Rules: rules}},
		ColumnKind:  "unicodeCodePoints",
		Invocations: []sarifInvocation{{ExecutionSuccessful: r.Summary.Exit != ExitUnable, ExitCode: r.Summary.Exit}},
		Results:     results,
	}
	for _, row := range r.Rules {
		if !red(row.Class) || row.NotJudged || first.keeps(row) {
			continue
		}
		rule := sarifRule{
			ID: row.ID, ShortDescription: sarifText{row.Text}, DefaultConfiguration: sarifConfig{r.sarifLevel(row)},
		}
		if row.Source != "" {
			rule.Properties = map[string]string{"source": row.Source}
		}
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
		for _, f := range row.distinct() {
			run.Results = append(run.Results, sarifResult{
				RuleID: row.ID, RuleIndex: len(run.Tool.Driver.Rules) - 1, Level: rule.DefaultConfiguration.Level,
				Message:             sarifText{f.Message + " (scenario: " + f.Scenario + ")"},
				Locations:           []sarifLocation{r.sarifLocation(f)},
				PartialFingerprints: map[string]string{"octetFinding/v1": row.ID + "/" + f.Scenario},
			})
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	})
}

// place is the file that findings point at, with slashes.
func (r *Report) place() string {
	if r.Subject.Manifest != "" {
		return filepath.ToSlash(r.Subject.Manifest)
	}
	if r.Subject.Directory != "" {
		return filepath.ToSlash(filepath.Join(r.Subject.Directory, "extension.toml"))
	}
	if len(r.Subject.Command) > 0 {
		return filepath.ToSlash(r.Subject.Command[0])
	}
	return r.Subject.Name
}

// distinct are the findings of a rule, the first of each scenario and place in the manifest. A rule that is red without one, because
// its scenarios could not run, has its reason as one.
func (row *Rule) distinct() []Finding {
	seen := map[string]bool{}
	var out []Finding
	for _, f := range row.Findings {
		if key := fmt.Sprint(f.Scenario, f.Line, f.Column); !seen[key] {
			seen[key] = true
			out = append(out, f)
		}
	}
	if out == nil && red(row.Class) {
		for _, name := range row.Scenarios {
			out = append(out, Finding{Rule: row.ID, Scenario: name, Message: row.Reason})
		}
	}
	return out
}

// red reports whether a verdict is held against the subject.
func red(c verdict.Class) bool { return c == verdict.Fail || c == verdict.NoAnswer }
