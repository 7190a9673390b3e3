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
	"unicode/utf8"

	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/extension"
)

// No pause is longer than the cap, however many attempts there were and however long the first one is.
func TestLongest(t *testing.T) {
	for _, c := range []struct {
		base, limit time.Duration
		attempt     int
		want        time.Duration
	}{
		{250, 30000, 1, 250}, {250, 30000, 7, 16000}, {250, 30000, 8, 30000}, {250, 30000, 10000, 30000}, {40000, 30000, 1, 30000},
	} {
		if got := longest(Timing{RestartBase: c.base, RestartCap: c.limit}, c.attempt); got != c.want {
			t.Errorf("attempt %d: %d, want %d", c.attempt, got, c.want)
		}
	}
}

// longestPause draws the longest pause every time.
func longestPause(most time.Duration) time.Duration { return most }

// MAN-RESTART-001, MAN-START-012, MAN-RESTART-007, EXT04-RELOAD-013: a first start that fails parks the
// extension, nothing tries again, and a reload by hand revives it.
func TestStart_failureParks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := one(t, Options{})
		p.fail(errBroken)
		report := s.Start(t.Context())
		if report.State != Parked || report.Generation != 0 || report.Replaced || !errors.Is(report.Err, errBroken) {
			t.Errorf("report %+v", report)
		}
		kept, _ := s.Log().Entries()
		if !slices.ContainsFunc(kept, func(d diagnostic.Diagnostic) bool { return d.Level == diagnostic.Error && d.Rule == "MAN-START-012" }) {
			t.Errorf("no diagnostic tells of it: %v", kept)
		}
		pass(time.Hour)
		if p.count() != 1 {
			t.Errorf("%d starts, want no second one", p.count())
		}
		var refused *NotReadyError
		if _, err := s.Call(t.Context(), extension.Request{Tool: "echo"}); !errors.As(err, &refused) || refused.State != Parked {
			t.Errorf("a call of a parked extension: %v", err)
		}
		if again := s.Reload(t.Context()); !again.Replaced || again.Generation != 1 || again.State != Ready || again.Graceful {
			t.Errorf("reload of a parked extension: %+v", again)
		}
		if _, err := s.Call(t.Context(), extension.Request{Tool: "echo"}); err != nil {
			t.Error(err)
		}
	})
}

// MAN-RESTART-002, MAN-RESTART-003, MAN-RESTART-004, MAN-SUPER-013, EXT04-RELOAD-009, EXT04-RELOAD-014, EXT04-RELOAD-010, EXT04-RELOAD-011:
// so many attempts, each behind a pause of at most so much, and not one more.
func TestRestart_pausesAndParks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var drawn []time.Duration
		s, p := one(t, Options{Random: func(most time.Duration) time.Duration {
			drawn = append(drawn, most)
			return most
		}})
		s.Start(t.Context())
		var errs []error
		for range 20 {
			errs = append(errs, errBroken)
		}
		p.fail(errs...)
		began := time.Now()
		p.last().crash("segmentation fault")
		synctest.Wait()
		if got := s.Status(); got.State != Backoff || got.Attempts != 1 || !got.Retry.Equal(began.Add(250*time.Millisecond)) || got.LastError != "segmentation fault" {
			t.Errorf("after the crash: %+v", got)
		}
		pass(time.Hour)
		want := []time.Duration{250, 500, 1000, 2000, 4000, 8000, 16000, 30000}
		for i := range want {
			want[i] *= time.Millisecond
		}
		if !slices.Equal(drawn, want) {
			t.Errorf("pauses of at most %v, want %v", drawn, want)
		}
		if p.count() != 1+8 {
			t.Errorf("%d starts, want the first and 8 attempts", p.count())
		}
		got := s.Status()
		if got.State != Parked || got.LastError != errBroken.Error() || got.Generation != 1 {
			t.Errorf("afterwards: %+v", got)
		}
		if report := s.Reload(t.Context()); report.Replaced || !errors.Is(report.Err, errBroken) || report.State != Parked {
			t.Errorf("reload that fails: %+v", report)
		}
		p.fail()
		if report := s.Reload(t.Context()); !report.Replaced || report.Generation != 2 || report.Previous != 1 {
			t.Errorf("reload: %+v", report)
		}
		if got := s.Status(); got.Attempts != 0 {
			t.Errorf("attempts %d behind a reload by hand, want none", got.Attempts)
		}
	})
}

// The last attempt counts like any other.
func TestRestart_lastAttemptMaySucceed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := one(t, Options{Random: longestPause})
		s.Start(t.Context())
		p.fail(errBroken, errBroken, errBroken, errBroken, errBroken, errBroken, errBroken)
		p.last().crash("gone")
		pass(time.Hour)
		wantState(t, s, Ready)
		if p.count() != 1+8 || s.Status().Generation != 2 {
			t.Errorf("%d starts, generation %d", p.count(), s.Status().Generation)
		}
	})
}

// MAN-RESTART-005, EXT04-RELOAD-011: readiness gives the attempts back after 30 s, not before.
func TestRestart_readinessResets(t *testing.T) {
	for _, c := range []struct {
		ready time.Duration
		parks bool
	}{{30*time.Second - time.Nanosecond, true}, {30 * time.Second, false}} {
		t.Run(fmt.Sprint(c.ready), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := one(t, Options{Random: func(time.Duration) time.Duration { return 0 }})
				s.Start(t.Context())
				for range 9 {
					wantState(t, s, Ready)
					pass(c.ready)
					p.last().crash("gone")
					synctest.Wait()
				}
				if got := s.Status().State; (got == Parked) != c.parks {
					t.Errorf("after nine crashes, each behind %s: %s", c.ready, got)
				}
			})
		})
	}
}

// MAN-RESTART-004, EXT04-RELOAD-012: what another attempt would meet again parks at once.
func TestRestart_permanentErrorsPark(t *testing.T) {
	changed := false
	for _, c := range []struct {
		name   string
		change func(s *Supervisor, p *plan)
	}{
		{"marked", func(_ *Supervisor, p *plan) { p.fail(Permanent(errBroken)) }},
		{"manifest", func(_ *Supervisor, p *plan) { p.fail(&extension.ManifestError{}) }},
		{"source", func(_ *Supervisor, p *plan) { changed = true }},
		{"contributions", func(_ *Supervisor, p *plan) {
			p.offer(func(a *extension.Agreement) { a.Tools = tools("other") })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := one(t, Options{Random: longestPause})
				changed = false
				s.member.Recheck = func() error {
					if changed {
						return discovery.ErrSourceChanged
					}
					return nil
				}
				s.Start(t.Context())
				c.change(s, p)
				p.last().crash("gone")
				pass(time.Hour)
				wantState(t, s, Parked)
				if attempts := s.Status().Attempts; attempts != 1 {
					t.Errorf("%d attempts, want one", attempts)
				}
			})
		})
	}
}

// MAN-DISCOVER-023: nothing is started from a source that changed.
func TestStart_changedSourceIsNotStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := one(t, Options{})
		s.member.Recheck = func() error { return discovery.ErrSourceChanged }
		if report := s.Start(t.Context()); !errors.Is(report.Err, discovery.ErrSourceChanged) || report.State != Parked || p.count() != 0 {
			t.Errorf("%+v, %d starts", report, p.count())
		}
	})
}

// MAN-RESTART-008, EXT03-RELOAD-006: a call that a crash interrupts ends with an error, and no other generation sees it.
func TestRestart_replaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := one(t, Options{Random: longestPause})
		s.Start(t.Context())
		outcome := background(t, s, "slow")
		if got := s.Status().Pending; got != 1 {
			t.Errorf("%d pending, want 1", got)
		}
		p.last().crash("gone")
		if err := <-outcome; err == nil || !strings.Contains(err.Error(), "gone") {
			t.Errorf("outcome %v", err)
		}
		synctest.Wait()
		wantState(t, s, Backoff)
		var refused *NotReadyError
		if _, err := s.Call(t.Context(), extension.Request{Tool: "echo"}); !errors.As(err, &refused) || refused.State != Backoff {
			t.Errorf("a call meanwhile: %v", err)
		}
		pass(time.Minute)
		wantState(t, s, Ready)
		wantLines(t, p.journal.take(), "start 1", "call slow on 1", "start 2")
	})
}

// EXT04-RELOAD-001: a request that is not settled degrades the generation, which is then replaced.
func TestUse_unsettledDegrades(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plan{agreement: extension.Agreement{API: "0.4"}}
		var states []State
		f := NewFleet([]Member{{Name: "demo", Start: p.start}}, FleetOptions{OnChange: func(c Change) { states = append(states, c.State) }})
		f.Start(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			pass(time.Second)
			cancel()
		}()
		if _, err := f.Get("demo").Call(ctx, extension.Request{Tool: "unsettled"}); err == nil {
			t.Error("no error")
		}
		pass(time.Minute)
		f.Close(ProductCap)
		if want := []State{Starting, Initializing, Ready, Degraded, Backoff, Starting, Initializing, Ready, Draining, Stopped}; !slices.Equal(states, want) {
			t.Errorf("states %v, want %v", states, want)
		}
	})
}

// MAN-RESTART-009, EXT04-RELOAD-016: a shutdown ends supervision wherever it stands.
func TestClose_endsSupervision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := one(t, Options{Random: longestPause})
		s.Start(t.Context())
		p.last().crash("gone")
		synctest.Wait()
		wantState(t, s, Backoff)
		s.Close()
		pass(time.Hour)
		wantState(t, s, Stopped)
		if p.count() != 1 {
			t.Errorf("%d starts, want none behind the shutdown", p.count())
		}
		if report := s.Reload(t.Context()); report.Replaced || p.count() != 1 {
			t.Errorf("reload of what was shut down: %+v", report)
		}
	})
}

// MAN-RESTART-011: the last error has a bound.
func TestStatus_boundsTheLastError(t *testing.T) {
	if got := bounded(errors.New(strings.Repeat("x", MaxErrorBytes))); len(got) != MaxErrorBytes || strings.HasSuffix(got, "…]") {
		t.Errorf("at the bound: %d bytes", len(got))
	}
	long := bounded(errors.New(strings.Repeat("é", MaxErrorBytes/2) + "x"))
	if len(long) > MaxErrorBytes || !utf8.ValidString(long) || !strings.HasSuffix(long, "é […]") {
		t.Errorf("one over: %d bytes, ends in %q", len(long), long[len(long)-10:])
	}
	if MaxErrorBytes != 4096 {
		t.Error("the sheet says 4 KiB")
	}
	synctest.Test(t, func(t *testing.T) {
		s, p := one(t, Options{})
		p.fail(errors.New(strings.Repeat("x", MaxErrorBytes+1)))
		s.Start(t.Context())
		if got := len(s.Status().LastError); got > MaxErrorBytes {
			t.Errorf("the status has %d bytes of it", got)
		}
	})
}
