// Package house is all sessions of one server: it finds, makes, forks and deletes them, gives each the engine of
// its workspace, lets those rest that nobody uses, and clears up what a process has left that did not end in order.
//
// Sheet: OUP core 6, 9.2; settled S57, S62, S70, S73.
package house

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/oup/again"
	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// Options are what a house works with. Ledger, Store, Engine and Workspace are required; whoever opened ledger and
// store closes them, behind the house.
type Options struct {
	Ledger *ledger.Ledger
	Store  *session.Store
	// Engine opens the engine of a workspace, given by its canonical root, for one profile. The house closes it. Its
	// store must be Store.
	Engine func(context.Context, Place) (*engine.Engine, error)
	// Workspace is that of sessions for which nobody names another one.
	Workspace string
	// Private is the directory that the server keeps its data in: no session that names a workspace gets it, what is in
	// it or around it. Empty: there is none.
	Private string
	// Model is the reference of the model that the sessions of a profile are to be answered by from their next turn on;
	// empty, or nil: as before.
	Model func(profile string) string
	// Preview, Spread, Tools, Ended and Failed are those of live.Options.
	Preview func(session string, changes []tool.Change) string
	Spread  func(session, method string, params wirejson.Encoder)
	Tools   func(s *live.Session) []tool.Tool
	Ended   func(session, turn string)
	Failed  func(error)
	// Idle is how long a session is not used before it rests; 0: oupwire.LedgerIdleMs. Spare is the same for one that
	// no client has open; 0: a minute.
	Idle, Spare time.Duration
	// Most bounds the sessions at work, each of which costs memory and a descriptor; 0: oupwire.LedgerMemorySessions, or
	// less where the process may not have many descriptors.
	Most int
	Now  func() time.Time // nil: time.Now
	// After calls a function once later, and returns what takes that back; nil: time.AfterFunc.
	After func(time.Duration, func()) (stop func() bool)
}

// House is an open house. Its methods may be called from any goroutine.
type House struct {
	o Options

	mu       sync.Mutex
	sessions map[string]*live.Session // by key, those that were used
	making   map[string]chan struct{} // keys for which a session is being made or deleted
	engines  map[Place]*opened
	closed   bool

	left leftovers // of the process before

	sweeping sync.WaitGroup
	ending   chan struct{}
}

// Place is where an engine works, and for whom.
type Place struct {
	Workspace string // its root
	Profile   string
}

// PlaceOf is where the engine of a session works.
func PlaceOf(s *live.Session) Place { return Place{Workspace: s.Workspace(), Profile: s.Owner()} }

// Owner is the profile that a stored session belongs to: that which it was made for, or that of its key.
func Owner(info session.Info) string {
	if info.Profile != "" {
		return info.Profile
	}
	if k, err := key.Parse(info.Key); err == nil && k.Profile != "" {
		return k.Profile
	}
	return key.Default()
}

// Owner is the profile that the session of a key belongs to; found is false where there is none.
func (h *House) Owner(ctx context.Context, k key.Key) (profile string, found bool, err error) {
	h.mu.Lock()
	s := h.sessions[k.String()]
	h.mu.Unlock()
	if s != nil {
		return s.Owner(), true, nil
	}
	info, err := h.o.Store.Keyed(ctx, k.String())
	if errors.Is(err, session.ErrNotFound) {
		return "", false, nil
	}
	return Owner(info), err == nil, err
}

// opened is the engine of a place, or the opening of one.
type opened struct {
	ready  chan struct{} // closed once one of the others is set
	engine *engine.Engine
	err    error
	used   time.Time // when somebody asked for it last; under the mutex of the house
}

// ErrClosed says that the house is closed.
var ErrClosed = errors.New("the server is ending")

// UnknownError says that no session has a key.
type UnknownError struct{ Key string }

// Error names the key.
func (e *UnknownError) Error() string { return fmt.Sprintf("there is no session %q", e.Key) }

// ExistsError says that a session has a key, or is being made for it.
//
// Rule: OUP-FORK-003.
type ExistsError struct{ Key string }

// Error names the key.
func (e *ExistsError) Error() string { return fmt.Sprintf("there is a session %q", e.Key) }

// Open clears up what the last process has left, and opens the house. When it returns, every turn that was running
// then has its one end in the ledger; where the disk does not take that, it has it before anybody gets its session.
//
// Rules: OUP-LEDGER-008, OUP-LEDGER-009, OUP-LEDGER-010.
func Open(ctx context.Context, o Options) (*House, error) {
	if o.Ledger == nil || o.Store == nil || o.Engine == nil || o.Workspace == "" {
		return nil, errors.New("house: a ledger, a store, engines and a workspace are required")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Idle == 0 {
		o.Idle = oupwire.LedgerIdleMs * time.Millisecond
	}
	if o.Most == 0 {
		o.Most = most(descriptors())
	}
	if o.Spare == 0 {
		o.Spare = min(o.Idle, spare)
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	root, err := folder(o.Workspace) // whoever starts the server may name any
	if err != nil {
		return nil, err
	}
	o.Workspace = root
	h := &House{
		o: o, sessions: map[string]*live.Session{}, making: map[string]chan struct{}{}, engines: map[Place]*opened{}, ending: make(chan struct{}),
	}
	h.left.of = map[string][]ledger.Running{}
	h.left.plan = again.Plan{Try: h.settleAll, Left: func() bool { return len(h.left.sessions()) > 0 }, After: o.After}
	if err := h.clearUp(ctx); err != nil {
		h.left.plan.Close()
		return nil, err
	}
	h.sweeping.Go(h.sweep)
	return h, nil
}

// Ledger and Store are those of the options.
func (h *House) Ledger() *ledger.Ledger { return h.o.Ledger }

// Store is where the conversations are.
func (h *House) Store() *session.Store { return h.o.Store }

// Workspace is the root of the default workspace.
func (h *House) Workspace() string { return h.o.Workspace }

// Private is the directory that the server keeps its data in; empty for none.
func (h *House) Private() string { return h.o.Private }

// Find returns the session that has a key. The error is an *UnknownError, ErrClosed, or of the store.
func (h *House) Find(ctx context.Context, k key.Key) (*live.Session, error) {
	s, _, err := h.load(ctx, k, func() error { return &UnknownError{Key: k.String()} })
	return s, err
}

// Engine is the engine of a place, and is opened where it is needed first. A failure is not kept.
func (h *House) Engine(ctx context.Context, at Place) (*engine.Engine, error) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, ErrClosed
	}
	o := h.engines[at]
	if o != nil {
		o.used = h.o.Now()
	} else {
		o = &opened{ready: make(chan struct{}), used: h.o.Now()}
		h.engines[at] = o
		h.mu.Unlock()
		o.engine, o.err = h.o.Engine(context.WithoutCancel(ctx), at)
		if o.err != nil {
			h.mu.Lock()
			delete(h.engines, at)
			h.mu.Unlock()
		}
		close(o.ready)
		return o.engine, o.err
	}
	h.mu.Unlock()
	select {
	case <-o.ready:
		return o.engine, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Engines are those that are open.
func (h *House) Engines() map[Place]*engine.Engine {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := map[Place]*engine.Engine{}
	for at, o := range h.engines {
		select {
		case <-o.ready:
			if o.err == nil {
				list[at] = o.engine
			}
		default:
		}
	}
	return list
}

// Sessions are those that are in memory.
func (h *House) Sessions() []*live.Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*live.Session, 0, len(h.sessions))
	for _, s := range h.sessions {
		list = append(list, s)
	}
	return list
}

// Close ends every turn, takes back what sessions wait for, and closes the engines, within the limit. It returns
// once the ends of the turns are stored.
//
// Settled: S70.
func (h *House) Close(limit time.Duration) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		h.sweeping.Wait()
		return
	}
	h.closed = true
	close(h.ending)
	h.left.plan.Close()
	engines := maps.Clone(h.engines)
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	begun := time.Now()
	var tasks sync.WaitGroup
	for _, s := range h.Sessions() {
		tasks.Go(func() {
			if err := s.Retire(ctx, live.ErrShutdown); err != nil {
				h.o.Failed(fmt.Errorf("session %q is not given back in order: %w", s.Key(), err))
			}
		})
	}
	tasks.Wait()
	for _, o := range engines {
		tasks.Go(func() {
			<-o.ready
			if o.err == nil {
				o.engine.Close(max(limit-time.Since(begun), limit/4))
			}
		})
	}
	tasks.Wait()
	h.sweeping.Wait()
}
