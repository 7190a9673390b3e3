package manifestreferee

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/verdict"
)

// Plan lists the scenarios that bind a manifest, in the order of files and lines: those of its API version, or all
// if it names none. Chosen may be nil for all.
func (r *Reading) Plan(chosen func(features.Scenario) bool) ([]features.Scenario, error) {
	all, err := features.ManifestScenarios()
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(all), func(s features.Scenario) bool {
		return r.API != "" && !slices.Contains(s.APIs, r.API) || chosen != nil && !chosen(s)
	}), nil
}

// Run judges what was read by the chosen scenarios; nil chooses all of the API version. It starts nothing.
func (r *Reading) Run(chosen func(features.Scenario) bool) ([]verdict.Scenario, error) {
	plan, err := r.Plan(chosen)
	if err != nil {
		return nil, err
	}
	var out []verdict.Scenario
	for _, s := range plan {
		w := &world{reading: r, rules: s.Rules}
		out = append(out, w.judge(s))
	}
	return out, nil
}

// The ends of a scenario that are no pass.
var (
	errBroken       = errors.New("the manifest breaks a rule")
	errUnread       = errors.New("the rule could not be judged")
	errInapplicable = errors.New("the rule is not judged here")
)

// world is one scenario.
type world struct {
	reading *Reading
	rules   []string
	found   []verdict.Finding
	reason  string
}

// judge plays a scenario and turns its end into a verdict.
func (w *world) judge(s features.Scenario) verdict.Scenario {
	err := w.play(s.Steps)
	result := verdict.Scenario{Name: s.Name, File: s.File, Line: s.Line, Rules: s.Rules, Class: verdict.Pass, Findings: w.found}
	switch {
	case err == nil:
	case errors.Is(err, errInapplicable):
		result.Class, result.Reason = verdict.NotApplicable, w.reason
	case errors.Is(err, errUnread):
		result.Class, result.Reason, result.Unrun = verdict.Fail, w.reason, true
	case errors.Is(err, errBroken):
		result.Class, result.Reason = verdict.Fail, w.found[0].Message
	default:
		result.Class, result.Reason = verdict.Errored, err.Error()
	}
	return result
}

// The steps. There are no more, and nothing to wait for, so that no runner is needed.
const (
	stepReads = "a host reads the manifest"
	stepKeeps = "nothing breaks the rule about "
)

func (w *world) play(steps []string) error {
	for _, step := range steps {
		var err error
		switch {
		case step == stepReads:
			err = w.reads()
		case strings.HasPrefix(step, stepKeeps):
			err = w.keeps()
		default:
			err = fmt.Errorf("the step %q means nothing", step)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reads ends a scenario whose rules the reading says nothing about.
func (w *world) reads() error {
	for _, rule := range w.rules {
		if w.reason = w.reading.inapplicable(rule); w.reason != "" {
			return errInapplicable
		}
		if w.reason = w.reading.unread(rule); w.reason != "" {
			w.found = append(w.found, verdict.Finding{Rule: rule, Message: w.reason, Frame: -1, Offset: -1, Missing: true, Unrun: true})
		}
	}
	if len(w.found) > 0 {
		w.reason = w.found[0].Message
		return errUnread
	}
	return nil
}

// keeps looks for problems under the rules of the scenario.
func (w *world) keeps() error {
	for _, p := range w.reading.Problems {
		if slices.Contains(w.rules, p.Rule) {
			w.found = append(w.found, verdict.Finding{Rule: p.Rule, Message: p.Message, Frame: -1, Offset: -1, Line: p.Line, Column: p.Column})
		}
	}
	if len(w.found) > 0 {
		return errBroken
	}
	return nil
}
