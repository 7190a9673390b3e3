package engine

import (
	"context"
	"encoding/json"
	"strconv"
	"sync/atomic"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/service/dialog"
)

// news are the members of an observation that the wire leaves to the host.
type news map[string]any

// tell sends an observation of lifecycle_events_v2 about a conversation. Nothing depends on it: what is wrong
// with it is diagnosed where it would have been heard.
func (s *services) tell(c *Conversation, method string, members news) {
	o := s.observation(c)
	if o == nil {
		return
	}
	members["session_id"] = c.ID()
	params, err := json.Marshal(members)
	if err == nil {
		_ = o.session.Tell(method, params)
	}
}

// plain tells of what is no turn, tool or message.
//
// Rules: EXT04-EVENT-013, EXT04-EVENT-021.
func (s *services) plain(c *Conversation, event agent.Event) {
	switch event := event.(type) {
	case agent.CompactionStarted:
		s.tell(c, featurewire.MethodCompactionStarted, ran(event.At, news{
			"trigger": event.Trigger, "tokens_before": event.TokensBefore, "entries": event.Entries,
		}))
	case agent.CompactionSettled:
		s.tell(c, featurewire.MethodCompactionSettled, ran(event.At, news{
			"trigger": event.Trigger, "entry_id": event.Entry, "first_kept": event.FirstKept, "tokens_before": event.TokensBefore,
		}))
	case agent.CompactionFailed:
		s.tell(c, featurewire.MethodCompactionFailed, ran(event.At, news{"trigger": event.Trigger, "reason": event.Reason}))
	case agent.ModelChanged:
		s.tell(c, featurewire.MethodModelSelected, news{"provider": event.Provider, "model": event.Model})
		if _, _, before := c.Model(); before != event.Reasoning {
			s.tell(c, featurewire.MethodReasoningSelected, news{"reasoning": event.Reasoning})
		}
	}
}

// ran adds the run, where there is one.
func ran(at agent.At, members news) news {
	if at.Run != "" {
		members["run_id"] = at.Run
	}
	return members
}

// asking is the frontend as everybody asks it: extensions hear that a dialog begins and ends, and nothing of
// what is asked or answered.
type asking struct {
	Frontend
	engine *Engine
	number *atomic.Int64
}

// person is who answers.
func (e *Engine) person() asking { return asking{e.config.Frontend, e, &e.dialogs} }

// of is the frontend of the conversation that has an owner, that of the engine where there is none.
func (a asking) of(owner string) Frontend {
	if c := a.engine.owned(owner); c != nil {
		return c.frontend
	}
	return a.Frontend
}

// begin tells of a dialog and returns what tells of its end. Nobody hears of one that belongs to no open
// conversation.
func (a asking) begin(owner, kind, asker string) func(error) {
	c := a.engine.owned(owner)
	if c == nil {
		return func(error) {}
	}
	id := strconv.FormatInt(a.number.Add(1), 10)
	members := func() news { return news{"dialog_id": id, "kind": kind, "asker": asker} }
	a.engine.services.tell(c, featurewire.MethodDialogStarted, members())
	return func(err error) {
		settled := members()
		settled["outcome"] = featurewire.SettlementOutcomeCompleted
		if err != nil {
			settled["outcome"] = featurewire.SettlementOutcomeCancelled
		}
		a.engine.services.tell(c, featurewire.MethodDialogSettled, settled)
	}
}

// Confirm asks a question of an extension.
func (a asking) Confirm(ctx context.Context, q dialog.Question) (yes bool, err error) {
	end := a.begin(q.Owner.SessionID, "confirmation", q.Extension)
	defer func() { end(err) }()
	return a.of(q.Owner.SessionID).Confirm(ctx, q)
}

// Input asks for a text on behalf of an extension.
func (a asking) Input(ctx context.Context, i dialog.Input) (text string, given bool, err error) {
	end := a.begin(i.Owner.SessionID, "input", i.Extension)
	defer func() { end(err) }()
	return a.of(i.Owner.SessionID).Input(ctx, i)
}

// approver asks for leave on behalf of one conversation.
type approver struct {
	asking
	owner string
}

// Ask asks whether a call may run.
func (a approver) Ask(ctx context.Context, q permission.Question) (answer permission.Answer, err error) {
	end := a.begin(a.owner, "approval", q.Tool.Name)
	defer func() { end(err) }()
	return a.of(a.owner).Ask(ctx, q)
}
