package report

import (
	"bytes"
	_ "embed" // the page
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/octet-dev/octet/features/verdict"
)

//go:embed page.html.tmpl
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// view is what the page shows. Everything in it is text; the template escapes it.
type view struct {
	Title     string
	Report    *Report
	Word      string
	Class     string // of the whole run: pass, fail or errored
	Command   string
	Seconds   string
	Counts    []viewCount
	First     []viewFirst
	Alike     int // scenarios that are not shown, because what is to be mended first kept them from their rules
	Areas     []viewArea
	Rules     []viewRule
	Scenarios []viewScenario
}

type viewCount struct {
	Class, Text      string
	Rules, Scenarios int
}

// viewArea is a row of the matrix: the rules of one subject.
type viewArea struct {
	Name  string
	Cells []viewCell
}

type viewCell struct{ ID, Class, Title string }

type viewRule struct {
	ID, Level, Text, Source, Class, ClassText, Reason string
	Note                                              string // why it does not count
	Proofs                                            []viewProof
	Findings                                          []viewFinding
}

// viewFirst is what is to be mended first. Anchor is the scenario that shows it.
type viewFirst struct {
	Class, ClassText, Text, Anchor string
	Rules                          []string
}

type viewProof struct{ Name, Anchor string }

// viewFinding is a finding as a rule or a scenario lists it. Anchor is where the page has more: the scenario, or
// the rule.
type viewFinding struct{ Message, Rule, Anchor string }

type viewScenario struct {
	Anchor, Name, Place, Class, ClassText, Reason, Stderr, Ended string
	Minimal, Again                                               string
	Frames                                                       []viewFrame
	Dropped                                                      int
	Findings                                                     []viewFinding
}

// viewFrame is a frame in its lane. Before, Mark and After are the bytes as they were on the wire, cut at
// the offending byte; Pretty is the payload in lines, where it is JSON.
type viewFrame struct {
	Index               int
	Lane                string // host or extension
	At                  string
	Label               string
	Before, Mark, After string
	Pretty              string
	Note                string
	Guilty              bool
}

// HTML writes the report as one page that needs nothing else: verdicts by subject, each rule with its
// source, and what passed on the wire in every scenario that did not pass.
func (r *Report) HTML(w io.Writer) error {
	v := view{
		Title: r.Subject.Name + " on API " + r.Subject.API, Report: r, Word: r.word(), Class: string(verdict.Pass),
		Command: strings.Join(r.Subject.Command, " "), Seconds: fmt.Sprintf("%.1f", float64(r.Run.DurationMS)/1000),
	}
	switch r.Summary.Exit {
	case ExitFindings:
		v.Class = string(verdict.Fail)
	case ExitUnable:
		v.Class = string(verdict.Errored)
	}
	for _, c := range verdict.Classes() {
		v.Counts = append(v.Counts, viewCount{string(c), c.Text(), r.Summary.Rules[c], r.Summary.Scenarios[c]})
	}
	first := r.first(func(Rule) bool { return true })
	examples := first.examples(r.Scenarios)
	anchors := map[string]string{}
	for i, s := range r.Scenarios {
		switch {
		case red(s.Class) && !slices.Contains(examples, i) && first.explains(s):
			v.Alike++
		case red(s.Class) || s.Class == verdict.Errored:
			anchors[s.Name] = fmt.Sprintf("scenario-%d", i)
		}
	}
	for i, c := range first {
		shown := viewFirst{Class: string(c.class), ClassText: c.class.Text(), Text: c.text(), Rules: c.rules}
		if at := examples[i]; at >= 0 {
			shown.Anchor = anchors[r.Scenarios[at].Name]
		}
		v.First = append(v.First, shown)
	}
	for i, s := range r.Scenarios {
		if anchors[s.Name] == fmt.Sprintf("scenario-%d", i) {
			v.Scenarios = append(v.Scenarios, r.viewScenario(&s, anchors[s.Name]))
		}
	}
	for _, row := range r.Rules {
		rule := r.viewRule(row, anchors)
		if first.keeps(row) {
			rule.Reason, rule.Findings, rule.Proofs = notJudged, nil, nil
		}
		v.Rules = append(v.Rules, rule)
		v.addCell(row)
	}
	return page.Execute(w, v)
}

func (v *view) addCell(row Rule) {
	name := area(row.ID)
	at := slices.IndexFunc(v.Areas, func(a viewArea) bool { return a.Name == name })
	if at < 0 {
		at = len(v.Areas)
		v.Areas = append(v.Areas, viewArea{Name: name})
	}
	v.Areas[at].Cells = append(v.Areas[at].Cells, viewCell{row.ID, string(row.Class), row.ID + ": " + row.word()})
}

// area is the subject of a rule: the id without its number.
func area(id string) string {
	if at := strings.LastIndexByte(id, '-'); at > 0 {
		return id[:at]
	}
	return id
}

// note says why a rule does not count; empty if it does.
func (r *Report) note(row Rule) string {
	switch {
	case row.Known:
		return "known"
	case row.Flaky:
		return "flaky"
	case row.Beyond:
		return "beyond the requirements"
	case !r.counts(row):
		return "does not count"
	default:
		return ""
	}
}

func (r *Report) viewRule(row Rule, anchors map[string]string) viewRule {
	v := viewRule{
		ID: row.ID, Level: row.Level, Text: row.Text, Source: row.Source, Class: string(row.Class), ClassText: row.word(),
		Reason: r.reason(row), Note: r.note(row),
	}
	for _, name := range row.Scenarios {
		v.Proofs = append(v.Proofs, viewProof{name, anchors[name]})
	}
	for _, f := range row.Findings {
		v.Findings = append(v.Findings, viewFinding{Message: r.where(f) + f.Message, Anchor: anchors[f.Scenario]})
	}
	return v
}

func (r *Report) viewScenario(s *Scenario, anchor string) viewScenario {
	v := viewScenario{
		Anchor: anchor, Name: s.Name, Place: fmt.Sprintf("%s:%d", s.File, s.Line), Class: string(s.Class), ClassText: s.Class.Text(),
		Reason: s.Reason, Stderr: s.Stderr, Ended: s.Ended, Dropped: s.Dropped, Minimal: s.minimal, Again: s.Again,
	}
	marks := map[int]*Finding{}
	for i, f := range s.Findings {
		v.Findings = append(v.Findings, viewFinding{Message: r.where(f) + f.Message, Rule: f.Rule, Anchor: f.Rule})
		if f.Frame != nil && marks[*f.Frame] == nil {
			marks[*f.Frame] = &s.Findings[i]
		}
	}
	for _, f := range s.Frames {
		v.Frames = append(v.Frames, f.view(marks[f.Index]))
	}
	return v
}

func (f *Frame) view(found *Finding) viewFrame {
	v := viewFrame{Index: f.Index, Lane: f.Lane, At: fmt.Sprintf("%.1f ms", f.AtMS), Guilty: found != nil}
	payload := f.Base64
	if f.Text != nil {
		payload = []byte(*f.Text)
		v.Label = label(payload)
		var lines bytes.Buffer
		if json.Indent(&lines, payload, "", "  ") == nil {
			v.Pretty = lines.String()
		}
	}
	if v.Label == "" {
		v.Label = fmt.Sprintf("%d bytes", f.Size)
	}
	show := func(b []byte) string { return string(b) }
	if f.Text == nil {
		show = func(b []byte) string { return strings.TrimRight(hex.Dump(b), "\n") }
	}
	at := len(payload)
	if found != nil && found.Offset != nil && *found.Offset >= 0 && *found.Offset < len(payload) {
		at = *found.Offset
	}
	v.Before = show(payload[:at])
	if at < len(payload) {
		_, size := utf8.DecodeRune(payload[at:])
		if f.Text == nil {
			size = 1
		}
		v.Mark, v.After = show(payload[at:at+size]), show(payload[at+size:])
	}
	switch {
	case len(payload) < f.Size:
		v.Note = fmt.Sprintf("%d of %d bytes are shown", len(payload), f.Size)
	case !f.LineFeed:
		v.Note = "no line feed ended it"
	}
	return v
}

// label names a frame by what stands in it: the method and id of a request, or the kind of an answer.
func label(payload []byte) string {
	var m struct {
		Method string          `json:"method"`
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if json.Unmarshal(payload, &m) != nil {
		return "no JSON object"
	}
	kind := m.Method
	switch {
	case kind != "":
	case m.Error != nil:
		kind = "error"
	case m.Result != nil:
		kind = "result"
	default:
		kind = "no JSON-RPC message"
	}
	if m.ID != nil {
		kind += " " + string(m.ID)
	}
	return kind
}
