package lifecycle

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/runtime/peer"
)

// ear is a listener that hears everything it has opened, as fast as its gate lets it.
type ear struct {
	closed map[string]bool
	gate   chan struct{} // nil: always open

	mu          sync.Mutex
	heard       []string
	diagnostics []string
}

func (e *ear) Opens(method string) bool { return !e.closed[method] }

func (e *ear) Deliver(ctx context.Context, method string, params peer.Value, begin func() bool) error {
	if e.gate != nil {
		select {
		case <-e.gate:
		case <-ctx.Done():
			return peer.ErrNotSent
		}
	}
	if !begin() {
		return peer.ErrNotSent
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, method+" "+string(params.AppendJSON(nil)))
	return nil
}

func (e *ear) Diagnose(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.diagnostics = append(e.diagnostics, text)
}

// take waits until nothing moves, and returns what was heard since the last time, without its params.
func (e *ear) take() []string {
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	heard := e.heard
	e.heard = nil
	return heard
}

func methodsOf(heard []string) string {
	var names []string
	for _, text := range heard {
		name, _, _ := strings.Cut(text, " ")
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// An observation that cannot be delivered in its time is dropped, and nothing waits for it: neither who
// observes, nor the ones behind it.
//
// EXT04-EVENT-007, EXT04-EVENT-008, EXT04-LIMIT-008.
func TestFeed_drops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &ear{gate: make(chan struct{})}
		s := New()
		s.admit(e)
		begun := time.Now()
		session := s.Start("s1", nil)
		turn := session.Turn("r", "t")
		if time.Since(begun) != 0 {
			t.Error("observing took its time")
		}
		time.Sleep(patience - 1)
		if got := methodsOf(e.take()); got != "" {
			t.Errorf("heard %s", got)
		}
		close(e.gate) // just in time
		if got := methodsOf(e.take()); got != "session/started turn/started" {
			t.Errorf("heard %s", got)
		}
		e.gate = make(chan struct{})
		tool := turn.Tool("c", "read")
		time.Sleep(patience)
		tool.Settle(End{Outcome: featurewire.SettlementOutcomeCompleted})
		close(e.gate)
		if got := methodsOf(e.take()); got != "tool/settled" {
			t.Errorf("heard %s, want the old one dropped and the new one sent", got)
		}
		e.gate = make(chan struct{})
		for range maxWaiting + 4 { // one is in the hands of the sender already
			turn.Tool("c", "read")
		}
		close(e.gate)
		if got := len(e.take()); got < maxWaiting || got > maxWaiting+1 {
			t.Errorf("%d of %d got through, want the bound of the queue", got, maxWaiting+4)
		}
		s.retire(t.Context(), e, End{Outcome: featurewire.SettlementOutcomeShutdown})
		e.take()
		if len(e.diagnostics) != 1 || !strings.Contains(e.diagnostics[0], "lifecycle observations were dropped") {
			t.Errorf("diagnostics: %q", e.diagnostics)
		}
	})
}

// An observation that waits behind another frame leaves as long as it is younger than 250 ms, and never when
// it is that old. The frame in front of it has been begun, so it is finished.
//
// EXT04-EVENT-007, EXT04-LIMIT-008, MAN-SUPER-006.
func TestFeed_deadlineIsExact(t *testing.T) {
	for wait, want := range map[time.Duration][]string{
		250*time.Millisecond - 1: {featurewire.MethodTurnStarted, featurewire.MethodToolStarted},
		250 * time.Millisecond:   {featurewire.MethodTurnStarted},
	} {
		t.Run(wait.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New()
				rig := start(t, s, extensiontest.Setup{})
				session := s.Start("s1", nil)
				synctest.Wait()
				hear := rig.Deafen()
				session.Turn("r1", "t1").Tool("c1", "read")
				time.Sleep(wait)
				synctest.Wait()
				hear()
				synctest.Wait()
				var got []string
				for _, method := range []string{featurewire.MethodTurnStarted, featurewire.MethodToolStarted} {
					for range rig.Told(method) {
						got = append(got, method)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("told %q, want %q", got, want)
				}
				s.Retire(t.Context(), rig.X, End{Outcome: featurewire.SettlementOutcomeShutdown})
				synctest.Wait()
				if told := rig.Diagnosed("could not be delivered in 250ms"); told != (len(want) == 1) {
					t.Errorf("diagnostics %q", rig.Diagnostics())
				}
			})
		})
	}
}

// A listener that is stuck keeps nobody from ending.
func TestFeed_endsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := &ear{gate: make(chan struct{})}
		s := New()
		s.admit(stuck)
		session := s.Start("s1", nil)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		begun := time.Now()
		s.retire(ctx, stuck, End{Outcome: featurewire.SettlementOutcomeShutdown})
		if took := time.Since(begun); took != 100*time.Millisecond {
			t.Errorf("it took %s", took)
		}
		other := &ear{gate: make(chan struct{})}
		s.admit(other)
		s.drop(other)
		s.drop(other)
		if stuck.heard != nil || other.heard != nil {
			t.Errorf("heard %q %q", stuck.heard, other.heard)
		}
		session.Settle(End{Outcome: featurewire.SettlementOutcomeShutdown}) // nobody listens
	})
}

func TestFeed_errors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		s.admit(deaf{})
		s.Start("s1", nil)
		synctest.Wait()
		s.drop(deaf{})
	})
}

// deaf fails at everything.
type deaf struct{}

func (deaf) Opens(string) bool { return true }
func (deaf) Deliver(context.Context, string, peer.Value, func() bool) error {
	return errors.New("closed")
}
func (deaf) Diagnose(string) {}
