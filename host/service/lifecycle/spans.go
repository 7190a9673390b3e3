package lifecycle

import (
	"slices"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/runtime/peer"
)

// Session is an observed session.
type Session struct {
	service *Service
	id      string
	span    span
	turns   []*Turn // under the mutex of the service; open ones
}

// Turn is an observed turn: the run that a prompt begins, with all its rounds of the model.
type Turn struct {
	session *Session
	id, run string
	span    span
	tools   []*Tool // under the mutex of the service; open ones
}

// Tool is an observed call of a tool.
type Tool struct {
	turn *Turn
	span span
}

// Start begins to observe a session, by the id that extensions are shown. Audible says which extensions
// hear of it; nil is all. Settle it.
func (s *Service) Start(id string, audible func(*extension.Extension) bool) *Session {
	session := &Session{service: s, id: id}
	session.span = span{
		methods: sessionMethods, started: featurewire.SessionStartedParams{SessionID: id}, begun: time.Now(), audible: audible,
		end: func(p featurewire.SessionSettledParams) peer.Value {
			p.SessionID = id
			return p
		},
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = append(s.sessions, session)
	s.startLocked(&session.span)
	return session
}

// Settle ends a session, and in front of it the turns that are still open, in the same way. Later ends
// count for nothing.
//
// Rule: EXT04-EVENT-011.
func (s *Session) Settle(e End) {
	s.service.mu.Lock()
	defer s.service.mu.Unlock()
	for _, t := range slices.Clone(s.turns) {
		t.settleLocked(e)
	}
	s.service.settleLocked(&s.span, e)
	s.service.sessions = slices.DeleteFunc(s.service.sessions, func(o *Session) bool { return o == s })
}

// Turn begins to observe a turn of a session. Turns of child agents are not observed: they begin none.
// Settle it.
func (s *Session) Turn(run, id string) *Turn {
	t := &Turn{session: s, id: id, run: run}
	t.span = span{
		methods: turnMethods, started: featurewire.TurnStartedParams{SessionID: s.id, RunID: run, TurnID: id},
		begun: time.Now(), audible: s.span.audible,
		end: func(p featurewire.SessionSettledParams) peer.Value {
			return featurewire.TurnSettledParams{
				SessionID: s.id, RunID: run, TurnID: id, Outcome: p.Outcome, DurationMs: p.DurationMs, Reason: p.Reason,
			}
		},
	}
	s.service.mu.Lock()
	defer s.service.mu.Unlock()
	if s.span.over {
		t.span.over = true
		return t
	}
	s.turns = append(s.turns, t)
	s.service.startLocked(&t.span)
	return t
}

// Settle ends a turn, and in front of it the tools that are still open. Later ends count for nothing.
func (t *Turn) Settle(e End) {
	t.session.service.mu.Lock()
	defer t.session.service.mu.Unlock()
	t.settleLocked(e)
}

func (t *Turn) settleLocked(e End) {
	for _, tool := range t.tools {
		t.session.service.settleLocked(&tool.span, e)
	}
	t.tools = nil
	t.session.service.settleLocked(&t.span, e)
	t.session.turns = slices.DeleteFunc(t.session.turns, func(o *Turn) bool { return o == t })
}

// Tool begins to observe a call of a tool. Settle it.
func (t *Turn) Tool(call, name string) *Tool {
	tool := &Tool{turn: t}
	session, run, id := t.session.id, t.run, t.id
	tool.span = span{
		methods: toolMethods,
		started: featurewire.ToolStartedParams{SessionID: session, RunID: run, TurnID: id, ToolCallID: call, ToolName: name},
		begun:   time.Now(), audible: t.span.audible,
		end: func(p featurewire.SessionSettledParams) peer.Value {
			return featurewire.ToolSettledParams{
				SessionID: session, RunID: run, TurnID: id, ToolCallID: call, ToolName: name,
				Outcome: p.Outcome, DurationMs: p.DurationMs, Reason: p.Reason,
			}
		},
	}
	service := t.session.service
	service.mu.Lock()
	defer service.mu.Unlock()
	if t.span.over {
		tool.span.over = true
		return tool
	}
	t.tools = append(t.tools, tool)
	service.startLocked(&tool.span)
	return tool
}

// Settle ends a call. Later ends count for nothing.
func (c *Tool) Settle(e End) {
	service := c.turn.session.service
	service.mu.Lock()
	defer service.mu.Unlock()
	service.settleLocked(&c.span, e)
	c.turn.tools = slices.DeleteFunc(c.turn.tools, func(o *Tool) bool { return o == c })
}

// eachLocked visits a session and what is open in it, from the outside.
func (s *Session) eachLocked(visit func(*span)) {
	visit(&s.span)
	for _, t := range s.turns {
		visit(&t.span)
		for _, tool := range t.tools {
			visit(&tool.span)
		}
	}
}

// eachInnerFirstLocked visits the same from the inside.
func (s *Session) eachInnerFirstLocked(visit func(*span)) {
	for _, t := range s.turns {
		for _, tool := range t.tools {
			visit(&tool.span)
		}
		visit(&t.span)
	}
	visit(&s.span)
}
