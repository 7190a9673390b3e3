package hostreferee

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cucumber/godog"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/verdict"
)

// Options say what to run. Setup is required.
type Options struct {
	Setup *Setup
	// Select chooses among the scenarios of the API version; nil chooses all.
	Select func(features.Scenario) bool
	// Jobs is how many hosts run at a time; under 1 means 1.
	Jobs int
	// Seed orders the scenarios; 0 leaves the order of the files.
	Seed int64
	// Progress is called behind every scenario, never twice at a time; nil for none.
	Progress func(done, total int)
}

// Run judges a host on one API version. The scenarios come back in the order of files and lines; one that was
// not over when the context ended comes back as interrupted.
func Run(ctx context.Context, opts Options) ([]verdict.Scenario, error) {
	all, err := features.HostScenarios()
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	api := opts.Setup.Dialect.API()
	plan := slices.DeleteFunc(slices.Clone(all), func(s features.Scenario) bool {
		return !slices.Contains(s.APIs, api) || opts.Select != nil && !opts.Select(s)
	})
	if len(plan) == 0 {
		return nil, referee.ErrNothing
	}
	setup := *opts.Setup
	setup.Env = subject.Environment(os.Environ(), setup.Env)
	setup.Seed = opts.Seed
	opts.Setup = &setup
	r := &run{opts: opts, planned: map[string]features.Scenario{}, results: map[string]verdict.Scenario{}}
	for _, s := range plan {
		r.planned[s.Key()] = s
	}
	suite := godog.TestSuite{
		Name:                "octet hosts",
		ScenarioInitializer: r.scenario,
		Options: &godog.Options{
			Format: referee.FormatName, Output: io.Discard, NoColors: true, Strict: true,
			FS: features.HostFiles(), Paths: filesOf(plan), Tags: "@" + api,
			Concurrency: max(opts.Jobs, 1), Randomize: opts.Seed, DefaultContext: ctx,
		},
	}
	suite.Run()
	return r.collect(ctx, plan), nil
}

type run struct {
	opts    Options
	planned map[string]features.Scenario

	mu      sync.Mutex // guards what follows
	results map[string]verdict.Scenario
	silent  int  // scenarios in which the host hung and started no extension
	alive   bool // it ended by itself or started one
}

// mostSilent is how many scenarios a host may hang in before it has done anything. Each costs the whole wait, and a
// run has hundreds.
const mostSilent = 3

// dead reports whether there is no use in starting the host once more.
func (r *run) dead() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.alive && r.silent >= mostSilent
}

// saw takes note of how the host did in a scenario. The caller holds mu.
func (r *run) saw(w *world) {
	switch {
	case w.host == nil:
	case w.host.hung && !slices.ContainsFunc(w.peers.list(), func(p peer) bool { return p.facts.PID > 0 }):
		r.silent++
	default:
		r.alive = true
	}
}

type beganKey struct{}

func (r *run) scenario(sc *godog.ScenarioContext) {
	register(sc)
	registerAsks(sc)
	registerTalk(sc)
	registerOwed(sc)
	sc.Before(func(ctx context.Context, p *godog.Scenario) (context.Context, error) {
		if _, chosen := r.planned[features.Of(p).Key()]; !chosen || ctx.Err() != nil || r.dead() {
			return ctx, godog.ErrSkip
		}
		w, err := newWorld(r.opts.Setup)
		if err != nil {
			return ctx, err
		}
		return context.WithValue(context.WithValue(ctx, worldKey{}, w), beganKey{}, time.Now()), nil
	})
	sc.After(func(ctx context.Context, p *godog.Scenario, err error) (context.Context, error) {
		w, _ := ctx.Value(worldKey{}).(*world)
		if w == nil {
			return ctx, nil
		}
		defer w.close()
		began, _ := ctx.Value(beganKey{}).(time.Time)
		s := r.planned[features.Of(p).Key()]
		result := w.judge(s, err, r.opts.Setup.Dialect.API())
		result.Duration = time.Since(began)
		if ctx.Err() != nil && result.Class != verdict.Pass {
			return ctx, nil // the interrupt may have done it
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.saw(w)
		r.results[s.Key()] = result
		if r.opts.Progress != nil {
			r.opts.Progress(len(r.results), len(r.planned))
		}
		return ctx, nil
	})
}

// judge turns the end of a scenario's steps, and what was heard on the way, into a verdict.
func (w *world) judge(s features.Scenario, err error, api string) verdict.Scenario {
	bound := slices.DeleteFunc(slices.Clone(s.Rules), func(id string) bool { return !rulebook.BindsID(id, api) })
	result := verdict.Scenario{Name: s.Name, File: s.File, Line: s.Line, Rules: bound, Class: verdict.Pass}
	// The rows of an outline have one name; what the extension does tells them apart.
	if doc, found := strings.CutPrefix(s.Steps[0], "an extension that "); found {
		result.Name += ": " + doc
	}
	for _, f := range w.findings() {
		if f.Rule != "" {
			result.Findings = append(result.Findings, f.Finding)
		}
	}
	var o *outcome
	switch {
	case err == nil:
	case errors.As(err, &o) && o.class == verdict.NotApplicable:
		result.Class, result.Reason = o.class, o.text
	case errors.As(err, &o) && o.class != verdict.Errored:
		result.Class, result.Reason = o.class, o.text
		result.Findings = append(result.Findings, o.findings(bound)...)
	default:
		result.Class, result.Reason, result.Findings = verdict.Errored, err.Error(), nil
		return result
	}
	if (result.Class == verdict.Pass || result.Class == verdict.NotApplicable) && len(result.Findings) > 0 {
		result.Class, result.Reason = verdict.Fail, result.Findings[0].Message
	}
	if result.Class != verdict.Pass && result.Class != verdict.NotApplicable {
		w.evidence(&result)
	}
	return result
}

// evidence keeps what passed in the first start that has anything, and what the host said.
func (w *world) evidence(s *verdict.Scenario) {
	if w.failing != nil {
		w.failing.evidence(s)
		return
	}
	for _, p := range w.peers.list() {
		if len(p.frames) > 0 && s.Frames == nil {
			s.Frames = p.frames
		}
	}
	if w.host != nil {
		s.Stderr = w.host.stderr
		s.Ended = fmt.Sprintf("the host ended with code %d", w.host.code)
		if w.host.hung {
			s.Ended = "the host was killed"
		}
	}
}

// collect puts results into the order of the plan.
func (r *run) collect(ctx context.Context, plan []features.Scenario) []verdict.Scenario {
	dead := r.dead()
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []verdict.Scenario
	for _, s := range plan {
		result, over := r.results[s.Key()]
		if !over {
			result = verdict.Scenario{Name: s.Name, File: s.File, Line: s.Line, Rules: s.Rules, Class: verdict.Errored, Reason: "the run ended before it"}
			if dead {
				result.Class = verdict.NoAnswer
				result.Reason = fmt.Sprintf("not tried: the host hung in %d scenarios and started an extension in none", mostSilent)
			}
		}
		if ctx.Err() != nil && !over {
			result.Interrupt()
		}
		out = append(out, result)
	}
	return out
}

// filesOf are the files that a plan has scenarios of.
func filesOf(plan []features.Scenario) []string {
	var files []string
	for _, s := range plan {
		if !slices.Contains(files, s.File) {
			files = append(files, s.File)
		}
	}
	return files
}

var patterns sync.Map // of steps, by their text

// pattern compiles the pattern of a step once: the steps are made known anew for every scenario.
func pattern(text string) *regexp.Regexp {
	if p, found := patterns.Load(text); found {
		return p.(*regexp.Regexp)
	}
	p := regexp.MustCompile(text)
	patterns.Store(text, p)
	return p
}
