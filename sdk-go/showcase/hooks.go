package main

import (
	"context"
	"encoding/json"
	"path"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/extension"
)

type call = *extension.HookCall

func denied(reason string) wirejson.Opt[featurewire.Disposition] {
	return wirejson.Some[featurewire.Disposition](featurewire.DispositionDeny{Reason: reason})
}

func allowed() wirejson.Opt[featurewire.Disposition] {
	return wirejson.Some[featurewire.Disposition](featurewire.DispositionContinue{})
}

// addHooks adds what every version asks, then what the later ones ask.
func (s *showcase) addHooks() {
	hooks := s.ext.Hooks()
	hooks.BeforePrompt(func(_ context.Context, _ call, p featurewire.BeforePromptPayload) (r featurewire.BeforePromptHookResult, err error) {
		if strings.Contains(p.Prompt, "secret") {
			r.Disposition = denied("no secrets")
			return r, nil
		}
		r.Disposition = allowed()
		r.Context = wirejson.Some([]featurewire.ContextContribution{{Label: "hook", Content: "seen"}})
		return r, nil
	})
	hooks.AfterResponse(func(context.Context, call, featurewire.AfterResponsePayload) (r featurewire.AfterResponseHookResult, err error) {
		r.Notifications = wirejson.Some([]featurewire.Notification{{Level: wirejson.Some(featurewire.NotificationLevelInfo), Message: "heard"}})
		return r, nil
	})
	hooks.BeforeToolCall(func(_ context.Context, _ call, p featurewire.BeforeToolCallPayload) (r featurewire.BeforeToolCallHookResult, err error) {
		r.Disposition = allowed()
		if p.Name == "bash" {
			r.Disposition = denied("deletes files")
		}
		return r, nil
	})
	hooks.AfterToolCall(func(context.Context, call, featurewire.AfterToolCallPayload) (r featurewire.AfterToolCallHookResult, err error) {
		r.Disposition = allowed()
		return r, nil
	})
	if s.api != extension.API01 {
		s.addDurableHooks()
	}
	if s.api == extension.API04 {
		s.addSessionHooks()
		s.addAdvice()
	}
}

// addDurableHooks adds those of API 0.2: retries, entries and changes of resources.
func (s *showcase) addDurableHooks() {
	hooks := s.ext.Hooks()
	hooks.ProviderRetry(func(_ context.Context, _ call, p featurewire.ProviderRetryPayload) (r featurewire.ProviderRetryHookResult, err error) {
		advice := featurewire.ProviderRetryAdvice(featurewire.ProviderRetryVerdictStop)
		switch p.Kind {
		case featurewire.ProviderRetryKindBeforeGeneration:
			advice = featurewire.ProviderRetryVerdictRetry
		case featurewire.ProviderRetryKindStreamStart:
			advice = featurewire.ProviderRetryDelay{Delay: featurewire.ProviderRetryExtra{AdditionalDelayMs: 500}}
		}
		r.ProviderRetry = wirejson.Some(advice)
		return r, nil
	})
	hooks.BeforePersistence(func(_ context.Context, _ call, p featurewire.BeforePersistencePayload) (r featurewire.BeforePersistenceHookResult, err error) {
		value, err := json.Marshal(map[string]string{"run": p.RunID})
		r.PersistenceMetadata = wirejson.Some(featurewire.PersistenceMetadata{Value: wirejson.Some(json.RawMessage(value)), Public: wirejson.Some(true)})
		return r, err
	})
	hooks.PostMutation(func(_ context.Context, _ call, p featurewire.PostMutationPayload) (r featurewire.PostMutationHookResult, err error) {
		answer := featurewire.PostMutationAnswer(featurewire.PostMutationNoRescan{})
		if p.State == featurewire.MutationStateCommitted {
			answer = featurewire.PostMutationRequestRescan{ResourceIDs: p.AffectedResources}
		}
		r.PostMutation = wirejson.Some(answer)
		return r, nil
	})
}

// addSessionHooks adds the awaited operations of a session.
func (s *showcase) addSessionHooks() {
	goOn := wirejson.Some(featurewire.SessionOperationContinue{})
	hooks := s.ext.Hooks()
	hooks.ModelTurnStart(func(context.Context, call, featurewire.ModelTurnStartPayload) (featurewire.ModelTurnStartHookResult, error) {
		return featurewire.ModelTurnStartHookResult{SessionOperation: goOn}, nil
	})
	hooks.ModelTurnEnd(func(context.Context, call, featurewire.ModelTurnEndPayload) (featurewire.ModelTurnEndHookResult, error) {
		return featurewire.ModelTurnEndHookResult{SessionOperation: goOn}, nil
	})
	hooks.SessionBeforeCompact(func(context.Context, call, featurewire.SessionBeforeCompactPayload) (featurewire.SessionBeforeCompactHookResult, error) {
		operation := featurewire.SessionOperation(featurewire.SessionOperationContinue{})
		return featurewire.SessionBeforeCompactHookResult{SessionOperation: wirejson.Some(operation)}, nil
	})
	hooks.SessionCompact(func(context.Context, call, featurewire.SessionCompactPayload) (featurewire.SessionCompactHookResult, error) {
		return featurewire.SessionCompactHookResult{SessionOperation: goOn}, nil
	})
}

// addAdvice adds the hooks that have a feature of their own.
func (s *showcase) addAdvice() {
	hooks := s.ext.Hooks()
	hooks.CacheWarmingDecision(func(_ context.Context, _ call, p featurewire.CacheWarmingDecisionPayload) (r featurewire.CacheWarmingDecisionHookResult, err error) {
		r.CacheWarmingDecision = wirejson.Null[featurewire.CacheWarmingAction]()
		if p.Decision.Action == featurewire.CacheWarmingActionWarm {
			r.CacheWarmingDecision = wirejson.Some(featurewire.CacheWarmingActionStop)
		}
		return r, nil
	})
	hooks.CompactionStrategy(func(context.Context, call, featurewire.CompactionStrategyPayload) (featurewire.CompactionStrategyHookResult, error) {
		return featurewire.CompactionStrategyHookResult{CompactionFrames: []string{dot}}, nil
	})
	hooks.ResourcesDiscover(func(_ context.Context, _ call, p featurewire.ResourcesDiscoverPayload) (r featurewire.ResourcesDiscoverHookResult, err error) {
		r.ResourcePaths.SkillPaths = wirejson.Some([]string{path.Join(p.Cwd, "skills")}) // the wire takes no relative ones
		return r, nil
	})
}
