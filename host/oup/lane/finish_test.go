package lane_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/oup/ledger"
)

// TestBook_finishesBehindTheLastEvent: a lane of a session that is gone tells what is left and ends; the session is not
// open there from the moment on.
func TestBook_finishesBehindTheLastEvent(t *testing.T) {
	s := newStage(t, ledger.Options{})
	c := s.connect()
	c.open(-1)
	c.want("answer", "session/open @1")
	lanes := <-c.lanes
	release, err := lanes.Hold(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	s.append(said(turn1, "one"), terminal(turn1))
	s.book.Finish(session, 3)
	if _, open := lanes.Position(session); open || lanes.Has(session) {
		t.Error("it is open while it ends")
	}
	s.append(said(turn2, "of another one"))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if lanes.Await(over, session) == nil {
		t.Error("nobody waits for it")
	}
	release()
	c.want("user_message 1 @2 one", "turn_terminal 2 @3 ")
	if err := lanes.Await(t.Context(), session); err != nil {
		t.Error(err)
	}
	c.open(-1)
	c.want("answer", "session/open @5")
	if err := lanes.Await(over, session); err != nil {
		t.Errorf("one that is open is waited for: %v", err)
	}
	s.book.Finish(session, 5) // behind what it has told
	if err := lanes.Await(t.Context(), session); err != nil {
		t.Error(err)
	}
	s.book.Finish("_main:local:none", 1)
}

// TestBook_finishesALaneThatIsLeftBehind: what is deleted before a client has read it is announced as lost, and the
// lane ends with that.
func TestBook_finishesALaneThatIsLeftBehind(t *testing.T) {
	s := newStage(t, ledger.Options{})
	s.frames = 4
	c := s.connect()
	c.open(-1)
	c.want("answer", "session/open @1")
	lanes := <-c.lanes
	last := int64(1)
	s.append(said(turn1, "one"))
	for last++; last < 1000; last++ {
		s.append(delta(turn1, "a"))
	}
	if err := s.ledger.Forget(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	s.book.Finish(session, last)
	lost := false
	for n := range 1000 {
		f := c.next()
		if lost = f.Params.Last != nil; lost {
			if f.Params.Dropped < 1 || strings.Contains(fmt.Sprint(f), "@") {
				t.Errorf("lost is %+v", f)
			}
			break
		}
		if n == 999 {
			t.Fatal("all of it is told")
		}
	}
	if err := lanes.Await(t.Context(), session); err != nil || lanes.Has(session) {
		t.Errorf("it is open: %v", err)
	}
}
