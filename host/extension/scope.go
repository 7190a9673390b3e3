package extension

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Owner is who owns what a session makes an extension do: a session, and the process that was told of it.
// The zero value is no owner. It is comparable, and all three members count.
type Owner struct {
	SessionID  string // opaque, durable; see Scope.Owner
	InstanceID string
	Generation int64
}

// IsZero reports whether there is no owner.
func (o Owner) IsZero() bool { return o == Owner{} }

// Wire is the owner as models of the feature wire spell it.
func (o Owner) Wire() featurewire.ResourceOwner {
	return featurewire.ResourceOwner{SessionID: o.SessionID, ExtensionInstanceID: o.InstanceID, ProcessGeneration: o.Generation}
}

// OwnerOf reads an owner of a model of the feature wire.
func OwnerOf(o featurewire.ResourceOwner) Owner {
	return Owner{SessionID: o.SessionID, InstanceID: o.ExtensionInstanceID, Generation: o.ProcessGeneration}
}

// Scope says on whose behalf the host asks an extension. The zero value is nobody's: a request of the
// process.
type Scope struct {
	// Owner is the opaque id of the durable session, as the store gives it. Empty: no session owns the
	// request.
	Owner string
	// Host is the state that the extension is shown.
	Host HostState
	// Execution is the id of the tool execution, empty for none.
	Execution string
}

// HostState is what extensions are shown of the host. Empty members are shown as null.
type HostState struct {
	SessionID   string
	SessionName string
	Model       string
	Reasoning   json.RawMessage
	Skills      []Skill
}

// Skill is one active skill.
type Skill struct{ ID, Name, Version string }

// HostCall is one request of the host to an extension while it runs.
type HostCall struct {
	// ID is the id on the wire.
	ID int64
	// Method, and Subject: the name of the tool, command or hook, empty where there is none.
	Method, Subject string
	Scope           Scope
	// Owner is the owner that the extension was told, zero for none.
	Owner Owner
	// Value is what the maker of the request gave in Ask.Value, for services that know it: a *tool.Call, an
	// approval to be bound to it.
	Value any

	ctx      context.Context // ends when the request is settled or cancelled
	progress func(Progress)
	sequence int64          // of the last progress event; they start above 0
	children sync.WaitGroup // requests of the extension that belong to it and have no outcome yet
}

// Done is closed when the request is settled or cancelled.
func (h *HostCall) Done() <-chan struct{} { return h.ctx.Done() }

// owner is the wire triple of a scope for this generation, zero for no session and on API 0.1.
func (x *Extension) owner(s Scope) Owner {
	if s.Owner == "" || x.source.Manifest.API == featurewire.Version01 {
		return Owner{}
	}
	return Owner{SessionID: s.Owner, InstanceID: x.options.Instance, Generation: x.options.Generation}
}

// wire is the state as both wires show it.
func (h HostState) wire() featurewire.HostState {
	state := featurewire.HostState{
		SessionID: nullable(h.SessionID), SessionName: nullable(h.SessionName), Model: nullable(h.Model),
		Reasoning: wirejson.Null[json.RawMessage](),
	}
	if h.Reasoning != nil {
		state.Reasoning = wirejson.Some(h.Reasoning)
	}
	skills := make([]featurewire.ActiveSkill, len(h.Skills))
	for i, s := range h.Skills {
		skills[i] = featurewire.ActiveSkill{ID: s.ID, Name: s.Name, Version: nullable(s.Version)}
	}
	state.ActiveSkills = wirejson.Some(skills)
	return state
}

// nullable makes a text that is null where it is empty.
func nullable(text string) wirejson.Opt[string] {
	if text == "" {
		return wirejson.Null[string]()
	}
	return wirejson.Some(text)
}
