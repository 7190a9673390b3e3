// Package selftest proves that the referee's checks can fail: every faulty peer must be caught under the
// rule it breaks, and the peers that break none must be found flawless.
package selftest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/profile"
	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/verdict"
)

// Options say how to run.
type Options struct {
	// Command starts a peer in a process: the program and the arguments in front of the fault's name
	// and "--api VERSION". Empty: peers run inside this process, those that need one of their own are
	// left out.
	Command subject.Command
	// Patience scales with the machine.
	Patience steps.Patience
	// Programs play further faulty peers, each one on an SDK or in a language of its own.
	Programs []Program
	// Sample is how many faults of a program stand for the one that is judged; under 2 all are.
	Sample int
	// OwnSample is the same for the referee's own peers, those that are sound in another way among them.
	OwnSample int
	// Seed decides what schedules leave open, and the order of the scenarios.
	Seed int64
	// Jobs is how many peers are judged at a time.
	Jobs int
	// Only chooses among the faults; nil for all. Peers without a fault are then judged by the rules of the
	// chosen ones.
	Only func(faultypeer.Fault) bool
	// Progress is called behind every peer, never twice at a time; nil for none.
	Progress func(done, total int)
}

// chosenRules are those that the chosen faults break; nil for all, which a chosen sound peer is judged by.
func chosenRules(only func(faultypeer.Fault) bool) []string {
	if only == nil || slices.ContainsFunc(faultypeer.Variants(), only) {
		return nil
	}
	rules := []string{}
	for _, f := range faultypeer.Faults() {
		if only(f) {
			rules = append(rules, f.Rule)
		}
	}
	return rules
}

// Verdict on one peer.
type Verdict string

// The verdicts.
const (
	Caught  Verdict = "caught"        // by the rule it breaks
	Other   Verdict = "caught_other"  // by other rules only
	Missed  Verdict = "missed"        // by none
	Clean   Verdict = "clean"         // a sound peer, and nothing was found
	Alarmed Verdict = "false_finding" // a sound peer, and something was found
	Unknown Verdict = "interrupted"   // the run was interrupted first
)

// Text is the verdict as people read it.
func (v Verdict) Text() string {
	switch v {
	case Other:
		return "caught by other rules only"
	case Alarmed:
		return "accused"
	default:
		return string(v)
	}
}

// Result is what became of one peer.
type Result struct {
	Program string   `json:"program,omitempty"` // empty: the referee's own peers; "manifest" and "host": it is one
	Fault   string   `json:"fault,omitempty"`   // empty: the peer without any peculiarity
	Rule    string   `json:"rule,omitempty"`    // expected; empty for a sound peer
	API     string   `json:"api"`
	Verdict Verdict  `json:"verdict"`
	Reason  string   `json:"reason,omitempty"` // of the expected rule, or the first finding
	Others  []string `json:"others,omitempty"` // rules that were broken beside or instead
}

// suspect is a peer to be judged.
type suspect struct {
	faultypeer.Fault
	program *Program // nil: one of the referee's own
	rules   []string // that a sound one is judged by; nil for all
}

// result is that of a peer nobody has judged.
func (s suspect) result(v Verdict) Result {
	r := Result{Fault: s.Name, Rule: s.Rule, API: s.API, Verdict: v}
	if s.program != nil {
		r.Program = s.program.Name
	}
	return r
}

// own are the referee's peers: the one without a fault on every API version, the sound variants of it, and the
// faulty ones.
func own(opts Options) []suspect {
	var peers []suspect
	rules := chosenRules(opts.Only)
	for _, api := range dialect.Versions() {
		peers = append(peers, suspect{Fault: faultypeer.Fault{API: api}, rules: rules})
	}
	add := func(f faultypeer.Fault) {
		if (opts.Only == nil || opts.Only(f)) && !(f.Process && opts.Command.Path == "") {
			peers = append(peers, suspect{Fault: f, rules: rules})
		}
	}
	for _, kind := range [][]faultypeer.Fault{faultypeer.Variants(), faultypeer.Faults()} {
		for i, f := range kind {
			if i%max(opts.OwnSample, 1) == 0 {
				add(f)
			}
		}
	}
	return peers
}

// Run judges the referee's own peers and then those of every program, the one without a fault first. A context
// that is done ends the run at once.
func Run(ctx context.Context, opts Options) ([]Result, error) {
	cases := own(opts)
	for i := range opts.Programs {
		more, err := opts.Programs[i].peers(ctx, opts)
		if err != nil {
			return nil, err
		}
		cases = append(cases, more...)
	}
	patient := opts
	patient.Patience = opts.Patience.Scale(longPatience)
	results, at, err := each(cases, opts.Jobs, opts.Progress, func(f suspect) (Result, error) {
		return judge(ctx, f.Rule == "", f.result(Unknown), opts, patient, func(o Options) (Result, error) { return attempt(ctx, f, o) })
	})
	if err != nil {
		return nil, fmt.Errorf("peer %q on API %s: %w", cases[at].Name, cases[at].API, err)
	}
	return results, nil
}

// each judges so many cases at a time. progress is called behind every one, never twice at a time; nil for none.
// The error is that of the first case that has one, in their order, and comes with its place.
func each[C any](cases []C, jobs int, progress func(done, total int), judge func(C) (Result, error)) (results []Result, at int, err error) {
	results = make([]Result, len(cases))
	errs := make([]error, len(cases))
	slots := make(chan struct{}, max(jobs, 1))
	var wg sync.WaitGroup
	var mu sync.Mutex // guards done
	done := 0
	for i, c := range cases {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			results[i], errs[i] = judge(c)
			mu.Lock()
			defer mu.Unlock()
			if done++; progress != nil {
				progress(done, len(cases))
			}
		})
	}
	wg.Wait()
	if at = slices.IndexFunc(errs, func(err error) bool { return err != nil }); at >= 0 {
		return nil, at, errs[at]
	}
	return results, 0, nil
}

// longPatience multiplies the waits for peers that must not fail one: sound ones, and those that went
// uncaught once, perhaps because a busy machine was late with what comes before the fault.
const longPatience = 10

// chances is how often a faulty suspect is judged with all patience before it counts as missed: some faults show by the
// order in which a busy machine lets two programs run.
const chances = 3

// judge judges a sound suspect once, with all patience, and a faulty one again so if it went uncaught.
func judge[O any](ctx context.Context, sound bool, unknown Result, opts, patient O, attempt func(O) (Result, error)) (Result, error) {
	if ctx.Err() != nil {
		return unknown, nil
	}
	if sound {
		return attempt(patient)
	}
	r, err := attempt(opts)
	for range chances {
		if err != nil || r.Verdict == Caught || r.Verdict == Unknown {
			break
		}
		r, err = attempt(patient)
	}
	return r, err
}

// attempt runs the scenarios that prove the expected rule; all of them for a sound peer.
func attempt(ctx context.Context, f suspect, opts Options) (Result, error) {
	scratch, err := os.MkdirTemp("", "octet-selftest-")
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	setup, err := Setup(f.Fault, opts, scratch)
	if err != nil {
		return Result{}, err
	}
	if f.program != nil {
		setup.Starter = f.program.plays(f.Name)
	}
	run := referee.Options{Setup: setup, Jobs: 1, Seed: opts.Seed}
	switch {
	case f.Rule == "":
		if f.rules != nil {
			run.Select = func(s features.Scenario) bool {
				return slices.ContainsFunc(s.Rules, func(id string) bool { return slices.Contains(f.rules, id) })
			}
		}
	default:
		run.Select = func(s features.Scenario) bool { return slices.Contains(s.Rules, f.Rule) }
		run.Until = func(s verdict.Scenario) bool {
			return slices.ContainsFunc(s.Findings, func(found verdict.Finding) bool { return found.Rule == f.Rule && !found.Missing })
		}
	}
	scenarios, err := referee.Run(ctx, run)
	if err != nil && !(f.Rule == "" && errors.Is(err, referee.ErrNothing)) {
		return Result{}, err
	}
	r := weigh(f, verdict.Aggregate(referee.Known(), scenarios))
	if r.Verdict != Caught && slices.ContainsFunc(scenarios, func(s verdict.Scenario) bool { return s.Interrupted() }) {
		r.Verdict, r.Reason, r.Others = Unknown, "", nil
	}
	return r, nil
}

// weigh compares what was found with what was expected. A finding about what a scenario needs before it
// can judge does not count: it would turn every rule red.
func weigh(f suspect, rows []verdict.Rule) Result {
	r := f.result(Missed)
	if f.Rule == "" {
		r.Verdict = Clean
	}
	for _, row := range rows {
		red := row.Class == verdict.Fail || row.Class == verdict.NoAnswer
		switch {
		case f.Rule == "" && (red || row.Class == verdict.Errored):
			r.Verdict = Alarmed
			r.Others = append(r.Others, row.ID)
			if r.Reason == "" {
				r.Reason = row.ID + ": " + row.Reason
			}
		case red && row.ID == f.Rule && direct(row):
			r.Verdict, r.Reason = Caught, row.Reason
		case red:
			r.Others = append(r.Others, row.ID)
		}
	}
	if r.Verdict == Missed && len(r.Others) > 0 {
		r.Verdict = Other
	}
	return r
}

func direct(row verdict.Rule) bool {
	return slices.ContainsFunc(row.Findings, func(f verdict.Located) bool { return !f.Missing })
}

// Setup describes the run of one peer, which shares a directory with its host.
func Setup(f faultypeer.Fault, opts Options, scratch string) (*steps.Setup, error) {
	d, err := dialect.For(f.API)
	if err != nil {
		return nil, err
	}
	setup := &steps.Setup{
		Dialect: d,
		Extension: dialect.Extension{
			Name: "peer", Version: "1.0.0", ManifestPath: "/workspace/peer/extension.toml", Workspace: "/workspace",
			Capabilities: f.Capabilities(), Contributes: f.Contributes(), Scratch: scratch, Transfer: scratch,
		},
		Starter: starter(f, opts, scratch),
		Profile: &profile.Profile{
			Call:    []profile.Call{{Tool: faultypeer.ToolEcho, Arguments: map[string]any{"text": "a b"}, Expect: profile.OK}},
			Slow:    &profile.Call{Tool: faultypeer.ToolSlow, Arguments: map[string]any{}, Expect: profile.OK},
			Failing: &profile.Call{Tool: faultypeer.ToolFail, Arguments: map[string]any{}, Expect: profile.ToolError},
			Large:   &profile.Call{Tool: faultypeer.ToolLarge, Arguments: map[string]any{}, Expect: profile.OK},
		},
		Patience: opts.Patience,
	}
	if f.Full() {
		setup.Profile.Call = append(setup.Profile.Call, profile.Call{Tool: faultypeer.ToolTour, Arguments: map[string]any{}, Expect: profile.OK})
	}
	return setup, nil
}

func starter(f faultypeer.Fault, opts Options, scratch string) subject.Starter {
	shared := faultypeer.ScratchVariable + "=" + scratch
	if opts.Command.Path != "" {
		c := opts.Command
		c.Env = append(slices.Clone(c.Env), shared)
		name := f.Name
		if name == "" {
			name = "none"
		}
		c.Args = append(slices.Clone(c.Args), name, "--api", f.API)
		return c
	}
	return subject.Func(func(ctx context.Context, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
		return faultypeer.Run(ctx, faultypeer.Config{API: f.API, Fault: f.Name, Environment: append(slices.Clone(env), shared)}, stdin, stdout, stderr)
	})
}
