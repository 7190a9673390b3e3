package oup

import (
	"encoding/json"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Event is one thing that a session tells. What happened is in Body: switch on its type.
type Event struct {
	Method  string // of the notification; empty for a Gap
	Session string // key of the session
	Turn    string // the turn it belongs to, or ""
	Thread  string // of an envelope: its stream
	Number  int64  // of an envelope: its position in the stream, from 1
	// Cursor is the position in the ledger, the zero Cursor for what shows none.
	Cursor Cursor
	// Body is one of the types below, another model of a notification, a Gap, or Unknown.
	Body any
}

// What an event tells, under shorter names.
type (
	Cursor            = oupwire.Cursor
	UserMessage       = oupwire.UserMessageData
	Delta             = oupwire.AssistantDeltaData     // a piece of a segment of the answer
	Reasoning         = oupwire.ReasoningDeltaData     // a piece of what the model thinks
	Message           = oupwire.AssistantPersistedData // a segment as it was stored; replaces its pieces
	ToolStart         = oupwire.ToolStartData
	ToolProgress      = oupwire.ToolProgressData
	ToolEnd           = oupwire.ToolEndData
	File              = oupwire.FileAttachedData
	Ended             = oupwire.TurnTerminalData // the last event of a turn
	BackgroundResult  = oupwire.SpawnCompleteData
	Started           = oupwire.TurnStartedEvent
	SteerDropped      = oupwire.TurnSteerDroppedEvent
	Approval          = oupwire.ApprovalRequestedEvent
	ApprovalDecided   = oupwire.ApprovalDecidedEvent
	ApprovalCancelled = oupwire.ApprovalCancelledEvent
	Question          = oupwire.UserQuestionRequestedEvent
	Plan              = oupwire.PlanUpdatedEvent
	Progress          = oupwire.ProgressUpdatedEvent
	Warning           = oupwire.WarningEvent
	Opened            = oupwire.SessionOpened // a connection has opened the session
)

// Unknown is what this client has no type for: a notification or a payload that is newer than it, or one that breaks
// its model.
type Unknown struct {
	Type string          // of the payload of an envelope; empty for a notification
	Raw  json.RawMessage // the params, or the payload
}

// Gap says that events are missing in front of the next one, or were.
type Gap struct {
	Reason GapReason
	// Dropped is how many events the server says were lost; 0 where it does not say.
	Dropped int64
	// Replayed says that all of them follow after all. Else Hydrated is how the session stands at the cursor at which
	// it goes on: read from it what the events would have told.
	Replayed bool
	Hydrated *oupwire.SessionHydrateResult
}

// GapReason is how a gap was found.
type GapReason string

// The reasons.
const (
	GapLossy   GapReason = "replay_lossy"   // the server says it lost events on the way to this client
	GapExpired GapReason = "cursor_expired" // the server does not keep events from the cursor on
	GapNumber  GapReason = "number"         // a number is missing in a stream
)

// decodeEvent reads a notification. The event shares no bytes with params.
func decodeEvent(method string, params []byte) Event {
	ev := Event{Method: method}
	doc, err := wirejson.Parse(params, oupwire.MaxDepth)
	if err != nil { // no params at all
		ev.Body = Unknown{Raw: append(json.RawMessage{}, params...)}
		return ev
	}
	defer doc.Release()
	root := doc.Root()
	ev.Session = root.Member("session_id").Text()
	if topic := root.Member("topic").Text(); strings.TrimSpace(topic) != "" && !strings.Contains(ev.Session, "#") {
		ev.Session += "#" + topic
	}
	ev.Turn = root.Member("turn_id").Text()
	if cursor, err := oupwire.DecodeCursorValue(root.Member("cursor")); err == nil {
		ev.Cursor = cursor
	}
	if method == oupwire.MethodProjectionEnvelope {
		ev.Thread, ev.Number = root.Member("thread_id").Text(), root.Member("seq").Int()
		ev.Body = decodePayload(root.Member("payload"))
		return ev
	}
	if method == oupwire.MethodSessionOpen {
		params = withCapabilities(params)
	}
	if body, err := oupwire.DecodeNotification(method, params); err == nil && body != nil {
		ev.Body = body
	} else {
		ev.Body = Unknown{Raw: root.Raw()}
	}
	return ev
}

// The payload that ends a turn, known by its tag, and the member that says how.
const (
	terminalTag   = "turn_terminal"
	outcomeMember = "outcome"
)

// decodePayload returns the data of a payload by its model.
func decodePayload(v wirejson.Value) any {
	payload, err := oupwire.DecodeEnvelopePayloadValue(v)
	if err == nil {
		return dataOf(payload)
	}
	kind := v.Member("type").Text()
	if kind == terminalTag {
		// Whatever is wrong with the rest, the turn is over.
		return Ended{Outcome: oupwire.TurnOutcome(v.Member("data").Member(outcomeMember).Text())}
	}
	return Unknown{Type: kind, Raw: v.Raw()}
}

func dataOf(payload oupwire.EnvelopePayload) any {
	switch p := payload.(type) {
	case oupwire.UserMessagePayload:
		return p.Data
	case oupwire.AssistantDeltaPayload:
		return p.Data
	case oupwire.ReasoningDeltaPayload:
		return p.Data
	case oupwire.AssistantPersistedPayload:
		return p.Data
	case oupwire.ToolStartPayload:
		return p.Data
	case oupwire.ToolProgressPayload:
		return p.Data
	case oupwire.ToolEndPayload:
		return p.Data
	case oupwire.FileAttachedPayload:
		return p.Data
	case oupwire.TurnTerminalPayload:
		return p.Data
	case oupwire.SpawnCompletePayload:
		return p.Data
	}
	return Unknown{Raw: payload.AppendJSON(nil)}
}

// envelopeEvent makes the event of an envelope inside an answer.
func envelopeEvent(session string, e oupwire.BareEnvelope) Event {
	return Event{
		Method: oupwire.MethodProjectionEnvelope, Session: session, Turn: e.TurnID, Thread: e.ThreadID, Number: e.Seq,
		Cursor: e.Cursor.Or(Cursor{}), Body: dataOf(e.Payload),
	}
}
