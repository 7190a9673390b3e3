package minimise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
)

// Options say how red scenarios are minimised. Setup and Limit are required.
type Options struct {
	Setup *steps.Setup // that of the run
	Seed  int64        // that of the run
	Limit time.Duration
	Jobs  int // scenarios at a time; under 1 means 1
	// Only are the scenarios to minimise, by the rule that each of them shows; nil for all.
	Only map[string]int
	// Progress is called behind every scenario, never twice at a time; nil for none.
	Progress func(done, total int)
}

// Bounds of one run.
const (
	// MaxScenarios is how many red scenarios are worth the time: whoever has more begins with the first of them.
	MaxScenarios = 40
	maxTries     = 200 // of one scenario
	maxFrames    = 400 // of the host, in a scenario that is minimised
	again        = 3   // starts in which a failure must show again once
	confirm      = 2   // further starts in which what was found must show every time
)

// Shown chooses for every rule that counts and was found broken one scenario that shows it, by its index: one that
// is about the rule where there is one.
func Shown(scenarios []verdict.Scenario, counts func(rule string) bool) map[string]int {
	shown := map[string]int{}
	for i, s := range scenarios {
		found, red := Primary(s)
		if !red || len(s.Frames) == 0 || found.Missing || !counts(found.Rule) {
			continue
		}
		is := func(at int) bool { return slices.Contains(scenarios[at].Rules, found.Rule) }
		if at, known := shown[found.Rule]; !known || !is(at) && is(i) {
			shown[found.Rule] = i
		}
	}
	return shown
}

// Scenarios leaves frames out of the scenarios that are red, in place, until no frame of the host can be left out
// of any of them without losing what it is red for, or until the time is over. The error says that something of
// ours did not work; a context that is done is none.
func Scenarios(ctx context.Context, o Options, scenarios []verdict.Scenario) error {
	var todo []*verdict.Scenario
	prerequisites := map[cause]string{} // with the scenario that is minimised for it
	for i := range scenarios {
		s := &scenarios[i]
		found, red := Primary(*s)
		of := causeOf(found).anyRule()
		switch {
		case !red || len(s.Frames) == 0:
		case o.Only != nil && !found.Missing && !o.chosen(i, found):
			if at, shown := o.Only[found.Rule]; shown {
				s.Minimal = note(found, "%q shows the same rule", scenarios[at].Name)
			}
		case found.Missing && prerequisites[of] != "":
			s.Minimal = note(found, "what it needs fails as in %q", prerequisites[of])
		case len(todo) == MaxScenarios:
			s.Minimal = note(found, "%d scenarios are minimised at most; --run chooses which", MaxScenarios)
		default:
			if found.Missing {
				prerequisites[of] = s.Name
			}
			todo = append(todo, s)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	// Those that wait for nothing come first: most fit into the time.
	slices.SortStableFunc(todo, func(a, b *verdict.Scenario) int { return int(a.Duration - b.Duration) })
	limited, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	setup := *o.Setup
	setup.Learn()
	controls, err := newControls(setup.Dialect.API())
	if err != nil {
		return err
	}
	defer controls.remove()
	return each(o, todo, func(s *verdict.Scenario) error {
		m := minimiser{setup: &setup, seed: o.Seed, controls: controls, limit: o.Limit}
		return m.scenario(limited, s)
	})
}

// chosen reports whether a scenario is one of those that are minimised.
func (o Options) chosen(i int, found verdict.Finding) bool {
	at, shown := o.Only[found.Rule]
	return shown && at == i
}

// anyRule is a cause whoever is blamed for it: one prerequisite is that of many rules.
func (c cause) anyRule() cause {
	c.rule = ""
	return c
}

func note(f verdict.Finding, format string, args ...any) *verdict.Minimal {
	return &verdict.Minimal{Finding: f, Note: fmt.Sprintf(format, args...)}
}

// each does something to every scenario, some at a time.
func each(o Options, todo []*verdict.Scenario, do func(*verdict.Scenario) error) error {
	slots := make(chan struct{}, max(o.Jobs, 1))
	errs := make([]error, len(todo))
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for i, s := range todo {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(s)
			mu.Lock()
			defer mu.Unlock()
			if done++; o.Progress != nil {
				o.Progress(done, len(todo))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// minimiser works on one scenario.
type minimiser struct {
	setup    *steps.Setup
	quick    steps.Setup // the same with shorter waits
	seed     int64
	controls *controls
	limit    time.Duration

	key     string
	found   verdict.Finding
	cause   cause
	all     []string // origins of the frames of the whole scenario
	steps   int      // that were taken then
	control *control // nil where none is needed
	best    verdict.Scenario
}

func (m *minimiser) scenario(ctx context.Context, s *verdict.Scenario) error {
	m.key = fmt.Sprintf("%s:%d", s.File, s.Line)
	m.found, _ = Primary(*s)
	m.cause = causeOf(m.found)
	late := note(m.found, "the time of --minimise %s was over before it", m.limit)
	shown, err := m.repeat(ctx)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		s.Minimal = late
		return nil
	case !shown:
		s.Minimal = note(m.found, "the failure cannot be repeated: it did not show in %d further starts; see --known-flaky", again)
		return nil
	}
	frames := origins(m.best.Frames)
	for _, f := range frames {
		m.all = append(m.all, f.Origin)
	}
	if len(frames) > maxFrames || m.best.Dropped > 0 {
		s.Minimal = note(m.found, "it has more than %d frames of the host", maxFrames)
		s.Minimal.Kept, s.Minimal.Sent = len(frames), m.all
		return nil
	}
	if m.cause.step {
		if m.control, err = m.controls.find(ctx, m.key, part{seed: m.seed, steps: m.steps}); err != nil {
			return err
		}
		if m.control == nil {
			m.settle(s, Reduction{}, "no sound peer passes the scenario, so nobody can tell what the failure needs")
			return nil
		}
	}
	r, err := m.reduce(ctx, frames)
	if err != nil {
		return err
	}
	steady, err := m.steady(ctx, r)
	if err != nil {
		return err
	}
	why := ""
	switch {
	case !steady:
		r.Least, why = false, "the failure is not there every time; see --known-flaky"
	case r.Least:
	case ctx.Err() != nil:
		why = fmt.Sprintf("the time of --minimise %s was over", m.limit)
	default:
		why = fmt.Sprintf("%d tries were made", r.Tries)
	}
	m.settle(s, r, why)
	return nil
}

// repeat starts the subject until the failure shows again.
func (m *minimiser) repeat(ctx context.Context) (bool, error) {
	for range again {
		result, err := play(ctx, m.setup, m.key, part{seed: m.seed})
		if err != nil || ctx.Err() != nil {
			return false, err
		}
		if m.cause.shows(result) {
			m.best, m.steps = result, result.Steps
			return true, nil
		}
	}
	return false, nil
}

// steady plays what was found once more, and another time.
func (m *minimiser) steady(ctx context.Context, r Reduction) (bool, error) {
	longer := m.quick
	longer.Patience = least(longer.Patience.Scale(sure), m.setup.Patience)
	for range confirm {
		if ctx.Err() != nil || r.Keep == nil {
			return true, nil
		}
		result, err := play(ctx, &longer, m.key, m.only(r.Keep))
		if err != nil || ctx.Err() == nil && !m.cause.shows(result) {
			return false, err
		}
	}
	return true, nil
}

// reduce leaves out what can be. Tries wait no longer than the extension has shown to need, and the end is tried
// in full.
func (m *minimiser) reduce(ctx context.Context, frames []wire.Frame) (Reduction, error) {
	first := slices.IndexFunc(frames, Initializes)
	whole := m.best
	m.quick = *m.setup
	m.quick.Patience = pace(m.best.Frames, m.setup.Patience)
	if result, err := play(ctx, &m.quick, m.key, part{seed: m.seed, steps: m.steps}); err != nil || !m.cause.shows(result) {
		m.quick.Patience = m.setup.Patience
	}
	r, err := Reduce(ctx, len(frames), func(i int) bool { return i == first }, maxTries, m.try)
	if err != nil || m.quick.Patience == m.setup.Patience || len(r.Keep) == len(frames) {
		return r, err
	}
	result, err := play(ctx, m.setup, m.key, m.only(r.Keep))
	if err == nil && m.cause.shows(result) {
		m.best = result
		return r, nil
	}
	if err != nil {
		return r, err
	}
	// What looked like the failure was impatience.
	m.best, m.quick.Patience = whole, m.setup.Patience
	return Reduce(ctx, len(frames), func(i int) bool { return i == first }, maxTries, m.try)
}

// pace makes waits as short as the frames of a conversation allow.
func pace(frames []wire.Frame, p steps.Patience) steps.Patience {
	var gaps []time.Duration
	start, last := time.Duration(0), time.Duration(0)
	for _, f := range frames {
		if f.Lane == wire.FromSubject && start == 0 {
			start = f.At
		}
		gaps = append(gaps, f.At-last)
		last = f.At
	}
	slices.Sort(gaps)
	usual := max(shortest, patient*start, patient*gaps[len(gaps)/2])
	return least(p, steps.Patience{Initialize: 2 * usual, Answer: usual, Grace: usual, End: usual})
}

func least(a, b steps.Patience) steps.Patience {
	return steps.Patience{
		Initialize: min(a.Initialize, b.Initialize), Answer: min(a.Answer, b.Answer), Grace: min(a.Grace, b.Grace), End: min(a.End, b.End),
	}
}

const (
	shortest = 150 * time.Millisecond // what a try waits at least
	patient  = 4                      // how many times what an extension has needed
)

// waited reports whether a scenario is red for nothing but a wait.
func waited(s verdict.Scenario) bool {
	return s.Class == verdict.NoAnswer || slices.ContainsFunc(s.Findings, func(f verdict.Finding) bool { return f.Silent })
}

// only is the conversation with nothing but some frames.
func (m *minimiser) only(keep []int) part {
	p := part{seed: m.seed, steps: m.steps, sent: set(m.all), kept: map[string]bool{}}
	for _, i := range keep {
		p.kept[m.all[i]] = true
	}
	return p
}

// try plays the scenario with some frames, and remembers it if the failure shows.
func (m *minimiser) try(ctx context.Context, keep []int) (bool, error) {
	p := m.only(keep)
	result, err := play(ctx, &m.quick, m.key, p)
	// One that waits for an answer which is left out will wait for ever. Any other may be late because the
	// machine is busy.
	if err == nil && !m.cause.shows(result) && waited(result) && !slices.ContainsFunc(m.all, func(o string) bool { return !p.kept[o] && stepOf(o) == "" }) {
		longer := m.quick
		longer.Patience = least(longer.Patience.Scale(sure), m.setup.Patience)
		result, err = play(ctx, &longer, m.key, p)
	}
	if err != nil || ctx.Err() != nil || !m.cause.shows(result) {
		return false, err
	}
	if m.control != nil {
		if sound, err := m.control.passes(ctx, m.all, p); err != nil || !sound {
			return false, err
		}
	}
	m.best = result
	return true, nil
}

// settle gives the scenario the smallest conversation that was found. What else it was red for keeps its words and
// loses its place: the frames that showed it may be gone.
func (m *minimiser) settle(s *verdict.Scenario, r Reduction, why string) {
	s.Frames, s.Dropped, s.Stderr, s.Ended = m.best.Frames, m.best.Dropped, m.best.Stderr, m.best.Ended
	for i := range s.Findings {
		f := &s.Findings[i]
		f.Frame, f.Offset = -1, -1
		at := slices.IndexFunc(m.best.Findings, func(now verdict.Finding) bool {
			return now.Rule == f.Rule && now.Step == f.Step && (now.Message == f.Message || causeOf(now) == causeOf(*f))
		})
		if at >= 0 {
			f.Frame, f.Offset = m.best.Findings[at].Frame, m.best.Findings[at].Offset
		}
	}
	s.Minimal = &verdict.Minimal{Finding: m.found, Kept: len(origins(m.best.Frames)), Sent: m.all, Steps: m.steps, Tries: r.Tries, Least: r.Least, Note: why}
}

// Initializes reports whether a frame is initialize.
func Initializes(f wire.Frame) bool {
	var m struct {
		Method string `json:"method"`
	}
	return json.Unmarshal(f.Bytes, &m) == nil && m.Method == dialect.Initialize
}
