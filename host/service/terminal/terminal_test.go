package terminal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// screen is a frontend that counts who has it.
type screen struct {
	mu      sync.Mutex
	ceded   int
	err     error
	waits   chan struct{}
	entered chan struct{}
}

func (s *screen) Cede(context.Context, int) (uint16, uint16, error) {
	if s.waits != nil {
		close(s.entered)
		<-s.waits
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, 0, s.err
	}
	s.ceded++
	return 65535, 0, nil
}

func (s *screen) Reclaim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ceded--
}

func (s *screen) want(t *testing.T, ceded int) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ceded != ceded {
		t.Errorf("the terminal is ceded %d times, want %d", s.ceded, ceded)
	}
}

const (
	acquire = featurewire.MethodTerminalAcquire
	release = featurewire.MethodTerminalRelease
	lost    = featurewire.MethodTerminalGrantLost
)

func start(t *testing.T, l *Loan, name string) *extensiontest.Rig {
	return extensiontest.Start(t, extensiontest.Setup{Name: name, Options: extension.Options{Bindings: []extension.Binding{Binding(l)}}})
}

// during runs f inside a tool call of the session in front.
func during(rig *extensiontest.Rig, f func(ask func(method string) extensiontest.Answer)) {
	rig.During(extension.Scope{Owner: extensiontest.DefaultFront}, func(parent int64) {
		f(func(method string) extensiontest.Answer {
			return rig.Ask(method, fmt.Sprintf(`{"parent_request_id":%d}`, parent))
		})
	})
}

// EXT04-TERM-002, EXT04-TERM-003, EXT04-TERM-005
func TestLoan_oneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		l := New(s)
		defer l.Close()
		one, two := start(t, l, "one"), start(t, l, "two")
		during(one, func(ask1 func(string) extensiontest.Answer) {
			during(two, func(ask2 func(string) extensiontest.Answer) {
				ask2(release).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
				var grant featurewire.TerminalAcquireResult
				ask1(acquire).Decode(t, &grant)
				if grant.GrantID == "" || len(grant.GrantID) > 128 || grant.Columns != 65535 || grant.Rows != 0 {
					t.Errorf("granted %+v", grant)
				}
				if !l.Ceded() || !l.Held(one.X) || l.Held(two.X) {
					t.Error("the holder is not known")
				}
				s.want(t, 1)
				ask1(acquire).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
				ask2(acquire).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
				ask2(release).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
				s.want(t, 1)
				ask1(release).OK(t, `{}`)
				s.want(t, 0)
				ask1(release).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
				ask2(acquire).OK(t, "")
				ask2(release).OK(t, `{}`)
				s.want(t, 0)
			})
		})
	})
}

// EXT04-TERM-004
func TestLoan_withoutATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{err: fmt.Errorf("headless: %w", ErrNone)}
		l := New(s)
		defer l.Close()
		rig := start(t, l, "one")
		during(rig, func(ask func(string) extensiontest.Answer) {
			ask(acquire).Refused(t, featurewire.CodeNotForegroundOwner, "not_foreground_owner ")
			s.err = errors.New("stuck")
			ask(acquire).Refused(t, featurewire.CodeInternalError, "")
			s.err = nil
			ask(acquire).OK(t, "")
		})
		rig.During(extension.Scope{Owner: "session-2"}, func(parent int64) {
			for _, method := range []string{acquire, release} {
				rig.Ask(method, fmt.Sprintf(`{"parent_request_id":%d}`, parent)).Refused(t, featurewire.CodeNotForegroundOwner, "not_foreground_owner ")
			}
		})
	})
}

// EXT04-TERM-007
func TestLoan_revoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		l := New(s)
		defer l.Close()
		rig := start(t, l, "one")
		l.Revoke("nobody has it")
		during(rig, func(ask func(string) extensiontest.Answer) {
			var grant featurewire.TerminalAcquireResult
			ask(acquire).Decode(t, &grant)
			l.Revoke(strings.Repeat("r", 4095) + "ü")
			s.want(t, 0)
			told := rig.WaitTold(lost, 1)
			if want := fmt.Sprintf(`{"grant_id":"%s","reason":"%s"}`, grant.GrantID, strings.Repeat("r", 4095)); string(told[0].Params) != want {
				t.Errorf("told %.80s", told[0].Params)
			}
			ask(release).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
			l.Revoke("again")
			ask(acquire).OK(t, "")
		})
		synctest.Wait()
		if n := len(rig.Told(lost)); n != 1 {
			t.Errorf("told %d times, want once for each lost grant", n)
		}
	})
}

func TestLoan_holderGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		l := New(s)
		defer l.Close()
		one, two := start(t, l, "one"), start(t, l, "two")
		during(one, func(ask func(string) extensiontest.Answer) { ask(acquire).OK(t, "") })
		two.Exit(0)
		s.want(t, 1)
		one.X.Close()
		s.want(t, 0)
		if l.Ceded() {
			t.Error("the terminal is still lent")
		}
	})
}

func TestLoan_cancelledWhileCeding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{waits: make(chan struct{}), entered: make(chan struct{})}
		l := New(s)
		defer l.Close()
		rig := start(t, l, "one")
		during(rig, func(func(string) extensiontest.Answer) {
			rig.During(extension.Scope{Owner: extensiontest.DefaultFront}, func(parent int64) {
				p := rig.Send(acquire, fmt.Sprintf(`{"parent_request_id":%d}`, parent))
				<-s.entered
				if !l.Ceded() {
					t.Error("the terminal counts as free while it is being ceded")
				}
				rig.Cancel(p)
				synctest.Wait()
				close(s.waits)
				p.Wait().Refused(t, featurewire.CodeRequestCancelled, "")
				s.want(t, 0)
			})
		})
	})
}
