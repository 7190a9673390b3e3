package peer

import (
	"time"

	"github.com/octet-dev/octet/generated/rules"
	"github.com/octet-dev/octet/runtime/envelope"
)

// graves are the ids of calls that were abandoned without an answer. A late answer finds its grave
// and is absorbed; the permit of the call is held until then. The oldest comes first.
type graves struct {
	list  []grave
	timer *time.Timer
}

type grave struct {
	id     string
	permit bool
	until  time.Time
}

// buryLocked takes a live call out of the table and remembers its id.
func (c *Conn) buryLocked(k *call) {
	delete(c.calls.live, k.id)
	g := &c.calls.graves
	if len(g.list) >= c.profile.MaxTombstones {
		c.forgetLocked(0)
	}
	g.list = append(g.list, grave{id: k.id, permit: k.permit, until: time.Now().Add(c.profile.TombstoneLife)})
	c.armLocked()
}

// armLocked has the oldest grave swept when it expires. The sweep counts as a goroutine of the
// connection from now on.
func (c *Conn) armLocked() {
	g := &c.calls.graves
	if g.timer == nil && len(g.list) > 0 && !c.ended {
		c.wg.Add(1)
		g.timer = time.AfterFunc(time.Until(g.list[0].until), c.sweep)
	}
}

// forgetLocked drops the n-th grave and frees its permit.
func (c *Conn) forgetLocked(n int) {
	g := &c.calls.graves
	permit := g.list[n].permit
	g.list = append(g.list[:n], g.list[n+1:]...)
	c.calls.putLocked(permit)
}

// exhumeLocked reports whether id has a live grave, and drops it: one late answer is explained, a
// second is not.
func (c *Conn) exhumeLocked(id []byte) bool {
	c.expireLocked()
	for n := range c.calls.graves.list {
		if c.calls.graves.list[n].id == string(id) {
			c.forgetLocked(n)
			return true
		}
	}
	return false
}

func (c *Conn) expireLocked() {
	now := time.Now()
	for len(c.calls.graves.list) > 0 && !now.Before(c.calls.graves.list[0].until) {
		c.forgetLocked(0)
	}
}

func (c *Conn) sweep() {
	defer c.wg.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls.graves.timer = nil
	c.expireLocked()
	c.armLocked()
}

// stopGravesLocked ends the sweeping at the end of the connection.
func (c *Conn) stopGravesLocked() {
	g := &c.calls.graves
	if g.timer != nil && g.timer.Stop() {
		c.wg.Done()
	}
	g.timer, g.list = nil, nil
}

// stray judges a response that settles no call: ignored on the feature wire, the end of the stream
// on the canonical one, unless it is a late answer to an abandoned call.
func (c *Conn) stray(p *Profile, e *envelope.Envelope, buried bool) error {
	switch {
	case buried:
		rule := rules.EXT04Cancel011
		if p.canonical() {
			rule = rules.EXT03Cancel012
		}
		c.blame(rule, "late answer to an abandoned call absorbed", e)
		return nil
	case p.canonical() && p.host():
		return &ProtocolError{Rule: rules.EXT03Order007, Blame: Remote, Text: "response to id " + clip(e.ID) + ", which names no call in flight"}
	case p.canonical():
		return &ProtocolError{Rule: rules.EXT03Env018, Blame: Remote, Text: "response to id " + clip(e.ID) + ", which names no call in flight"}
	case p.host():
		c.blame(rules.EXT04Env004, "response that names no call in flight ignored", e)
	default:
		c.blame(rules.EXT04Env015, "response that names no call in flight ignored", e)
	}
	return nil
}
