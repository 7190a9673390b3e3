package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/story"
	"github.com/octet-dev/octet/host/supervise"
)

// gather is how long pieces of an answer are gathered before they are stored together.
const gather = 25 * time.Millisecond

// show is told what the conversation does.
func (s *Session) show(e agent.Event) {
	t := s.current()
	if s.beside(t, e) {
		return
	}
	if t == nil {
		if news := s.compactions.Take(e); len(news) > 0 {
			_, err := s.o.Ledger.Append(context.Background(), news...)
			s.failed("a compaction is not told", err)
		}
		return
	}
	switch e := e.(type) {
	case agent.RunStarted:
		s.handOver(t)
	case agent.InputDelivered:
		if e.Kind == agent.KindSteer {
			s.taken(t, e.Text)
		}
	}
	t.telling.Lock()
	defer t.telling.Unlock()
	if m, ok := e.(agent.Message); ok && m.Message.Role == conversation.Assistant {
		t.answer = string(m.Entry)
	}
	if _, void := e.(agent.AnswerDiscarded); void && t.context.Err() != nil {
		t.teller.Keep()
	}
	news := t.teller.Take(e)
	if len(news) > 0 {
		s.store(t, news)
	}
	if t.teller.Waiting() && t.timer == nil {
		t.timer = time.AfterFunc(gather, func() {
			t.telling.Lock()
			defer t.telling.Unlock()
			t.timer = nil
			if rest := t.teller.Rest(); len(rest) > 0 {
				s.store(t, rest)
			}
		})
	}
}

// beside tells what belongs to no conversation, and reports whether the event is of that kind.
func (s *Session) beside(t *turn, e agent.Event) bool {
	running := ""
	if t != nil {
		running = t.id
	}
	var news ledger.Event
	switch e := e.(type) {
	case engine.Diagnosed:
		if e.Level != diagnostic.Warning && e.Level != diagnostic.Error {
			return true
		}
		news = story.Warning(s.o.Key, running, cmp.Or(e.Rule, "diagnostic"), strings.TrimSuffix(e.Message+"; "+e.Remedy, "; "))
	case engine.ExtensionChanged:
		if e.State != supervise.Parked && e.State != supervise.Degraded && e.State != supervise.Backoff {
			return true
		}
		news = story.Warning(s.o.Key, running, "extension_"+string(e.State), fmt.Sprintf("extension %q is %s: %s", e.Name, e.State, e.Reason))
	case engine.StatusShown, engine.Presented, engine.SessionOpened, engine.Rendered:
		return true
	case agent.Notified:
		if t != nil && e.Run != "" {
			return false // of the turn, in its order
		}
		news = story.Notice(s.o.Key, running, e.Notification)
	default:
		return false
	}
	_, err := s.o.Ledger.Append(context.Background(), news)
	s.failed("news of an extension are not told", err)
	return true
}

// store stores events of the turn. A turn whose events cannot be stored is stopped: nothing happens that nobody
// can be told of. The caller has the turn's telling.
func (s *Session) store(t *turn, events []ledger.Event) {
	if t.broken {
		return
	}
	if _, err := s.o.Ledger.Append(context.Background(), events...); err != nil {
		t.broken = true
		s.failed("the turn "+t.id+" is stopped, because what it does cannot be stored", err)
		t.stop(errUntold)
	}
}

// tellLast stores the last events of a turn, with what waits in front of them. Where that fails the ledger owes them:
// it tries again, and whoever has the session open is told meanwhile. If the process ends before, the next start tells
// the end.
func (s *Session) tellLast(t *turn, rest, last []ledger.Event) {
	t.telling.Lock()
	broken := t.broken
	t.broken = true // nothing is told behind the end
	t.telling.Unlock()
	if !broken {
		last = append(rest, last...)
	}
	_, err := s.o.Ledger.Append(context.Background(), last...)
	if err == nil {
		return
	}
	s.failed("the end of the turn "+t.id+" is not stored yet", err)
	if errors.As(err, new(*ledger.SubjectError)) {
		return // it has an end
	}
	s.o.Ledger.Owe(last...)
	if s.o.Spread != nil {
		s.o.Spread(s.o.Key, oupwire.MethodWarning, oupwire.WarningEvent{
			SessionID: s.o.Key, Topic: event.Topic(s.o.Key), TurnID: wirejson.Some(t.id), Code: codeUnstored,
			Message: "the turn is over, and its end cannot be stored yet; it is told as soon as it is: look after the disk of the server",
		})
	}
}

// codeUnstored is the code of the warning that something is told later.
const codeUnstored = "not_stored_yet"
