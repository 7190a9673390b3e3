package supervise

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
)

// The bounds of Fleet.Close. Rules: MAN-SUPER-011, MAN-SUPER-012.
const (
	ProductCap = featurewire.ProductShutdownMs * time.Millisecond
	SignalCap  = featurewire.SignalShutdownMs * time.Millisecond
)

// FleetOptions configure a Fleet. The zero value is good.
type FleetOptions struct {
	Options
	// Reserved are tool names that no extension gets: those of the host.
	Reserved []string
	// OnChange is called for every step of every extension, in order, from one goroutine. It must not close
	// the fleet. Nil: nobody wants to know.
	OnChange func(Change)
}

// Fleet is all extensions of a host. Its methods may be called from any goroutine.
type Fleet struct {
	options FleetOptions
	steps   steps

	mu      sync.Mutex
	members []*Supervisor // ascending by name
	owners  map[string]string
	catalog *Catalog
	closed  bool
}

// NewFleet makes a fleet of members with different names. Nothing is started.
func NewFleet(members []Member, options FleetOptions) *Fleet {
	f := &Fleet{options: options, owners: map[string]string{}, catalog: &Catalog{}}
	f.steps.start(options.OnChange)
	for _, m := range members {
		f.members = append(f.members, f.supervise(m))
	}
	f.sortLocked()
	return f
}

func (f *Fleet) supervise(m Member) *Supervisor {
	s := New(m, f.options.Options)
	s.changed = func(state State, generation int64) {
		revision := f.publish()
		change := Change{Name: m.Name, State: state, Generation: generation, Revision: revision}
		if state == Backoff || state == Parked || state == Degraded {
			change.Reason = s.Status().LastError
		}
		f.steps.post(change)
	}
	return s
}

func (f *Fleet) sortLocked() {
	slices.SortFunc(f.members, func(a, b *Supervisor) int { return cmp.Compare(a.Name(), b.Name()) })
}

// list is a copy of the members.
func (f *Fleet) list() []*Supervisor {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.members)
}

// each does one thing with every member at once and returns the outcomes in the order of names.
func each[T any](list []*Supervisor, do func(*Supervisor) T) []T {
	outcomes := make([]T, len(list))
	var tasks sync.WaitGroup
	for i, s := range list {
		tasks.Go(func() { outcomes[i] = do(s) })
	}
	tasks.Wait()
	return outcomes
}

// Start starts all members at once, except those that run on demand, and reports in the order of names.
// What does not start is parked.
func (f *Fleet) Start(ctx context.Context) []Report {
	return each(f.list(), func(s *Supervisor) Report { return s.Start(ctx) })
}

// Get finds a member by name, nil if there is none.
func (f *Fleet) Get(name string) *Supervisor {
	for _, s := range f.list() {
		if s.Name() == name {
			return s
		}
	}
	return nil
}

// Ready lists the generations in service, ascending by name. Whoever keeps one for longer than a moment
// uses Supervisor.Use, which holds it.
func (f *Fleet) Ready() []Running {
	var ready []Running
	for _, s := range f.list() {
		s.mu.Lock()
		if s.state == Ready && s.current != nil {
			ready = append(ready, s.current.Running)
		}
		s.mu.Unlock()
	}
	return ready
}

// Reload reloads one member. An unknown name is an *UnknownError in the report.
func (f *Fleet) Reload(ctx context.Context, name string) Report {
	if s := f.Get(name); s != nil {
		return s.Reload(ctx)
	}
	unknown := &UnknownError{Name: name}
	for _, s := range f.list() {
		unknown.Known = append(unknown.Known, s.Name())
	}
	return Report{Name: name, State: Stopped, Err: unknown}
}

// ReloadAll reloads every member at once and reports in the order of names.
func (f *Fleet) ReloadAll(ctx context.Context) []Report {
	return each(f.list(), func(s *Supervisor) Report { return s.Reload(ctx) })
}

// Status lists all members, ascending by name.
func (f *Fleet) Status() []Status {
	list := f.list()
	all := make([]Status, len(list))
	for i, s := range list {
		all[i] = s.Status()
	}
	return all
}

// Rebuild replaces the members: what a full reload of the product comes to, and the change of a session.
// Members whose Share is not empty and equal to that of a running one of the same name go on, with their
// generation; all others are shut down within the product's bound, and what is new starts with a new
// instance id and no history. It reports as Start does. A fleet that was closed stays as it is.
//
// Rules: MAN-RESTART-010, MAN-RELOADING-001, EXT04-RELOAD-015.
func (f *Fleet) Rebuild(ctx context.Context, members []Member) []Report {
	kept := map[string]*Supervisor{}
	var leaving []*Supervisor
	for _, s := range f.list() {
		i := slices.IndexFunc(members, func(m Member) bool { return m.Name == s.Name() })
		if i >= 0 && s.member.Share != "" && s.member.Share == members[i].Share {
			kept[s.Name()] = s
		} else {
			leaving = append(leaving, s)
		}
	}
	closeAll(leaving, ProductCap)
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil
	}
	f.members = nil
	for _, m := range members {
		s := kept[m.Name]
		if s == nil {
			s = f.supervise(m)
		}
		f.members = append(f.members, s)
	}
	f.sortLocked()
	f.mu.Unlock()
	f.publish()
	return f.Start(ctx)
}

// Close shuts all members down at once. What is still there when limit is over is killed; ProductCap and
// SignalCap are the limits of an ordinary end and of one on a signal. It returns the endings in the order of
// names when nothing is left. Every further call finds nothing to do.
//
// Rules: MAN-SUPER-011, MAN-SUPER-012, EXT04-SHUT-010, EXT04-SHUT-011.
func (f *Fleet) Close(limit time.Duration) []Ending {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	endings := closeAll(f.list(), limit)
	f.steps.stop()
	return endings
}

// drainShare is the part of the limit that operations get when everything is shut down: the rest is for the
// answers to shutdown.
const drainShare = 4

func closeAll(list []*Supervisor, limit time.Duration) []Ending {
	timer := time.AfterFunc(limit, func() {
		for _, s := range list {
			s.Kill()
		}
	})
	defer timer.Stop()
	return each(list, func(s *Supervisor) Ending { return s.closeWithin(limit / drainShare) })
}

// Kill ends every process of the fleet at once. Close must still be called, and is quick then.
func (f *Fleet) Kill() {
	for _, s := range f.list() {
		s.Kill()
	}
}

// Publish replaces the live catalog of one generation, or of the candidate that has its number, all or
// nothing. It is for the service behind dynamic tools. The error is a *ConflictError, a *StaleError or an
// *UnknownError.
func (f *Fleet) Publish(name string, generation int64, tools []*extension.Tool) error {
	s := f.Get(name)
	if s == nil {
		return &UnknownError{Name: name}
	}
	if err := f.reserve(s, generation, tools); err != nil {
		return err
	}
	s.changed(s.Status().State, generation)
	return nil
}
