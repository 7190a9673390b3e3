package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/service/agents"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// family lets extensions have child agents that work for an open conversation.
type family struct{ engine *Engine }

// Active reports whether the conversation is open.
func (f family) Active(owner string) bool { return f.engine.owned(owner) != nil }

// Ceilings are none: a person bounds a conversation by ending it.
func (family) Ceilings(string) agents.Ceilings { return agents.Ceilings{} }

// Models lists what can be asked for, as far as the registry of models can tell.
func (f family) Models(ctx context.Context, owner string) ([]model.Info, error) {
	if all, ok := f.engine.config.Models.(interface {
		Models(context.Context) []model.Info
	}); ok {
		return all.Models(ctx), nil
	}
	c := f.engine.owned(owner)
	if c == nil {
		return nil, ErrClosed
	}
	_, info, _ := c.Model()
	return []model.Info{info}, nil
}

// childTools are the host's tools behind the words of the wire.
var childTools = map[featurewire.AgentTool][]string{
	featurewire.AgentToolRead: {"read", "list"}, featurewire.AgentToolSearch: {"glob", "grep"}, featurewire.AgentToolEdit: {"edit"},
	featurewire.AgentToolWrite: {"write"}, featurewire.AgentToolBash: {"shell"},
}

// frozen is a set of tools that never changes.
type frozen struct{ tools tool.Snapshot }

// Snapshot returns it.
func (f frozen) Snapshot(context.Context) (tool.Snapshot, error) { return f.tools, nil }

// Open makes a session that works for the conversation, with nothing in it.
func (f family) Open(ctx context.Context, child agents.Child) (agents.Opened, error) {
	e := f.engine
	c := e.owned(child.Owner)
	if c == nil {
		return agents.Opened{}, ErrClosed
	}
	reference, reasoning, err := c.selected(ctx, child.Selection)
	if err != nil {
		return agents.Opened{}, err
	}
	provider, described, err := e.config.Models.Open(ctx, reference)
	if err != nil {
		return agents.Opened{}, errors.Join(agents.ErrModel, err)
	}
	if reasoning != "" && !slices.Contains(described.Reasoning, reasoning) {
		return agents.Opened{}, fmt.Errorf("%w: %s has no reasoning %q", agents.ErrModel, reference, reasoning)
	}
	var own []tool.Tool
	for _, word := range child.Tools {
		for _, name := range childTools[word] {
			if t := e.builtin.Find(name); t != nil {
				own = append(own, t)
			}
		}
	}
	snapshot, err := tool.Of(own...)
	if err != nil {
		return agents.Opened{}, err
	}
	info, err := e.config.Store.Create(ctx, session.New{Workspace: e.Workspace(), Name: child.Task, Model: reference, Parent: c.ID()})
	if err != nil {
		return agents.Opened{}, err
	}
	held, err := e.config.Store.Begin(ctx, info.ID)
	if err != nil {
		return agents.Opened{}, err
	}
	kernel, err := agent.New(agent.Options{
		Provider: provider, Model: described, Reasoning: reasoning, Tools: frozen{snapshot}, Session: held, Permission: e.gate(child.Owner, c.profile),
		Emit: child.Emit, System: system(e.Workspace()), Limits: child.Limits,
	})
	if err != nil {
		return agents.Opened{}, errors.Join(err, held.Close())
	}
	return agents.Opened{
		Kernel: kernel, Session: info.ID, Provider: provider.Name(), Model: described.Model, Reasoning: reasoning,
		Close: func() {
			if err := held.Close(); err != nil {
				e.failed("the session of a child agent is not closed", err)
			}
		},
	}, nil
}

// selected is the reference of the model and the reasoning that a child is to have.
func (c *Conversation) selected(ctx context.Context, s agents.Selection) (reference, reasoning string, err error) {
	provider, _, reasoning := c.Model()
	if s.Model == "" {
		info, err := c.Info(ctx)
		if err != nil {
			return "", "", err
		}
		reference = info.Model
	} else {
		if s.Provider != "" {
			provider = s.Provider
		}
		reference, reasoning = provider+":"+s.Model, ""
	}
	switch s.Reasoning {
	case "":
	case "off":
		reasoning = ""
	default:
		reasoning = s.Reasoning
	}
	return reference, reasoning, nil
}

// Book stores what a child has used with the conversation.
func (f family) Book(ctx context.Context, owner string, usage session.UsageRecord, uncertain bool) error {
	c := f.engine.owned(owner)
	if c == nil {
		return ErrClosed
	}
	batch := session.Batch{Usage: []session.UsageRecord{usage}}
	if uncertain {
		batch.Uncertainty = []session.Uncertainty{{
			Provider: usage.Provider, Model: usage.Model, Child: usage.Child, Reason: "a child agent has used more than was counted",
		}}
	}
	_, err := c.session.Commit(ctx, batch)
	return err
}
