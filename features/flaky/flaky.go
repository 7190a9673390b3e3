// Package flaky repeats scenarios that are known to fail now and then, and says how often they did.
package flaky

import (
	"math"
	"slices"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/baseline"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/verdict"
)

// Settled is what repeats made of the listed scenarios.
type Settled struct {
	Repeats []report.Repeats // in the order of the scenarios

	list    *baseline.List
	excused map[string]bool // names of scenarios that passed at least once
}

// Excuses reports whether a finding is listed and its scenario passed at least once.
func (s *Settled) Excuses(rule, scenario, message string) bool {
	return s.excused[scenario] && s.list.Knows(rule, message)
}

// Settle repeats every scenario in which something was found that is listed, n times, and those that an entry
// names and that found nothing, until it finds something. Again judges the chosen scenarios once more.
func Settle(list *baseline.List, first []verdict.Scenario, n int, again func(chosen func(features.Scenario) bool) ([]verdict.Scenario, error)) (*Settled, error) {
	s := &Settled{list: list, excused: map[string]bool{}}
	var watched []*watch
	for _, scenario := range first {
		if w := s.watch(scenario); w != nil {
			watched = append(watched, w)
		}
	}
	for _, w := range watched {
		w.dormant = !w.listed && slices.ContainsFunc(list.Unused(), func(e *baseline.Entry) bool { return slices.ContainsFunc(w.first.Rules, e.Names) })
	}
	for range n {
		open := func(sc features.Scenario) bool {
			return slices.ContainsFunc(watched, func(w *watch) bool { return w.open() && w.first.File == sc.File && w.first.Line == sc.Line })
		}
		if !slices.ContainsFunc(watched, (*watch).open) {
			break
		}
		results, err := again(open)
		if err != nil {
			return nil, err
		}
		for _, r := range results {
			for _, w := range watched {
				if w.open() && w.first.File == r.File && w.first.Line == r.Line {
					w.count(r, s.found(r))
				}
			}
		}
	}
	for _, w := range watched {
		if !w.listed && !w.dormant {
			continue
		}
		low, high := Wilson(w.failed, w.runs)
		s.Repeats = append(s.Repeats, report.Repeats{Scenario: w.first.Name, Failed: w.failed, Runs: w.runs, Low: low, High: high})
		// Rows of an outline share a name: one that always fails speaks against all.
		passed, seen := s.excused[w.first.Name]
		s.excused[w.first.Name] = w.failed > 0 && w.failed < w.runs && (passed || !seen)
	}
	return s, nil
}

// watch counts one scenario. What did not run, or was not judged, is not repeated.
type watch struct {
	first        verdict.Scenario
	listed       bool // something was found that is listed
	dormant      bool // nothing was, and an entry waits for it
	runs, failed int
}

func (s *Settled) watch(scenario verdict.Scenario) *watch {
	if scenario.Unrun || scenario.Class == verdict.NotApplicable || scenario.Class == verdict.Errored {
		return nil
	}
	w := &watch{first: scenario, listed: s.found(scenario)}
	w.count(scenario, false)
	return w
}

func (w *watch) open() bool { return w.listed || w.dormant }

func (w *watch) count(r verdict.Scenario, found bool) {
	switch r.Class {
	case verdict.Fail, verdict.NoAnswer:
		w.failed++
		w.runs++
	case verdict.Pass:
		w.runs++
	}
	if found && w.dormant {
		w.dormant, w.listed = false, true
	}
}

// found reports whether a scenario found something that is listed, and marks what it was listed by.
func (s *Settled) found(scenario verdict.Scenario) bool {
	found := false
	for _, f := range scenario.Findings {
		found = s.list.Knows(f.Rule, f.Message) || found
	}
	return found
}

// Wilson is the 95 % interval of Wilson for a share of k in n, each end between 0 and 1.
func Wilson(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959963984540054
	total := float64(n)
	p := float64(k) / total
	middle := p + z*z/(2*total)
	spread := z * math.Sqrt(p*(1-p)/total+z*z/(4*total*total))
	scale := 1 + z*z/total
	return max((middle-spread)/scale, 0), min((middle+spread)/scale, 1)
}
