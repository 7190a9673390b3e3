package oup

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
)

func TestTurn_streamsAndGathers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{Name: "test"})
		session := s.open(p, 5, OpenOptions{})
		made := s.start(p, session)
		events := s.read(made.Events(t.Context()))
		p.started()
		p.envelope(7, 1, "user_message", `{"text":"hello"}`)
		p.delta(8, 2, "Hel")
		p.delta(9, 3, "lo.")
		p.envelope(10, 4, "assistant_persisted", `{"text":"Hello.","assistant_segment_id":"s1","meta":{"message_id":"m","persisted_at":"2026-01-01T00:00:00Z"}}`)
		p.envelope(11, 5, "tool_start", `{"tool_call_id":"c1","name":"shell","arguments_preview":"{}"}`)
		p.envelope(12, 6, "tool_end", `{"tool_call_id":"c1","status":"complete","output_preview":"done"}`)
		p.envelope(13, 7, "assistant_delta", `{"text":"Bye.","assistant_segment_id":"s2"}`)
		p.terminal(14, 8)
		<-events.done
		want := "started; user hello; +Hel; +lo.; =Hello.; oupwire.ToolStartData; oupwire.ToolEndData; +Bye.; end completed"
		if events.text() != want || events.err != nil {
			t.Errorf("got  %s, %v\nwant %s", events.text(), events.err, want)
		}
		result, err := made.Result(t.Context())
		if err != nil || result.Text != "Hello.\n\nBye." || result.Outcome != oupwire.TurnOutcomeCompleted || result.Usage.InputTokens.Or(0) != 3 {
			t.Errorf("result %+v, %v", result, err)
		}
		if len(result.Tools) != 1 || result.Tools[0] != (ToolCall{ID: "c1", Name: "shell", Arguments: "{}", Status: "complete", Output: "done"}) {
			t.Errorf("tools %+v", result.Tools)
		}
		if at := session.Cursor(); at.Seq != 14 || at.Stream != key {
			t.Errorf("the cursor is %+v", at)
		}
	})
}

// TestCursor_followsWhatWasGiven: events that wait for their reader are not behind the cursor.
func TestCursor_followsWhatWasGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{})
		session := s.open(p, 5, OpenOptions{})
		made := s.start(p, session)
		p.started()
		p.envelope(7, 1, "user_message", `{"text":"hello"}`)
		p.delta(8, 2, "a")
		p.terminal(9, 3)
		synctest.Wait()
		if at := session.Cursor().Seq; at != 5 {
			t.Errorf("the cursor is %d before anything was read", at)
		}
		want := []int64{5, 7, 8, 9}
		for ev, err := range made.Events(t.Context()) {
			synctest.Wait()
			if at := session.Cursor().Seq; err != nil || at != want[0] {
				t.Errorf("%s: the cursor is %d, want %d (%v)", told(ev), at, want[0], err)
			}
			want = want[1:]
		}
		if len(want) != 0 {
			t.Errorf("missing %v", want)
		}
	})
}

func TestTurn_leftEarlyRunsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{})
		session := s.open(p, 1, OpenOptions{})
		made := s.start(p, session)
		go func() {
			p.started()
			p.envelope(3, 1, "user_message", `{"text":"hello"}`)
			p.delta(4, 2, "all of it")
			p.terminal(5, 3)
		}()
		for range made.Events(t.Context()) {
			break
		}
		result, err := made.Result(t.Context())
		if err != nil || result.Text != "all of it" {
			t.Errorf("result %+v, %v", result, err)
		}
		for _, err := range made.Events(t.Context()) {
			if err == nil {
				t.Error("a stream that was left gives events again")
			}
		}
		if session.Cursor().Seq != 5 {
			t.Errorf("the cursor is %+v", session.Cursor())
		}
	})
}

func TestTurn_endedContextLeavesTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{})
		made := s.start(p, s.open(p, 1, OpenOptions{}))
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		for _, err := range made.Events(ctx) {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		}
		if _, err := made.Result(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("result: %v", err)
		}
		p.started()
		p.terminal(3, 1)
		if result, err := made.Result(t.Context()); err != nil || result.Outcome != oupwire.TurnOutcomeCompleted {
			t.Errorf("result %+v, %v", result, err)
		}
	})
}

func TestTurn_steersAndInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{})
		made := s.start(p, s.open(p, 1, OpenOptions{}))
		go func() {
			p.answer(p.request(oupwire.MethodTurnSteer), `{"turn_id":"`+turn+`","steered":true}`)
			p.answer(p.request(oupwire.MethodTurnInterrupt), `{"interrupted":true}`)
		}()
		if steered, err := made.Steer(t.Context(), "more"); err != nil || !steered.Steered {
			t.Errorf("%+v, %v", steered, err)
		}
		if stopped, err := made.Interrupt(t.Context()); err != nil || !stopped.Interrupted {
			t.Errorf("%+v, %v", stopped, err)
		}
	})
}

// TestEvents_ofTheSession: what no Turn of the client streams goes to Session.Events, which may wait for it.
func TestEvents_ofTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{})
		session := s.open(p, 1, OpenOptions{Listen: true})
		p.started()
		p.envelope(3, 1, "user_message", `{"text":"of somebody else"}`)
		synctest.Wait()
		if at := session.Cursor().Seq; at != 0 {
			t.Errorf("the cursor is %d before anything was read", at)
		}
		var got []string
		for ev, err := range session.Events(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range session.Events(t.Context()) {
				if err == nil {
					t.Error("two readers of one session")
				}
			}
			if got = append(got, told(ev)); len(got) == 2 {
				break
			}
		}
		events := s.read(session.Events(t.Context()))
		p.terminal(4, 2)
		synctest.Wait()
		if events.text() != "user of somebody else; end completed" || got[0] != "opened 1" || got[1] != "started" {
			t.Errorf("first %q, then %s", got, events.text())
		}
		session.Close()
		<-events.done
		if !errors.Is(events.err, ErrClosed) {
			t.Errorf("the end: %v", events.err)
		}
	})
}

func TestNewID(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	before := ""
	for range 1000 {
		id := newID()
		if !form.MatchString(id) || seen[id] || id[:13] < before {
			t.Fatalf("%s is no new UUID of version 7", id)
		}
		seen[id], before = true, id[:13]
	}
}
