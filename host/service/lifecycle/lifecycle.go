// Package lifecycle tells extensions what sessions, turns and tools do: when they start, and how they end.
//
// Whatever was started is settled exactly once, for each extension that was told of the start: an end that
// comes from above ends what is open below, and a generation that goes is told the ends still due to it.
// Observers never wait for an extension, and nothing that becomes of an observation has an effect on what is
// observed.
//
// Rules: EXT04-EVENT. Sheet: feature 10.
package lifecycle

import (
	"context"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/clip"
	"github.com/octet-dev/octet/runtime/peer"
)

// Service observes for all extensions. It may be used by several goroutines.
type Service struct {
	mu       sync.Mutex
	feeds    map[listener]*audience // under mu
	sessions []*Session             // under mu; open ones, in the order of their start
}

// audience is one listener and what it was told of.
type audience struct {
	feed *feed
	told map[*span]bool // starts whose ends are due; under the mutex of the service
}

// New returns a service that nobody listens to.
func New() *Service { return &Service{feeds: map[listener]*audience{}} }

// Binding offers observations to every extension. An extension hears nothing before it is admitted.
func (s *Service) Binding() extension.Binding {
	return extension.Binding{
		Features: []string{featurewire.FeatureLifecycleEvents, featurewire.FeatureLifecycleEventsV2},
		Ended:    func(x *extension.Extension) { s.drop(x) },
	}
}

// Admit makes a generation hear, and tells it what runs already. Nothing else is sent before that.
//
// Rule: EXT04-EVENT-012.
func (s *Service) Admit(x *extension.Extension) { s.admit(x) }

// Retire tells a generation the ends still due to it, with one outcome for all, and nothing after that. It
// returns when they have left, or at the end of ctx.
//
// Rule: EXT04-EVENT-012.
func (s *Service) Retire(ctx context.Context, x *extension.Extension, e End) { s.retire(ctx, x, e) }

func (s *Service) admit(to listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.feeds[to] != nil {
		return
	}
	a := &audience{feed: newFeed(to), told: map[*span]bool{}}
	s.feeds[to] = a
	for _, session := range s.sessions {
		session.eachLocked(func(p *span) {
			if p.hears(to) {
				a.start(p)
			}
		})
	}
}

func (s *Service) retire(ctx context.Context, to listener, e End) {
	s.mu.Lock()
	a := s.feeds[to]
	delete(s.feeds, to)
	if a != nil {
		// What lies inside is settled in front of what it lies in.
		for i := len(s.sessions) - 1; i >= 0; i-- {
			s.sessions[i].eachInnerFirstLocked(func(p *span) { a.settle(p, e) })
		}
	}
	s.mu.Unlock()
	if a != nil {
		a.feed.close(ctx)
	}
}

// drop forgets a listener that is gone.
func (s *Service) drop(to listener) {
	s.mu.Lock()
	a := s.feeds[to]
	delete(s.feeds, to)
	s.mu.Unlock()
	if a != nil {
		a.feed.abandon()
	}
}

func (a *audience) start(p *span) {
	a.told[p] = true
	a.feed.put(p.methods.started, p.started)
}

// settle tells the end of what the listener was told to have started, once.
func (a *audience) settle(p *span, e End) {
	if a.told[p] {
		delete(a.told, p)
		a.feed.put(p.methods.settled, p.settled(e))
	}
}

// End is how something ended.
type End struct {
	Outcome featurewire.SettlementOutcome
	// Reason is for people; empty for none. It is cut to its bound.
	Reason string
}

// methods are those of one kind of span.
type methods struct{ started, settled string }

var (
	sessionMethods = methods{featurewire.MethodSessionStarted, featurewire.MethodSessionSettled}
	turnMethods    = methods{featurewire.MethodTurnStarted, featurewire.MethodTurnSettled}
	toolMethods    = methods{featurewire.MethodToolStarted, featurewire.MethodToolSettled}
)

// span is something that has started and will end. Its own members never change.
type span struct {
	methods methods
	started peer.Value
	// end makes the params of the settlement from those members that all have.
	end     func(featurewire.SessionSettledParams) peer.Value
	begun   time.Time
	audible func(*extension.Extension) bool // nil: to everybody
	over    bool                            // under the mutex of the service
}

func (p *span) hears(to listener) bool {
	x, real := to.(*extension.Extension)
	return !real || p.audible == nil || p.audible(x)
}

func (p *span) settled(e End) peer.Value {
	common := featurewire.SessionSettledParams{
		Outcome: e.Outcome, DurationMs: max(0, time.Since(p.begun).Milliseconds()), Reason: wirejson.Null[string](),
	}
	if e.Reason != "" {
		common.Reason = wirejson.Some(clip.Text(e.Reason, featurewire.MaxLifecycleReasonBytes))
	}
	return p.end(common)
}

func (s *Service) startLocked(p *span) {
	for to, a := range s.feeds {
		if p.hears(to) {
			a.start(p)
		}
	}
}

func (s *Service) settleLocked(p *span, e End) {
	p.over = true
	for _, a := range s.feeds {
		a.settle(p, e)
	}
}
