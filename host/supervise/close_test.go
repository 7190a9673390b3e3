package supervise

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/host/extension"
)

// many makes a fleet of that many members with one plan each.
func many(n int, options FleetOptions) (*Fleet, []*plan) {
	var members []Member
	var plans []*plan
	for i := range n {
		p := &plan{agreement: extension.Agreement{API: "0.4", Tools: tools(fmt.Sprint("tool", i))}}
		plans = append(plans, p)
		members = append(members, Member{Name: fmt.Sprint("x", n-i), Start: p.start})
	}
	return NewFleet(members, options), plans
}

// MAN-SUPER-011, MAN-SUPER-012, EXT04-SHUT-010, EXT04-SHUT-011: all at once, within the limit; what takes a
// moment less is not killed, what takes a moment more is.
func TestFleet_closeHasACap(t *testing.T) {
	if ProductCap != 3*time.Second || SignalCap != 1400*time.Millisecond {
		t.Errorf("caps %s and %s", ProductCap, SignalCap)
	}
	for _, limit := range []time.Duration{ProductCap, SignalCap} {
		for _, over := range []bool{false, true} {
			t.Run(fmt.Sprint(limit, over), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f, plans := many(5, FleetOptions{})
					for _, p := range plans {
						p.farewell = limit - time.Millisecond
						if over {
							p.farewell = limit + time.Millisecond
						}
					}
					f.Start(t.Context())
					began := time.Now()
					endings := f.Close(limit)
					if took := time.Since(began); took > limit {
						t.Errorf("took %s", took)
					}
					for i, e := range endings {
						if e.Name != fmt.Sprint("x", i+1) || !e.Ran || e.Orderly() == over || plans[i].last().killed != over {
							t.Errorf("%d: %+v, killed %t", i, e, plans[i].last().killed)
						}
					}
					for _, s := range f.Status() {
						if s.State != Stopped || s.Tools != nil {
							t.Errorf("%+v", s)
						}
					}
				})
			})
		}
	}
}

// Operations get their share of the limit; the rest is for the farewell.
func TestFleet_closeCancelsWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, plans := many(1, FleetOptions{})
		plans[0].farewell = time.Second
		f.Start(t.Context())
		slow := background(t, f.Get("x1"), "slow")
		endings := f.Close(SignalCap)
		if err := <-slow; !errors.Is(err, ErrClosed) {
			t.Errorf("the call ended with %v", err)
		}
		if !endings[0].Orderly() {
			t.Errorf("%+v", endings[0])
		}
	})
}

// An operation that ignores its context does not hold the end up.
func TestFleet_closeWaitsForNobodyForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := many(1, FleetOptions{})
		f.Start(t.Context())
		release, returned := make(chan struct{}), make(chan error)
		go func() {
			returned <- f.Get("x1").Use(t.Context(), func(context.Context, Running) error {
				<-release
				return nil
			})
		}()
		synctest.Wait()
		began := time.Now()
		f.Close(SignalCap)
		if took := time.Since(began); took > SignalCap {
			t.Errorf("took %s", took)
		}
		close(release)
		if err := <-returned; err != nil {
			t.Error(err)
		}
	})
}

// A start under way is called off, and what it brings forth nevertheless is ended.
func TestClose_duringAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := one(t, Options{})
		p.takes = time.Minute
		report := make(chan Report, 1)
		go func() { report <- s.Start(t.Context()) }()
		synctest.Wait()
		wantState(t, s, Initializing)
		began := time.Now()
		s.Close()
		if got := <-report; !errors.Is(got.Err, ErrClosed) || time.Since(began) != 0 {
			t.Errorf("%+v after %s", got, time.Since(began))
		}
		wantState(t, s, Stopped)
	})
}

// A process that is not initialized yet is killed like any other.
func TestFleet_closeKillsWhatStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, plans := many(1, FleetOptions{})
		plans[0].deaf = true
		started := make(chan []Report, 1)
		go func() { started <- f.Start(t.Context()) }()
		synctest.Wait()
		began := time.Now()
		f.Close(SignalCap)
		if took := time.Since(began); took != SignalCap {
			t.Errorf("took %s", took)
		}
		if got := (<-started)[0]; !errors.Is(got.Err, errBroken) || f.Status()[0].State != Stopped {
			t.Errorf("%+v", got)
		}
	})
}

// A handover that hears its context does not hold a forced end up.
func TestFleet_closeCutsAHandover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := many(1, FleetOptions{Options: Options{Handover: Handover{
			Retire: func(ctx context.Context, _ Running, _ Reason) { <-ctx.Done() },
		}}})
		f.Start(t.Context())
		began := time.Now()
		f.Close(SignalCap)
		if took := time.Since(began); took != SignalCap {
			t.Errorf("took %s", took)
		}
	})
}

// A fleet without members ends like any other.
func TestFleet_empty(t *testing.T) {
	f := NewFleet(nil, FleetOptions{OnChange: func(Change) {}})
	if len(f.Start(t.Context())) != 0 || len(f.Close(ProductCap)) != 0 || f.Catalog() == nil {
		t.Error("an empty fleet has something")
	}
}
