package extension

import (
	"fmt"
	"slices"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/envelope"
	"github.com/octet-dev/octet/runtime/negotiation"
)

// tie is what a message of an extension says it belongs to.
type tie struct {
	parent   int64 // 0: none, for the ids of the host start at 1
	owner    Owner
	hasOwner bool
}

// maxTieDepth bounds the JSON that is looked at for a tie. A message that is deeper has a model that says
// so, or none that could be served.
const maxTieDepth = 256

// readTie finds the members that tie a message, wherever they are well formed. What is malformed counts as
// absent: the model of the method refuses it.
func readTie(params []byte) tie {
	var t tie
	doc, err := wirejson.Parse(params, maxTieDepth)
	if err != nil {
		return t
	}
	defer doc.Release()
	root := doc.Root()
	if root.Kind() != wirejson.KindObject {
		return t
	}
	if v := root.Member(memberParent); v.Kind() == wirejson.KindNumber {
		t.parent, _ = v.ID().Int()
	}
	if v := root.Member(memberOwner); v.Kind() == wirejson.KindObject {
		if owner, err := featurewire.DecodeResourceOwnerValue(v); err == nil {
			t.owner, t.hasOwner = OwnerOf(owner), true
		}
	}
	return t
}

// standing is what is known of a request of the host by its id.
type standing int

const (
	unknown   standing = iota // never issued
	live                      // not answered
	cancelled                 // given up, and still remembered as such
	settled
)

// standingOf looks an id up. The request is returned where it is live.
func (x *Extension) standingOf(id int64) (standing, *HostCall) {
	x.mu.Lock()
	defer x.mu.Unlock()
	h := x.running[id]
	switch {
	case h != nil && h.ctx.Err() != nil, h == nil && x.tombs.holds(id):
		return cancelled, nil
	case h != nil && x.conn.InFlight(envelope.IntID(uint64(id))):
		return live, h
	case id < 1 || id > x.lastID:
		return unknown, nil
	}
	return settled, nil
}

// issued reports whether this generation was told of an owner.
func (x *Extension) issued(o Owner) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return o.InstanceID == x.options.Instance && o.Generation == x.options.Generation && x.sessions[o.SessionID]
}

// correlate finds what a message belongs to, by the class that the spec gives its method. The error is the
// refusal.
//
// Source: sheet 13.2, 13.3.
func (x *Extension) correlate(m *wirejson.Method, params []byte) (parent *HostCall, owner Owner, err error) {
	if x.source.Manifest.API == featurewire.Version01 || m.Parent == wirejson.ParentNone || m.Parent == "" {
		return nil, Owner{}, nil
	}
	t := readTie(params)
	stands, parent := x.standingOf(t.parent)
	if parent != nil {
		owner = parent.Owner
	}
	switch m.Parent {
	case wirejson.ParentInitialize:
		return nil, Owner{}, x.needInitialize(t)
	case wirejson.ParentOwner:
		return nil, t.owner, x.admitOwner(t)
	case wirejson.ParentOptional:
		return x.correlateOptional(t, stands, parent)
	case wirejson.ParentToolCall:
		if stands == live && parent.Method != featurewire.MethodToolCall {
			stands = settled
		}
		err = x.needLive(t, stands)
	case wirejson.ParentSettled:
		return nil, t.owner, x.needSettled(t, stands)
	case wirejson.ParentRetained:
		return x.correlateRetained(m, t, stands, parent)
	default: // required
		err = x.needLive(t, stands)
	}
	return parent, owner, err
}

// needInitialize refuses everything but initialize, before its answer, as parent.
func (x *Extension) needInitialize(t tie) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case t.parent != x.initializeID:
		return RefuseInvalid(fmt.Sprintf("parent_request_id is %d, want that of initialize", t.parent))
	case x.accepted.Load():
		return RefuseInvalid("initialize is answered already")
	}
	return nil
}

// needLive refuses everything but a live parent.
func (x *Extension) needLive(t tie, stands standing) error {
	switch {
	case t.parent == 0:
		return RefuseMalformed("parent_request_id is missing or no integer; send the id of the request that this one is made for")
	case stands != live:
		return RefuseOwner(fmt.Sprintf("request %d is not active", t.parent))
	}
	return nil
}

// needSettled refuses everything but a settled parent together with its owner.
func (x *Extension) needSettled(t tie, stands standing) error {
	switch {
	case t.parent == 0:
		return RefuseInvalid("parent_request_id is missing or no integer")
	case stands == live:
		return RefuseInvalid(fmt.Sprintf("request %d is not settled yet; ask again behind its answer", t.parent))
	case stands != settled:
		return RefuseOwner(fmt.Sprintf("request %d is unknown or was cancelled", t.parent))
	}
	return x.admitOwner(t)
}

// admitOwner refuses an owner that this generation was not told of, and any while it drains.
func (x *Extension) admitOwner(t tie) error {
	switch {
	case x.Draining():
		return RefuseOwner("the extension is draining")
	case !t.hasOwner:
		return RefuseOwner("resource_owner is missing")
	case !x.issued(t.owner):
		return RefuseOwner("resource_owner is not one that this process was given")
	}
	return nil
}

// correlateRetained takes a live parent, or a settled one together with its owner.
func (x *Extension) correlateRetained(m *wirejson.Method, t tie, stands standing, parent *HostCall) (*HostCall, Owner, error) {
	agent := negotiation.GateFeature(m.Gate) != "" && slices.Contains(agentFeatures, negotiation.GateFeature(m.Gate))
	lifetime := x.Has(featurewire.FeatureAgentSessionLifetimeV1)
	switch {
	case stands == live && agent && lifetime && t.hasOwner && t.owner != parent.Owner:
		return nil, Owner{}, RefuseOwner("resource_owner is not that of the active parent")
	case stands == live:
		return parent, parent.Owner, nil
	case t.parent == 0:
		return nil, Owner{}, RefuseInvalid("parent_request_id is missing or no integer")
	case stands != settled:
		return nil, Owner{}, RefuseOwner(fmt.Sprintf("request %d is unknown or was cancelled", t.parent))
	case agent && !lifetime:
		return nil, Owner{}, RefuseOwner(fmt.Sprintf("request %d is not active", t.parent))
	}
	return nil, t.owner, x.admitOwner(t)
}

// correlateOptional takes a live parent, an owner, or neither, but not both.
func (x *Extension) correlateOptional(t tie, stands standing, parent *HostCall) (*HostCall, Owner, error) {
	switch {
	case t.parent != 0 && t.hasOwner:
		return nil, Owner{}, RefuseInvalid("parent_request_id and resource_owner exclude each other")
	case t.parent != 0 && stands != live:
		return nil, Owner{}, RefuseOwner(fmt.Sprintf("request %d is not active", t.parent))
	case t.parent != 0:
		return parent, parent.Owner, nil
	case t.hasOwner:
		return nil, t.owner, x.admitOwner(t)
	}
	return nil, Owner{}, nil
}

// agentFeatures gate the methods on child agents, which have an owner rule of their own.
var agentFeatures = []string{
	featurewire.FeatureAgentSessions, featurewire.FeatureAgentModelSelectionV1,
	featurewire.FeatureAgentSessionEventsV1, featurewire.FeatureAgentSessionLifetimeV1,
}

// foregroundFeatures gate the methods that are about the session in front of the person.
//
// Source: sheet 13.3.
var foregroundFeatures = []string{
	featurewire.FeatureComposer, featurewire.FeatureSessionEntries, featurewire.FeatureMessageInjection,
	featurewire.FeatureActiveTools, featurewire.FeatureTerminalHandoff, featurewire.FeatureSessionControlV1,
	featurewire.FeatureSessionCompactionV1, featurewire.FeatureRemoteUI,
}

// checkForeground refuses an owner that is not in front where the method is about the session that is.
func (x *Extension) checkForeground(m *wirejson.Method, owner Owner) error {
	gate := negotiation.GateFeature(m.Gate)
	if x.wire.profile().Version == canonicalVersion || gate == "" || !slices.Contains(foregroundFeatures, gate) {
		return nil
	}
	front := ""
	if x.options.Foreground != nil {
		front = x.options.Foreground()
	}
	if front == "" || owner.SessionID != front {
		return RefuseOwner("the session of the request is not in the foreground")
	}
	return nil
}
