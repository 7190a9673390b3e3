package selftest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Format names the shape of the JSON report.
const Format = "octet.conform.selftest/v1"

// LeastByRule is how many percent of the faulty peers have to be caught by the rule they break. All have to be
// caught.
const LeastByRule = 95

// Report is what a selftest found.
type Report struct {
	Format        string    `json:"format"`
	Seed          int64     `json:"seed"`
	Faulty        int       `json:"faulty_peers"`
	Caught        int       `json:"caught"`         // by whatever rule
	CaughtByRule  int       `json:"caught_by_rule"` // by the rule they break
	Missed        int       `json:"missed"`
	Sound         int       `json:"sound_peers"`
	FalseFindings int       `json:"false_findings"` // sound peers, and runs of examples, with findings
	Peers         []Result  `json:"peers"`
	Examples      []Example `json:"examples"`
	Passed        bool      `json:"passed"`
}

// Example is an extension that keeps every rule, judged in some runs.
type Example struct {
	Directory string `json:"directory"`
	Runs      int    `json:"runs"`
	Accused   int    `json:"runs_with_findings"`
}

// Tally counts.
func Tally(seed int64, peers []Result, examples []Example) *Report {
	r := &Report{Format: Format, Seed: seed, Peers: peers, Examples: examples}
	for _, p := range peers {
		switch p.Verdict {
		case Caught:
			r.CaughtByRule++
			r.Caught++
		case Other:
			r.Caught++
		case Missed:
			r.Missed++
		case Alarmed:
			r.FalseFindings++
		}
		if p.Rule == "" {
			r.Sound++
		} else {
			r.Faulty++
		}
	}
	for _, e := range examples {
		r.FalseFindings += e.Accused
	}
	r.Passed = r.Caught == r.Faulty && 100*r.CaughtByRule >= LeastByRule*r.Faulty && r.FalseFindings == 0
	return r
}

// Percent is a part of a whole as people read it. What is not all of it never reads as 100 %.
func Percent(part, whole int) string {
	if whole == 0 {
		return "none"
	}
	return fmt.Sprintf("%d.%d %%", 100*part/whole, 1000*part/whole%10)
}

// Text writes the figures. The peers and examples with findings are the caller's to show.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	programs := map[string]int{}
	var names []string
	for _, p := range r.Peers {
		if p.Program != "" && p.Rule != "" {
			if programs[p.Program] == 0 {
				names = append(names, p.Program)
			}
			programs[p.Program]++
		}
	}
	fmt.Fprintf(&b, "faulty peers    %6d", r.Faulty)
	for _, name := range names {
		if name == manifests || name == hosts || name == servers || name == clients {
			fmt.Fprintf(&b, ", %d of them %ss", programs[name], name)
			continue
		}
		fmt.Fprintf(&b, ", %d of them by %s", programs[name], name)
	}
	fmt.Fprintf(&b, "\ncaught          %6d  %s\n", r.Caught, Percent(r.Caught, r.Faulty))
	fmt.Fprintf(&b, "by their rule   %6d  %s, at least %d %%\n", r.CaughtByRule, Percent(r.CaughtByRule, r.Faulty), LeastByRule)
	fmt.Fprintf(&b, "missed          %6d  %s\n", r.Missed, Percent(r.Missed, r.Faulty))
	runs := 0
	for _, e := range r.Examples {
		runs += e.Runs
	}
	fmt.Fprintf(&b, "false findings  %6d  in %d sound ones and %d runs of %d examples\n", r.FalseFindings, r.Sound, runs, len(r.Examples))
	word := "passed"
	if !r.Passed {
		word = "failed"
	}
	fmt.Fprintf(&b, "selftest %s, seed %d\n", word, r.Seed)
	_, err := io.WriteString(w, b.String())
	return err
}

// JSON writes the report.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}
