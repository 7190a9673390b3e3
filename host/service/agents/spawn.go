package agents

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/clip"
	"github.com/octet-dev/octet/runtime/peer"
)

// inherit stands for what the parent has.
const inherit = "inherit"

// treeLocked returns the tree of a request, and makes it if need be.
func (s *Service) treeLocked(r *extension.Incoming) (*tree, error) {
	switch {
	case s.closed:
		return nil, extension.RefuseService("child agents are not served any more")
	case r.Owner.IsZero():
		return nil, extension.RefuseService("no session owns the request")
	case r.Parent != nil && r.Parent.Method != featurewire.MethodToolCall && r.Parent.Method != featurewire.MethodCommandExecute:
		return nil, extension.RefuseService("only a tool call or a command may have child agents")
	}
	k := key{Principal(r.Extension), r.Owner.SessionID}
	t := s.trees[k]
	if t == nil {
		t = &tree{key: k, changed: make(chan struct{})}
		s.trees[k] = t
	}
	if t.retired {
		return nil, extension.RefuseService("the session is not served any more")
	}
	return t, nil
}

// activeTree is treeLocked for requests that need a root at work.
func (s *Service) activeTree(r *extension.Incoming) (*tree, error) {
	s.mu.Lock()
	t, err := s.treeLocked(r)
	s.mu.Unlock()
	if err == nil && !s.roots.Active(r.Owner.SessionID) {
		err = extension.RefuseService("the session that the agents work for is not active")
	}
	return t, err
}

func (s *Service) spawn(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeAgentSpawnParams(r.Params)
	if err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	selects := r.Extension.Has(featurewire.FeatureAgentModelSelectionV1)
	selection, err := selectionOf(p.Policy.ModelSelection, selects)
	if err != nil {
		return nil, err
	}
	t, err := s.activeTree(r)
	if err != nil {
		return nil, err
	}
	p.ParentRequestID, p.ResourceOwner, p.Unknown = 0, wirejson.Opt[featurewire.ResourceOwner]{}, nil
	ceilings := s.roots.Ceilings(t.key.owner)
	s.mu.Lock()
	c, err := s.admitLocked(t, p, ceilings)
	s.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case c.answer.AgentID != "":
		return c.answer, nil // it was asked before
	}
	opened, err := s.roots.Open(ctx, Child{
		Owner: t.key.owner, Task: p.TaskName, Tools: p.Policy.Tools, Selection: selection, Emit: c.observe,
		Limits: agent.Limits{
			Turns: int(c.policy.MaxTurns.Or(0)), Tokens: c.policy.MaxTokens.Or(0), CostMicrodollars: c.policy.MaxCostMicrodollars.Or(0),
		},
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.dropLocked(c)
		if ctx.Err() == nil && !errors.Is(err, ErrModel) {
			t.fault = clip.Text(err.Error(), faultMost)
		}
		return nil, extension.RefuseService(clip.Text("the agent cannot be opened: "+err.Error(), faultMost))
	}
	c.opened = opened
	c.answerLocked(selects)
	if s.closed || t.retired || c.cause != nil {
		c.status = featurewire.AgentInterrupted{} // it was ended while it was being opened
		c.shutDownLocked()
		return nil, extension.RefuseService("the session is not served any more")
	}
	c.startLocked(p.Message)
	return c.answer, nil
}

// selectionOf reads which model is asked for.
func selectionOf(o wirejson.Opt[featurewire.AgentModelSelection], negotiated bool) (Selection, error) {
	wanted, given := o.Get()
	switch {
	case !given:
		return Selection{}, nil
	case !negotiated:
		return Selection{}, extension.RefuseMalformed("policy.model_selection needs " + featurewire.FeatureAgentModelSelectionV1)
	}
	own := func(o wirejson.Opt[string]) string { return strings.TrimPrefix(o.Or(inherit), inherit) }
	selection := Selection{own(wanted.Provider), own(wanted.Model), own(wanted.Reasoning)}
	if selection.Provider != "" && selection.Model == "" {
		return Selection{}, extension.RefuseMalformed("policy.model_selection names a provider without a model")
	}
	return selection, nil
}

// admitLocked reserves a place for a child, or returns the one that the same request has made before.
func (s *Service) admitLocked(t *tree, p featurewire.AgentSpawnParams, ceilings Ceilings) (*child, error) {
	for _, c := range t.agents {
		if c.asked.IdempotencyKey != p.IdempotencyKey {
			continue
		}
		if string(c.asked.AppendJSON(nil)) != string(p.AppendJSON(nil)) || c.answer.AgentID == "" {
			return nil, extension.RefuseService("the idempotency key was used for another agent, or it is still being opened")
		}
		return c, nil
	}
	most := min(p.Policy.MaxConcurrentChildren, featurewire.MaxAgentActive)
	switch {
	case int64(t.activeLocked()) >= most:
		return nil, extension.RefuseService(fmt.Sprintf("the session has %d active agents already", most))
	case len(t.agents) >= featurewire.MaxAgentRecords:
		return nil, extension.RefuseService(fmt.Sprintf("the session has %d agents already", featurewire.MaxAgentRecords))
	}
	now := time.Now()
	c := &child{
		service: s, tree: t, id: "agent-" + rand.Text(), path: t.pathLocked(p.TaskName), asked: p, output: int(p.Policy.MaxOutputBytes),
		status: featurewire.AgentPending{}, created: now, phase: "pending", open: map[string]*featurewire.AgentToolRun{},
	}
	c.policy = effective(p.Policy, ceilings)
	if timeout, ok := c.policy.TimeoutMs.Get(); ok {
		c.until = now.Add(time.Duration(timeout) * time.Millisecond)
	}
	t.agents = append(t.agents, c)
	return c, nil
}

// pathLocked is the path of a child: its task, numbered where another one has it.
func (t *tree) pathLocked(task string) string {
	path := "/" + task
	for n := 2; t.findLocked(path) != nil; n++ {
		path = "/" + task + "." + strconv.Itoa(n)
	}
	return path
}

// dropLocked takes a child back that could not be opened.
func (s *Service) dropLocked(c *child) {
	for i, each := range c.tree.agents {
		if each == c {
			c.tree.agents = append(c.tree.agents[:i], c.tree.agents[i+1:]...)
			c.tree.changedLocked()
			return
		}
	}
}

// effective is the policy in force: a ceiling that is null is the parent's, and none is above it.
func effective(p featurewire.AgentPolicy, parent Ceilings) featurewire.AgentEffectivePolicy {
	ceiling := func(own wirejson.Opt[int64], parents int64) wirejson.Opt[int64] {
		limit, given := own.Get()
		switch {
		case given && parents > 0:
			return wirejson.Some(min(limit, parents))
		case given:
			return own
		case parents > 0:
			return wirejson.Some(parents)
		}
		return wirejson.Null[int64]()
	}
	return featurewire.AgentEffectivePolicy{
		Tools: p.Tools, MaxDepth: p.MaxDepth, MaxConcurrentChildren: p.MaxConcurrentChildren,
		MaxTurns: ceiling(p.MaxTurns, parent.Turns), MaxTokens: ceiling(p.MaxTokens, parent.Tokens),
		MaxCostMicrodollars: ceiling(p.MaxCostMicrodollars, parent.CostMicrodollars), MaxOutputBytes: p.MaxOutputBytes,
		TimeoutMs: ceiling(p.TimeoutMs, parent.Timeout.Milliseconds()), ModelSelection: p.ModelSelection,
	}
}

// answerLocked makes the answer to the request that began a child.
func (c *child) answerLocked(selects bool) {
	if selects {
		label := c.opened.Reasoning
		if label == "" {
			label = "off"
		}
		reasoning, _ := json.Marshal(map[string]string{"type": label})
		c.policy.ResolvedModel = wirejson.Some(featurewire.AgentResolvedModel{
			Provider: c.opened.Provider, Model: c.opened.Model, Reasoning: wirejson.Some(json.RawMessage(reasoning)),
		})
	}
	c.answer = featurewire.AgentSpawnResult{
		AgentID: c.id, AgentPath: c.path, TaskName: c.asked.TaskName, Profile: c.asked.Profile, Fingerprint: c.asked.Fingerprint,
		IdempotencyKey: c.asked.IdempotencyKey, Status: featurewire.AgentPending{}, Policy: c.policy, CreatedAtMs: c.created.UnixMilli(),
		StartedAtMs: millis(c.started), CompletedAtMs: millis(c.ended), DeadlineAtMs: millis(c.until),
		Principal: c.tree.key.principal, ResourceOwner: c.tree.key.owner, ResolvedModel: c.policy.ResolvedModel,
	}
}

// millis is a time on the wire, null for none.
func millis(t time.Time) wirejson.Opt[int64] {
	if t.IsZero() {
		return wirejson.Null[int64]()
	}
	return wirejson.Some(t.UnixMilli())
}
