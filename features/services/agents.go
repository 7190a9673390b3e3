package services

import (
	"encoding/json"
	"slices"

	fw "github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// principal and owner are those of every child agent.
const (
	principal = "conform"
	owner     = "conform-owner"
)

// models are those that a child agent may be given.
var models = fw.AgentModelsResult{Models: []fw.AgentModel{{
	Model: "conform-model", Provider: "conform", DisplayName: wirejson.Null[string](), Reasoning: []string{fw.TableAgentReasoningLabels[1]},
	ContextWindow: 1 << 17, MaxOutputTokens: 1 << 13,
}}}

// spawn makes a record of a child that has ended by the time anybody asks for it.
func (h *Host) spawn(p fw.AgentSpawnParams) (wirejson.Encoder, string) {
	id := h.next("agent")
	r := fw.AgentRecord{
		AgentID: id, AgentPath: "/" + p.TaskName, ParentID: wirejson.Null[string](), TaskName: p.TaskName, Profile: p.Profile,
		IdempotencyKey: p.IdempotencyKey, Fingerprint: p.Fingerprint, Depth: 1, Session: "agent-session:" + id, Status: fw.AgentCompleted{Output: "done"},
		Policy: fw.AgentEffectivePolicy{
			Tools: p.Policy.Tools, MaxDepth: p.Policy.MaxDepth, MaxConcurrentChildren: p.Policy.MaxConcurrentChildren,
			MaxTurns: p.Policy.MaxTurns, MaxTokens: p.Policy.MaxTokens, MaxCostMicrodollars: p.Policy.MaxCostMicrodollars,
			MaxOutputBytes: p.Policy.MaxOutputBytes, TimeoutMs: p.Policy.TimeoutMs, ModelSelection: p.Policy.ModelSelection,
		},
		CreatedAtMs: 1, StartedAtMs: wirejson.Some[int64](1), CompletedAtMs: wirejson.Some[int64](2), DeadlineAtMs: wirejson.Null[int64](),
		TurnCount: 1, Phase: wirejson.Null[json.RawMessage](), RecentTools: []fw.AgentToolRun{}, Provenance: wirejson.Null[json.RawMessage](),
	}
	h.agents = append(h.agents, r)
	return fw.AgentSpawnResult{
		AgentID: r.AgentID, AgentPath: r.AgentPath, TaskName: r.TaskName, Profile: r.Profile, Fingerprint: r.Fingerprint,
		IdempotencyKey: r.IdempotencyKey, Status: fw.AgentPending{}, Policy: r.Policy, CreatedAtMs: r.CreatedAtMs,
		StartedAtMs: wirejson.Null[int64](), CompletedAtMs: wirejson.Null[int64](), DeadlineAtMs: r.DeadlineAtMs, Principal: principal, ResourceOwner: owner,
	}, ""
}

func (h *Host) records() fw.AgentListResult {
	return fw.AgentListResult{Principal: principal, ResourceOwner: owner, PersistenceError: wirejson.Null[string](), Agents: append([]fw.AgentRecord{}, h.agents...)}
}

// find returns a child by id or path, or refuses what names none.
func (h *Host) find(target string) (fw.AgentRecord, string) {
	i := slices.IndexFunc(h.agents, func(r fw.AgentRecord) bool { return r.AgentID == target || r.AgentPath == target })
	if i < 0 {
		return fw.AgentRecord{}, "not_foreground_owner"
	}
	return h.agents[i], ""
}

func (h *Host) message(p fw.AgentMessageParams) (wirejson.Encoder, string) {
	r, refusal := h.find(p.Target)
	return fw.AgentMessageResult{DeliveredTo: r.AgentID, Delivery: fw.AgentMessageDeliveryQueued}, refusal
}

func (h *Host) followUp(p fw.AgentFollowUpParams) (wirejson.Encoder, string) {
	r, refusal := h.find(p.Target)
	return fw.AgentFollowUpResult{AgentID: r.AgentID, AgentPath: r.AgentPath, Delivery: fw.AgentFollowUpDeliveryNewRun}, refusal
}

func (h *Host) interrupt(p fw.AgentInterruptParams) (wirejson.Encoder, string) {
	r, refusal := h.find(p.Target)
	return fw.AgentInterruptResult{AgentID: r.AgentID, AgentPath: r.AgentPath, PreviousStatus: r.Status, InterruptRequested: false}, refusal
}

func (h *Host) agentEvents(p fw.AgentEventsParams) (wirejson.Encoder, string) {
	r, refusal := h.find(p.Target)
	if p.AfterSequence > 0 {
		return nil, "not_foreground_owner"
	}
	return fw.AgentEventsResult{AgentID: r.AgentID, SessionID: wirejson.Null[string](), Events: []fw.AgentEventEntry{}, Status: r.Status}, refusal
}

func (h *Host) stop(p fw.AgentStopParams) (wirejson.Encoder, string) {
	r, refusal := h.find(p.Target)
	return fw.AgentStopResult{AgentID: r.AgentID, ShutdownRequested: true}, refusal
}
