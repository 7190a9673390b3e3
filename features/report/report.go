// Package report shows what a run found: as text for people, as JUnit XML for CI, as JSON for programs.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
)

// Format names the shape of the JSON report.
const Format = "octet.conform.report/v1"

// Report is one run. Its JSON form is published as a schema.
type Report struct {
	Format    string     `json:"format" jsonschema:"required" jsonschema_description:"Always octet.conform.report/v1."`
	Subject   Subject    `json:"subject" jsonschema:"required"`
	Run       Run        `json:"run" jsonschema:"required"`
	Summary   Summary    `json:"summary" jsonschema:"required"`
	Rules     []Rule     `json:"rules" jsonschema:"required" jsonschema_description:"One row per rule that was judged or named by a finding, in the order of the spec."`
	Scenarios []Scenario `json:"scenarios" jsonschema:"required" jsonschema_description:"In the order of the feature files."`
}

// Subject is what was judged.
type Subject struct {
	Name      string   `json:"name" jsonschema_description:"Of the manifest, or of the program."`
	API       string   `json:"api" jsonschema_description:"Exact extension API version, or unknown if the manifest names none that exists."`
	Role      string   `json:"role,omitempty" jsonschema:"enum=extension,enum=host,enum=manifest,enum=server,enum=client" jsonschema_description:"What the subject was judged as."`
	Directory string   `json:"directory,omitempty" jsonschema_description:"Of the manifest, as given."`
	Manifest  string   `json:"manifest,omitempty" jsonschema_description:"File of the manifest. Line and column of a finding are places in it."`
	Command   []string `json:"command" jsonschema_description:"Program and arguments."`
}

// Run says how it was judged.
type Run struct {
	Seed       int64    `json:"seed" jsonschema_description:"Order of the scenarios, and what their schedules leave open; give it with --seed to repeat a run."`
	Scale      float64  `json:"scale" jsonschema_description:"By which every deadline was multiplied."`
	Jobs       int      `json:"jobs" jsonschema_description:"Scenarios at a time."`
	Strict     bool     `json:"strict" jsonschema_description:"Should-rules count."`
	Filter     []string `json:"filter,omitempty" jsonschema_description:"Patterns of --run."`
	DurationMS int64    `json:"duration_ms"`

	Requirements string `json:"requirements,omitempty" jsonschema_description:"Name of the requirement set: current, or that of a frozen one."`
}

// Summary counts.
type Summary struct {
	Rules     map[verdict.Class]int `json:"rules" jsonschema_description:"Must-rules by class; should-rules too in a strict run. Those that were not judged are in no class."`
	Should    map[verdict.Class]int `json:"should" jsonschema_description:"Should-rules by class."`
	Scenarios map[verdict.Class]int `json:"scenarios" jsonschema_description:"Scenarios by class. Those that were not run are in no class."`
	NotJudged int                   `json:"not_judged,omitempty" jsonschema_description:"Rules that count and are red only because none of their scenarios was run. They are no pass."`
	NotRun    int                   `json:"scenarios_not_run,omitempty" jsonschema_description:"Scenarios that were not run, because nothing could have come of it."`
	Known     int                   `json:"known_failing,omitempty" jsonschema_description:"Red rules that do not count because they are known."`
	Stale     []string              `json:"stale,omitempty" jsonschema_description:"Entries of the lists of known failures and flakes that nothing needed. They are findings."`
	Flaky     int                   `json:"known_flaky,omitempty" jsonschema_description:"Red rules that do not count because their scenarios are known to be flaky, and passed when repeated."`
	Repeats   []Repeats             `json:"repeats,omitempty" jsonschema_description:"Scenarios that were repeated because they are known to be flaky."`
	Beyond    int                   `json:"beyond_requirements,omitempty" jsonschema_description:"Red rules that do not count because the requirement set lacks them."`
	Exit      int                   `json:"exit" jsonschema:"enum=0,enum=1,enum=3" jsonschema_description:"0 clean, 1 findings, 3 could not judge."`
}

// Rule is the verdict on one rule.
type Rule struct {
	ID        string        `json:"id"`
	Level     string        `json:"level" jsonschema:"enum=must,enum=should,enum=may"`
	Text      string        `json:"text"`
	Source    string        `json:"source,omitempty" jsonschema_description:"Where the rule comes from: seed, sheet section or settled reading."`
	Class     verdict.Class `json:"class" jsonschema:"enum=pass,enum=fail,enum=no_answer,enum=errored,enum=not_applicable"`
	Reason    string        `json:"reason,omitempty"`
	Scenarios []string      `json:"scenarios" jsonschema_description:"Names of the scenarios that prove it."`
	Findings  []Finding     `json:"findings,omitempty"`
	NotJudged bool          `json:"not_judged,omitempty" jsonschema_description:"Red only because none of its scenarios was run."`
	Flaky     bool          `json:"known_flaky,omitempty" jsonschema_description:"Red, and all that was found is known, or in the list of known flakes and did not come back each time: it does not count."`
	Beyond    bool          `json:"beyond_requirements,omitempty" jsonschema_description:"The requirement set lacks the rule: it is reported and does not count."`
	Known     bool          `json:"known_failing,omitempty" jsonschema_description:"Red, and all that was found is in the list of known failures: it does not count."`
}

// CurrentRequirements is the set of every rule as the spec has it now.
const CurrentRequirements = "current"

// The roles of subjects.
const (
	RoleExtension = "extension"
	RoleHost      = "host"
	RoleManifest  = "manifest"
	RoleServer    = "server"
	RoleClient    = "client"
)

// UnknownAPI stands for the API version of a manifest that names none.
const UnknownAPI = "unknown"

// Finding is one broken rule at one place.
type Finding struct {
	Rule     string `json:"rule"`
	Scenario string `json:"scenario"`
	Message  string `json:"message"`
	Frame    *int   `json:"frame,omitempty" jsonschema_description:"Index of the frame in the scenario's recording."`
	Offset   *int   `json:"offset,omitempty" jsonschema_description:"Byte in that frame."`
	Line     int    `json:"line,omitempty" jsonschema_description:"Of the manifest, from 1."`
	Column   int    `json:"column,omitempty" jsonschema_description:"Character in that line of the manifest, from 1."`
	Missing  bool   `json:"missing_prerequisite,omitempty" jsonschema_description:"The fault is in what the scenario needs before it can judge its own rules."`

	unrun bool
}

// Repeats say how often a scenario failed that is known to be flaky, its first run included.
type Repeats struct {
	Scenario string  `json:"scenario"`
	Failed   int     `json:"failed"`
	Runs     int     `json:"runs"`
	Low      float64 `json:"low" jsonschema_description:"Lower end of the 95 % interval of Wilson for the share of failures."`
	High     float64 `json:"high" jsonschema_description:"Upper end."`
}

// Text is the sentence about a scenario.
func (p Repeats) Text() string {
	text := fmt.Sprintf("%s failed in %d of %d runs (95 %% interval %.0f %% to %.0f %%)", p.Scenario, p.Failed, p.Runs, 100*p.Low, 100*p.High)
	if p.Failed == p.Runs {
		text += ", which is no flake: it counts"
	}
	return text
}

// Scenario is the verdict on one scenario.
type Scenario struct {
	Name       string        `json:"name"`
	File       string        `json:"file"`
	Line       int           `json:"line"`
	Rules      []string      `json:"rules"`
	Class      verdict.Class `json:"class" jsonschema:"enum=pass,enum=fail,enum=no_answer,enum=errored,enum=not_applicable"`
	Reason     string        `json:"reason,omitempty"`
	DurationMS int64         `json:"duration_ms"`
	Findings   []Finding     `json:"findings,omitempty"`
	Frames     []Frame       `json:"frames,omitempty" jsonschema_description:"What passed on the wire, of a scenario that did not pass."`
	Dropped    int           `json:"dropped_frames,omitempty" jsonschema_description:"Frames that were counted and not kept."`
	Stderr     string        `json:"stderr,omitempty" jsonschema_description:"The newest of it."`
	Ended      string        `json:"ended,omitempty" jsonschema_description:"How the process ended."`
	Minimal    *Minimal      `json:"minimal,omitempty" jsonschema_description:"How many frames of the host the failure needs; the frames are then those of a run without the others."`
	Again      string        `json:"again,omitempty" jsonschema_description:"A command line that has the failure again, as a shell reads it."`

	minimal string
	unrun   bool
}

// Minimal says how a red scenario's conversation was made smaller.
type Minimal struct {
	Rule  string `json:"rule" jsonschema_description:"What the frames show to be broken."`
	Kept  int    `json:"kept" jsonschema_description:"Frames of the host that are shown."`
	Of    int    `json:"of" jsonschema_description:"Frames of the host that there were; 0 if it was not minimised."`
	Tries int    `json:"tries" jsonschema_description:"Starts that were made to find out."`
	Least bool   `json:"least" jsonschema_description:"Without any one of them, but for initialize, the failure is lost."`
	Note  string `json:"note,omitempty" jsonschema_description:"Why not, if that is not so."`
}

// Frame is one line of one lane. Exactly one of text and base64 is present.
type Frame struct {
	Index    int     `json:"index"`
	Lane     string  `json:"lane" jsonschema:"enum=host,enum=extension"`
	AtMS     float64 `json:"at_ms"`
	Text     *string `json:"text,omitempty" jsonschema_description:"The payload, if it is UTF-8."`
	Base64   []byte  `json:"base64,omitempty" jsonschema_description:"The payload, if it is not UTF-8."`
	Size     int     `json:"size" jsonschema_description:"Payload bytes on the wire; more than are shown if it was cut."`
	LineFeed bool    `json:"line_feed" jsonschema_description:"A line feed ended it."`
}

// Input is what a report is made from.
type Input struct {
	Subject   Subject
	Run       Run
	Rules     []verdict.Rule
	Scenarios []verdict.Scenario
	Duration  time.Duration
	// Required is the level of a rule in the requirement set, and whether that has the rule. Nil: every rule counts.
	Required func(rule string) (level string, required bool)
	// Known reports whether a finding is in a list of known failures, and Stale then lists the entries of
	// every list that nothing needed. Nil: there is no list.
	Known func(rule, message string) bool
	// Flaky reports whether a finding is in a list of known flakes and its scenario passed when it was repeated.
	Flaky   func(rule, scenario, message string) bool
	Repeats []Repeats
	Stale   func(judged func(rule string) bool) []string
}

// Exit codes of a run.
const (
	ExitClean    = 0
	ExitFindings = 1
	ExitUsage    = 2
	ExitUnable   = 3
)

// New makes the report of a run.
func New(in Input) *Report {
	in.Run.DurationMS = in.Duration.Milliseconds()
	r := &Report{Format: Format, Subject: in.Subject, Run: in.Run, Rules: []Rule{}, Scenarios: []Scenario{}}
	r.Summary = Summary{Rules: map[verdict.Class]int{}, Should: map[verdict.Class]int{}, Scenarios: map[verdict.Class]int{}}
	for _, verdict := range in.Rules {
		row := rule(verdict)
		if in.Required != nil {
			if level, required := in.Required(row.ID); required {
				row.Level = level
			} else {
				row.Beyond = true
			}
		}
		in.excuse(&row)
		r.Rules = append(r.Rules, row)
		switch {
		case row.Known:
			r.Summary.Known++
			continue
		case row.Flaky:
			r.Summary.Flaky++
			continue
		case row.Beyond:
			if red(row.Class) {
				r.Summary.Beyond++
			}
			continue
		case row.NotJudged:
			if r.counts(row) {
				r.Summary.NotJudged++
			}
			continue
		case row.Level == "should":
			r.Summary.Should[row.Class]++
		}
		if r.counts(row) {
			r.Summary.Rules[row.Class]++
		}
	}
	for _, s := range in.Scenarios {
		r.Scenarios = append(r.Scenarios, scenario(s))
		if s.Unrun {
			r.Summary.NotRun++
			continue
		}
		r.Summary.Scenarios[s.Class]++
	}
	if in.Stale != nil {
		r.Summary.Stale = in.Stale(r.judged)
	}
	r.Summary.Repeats = in.Repeats
	r.Summary.Exit = r.exit()
	return r
}

// excuse marks a rule whose every finding is in a list. A rule that is red because nothing could be run has its
// reason as what was found. Every finding is asked about, so that no entry becomes stale behind another.
func (in *Input) excuse(row *Rule) {
	if !red(row.Class) {
		return
	}
	findings := row.Findings
	if findings == nil {
		findings = []Finding{{Message: row.Reason}}
	}
	known, flaky := true, true
	for _, f := range findings {
		isKnown := in.Known != nil && in.Known(row.ID, f.Message)
		isFlaky := in.Flaky != nil && in.Flaky(row.ID, f.Scenario, f.Message)
		known = isKnown && known
		flaky = (isKnown || isFlaky) && flaky
	}
	row.Known, row.Flaky = known, flaky && !known
}

// excused reports whether a rule is left out of the verdict whatever became of it.
func (row *Rule) excused() bool { return row.Known || row.Flaky || row.Beyond }

// judged reports whether the run said anything about a rule.
func (r *Report) judged(id string) bool {
	return slices.ContainsFunc(r.Rules, func(row Rule) bool {
		return row.ID == id && row.Class != verdict.NotApplicable && row.Class != verdict.Errored
	})
}

// counts reports whether a rule decides the exit code.
func (r *Report) counts(row Rule) bool {
	return !row.excused() && (row.Level == "must" || row.Level == "should" && r.Run.Strict)
}

// exit: findings weigh more than what could not be judged, and a run that judged nothing proves nothing.
func (r *Report) exit() int {
	rules, scenarios := r.Summary.Rules, r.Summary.Scenarios
	switch {
	case rules[verdict.Fail]+rules[verdict.NoAnswer]+r.Summary.NotJudged > 0, len(r.Summary.Stale) > 0:
		return ExitFindings
	case scenarios[verdict.Errored] > 0, scenarios[verdict.Pass]+scenarios[verdict.Fail]+scenarios[verdict.NoAnswer] == 0:
		return ExitUnable
	default:
		return ExitClean
	}
}

func rule(row verdict.Rule) Rule {
	out := Rule{ID: row.ID, Level: row.Level, Text: row.Text, Source: row.Source, Class: row.Class, Reason: row.Reason, Scenarios: row.Scenarios}
	if out.Scenarios == nil {
		out.Scenarios = []string{}
	}
	for _, f := range row.Findings {
		out.Findings = append(out.Findings, finding(f.Finding, f.Scenario))
	}
	if _, all := notRun(out); all {
		out.NotJudged = red(out.Class)
	}
	return out
}

func finding(f verdict.Finding, scenario string) Finding {
	out := Finding{Rule: f.Rule, Scenario: scenario, Message: f.Message, Line: f.Line, Column: f.Column, Missing: f.Missing, unrun: f.Unrun}
	if f.Frame >= 0 {
		out.Frame = &f.Frame
	}
	if f.Offset >= 0 {
		out.Offset = &f.Offset
	}
	return out
}

// where is the place of a finding in the manifest, as editors take it: "extension.toml:4:1: ". Empty if it is not
// in the manifest.
func (r *Report) where(f Finding) string {
	if f.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d: ", r.place(), f.Line, f.Column)
}

// reason is why a rule has its verdict, with the place in the manifest if it is there.
func (r *Report) reason(row Rule) string {
	for _, f := range row.Findings {
		if f.Message == row.Reason {
			return r.where(f) + row.Reason
		}
	}
	return row.Reason
}

func scenario(s verdict.Scenario) Scenario {
	out := Scenario{
		Name: s.Name, File: s.File, Line: s.Line, Rules: s.Rules, Class: s.Class, Reason: s.Reason, DurationMS: s.Duration.Milliseconds(),
		Dropped: s.Dropped, Stderr: s.Stderr, Ended: s.Ended, Again: s.Again, unrun: s.Unrun,
	}
	if out.Rules == nil {
		out.Rules = []string{}
	}
	if m := s.Minimal; m != nil {
		out.Minimal = &Minimal{Rule: m.Finding.Rule, Kept: m.Kept, Of: len(m.Sent), Tries: m.Tries, Least: m.Least, Note: m.Note}
		out.minimal = m.Text()
	}
	for _, f := range s.Findings {
		out.Findings = append(out.Findings, finding(f, s.Name))
	}
	for _, f := range s.Frames {
		out.Frames = append(out.Frames, frame(f))
	}
	return out
}

// maxFrameBytes bounds a frame in a report; a recording keeps more for the run itself.
const maxFrameBytes = 4096

func frame(f wire.Frame) Frame {
	out := Frame{Index: f.Index, Lane: f.Lane.String(), AtMS: float64(f.At.Microseconds()) / 1000, Size: f.Size, LineFeed: f.Ended}
	payload := f.Bytes[:min(len(f.Bytes), maxFrameBytes)]
	if len(payload) < len(f.Bytes) {
		// A cut in the middle of a character would make text look broken.
		for len(payload) > 0 && !utf8.RuneStart(f.Bytes[len(payload)]) {
			payload = payload[:len(payload)-1]
		}
	}
	if utf8.Valid(payload) {
		text := string(payload)
		out.Text = &text
	} else {
		out.Base64 = payload
	}
	return out
}

// JSON writes the report.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}
