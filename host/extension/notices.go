package extension

import (
	"context"
	"fmt"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/runtime/envelope"
	"github.com/octet-dev/octet/runtime/peer"
)

// Notify sends a notification: a lifecycle event, or one that belongs to a service. One that was not
// negotiated or subscribed is refused here, with a diagnostic and an *UnopenedError, and never sent. It
// returns when the frame is queued and blocks only while the writer's queue is full.
func (x *Extension) Notify(ctx context.Context, method string, params peer.Value) error {
	if err := x.mayNotify(method); err != nil {
		return err
	}
	return x.conn.Notify(ctx, method, params)
}

// Deliver is Notify for a sender that has to know whether its frame has left: see peer.Conn.Deliver.
func (x *Extension) Deliver(ctx context.Context, method string, params peer.Value, begin func() bool) error {
	if err := x.mayNotify(method); err != nil {
		return err
	}
	return x.conn.Deliver(ctx, method, params, begin)
}

// UnopenedError says that an extension has not negotiated a notification, or not subscribed to it.
type UnopenedError struct{ Extension, Method string }

// Error names both.
func (e *UnopenedError) Error() string {
	return fmt.Sprintf("extension `%s` has not negotiated `%s`; it is not sent", e.Extension, e.Method)
}

// DrainingError says that an extension is shutting down and no longer told of beginnings.
type DrainingError struct{ Extension, Method string }

// Error names both.
func (e *DrainingError) Error() string {
	return fmt.Sprintf("extension `%s` is draining; `%s` is not sent", e.Extension, e.Method)
}

// due reports whether a notification ends what was begun: such are sent while an extension drains.
//
// Source: sheet 14.1; EXT04-ORDER-014.
func due(method string) bool {
	switch method {
	case featurewire.MethodSessionSettled, featurewire.MethodTurnSettled, featurewire.MethodToolSettled,
		featurewire.MethodMessageUpdated, featurewire.MethodMessageSettled, featurewire.MethodCompactionSettled,
		featurewire.MethodCompactionFailed, featurewire.MethodDialogSettled, featurewire.MethodTerminalGrantLost, featurewire.MethodUIClosed:
		return true
	}
	return false
}

func (x *Extension) mayNotify(method string) error {
	if x.opens(method) {
		if x.Draining() && !due(method) && x.source.Manifest.API != canonicalVersion {
			return &DrainingError{x.source.Manifest.Name, method}
		}
		return nil
	}
	err := &UnopenedError{x.source.Manifest.Name, method}
	x.events.diagnostic(err.Error())
	return err
}

// notice takes notifications of the extension, on the reading goroutine.
func (x *Extension) notice(n *peer.Notice) {
	switch {
	case n.Method == featurewire.MethodProgress:
		x.progressed(n.Params)
		return
	case !x.declares(n.Method):
		return
	case n.Method == featurewire.MethodNotification && x.notices[n.Method] == nil:
		x.notified(n.Params)
		return
	}
	f := x.notices[n.Method]
	if f == nil {
		x.ignore(fmt.Sprintf("%s is dropped: this host has no service for it", n.Method))
		return
	}
	m := x.wire.profile().Method(n.Method)
	parent, owner, err := x.correlate(m, n.Params)
	if err == nil {
		err = x.checkForeground(m, owner)
	}
	if err != nil {
		x.ignore(fmt.Sprintf("%s is dropped: %v", n.Method, err))
		return
	}
	f(&Incoming{Extension: x, Method: n.Method, Params: n.Params, Parent: parent, Owner: owner})
}

// declares reports whether the manifest opens a notification that no feature gates. What it does not open
// is dropped with a diagnostic.
func (x *Extension) declares(method string) bool {
	c := &x.source.Manifest.Contributes
	declared, what := true, ""
	switch method {
	case featurewire.MethodNotification:
		declared, what = c.Notifications, "emitted undeclared notification capability; set notifications = true in contributes"
	case featurewire.MethodContextContribution:
		declared, what = c.Context, "contributed undeclared context; set context = true in contributes"
	case featurewire.MethodStatusContribution:
		declared, what = len(c.UI) > 0, "contributed an undeclared status; declare the surface in contributes.ui"
	case featurewire.MethodPresentationUpdate:
		declared, what = c.Presentation, "sent an undeclared presentation; set presentation = true in contributes"
	}
	if !declared {
		x.ignore(method + " is dropped: extension " + what)
	}
	return declared
}

func (x *Extension) progressed(params []byte) {
	decoded, err := featurewire.DecodeProgressParams(params)
	if err != nil {
		x.ignore("progress is dropped: " + err.Error())
		return
	}
	live := x.conn.InFlight(envelope.FromWire(decoded.RequestID))
	id, _ := decoded.RequestID.Int()
	x.mu.Lock()
	running := x.running[id]
	if !live {
		running = nil // its answer has arrived, though nobody has taken it yet
	}
	late := running == nil || decoded.Sequence <= running.sequence
	if !late {
		running.sequence = decoded.Sequence
	}
	x.mu.Unlock()
	_, decorates := decoded.Event.(featurewire.ProgressDecoration)
	switch {
	case running == nil:
		x.ignore(fmt.Sprintf("progress is dropped: request %s is not running", decoded.RequestID))
	case late:
		x.ignore(fmt.Sprintf("progress is dropped: sequence %d of request %s does not grow", decoded.Sequence, decoded.RequestID))
	case decorates && !x.Has(featurewire.FeatureProgressDecoration):
		x.ignore("progress is dropped: " + featurewire.FeatureProgressDecoration + " was not selected")
	case running.progress != nil:
		event, err := progress(decoded.Event)
		if err != nil {
			x.ignore("progress is dropped: " + err.Error())
			return
		}
		x.events.post(func() { running.progress(event) })
	}
}

func (x *Extension) notified(params []byte) {
	decoded, err := featurewire.DecodeNotification(params)
	if err != nil {
		x.ignore("notification is dropped: " + err.Error())
		return
	}
	x.tell(decoded)
}

// tell passes a notification to the person.
func (x *Extension) tell(decoded featurewire.Notification) {
	if x.options.Notify == nil {
		return
	}
	n := Notification{
		Level: string(decoded.Level.Or(featurewire.NotificationLevelInfo)), Title: decoded.Title.Or(""), Message: decoded.Message,
	}
	x.events.post(func() { x.options.Notify(n) })
}
