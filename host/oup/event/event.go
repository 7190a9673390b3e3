// Package event is the two forms of what clients are told: as it lies in the ledger, and as the params of the
// notification that tells it. What is stored never holds a position; Params puts it in. So a replayed frame
// has the bytes of the live one.
//
// Sheet: OUP core 7.6, 7.7, 8.
package event

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/ledger"
)

// Kinds of subjects in the ledger. Kinds are ours: no client sees them.
const (
	Turn     = "turn"     // its envelopes; it ends with turn_terminal
	Child    = "child"    // a stream of work that ended behind its turn: one envelope
	Added    = "added"    // a stream of messages that were added without a turn; it never ends
	Approval = "approval" // requested, then decided or cancelled
	Question = "question" // one event that asks; who answers is known in memory alone
)

// Envelope is one event of a stream of envelopes as it is stored.
type Envelope struct {
	Thread          string
	Turn            string
	ClientMessageID string // of a user_message, or empty
	Payload         oupwire.EnvelopePayload
}

// Event makes an event of an envelope. kind and step are those of the stream.
func (e Envelope) Event(session, kind string, step ledger.Step) ledger.Event {
	body := []byte{'{'}
	if e.ClientMessageID != "" {
		body = append(wirejson.AppendString(append(body, `"client_message_id":`...), e.ClientMessageID), ',')
	}
	body = e.Payload.AppendJSON(append(body, `"payload":`...))
	body = wirejson.AppendString(append(body, `,"thread_id":`...), e.Thread)
	body = wirejson.AppendString(append(body, `,"turn_id":`...), e.Turn)
	return ledger.Event{
		Stream: session, Method: oupwire.MethodProjectionEnvelope, Subject: ledger.Subject{Kind: kind, ID: e.Thread}, Step: step,
		Body: append(body, '}'),
	}
}

// Of makes an event of a notification other than an envelope. params name the session and its topic. subject
// may be the zero value.
func Of(session, method string, params wirejson.Encoder, subject ledger.Subject, step ledger.Step) ledger.Event {
	return ledger.Event{Stream: session, Method: method, Subject: subject, Step: step, Body: params.AppendJSON(nil)}
}

// Opened makes the event of an opened session. Capabilities and cursor are not stored: they are those of the
// connection and of the event.
func Opened(opened oupwire.SessionOpened) ledger.Event {
	opened.Cursor, opened.Capabilities = wirejson.Opt[oupwire.Cursor]{}, oupwire.ServerCapabilities{}
	return Of(opened.SessionID, oupwire.MethodSessionOpen, opened, ledger.Subject{}, ledger.Within)
}

// Params are the params of the notification that tells a stored event: an oupwire.EnvelopeV2, SessionOpened or
// ApprovalRequestedEvent by value, and what is stored for all others. The capabilities of a SessionOpened are those of nobody: whoever
// sends it puts in those of the connection.
func Params(s ledger.Stored) (wirejson.Encoder, error) {
	switch s.Method {
	case oupwire.MethodProjectionEnvelope:
		return decodeEnvelope(s)
	case oupwire.MethodSessionOpen:
		opened, err := oupwire.DecodeSessionOpened(s.Body)
		if err != nil {
			return nil, fail(s, err)
		}
		opened.Cursor = wirejson.Some(oupwire.Cursor{Stream: s.Stream, Seq: s.Seq})
		return opened, nil
	case oupwire.MethodApprovalRequested:
		requested, err := oupwire.DecodeApprovalRequestedEvent(s.Body)
		if err != nil {
			return nil, fail(s, err)
		}
		return requested, nil
	}
	row := oupwire.LookupNotification(s.Method)
	if row == nil || len(row.Shapes) == 0 {
		return nil, fail(s, fmt.Errorf("no notification has this name"))
	}
	// Nobody looks into the others. To decode by the name of a model would keep the code of every model in the program.
	if err := oupwire.ValidateModel(row.Shapes[0].Params, s.Body); err != nil {
		return nil, fail(s, err)
	}
	return wirejson.Raw(s.Body), nil
}

// EnvelopeOf is Params of an event that is an envelope. ok is false where it is none.
func EnvelopeOf(s ledger.Stored) (e oupwire.EnvelopeV2, ok bool, err error) {
	if s.Method != oupwire.MethodProjectionEnvelope {
		return e, false, nil
	}
	e, err = decodeEnvelope(s)
	return e, err == nil, err
}

func decodeEnvelope(s ledger.Stored) (oupwire.EnvelopeV2, error) {
	if len(s.Body) < 2 {
		return oupwire.EnvelopeV2{}, fail(s, fmt.Errorf("it is empty"))
	}
	whole := wirejson.AppendString([]byte(`{"session_id":`), s.Stream)
	whole = fmt.Appendf(whole, `,"seq":%d,`, s.Number)
	e, err := oupwire.DecodeEnvelopeV2(append(whole, s.Body[1:]...))
	if err != nil {
		return e, fail(s, err)
	}
	e.Topic = Topic(s.Stream)
	e.Cursor = wirejson.Some(oupwire.Cursor{Stream: s.Stream, Seq: s.Seq})
	return e, nil
}

// The members of a stored envelope. No text inside of one has them: there its quotes are escaped.
var (
	payloadMember = []byte(`"payload":`)
	threadMember  = []byte(`,"thread_id":`)
	turnMember    = []byte(`,"turn_id":`)
)

// Spliced are the params of a stored envelope with the bytes that those of Params have, without taking it apart: what
// depends on the position is put between the members that are stored.
func Spliced(s ledger.Stored) (wirejson.Raw, error) {
	payload, thread, turn := bytes.Index(s.Body, payloadMember), bytes.LastIndex(s.Body, threadMember), bytes.LastIndex(s.Body, turnMember)
	if payload < 1 || thread < payload || turn < thread {
		return nil, fail(s, errors.New("it lacks a member"))
	}
	params := append(make([]byte, 0, len(s.Body)+len(s.Stream)*2+128), s.Body[:payload]...)
	params = fmt.Appendf(params, `"cursor":{"seq":%d,"stream":`, s.Seq)
	params = append(wirejson.AppendString(params, s.Stream), "},"...)
	params = append(params, s.Body[payload:thread]...)
	params = fmt.Appendf(params, `,"seq":%d,"session_id":`, s.Number)
	params = append(wirejson.AppendString(params, s.Stream), s.Body[thread:turn]...)
	if topic, has := Topic(s.Stream).Get(); has {
		params = wirejson.AppendString(append(params, `,"topic":`...), topic)
	}
	return append(params, s.Body[turn:]...), nil
}

func fail(s ledger.Stored, err error) error {
	return fmt.Errorf("event %d of stream %q is no %s: %w", s.Seq, s.Stream, s.Method, err)
}

// Topic is the topic of a session key as events carry it: absent where there is none.
func Topic(session string) wirejson.Opt[oupwire.Topic] {
	if _, topic, has := strings.Cut(session, "#"); has {
		return wirejson.Some(topic)
	}
	return wirejson.Opt[oupwire.Topic]{}
}

// Time spells a moment as the protocol does.
func Time(t time.Time) oupwire.Timestamp { return t.UTC().Format(time.RFC3339Nano) }

// NewID makes a UUID of version 7.
func NewID(now time.Time) string {
	var id [16]byte
	_, _ = rand.Read(id[:])
	var at [8]byte
	binary.BigEndian.PutUint64(at[:], uint64(now.UnixMilli()))
	copy(id[:6], at[2:])
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	text := hex.EncodeToString(id[:])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// raw is used by Detail.
type raw = json.RawMessage

// Detail spells any value as the opaque detail of an event or an error.
func Detail(v any) raw {
	data, err := json.Marshal(v)
	if err != nil {
		return raw("null")
	}
	return data
}
