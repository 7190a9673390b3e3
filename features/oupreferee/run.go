package oupreferee

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
	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/generated/oupwire"
)

// API is the version of the protocol that is judged.
const API = oupwire.VersionV1alpha1

// Options say what to run. Setup is required.
type Options struct {
	Setup *Setup
	// Select chooses among the scenarios; nil chooses all.
	Select func(features.Scenario) bool
	// Jobs is how many servers run at a time; under 1 means 1.
	Jobs int
	// Seed orders the scenarios; 0 leaves the order of the files.
	Seed int64
	// Knock looks first whether anything answers. Where nothing does, no scenario is run.
	Knock bool
	// Progress is called behind every scenario, never twice at a time; nil for none.
	Progress func(done, total int)
}

// Run judges a server on one transport. The scenarios come back in the order of files and lines; one that was not
// over when the context ended comes back as interrupted.
func Run(ctx context.Context, opts Options) ([]verdict.Scenario, error) {
	all, err := features.ServerScenarios()
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	transport := opts.Setup.Target.Transport
	plan := slices.DeleteFunc(slices.Clone(all), func(s features.Scenario) bool {
		only := slices.Contains(s.Other, "@"+Stdio) || slices.Contains(s.Other, "@"+WebSocket)
		return only && !slices.Contains(s.Other, "@"+transport) || opts.Select != nil && !opts.Select(s)
	})
	if len(plan) == 0 {
		return nil, referee.ErrNothing
	}
	if opts.Knock {
		if silent, err := knock(ctx, opts.Setup); err != nil || silent != nil {
			return left(ctx, plan, silent, err)
		}
	}
	r := &run{planned: map[string]features.Scenario{}, results: map[string]verdict.Scenario{}, progress: opts.Progress}
	r.begin = func(ctx context.Context) (any, error) { return newWorld(ctx, opts.Setup) }
	r.finish = func(w any, s features.Scenario, err error) verdict.Scenario { return w.(*world).judge(s, err) }
	r.close = func(w any) { w.(*world).close() }
	r.key = worldKey{}
	r.register = register
	return r.run(ctx, plan, features.ServerFolder, opts.Jobs, opts.Seed)
}

// left is a run in front of whose scenarios something was in the way. An interruption is told by each of them.
func left(ctx context.Context, plan []features.Scenario, silent *silence, err error) ([]verdict.Scenario, error) {
	if ctx.Err() != nil {
		return (&run{}).collect(ctx, plan), nil
	}
	if err != nil {
		return nil, err
	}
	return silent.leaveOut(plan), nil
}

// run carries scenarios out with the steps of one role.
type run struct {
	planned  map[string]features.Scenario
	progress func(done, total int)
	register func(*godog.ScenarioContext)
	key      any
	begin    func(context.Context) (any, error)
	finish   func(world any, s features.Scenario, err error) verdict.Scenario
	close    func(world any)

	mu      sync.Mutex // guards results
	results map[string]verdict.Scenario
}

func (r *run) run(ctx context.Context, plan []features.Scenario, folder string, jobs int, seed int64) ([]verdict.Scenario, error) {
	var files []string
	for _, s := range plan {
		r.planned[s.Key()] = s
		if !slices.Contains(files, s.File) {
			files = append(files, s.File)
		}
	}
	suite := godog.TestSuite{
		Name:                "octet " + folder,
		ScenarioInitializer: r.scenario,
		Options: &godog.Options{
			Format: referee.FormatName, Output: io.Discard, NoColors: true, Strict: true,
			FS: features.OUPFiles(), Paths: files, Concurrency: max(jobs, 1), Randomize: seed, DefaultContext: ctx,
		},
	}
	suite.Run()
	return r.collect(ctx, plan), nil
}

type beganKey struct{}

func (r *run) scenario(sc *godog.ScenarioContext) {
	r.register(sc)
	sc.Before(func(ctx context.Context, p *godog.Scenario) (context.Context, error) {
		if _, chosen := r.planned[features.Of(p).Key()]; !chosen || ctx.Err() != nil {
			return ctx, godog.ErrSkip
		}
		w, err := r.begin(ctx)
		if err != nil {
			return ctx, err
		}
		return context.WithValue(context.WithValue(ctx, r.key, w), beganKey{}, time.Now()), nil
	})
	sc.After(func(ctx context.Context, p *godog.Scenario, err error) (context.Context, error) {
		w := ctx.Value(r.key)
		if w == nil {
			return ctx, nil
		}
		defer r.close(w)
		began, _ := ctx.Value(beganKey{}).(time.Time)
		s := r.planned[features.Of(p).Key()]
		result := r.finish(w, s, err)
		result.Duration = time.Since(began)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.results[s.Key()] = result
		if r.progress != nil {
			r.progress(len(r.results), len(r.planned))
		}
		return ctx, nil
	})
}

// collect puts results into the order of the plan.
func (r *run) collect(ctx context.Context, plan []features.Scenario) []verdict.Scenario {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []verdict.Scenario
	for _, s := range plan {
		result, over := r.results[s.Key()]
		if !over {
			result = verdict.Scenario{Name: s.Name, File: s.File, Line: s.Line, Rules: s.Rules, Class: verdict.Errored, Reason: "the run ended before it"}
		}
		if ctx.Err() != nil && (!over || result.Class != verdict.Pass) {
			result.Interrupt()
		}
		out = append(out, result)
	}
	return out
}

// judge turns the end of a scenario's steps, and what was heard on the way, into a verdict.
func (w *world) judge(s features.Scenario, err error) verdict.Scenario {
	result := settle(s, err, w.findings())
	if result.Class != verdict.Pass && result.Class != verdict.NotApplicable {
		result.Frames, result.Dropped = w.rec.Frames()
		if w.server != nil {
			_, result.Stderr = w.server.Ended()
		}
	}
	return result
}

// settle puts together what the steps and the monitors have found.
func settle(s features.Scenario, err error, heard []verdict.Finding) verdict.Scenario {
	result := verdict.Scenario{Name: s.Name, File: s.File, Line: s.Line, Rules: s.Rules, Class: verdict.Pass, Findings: heard}
	var o *outcome
	switch {
	case err == nil:
	case !errors.As(err, &o) || o.class == verdict.Errored:
		result.Class, result.Reason, result.Findings = verdict.Errored, strings.TrimSpace(err.Error()), nil
		return result
	case o.class == verdict.NotApplicable:
		result.Class, result.Reason = o.class, o.text
		if len(heard) > 0 {
			result.Idle = o.text
		}
	default:
		result.Class, result.Reason = o.class, o.text
		result.Findings = append(result.Findings, o.findings(s.Rules)...)
	}
	if (result.Class == verdict.Pass || result.Class == verdict.NotApplicable) && len(result.Findings) > 0 {
		result.Class, result.Reason = verdict.Fail, result.Findings[0].Message
	}
	return result
}

// findings blame the rules of the rows that were wrong, or all of the scenario.
func (o *outcome) findings(rules []string) []verdict.Finding {
	if o.blamed != nil {
		return o.blamed
	}
	var out []verdict.Finding
	for _, rule := range rules {
		out = append(out, verdict.Finding{Rule: rule, Message: o.text, Frame: -1, Offset: -1, Step: true, Silent: o.silent, Missing: o.missing})
	}
	return out
}
