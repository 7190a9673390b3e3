package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
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

// A batch goes at its bytes, at its deltas, at its time and at the end; each once, in order, and the end
// behind the last.
//
// EXT04-EVENT-016, EXT04-EVENT-017, EXT04-EVENT-018, EXT04-EVENT-019.
func TestMessage_batches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s := &ear{}, New()
		s.admit(e)
		m := s.Start("s1", nil).Message("m1")
		updated := func(delta string, deltas int) string {
			return fmt.Sprintf(`message/updated {"delta":"%s","deltas":%d,"message_id":"m1"}`, delta, deltas)
		}
		expect := func(what string, want ...string) {
			t.Helper()
			if got := e.take(); !slices.Equal(got, want) {
				t.Errorf("%s: heard %.300q, want %.300q", what, got, want)
			}
		}
		expect("start", `session/started {"session_id":"s1"}`, `message/started {"message_id":"m1"}`)
		m.Add("a")
		time.Sleep(batchTime - 1)
		m.Add("b")
		expect("before its time")
		time.Sleep(time.Nanosecond)
		expect("at its time", updated("ab", 2))
		time.Sleep(time.Second)
		expect("nothing is sent of nothing")
		for range featurewire.MaxMessageBatchDeltas - 1 {
			m.Add("x")
		}
		expect("below its deltas")
		m.Add("y")
		expect("at its deltas", updated(strings.Repeat("x", featurewire.MaxMessageBatchDeltas-1)+"y", featurewire.MaxMessageBatchDeltas))
		m.Add(strings.Repeat("x", featurewire.MaxMessageBatchBytes-1))
		expect("below its bytes")
		m.Add("y")
		expect("at its bytes", updated(strings.Repeat("x", featurewire.MaxMessageBatchBytes-1)+"y", 2))
		m.Add("a")
		m.Add(strings.Repeat("x", featurewire.MaxMessageBatchBytes) + "é")
		expect("over its bytes", updated("a"+strings.Repeat("x", featurewire.MaxMessageBatchBytes-1), 1))
		m.Settle()
		m.Add("late")
		m.Settle()
		expect("at the end", updated("xé", 1), `message/settled {"message_id":"m1"}`)
		time.Sleep(time.Second)
		expect("nothing is sent behind the end")
		s.drop(e)
	})
}

// EXT04-EVENT-020.
func TestMessage_Update(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s := &ear{}, New()
		s.admit(e)
		m := s.Start("s1", nil).Message("m1")
		e.take()
		many := make([]string, featurewire.MaxMessageDeltas+1)
		if err := m.Update(many); err == nil || !strings.HasPrefix(err.Error(), "bounds_exceeded") {
			t.Errorf("%v", err)
		}
		time.Sleep(time.Second)
		if got := e.take(); got != nil {
			t.Errorf("heard %q", got)
		}
		if err := m.Update(many[1:]); err != nil {
			t.Error(err)
		}
		if got := e.take(); len(got) != featurewire.MaxMessageDeltas/featurewire.MaxMessageBatchDeltas {
			t.Errorf("heard %d batches", len(got))
		}
		s.drop(e)
	})
}

// No character is torn, and no byte lost.
func TestMessage_splits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, text := range []string{strings.Repeat("é", 9000), strings.Repeat("€", 5000), "a" + strings.Repeat("😀", 4000), strings.Repeat("a\x80", 9000)} {
			e, s := &ear{}, New()
			s.admit(e)
			m := s.Start("s1", nil).Message("m1")
			m.Add(text)
			m.Settle()
			whole, count := "", int64(0)
			for _, heard := range e.take() {
				if rest, is := strings.CutPrefix(heard, featurewire.MethodMessageUpdated+" "); is {
					var p struct {
						Delta  string
						Deltas int64
					}
					if err := json.Unmarshal([]byte(rest), &p); err != nil {
						t.Error(err)
					}
					if len(p.Delta) > featurewire.MaxMessageBatchBytes {
						t.Errorf("a batch of %d bytes", len(p.Delta))
					}
					whole, count = whole+p.Delta, count+p.Deltas
				}
			}
			if whole != strings.ToValidUTF8(text, "\ufffd") || count != 1 {
				t.Errorf("%d bytes became %d, %d deltas", len(text), len(whole), count)
			}
			s.drop(e)
		}
	})
}

// EXT04-EVENT-013, EXT04-EVENT-014, EXT04-EVENT-015, EXT04-EVENT-021.
func TestSession_Tell(t *testing.T) {
	for _, api := range []string{featurewire.Version02, featurewire.Version04, "0.3"} {
		synctest.Test(t, func(t *testing.T) {
			s := New()
			rig := start(t, s, extensiontest.Setup{API: api})
			closed := start(t, s, extensiontest.Setup{API: api, Name: "closed", Select: func(name string) bool { return name != featurewire.FeatureLifecycleEventsV2 }})
			session := s.Start("s1", nil)
			sized := func(bytes int) string { return `{"a":"` + strings.Repeat("x", bytes-len(`{"a":""}`)) + `"}` }
			for _, method := range plain {
				if err := session.Tell(method, json.RawMessage(`{ "z":1, "a":[true] }`)); err != nil {
					t.Errorf("%s: %v", method, err)
				}
			}
			if err := session.Tell(featurewire.MethodBashUser, json.RawMessage(sized(maxEventBytes))); err != nil {
				t.Errorf("at the bound: %v", err)
			}
			for _, bad := range []string{sized(maxEventBytes + 1), `[]`, `null`, `7`, `{`, `{"a":1,"a":2}`, ``} {
				if err := session.Tell(featurewire.MethodBashUser, json.RawMessage(bad)); err == nil {
					t.Errorf("%.40s is sent", bad)
				}
			}
			for _, method := range []string{featurewire.MethodTurnStarted, featurewire.MethodMessageUpdated, featurewire.MethodToolCall, "x"} {
				if err := session.Tell(method, json.RawMessage(`{}`)); err == nil {
					t.Errorf("%s is sent", method)
				}
			}
			session.Message("m").Settle()
			synctest.Wait()
			opened := append([]string{featurewire.MethodMessageStarted, featurewire.MethodMessageUpdated, featurewire.MethodMessageSettled}, plain...)
			got, want := told(rig, opened...), len(plain)+3
			if api == "0.3" {
				want = 0
			} else if !slices.Contains(got, featurewire.MethodCompactionFailed+` {"a":[true],"z":1}`) {
				t.Errorf("API %s: told %.300q", api, got)
			}
			if len(got) != want || told(closed, opened...) != nil {
				t.Errorf("API %s: told %d events, want %d", api, len(got), want)
			}
			rig.X.Close()
			closed.X.Close()
			if rig.Diagnosed("the event bash/user is not sent") != (api != "0.3") || closed.Diagnosed("is not sent") {
				t.Errorf("API %s: diagnostics %q, %q", api, rig.Diagnostics(), closed.Diagnostics())
			}
		})
	}
}

// A real extension that does not read holds nobody up, and loses what it did not read.
//
// EXT04-EVENT-007, EXT04-EVENT-008.
func TestService_extensionThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		rig := start(t, s, extensiontest.Setup{})
		session := s.Start("s1", nil)
		rig.Exit(1)
		<-rig.X.Done()
		for n := range 500 {
			session.Turn("r", fmt.Sprint(n)).Settle(done)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s.Retire(ctx, rig.X, done)
		session.Settle(done)
	})
}
