package lane

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/negotiation"
)

// Events says in which forms turns are told.
type Events string

// The forms.
const (
	V2     Events = "v2"     // envelopes
	Legacy Events = "legacy" // the older notifications in their place
	Both   Events = "both"
)

// EventLanes lists the forms.
var EventLanes = []string{string(V2), string(Legacy), string(Both)}

// form is one notification that tells an event.
type form struct {
	method string
	params wirejson.Encoder
}

// forms makes notifications of the events of one stream.
type forms struct {
	events Events
	ledger *ledger.Ledger
	tools  map[string]string // names by call, for older clients: the end of a call does not say it
}

func (f *forms) of(ctx context.Context, stored ledger.Stored) ([]form, error) {
	if stored.Method == oupwire.MethodProjectionEnvelope && f.events == V2 {
		params, err := event.Spliced(stored)
		return []form{{stored.Method, params}}, err
	}
	params, err := event.Params(stored)
	if err != nil {
		return nil, err
	}
	envelope, is := params.(oupwire.EnvelopeV2)
	if !is {
		return []form{{stored.Method, params}}, nil
	}
	var list []form
	if f.events == Both {
		list = append(list, form{stored.Method, params})
	}
	source, err := f.source(ctx, stored, envelope)
	if err != nil {
		return nil, err
	}
	if source.params != nil {
		list = append(list, source)
	}
	return list, nil
}

// source is the older notification of an envelope; what never had one gives the zero value.
func (f *forms) source(ctx context.Context, stored ledger.Stored, e oupwire.EnvelopeV2) (form, error) {
	switch p := e.Payload.(type) {
	case oupwire.AssistantDeltaPayload:
		return form{oupwire.MethodMessageDelta, oupwire.MessageDeltaEvent{
			SessionID: e.SessionID, Topic: e.Topic, TurnID: e.TurnID, Text: p.Data.Text,
		}}, nil
	case oupwire.ReasoningDeltaPayload:
		return form{oupwire.MethodMessageReasoningDelta, oupwire.MessageReasoningDeltaEvent{
			SessionID: e.SessionID, Topic: e.Topic, TurnID: e.TurnID, Text: p.Data.Text,
		}}, nil
	case oupwire.ToolStartPayload:
		f.name(p)
		started := oupwire.ToolStartedEvent{
			SessionID: e.SessionID, Topic: e.Topic, TurnID: e.TurnID, ToolCallID: p.Data.ToolCallID, ToolName: p.Data.Name,
		}
		if preview := p.Data.ArgumentsPreview.Or(""); json.Valid([]byte(preview)) { // a preview that was cut is not
			started.Arguments = wirejson.Some(json.RawMessage(preview))
		}
		return form{oupwire.MethodToolStarted, started}, nil
	case oupwire.ToolProgressPayload:
		return form{oupwire.MethodToolProgress, oupwire.ToolProgressEvent{
			SessionID: e.SessionID, Topic: e.Topic, TurnID: e.TurnID, ToolCallID: p.Data.ToolCallID, Message: wirejson.Some(p.Data.Message),
		}}, nil
	case oupwire.ToolEndPayload:
		name, err := f.named(ctx, stored, p.Data.ToolCallID)
		return form{oupwire.MethodToolCompleted, oupwire.ToolCompletedEvent{
			SessionID: e.SessionID, Topic: e.Topic, TurnID: e.TurnID, ToolCallID: p.Data.ToolCallID, ToolName: name,
			Success:       wirejson.Some(p.Data.Status == oupwire.ToolEndStatusComplete),
			OutputPreview: p.Data.OutputPreview, DurationMs: p.Data.DurationMs,
		}}, err
	case oupwire.FileAttachedPayload:
		return form{oupwire.MethodFileAttached, oupwire.FileAttachedEvent{
			SessionID: e.SessionID, Topic: e.Topic, TurnID: e.TurnID, Path: p.Data.Path, Mime: wirejson.Some(p.Data.Mime),
			ToolCallID: p.Data.AttachmentOwner.ToolCallID, AttachmentOwner: wirejson.Some(p.Data.AttachmentOwner),
		}}, nil
	case oupwire.SpawnCompletePayload:
		return form{oupwire.MethodTurnSpawnComplete, oupwire.TurnSpawnCompleteEvent{
			SessionID: e.SessionID, Topic: e.Topic, TurnID: wirejson.Some(p.Data.ParentTurnID), TaskID: p.Data.TaskID, Seq: e.Seq,
			MessageID: p.Data.MessageID, Source: p.Data.Source, Cursor: oupwire.Cursor{Stream: stored.Stream, Seq: stored.Seq},
			PersistedAt: p.Data.PersistedAt, Content: p.Data.Content, Media: p.Data.Media, ThreadID: wirejson.Some(e.ThreadID),
			ToolCallID: p.Data.ToolCallID, ResponseToClientMessageID: p.Data.ResponseToClientMessageID,
		}}, nil
	case oupwire.TurnTerminalPayload:
		f.tools = nil
		return terminal(stored, e, p.Data), nil
	}
	return form{}, nil
}

func terminal(stored ledger.Stored, e oupwire.EnvelopeV2, data oupwire.TurnTerminalData) form {
	if data.Outcome == oupwire.TurnOutcomeCompleted {
		return form{oupwire.MethodTurnCompleted, oupwire.TurnCompletedEvent{
			SessionID: e.SessionID, Topic: e.Topic, TurnID: e.TurnID, TokenUsage: data.TokenUsage,
			Cursor: wirejson.Some(oupwire.Cursor{Stream: stored.Stream, Seq: stored.Seq}),
		}}
	}
	failure := data.Error.Or(oupwire.TurnFailure{Code: string(data.Outcome), Message: string(data.Outcome)})
	return form{oupwire.MethodTurnError, oupwire.TurnErrorEvent{
		SessionID: e.SessionID, Topic: e.Topic, TurnID: e.TurnID, Code: failure.Code, Message: failure.Message, TokenUsage: data.TokenUsage,
	}}
}

func (f *forms) name(start oupwire.ToolStartPayload) {
	if f.tools == nil {
		f.tools = map[string]string{}
	}
	f.tools[start.Data.ToolCallID] = start.Data.Name
}

var errFound = errors.New("found")

// named finds the tool of a call. A lane that began inside of the turn looks back for where the call started.
func (f *forms) named(ctx context.Context, end ledger.Stored, call string) (string, error) {
	if name, known := f.tools[call]; known {
		return name, nil
	}
	state, found, err := f.ledger.State(ctx, end.Stream, end.Subject)
	if err != nil || !found {
		return call, err
	}
	after := &ledger.Cursor{Stream: end.Stream, Seq: state.Begun - 1}
	look := func(s ledger.Stored) error {
		e, is, err := event.EnvelopeOf(s)
		if err != nil || !is || s.Subject != end.Subject {
			return err
		}
		if start, starts := e.Payload.(oupwire.ToolStartPayload); starts {
			if f.name(start); start.Data.ToolCallID == call {
				return errFound
			}
		}
		return nil
	}
	if _, err = f.ledger.Replay(ctx, end.Stream, after, look); err != nil && !errors.Is(err, errFound) && !errors.Is(err, ledger.ErrExpired) && !errors.Is(err, ledger.ErrDamaged) {
		return "", err
	}
	if name, known := f.tools[call]; known {
		return name, nil
	}
	return call, nil // its start is no longer kept, or damaged
}

// visible is what a connection with these features sees of a notification; nil for nothing.
func visible(method string, params wirejson.Encoder, set negotiation.Set) wirejson.Encoder {
	if row := oupwire.LookupNotification(method); row != nil && row.Gate != "-" {
		needs := strings.Split(row.Gate, "+")
		if row.GateStrict && !set.Has(needs...) || !row.GateStrict && !set.Open(needs...) {
			return nil
		}
	}
	switch p := params.(type) {
	case oupwire.ApprovalRequestedEvent:
		return approval(p, set)
	case oupwire.SessionOpened:
		return Opened(p, set)
	}
	return params
}

// approval leaves out what is told in types to a connection that did not ask for it.
func approval(p oupwire.ApprovalRequestedEvent, set negotiation.Set) oupwire.ApprovalRequestedEvent {
	if !set.Has(oupwire.FeatureApprovalTypedV1) {
		p.ApprovalKind, p.Risk = wirejson.Opt[oupwire.ApprovalKind]{}, wirejson.Opt[string]{}
		p.TypedDetails, p.RenderHints = wirejson.Opt[oupwire.ApprovalTypedDetails]{}, wirejson.Opt[oupwire.ApprovalRenderHints]{}
	}
	return p
}

// Opened leaves out of an opened session what needs features that are not in force.
func Opened(p oupwire.SessionOpened, set negotiation.Set) oupwire.SessionOpened {
	if !set.Has(oupwire.FeaturePaneSnapshotsV1) {
		p.Panes = wirejson.Opt[oupwire.PaneSnapshot]{}
	}
	if !set.Open(oupwire.FeatureContextLifecycleV1) {
		p.Context, p.ContextState = wirejson.Opt[oupwire.ContextLifecycle]{}, wirejson.Opt[oupwire.ContextState]{}
	}
	return p
}
