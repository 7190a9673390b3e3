package hooks_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/hooks"
)

// stage is some processes of API 0.3 that write down what they are told, in one list.
type stage struct {
	hooks.Pairs
	mu   sync.Mutex
	list []string
	told []string
}

func newStage() *stage {
	s := &stage{}
	s.Diagnose = func(x *extension.Extension, text string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.told = append(s.told, text)
	}
	return s
}

// enter starts a process. Its answer is a disposition; nil means continue.
func (s *stage) enter(t *testing.T, generation int64, a answer) *extensiontest.Rig {
	t.Helper()
	declared := "tools = [\"work\"]\nhooks = [\"session_start\", \"session_end\"]"
	r := extensiontest.Start(t, extensiontest.Setup{
		API: "0.3", Contributes: declared,
		Options: extension.Options{
			Bindings: []extension.Binding{{Capabilities: []string{canonicalwire.CapabilityLifecycleEvents}}},
			Instance: "instance-1", Generation: generation,
		},
	})
	r.Serve(canonicalwire.MethodHookRun, func(_ int64, params json.RawMessage) (any, error) {
		var p struct {
			Hook    string `json:"hook"`
			Payload struct {
				Binding  map[string]any `json:"binding"`
				Outcome  string         `json:"outcome"`
				Reason   string         `json:"reason"`
				Duration *int64         `json:"duration_ms"`
			} `json:"payload"`
		}
		if err := json.Unmarshal(params, &p); err != nil {
			t.Error(err)
		}
		if len(p.Payload.Binding) != 3 || p.Payload.Binding["extension_instance_id"] != "instance-1" {
			t.Errorf("binding %v", p.Payload.Binding)
		}
		line := fmt.Sprintf("%d: %s %v/%v", generation, p.Hook, p.Payload.Binding["session_id"], p.Payload.Binding["process_generation"])
		if p.Payload.Outcome != "" {
			line += fmt.Sprintf(" %s/%s", p.Payload.Outcome, p.Payload.Reason)
			if p.Payload.Duration == nil {
				t.Error("no duration")
			}
		}
		s.mu.Lock()
		s.list = append(s.list, line)
		s.mu.Unlock()
		if a != nil {
			return a(params)
		}
		return json.RawMessage(`{"disposition":{"kind":"continue"}}`), nil
	})
	return r
}

// want compares what was told with lines, and forgets it.
func (s *stage) want(t *testing.T, lines ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got, want := strings.Join(s.list, "\n"), strings.Join(lines, "\n"); got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
	s.list = nil
}

var done = hooks.End{Outcome: canonicalwire.SessionOutcomeCompleted, Reason: canonicalwire.SessionEndReasonShutdown}

// One start and one end, whatever is asked for how often.
//
// EXT03-HOOK-004, EXT03-HOOK-005, EXT03-HOOK-006, EXT03-HOOK-007, EXT03-HOOK-009, EXT03-HOOK-010, EXT03-HOOK-012.
func TestPairs_once(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		r := s.enter(t, 1, nil)
		bare := extensiontest.Start(t, extensiontest.Setup{API: "0.3"})
		s.Settle(t.Context(), "s1", done) // never started
		s.want(t)
		s.Activate(t.Context(), "s1", r.X, bare.X)
		s.Activate(t.Context(), "s1", r.X)
		s.Activate(t.Context(), "", r.X)
		s.want(t, "1: session_start s1/1")
		s.Settle(t.Context(), "s1", done)
		s.Settle(t.Context(), "s1", done)
		s.Retire(t.Context(), r.X, done)
		s.want(t, "1: session_end s1/1 completed/shutdown")
		s.Activate(t.Context(), "s1", r.X)
		s.Activate(t.Context(), "s2", r.X)
		s.want(t, "1: session_start s1/1", "1: session_start s2/1")
		s.Retire(t.Context(), r.X, hooks.End{Outcome: canonicalwire.SessionOutcomeFrontendDisconnected, Reason: canonicalwire.SessionEndReasonCancelled})
		s.want(t, "1: session_end s1/1 frontend_disconnected/cancelled", "1: session_end s2/1 frontend_disconnected/cancelled")
	})
}

// EXT03-HOOK-011: who owns a binding is known in front of its start, so that two at once make one.
func TestPairs_concurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		r := s.enter(t, 1, nil)
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() { s.Activate(t.Context(), "s1", r.X) })
		}
		group.Wait()
		for range 20 {
			group.Go(func() { s.Settle(t.Context(), "s1", done) })
		}
		group.Wait()
		s.want(t, "1: session_start s1/1", "1: session_end s1/1 completed/shutdown")
	})
}

// EXT03-RELOAD-001: the old generation hears the end before the new one hears the start.
func TestPairs_reload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		old, replacement := s.enter(t, 1, nil), s.enter(t, 2, nil)
		s.Activate(t.Context(), "s1", old.X)
		s.Activate(t.Context(), "s2", old.X)
		s.want(t, "1: session_start s1/1", "1: session_start s2/1")
		s.Reload(t.Context(), old.X, replacement.X)
		s.want(t, "1: session_end s1/1 interrupted/reload", "1: session_end s2/1 interrupted/reload",
			"2: session_start s1/2", "2: session_start s2/2")
		s.Settle(t.Context(), "s1", done)
		s.want(t, "2: session_end s1/2 completed/shutdown")
	})
}

// EXT03-RELOAD-002: the new generation hears the end of the old binding, and then its own start.
func TestPairs_crash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		old, replacement := s.enter(t, 1, nil), s.enter(t, 2, nil)
		s.Activate(t.Context(), "s1", old.X)
		s.Activate(t.Context(), "s2", old.X)
		old.Exit(3)
		<-old.X.Done()
		s.want(t, "1: session_start s1/1", "1: session_start s2/1")
		s.Crash(t.Context(), old.X, replacement.X)
		s.want(t, "2: session_end s1/1 interrupted/crash", "2: session_end s2/1 interrupted/crash",
			"2: session_start s1/2", "2: session_start s2/2")
		s.Crash(t.Context(), old.X, replacement.X)
		s.want(t)
	})
}

// EXT03-HOOK-014, EXT03-HOOK-015, EXT03-HOOK-016: 250 ms each, and one diagnostic.
func TestPairs_wait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		hang, quick := s.enter(t, 1, silent), s.enter(t, 2, nil)
		start := time.Now()
		s.Activate(t.Context(), "s1", hang.X, quick.X)
		if took := time.Since(start); took != 250*time.Millisecond {
			t.Errorf("a start took %v", took)
		}
		if len(s.told) != 1 || !strings.Contains(s.told[0], "timed out after 250ms") {
			t.Errorf("diagnostics %q", s.told)
		}
		start = time.Now()
		s.Settle(t.Context(), "s1", done)
		if took := time.Since(start); took != 250*time.Millisecond {
			t.Errorf("an end took %v", took)
		}
		hang.X.Close()
		quick.X.Close()
	})
}

// EXT03-HOOK-015, EXT03-HOOK-017, EXT03-MODEL-011: what is answered is on record, bounded, and has no effect.
func TestPairs_answers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for text, words := range map[string]string{
			`{"disposition":{"kind":"deny","reason":"no room"}}`: "deny: no room",
			`{"disposition":{"kind":"defer"}}`:                   "defer: no reason given",
			`{"disposition":{"kind":"maybe"}}`:                   "refused",
			`{}`:                                                 "refused",
			`{"disposition":{"kind":"deny","reason":"` + strings.Repeat("x", 4096) + `"}}`: "xxx…",
		} {
			s := newStage()
			r := s.enter(t, 1, says(text))
			s.Activate(t.Context(), "s1", r.X)
			if len(s.told) != 1 || !strings.Contains(s.told[0], words) || len(s.told[0]) > 1100 {
				t.Errorf("%.60s: diagnostics %.300q", text, s.told)
			}
			s.Settle(t.Context(), "s1", done)
			s.want(t, "1: session_start s1/1", "1: session_end s1/1 completed/shutdown")
		}
		s := newStage()
		s.Activate(t.Context(), "s1", s.enter(t, 1, fails).X)
		if len(s.told) != 1 {
			t.Errorf("diagnostics %q", s.told)
		}
	})
}
