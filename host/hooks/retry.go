package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/session"
)

// ProviderRetry asks in the order of registration, for at most the delay that is planned: a retry that
// would come at once waits for nobody's advice. One stop declines; delays add up to five seconds.
func (s *Set) ProviderRetry(ctx context.Context, a agent.Scope, plan agent.RetryPlan) agent.RetryAdvice {
	const most = featurewire.MaxRetryDelayMs * time.Millisecond
	var advice agent.RetryAdvice
	list := s.declaring(featurewire.HookProviderRetry)
	if len(list) == 0 || plan.Delay <= 0 {
		return advice
	}
	payload := retryPayload(a, plan)
	if !payload.Kind.Known() {
		s.options.Diagnose(list[0], bounded(fmt.Sprintf("hook %q is not run: no retry is of the kind %q", featurewire.HookProviderRetry, plan.Kind)))
		return advice
	}
	ctx, cancel := context.WithTimeout(ctx, plan.Delay)
	defer cancel()
	for _, x := range list {
		if ctx.Err() != nil {
			s.failed(x, featurewire.HookProviderRetry, context.DeadlineExceeded)
			continue
		}
		r := s.ask(ctx, x, a, extension.HookRun{Hook: featurewire.HookProviderRetry, Payload: payload})
		if r == nil {
			continue
		}
		x.Tell(r.Notifications.Or(nil))
		given, _ := r.ProviderRetry.Get()
		switch v := given.(type) {
		case featurewire.ProviderRetryVerdict:
			if v == featurewire.ProviderRetryVerdictStop {
				return agent.RetryAdvice{Stop: true, Delay: advice.Delay, Reason: "declined by the extension " + x.Name()}
			}
		case featurewire.ProviderRetryDelay:
			extra := min(v.Delay.AdditionalDelayMs, featurewire.MaxRetryDelayMs) // no overflow
			advice.Delay = min(advice.Delay+time.Duration(extra)*time.Millisecond, most)
		}
	}
	return advice
}

func retryPayload(a agent.Scope, plan agent.RetryPlan) featurewire.ProviderRetryPayload {
	p := featurewire.ProviderRetryPayload{
		Kind: featurewire.ProviderRetryKind(plan.Kind), MaxAttempts: wirejson.Null[int64](), Operation: wirejson.Null[featurewire.ProviderOperation](),
		Attempt: wirejson.Some(int64(plan.Attempt)), DelayMs: wirejson.Some(plan.Delay.Milliseconds()), Model: wirejson.Some(a.Model),
	}
	if plan.MaxAttempts > 0 {
		p.MaxAttempts = wirejson.Some(int64(plan.MaxAttempts))
	}
	if plan.Operation != "" {
		p.Operation = wirejson.Some(featurewire.ProviderOperation(plan.Operation))
	}
	return p
}

// BeforePersistence asks in the order of registration, 200 ms for all together. Every extension has the
// namespace of its name; a value over a bound is dropped whole. Nothing keeps the entry from being stored.
func (s *Set) BeforePersistence(ctx context.Context, a agent.Scope, p agent.Persistence) session.Metadata {
	var all session.Metadata
	list := s.declaring(featurewire.HookBeforePersistence)
	if len(list) == 0 {
		return all
	}
	ctx, cancel := context.WithTimeout(ctx, featurewire.BeforePersistenceMs*time.Millisecond)
	defer cancel()
	payload := featurewire.BeforePersistencePayload{
		RunID: a.Run, Model: a.Model, Protocol: p.Protocol, StopReason: p.StopReason,
		TextBytes: p.TextBytes, ToolCallCount: p.ToolCalls, ReasoningPartCount: p.Reasonings, MediaPartCount: p.Media,
	}
	for _, x := range list {
		r := s.ask(ctx, x, a, extension.HookRun{Hook: featurewire.HookBeforePersistence, Payload: payload})
		if r == nil {
			continue
		}
		x.Tell(r.Notifications.Or(nil))
		given, has := r.PersistenceMetadata.Get()
		if !has {
			continue
		}
		text, set := given.Value.Get()
		if !set {
			text = json.RawMessage("null")
		}
		value := session.MetadataValue{Value: text, Public: given.Public.Or(false), Generation: x.Generation()}
		if err := all.Add(x.Name(), value); err != nil {
			s.options.Diagnose(x, bounded("metadata for an entry is dropped: "+err.Error()))
		}
	}
	return all
}

// CacheWarming asks in the order of registration, 200 ms each and all together within ctx. Each sees the
// decision so far, and the last action that is returned wins.
func (s *Set) CacheWarming(ctx context.Context, a agent.Scope, d agent.CacheDecision) agent.CacheAction {
	for _, x := range s.declaring(featurewire.HookCacheWarmingDecision) {
		payload := featurewire.CacheWarmingDecisionPayload{Model: a.Model, Decision: featurewire.CacheWarmingDecision{
			Phase: featurewire.CacheWarmingPhase(d.Phase), WarmCostMicrodollars: d.WarmCost, MissCostMicrodollars: d.MissCost,
			ContinuationProbability:     json.Number(strconv.FormatFloat(d.Continuation, 'g', -1, 64)),
			ExpectedSavingsMicrodollars: d.ExpectedSavings, EconomicsAvailable: d.Economics, Action: featurewire.CacheWarmingAction(d.Action),
		}}
		r := s.ask(ctx, x, a, extension.HookRun{Hook: featurewire.HookCacheWarmingDecision, Payload: payload})
		if r == nil {
			continue
		}
		if action, given := r.CacheWarmingDecision.Get(); given {
			d.Action = agent.CacheAction(action)
		}
	}
	return d.Action
}

// turnFailed is why a run or a compaction goes no further.
func turnFailed(x *extension.Extension, hook string, err error) error {
	return fmt.Errorf("hook %q of extension %q: %w", hook, x.Name(), err)
}
