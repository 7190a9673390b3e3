package agent

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/host/model"
)

var busy = model.Error{Phase: model.BeforeGeneration, Retry: true, Message: "busy", Status: 429}

// adviser is hooks that advise on retries.
type adviser struct {
	NoHooks
	advise func(ctx context.Context, p RetryPlan) RetryAdvice
	plans  []RetryPlan
}

func (a *adviser) ProviderRetry(ctx context.Context, _ Scope, p RetryPlan) RetryAdvice {
	a.plans = append(a.plans, p)
	return a.advise(ctx, p)
}

// took runs the agent and says how long it took.
func (d *desk) took() (Outcome, time.Duration) {
	began := time.Now()
	o := d.run(context.Background(), "go")
	return o, time.Since(began)
}

func TestRetry_backsOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, fails(busy, ""), fails(busy, ""), fails(busy, "half an"), says("done"))
		o, took := d.took()
		d.wantStatus(o, Completed, "")
		if took != 7*time.Second { // 1 + 2 + 4
			t.Errorf("took %s", took)
		}
		d.wantSaid("user: go", "assistant: done")
		if got := find[RetryScheduled](d); len(got) != 3 || got[2].Attempt != 4 || got[2].MaxAttempts != 5 || got[2].Millis != 4000 || got[2].Kind != "before_generation" {
			t.Errorf("told: %+v", got)
		}
		if len(find[AnswerDiscarded](d)) != 1 {
			t.Errorf("events: %s", d.types())
		}
	})
}

func TestRetry_jitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, fails(busy, ""), fails(busy, ""), says("done"))
		d.options.Random = func() float64 { return 0.5 }
		if _, took := d.took(); took != 2250*time.Millisecond { // 3/4 of 1 s and of 2 s
			t.Errorf("took %s", took)
		}
	})
}

func TestRetry_gives(t *testing.T) {
	final := busy
	final.Retry = false
	for name, c := range map[string]struct {
		steps    []step
		attempts int
	}{
		"at once, where a repetition makes no sense": {[]step{fails(final, "")}, 1},
		"after the last attempt":                     {[]step{fails(busy, ""), fails(busy, ""), fails(busy, ""), fails(busy, ""), fails(busy, ""), says("too late")}, 5},
		"after what is no fault of a provider":       {[]step{func(context.Context, model.Request, func(model.Delta)) (*model.Response, error) { return nil, nil }}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := sit(t, c.steps...)
			o, _ := d.took()
			d.wantStatus(o, Failed, CodeProvider)
			if len(d.provider.requests) != c.attempts || o.Reason == "" {
				t.Errorf("%s: %d attempts, %+v", name, len(d.provider.requests), o)
			}
		})
	}
}

func TestRetry_bounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, fails(busy, ""), fails(busy, ""), fails(busy, ""), says("done"))
		d.options.Retry = Retry{Most: 1500 * time.Millisecond}
		if _, took := d.took(); took != 4*time.Second { // 1 + 1.5 + 1.5
			t.Errorf("took %s", took)
		}
	})
}

func TestRetry_honoursRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		patient := busy
		patient.RetryAfter = 10 * time.Minute
		d := sit(t, fails(patient, ""), says("done"))
		o, took := d.took()
		d.wantStatus(o, Completed, "")
		if took != 10*time.Minute {
			t.Errorf("took %s", took)
		}
		patient.RetryAfter += time.Second
		d = sit(t, fails(patient, ""), says("done"))
		o, _ = d.took()
		d.wantStatus(o, Failed, CodeProvider)
		if !strings.Contains(o.Reason, "10m1s") {
			t.Errorf("reason: %s", o.Reason)
		}
	})
}

// EXT04-HOOK-036, EXT04-HOOK-037: the sum of all delays is bounded, a stop declines.
func TestRetry_advice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := &adviser{advise: func(context.Context, RetryPlan) RetryAdvice { return RetryAdvice{Delay: 3 * time.Second} }}
		d := sit(t, fails(busy, ""), fails(busy, ""), fails(busy, ""), says("done"))
		d.options.Hooks = hooks
		if _, took := d.took(); took != 12*time.Second { // 1+3, 2+2, 4+0
			t.Errorf("took %s", took)
		}
		if p := hooks.plans[0]; len(hooks.plans) != 3 || p.Attempt != 2 || p.MaxAttempts != 5 || p.Kind != "before_generation" || p.Operation != "" || p.Delay != time.Second {
			t.Errorf("plans: %+v", hooks.plans)
		}

		hooks = &adviser{advise: func(context.Context, RetryPlan) RetryAdvice { return RetryAdvice{Delay: -time.Hour} }}
		d = sit(t, fails(busy, ""), says("done"))
		d.options.Hooks = hooks
		if _, took := d.took(); took != time.Second {
			t.Errorf("a delay below zero: took %s", took)
		}

		hooks = &adviser{advise: func(context.Context, RetryPlan) RetryAdvice { return RetryAdvice{Stop: true, Reason: "quota"} }}
		d = sit(t, fails(busy, ""), says("done"))
		d.options.Hooks = hooks
		o, _ := d.took()
		d.wantStatus(o, Failed, CodeProvider)
		if !strings.Contains(o.Reason, "quota") {
			t.Errorf("reason: %s", o.Reason)
		}
	})
}

// EXT04-HOOK-038: the retry of a summary is declined; the answer is not, and its own retries go on.
func TestRetry_adviceConcernsOneOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := &adviser{}
		hooks.advise = func(_ context.Context, p RetryPlan) RetryAdvice {
			return RetryAdvice{Stop: p.Operation == LocalCompaction}
		}
		d := talked(t, fails(busy, ""), fails(busy, ""), says("done"))
		d.agent.options.Hooks, d.agent.options.Model.ContextWindow = hooks, 20
		d.wantStatus(d.run(context.Background(), "d"), Completed, "")
		if len(hooks.plans) != 2 || hooks.plans[0].Operation != LocalCompaction || hooks.plans[1].Operation != "" || len(find[CompactionFailed](d)) != 1 {
			t.Errorf("%+v %s", hooks.plans, d.types())
		}
	})
}

// EXT04-HOOK-039: advice allows no retry that the agent would not make, adds no attempt, shortens no wait, and does
// not hold up a cancellation.
func TestRetry_adviceWidensNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := &adviser{advise: func(context.Context, RetryPlan) RetryAdvice { return RetryAdvice{Delay: -time.Hour} }}
		final, patient := busy, busy
		final.Retry, patient.RetryAfter = false, 9*time.Second
		d := sit(t, fails(final, ""), says("done"))
		d.options.Hooks = hooks
		o, _ := d.took()
		d.wantStatus(o, Failed, CodeProvider)
		if len(hooks.plans) != 0 || len(d.provider.requests) != 1 {
			t.Errorf("asked about a fault that stays: %+v", hooks.plans)
		}
		d = sit(t, slices.Repeat([]step{fails(patient, "")}, 10)...)
		d.options.Hooks = hooks
		o, took := d.took()
		d.wantStatus(o, Failed, CodeProvider)
		if len(d.provider.requests) != defaultAttempts || took != 4*9*time.Second {
			t.Errorf("%d attempts in %s", len(d.provider.requests), took)
		}
		hooks.advise = func(ctx context.Context, _ RetryPlan) RetryAdvice { <-ctx.Done(); return RetryAdvice{Delay: time.Hour} }
		d = sit(t, fails(patient, ""), says("done"))
		d.options.Hooks = hooks
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		d.wantStatus(d.run(ctx, "go"), Cancelled, CodeCancelled)
	})
}

// EXT04-HOOK-040: the hook has no longer than the delay, and what it says behind that does not count.
func TestRetry_adviceTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, fails(busy, ""), says("done"))
		d.options.Hooks = &adviser{advise: func(ctx context.Context, _ RetryPlan) RetryAdvice {
			<-ctx.Done()
			return RetryAdvice{Stop: true}
		}}
		o, took := d.took()
		d.wantStatus(o, Completed, "")
		if took != time.Second {
			t.Errorf("took %s", took)
		}
	})
}

// EXT04-HOOK-033: waiting for the network has no bound, spends no attempt, and is no content.
func TestNetwork_waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := &adviser{advise: func(context.Context, RetryPlan) RetryAdvice { return RetryAdvice{} }}
		none := model.Error{Phase: model.WaitingForNetwork, Message: "no route to host"}
		steps := []step{fails(busy, "")}
		for range 40 {
			steps = append(steps, fails(none, ""))
		}
		steps = append(steps, fails(busy, ""), fails(busy, ""), fails(busy, ""), says("done"))
		d := sit(t, steps...)
		d.options.Hooks = hooks
		o, _ := d.took()
		d.wantStatus(o, Completed, "")
		d.wantSaid("user: go", "assistant: done")
		waits := find[WaitingForNetwork](d)
		if len(waits) != 40 || waits[0].Millis != 1000 || waits[1].Millis != 2000 || waits[39].Millis != 15000 || waits[39].Waited < 500_000 {
			t.Errorf("%d waits: %+v ... %+v", len(waits), waits[0], waits[len(waits)-1])
		}
		if back := find[NetworkBack](d); len(back) != 1 || back[0].Waited < 500_000 {
			t.Errorf("back: %+v", back)
		}
		if p := hooks.plans[1]; p.Kind != "waiting_for_network" || p.MaxAttempts != 0 {
			t.Errorf("plan: %+v", p)
		}
		if r := find[RetryScheduled](d); len(r) != 4 || r[3].Attempt != 5 {
			t.Errorf("other attempts: %+v", r)
		}
		if o.Uncertain {
			t.Error("nothing was sent, but usage is uncertain")
		}
	})
}

func TestUsage_uncertain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := model.Error{Phase: model.InterruptedInference, Retry: true, Message: "the stream broke", UsageUnknown: true}
		d := sit(t, fails(broken, "half"), says("done"))
		o, _ := d.took()
		d.wantStatus(o, Completed, "")
		if !o.Uncertain || len(d.journal.doubts) != 1 || d.journal.doubts[0].Run != o.Run || d.journal.doubts[0].Reason != "the stream broke" {
			t.Errorf("%+v %+v", o, d.journal.doubts)
		}
		if u := find[Usage](d); len(u) != 1 || !u[0].Session.Uncertain || len(find[UsageUncertain](d)) != 1 {
			t.Errorf("told: %+v", u)
		}

		d = sit(t, func(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Response, error) {
			response, err := says("done")(ctx, r, emit)
			response.UsageKnown = false
			return response, err
		})
		if o, _ = d.took(); !o.Uncertain || len(d.journal.used) != 0 || len(d.journal.doubts) != 1 || o.Status != Completed {
			t.Errorf("%+v %+v", o, d.journal.doubts)
		}
	})
}

func TestUsage_priced(t *testing.T) {
	d := sit(t, says("done"))
	d.options.Model.Price = &model.Price{Input: 1_000_000, Output: 2_000_000}
	o := d.run(context.Background(), "go")
	if o.Usage.CostMicrodollars == nil || *o.Usage.CostMicrodollars != 20 {
		t.Errorf("%+v", o.Usage)
	}
}
