// Package story says what a turn is told as: events of the kernel go in, events of the ledger come out. It keeps
// no time of its own, starts nothing and writes nothing.
//
// Sheet: OUP core 8, 13.2, 13.6; settled S52, S65, S67, S75.
package story

import (
	"strconv"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/tool"
)

// World is what a teller asks about things outside of the turn. Nil functions mean that nothing is known.
type World struct {
	Now func() time.Time
	// Size is how many bytes a file of the workspace has, 0 where that cannot be told.
	Size func(path string) int64
	// Preview keeps what a call has changed and returns the id of the preview, empty for none.
	Preview func(call string, change tool.Change) string
	// Context says what the model is shown, for the news of compactions.
	Context func() oupwire.ContextState
	// Threshold is the number of tokens from which a conversation is shortened by itself.
	Threshold func() int64
}

// Teller tells one turn. Whoever uses it takes care that one goroutine does at a time.
type Teller struct {
	session string
	turn    string
	world   World

	segment int    // the one that is being said, from 1
	said    bool   // a piece of it was handed out
	text    []byte // what it says so far, as much as a frame can hold and a little more
	keep    bool   // it is not taken back any more
	pieces  []piece
	bytes   int
	calls   map[string]bool // that were started and have not ended
	compact compaction
}

// piece is what was said and not handed out yet.
type piece struct {
	reasoning bool
	segment   int
	text      string
}

// Batch is how many bytes of deltas are handed out at once, at the latest.
const Batch = 16 << 10

// most bounds the text of one delta: with every character escaped it still fits into a frame.
const most = 64 << 10

// New makes the teller of a turn.
func New(session, turn string, world World) *Teller {
	if world.Now == nil {
		world.Now = time.Now
	}
	return &Teller{session: session, turn: turn, world: world, segment: 1, calls: map[string]bool{}}
}

// Begun are the first events of a turn: that it started, and what the user said.
//
// Rules: OUP-TURN-002, OUP-STREAM-003, OUP-STREAM-005, OUP-STREAM-006.
func (t *Teller) Begun(text, clientMessageID string, files []oupwire.FileRef) []ledger.Event {
	started := oupwire.TurnStartedEvent{
		SessionID: t.session, Topic: event.Topic(t.session), TurnID: t.turn, Timestamp: event.Time(t.world.Now()),
	}
	return []ledger.Event{
		event.Of(t.session, oupwire.MethodTurnStarted, started, ledger.Subject{}, ledger.Within),
		t.envelope(UserMessage(text, files), ledger.Begins, clientMessageID),
	}
}

// UserMessage is what a user said.
func UserMessage(text string, files []oupwire.FileRef) oupwire.EnvelopePayload {
	data := oupwire.UserMessageData{}
	data.Text, data.Unknown = Fit(text)
	if len(files) > 0 {
		data.Files = wirejson.Some(files)
	}
	return oupwire.UserMessagePayload{Data: data}
}

// Persisted is what the assistant said in a segment.
//
// Rule: OUP-STREAM-008.
func Persisted(text, segment, message string, at time.Time) oupwire.EnvelopePayload {
	data := oupwire.AssistantPersistedData{
		AssistantSegmentID: segment, Meta: oupwire.MessageMeta{MessageID: message, PersistedAt: event.Time(at)},
	}
	data.Text, data.Unknown = Fit(text)
	return oupwire.AssistantPersistedPayload{Data: data}
}

// envelope makes an event of the turn's stream.
func (t *Teller) envelope(p oupwire.EnvelopePayload, step ledger.Step, clientMessageID string) ledger.Event {
	return event.Envelope{Thread: t.turn, Turn: t.turn, ClientMessageID: clientMessageID, Payload: p}.Event(t.session, event.Turn, step)
}

func (t *Teller) within(p oupwire.EnvelopePayload) ledger.Event {
	return t.envelope(p, ledger.Within, "")
}

func (t *Teller) segmentID(n int) string { return t.turn + ":assistant:" + strconv.Itoa(n) }

// Waiting reports whether something was said that was not handed out yet.
func (t *Teller) Waiting() bool { return len(t.pieces) > 0 }

// Rest hands out what was said and waits.
//
// Rule: OUP-LEDGER-004.
func (t *Teller) Rest() []ledger.Event {
	var list []ledger.Event
	for _, p := range t.pieces {
		if p.reasoning {
			list = append(list, t.within(oupwire.ReasoningDeltaPayload{Data: oupwire.ReasoningDeltaData{Text: p.text}}))
			continue
		}
		t.said = t.said || p.segment == t.segment
		list = append(list, t.within(oupwire.AssistantDeltaPayload{Data: oupwire.AssistantDeltaData{
			Text: p.text, AssistantSegmentID: t.segmentID(p.segment),
		}}))
	}
	t.pieces, t.bytes = nil, 0
	return list
}

// say takes a piece. Pieces of one kind that follow each other become one.
func (t *Teller) say(text string, reasoning bool) []ledger.Event {
	for len(text) > 0 {
		part := text
		if len(part) > most {
			part = text[:boundary(text, most)]
		}
		text = text[len(part):]
		last := len(t.pieces) - 1
		if last >= 0 && t.pieces[last].reasoning == reasoning && len(t.pieces[last].text)+len(part) <= most {
			t.pieces[last].text += part
		} else {
			t.pieces = append(t.pieces, piece{reasoning, t.segment, part})
		}
		t.bytes += len(part)
		if !reasoning && len(t.text) <= oupwire.MaxFrameTextBytes {
			t.text = append(t.text, part...)
		}
	}
	if t.bytes >= Batch {
		return t.Rest()
	}
	return nil
}

// Take is told what the kernel does and returns what is to be stored now, with everything that waited in front
// of it. Nothing is returned while pieces are gathered.
func (t *Teller) Take(e agent.Event) []ledger.Event {
	switch e := e.(type) {
	case agent.TextDelta:
		return t.say(e.Text, false)
	case agent.ReasoningDelta:
		return t.say(e.Text, true)
	}
	news := t.news(e)
	if len(news) == 0 {
		return nil
	}
	return append(t.Rest(), news...)
}

// news is what an event that is no piece is told as.
func (t *Teller) news(e agent.Event) []ledger.Event {
	switch e := e.(type) {
	case agent.AnswerDiscarded:
		return t.discarded()
	case agent.Message:
		return t.message(e)
	case agent.ToolStarted:
		return []ledger.Event{t.started(e.CallID, e.Name, string(e.Arguments))}
	case agent.ToolProgress:
		return t.progressed(e)
	case agent.ToolFinished:
		return t.finished(e)
	case agent.InputDelivered:
		if e.Kind == agent.KindSteer {
			return []ledger.Event{t.within(UserMessage(e.Text, nil))}
		}
	case agent.CompactionStarted, agent.CompactionSettled, agent.CompactionFailed:
		return t.compact.take(t.session, e, t.world)
	}
	return t.aside(e)
}

// discarded closes a segment whose pieces are void: whoever has them is told that it says nothing.
func (t *Teller) discarded() []ledger.Event {
	if t.keep {
		return t.cut()
	}
	t.text = nil
	kept := t.pieces[:0]
	for _, p := range t.pieces {
		if p.reasoning {
			kept = append(kept, p)
		}
	}
	t.pieces = kept
	if !t.said {
		return nil
	}
	id := t.segmentID(t.segment)
	t.segment, t.said = t.segment+1, false
	return []ledger.Event{t.within(Persisted("", id, id, t.world.Now()))}
}

// Keep lets what was said stand from now on: the turn is told to stop, so nothing is said in its place.
func (t *Teller) Keep() { t.keep = true }

// cut closes a segment that goes no further with what it says so far, which people have read. No message of the
// transcript has it.
func (t *Teller) cut() []ledger.Event {
	if len(t.text) == 0 {
		return nil
	}
	id := t.segmentID(t.segment)
	text := string(t.text)
	t.segment, t.said, t.text = t.segment+1, false, nil
	return []ledger.Event{t.within(Persisted(text, id, id, t.world.Now()))}
}

// message tells an answer that is stored. Results of tools are told as they come, and what the user said by the
// event of its delivery.
func (t *Teller) message(e agent.Message) []ledger.Event {
	if e.Message.Role != conversation.Assistant {
		return nil
	}
	rest := t.Rest()
	text := e.Message.PlainText()
	if text == "" && !t.said {
		return rest
	}
	id := t.segmentID(t.segment)
	t.segment, t.said, t.text = t.segment+1, false, nil
	return append(rest, t.within(Persisted(text, id, string(e.Entry), t.world.Now())))
}
