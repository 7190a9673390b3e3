package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// EXT04-AGENT-042
func TestInactiveRoot(t *testing.T) {
	play(t, func(s *stage) {
		id, _ := s.child("k", "")
		s.roots.inactive = true
		s.ask(list, "").OK(t, "")
		s.ask(wait, `"timeout_ms":1`).OK(t, "")
		s.ask(spawn, order("l", "task", "")).Refused(t, refused, "")
		for _, method := range []string{message, followUp} {
			s.ask(method, target(id)+`,"message":"x"`).Refused(t, refused, "")
		}
		s.ask(interrupt, target(id)).Refused(t, refused, "")
		s.wantState(id, `{"state":"running"}`)
	})
}

// EXT04-AGENT-043
func TestSettleRoot(t *testing.T) {
	play(t, func(s *stage) {
		done, k := s.child("done", "")
		k.end <- agent.Outcome{Status: agent.Completed, Usage: conversation.Usage{Input: 5}}
		doubtful, k := s.child("doubtful", "")
		k.end <- agent.Outcome{Status: agent.Completed, Usage: conversation.Usage{Input: 6}, Uncertain: true}
		running, _ := s.child("running", "")
		s.roots.err = errors.New("disk full")
		if err := s.service.SettleRoot(context.Background(), "session-1"); err == nil {
			t.Error("usage that is not booked is no error")
		}
		s.roots.err = nil
		for range 2 { // and nothing is booked twice
			if err := s.service.SettleRoot(context.Background(), "session-1"); err != nil {
				t.Error(err)
			}
		}
		want := []string{
			"session-1 delegated_agent child-1 5 false", "session-1 delegated_agent child-2 6 true", "session-1 delegated_agent child-3 0 false",
		}
		if got := strings.Join(s.roots.booked, "\n"); got != strings.Join(want, "\n") {
			t.Errorf("booked\n%s\nwant\n%s", got, strings.Join(want, "\n"))
		}
		s.wantState(running, `{"state":"interrupted"}`)
		s.ask(followUp, target(done)+`,"message":"x"`).Refused(t, refused, "")
		s.service.BeginRun("session-1")
		if s.record(done) != nil || s.record(doubtful) != nil {
			t.Error("children of a former run are listed")
		}
	})
}

// A child that is not booked, or still active, belongs to the next run as well.
func TestBeginRun_keepsWhatIsOpen(t *testing.T) {
	play(t, func(s *stage) {
		unbooked, k := s.child("unbooked", "")
		k.end <- agent.Outcome{Status: agent.Completed}
		active, _ := s.child("active", "")
		s.service.BeginRun("session-1")
		s.wantState(unbooked, `{"output":"","state":"completed"}`)
		s.wantState(active, `{"state":"running"}`)
		if k.closed {
			t.Error("its session is closed")
		}
		s.service.mu.Lock()
		s.service.trees[key{Principal(s.X), "session-1"}].agents[1].booked = true
		s.service.mu.Unlock()
		s.service.BeginRun("session-1")
		s.wantState(active, `{"state":"running"}`)
	})
}

// stubborn is a kernel that does not end when it is told to.
type stubborn struct{ *kernel }

func (k stubborn) Run(context.Context, agent.Prompt) (agent.Outcome, error) { return <-k.end, nil }

// EXT04-AGENT-043: briefly.
func TestSettleRoot_doesNotWaitForEver(t *testing.T) {
	play(t, func(s *stage) {
		id, _ := s.child("k", "")
		k := stubborn{&kernel{end: make(chan agent.Outcome)}}
		s.service.mu.Lock()
		c := s.service.trees[key{Principal(s.X), "session-1"}].agents[0]
		s.service.mu.Unlock()
		s.ask(interrupt, target(id)).OK(t, "")
		synctest.Wait()
		s.service.mu.Lock()
		c.opened.Kernel = k
		c.startLocked("x")
		s.service.mu.Unlock()
		start := time.Now()
		if err := s.service.SettleRoot(context.Background(), "session-1"); err != nil || time.Since(start) != joinBriefly {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		if got := s.roots.booked; len(got) != 1 || !strings.HasSuffix(got[0], " true") {
			t.Errorf("booked %q, want it uncertain", got)
		}
		k.end <- agent.Outcome{Status: agent.Completed}
	})
}

// EXT04-AGENT-014
func TestTrees_outliveTheProcess(t *testing.T) {
	playAs(t, extensiontest.Setup{}, func(s *stage) {
		var id string
		s.during(func() { id, _ = s.child("k", "") })
		first := s.X
		first.Close()
		if Principal(first) == "" || !strings.HasPrefix(Principal(first), subagents+"@") {
			t.Errorf("principal %q", Principal(first))
		}
		synctest.Wait()
		s.service.mu.Lock()
		trees := s.service.trees
		if len(trees) != 1 || !trees[key{Principal(first), "session-1"}].agents[0].activeLocked() {
			t.Errorf("behind the end of the process: %v", trees)
		}
		// The harness writes every manifest to a directory of its own, so the next process is told to be the same.
		source := first.Source()
		s.service.mu.Unlock()
		s.start(extensiontest.Setup{Options: extension.Options{Generation: 1}})
		*s.X.Source().Folder = *source.Folder
		s.during(func() { s.wantState(id, `{"state":"running"}`) })
		s.start(extensiontest.Setup{})
		s.during(func() {
			if s.record(id) != nil {
				t.Error("another extension of that name has the tree")
			}
		})
	})
}

// EXT04-AGENT-044
func TestShutDown(t *testing.T) {
	play(t, func(s *stage) {
		id, k := s.child("k", "")
		idle, other := s.child("l", "")
		other.end <- agent.Outcome{Status: agent.Completed}
		synctest.Wait()
		s.service.ShutDown(s.X)
		s.wantState(id, `{"state":"shutdown"}`)
		s.wantState(idle, `{"state":"shutdown"}`)
		if !k.closed || !other.closed {
			t.Error("their sessions are open")
		}
		s.service.ShutDown(s.X)
		synctest.Wait()
		if k.closes != 1 || other.closes != 1 {
			t.Errorf("their sessions were closed %d and %d times", k.closes, other.closes)
		}
		s.ask(followUp, target(idle)+`,"message":"x"`).Refused(t, refused, "")
		s.ask(spawn, order("m", "task", "")).OK(t, "")
	})
}

// EXT04-AGENT-045, EXT04-AGENT-046
func TestLifetime_owners(t *testing.T) {
	playAs(t, extensiontest.Setup{}, func(s *stage) {
		owner := func(session string) string { return `,"resource_owner":` + s.Owner(session) }
		var id string
		s.during(func() {
			s.DuringCommand(extension.Execution{Scope: extension.Scope{Owner: "session-2"}}, func(int64) {}) // session-2 is issued
			s.owned = owner("session-1")
			id, _ = s.child("k", "")
			s.owned = owner("session-2")
			s.ask(list, "").Refused(t, refused, "")
		})
		s.owned = owner("session-1")
		s.wantState(id, `{"state":"running"}`)
		s.ask(stop, target(id)).OK(t, "")
		s.owned = owner("session-3")
		s.ask(list, "").Refused(t, refused, "")
		s.owned = ""
		s.ask(list, "").Refused(t, refused, "")

		ctx, cancel := context.WithCancel(context.Background())
		s.Serve(featurewire.MethodToolCall, func(parent int64, _ json.RawMessage) (any, error) {
			s.parent = parent
			cancel()
			synctest.Wait()
			s.owned = owner("session-1")
			s.ask(list, "").Refused(t, refused, "")
			return nil, &extensiontest.RefuseError{Code: featurewire.CodeRequestCancelled, Message: "request cancelled"}
		})
		_, _ = s.X.Call(ctx, extension.Request{Tool: "work", Scope: extension.Scope{Owner: "session-1"}})
		s.ask(list, "").Refused(t, refused, "")
		time.Sleep(featurewire.TombstoneMs * time.Millisecond)
		s.ask(list, "").OK(t, "")
	})
}

// EXT04-AGENT-047
func TestRetireOwner(t *testing.T) {
	play(t, func(s *stage) {
		id, k := s.child("k", "")
		s.DuringCommand(extension.Execution{Scope: extension.Scope{Owner: "session-2"}}, func(parent int64) {
			mine := s.parent
			s.parent = parent
			s.child("theirs", "")
			s.parent = mine
			waits := s.Send(wait, s.params(""))
			looks := s.Send(events, s.params(target(id)+`,"after_sequence":0,"timeout_ms":25000`))
			synctest.Wait()
			start := time.Now()
			s.service.RetireOwner("session-1")
			waits.Wait().Refused(t, refused, "")
			looks.Wait().Refused(t, refused, "")
			if time.Since(start) != 0 {
				t.Error("who waits goes on waiting")
			}
			for method, members := range map[string]string{spawn: order("l", "task", ""), list: "", stop: target(id), events: target(id) + `,"after_sequence":0`} {
				s.ask(method, members).Refused(t, refused, "")
			}
			synctest.Wait()
			if !k.closed {
				t.Error("its child goes on")
			}
			s.service.AdmitOwner("session-2") // which was not retired
			s.service.AdmitOwner("session-1")
			if got := s.ask(list, ""); !strings.Contains(string(got.Result), `"agents":[]`) {
				t.Errorf("served again: %+v", got)
			}
			s.parent = parent
			if got := s.ask(list, ""); !strings.Contains(string(got.Result), `{"state":"running"}`) {
				t.Errorf("another session: %s", got.Result)
			}
		})
	})
}

// EXT04-AGENT-048
func TestStop_isNoSettlement(t *testing.T) {
	play(t, func(s *stage) {
		id, _ := s.child("k", "")
		k := stubborn{&kernel{end: make(chan agent.Outcome)}}
		s.ask(interrupt, target(id)).OK(t, "")
		synctest.Wait()
		s.service.mu.Lock()
		c := s.service.trees[key{Principal(s.X), "session-1"}].agents[0]
		c.opened.Kernel = k
		c.startLocked("x")
		s.service.mu.Unlock()
		synctest.Wait()
		s.ask(stop, target(id)).OK(t, `{"agent_id":"`+id+`","shutdown_requested":true}`)
		s.wantState(id, `{"state":"running"}`)
		k.end <- agent.Outcome{Status: agent.Completed}
		s.wantState(id, `{"state":"shutdown"}`)
		s.ask(stop, target("nobody")).Refused(t, refused, "")
	})
}

// page is an answer of agent/events.
type page struct {
	SessionID    string `json:"session_id"`
	Events       []featurewire.AgentEventEntry
	NextSequence int64           `json:"next_sequence"`
	HasMore      bool            `json:"has_more"`
	Status       json.RawMessage `json:"status"`
}

func (s *stage) events(id string, after int64, more string) (p page) {
	s.t.Helper()
	a := s.ask(events, fmt.Sprintf(`%s,"after_sequence":%d%s`, target(id), after, more))
	a.Decode(s.t, &p)
	return p
}

// EXT04-AGENT-049, EXT04-AGENT-050
func TestEvents(t *testing.T) {
	play(t, func(s *stage) {
		id, k := s.child("k", "")
		s.ask(events, target(id)+`,"after_sequence":0`).OK(t, `{"agent_id":"`+id+`","session_id":"child-1","events":[],"next_sequence":0,"has_more":false,"status":{"state":"running"}}`)
		for _, e := range []agent.Event{
			agent.RunStarted{},
			agent.TurnStarted{},
			agent.TextDelta{Text: "a"},
			agent.ReasoningDelta{Text: "hidden"},
			agent.AnswerDiscarded{},
			agent.ToolStarted{CallID: "c", Name: "read"},
			agent.ToolFinished{CallID: "c", Name: "read", Status: agent.ToolCompleted},
			agent.TurnFinished{Calls: 1},
			agent.RunSettled{Outcome: agent.Outcome{Status: agent.Completed}},
		} {
			k.child.Emit(e)
		}
		want := `"events":[
			{"sequence":1,"event":{"turn":0,"type":"model_turn_started"}},{"sequence":2,"event":{"text":"a","turn":0,"type":"output_delta"}},
			{"sequence":3,"event":{"turn":0,"type":"output_discarded"}},{"sequence":4,"event":{"call_id":"c","name":"read","turn":0,"type":"tool_started"}},
			{"sequence":5,"event":{"call_id":"c","name":"read","status":"completed","turn":0,"type":"tool_finished"}},
			{"sequence":6,"event":{"calls":1,"turn":0,"type":"model_turn_finished"}},{"sequence":7,"event":{"status":"completed","type":"run_finished"}}],`
		for range 2 {
			s.ask(events, target(id)+`,"after_sequence":0`).OK(t, `{"agent_id":"`+id+`","session_id":"child-1",`+want+`"next_sequence":7,"has_more":false,"status":{"state":"running"}}`)
		}
		if p := s.events(id, 5, ""); len(p.Events) != 2 || p.Events[0].Sequence != 6 || p.NextSequence != 7 {
			t.Errorf("behind 5: %+v", p)
		}
	})
}

// EXT04-AGENT-051, EXT04-AGENT-052
func TestEvents_cursorsAndTime(t *testing.T) {
	play(t, func(s *stage) {
		id, k := s.child("k", "")
		for _, bad := range []string{``, `,"after_sequence":-1`, `,"after_sequence":null`, `,"after_sequence":0,"timeout_ms":25001`, `,"after_sequence":0,"timeout_ms":-1`} {
			s.ask(events, target(id)+bad).Refused(t, malformed, "")
		}
		s.ask(events, target(id)+`,"after_sequence":1`).Refused(t, refused, errAhead.Error())
		s.ask(events, target("nobody")+`,"after_sequence":0`).Refused(t, refused, "")
		start := time.Now()
		if p := s.events(id, 0, `,"timeout_ms":25000`); len(p.Events) != 0 || time.Since(start) != 25*time.Second {
			t.Errorf("%+v after %s", p, time.Since(start))
		}
		go func() {
			time.Sleep(time.Second)
			k.child.Emit(agent.TurnStarted{})
		}()
		start = time.Now()
		if p := s.events(id, 0, `,"timeout_ms":25000`); len(p.Events) != 1 || time.Since(start) != time.Second {
			t.Errorf("%+v after %s", p, time.Since(start))
		}
		k.end <- agent.Outcome{Status: agent.Completed}
		synctest.Wait()
		start = time.Now()
		if p := s.events(id, 1, `,"timeout_ms":25000`); time.Since(start) != 0 || string(p.Status) != `{"output":"","state":"completed"}` {
			t.Errorf("%+v after %s, with nothing to come", p, time.Since(start))
		}
	})
}

// EXT04-AGENT-053, EXT04-AGENT-051
func TestEvents_bounds(t *testing.T) {
	play(t, func(s *stage) {
		id, k := s.child("k", "")
		for range featurewire.MaxAgentLogRecords + 1 {
			k.child.Emit(agent.TurnStarted{})
		}
		s.ask(events, target(id)+`,"after_sequence":0`).Refused(t, refused, errExpired.Error())
		p := s.events(id, 1, "")
		if len(p.Events) != featurewire.MaxAgentEvents || !p.HasMore || p.NextSequence != 257 {
			t.Errorf("%d events, more %v, next %d", len(p.Events), p.HasMore, p.NextSequence)
		}
		seen := int64(1)
		for p.HasMore {
			for _, e := range p.Events {
				if seen++; e.Sequence != seen {
					t.Fatalf("sequence %d behind %d", e.Sequence, seen-1)
				}
			}
			p = s.events(id, p.NextSequence, "")
		}
		if p.NextSequence != featurewire.MaxAgentLogRecords+1 {
			t.Errorf("ends at %d", p.NextSequence)
		}
		around := len(`{"text":"","turn":0,"type":"output_delta"}`)
		k.child.Emit(agent.TextDelta{Text: long(featurewire.MaxAgentEventBytes - around)})
		k.child.Emit(agent.TextDelta{Text: long(featurewire.MaxAgentEventBytes - around + 1)})
		p = s.events(id, p.NextSequence, "")
		if len(p.Events) != 2 || len(p.Events[0].Event) != featurewire.MaxAgentEventBytes || string(p.Events[1].Event) != `{"event":"output_delta","type":"observation_error"}` {
			t.Errorf("%d events", len(p.Events))
		}
		from := p.NextSequence
		for range 9 {
			k.child.Emit(agent.TextDelta{Text: long(featurewire.MaxAgentEventBytes - around)})
		}
		s.ask(events, fmt.Sprintf(`%s,"after_sequence":%d`, target(id), from)).Refused(t, refused, errExpired.Error())
		p = s.events(id, from+1, "")
		if len(p.Events) != 1 || !p.HasMore { // two of them with what is around are over 512 KiB
			t.Errorf("%d events in one answer", len(p.Events))
		}
		s.service.mu.Lock()
		defer s.service.mu.Unlock()
		if kept := s.service.trees[key{Principal(s.X), "session-1"}].agents[0].log.bytes; kept > featurewire.MaxAgentLogBytes {
			t.Errorf("%d bytes are kept", kept)
		}
	})
}

// A session that ends while a child is being opened has no child then.
func TestSpawn_retiredMeanwhile(t *testing.T) {
	play(t, func(s *stage) {
		s.roots.opening = make(chan struct{})
		p := s.Send(spawn, s.params(order("k", "task", "")))
		synctest.Wait()
		s.ask(spawn, order("k", "task", "")).Refused(t, refused, "")
		s.service.RetireOwner("session-1")
		close(s.roots.opening)
		p.Wait().Refused(t, refused, "")
		synctest.Wait()
		if k := s.roots.kernels[0]; len(k.prompts) != 0 || !k.closed {
			t.Errorf("it was told %q and is closed: %v", k.prompts, k.closed)
		}
	})
}

func TestClose(t *testing.T) {
	play(t, func(s *stage) {
		_, k := s.child("k", "")
		s.service.Close()
		if !k.closed {
			t.Error("a child goes on")
		}
		s.ask(list, "").Refused(t, refused, "")
	})
}
