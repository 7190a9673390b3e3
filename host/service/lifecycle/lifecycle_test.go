package lifecycle

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

var done = End{Outcome: featurewire.SettlementOutcomeCompleted}

// EXT04-EVENT-004, EXT04-EVENT-005, EXT04-EVENT-006, EXT04-EVENT-009.
func TestService_tells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s := &ear{}, New()
		s.admit(e)
		session := s.Start("s1", nil)
		turn := session.Turn("r1", "t1")
		for range 3 { // rounds of the model are part of the turn
			tool := turn.Tool("c1", "read")
			time.Sleep(7 * time.Millisecond)
			tool.Settle(End{Outcome: featurewire.SettlementOutcomeFailed, Reason: "no such file"})
		}
		time.Sleep(time.Millisecond)
		turn.Settle(done)
		// MAN-SUPER-008
		session.Settle(End{Outcome: featurewire.SettlementOutcomeLimitReached, Reason: strings.Repeat("x", featurewire.MaxLifecycleReasonBytes+1)})
		tool := []string{
			`tool/started {"run_id":"r1","session_id":"s1","tool_call_id":"c1","tool_name":"read","turn_id":"t1"}`,
			`tool/settled {"duration_ms":7,"outcome":"failed","reason":"no such file","run_id":"r1","session_id":"s1","tool_call_id":"c1","tool_name":"read","turn_id":"t1"}`,
		}
		want := slices.Concat(
			[]string{`session/started {"session_id":"s1"}`, `turn/started {"run_id":"r1","session_id":"s1","turn_id":"t1"}`},
			tool, tool, tool,
			[]string{
				`turn/settled {"duration_ms":22,"outcome":"completed","reason":null,"run_id":"r1","session_id":"s1","turn_id":"t1"}`,
				`session/settled {"duration_ms":22,"outcome":"limit_reached","reason":"` + strings.Repeat("x", featurewire.MaxLifecycleReasonBytes) + `","session_id":"s1"}`,
			})
		if got := e.take(); !slices.Equal(got, want) {
			t.Errorf("heard %s\nwant  %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		s.drop(e)
	})
}

// Whatever started is settled once, through whatever it ends.
//
// EXT04-EVENT-011.
func TestService_settlesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, outcome := range []featurewire.SettlementOutcome{
			featurewire.SettlementOutcomeCompleted, featurewire.SettlementOutcomeFailed, featurewire.SettlementOutcomeCancelled,
			featurewire.SettlementOutcomeInterrupted, featurewire.SettlementOutcomeFrontendDisconnected, featurewire.SettlementOutcomeShutdown,
			featurewire.SettlementOutcomeLimitReached,
		} {
			e, s := &ear{}, New()
			s.admit(e)
			session := s.Start("s1", nil)
			turn := session.Turn("r", "t")
			tool := turn.Tool("c", "read")
			e.take()
			session.Settle(End{Outcome: outcome})
			tool.Settle(done)
			turn.Settle(done)
			session.Settle(done)
			session.Turn("r", "late").Tool("c", "late").Settle(done)
			turn.Tool("c", "late").Settle(done)
			heard := e.take()
			if got := methodsOf(heard); got != "tool/settled turn/settled session/settled" {
				t.Errorf("%s: heard %s", outcome, got)
			}
			for _, text := range heard {
				if !strings.Contains(text, `"outcome":"`+string(outcome)+`"`) {
					t.Errorf("%s: heard %s", outcome, text)
				}
			}
			turn = s.Start("s2", nil).Turn("r", "t")
			turn.Tool("c", "read")
			turn.Settle(done)
			if got := methodsOf(e.take()); got != "session/started turn/started tool/started tool/settled turn/settled" {
				t.Errorf("%s: heard %s", outcome, got)
			}
			s.drop(e)
			if len(s.sessions) != 1 || len(s.sessions[0].turns) != 0 {
				t.Errorf("%d sessions are kept", len(s.sessions))
			}
		}
	})
}

// The generation that goes hears the ends still due to it and nothing more; the one that comes hears what
// runs, and its ends alone.
//
// EXT04-EVENT-012.
func TestService_handsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, fresh, s := &ear{}, &ear{}, New()
		s.admit(old)
		session := s.Start("s1", nil)
		ended := session.Turn("r0", "t0")
		ended.Settle(done)
		turn := session.Turn("r", "t")
		tool := turn.Tool("c", "read")
		old.take()
		s.retire(t.Context(), old, End{Outcome: featurewire.SettlementOutcomeInterrupted, Reason: "reload"})
		heard := old.take()
		if got := methodsOf(heard); got != "tool/settled turn/settled session/settled" || !strings.Contains(heard[0], `"outcome":"interrupted","reason":"reload"`) {
			t.Errorf("the old one heard %s", heard)
		}
		s.admit(fresh)
		s.admit(fresh)
		if got := methodsOf(fresh.take()); got != "session/started turn/started tool/started" {
			t.Errorf("the new one heard %s", got)
		}
		tool.Settle(done)
		turn.Settle(done)
		session.Settle(done)
		if got := methodsOf(fresh.take()); got != "tool/settled turn/settled session/settled" {
			t.Errorf("the new one heard %s", got)
		}
		if got := old.take(); got != nil {
			t.Errorf("the old one heard %s behind its end", got)
		}
		s.retire(t.Context(), fresh, done)
		if got := fresh.take(); got != nil {
			t.Errorf("the new one heard %s again", got)
		}
	})
}

func TestService_subscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s := &ear{closed: map[string]bool{featurewire.MethodSessionStarted: true, featurewire.MethodToolSettled: true}}, New()
		s.admit(e)
		session := s.Start("s1", nil)
		session.Turn("r", "t").Tool("c", "read")
		session.Settle(done)
		if got := methodsOf(e.take()); got != "turn/started tool/started turn/settled session/settled" {
			t.Errorf("heard %s", got)
		}
		if e.diagnostics != nil {
			t.Errorf("diagnostics: %q", e.diagnostics)
		}
		s.drop(e)
	})
}

func start(t *testing.T, s *Service, setup extensiontest.Setup) *extensiontest.Rig {
	t.Helper()
	setup.Options.Bindings = []extension.Binding{s.Binding()}
	rig := extensiontest.Start(t, setup)
	s.Admit(rig.X)
	return rig
}

// told lists what a real extension was told, in order.
func told(rig *extensiontest.Rig, methods ...string) []string {
	var all []string
	for _, m := range methods {
		for _, each := range rig.Told(m) {
			all = append(all, each.Method+" "+string(each.Params))
		}
	}
	return all
}

func subscribing(events ...string) func(map[string]any) {
	return func(result map[string]any) {
		result["protocol"].(map[string]any)["lifecycle_events"] = append([]string{}, events...)
	}
}

var six = []string{
	featurewire.MethodSessionStarted, featurewire.MethodTurnStarted, featurewire.MethodToolStarted,
	featurewire.MethodToolSettled, featurewire.MethodTurnSettled, featurewire.MethodSessionSettled,
}

// EXT04-EVENT-002, EXT04-EVENT-003.
func TestService_realSubscriptions(t *testing.T) {
	none := func(name string) bool { return name != featurewire.FeatureLifecycleEvents }
	for _, api := range []string{featurewire.Version02, featurewire.Version04} {
		for name, c := range map[string]struct {
			setup extensiontest.Setup
			want  []string
		}{
			"absent":     {extensiontest.Setup{}, six},
			"empty":      {extensiontest.Setup{Initialize: subscribing()}, six},
			"two":        {extensiontest.Setup{Initialize: subscribing(featurewire.MethodTurnStarted, featurewire.MethodTurnSettled)}, []string{featurewire.MethodTurnStarted, featurewire.MethodTurnSettled}},
			"unselected": {extensiontest.Setup{Select: none}, nil},
		} {
			synctest.Test(t, func(t *testing.T) {
				s := New()
				c.setup.API = api
				rig := start(t, s, c.setup)
				session := s.Start("s1", nil)
				session.Turn("r", "t").Tool("c", "read")
				session.Settle(done)
				s.Retire(t.Context(), rig.X, done)
				synctest.Wait()
				var got []string
				for _, text := range told(rig, six...) {
					method, _, _ := strings.Cut(text, " ")
					got = append(got, method)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("API %s, %s: told %q", api, name, got)
				}
				if rig.Diagnosed("not negotiated") {
					t.Errorf("API %s, %s: diagnostics %q", api, name, rig.Diagnostics())
				}
			})
		}
	}
}

// Only who is meant to hear a session hears it, and nobody before it is admitted or behind its end.
func TestService_audience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		mine, theirs := start(t, s, extensiontest.Setup{Name: "mine"}), start(t, s, extensiontest.Setup{Name: "theirs"})
		candidate := extensiontest.Start(t, extensiontest.Setup{Name: "candidate", Options: extension.Options{Bindings: []extension.Binding{s.Binding()}}})
		session := s.Start("s1", func(x *extension.Extension) bool { return x == mine.X || x == candidate.X })
		session.Message("m").Settle()
		synctest.Wait()
		if got := told(mine, featurewire.MethodSessionStarted, featurewire.MethodMessageStarted, featurewire.MethodMessageSettled); len(got) != 3 {
			t.Errorf("mine was told %q", got)
		}
		if got := append(told(theirs, featurewire.MethodSessionStarted, featurewire.MethodMessageStarted), told(candidate, featurewire.MethodSessionStarted)...); got != nil {
			t.Errorf("others were told %q", got)
		}
		s.Admit(candidate.X)
		s.Admit(theirs.X)
		synctest.Wait()
		if got := told(candidate, featurewire.MethodSessionStarted); len(got) != 1 || told(theirs, featurewire.MethodSessionStarted) != nil {
			t.Errorf("the candidate was told %q", got)
		}
		mine.X.Close()
		if len(s.feeds) != 2 {
			t.Errorf("%d feeds", len(s.feeds))
		}
		session.Settle(done)
	})
}
