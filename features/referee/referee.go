// Package referee runs the features against one subject and collects what they found.
package referee

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cucumber/godog"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/verdict"
)

// Options say what to run. Setup is required.
type Options struct {
	Setup *steps.Setup
	// Select chooses among the scenarios of the API version; nil chooses all.
	Select func(features.Scenario) bool
	// Jobs is how many scenarios run at a time; under 1 means 1.
	Jobs int
	// Seed orders the scenarios, and decides what their schedules leave open; 0 leaves the order of the files.
	Seed int64
	// Until ends the run behind a scenario of which it returns true; the others come back as errored. Nil
	// runs all.
	Until func(verdict.Scenario) bool
	// Progress is called behind every scenario, never twice at a time; nil for none.
	Progress func(done, total int)
}

// ErrNothing means that no scenario was chosen.
var ErrNothing = errors.New("no scenario matches")

// Plan lists the scenarios that a run with these options has, in the order of files and lines.
func Plan(opts Options) ([]features.Scenario, error) {
	all, err := features.Scenarios()
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	api := opts.Setup.Dialect.API()
	return slices.DeleteFunc(slices.Clone(all), func(s features.Scenario) bool {
		return !slices.Contains(s.APIs, api) || opts.Select != nil && !opts.Select(s)
	}), nil
}

// LeaveOut lists the scenarios of an API version as not run, because of what was found before the first start.
func LeaveOut(api string, chosen func(features.Scenario) bool, reason string) ([]verdict.Scenario, error) {
	all, err := features.Scenarios()
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	var out []verdict.Scenario
	for _, s := range all {
		if !slices.Contains(s.APIs, api) || chosen != nil && !chosen(s) {
			continue
		}
		result := verdict.Scenario{Name: s.Name, File: s.File, Line: s.Line, Rules: s.Rules, Class: verdict.Fail, Reason: reason, Unrun: true}
		for _, rule := range s.Rules {
			result.Findings = append(result.Findings, verdict.Finding{Rule: rule, Message: reason, Frame: -1, Offset: -1, Missing: true, Unrun: true})
		}
		out = append(out, result)
	}
	return out, nil
}

// Run judges a subject. The scenarios come back in the order of files and lines. It fails only if the
// features themselves cannot be run; whatever a subject does is a verdict. A context that is done ends
// the run and its subjects at once; scenarios that were not over come back as interrupted. A subject that
// serves nobody ends the run as well; scenarios that were not over come back as unrun, without an answer.
func Run(ctx context.Context, opts Options) ([]verdict.Scenario, error) {
	plan, err := Plan(opts)
	if err != nil {
		return nil, err
	}
	if len(plan) == 0 {
		return nil, ErrNothing
	}
	abandon, cancel := context.WithCancel(ctx)
	defer cancel()
	setup := *opts.Setup
	setup.Starter = subject.Bounded(abandon, setup.Starter)
	setup.Learn()
	setup.Seed = opts.Seed
	opts.Setup = &setup
	r := &run{
		opts: opts, planned: map[string]features.Scenario{}, serving: serving{setup: &setup},
		interrupted: func() bool { return ctx.Err() != nil },
		abandoned:   func() bool { return abandon.Err() != nil },
		abandon:     cancel,
	}
	var paths []string
	for _, s := range plan {
		r.planned[s.Key()] = s
		if !slices.Contains(paths, s.File) {
			paths = append(paths, s.File)
		}
	}
	suite := godog.TestSuite{
		Name:                "octet",
		ScenarioInitializer: r.scenario,
		Options: &godog.Options{
			Format:         FormatName,
			Output:         io.Discard,
			NoColors:       true,
			Strict:         true,
			FS:             features.Files(),
			Paths:          paths,
			Tags:           tags(opts, plan),
			Concurrency:    max(opts.Jobs, 1),
			Randomize:      opts.Seed,
			DefaultContext: ctx,
		},
	}
	suite.Run()
	return r.collect(plan), nil
}

// tags narrows what is parsed to the API version and, for a selection, to the rules of what was chosen.
func tags(opts Options, plan []features.Scenario) string {
	api := "@" + opts.Setup.Dialect.API()
	if opts.Select == nil {
		return api
	}
	var rules []string
	for _, s := range plan {
		for _, id := range s.Rules {
			if tag := "@" + id; !slices.Contains(rules, tag) {
				rules = append(rules, tag)
			}
		}
	}
	return api + " && " + strings.Join(rules, ",")
}

// FormatName is the formatter that prints nothing: results are collected by hooks.
const FormatName = "octet-silent"

func init() {
	godog.Format(FormatName, "collects, prints nothing", func(string, io.Writer) godog.Formatter { return silent{} })
}

type run struct {
	opts    Options
	planned map[string]features.Scenario
	serving serving

	interrupted func() bool // from outside
	abandoned   func() bool // that, or because the subject serves nobody
	abandon     func()

	mu      sync.Mutex // guards the fields below
	results map[string]verdict.Scenario
	over    bool // no further scenario starts
}

type startedKey struct{}

func (r *run) scenario(sc *godog.ScenarioContext) {
	steps.Register(sc)
	sc.Before(func(ctx context.Context, p *godog.Scenario) (context.Context, error) {
		s, chosen := r.planned[features.Of(p).Key()]
		if !chosen || r.abandoned() || r.isOver() {
			return ctx, godog.ErrSkip
		}
		ctx = context.WithValue(ctx, startedKey{}, time.Now())
		return steps.Enter(ctx, steps.NewWorld(r.opts.Setup, s.Name, s.Rules)), nil
	})
	sc.After(func(ctx context.Context, p *godog.Scenario, err error) (context.Context, error) {
		w := steps.Of(ctx)
		if w == nil {
			return ctx, nil
		}
		r.finish(ctx, w, r.planned[features.Of(p).Key()], err)
		return ctx, nil
	})
}

// finish ends a scenario's subject and turns the end of its steps into a verdict.
func (r *run) finish(ctx context.Context, w *steps.World, s features.Scenario, err error) {
	began, _ := ctx.Value(startedKey{}).(time.Time)
	findings := w.Stop()
	result := verdict.Scenario{Name: s.Name, File: s.File, Line: s.Line, Rules: s.Rules, Class: verdict.Pass, Findings: findings, Duration: time.Since(began)}
	w.Judge(&result, err)
	if r.abandoned() {
		return
	}
	if result.Class != verdict.Pass && result.Class != verdict.NotApplicable {
		w.Evidence(&result)
	}
	r.add(s.Key(), result)
	if r.serving.over(result, w.Said()) {
		r.abandon()
	}
}

func (r *run) add(key string, s verdict.Scenario) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.results == nil {
		r.results = map[string]verdict.Scenario{}
	}
	r.results[key] = s
	r.over = r.over || r.opts.Until != nil && r.opts.Until(s)
	if r.opts.Progress != nil {
		r.opts.Progress(len(r.results), len(r.planned))
	}
}

func (r *run) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// collect puts results into the order of the plan. A scenario without one is errored, never left out.
func (r *run) collect(plan []features.Scenario) []verdict.Scenario {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]verdict.Scenario, 0, len(plan))
	for _, s := range plan {
		result, ok := r.results[s.Key()]
		if !ok {
			result = verdict.Scenario{Name: s.Name, File: s.File, Line: s.Line, Rules: s.Rules, Class: verdict.Errored, Reason: "the run ended before it"}
			switch {
			case r.interrupted():
				result.Interrupt()
			case r.abandoned():
				leaveOut(&result, len(plan)-len(r.results))
			}
		}
		out = append(out, result)
	}
	return out
}

// Known lists the rules of the spec as an aggregation wants them.
func Known() []verdict.Known {
	var out []verdict.Known
	for _, r := range rulebook.All() {
		out = append(out, verdict.Known{ID: r.ID, Level: string(r.Level), Text: r.Text, Source: r.Source})
	}
	return out
}

// Matches returns a selection by patterns over rule ids, areas, files and names. A star stands for any
// text; a pattern without one must be a rule id, whole or up to one of its hyphens, an area, or part of a
// name.
func Matches(patterns []string) func(features.Scenario) bool {
	if len(patterns) == 0 {
		return nil
	}
	return func(s features.Scenario) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, s) })
	}
}

func matches(pattern string, s features.Scenario) bool {
	if !strings.Contains(pattern, "*") {
		lower := strings.ToLower(pattern)
		id := strings.ToUpper(pattern)
		proves := func(rule string) bool { return rule == id || strings.HasPrefix(rule, strings.TrimSuffix(id, "-")+"-") }
		return slices.ContainsFunc(s.Rules, proves) || s.Area() == lower || strings.Contains(strings.ToLower(s.Name), lower) ||
			s.File == pattern || s.Key() == pattern
	}
	words := append([]string{s.Area(), s.File, s.Name}, s.Rules...)
	return slices.ContainsFunc(words, func(w string) bool { return glob(strings.ToLower(pattern), strings.ToLower(w)) })
}

// glob matches a whole text; a star stands for any part of it.
func glob(pattern, text string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == text
	}
	if !strings.HasPrefix(text, head) {
		return false
	}
	text = text[len(head):]
	for i := 0; i <= len(text); i++ {
		if glob(rest, text[i:]) {
			return true
		}
	}
	return false
}
