package methods_test

import (
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
)

// TestWaiting_answersMeanwhile: a turn that waits for leave keeps no other request of the connection waiting, however
// many there are, least of all the one that ends it.
func TestWaiting_answersMeanwhile(t *testing.T) {
	for name, connect := range both {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := connect(w).hello().open(sessionA)
			c.start(sessionA, 1, `call shell {"command":"echo made > made.txt"}`)
			c.notice(oupwire.MethodApprovalRequested)
			var asked []string
			for range 70 {
				asked = append(asked, c.send(oupwire.MethodSessionCompact, params{"session_id": sessionA}))
			}
			for _, id := range asked {
				if f := c.answer(id); f.kind() != "turn_in_progress" || f.Error.Code != oupwire.ErrInvalidRequest.Code || !strings.Contains(f.text, turnID(1)) {
					t.Fatalf("a pass beside a turn is answered %s", f.text)
				}
			}
			var aside oupwire.SessionBtwResult
			c.do(oupwire.MethodSessionBtw, params{"session_id": sessionA, "question": "what now"}, &aside)
			if !strings.Contains(aside.Answer, "heard") {
				t.Errorf("the aside is answered %+v", aside)
			}
			var stopped oupwire.TurnInterruptResult
			c.do(oupwire.MethodTurnInterrupt, params{"session_id": sessionA, "turn_id": turnID(1)}, &stopped)
			if outcome := c.terminal(1); outcome != "interrupted" || !stopped.Interrupted {
				t.Errorf("the turn %s, %+v", outcome, stopped)
			}
			c.do(oupwire.MethodSessionCompact, params{"session_id": sessionA}, nil)
		})
	}
}

// TestTurnIDs_inCapitals: a UUID is the same in capitals, so that S66 and OUP-TURN-007 hold for it too.
func TestTurnIDs_inCapitals(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello().open(sessionA)
	id := "018f0000-0000-7000-8000-abcdefabcdef"
	again := strings.ToUpper(id)
	start := func(id string) params {
		return params{"session_id": sessionA, "turn_id": id, "input": []any{params{"kind": "text", "text": "wait"}}}
	}
	c.do(oupwire.MethodTurnStart, start(id), nil)
	<-w.reached
	c.do(oupwire.MethodTurnStart, start(again), nil) // the same once more
	c.do(oupwire.MethodTurnSteer, params{"session_id": sessionA, "expected_turn_id": again, "input": []any{params{"kind": "text", "text": "and this"}}}, nil)
	var state oupwire.TurnStateGetResult
	c.do(oupwire.MethodTurnStateGet, params{"session_id": sessionA, "turn_id": again}, &state)
	if state.State != oupwire.TurnStateActive || state.ThreadID.Or("") != id {
		t.Errorf("the running turn stands so: %+v", state)
	}
	var stopped oupwire.TurnInterruptResult
	c.do(oupwire.MethodTurnInterrupt, params{"session_id": sessionA, "turn_id": again}, &stopped)
	if !stopped.Interrupted {
		t.Errorf("the running turn is answered %+v", stopped)
	}
	c.refused(oupwire.MethodTurnStart, start(again), -32600, "turn_id_in_use")
}
