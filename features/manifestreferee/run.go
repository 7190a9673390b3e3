package manifestreferee

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cucumber/godog"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/referee"
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
	if err != nil || len(plan) == 0 {
		return nil, err
	}
	run := &run{reading: r, planned: map[string]features.Scenario{}, results: map[string]verdict.Scenario{}}
	for _, s := range plan {
		run.planned[s.Key()] = s
	}
	suite := godog.TestSuite{
		Name:                "octet manifests",
		ScenarioInitializer: run.scenario,
		Options: &godog.Options{
			Format: referee.FormatName, Output: io.Discard, NoColors: true, Strict: true,
			FS: features.ManifestFiles(), Paths: []string{features.ManifestFolder}, Concurrency: 1,
		},
	}
	suite.Run()
	out := make([]verdict.Scenario, 0, len(plan))
	for _, s := range plan {
		out = append(out, run.results[s.Key()])
	}
	return out, nil
}

type run struct {
	reading *Reading
	planned map[string]features.Scenario
	results map[string]verdict.Scenario
}

// The ends of a scenario that are no pass.
var (
	errBroken       = errors.New("the manifest breaks a rule")
	errUnread       = errors.New("the rule could not be judged")
	errInapplicable = errors.New("the rule is not judged here")
)

func (r *run) scenario(sc *godog.ScenarioContext) {
	w := &world{reading: r.reading}
	sc.Step(`^a host reads the manifest$`, w.reads)
	sc.Step(`^nothing breaks the rule about .+$`, w.keeps)
	sc.Before(func(ctx context.Context, p *godog.Scenario) (context.Context, error) {
		s, planned := r.planned[features.Of(p).Key()]
		if !planned {
			return ctx, godog.ErrSkip
		}
		w.rules = s.Rules
		return ctx, nil
	})
	sc.After(func(ctx context.Context, p *godog.Scenario, err error) (context.Context, error) {
		s, planned := r.planned[features.Of(p).Key()]
		if !planned {
			return ctx, nil
		}
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
		r.results[s.Key()] = result
		return ctx, nil
	})
}

// world is one scenario.
type world struct {
	reading *Reading
	rules   []string
	found   []verdict.Finding
	reason  string
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
