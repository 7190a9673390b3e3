package campaign

import (
	"os"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/sdk-go/oup"
)

// TestRestart_inTheMiddleOfATurn: a server that is asked to end says that it starts anew. The client waits for it, is
// told how the turn ended, and goes on in the same session.
func TestRestart_inTheMiddleOfATurn(t *testing.T) {
	on := newServer(t)
	client, err := oup.WebSocket(t.Context(), on.url(), oup.Options{Reconnect: oup.Backoff{First: 50 * time.Millisecond, Attempts: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	session, err := client.Open(t.Context(), "local:restart", oup.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	turn, err := session.Turn(t.Context(), "Tell a long story")
	if err != nil {
		t.Fatal(err)
	}
	var last oup.Event
	deltas := 0
	for ev, err := range turn.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Number > 0 && ev.Number != last.Number+1 {
			t.Errorf("number %d behind %d", ev.Number, last.Number)
		}
		if ev.Number > 0 {
			last = ev
		}
		if _, is := ev.Body.(oup.Delta); !is {
			continue
		}
		if deltas++; deltas == 1 {
			if err := on.restart(); err != nil {
				t.Fatal(err)
			}
		}
	}
	ended, is := last.Body.(oup.Ended)
	if !is || ended.Outcome == oupwire.TurnOutcomeCompleted {
		t.Errorf("the turn ends with %+v", last)
	}
	next, err := session.Turn(t.Context(), "Say something")
	if err != nil {
		t.Fatal(err)
	}
	result, err := next.Result(t.Context())
	if err != nil || result.Outcome != oupwire.TurnOutcomeCompleted || result.Text == "" {
		t.Errorf("the next turn: %+v, %v", result, err)
	}
	if session.Cursor().Seq <= last.Cursor.Seq {
		t.Errorf("the cursor is %+v behind %+v", session.Cursor(), last.Cursor)
	}
}

// restart asks the server to end, waits for it, and starts it again.
func (s *server) restart() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	<-s.heard
	if err := s.cmd.Wait(); err != nil {
		return err
	}
	return s.start()
}
