package supervise

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/extension"
)

// named makes a member with tools.
func named(name string, lifecycle Lifecycle, tool ...string) (Member, *plan) {
	p := &plan{agreement: extension.Agreement{API: "0.4", Tools: tools(tool...)}}
	return Member{Name: name, Start: p.start, Lifecycle: lifecycle}, p
}

// All start together, reports and lists are in the order of names, and a broken one costs nobody else.
func TestFleet_startsInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, plans := many(5, FleetOptions{})
		defer f.Close(ProductCap)
		for _, p := range plans {
			p.takes = time.Second
		}
		plans[2].fail(errBroken)
		began := time.Now()
		reports := f.Start(t.Context())
		if took := time.Since(began); took != time.Second {
			t.Errorf("took %s", took)
		}
		for i, r := range reports {
			want := Ready
			if i == 2 {
				want = Parked
			}
			if r.Name != fmt.Sprint("x", i+1) || r.State != want || (r.Err != nil) != (i == 2) {
				t.Errorf("%d: %+v", i, r)
			}
		}
		var ready []string
		for _, r := range f.Ready() {
			ready = append(ready, r.Name)
		}
		if !slices.Equal(ready, []string{"x1", "x2", "x4", "x5"}) {
			t.Errorf("ready %v", ready)
		}
		if f.Get("x9") != nil || f.Get("x1") == nil {
			t.Error("Get")
		}
		var unknown *UnknownError
		if r := f.Reload(t.Context(), "x9"); !errors.As(r.Err, &unknown) || !strings.Contains(r.Err.Error(), `"x5"`) {
			t.Errorf("reload of a stranger: %+v", r)
		}
		plans[2].fail()
		if r := f.Reload(t.Context(), "x3"); !r.Replaced {
			t.Errorf("%+v", r)
		}
		if all := f.ReloadAll(t.Context()); len(all) != 5 || all[2].Generation != 2 || all[0].Generation != 2 {
			t.Errorf("%+v", all)
		}
	})
}

// A name belongs to the host, then to who has it, then to the first by name.
func TestFleet_catalogConflicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := named("a", "", "read", "grep_all", "shared")
		b, planB := named("b", "", "shared", "own")
		dynamic(&planB.agreement)
		f := NewFleet([]Member{b, a}, FleetOptions{Reserved: []string{"read"}, Options: Options{Random: longestPause}})
		defer f.Close(ProductCap)
		f.Get("a").Start(t.Context())
		f.Get("b").Start(t.Context())
		c := f.Catalog()
		want := []Conflict{{Tool: "read", Name: "a"}, {Tool: "shared", Name: "b", Owner: "a"}}
		if !slices.Equal(c.Conflicts, want) {
			t.Errorf("conflicts %v, want %v", c.Conflicts, want)
		}
		if entry, tool := c.Find("shared"); entry == nil || entry.Name != "a" || tool.Name != "shared" {
			t.Errorf("shared belongs to %+v", entry)
		}
		if entry, _ := c.Find("read"); entry != nil {
			t.Errorf("a tool of the host belongs to %s", entry.Name)
		}
		kept, _ := f.Get("b").Log().Entries()
		if !slices.ContainsFunc(kept, func(d diagnostic.Diagnostic) bool {
			return d.Level == diagnostic.Warning && strings.Contains(d.Message, "shared")
		}) {
			t.Errorf("nothing tells of it: %v", kept)
		}
		// The tools of a crashed one go, and its names are free.
		fa := f.Get("a")
		fa.mu.Lock()
		current := fa.current
		fa.mu.Unlock()
		current.Instance.(*fake).crash("gone")
		synctest.Wait()
		if entry, _ := f.Catalog().Find("grep_all"); entry != nil {
			t.Error("the tools of a dead generation are offered")
		}
		if entry, _ := f.Catalog().Find("shared"); entry == nil || entry.Name != "b" {
			t.Errorf("shared belongs to %+v", entry)
		}
		pass(time.Minute)
		if entry, _ := f.Catalog().Find("shared"); entry == nil || entry.Name != "b" {
			t.Error("the name went back to its former owner although somebody else has it now")
		}
		if entry, _ := f.Catalog().Find("grep_all"); entry == nil || entry.Generation != 2 {
			t.Errorf("after the restart: %+v", entry)
		}
	})
}

// Snapshots never change, and every change has a revision of its own.
func TestFleet_catalogRevisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := named("a", "", "one")
		b, planB := named("b", "", "two")
		dynamic(&planB.agreement)
		f := NewFleet([]Member{a, b}, FleetOptions{})
		defer f.Close(ProductCap)
		f.Start(t.Context())
		before := f.Catalog()
		if before.Revision == 0 {
			t.Error("no revision")
		}
		if err := f.Publish("b", 1, tools("two", "three")); err != nil {
			t.Fatal(err)
		}
		after := f.Catalog()
		if after.Revision != before.Revision+1 {
			t.Errorf("revision %d after %d", after.Revision, before.Revision)
		}
		if _, tool := before.Find("three"); tool != nil {
			t.Error("a snapshot has changed")
		}
		if _, tool := after.Find("three"); tool == nil {
			t.Error("the new tool is missing")
		}
		if err := f.Publish("b", 1, after.Entries[1].Tools); err != nil || f.Catalog().Revision != after.Revision {
			t.Errorf("the same again: %v, revision %d", err, f.Catalog().Revision)
		}
		if got := f.Get("b").Status().Tools; !slices.Equal(got, []string{"two", "three"}) {
			t.Errorf("status shows %v", got)
		}
		var taken *ConflictError
		if err := f.Publish("b", 1, tools("one", "four")); !errors.As(err, &taken) || len(taken.Conflicts) != 1 || f.Catalog().Revision != after.Revision {
			t.Errorf("a name of another: %v", err)
		}
		var stale *StaleError
		for _, generation := range []int64{0, 3} {
			if err := f.Publish("b", generation, nil); !errors.As(err, &stale) {
				t.Errorf("generation %d: %v", generation, err)
			}
		}
		var unknown *UnknownError
		if err := f.Publish("z", 1, nil); !errors.As(err, &unknown) {
			t.Errorf("a stranger: %v", err)
		}
	})
}

// MAN-RELOADING-008: what a candidate publishes counts from the switch on; what its predecessor published is
// forgotten.
func TestFleet_catalogOfACandidate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, p := named("b", "", "two")
		dynamic(&p.agreement)
		f := NewFleet([]Member{b}, FleetOptions{})
		defer f.Close(ProductCap)
		f.Start(t.Context())
		if err := f.Publish("b", 1, tools("old")); err != nil {
			t.Fatal(err)
		}
		p.takes = time.Second
		done := make(chan Report, 1)
		go func() { done <- f.Reload(t.Context(), "b") }()
		pass(500 * time.Millisecond)
		if err := f.Publish("b", 2, tools("two", "early")); err != nil {
			t.Fatal(err)
		}
		if _, tool := f.Catalog().Find("early"); tool != nil {
			t.Error("a candidate's tool is offered before the switch")
		}
		<-done
		entry, _ := f.Catalog().Find("early")
		if entry == nil || entry.Generation != 2 || len(entry.Tools) != 2 {
			t.Errorf("after the switch: %+v", entry)
		}
		f.Reload(t.Context(), "b")
		if got := f.Get("b").Status().Tools; !slices.Equal(got, []string{"two"}) {
			t.Errorf("the next generation begins with %v", got)
		}
	})
}

// EXT04-RELOAD-001, MAN-RESTART-012: the steps of a life come in order.
func TestFleet_tellsEveryStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var seen []string
		m, p := named("demo", "", "one")
		f := NewFleet([]Member{m}, FleetOptions{Options: Options{Random: longestPause}, OnChange: func(c Change) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, fmt.Sprintf("%s %d", c.State, c.Generation))
		}})
		f.Start(t.Context())
		p.fail(errBroken)
		p.last().crash("gone")
		pass(time.Minute)
		f.Reload(t.Context(), "demo")
		f.Close(ProductCap)
		mu.Lock()
		defer mu.Unlock()
		wantLines(t, seen, "starting 0", "initializing 0", "ready 1",
			"crashed 1", "backoff 1", "starting 1", "initializing 1", "backoff 1", "backoff 1", "starting 1", "initializing 1", "ready 2",
			"draining 2", "ready 3", "draining 3", "stopped 3")
	})
}

// MAN-RUN-003: on demand means on demand.
func TestActivate_lazyResident(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := named("demo", manifestdoc.RuntimeLifecycleLazyResident, "one")
		f := NewFleet([]Member{m}, FleetOptions{})
		defer f.Close(ProductCap)
		if r := f.Start(t.Context())[0]; r.State != Stopped || r.Err != nil || p.count() != 0 {
			t.Errorf("%+v, %d starts", r, p.count())
		}
		if r := f.Reload(t.Context(), "demo"); r.Replaced || p.count() != 0 {
			t.Errorf("reload: %+v", r)
		}
		if r := f.Get("demo").Activate(t.Context()); !r.Replaced || r.State != Ready || p.count() != 1 {
			t.Errorf("%+v, %d starts", r, p.count())
		}
		if r := f.Get("demo").Activate(t.Context()); r.Replaced || r.Err != nil || r.Generation != 1 || p.count() != 1 {
			t.Errorf("again: %+v, %d starts", r, p.count())
		}
	})
}

// MAN-RUN-004: one operation, one process; the catalog is read once, and nothing runs in between.
func TestUse_oneshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := named("demo", manifestdoc.RuntimeLifecycleOneshot, "echo")
		f := NewFleet([]Member{m}, FleetOptions{})
		s := f.Get("demo")
		if r := f.Start(t.Context())[0]; r.State != Ready || r.Err != nil {
			t.Errorf("%+v", r)
		}
		if entry, _ := f.Catalog().Find("echo"); entry == nil || len(f.Ready()) != 0 || !p.last().killed {
			t.Errorf("behind the start: %+v, %v", entry, f.Ready())
		}
		p.journal.take()
		for range 2 {
			if _, err := s.Call(t.Context(), extension.Request{Tool: "echo"}); err != nil {
				t.Fatal(err)
			}
		}
		wantLines(t, p.journal.take(), "start 2", "call echo on 2", "drain 2", "shutdown 2", "closed 2", "start 3", "call echo on 3", "drain 3", "shutdown 3", "closed 3")
		p.fail(errBroken)
		if _, err := s.Call(t.Context(), extension.Request{Tool: "echo"}); !errors.Is(err, errBroken) || s.Status().State != Ready {
			t.Errorf("a start that fails: %v, %+v", err, s.Status())
		}
		outcome := background(t, s, "slow")
		p.last().crash("gone")
		if err := <-outcome; err == nil || s.Status().State != Ready {
			t.Errorf("a crash: %v, %+v", err, s.Status())
		}
		if r := f.Reload(t.Context(), "demo"); !r.Replaced {
			t.Errorf("reload: %+v", r)
		}
		pass(time.Hour)
		if got := p.count(); got != 6 {
			t.Errorf("%d starts", got)
		}
		outcome = background(t, s, "slow")
		f.Close(ProductCap)
		if err := <-outcome; !errors.Is(err, ErrClosed) {
			t.Errorf("shutdown in the middle: %v", err)
		}
		if _, err := s.Call(t.Context(), extension.Request{Tool: "echo"}); err == nil {
			t.Error("a call behind the end")
		}
	})
}

// MAN-RESTART-010, MAN-RELOADING-001, MAN-RUN-001, MAN-RUN-002, MAN-RUN-005, MAN-RUN-008, EXT04-RELOAD-015,
// EXT04-OWNER-007, MAN-IDENTITY-005: a rebuild begins anew, except for processes that are shared and the
// same.
func TestFleet_rebuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, sharedPlan := named("shared", manifestdoc.RuntimeLifecycleWorkspaceService, "s")
		shared.Share = "digest"
		changed, changedPlan := named("changed", manifestdoc.RuntimeLifecycleAlways, "c")
		changed.Share = "before"
		plain, plainPlan := named("plain", "", "p")
		leaves, leavesPlan := named("leaves", "", "l")
		parked, parkedPlan := named("parked", "", "q")
		parkedPlan.fail(errBroken)
		f := NewFleet([]Member{shared, changed, plain, leaves, parked}, FleetOptions{})
		defer f.Close(ProductCap)
		f.Start(t.Context())
		ids := map[string]string{}
		for _, s := range f.Status() {
			ids[s.Name] = s.InstanceID
		}
		changed.Share = "after"
		fresh, _ := named("fresh", "", "f")
		reports := f.Rebuild(t.Context(), []Member{fresh, shared, changed, plain, parked})
		for _, r := range reports {
			if r.State != Ready || r.Generation != 1 || r.Replaced == (r.Name == "shared") {
				t.Errorf("%+v", r)
			}
		}
		for _, s := range f.Status() {
			if kept := ids[s.Name] == s.InstanceID; kept != (s.Name == "shared") {
				t.Errorf("%s kept its instance: %t", s.Name, kept)
			}
			if s.LastError != "" || s.Attempts != 0 {
				t.Errorf("%s remembers %q", s.Name, s.LastError)
			}
		}
		if sharedPlan.count() != 1 || changedPlan.count() != 2 || plainPlan.count() != 2 || leavesPlan.count() != 1 {
			t.Errorf("starts: %d %d %d %d", sharedPlan.count(), changedPlan.count(), plainPlan.count(), leavesPlan.count())
		}
		if f.Get("leaves") != nil {
			t.Error("one that left is there")
		}
		if entry, _ := f.Catalog().Find("l"); entry != nil {
			t.Error("its tools are there")
		}
		f.Close(ProductCap)
		late, latePlan := named("late", "", "t")
		if reports := f.Rebuild(t.Context(), []Member{late}); reports != nil || latePlan.count() != 0 {
			t.Errorf("behind the end: %+v", reports)
		}
	})
}

// Whatever happens around it, an operation has one outcome, and runs on one generation.
func TestUse_oneOutcomeInATurmoil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := one(t, Options{Timing: Timing{ReadyReset: time.Nanosecond}})
		p.takes = 10 * time.Millisecond
		s.Start(t.Context())
		const calls = 2000
		outcomes := make([]int, calls)
		var tasks sync.WaitGroup
		for i := range calls {
			tasks.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%97)*time.Millisecond)
				defer cancel()
				_ = s.Use(ctx, func(ctx context.Context, on Running) error {
					outcomes[i]++
					_, err := on.Call(ctx, extension.Request{Tool: "20ms"})
					return err
				})
			})
		}
		tasks.Go(func() {
			for range 30 {
				time.Sleep(61 * time.Millisecond)
				s.Reload(t.Context())
			}
		})
		tasks.Go(func() {
			for range 15 {
				time.Sleep(127 * time.Millisecond)
				p.last().crash("gone")
			}
		})
		tasks.Wait()
		pass(time.Minute)
		for i, n := range outcomes {
			if n > 1 {
				t.Errorf("operation %d ran %d times", i, n)
			}
		}
		got := s.Status()
		if got.Pending != 0 || got.State != Ready && got.State != Parked {
			t.Errorf("afterwards %+v", got)
		}
		s.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.unfinished) != 0 {
			t.Errorf("%d generations are left", len(s.unfinished))
		}
	})
}
