package monitor

import (
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/generated/featurewire"
)

// Bounds on what an extension asks of a host.
const (
	maxOwnWaiting = featurewire.MaxChildRequests
	maxIDBytes    = featurewire.MaxIDBytes
)

// owned is a message of the extension: a request that it waits for, or a notification.
type owned struct {
	method    string
	params    tree
	parent    *issued // the host request it names; nil for none
	answered  bool
	at        int  // host requests sent before the answer
	cancelled bool // by the extension
}

// message judges a request or a notification of the extension.
func (m *Monitor) message(f wire.Frame, t tree) {
	if name := t.get("method"); name.kind() != text || name.text() == "" && m.setup.Dialect.Canonical() {
		m.report(m.rules.kind, f, -1, "the method is %s, want a string that is not empty", orNothing(t.get("method")))
		return
	}
	method, params := t.get("method").text(), t.get("params")
	o := &owned{method: method, params: params}
	switch {
	case !t.get("id").absent():
		m.ownRequest(f, t.get("id"), o)
	case m.setup.Dialect.IsRequest(method) && m.setup.Dialect.FromExtension(method):
		m.report(m.rules.requestID, f, -1, "the request %q without an id", method)
	}
	switch method {
	case dialect.Progress:
		m.progress(f, params)
	case dialect.Notification:
		m.notice(f, params)
	case dialect.Cancel:
		m.cancelSent(f, params)
	default:
		m.service(f, o)
	}
}

// service judges what an extension wants of its host beyond the core: that the method is open to it, what it
// hangs on, its model, and what this connection has seen before.
func (m *Monitor) service(f wire.Frame, o *owned) {
	if !m.open(o.method) {
		m.refuse(f, "unknown_method")
		m.report(m.rules.notOpen, f, -1, "the extension sent %q, which nothing that was declared and selected opens to it", o.method)
		return
	}
	if m.setup.Dialect.Canonical() {
		m.contracted(f, o)
		return
	}
	before := m.faults
	m.parent(f, o)
	m.owner(f, o.params)
	if m.faults > before {
		m.refuse(f, "not_foreground_owner")
	}
	m.modelled(f, "the params of "+o.method, m.setup.Dialect.Shape(o.method).Params, o.params, paramsPlaces[o.method])
	if check := serviceChecks[o.method]; check != nil {
		check(m, f, o)
	}
	if m.faults > before {
		m.refuse(f, "invalid_params")
	}
}

// Refusal names the error with which a sound host refuses the message of a frame; empty if it serves it.
func (m *Monitor) Refusal(frame int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refusals[frame]
}

// ownRequest judges the id of a request of the extension.
func (m *Monitor) ownRequest(f wire.Frame, id tree, o *owned) {
	if m.setup.Dialect.Knows(o.method) && !m.setup.Dialect.IsRequest(o.method) || slices.Contains([]string{dialect.Progress, dialect.Notification, dialect.Cancel}, o.method) {
		m.report(m.rules.notificationID, f, -1, "%q with an id", o.method)
		return
	}
	_, err := strconv.ParseUint(string(id.raw), 10, 64)
	switch {
	case id.kind() == number && err == nil:
		m.report(m.rules.numericID, f, -1, "the id %s of a request of the extension is a number", id.raw)
	case id.kind() == text && len(id.text()) >= 1 && len(id.text()) <= maxIDBytes:
	default:
		m.report(m.rules.ownID, f, -1, "the id %s of a request of the extension", orNothing(id))
	}
	key := id.spelled()
	if m.own[key] != nil {
		m.report(m.rules.reusedID, f, -1, "the extension uses the id %s a second time", orNothing(id))
		return
	}
	m.own[key] = o
	m.waiting++
	if m.waiting > maxOwnWaiting {
		m.report(m.rules.ownWaiting, f, -1, "%d requests of the extension are unanswered; the bound is %d", m.waiting, maxOwnWaiting)
	}
}

// open reports whether an extension may send a method at all.
func (m *Monitor) open(method string) bool {
	if !m.setup.Dialect.FromExtension(method) {
		return false
	}
	if m.setup.Dialect.Canonical() {
		return slices.Contains(m.result.at("/contract/methods").texts(), method)
	}
	gate := m.setup.Dialect.Gate(method)
	if member, ok := strings.CutPrefix(gate, "contributes."); ok {
		return m.declares(member)
	}
	if featurewire.LookupFeature(gate) == nil {
		return true
	}
	if m.phase == opening {
		return slices.Contains(m.offer.at("/protocol/optional_features").texts(), gate)
	}
	return m.selected(gate)
}

// declares reports whether the manifest has a contribution: one that is true, or a list with something in it.
func (m *Monitor) declares(member string) bool {
	c := m.offer.at("/contributes/" + member)
	return c.truth() || len(c.items()) > 0
}

func (m *Monitor) selected(feature string) bool {
	return slices.Contains(m.result.at("/protocol/features").texts(), feature)
}

// cancelSent judges a cancellation by the extension.
func (m *Monitor) cancelSent(f wire.Frame, p tree) {
	if m.rules.frozenCancel != "" {
		m.report(m.rules.frozenCancel, f, -1, "a cancellation on an API without it")
		return
	}
	// An answer that crosses the cancellation on the wire is nobody's fault.
	o := m.own[p.get("id").spelled()]
	if o == nil || o.answered && m.heard > o.at {
		m.report(m.rules.foreignCancel, f, -1, "the extension cancelled %s, which is no open request of its own", orNothing(p.get("id")))
	} else if o.cancelled {
		m.report(m.rules.cancelTwice, f, -1, "the extension cancelled its request %s twice", p.get("id").raw)
	} else {
		o.cancelled = true
	}
}
