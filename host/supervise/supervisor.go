package supervise

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	randv2 "math/rand/v2"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/extension"
)

// Timing holds the waits of a supervisor. Zero values mean those of the spec.
type Timing struct {
	RestartBase time.Duration // the first pause is drawn from 0 to this
	RestartCap  time.Duration // no pause is longer
	Attempts    int           // restarts before parking
	ReadyReset  time.Duration // readiness that gives all attempts back
	Drain       time.Duration // for operations to end by themselves
	Grace       time.Duration // for operations to end once they are cancelled
}

func (t Timing) filled() Timing {
	t.RestartBase = cmp.Or(t.RestartBase, featurewire.RestartBaseMs*time.Millisecond)
	t.RestartCap = cmp.Or(t.RestartCap, featurewire.RestartCapMs*time.Millisecond)
	t.Attempts = cmp.Or(t.Attempts, featurewire.MaxRestartAttempts)
	t.ReadyReset = cmp.Or(t.ReadyReset, featurewire.ReadyResetMs*time.Millisecond)
	t.Drain = cmp.Or(t.Drain, featurewire.DrainMs*time.Millisecond)
	t.Grace = cmp.Or(t.Grace, featurewire.CancellationGraceMs*time.Millisecond)
	return t
}

// Member is one extension to supervise. Name and Start are required.
type Member struct {
	Name string
	// Recheck is asked in front of every start; an error parks the extension. Nil: nothing to check.
	Recheck func() error
	Start   Starter
	// Lifecycle is that of the manifest; empty means resident.
	Lifecycle Lifecycle
	// Share is the identity under which a process outlives a rebuild of the fleet; empty: it does not.
	Share string
	// Log takes what there is to tell about the extension, Stderr what it says on standard error. Nil means
	// a new one.
	Log, Stderr *diagnostic.Log
}

// Options configure supervisors. The zero value is good.
type Options struct {
	Timing   Timing
	Handover Handover
	// Random draws a pause from 0 to most, both included. Nil means a fair draw.
	Random func(most time.Duration) time.Duration
}

func (o Options) filled() Options {
	o.Timing = o.Timing.filled()
	if o.Random == nil {
		o.Random = func(most time.Duration) time.Duration { return randv2.N(most + 1) }
	}
	return o
}

// Supervisor keeps one extension running. Its methods may be called from any goroutine.
//
// The turn orders everything that starts or ends a generation: first start, reload, restart and close.
// Whoever has waited for it looks again at the generation it came for. The mutex guards the fields and is
// held for no longer than it takes to read or write them.
type Supervisor struct {
	member  Member
	options Options
	id      string
	changed func(State, int64) // told after every step, with no lock held

	turn chan struct{} // holds one token; who has it may start and end generations

	life  context.Context // ends when supervision does
	end   context.CancelFunc
	hurry chan struct{}  // closed by Kill: no wait for anybody's manners
	tasks sync.WaitGroup // watchers of generations

	closeOnce, killOnce sync.Once
	ending              Ending

	mu         sync.Mutex
	state      State
	since      time.Time
	current    *generation // in service, or being drained, or being cleared away; nil if there is none
	successor  bool        // an initialized candidate waits for current to go
	number     int64       // generation of the last one in service
	agreement  *extension.Agreement
	tools      []*extension.Tool  // the catalog of number
	staged     *[]*extension.Tool // the catalog of the candidate, if it published one already
	gone       *Previous          // the last one, if it went and nothing took its place
	attempts   int
	lastError  string
	retry      time.Time
	step       chan struct{} // closed and made anew at every step
	closing    bool
	unfinished map[*generation]bool // have a process; killed by Kill
	launched   func()               // kills the process of a candidate that is not initialized yet
}

// generation is one that is or was in service.
type generation struct {
	Running
	life   context.Context // ends when its operations are cancelled
	cancel context.CancelCauseFunc

	// Guarded by the mutex of the supervisor.
	closed  bool // admits nothing
	pending int
	idle    chan struct{} // closed once it admits nothing and nothing runs
}

// New makes a supervisor that has started nothing.
func New(member Member, options Options) *Supervisor {
	if member.Lifecycle == "" {
		member.Lifecycle = manifestdoc.RuntimeLifecycleLegacyResident
	}
	for _, log := range []**diagnostic.Log{&member.Log, &member.Stderr} {
		if *log == nil {
			*log = &diagnostic.Log{}
		}
	}
	s := &Supervisor{
		member: member, options: options.filled(), id: newID(), changed: func(State, int64) {},
		turn: make(chan struct{}, 1), state: Stopped, since: time.Now(), step: make(chan struct{}), hurry: make(chan struct{}),
		unfinished: map[*generation]bool{},
	}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // documented never to fail
	return hex.EncodeToString(id[:])
}

// Name is that of the extension.
func (s *Supervisor) Name() string { return s.member.Name }

// Log holds what there was to tell about the extension, within its bounds.
func (s *Supervisor) Log() *diagnostic.Log { return s.member.Log }

// Stderr holds what the extension has said on standard error, within its bounds.
func (s *Supervisor) Stderr() *diagnostic.Log { return s.member.Stderr }

// Status is a snapshot.
func (s *Supervisor) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := Status{
		Name: s.member.Name, State: s.state, Generation: s.number, InstanceID: s.id, Attempts: s.attempts,
		LastError: s.lastError, Since: s.since, Lifecycle: s.member.Lifecycle, Shared: s.member.Share != "",
	}
	if s.recoveredLocked() {
		status.Attempts = 0
	}
	if s.state == Backoff {
		status.Retry = s.retry
	}
	if s.current != nil {
		status.Pending = s.current.pending
	}
	if a := s.agreement; a != nil {
		status.API, status.Features = a.API, append(append([]string(nil), a.Features...), a.Capabilities...)
	}
	if s.servesLocked() {
		for _, t := range s.tools {
			status.Tools = append(status.Tools, t.Name)
		}
		for _, c := range s.agreement.Commands {
			status.Commands = append(status.Commands, c.Name)
		}
	}
	return status
}

// recoveredLocked reports whether it has been ready for long enough to forget its failures.
//
// Rules: MAN-RESTART-005, EXT04-RELOAD-011.
func (s *Supervisor) recoveredLocked() bool {
	return s.state == Ready && time.Since(s.since) >= s.options.Timing.ReadyReset
}

// servesLocked reports whether the catalog is offered: it is until the generation is gone.
func (s *Supervisor) servesLocked() bool { return s.state == Ready || s.state == Draining }

// setLocked enters a state.
func (s *Supervisor) setLocked(state State) {
	s.state, s.since = state, time.Now()
	close(s.step)
	s.step = make(chan struct{})
}

// enter enters a state and tells about it.
func (s *Supervisor) enter(state State) {
	s.mu.Lock()
	s.setLocked(state)
	number := s.number
	s.mu.Unlock()
	s.changed(state, number)
}

// take waits for the turn; giveBack ends it.
func (s *Supervisor) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Supervisor) giveBack() { <-s.turn }

// Start starts the first generation of an extension that is resident, and reads the catalog of one that
// runs for one operation at a time. One that is activated on demand stays stopped. A start that fails
// parks the extension at generation 0. Start again does nothing.
//
// Rules: MAN-START-012, MAN-RESTART-001.
func (s *Supervisor) Start(ctx context.Context) Report {
	if s.member.Lifecycle == manifestdoc.RuntimeLifecycleLazyResident {
		return s.report(0, nil)
	}
	return s.first(ctx)
}

// Activate starts an extension that runs on demand only. Where it runs already, it does nothing.
func (s *Supervisor) Activate(ctx context.Context) Report { return s.first(ctx) }

func (s *Supervisor) first(ctx context.Context) Report {
	if err := s.take(ctx); err != nil {
		return s.report(0, err)
	}
	defer s.giveBack()
	s.mu.Lock()
	idle := s.state == Stopped && !s.closing
	s.mu.Unlock()
	if !idle {
		return s.report(0, nil)
	}
	return s.replace(ctx, nil, Parked)
}

// Reload replaces what runs by a new generation, and starts what is parked or waits for a restart. What is
// stopped stays so. If the candidate does not start or does not match, what runs goes on.
//
// Rules: MAN-RELOADING-001, MAN-RELOADING-003, MAN-RELOADING-004, MAN-RELOADING-010, MAN-RELOADING-012.
func (s *Supervisor) Reload(ctx context.Context) Report {
	if err := s.take(ctx); err != nil {
		return s.report(0, err)
	}
	defer s.giveBack()
	s.mu.Lock()
	state, current := s.state, s.current
	s.mu.Unlock()
	if state == Stopped {
		return s.report(0, nil)
	}
	if s.member.oneshot() {
		current = nil
	}
	report := s.replace(ctx, current, state)
	if report.Replaced {
		s.mu.Lock()
		s.attempts = 0
		s.mu.Unlock()
	}
	return report
}

// report says how things stand.
func (s *Supervisor) report(previous int64, err error) Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Report{Name: s.member.Name, Previous: previous, State: s.state, Err: err}
	if s.current != nil || s.member.oneshot() && s.state == Ready {
		r.Generation = s.number
	}
	return r
}

// tell logs one fact.
func (s *Supervisor) tell(level diagnostic.Level, rule, remedy, format string, values ...any) {
	s.member.Log.Add(diagnostic.Diagnostic{
		Level: level, Path: "extension " + s.member.Name, Rule: rule, Remedy: remedy, Message: fmt.Sprintf(format, values...),
	})
}

func (m *Member) oneshot() bool { return m.Lifecycle == manifestdoc.RuntimeLifecycleOneshot }
