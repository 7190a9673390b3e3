package supervise

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
)

// background runs a call and yields its one outcome.
func background(t *testing.T, s *Supervisor, tool string) <-chan error {
	t.Helper()
	outcome := make(chan error, 1)
	go func() {
		_, err := s.Call(t.Context(), extension.Request{Tool: tool})
		outcome <- err
	}()
	synctest.Wait()
	return outcome
}

// MAN-RELOADING-001, MAN-RELOADING-003, MAN-RELOADING-007, MAN-RELOADING-008, MAN-RELOADING-010,
// EXT04-RELOAD-003, EXT04-RELOAD-004, EXT03-RELOAD-003: the candidate starts while the old one serves; then
// calls that run end on the old one, calls that come wait for the new one.
func TestReload_candidateFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := one(t, Options{})
		p.takes = time.Second
		s.Start(t.Context())
		before := s.Status()
		report := make(chan Report, 1)
		go func() { report <- s.Reload(t.Context()) }()
		pass(500 * time.Millisecond)
		wantState(t, s, Ready)
		if err := <-background(t, s, "echo"); err != nil {
			t.Errorf("a call while the candidate starts: %v", err)
		}
		running := background(t, s, "1500ms")
		pass(500 * time.Millisecond)
		wantState(t, s, Draining)
		waiting := background(t, s, "echo")
		pass(time.Second)
		if err := <-running; err != nil {
			t.Errorf("a call that ends within the drain: %v", err)
		}
		if err := <-waiting; err != nil {
			t.Errorf("a call that came during the drain: %v", err)
		}
		got := <-report
		if got.Err != nil || !got.Replaced || !got.Graceful || got.Previous != 1 || got.Generation != 2 || got.State != Ready {
			t.Errorf("report %+v", got)
		}
		if after := s.Status(); after.InstanceID != before.InstanceID || after.Generation != 2 {
			t.Errorf("status %+v", after)
		}
		wantLines(t, p.journal.take(), "start 1", "call echo on 1", "call 1500ms on 1", "start 2", "drain 1", "shutdown 1", "closed 1", "call echo on 2")
	})
}

// MAN-RELOADING-007, MAN-RELOADING-011: what runs has the drain, and not more.
func TestReload_drainHasABound(t *testing.T) {
	for _, c := range []struct {
		api, tool string
		cancelled bool
	}{
		{"0.4", "1999ms", false},
		{"0.4", "2001ms", true},
		{"0.1", "1ms", true}, // that version knows no drain
	} {
		t.Run(c.api+" "+c.tool, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := one(t, Options{})
				p.agreement.API = c.api
				s.Start(t.Context())
				outcome := background(t, s, c.tool)
				if report := s.Reload(t.Context()); !report.Graceful {
					t.Errorf("report %+v", report)
				}
				if err := <-outcome; errors.Is(err, ErrReplaced) != c.cancelled {
					t.Errorf("the call ended with %v", err)
				}
			})
		})
	}
}

// MAN-RELOADING-004, EXT04-RELOAD-007: a candidate that does not start costs nothing.
func TestReload_failureKeepsTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := one(t, Options{})
		s.Start(t.Context())
		p.fail(errBroken)
		running := background(t, s, "5s")
		report := s.Reload(t.Context())
		if !errors.Is(report.Err, errBroken) || report.Replaced || report.Generation != 1 || report.State != Ready {
			t.Errorf("report %+v", report)
		}
		if got := s.Status(); got.LastError != errBroken.Error() || got.State != Ready {
			t.Errorf("status %+v", got)
		}
		if err := <-running; err != nil {
			t.Errorf("a call meanwhile: %v", err)
		}
		if p.last().killed {
			t.Error("the old one was killed")
		}
	})
}

// MAN-RELOADING-005, MAN-RELOADING-006, EXT04-RELOAD-005, EXT04-RELOAD-006.
func TestReload_comparesContributions(t *testing.T) {
	for _, c := range []struct {
		name   string
		first  func(a *extension.Agreement)
		change func(a *extension.Agreement)
		words  string // in the refusal; empty: it matches
	}{
		{"the same", nil, func(a *extension.Agreement) {}, ""},
		{"the order of tools", nil, func(a *extension.Agreement) { a.Tools = tools("b", "a") }, ""},
		{"the spelling of a schema", nil, func(a *extension.Agreement) { a.Tools[0].Parameters = []byte(`{ "type": "object" }`) }, ""},
		{"one tool less", nil, func(a *extension.Agreement) { a.Tools = tools("a") }, `tool "b" is gone`},
		{"one tool more", nil, func(a *extension.Agreement) { a.Tools = tools("a", "b", "c") }, `tool "c" is new`},
		{"another description", nil, func(a *extension.Agreement) { a.Tools[0].Description = "Does more" }, `tool "a" is another one`},
		{"other parameters", nil, func(a *extension.Agreement) {
			a.Tools[1].Parameters = []byte(`{"type":"object","required":["x"]}`)
		}, `tool "b" is another one`},
		{"an output schema", nil, func(a *extension.Agreement) { a.Tools[1].OutputSchema = []byte(`{"type":"object"}`) }, `tool "b" is another one`},
		{"one command more", nil, func(a *extension.Agreement) { a.Commands = append(a.Commands, extension.Command{Name: "memo"}) }, `command "memo" is new`},
		{"one command less", nil, func(a *extension.Agreement) { a.Commands = nil }, `command "note" is gone`},
		{"another command", nil, func(a *extension.Agreement) { a.Commands[0].Description = "x" }, `command "note" is another one`},
		{"dynamic tools", nil, dynamic, "dynamic_tools"},
		{"no dynamic tools", dynamic, static, "dynamic_tools"},
		{"tools of a dynamic one", dynamic, func(a *extension.Agreement) { a.Tools = tools("z") }, ""},
		{"commands of a dynamic one", dynamic, func(a *extension.Agreement) { a.Commands = nil }, `command "note" is gone`},
		{"hooks of the canonical wire", nil, func(a *extension.Agreement) { a.Methods = []string{canonicalwire.MethodHookRun} }, "hooks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := one(t, Options{})
				build := func(change func(a *extension.Agreement)) {
					p.offer(func(a *extension.Agreement) {
						features := a.Features
						*a = extension.Agreement{API: "0.4", Tools: tools("a", "b"), Features: features, Commands: []extension.Command{{Name: "note"}}}
						if change != nil {
							change(a)
						}
					})
				}
				build(c.first)
				s.Start(t.Context())
				build(c.change)
				report := s.Reload(t.Context())
				var mismatch *MismatchError
				switch {
				case c.words == "" && !report.Replaced:
					t.Errorf("refused: %v", report.Err)
				case c.words != "" && (!errors.As(report.Err, &mismatch) || report.Replaced):
					t.Errorf("not refused: %+v", report)
				case c.words != "":
					text := report.Err.Error()
					if !strings.Contains(text, c.words) || !strings.Contains(text, "`demo` changed contributions") ||
						!strings.Contains(text, "re-registration required") || !strings.Contains(text, "/reload") {
						t.Errorf("said %q, want %q in it", text, c.words)
					}
					if !p.last().killed || report.State != Ready || report.Generation != 1 {
						t.Errorf("killed %t, report %+v", p.last().killed, report)
					}
				}
			})
		})
	}
}

func dynamic(a *extension.Agreement) { a.Features = []string{featurewire.FeatureDynamicTools} }
func static(a *extension.Agreement)  { a.Features = nil }

// MAN-RELOADING-012: what was never started is left alone.
func TestReload_leavesTheStoppedAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := one(t, Options{})
		if report := s.Reload(t.Context()); report.Replaced || report.Err != nil || report.State != Stopped || p.count() != 0 {
			t.Errorf("report %+v, %d starts", report, p.count())
		}
	})
}

// MAN-RELOADING-002, EXT04-RELOAD-013: a reload by hand during a pause takes the place of the restart, and
// nothing is started twice.
func TestReload_duringAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := one(t, Options{Random: func(time.Duration) time.Duration { return 10 * time.Second }})
		p.takes = time.Second
		s.Start(t.Context())
		p.last().crash("gone")
		pass(5 * time.Second)
		p.fail(errBroken)
		if report := s.Reload(t.Context()); report.State != Backoff || report.Err == nil {
			t.Errorf("a reload that fails leaves the pause as it was: %+v", report)
		}
		retry := s.Status().Retry
		pass(time.Second)
		if report := s.Reload(t.Context()); !report.Replaced || report.Generation != 2 {
			t.Errorf("report %+v", report)
		}
		pass(time.Minute)
		if p.count() != 3 || s.Status().Generation != 2 {
			t.Errorf("%d starts, generation %d: the restart that was due at %s came nevertheless", p.count(), s.Status().Generation, retry)
		}
	})
}

// MAN-RELOADING-002: the old one may die while its candidate starts.
func TestReload_oldOneDiesMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []string
		s, p := one(t, Options{Handover: Handover{
			Retire: func(_ context.Context, old Running, r Reason) {
				heard = append(heard, fmt.Sprint("end ", old.Generation, r))
			},
			Admit: func(_ context.Context, fresh Running, previous *Previous) {
				if previous != nil {
					heard = append(heard, fmt.Sprint("after ", previous.Generation, previous.Reason))
				}
				heard = append(heard, fmt.Sprint("begin ", fresh.Generation))
			},
		}})
		s.Start(t.Context())
		p.takes = time.Second
		report := make(chan Report, 1)
		go func() { report <- s.Reload(t.Context()) }()
		pass(time.Millisecond)
		p.last().crash("gone")
		synctest.Wait()
		wantState(t, s, Crashed)
		if got := <-report; !got.Replaced || got.Graceful || got.Generation != 2 {
			t.Errorf("report %+v", got)
		}
		pass(time.Minute)
		if p.count() != 2 {
			t.Errorf("%d starts, want no restart beside the reload", p.count())
		}
		if want := []string{"begin 1", "after 1crash", "begin 2"}; !slices.Equal(heard, want) {
			t.Errorf("heard %q, want %q", heard, want)
		}
	})
}

// A candidate that dies behind its initialization is none.
func TestReload_candidateDiesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := one(t, Options{})
		s.Start(t.Context())
		start := s.member.Start
		s.member.Start = func(ctx context.Context, launch Launch) (Instance, error) {
			instance, err := start(ctx, launch)
			p.last().crash("stillborn")
			return instance, err
		}
		if report := s.Reload(t.Context()); report.Replaced || report.State != Ready || !strings.Contains(report.Err.Error(), "stillborn") {
			t.Errorf("report %+v", report)
		}
	})
}

// The end of the old generation is heard before the beginning of the
// new one, in both kinds of replacement.
func TestHandover_order(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plan{agreement: extension.Agreement{API: "0.3"}}
		s := New(Member{Name: "demo", Start: p.start}, Options{Random: longestPause, Handover: Handover{
			Retire: func(_ context.Context, old Running, reason Reason) {
				p.journal.add("end %d %s", old.Generation, reason)
			},
			Admit: func(ctx context.Context, fresh Running, previous *Previous) {
				if deadline, bounded := ctx.Deadline(); !bounded || time.Until(deadline) != HandoverTime {
					t.Errorf("bounded %t, ends at %s", bounded, deadline)
				}
				if previous != nil {
					p.journal.add("old end %d %s", previous.Generation, previous.Reason)
				}
				p.journal.add("begin %d", fresh.Generation)
			},
		}})
		s.Start(t.Context())
		s.Reload(t.Context())
		p.last().crash("gone")
		pass(time.Second)
		s.Close()
		wantLines(t, p.journal.take(),
			"start 1", "begin 1",
			"start 2", "drain 1", "end 1 reload", "shutdown 1", "closed 1", "old end 1 reload", "begin 2",
			"start 3", "old end 2 crash", "begin 3",
			"drain 3", "end 3 shutdown", "shutdown 3", "closed 3")
	})
}

// A call waits for a reload no longer than its own context.
func TestUse_waitsWithinItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := one(t, Options{})
		p.farewell = time.Second
		s.Start(t.Context())
		report := make(chan Report, 1)
		go func() { report <- s.Reload(t.Context()) }()
		pass(500 * time.Millisecond)
		wantState(t, s, Draining)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := s.Call(ctx, extension.Request{Tool: "echo"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call that cannot wait: %v", err)
		}
		<-report
	})
}
