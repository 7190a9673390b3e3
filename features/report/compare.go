package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/octet-dev/octet/features/infile"
	"github.com/octet-dev/octet/features/verdict"
)

// maxReportBytes bounds a report that is read.
const maxReportBytes = 64 << 20

// Read reads a JSON report. The error names the file and what is wrong with it.
func Read(path string) (*Report, error) {
	text, err := infile.Read(path, "a report", maxReportBytes)
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s is no report: %w; write one with --report-json", path, err)
	}
	if r.Format != Format {
		return nil, fmt.Errorf("%s has the format %q, want %q", path, r.Format, Format)
	}
	if detail := r.fault(); detail != "" {
		return nil, fmt.Errorf("%s: %s; write one with --report-json", path, detail)
	}
	return &r, nil
}

// fault names what no run writes, and what would make a comparison say that nothing got worse.
func (r *Report) fault() string {
	seen := map[string]bool{}
	for i, row := range r.Rules {
		switch {
		case row.ID == "":
			return fmt.Sprintf("row %d of rules has no id", i+1)
		case seen[row.ID]:
			return fmt.Sprintf("rules has %q twice", row.ID)
		case !slices.Contains(verdict.Classes(), row.Class):
			return fmt.Sprintf("the class of %q is %q, want one of %q", row.ID, row.Class, verdict.Classes())
		}
		seen[row.ID] = true
	}
	if r.Rules == nil {
		return "rules is missing"
	}
	return ""
}

// Change is a rule whose verdict differs between two runs.
type Change struct {
	Rule          string
	Level         string
	Text          string
	Before, After verdict.Class // empty: the run has no row of the rule
	Reason        string        // of the later run, or else of the earlier one
	Counts        bool          // in the later run
}

// Worse reports whether a rule that was not red is red now.
func (c Change) Worse() bool { return red(c.After) && !red(c.Before) }

// Better reports whether a rule that was red is green now.
func (c Change) Better() bool { return red(c.Before) && c.After == verdict.Pass }

// Compare lists the rules whose verdicts differ, in the order of the later run and then of the earlier one.
func Compare(before, after *Report) []Change {
	earlier := map[string]Rule{}
	for _, row := range before.Rules {
		earlier[row.ID] = row
	}
	var out []Change
	for _, row := range after.Rules {
		old, known := earlier[row.ID]
		delete(earlier, row.ID)
		if known && old.Class == row.Class {
			continue
		}
		out = append(out, Change{Rule: row.ID, Level: row.Level, Text: row.Text, Before: old.Class, After: row.Class, Reason: row.Reason, Counts: after.counts(row)})
	}
	for _, row := range before.Rules {
		if _, gone := earlier[row.ID]; gone {
			out = append(out, Change{Rule: row.ID, Level: row.Level, Text: row.Text, Before: row.Class, Reason: row.Reason})
		}
	}
	return out
}

// Differences writes a comparison for people, and reports whether a rule that counts got worse.
func Differences(w io.Writer, before, after *Report) (worse bool, err error) {
	var better, other int
	for _, c := range Compare(before, after) {
		word := "changed"
		switch {
		case c.Worse():
			word = "worse"
			worse = worse || c.Counts
		case c.Better():
			word = "better"
			better++
		default:
			other++
		}
		if _, err := fmt.Fprintf(w, "%-8s %s: %s -> %s: %s\n", word, c.Rule, classText(c.Before), classText(c.After), c.Text); err != nil {
			return worse, err
		}
		if c.Reason != "" && c.Worse() {
			if _, err := fmt.Fprintf(w, "    %s\n", printable(c.Reason)); err != nil {
				return worse, err
			}
		}
	}
	word := "no rule got worse"
	if worse {
		word = "rules got worse"
	}
	_, err = fmt.Fprintf(w, "%s -> %s: %s; %d better, %d otherwise changed\n", before.Subject.Name, after.Subject.Name, word, better, other)
	return worse, err
}

func classText(c verdict.Class) string {
	if c == "" {
		return "not judged"
	}
	return c.Text()
}
