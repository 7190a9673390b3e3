package peer

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/octet-dev/octet/generated/rules"
	"github.com/octet-dev/octet/runtime/canonical"
	"github.com/octet-dev/octet/runtime/envelope"
	"github.com/octet-dev/octet/runtime/frame"
)

// lead holds the reader's role until the connection ends or the role has passed to another goroutine
// while a request was served: see role.
func (c *Conn) lead() {
	defer c.wg.Done()
	for {
		c.unhold()
		payload, err := c.opt.Source.Next()
		if err == frame.ErrInterrupted {
			continue // a caller was called back that had left by itself
		}
		if err != nil {
			c.flush()
			c.finish(asFault(err))
			return
		}
		c.role.settled = false
		r, err := c.dispatch(payload)
		if err != nil {
			c.flush()
			c.end(err)
			return
		}
		if r != nil && !c.serveHolding(r) || c.leaveRole() {
			return
		}
		select {
		case <-c.done:
			return
		default:
		}
	}
}

// dispatch takes one frame in. It returns a request to be served, or what ends the connection.
func (c *Conn) dispatch(payload []byte) (*Request, error) {
	e := &c.role.message
	if err := envelope.Read(c.opt.Profile.Wire, payload, e); err != nil {
		return nil, c.malformed(err)
	}
	if c.past(e) {
		return nil, nil
	}
	switch e.Kind {
	case envelope.Request:
		return c.request(e)
	case envelope.Notification:
		return nil, c.notification(e)
	case envelope.Invalid:
		return nil, c.invalid(e)
	}
	return nil, c.response(e)
}

// past reports a frame that comes too late: any, behind a last answer of this side, and on a host all
// but answers, behind shutdown.
func (c *Conn) past(e *envelope.Envelope) bool {
	c.mu.Lock()
	sealed := c.out.sealed
	shut := c.phase == draining && c.profile.host() && (e.Kind == envelope.Request || e.Kind == envelope.Notification)
	c.mu.Unlock()
	if shut {
		rule := rules.EXT04Shut007
		if c.opt.Profile.canonical() {
			rule = rules.EXT03Shut011
		}
		c.blame(rule, "message behind shutdown ignored", e)
	}
	return sealed || shut
}

// canonicalRules maps what a payload breaks to the rule that an extension broke by writing it.
var canonicalRules = map[canonical.Class]string{
	canonical.Syntax:       rules.EXT03Canon011,
	canonical.Control:      rules.EXT03Canon005,
	canonical.UTF8:         rules.EXT03Frame007,
	canonical.Surrogate:    rules.EXT03Canon007,
	canonical.DuplicateKey: rules.EXT03Canon003,
	canonical.KeyOrder:     rules.EXT03Canon002,
	canonical.Escape:       rules.EXT03Canon006,
	canonical.Number:       rules.EXT03Canon008,
	canonical.Depth:        rules.EXT03Canon010,
	canonical.Whitespace:   rules.EXT03Canon001,
	canonical.Trailing:     rules.EXT03Frame004,
	canonical.BOM:          rules.EXT03Frame008,
}

// malformed judges a payload that is no JSON of the wire. An extension on the feature wire answers
// and reads on; everywhere else the stream has lost its meaning.
func (c *Conn) malformed(err error) error {
	p := c.opt.Profile
	e := &ProtocolError{Rule: rules.EXT04Frame011, Blame: Remote, Text: "malformed frame", Err: err}
	var fault *canonical.Error
	switch {
	case errors.As(err, &fault) && p.host():
		e.Rule = canonicalRules[fault.Class]
	case p.canonical():
		e.Rule = rules.EXT03Canon013
	case p.host():
		e.Rule = rules.EXT04Frame001
	default:
		c.diagnose(Diagnostic{Rule: e.Rule, Blame: Remote, Text: e.Text, Err: err})
		c.refuse(envelope.ID{}, Fail(p.Errors.Parse, nil))
		return nil
	}
	return e
}

// invalid judges a payload that is JSON and no message.
func (c *Conn) invalid(e *envelope.Envelope) error {
	p := c.opt.Profile
	rule := e.Reason.Rule(p.Wire, p.Side.Other())
	fault := &ProtocolError{Rule: rule, Blame: Remote, Text: "invalid message: " + e.Reason.String()}
	switch {
	case p.canonical() && p.host(), p.host() && e.Reason == envelope.NotObject:
		return fault
	case c.failNamed(e, fault), e.ID == nil || !e.Asks:
		// An error on the id of an own call would be a response to a request that nobody made.
	case c.refuseEarly(e, fault):
		return nil
	default:
		c.refuse(envelope.RawID(e.ID), Fail(p.Errors.InvalidRequest, nil))
	}
	c.blame(rule, fault.Text, e)
	if e.Reason == envelope.NotObject && !p.canonical() {
		c.refuse(envelope.ID{}, Fail(p.Errors.InvalidRequest, nil))
	}
	return nil
}

// failNamed fails the live call that a malformed response names, and reports whether there was one. The host
// meant to settle it, so nothing else will. A grave is emptied as by any late answer.
func (c *Conn) failNamed(e *envelope.Envelope, fault error) bool {
	if e.ID == nil || !e.Answers {
		return false
	}
	c.mu.Lock()
	k := c.calls.takeLocked(e.ID)
	if k == nil {
		c.exhumeLocked(e.ID)
	}
	c.mu.Unlock()
	if k != nil {
		k.settle(outcome{err: fault})
	}
	return k != nil
}

// refuseEarly answers an invalid request that comes before the session stands, which on the canonical
// wire is the last thing an extension does.
func (c *Conn) refuseEarly(e *envelope.Envelope, fault error) bool {
	c.mu.Lock()
	early := c.phase < running && c.profile.canonical()
	c.mu.Unlock()
	if early {
		c.reply(composeError(envelope.RawID(e.ID), Fail(c.opt.Profile.Errors.InvalidRequest, nil)), fault)
	}
	return early
}

// notification takes a notification in. It returns what ends the connection.
func (c *Conn) notification(e *envelope.Envelope) error {
	c.mu.Lock()
	p := c.profile
	m := p.methods[string(e.Method)]
	opened := c.mayReceiveLocked(m, true)
	early := c.phase < running
	c.mu.Unlock()
	switch {
	case p.Cancel != "" && string(e.Method) == p.Cancel && !(early && p.canonical() && p.host()):
		c.cancelled(p, e)
		return nil
	case opened:
		c.notice(m.Name, e.Params)
		return nil
	}
	rule := p.strayRule(early)
	if p.canonical() && p.host() {
		return &ProtocolError{Rule: rule, Blame: Remote, Text: "notification of " + clip(e.Method) + ", which is not open"}
	}
	c.blame(rule, "notification of a method that is not open ignored", e)
	return nil
}

// strayRule is the rule that the other side breaks by sending a method that is not open.
func (p *Profile) strayRule(early bool) string {
	switch {
	case p.canonical() && p.host() && early:
		return rules.EXT03Order002
	case p.canonical() && p.host():
		return rules.EXT03Order004
	case p.canonical():
		return rules.EXT03Method008
	case p.host() && early:
		return rules.EXT04Order001
	case p.host():
		return rules.EXT04Order005
	}
	return rules.EXT04Order011
}

// notice runs the callback; its panic is this program's fault and ends nothing.
func (c *Conn) notice(method string, params []byte) {
	if c.opt.Notice == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			c.diagnose(Diagnostic{Blame: Local, Method: method, Text: "notice panicked", Err: panicked(v)})
		}
	}()
	c.opt.Notice(&Notice{Method: method, Params: params})
}

// cancelled cancels the request that a $/cancelRequest names. An id that names none is no fault and
// leaves nothing behind.
func (c *Conn) cancelled(p *Profile, e *envelope.Envelope) {
	id, reason, err := p.decodeCancel(e.Params)
	if err != nil {
		c.diagnose(Diagnostic{Blame: Remote, Method: p.Cancel, Text: "cancellation with bad params ignored", Err: err})
		return
	}
	why := &CancelledError{Reason: reason}
	c.mu.Lock()
	r := c.served.live[envelope.FromWire(id).String()]
	if r == nil {
		k := c.calledOffLocked(p, envelope.FromWire(id).String())
		c.mu.Unlock()
		if k != nil {
			k.settle(outcome{err: why})
		}
		return
	}
	c.mu.Unlock()
	r.cancel(why)
	c.arm(r, why)
}

// calledOffLocked takes out the call of an extension that the host has given up by itself, as it does with
// every call whose parent has been answered. The canonical wire has no such thing.
func (c *Conn) calledOffLocked(p *Profile, id string) *call {
	k := c.calls.live[id]
	if k == nil || p.host() || p.canonical() {
		return nil
	}
	c.buryLocked(k)
	return k
}

// panicked turns what a callback panicked with into an error that holds the stack.
func panicked(v any) error { return fmt.Errorf("panic: %v\n%s", v, debug.Stack()) }

var (
	_ Source = (*frame.Reader)(nil)
	_ Sink   = (*frame.Writer)(nil)
)
