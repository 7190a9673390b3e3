package agents

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/service/clip"
	"github.com/octet-dev/octet/runtime/peer"
)

// followUpsMost is how many follow-ups one run takes.
const followUpsMost = 32

var errUnknown = extension.RefuseService("the session has no such agent of this extension")

func (s *Service) models(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeAgentModelsParams(r.Params)
	if err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	t, err := s.activeTree(r)
	if err != nil {
		return nil, err
	}
	all, err := s.roots.Models(ctx, t.key.owner)
	if err != nil {
		return nil, extension.RefuseService(clip.Text("models cannot be listed: "+err.Error(), faultMost))
	}
	result := featurewire.AgentModelsResult{Models: []featurewire.AgentModel{}}
	query := strings.ToLower(p.Query.Or(""))
	for _, m := range all {
		listed := listedModel(m)
		if listed.Validate() != nil || !matches(m, query) {
			continue // one that cannot be named on the wire cannot be selected either
		}
		if int64(len(result.Models)) >= p.Limit.Or(featurewire.AgentModelsDefault) {
			result.Truncated = true
			break
		}
		result.Models = append(result.Models, listed)
	}
	return result, nil
}

func matches(m model.Info, query string) bool {
	for _, name := range []string{m.Model, m.Provider, m.DisplayName} {
		if strings.Contains(strings.ToLower(name), query) {
			return true
		}
	}
	return false
}

func listedModel(m model.Info) featurewire.AgentModel {
	labels := append([]string{}, m.Reasoning...)
	labels = labels[:min(len(labels), featurewire.MaxAgentReasoningLevels)]
	name := wirejson.Null[string]()
	if m.DisplayName != "" {
		name = wirejson.Some(clip.Text(m.DisplayName, featurewire.MaxAgentModelLabelBytes))
	}
	return featurewire.AgentModel{
		Model: m.Model, Provider: m.Provider, DisplayName: name, Reasoning: labels, ContextWindow: m.ContextWindow, MaxOutputTokens: m.MaxOutputTokens,
	}
}

// targetLocked returns a child that was opened, by id or path.
func (t *tree) targetLocked(target string) (*child, error) {
	c := t.findLocked(target)
	if c == nil || c.answer.AgentID == "" {
		return nil, errUnknown
	}
	return c, nil
}

func (s *Service) message(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeAgentMessageParams(r.Params)
	if err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	t, err := s.activeTree(r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := t.targetLocked(p.Target)
	if err != nil {
		return nil, err
	}
	result := featurewire.AgentMessageResult{DeliveredTo: c.id, Delivery: featurewire.AgentMessageDeliveryQueued}
	switch _, pending := c.status.(featurewire.AgentPending); {
	case !c.activeLocked() || c.cause != nil:
		return nil, extension.RefuseService("the agent does not run; follow up instead")
	case pending && len(c.waiting) >= followUpsMost:
		return nil, extension.RefuseService("too many messages wait for the agent")
	case pending:
		c.waiting = append(c.waiting, p.Message)
	default:
		if err := c.opened.Kernel.Steer(p.Message); err != nil {
			return nil, extension.RefuseService("the agent is about to end")
		}
		result.Delivery = featurewire.AgentMessageDeliverySteering
	}
	return result, nil
}

func (s *Service) followUp(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeAgentFollowUpParams(r.Params)
	if err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	t, err := s.activeTree(r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := t.targetLocked(p.Target)
	if err != nil {
		return nil, err
	}
	result := featurewire.AgentFollowUpResult{AgentID: c.id, AgentPath: c.path, Delivery: featurewire.AgentFollowUpDeliveryFollowUp}
	_, down := c.status.(featurewire.AgentShutdown)
	_, pending := c.status.(featurewire.AgentPending)
	switch {
	case down || c.gone:
		return nil, extension.RefuseService("the agent is shut down")
	case c.cause != nil:
		return nil, extension.RefuseService("the agent is being interrupted")
	case pending:
		if len(c.waiting) >= followUpsMost {
			return nil, extension.RefuseService("too many messages wait for the agent")
		}
		c.waiting = append(c.waiting, p.Message)
		return result, nil
	case c.activeLocked():
		if c.queued >= followUpsMost {
			return nil, extension.RefuseService("too many messages wait for the agent")
		}
		if err := c.opened.Kernel.FollowUp(p.Message); err != nil {
			return nil, extension.RefuseService("the agent is about to end; ask again behind its end")
		}
		c.queued++
		return result, nil
	case c.booked:
		return nil, extension.RefuseService("the agent belongs to a run that is settled")
	case int64(t.activeLocked()) >= min(c.policy.MaxConcurrentChildren, featurewire.MaxAgentActive):
		return nil, extension.RefuseService("too many agents of the session are active")
	}
	if timeout, limited := c.policy.TimeoutMs.Get(); limited && !time.Now().Before(c.until) {
		c.until = time.Now().Add(time.Duration(timeout) * time.Millisecond)
	}
	c.startLocked(p.Message)
	result.Delivery = featurewire.AgentFollowUpDeliveryNewRun
	return result, nil
}

func (s *Service) list(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	if _, err := featurewire.DecodeAgentListParams(r.Params); err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.treeLocked(r)
	if err != nil {
		return nil, err
	}
	return t.snapshotLocked(), nil
}

func (s *Service) wait(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeAgentWaitParams(r.Params)
	if err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	timeout := min(max(p.TimeoutMs.Or(featurewire.AgentWaitDefaultMs), featurewire.MinAgentWaitMs), featurewire.MaxAgentWaitMs)
	r.Waits()
	end := time.NewTimer(time.Duration(timeout) * time.Millisecond)
	defer end.Stop()
	var before []*child // that were active at first
	for first := true; ; first = false {
		s.mu.Lock()
		t, err := s.treeLocked(r)
		if err != nil {
			s.mu.Unlock()
			return nil, err
		}
		settled := false
		for _, c := range t.agents {
			if first && c.activeLocked() {
				before = append(before, c)
			}
		}
		for _, c := range before {
			settled = settled || !c.activeLocked()
		}
		snapshot, changed := t.snapshotLocked(), t.changed
		s.mu.Unlock()
		if settled || len(before) == 0 {
			return featurewire.AgentWaitResult{Snapshot: snapshot}, nil
		}
		select {
		case <-changed:
		case <-end.C:
			return featurewire.AgentWaitResult{TimedOut: true, Snapshot: snapshot}, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (s *Service) interrupt(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeAgentInterruptParams(r.Params)
	if err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	t, err := s.activeTree(r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := t.targetLocked(p.Target)
	if err != nil {
		return nil, err
	}
	previous := c.status
	return featurewire.AgentInterruptResult{
		AgentID: c.id, AgentPath: c.path, PreviousStatus: previous, InterruptRequested: c.interruptLocked(errInterrupted),
	}, nil
}

func (s *Service) stop(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeAgentStopParams(r.Params)
	if err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.treeLocked(r)
	if err != nil {
		return nil, err
	}
	c, err := t.targetLocked(p.Target)
	if err != nil {
		return nil, err
	}
	c.shutDownLocked()
	return featurewire.AgentStopResult{AgentID: c.id, ShutdownRequested: true}, nil
}

func (s *Service) events(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeAgentEventsParams(r.Params)
	if err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	r.Waits()
	end := time.NewTimer(time.Duration(p.TimeoutMs.Or(0)) * time.Millisecond)
	defer end.Stop()
	for over := p.TimeoutMs.Or(0) == 0; ; {
		s.mu.Lock()
		t, err := s.treeLocked(r)
		var c *child
		if err == nil {
			c, err = t.targetLocked(p.Target)
		}
		if err != nil {
			s.mu.Unlock()
			return nil, err
		}
		list, more, err := c.log.behind(p.AfterSequence)
		result := featurewire.AgentEventsResult{
			AgentID: c.id, SessionID: wirejson.Some(c.opened.Session), Events: append([]featurewire.AgentEventEntry{}, list...),
			NextSequence: p.AfterSequence, HasMore: more, Status: c.status,
		}
		waits, changed := c.activeLocked(), t.changed
		s.mu.Unlock()
		switch {
		case err != nil:
			return nil, extension.RefuseService(err.Error())
		case len(list) > 0:
			result.NextSequence = list[len(list)-1].Sequence
			return result, nil
		case over || !waits:
			return result, nil
		}
		select {
		case <-changed:
		case <-end.C:
			over = true
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// snapshotLocked is the list of all children.
func (t *tree) snapshotLocked() featurewire.AgentListResult {
	result := featurewire.AgentListResult{
		Principal: t.key.principal, ResourceOwner: t.key.owner, PersistenceError: wirejson.Null[string](), Agents: []featurewire.AgentRecord{},
	}
	if t.fault != "" {
		result.PersistenceError = wirejson.Some(t.fault)
	}
	for _, c := range t.agents {
		if c.answer.AgentID != "" {
			result.Agents = append(result.Agents, c.recordLocked())
		}
	}
	return result
}

// sessionPrefix begins the reference to the session of a child.
const sessionPrefix = "agent-session:"

func (c *child) recordLocked() featurewire.AgentRecord {
	phase, _ := json.Marshal(c.phase)
	provenance, _ := json.Marshal(map[string]string{"principal": c.tree.key.principal})
	r := featurewire.AgentRecord{
		AgentID: c.id, AgentPath: c.path, ParentID: wirejson.Null[string](), TaskName: c.asked.TaskName, Profile: c.asked.Profile,
		IdempotencyKey: c.asked.IdempotencyKey, Fingerprint: c.asked.Fingerprint, Depth: featurewire.MaxAgentDepth,
		Session: sessionPrefix + c.opened.Session, Status: c.status, Policy: c.policy, CreatedAtMs: c.created.UnixMilli(),
		StartedAtMs: millis(c.started), CompletedAtMs: millis(c.ended), DeadlineAtMs: millis(c.until), TurnCount: c.turns, ToolCallCount: c.calls,
		Phase: wirejson.Some(json.RawMessage(phase)), RecentTools: []featurewire.AgentToolRun{}, Provenance: wirejson.Some(json.RawMessage(provenance)),
		Usage: featurewire.AgentUsage{
			InputTokens: wirejson.Some(c.usage.Input), CacheReadTokens: wirejson.Some(c.usage.CacheRead), CacheWriteTokens: wirejson.Some(c.usage.CacheWrite),
			OutputTokens: wirejson.Some(c.usage.Output), ReasoningTokens: wirejson.Some(c.usage.Reasoning),
		},
	}
	if c.tool != "" {
		r.ToolName = wirejson.Some(c.tool)
	}
	if cost := c.usage.CostMicrodollars; cost != nil {
		r.CostMicrodollars = wirejson.Some(*cost)
	}
	for _, run := range c.recent {
		r.RecentTools = append(r.RecentTools, *run)
	}
	return r
}
