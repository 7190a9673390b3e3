package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/hooks"
	"github.com/octet-dev/octet/host/service/lifecycle"
)

// observation is a conversation as extensions are told of it. It is used by the goroutine that emits the
// events of the conversation, and behind its last one.
type observation struct {
	session *lifecycle.Session
	turn    *lifecycle.Turn
	tools   map[string]*lifecycle.Tool // by call
	message *lifecycle.Message
	number  int
}

// opened tells extensions of a conversation.
func (s *services) opened(ctx context.Context, c *Conversation) {
	owner := c.session.Owner()
	o := &observation{session: s.lifecycle.Start(c.ID(), nil), tools: map[string]*lifecycle.Tool{}}
	s.mu.Lock()
	s.observed[c] = o
	s.mu.Unlock()
	s.board.Clear(owner)
	s.hooks.OwnerChanged()
	s.pairs.Activate(ctx, owner, s.engine.ready()...)
}

func (s *services) observation(c *Conversation) *observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.observed[c]
}

// settled tells extensions of the end of a conversation.
func (s *services) settled(c *Conversation, reason error) {
	o := s.observation(c)
	if o == nil {
		return
	}
	end := lifecycle.End{Outcome: featurewire.SettlementOutcomeCompleted}
	pair := hooks.End{Outcome: canonicalwire.SessionOutcomeCompleted, Reason: canonicalwire.SessionEndReasonShutdown}
	switch {
	case errors.Is(reason, errReread):
		pair.Reason = canonicalwire.SessionEndReasonReload
	case errors.Is(reason, agent.ErrShutdown):
		end = lifecycle.End{Outcome: featurewire.SettlementOutcomeShutdown, Reason: reason.Error()}
	}
	s.pairs.Settle(context.Background(), c.session.Owner(), pair)
	o.session.Settle(end)
	s.mu.Lock()
	delete(s.observed, c)
	s.mu.Unlock()
}

// observe tells extensions what a run does.
func (s *services) observe(c *Conversation, event agent.Event) {
	o := s.observation(c)
	if o == nil {
		return
	}
	switch event := event.(type) {
	case agent.RunStarted:
		o.turn = o.session.Turn(event.Run, event.Run)
	case agent.TextDelta:
		o.delta(event)
	case agent.AnswerDiscarded:
		o.answered()
	case agent.Message:
		o.answered()
	case agent.ToolStarted:
		if o.turn != nil {
			o.tools[event.CallID] = o.turn.Tool(event.CallID, event.Name)
		}
	case agent.ToolFinished:
		if t := o.tools[event.CallID]; t != nil {
			t.Settle(lifecycle.End{Outcome: outcomeOfTool(event.Status)})
			delete(o.tools, event.CallID)
		}
	case agent.RunSettled:
		o.answered()
		if o.turn != nil {
			o.turn.Settle(lifecycle.End{Outcome: outcomeOfRun(event.Status), Reason: event.Reason})
			o.turn = nil
		}
	default:
		s.plain(c, event)
	}
}

// delta tells of a piece of an answer.
func (o *observation) delta(event agent.TextDelta) {
	if o.message == nil {
		o.number++
		o.message = o.session.Message(fmt.Sprintf("%s:%d", event.Run, o.number))
	}
	o.message.Add(event.Text)
}

// answered tells that an answer is complete or void.
func (o *observation) answered() {
	if o.message != nil {
		o.message.Settle()
		o.message = nil
	}
}

func outcomeOfTool(status agent.ToolStatus) featurewire.SettlementOutcome {
	switch status {
	case agent.ToolCompleted:
		return featurewire.SettlementOutcomeCompleted
	case agent.ToolCancelled:
		return featurewire.SettlementOutcomeCancelled
	}
	return featurewire.SettlementOutcomeFailed
}

// outcomeOfRun is the word of the wire for the end of a run; the words are the same but for a denial, which
// has no run.
func outcomeOfRun(status agent.Status) featurewire.SettlementOutcome {
	if status == agent.Denied {
		return featurewire.SettlementOutcomeFailed
	}
	return featurewire.SettlementOutcome(status)
}
