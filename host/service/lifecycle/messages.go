package lifecycle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/service/clip"
	"github.com/octet-dev/octet/runtime/peer"
)

// Message is a message of the assistant that grows while extensions listen. Its deltas are sent in
// batches, each once and in order, and the last of them before the end.
//
// Rules: EXT04-EVENT-016 to EXT04-EVENT-020.
type Message struct {
	session *Session
	id      string

	mu     sync.Mutex
	text   []byte
	deltas int64
	timer  *time.Timer // sends what waits; nil where nothing does
	over   bool
}

// batchTime is how long a delta waits for others.
const batchTime = featurewire.MessageBatchMs * time.Millisecond

// Message begins to tell of a message. Settle it.
func (s *Session) Message(id string) *Message {
	m := &Message{session: s, id: id}
	s.tell(featurewire.MethodMessageStarted, featurewire.MessageStartedParams{MessageID: id})
	return m
}

// Add adds a delta to the message.
func (m *Message) Add(delta string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.addLocked(delta)
}

// Update adds many deltas at once. More than the wire allows are refused, and none of them is sent.
func (m *Message) Update(deltas []string) error {
	if len(deltas) > featurewire.MaxMessageDeltas {
		return fmt.Errorf("bounds_exceeded %d deltas are more than %d", len(deltas), featurewire.MaxMessageDeltas)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, delta := range deltas {
		m.addLocked(delta)
	}
	return nil
}

func (m *Message) addLocked(delta string) {
	if m.over {
		return
	}
	delta = strings.ToValidUTF8(delta, string(utf8.RuneError))
	// A delta that does not fit goes in pieces, and counts in the batch that holds its end.
	for len(m.text)+len(delta) > featurewire.MaxMessageBatchBytes {
		piece := clip.Text(delta, featurewire.MaxMessageBatchBytes-len(m.text))
		m.text = append(m.text, piece...)
		delta = delta[len(piece):]
		m.flushLocked()
	}
	m.text = append(m.text, delta...)
	m.deltas++
	if len(m.text) >= featurewire.MaxMessageBatchBytes || m.deltas >= featurewire.MaxMessageBatchDeltas {
		m.flushLocked()
		return
	}
	if m.timer == nil {
		m.timer = time.AfterFunc(batchTime, func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.flushLocked()
		})
	}
}

// flushLocked sends what waits. Holding the lock keeps the batches in order; nothing here blocks.
func (m *Message) flushLocked() {
	if m.timer != nil {
		m.timer.Stop()
		m.timer = nil
	}
	if len(m.text) == 0 && m.deltas == 0 {
		return
	}
	m.session.tell(featurewire.MethodMessageUpdated, featurewire.MessageUpdatedParams{MessageID: m.id, Delta: string(m.text), Deltas: m.deltas})
	m.text, m.deltas = m.text[:0], 0
}

// Settle sends what waits and then the end. Later deltas and ends count for nothing.
func (m *Message) Settle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return
	}
	m.flushLocked()
	m.over = true
	m.session.tell(featurewire.MethodMessageSettled, featurewire.MessageSettledParams{MessageID: m.id})
}

// maxEventBytes bounds the params of an event whose members the host makes up.
const maxEventBytes = 64 << 10

// plain are the events whose members are the host's to choose.
var plain = []string{
	featurewire.MethodCompactionStarted, featurewire.MethodCompactionSettled, featurewire.MethodCompactionFailed,
	featurewire.MethodSessionInfoChanged, featurewire.MethodDialogStarted, featurewire.MethodDialogSettled,
	featurewire.MethodModelSelected, featurewire.MethodReasoningSelected, featurewire.MethodBashUser,
}

// Tell sends one of the other events of lifecycle_events_v2. Params are a plain object within a bound;
// anything else is not sent, and the error says why.
//
// Rule: EXT04-EVENT-015.
func (s *Session) Tell(method string, params json.RawMessage) error {
	if !slices.Contains(plain, method) {
		return fmt.Errorf("%q is no event with free members", method)
	}
	doc, err := wirejson.Parse(params, featurewire.MaxJSONDepth)
	if err != nil {
		return s.untold(method, err.Error())
	}
	defer doc.Release()
	if doc.Root().Kind() != wirejson.KindObject {
		return s.untold(method, "its params are no object")
	}
	canonical := doc.Root().AppendCanonical(nil)
	if len(canonical) > maxEventBytes {
		return s.untold(method, fmt.Sprintf("its params have %d bytes, more than %d", len(canonical), maxEventBytes))
	}
	s.tell(method, peer.Raw(canonical))
	return nil
}

// untold reports an event that is not sent to those who would have heard it.
func (s *Session) untold(method, why string) error {
	text := fmt.Sprintf("the event %s is not sent: %s", method, why)
	s.service.mu.Lock()
	defer s.service.mu.Unlock()
	for to := range s.service.feeds {
		if s.span.hears(to) && to.Opens(method) {
			to.Diagnose(text)
		}
	}
	return fmt.Errorf("%s", text)
}

// tell puts an event into the feeds of those who hear the session.
func (s *Session) tell(method string, params peer.Value) {
	s.service.mu.Lock()
	defer s.service.mu.Unlock()
	for to, a := range s.service.feeds {
		if s.span.hears(to) {
			a.feed.put(method, params)
		}
	}
}
