package peer

import (
	"slices"

	"github.com/octet-dev/octet/generated/rules"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Session is what initialization settled.
type Session struct {
	// Open lists the methods that may be used now, in whichever direction the method table gives them.
	// nil keeps what is open.
	Open []string
	// MaxFrameBytes is the payload bound of both directions. 0 keeps the bound.
	MaxFrameBytes int
	// MaxConcurrent bounds the requests from host to extension: further calls of a host wait, further
	// requests to an extension are refused. 0 keeps the bound.
	MaxConcurrent int
	// Profile replaces the profile by another of the same wire and side, where an extension learns the
	// version only from initialize. nil keeps it.
	Profile *Profile
}

// Install puts s in force, in one step for both directions: bytes that have arrived behind the
// initialize answer are judged by it. A host calls it in Call.Install, an extension in
// Request.BeforeAnswer. It panics on a profile of another wire or side.
func (c *Conn) Install(s Session) {
	if p := s.Profile; p != nil && (p.Wire != c.opt.Profile.Wire || p.Side != c.opt.Profile.Side) {
		panic("peer: a session cannot change wire or side")
	}
	if s.MaxFrameBytes > 0 {
		c.opt.Source.SetBound(s.MaxFrameBytes)
		c.opt.Sink.SetBound(s.MaxFrameBytes)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase < running {
		c.phase = running
	}
	if s.Profile != nil {
		c.profile = s.Profile
	}
	if s.Open != nil {
		c.open = make(map[string]bool, len(s.Open))
		for _, name := range s.Open {
			c.open[name] = true
		}
	}
	if s.MaxConcurrent > 0 {
		c.calls.most = s.MaxConcurrent
		c.calls.admitLocked()
	}
}

// earlyLocked reports whether a request may come while initialize is being answered.
func (c *Conn) earlyLocked(m *wirejson.Method) bool {
	return m != nil && c.phase == initialing && m.Parent == wirejson.ParentInitialize && c.profile.takes(m) && slices.Contains(c.opt.Early, m.Name)
}

// mayReceiveLocked reports whether a method of the given kind is open towards this side.
func (c *Conn) mayReceiveLocked(m *wirejson.Method, notification bool) bool {
	return m != nil && c.phase >= running && m.Notification == notification && c.profile.takes(m) && c.open[m.Name]
}

// maySendLocked returns why a method cannot be sent now, or nil.
func (c *Conn) maySendLocked(name string, notification bool) error {
	m := c.profile.Method(name)
	first := name == c.profile.Initialize && c.phase == opening
	switch {
	case c.ended:
		return c.whyLocked()
	case c.phase == draining && (!notification || c.profile.host() && name != c.profile.Cancel):
		return ErrDraining
	case m != nil && m.Notification == notification && c.profile.sends(m) && (first || c.phase >= running && c.open[name]):
		return nil
	case m != nil && m.Notification == notification && c.profile.sends(m) && c.phase == initialing && m.Parent == wirejson.ParentInitialize:
		return nil
	}
	return &ProtocolError{Rule: c.unsentRuleLocked(), Blame: Local, Text: "method " + clip([]byte(name)) + " is not open to be sent; select it in initialize"}
}

// muteLocked reports whether this side owes no answers any more: a host on the canonical wire says
// nothing behind its shutdown but $/cancelRequest.
func (c *Conn) muteLocked() bool {
	return c.phase == draining && c.profile.canonical() && c.profile.host()
}

func (c *Conn) unsentRuleLocked() string {
	switch p := c.profile; {
	case p.canonical() && p.host():
		return rules.EXT03Method008
	case p.canonical():
		return rules.EXT03Order004
	case p.host():
		return rules.EXT04Order011
	}
	return rules.EXT04Order005
}
