package agent

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// warming is hooks that decide about the cache.
type warming struct {
	NoHooks
	action    CacheAction // empty: the host's
	decisions []CacheDecision
}

func (w *warming) CacheWarming(_ context.Context, _ Scope, d CacheDecision) CacheAction {
	w.decisions = append(w.decisions, d)
	if w.action == "" {
		return d.Action
	}
	return w.action
}

func warm(t *testing.T, steps ...step) (*desk, *warming) {
	h := &warming{}
	d := sit(t, append([]step{func(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Response, error) {
		response, err := says("hello")(ctx, r, emit)
		response.Usage = conversation.Usage{CacheWrite: 100_000, Output: 10}
		return response, err
	}}, steps...)...)
	d.options.Hooks = h
	d.options.Model.Price = &model.Price{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000}
	d.options.Warming = Warming{Every: 4 * time.Minute}
	return d, h
}

// EXT04-HOOK-077, EXT04-HOOK-078.
func TestWarm_idle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, h := warm(t, says("x"), says("x"), says("x"))
		d.run(context.Background(), "go")
		refresh := func() bool {
			made, err := d.agent.Warm(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		if refresh() || len(h.decisions) > 0 {
			t.Error("refreshed before it is due")
		}
		for i := range defaultWarmings {
			<-time.After(4 * time.Minute)
			if !refresh() {
				t.Errorf("refresh %d is not made", i)
			}
		}
		<-time.After(time.Hour)
		if refresh() || len(d.provider.requests) != 1+defaultWarmings {
			t.Error("refreshed more often than it may")
		}
		if r := d.provider.requests[1]; r.MaxOutputTokens != 1 || len(r.Messages) != len(d.provider.requests[0].Messages) {
			t.Errorf("%+v", r)
		}
		want := CacheDecision{Phase: "idle", WarmCost: 30015, MissCost: 345000, Continuation: 0.5, ExpectedSavings: 142485, Economics: true, Action: WarmCache}
		if h.decisions[0] != want {
			t.Errorf("%+v, want %+v", h.decisions[0], want)
		}
		d.wantSaid("user: go", "assistant: hello")
		if u := d.journal.used; len(u) != 1+defaultWarmings || u[1].Kind != session.UsageOther {
			t.Errorf("usage: %+v", u)
		}
	})
}

func TestWarm_stops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, change := range map[string]func(*desk, *warming){
			"a hook":   func(_ *desk, h *warming) { h.action = StopCache },
			"no price": func(d *desk, _ *warming) { d.options.Model.Price = nil },
			"never":    func(d *desk, _ *warming) { d.options.Warming = Warming{} },
			"savings":  func(d *desk, _ *warming) { d.options.Warming.Continuation = 0.01 },
		} {
			d, h := warm(t, says("x"))
			change(d, h)
			d.run(context.Background(), "go")
			<-time.After(time.Hour)
			if made, err := d.agent.Warm(context.Background()); made || err != nil {
				t.Errorf("%s: %v %v", name, made, err)
			}
			if made, err := d.agent.Warm(context.Background()); made || err != nil || len(h.decisions) > 1 {
				t.Errorf("%s: asked again behind a stop", name)
			}
		}
		d, _ := warm(t, fails(model.Error{Message: "no"}, ""))
		d.run(context.Background(), "go")
		<-time.After(time.Hour)
		if made, err := d.agent.Warm(context.Background()); !made || err != nil || len(d.journal.doubts) != 1 {
			t.Errorf("a refresh that fails: %v %v %+v", made, err, d.journal.doubts)
		}
	})
}

func TestWarm_whileToolsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, h := warm(t)
		d.provider.steps = []step{calls("slow", `{}`), says("refreshed"), says("done")}
		h.action = WarmCache
		d.tools(gadgetOf("slow", tool.Command, false, func(context.Context, tool.Call) (tool.Result, error) {
			<-time.After(6 * time.Minute)
			return tool.Said("x"), nil
		}))
		d.wantStatus(d.run(context.Background(), "go"), Completed, "")
		d.wantSaid("user: go", "assistant: slow#c1", "tool: c1=x", "assistant: done")
		if len(h.decisions) != 1 || h.decisions[0].Phase != "streaming" || len(d.provider.requests) != 3 {
			t.Errorf("%+v", h.decisions)
		}
	})
}
