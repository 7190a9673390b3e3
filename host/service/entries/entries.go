// Package entries lets extensions leave something in the session in front of the person: entries of their
// own, its name, labels on entries, and messages.
//
// Whose session it is, and that it is in the foreground, is judged before a request comes here. Source: sheet
// feature 12.4, 12.5.
package entries

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/refusal"
	"github.com/octet-dev/octet/runtime/peer"
)

// Errors that a Session may wrap. Any other one means that the work was admitted and failed.
var (
	// ErrUnknownEntry is for a label on an entry that is not of the session.
	ErrUnknownEntry = errors.New("no such entry in the session")
	// ErrGone is for an owner whose session is not open any more.
	ErrGone = errors.New("the session is not open")
)

// Entry is what an extension leaves.
type Entry struct {
	Extension string
	Type      string
	Data      json.RawMessage
	// Hook is the session-operation hook that is being awaited and on whose ground the entry is left, empty
	// for none. Its grant ends with the hook.
	Hook string
}

// Sessions are the open sessions, by their opaque owner id. Every change is durable when a method returns.
type Sessions interface {
	// AppendEntry returns the id of the durable entry.
	AppendEntry(ctx context.Context, owner string, e Entry) (id string, err error)
	// SetName and SetLabel take the name or the label away where it is empty.
	SetName(ctx context.Context, owner, name string) error
	SetLabel(ctx context.Context, owner, entry, label string) error
	// Inject puts a message of an extension into the conversation. User messages begin a turn or wait for
	// the one that runs.
	Inject(ctx context.Context, owner, extension string, m conversation.Message) error
}

// Binding serves the requests.
func Binding(s Sessions) extension.Binding {
	b := service{s}
	return extension.Binding{
		Features: []string{featurewire.FeatureSessionEntries, featurewire.FeatureMessageInjection},
		Requests: map[string]extension.Handler{
			featurewire.MethodSessionAppendEntry:     b.appendEntry,
			featurewire.MethodSessionSetName:         b.setName,
			featurewire.MethodSessionSetLabel:        b.setLabel,
			featurewire.MethodSessionSendMessage:     b.sendMessage,
			featurewire.MethodSessionSendUserMessage: b.sendUserMessage,
		},
	}
}

type service struct{ sessions Sessions }

func (s service) appendEntry(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeSessionAppendEntryParams(r.Params)
	if err != nil {
		return nil, refusal.Of(err)
	}
	data := json.RawMessage("null")
	if raw, ok := p.Data.Get(); ok {
		data = raw
	}
	e := Entry{Extension: r.Extension.Name(), Type: p.EntryType, Data: data}
	if r.Parent != nil && r.Parent.Method == featurewire.MethodHookRun {
		e.Hook = r.Parent.Subject
	}
	id, err := s.sessions.AppendEntry(ctx, r.Owner.SessionID, e)
	switch {
	case err != nil:
		return nil, failure(ctx, err)
	case id == "" || len(id) > featurewire.MaxEntryIDBytes:
		return nil, extension.RefuseFailed("the session gave the entry no usable id")
	}
	return featurewire.SessionAppendEntryResult{EntryID: id}, nil
}

func (s service) setName(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeSessionSetNameParams(r.Params)
	if err != nil {
		return nil, refusal.Of(err)
	}
	if err := s.sessions.SetName(ctx, r.Owner.SessionID, p.Name); err != nil {
		return nil, failure(ctx, err)
	}
	return featurewire.SessionSetNameResult{}, nil
}

func (s service) setLabel(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeSessionSetLabelParams(r.Params)
	if err != nil {
		return nil, refusal.Of(err)
	}
	if err := s.sessions.SetLabel(ctx, r.Owner.SessionID, p.EntryID, p.Label); err != nil {
		return nil, failure(ctx, err)
	}
	return featurewire.SessionSetLabelResult{}, nil
}

func (s service) sendMessage(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeSessionSendMessageParams(r.Params)
	if err != nil {
		return nil, refusal.Of(err)
	}
	role := conversation.System
	if p.Role == featurewire.InjectedRoleAssistant {
		role = conversation.Assistant
	}
	if err := s.sessions.Inject(ctx, r.Owner.SessionID, r.Extension.Name(), conversation.Say(role, p.Text)); err != nil {
		return nil, failure(ctx, err)
	}
	return featurewire.SessionSendMessageResult{}, nil
}

func (s service) sendUserMessage(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeSessionSendUserMessageParams(r.Params)
	if err != nil {
		return nil, refusal.Of(err)
	}
	if err := s.sessions.Inject(ctx, r.Owner.SessionID, r.Extension.Name(), conversation.Say(conversation.User, p.Text)); err != nil {
		return nil, failure(ctx, err)
	}
	return featurewire.SessionSendUserMessageResult{}, nil
}

// failure is the answer to an error of a session.
func failure(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, ErrUnknownEntry):
		return extension.RefuseInvalid(ErrUnknownEntry.Error())
	case errors.Is(err, ErrGone):
		return extension.RefuseOwner(ErrGone.Error())
	}
	return err
}
