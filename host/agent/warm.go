package agent

import (
	"context"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/session"
)

// Phases in which a cache may be refreshed.
const (
	phaseStreaming = string(featurewire.CacheWarmingPhaseStreaming)
	phaseIdle      = string(featurewire.CacheWarmingPhaseIdle)
)

// Warm refreshes the provider's cache if one is due and that pays, for frontends that wait for a person. It
// reports whether a request was made. ErrBusy.
func (a *Agent) Warm(ctx context.Context) (bool, error) {
	if err := a.take(); err != nil {
		return false, err
	}
	defer a.release()
	r := a.begin(ctx)
	if due, ok := r.refreshIn(); !ok || due > 0 {
		return false, nil
	}
	return r.refresh(phaseIdle)
}

// remember keeps a request that was answered, so that its cache can be refreshed.
func (a *Agent) remember(request model.Request, response *model.Response, now time.Time) {
	a.last, a.warmed, a.lastAt, a.lastUsed = &request, 0, now, response.Usage
}

// refreshIn says when the cache is to be refreshed; ok is false for never.
func (r *run) refreshIn() (time.Duration, bool) {
	a := r.agent
	if r.Warming.Every <= 0 || a.last == nil || a.warmed >= r.Warming.Most {
		return 0, false
	}
	return max(0, a.lastAt.Add(r.Warming.Every).Sub(r.Clock.Now())), true
}

// warmDue fires when the cache is to be refreshed while calls run; nil for never.
func (b *batch) warmDue() <-chan time.Time {
	due, ok := b.refreshIn()
	if !ok {
		return nil
	}
	return b.Clock.After(due)
}

// refresh decides, asks hooks, and sends the last request once more for as little as can be had. What fails
// is no failure of the run.
//
// EXT04-HOOK-077, EXT04-HOOK-078, EXT04-HOOK-081.
func (r *run) refresh(phase string) (bool, error) {
	a := r.agent
	decision := r.weigh(phase)
	a.warmed++
	a.lastAt = r.Clock.Now()
	if r.Hooks.CacheWarming(r.ctx, r.scope(), decision) != WarmCache {
		a.warmed = r.Warming.Most
		return false, nil
	}
	request := *a.last
	request.MaxOutputTokens = 1
	response, err := r.Provider.Stream(r.ctx, request, func(model.Delta) {})
	batch := session.Batch{}
	if err != nil || response == nil {
		a.warmed = r.Warming.Most
		response = &model.Response{}
	}
	tell := r.account(&batch, session.UsageOther, response)
	if _, err := r.commit(batch); err != nil {
		return true, err
	}
	tell()
	return true, nil
}

// warm refreshes while calls run, in place of the loop that emits.
func (b *batch) warm() {
	if _, err := b.refresh(phaseStreaming); err != nil && b.failure == nil {
		b.failure = err
		b.cancel()
	}
}

// weigh sets what a refresh costs against what a lost cache would cost.
func (r *run) weigh(phase string) CacheDecision {
	d := CacheDecision{Phase: phase, Continuation: r.Warming.Continuation, Action: StopCache}
	price := r.Model.Price
	if price == nil {
		return d
	}
	u := r.agent.lastUsed
	prefix := u.Input + u.CacheRead + u.CacheWrite
	again := price.CacheWrite
	if again == 0 {
		again = price.Input
	}
	d.Economics = true
	d.WarmCost = price.Cost(conversation.Usage{CacheRead: prefix, Output: 1})
	d.MissCost = max(0, model.Price{Input: again}.Cost(conversation.Usage{Input: prefix})-price.Cost(conversation.Usage{CacheRead: prefix}))
	d.ExpectedSavings = int64(d.Continuation*float64(d.MissCost)) - d.WarmCost
	if d.ExpectedSavings > 0 {
		d.Action = WarmCache
	}
	return d
}
