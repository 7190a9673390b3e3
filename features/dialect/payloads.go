package dialect

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Ids of what the referee tells of.
const (
	sessionID = "conform"
	runID     = "run:conform-1"
	turnID    = "turn-1"
	callID    = "call-1"
	messageID = "message-1"
	modelID   = "conform-model"
)

// Payloads of hooks, as a host sends them when nothing special happens. The keys are the hooks of the spec.
var payloads = map[string]func(prompt string) wirejson.Encoder{
	featurewire.HookBeforePrompt:  func(prompt string) wirejson.Encoder { return featurewire.BeforePromptPayload{Prompt: prompt} },
	featurewire.HookAfterResponse: fixed(featurewire.AfterResponsePayload{Response: "Done."}),
	featurewire.HookBeforeToolCall: fixed(featurewire.BeforeToolCallPayload{
		Name: "read", Arguments: json.RawMessage(`{"path":"README.md"}`),
	}),
	featurewire.HookAfterToolCall: fixed(featurewire.AfterToolCallPayload{
		Name: "read", Arguments: json.RawMessage(`{"path":"README.md"}`), Output: "octet",
	}),
	featurewire.HookProviderRetry: fixed(featurewire.ProviderRetryPayload{
		Kind: featurewire.ProviderRetryKindStreamStart, MaxAttempts: wirejson.Some[int64](4), Operation: wirejson.Null[featurewire.ProviderOperation](),
	}),
	featurewire.HookBeforePersistence: fixed(featurewire.BeforePersistencePayload{
		RunID: runID, Model: modelID, Protocol: "conform", StopReason: "end", TextBytes: 5,
	}),
	featurewire.HookPostMutation: fixed(featurewire.PostMutationPayload{
		MutationID: "mutation:1", Kind: featurewire.MutationKindConfiguration, Generation: 1, State: featurewire.MutationStateCommitted,
		AffectedResources: []featurewire.ResourceIdentity{featurewire.TableMutationResources[0].Resource},
	}),
	featurewire.HookModelTurnStart: fixed(featurewire.ModelTurnStartPayload{RunID: runID, TimestampMs: 1}),
	featurewire.HookModelTurnEnd: fixed(featurewire.ModelTurnEndPayload{
		RunID: runID, TimestampMs: 2, ToolResultEntries: []featurewire.StoredEntry{},
		AssistantEntry: featurewire.StoredEntry{
			ID: "entry-2", Parent: wirejson.Some("entry-1"), TimestampUnixMs: 2,
			Value: featurewire.StoredMessage{Assistant: wirejson.Some(json.RawMessage(`{"content":[]}`))},
		},
	}),
	featurewire.HookSessionBeforeCompact: fixed(featurewire.SessionBeforeCompactPayload{}),
	featurewire.HookSessionCompact:       fixed(featurewire.SessionCompactPayload{}),
	featurewire.HookCacheWarmingDecision: fixed(featurewire.CacheWarmingDecisionPayload{
		Model: modelID,
		Decision: featurewire.CacheWarmingDecision{
			Phase: featurewire.CacheWarmingPhaseIdle, WarmCostMicrodollars: 10, MissCostMicrodollars: 100, ContinuationProbability: "1",
			ExpectedSavingsMicrodollars: 40, EconomicsAvailable: true, Action: featurewire.CacheWarmingActionWarm,
		},
	}),
	featurewire.HookCompactionStrategy: fixed(featurewire.CompactionStrategyPayload{ModelID: modelID, Text: "A conversation about octets."}),
	featurewire.HookResourcesDiscover: fixed(featurewire.ResourcesDiscoverPayload{
		Cwd: workspace, Reason: featurewire.ResourcesDiscoverReasonStartup,
	}),
}

func fixed(payload wirejson.Encoder) func(string) wirejson.Encoder {
	return func(string) wirejson.Encoder { return payload }
}

// Hooks lists the declared hooks that a host of this API version runs, with sound params for each: those of a
// session in which the person has typed the prompt.
func (d Dialect) Hooks(declared []string, prompt string) (names []string, params []Object) {
	for _, name := range declared {
		row, known := d.Hook(name)
		payload := payloads[name]
		if !known || payload == nil {
			continue
		}
		p := d.HookRun(name, json.RawMessage(payload(prompt).AppendJSON(nil)))
		if row.Feature == featurewire.FeatureSessionEntries {
			p["session_leaf"] = "conform-leaf"
		}
		names, params = append(names, name), append(params, p)
	}
	return names, params
}

// HookRun builds the params of hook/run.
func (d Dialect) HookRun(hook string, payload any) Object {
	return Object{"hook": hook, "payload": payload, "context": d.Context()}
}

// Event is one notification of a host.
type Event struct {
	Method string
	Params Object
}

// Events are the notifications of a session in which a little happens to an extension that has selected some
// features: those that the features open, in an order in which a host sends them.
func (d Dialect) Events(selected func(feature string) bool, surfaces []string) []Event {
	ids := func(more ...Object) Object {
		return merged(append([]Object{{"session_id": sessionID, "run_id": runID, "turn_id": turnID}}, more...)...)
	}
	settled := Object{"outcome": string(featurewire.SettlementOutcomeCompleted), "duration_ms": 12, "reason": nil}
	call := Object{"tool_call_id": callID, "tool_name": "read"}
	message := Object{"message_id": messageID}
	all := []Event{
		{featurewire.MethodSessionStarted, ids()},
		{featurewire.MethodTurnStarted, ids()},
		{featurewire.MethodMessageStarted, message},
		{featurewire.MethodMessageUpdated, Object{"message_id": messageID, "delta": "octet", "deltas": 1}},
		{featurewire.MethodMessageSettled, message},
		{featurewire.MethodToolStarted, ids(call)},
		{featurewire.MethodToolSettled, ids(call, settled)},
		{featurewire.MethodTurnSettled, ids(settled)},
		{featurewire.MethodCompactionStarted, Object{}},
		{featurewire.MethodCompactionSettled, Object{}},
		{featurewire.MethodCompactionFailed, Object{}},
		{featurewire.MethodSessionInfoChanged, Object{}},
		{featurewire.MethodDialogStarted, Object{}},
		{featurewire.MethodDialogSettled, Object{}},
		{featurewire.MethodModelSelected, Object{}},
		{featurewire.MethodReasoningSelected, Object{}},
		{featurewire.MethodBashUser, Object{}},
		{featurewire.MethodContextUpdated, Object{"resource_owner": owner(), "host": hostState()}},
	}
	for _, id := range surfaces {
		all = append(all,
			Event{featurewire.MethodUIKey, Object{"surface_id": id, "key": featurewire.TableUIKeyNames[0], "kind": string(featurewire.UiKeyKindPress), "modifiers": []any{}}},
			Event{featurewire.MethodUIMouse, Object{
				"surface_id": id, "kind": string(featurewire.UiMouseKindWheel), "button": string(featurewire.UiMouseButtonNone),
				"x": 0, "y": 0, "modifiers": []any{string(featurewire.UiModifierShift)}, "wheel_delta": 1,
			}},
			Event{featurewire.MethodUIResize, Object{"surface_id": id, "columns": 100, "rows": 30}},
			Event{featurewire.MethodUIClosed, Object{"surface_id": id, "reason": "rescued"}})
	}
	all = append(all, Event{featurewire.MethodSessionSettled, ids(settled)})
	var out []Event
	for _, e := range all {
		gate, _, _ := strings.Cut(d.Gate(e.Method), " ")
		if d.Knows(e.Method) && selected(gate) {
			out = append(out, e)
		}
	}
	return out
}

func merged(objects ...Object) Object {
	out := Object{}
	for _, o := range objects {
		maps.Copy(out, o)
	}
	return out
}
