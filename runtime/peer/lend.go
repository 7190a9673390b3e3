package peer

import (
	"github.com/octet-dev/octet/runtime/frame"
)

// lending is the part of the reader's role that a host lends to its callers.
//
// A turn with roleFree or roleLent is even. Free, it is anybody's who exchanges it for another. Lent, it is the
// caller's who has exchanged it; where that one does not find it again, the watch has called it back, and the
// caller owes to pass the role on.
type lending struct {
	source   interruptible // nil: no caller ever reads
	settled  bool          // the last frame settled the only call; the holder's
	answered uint64        // the tick of the last such answer; the holder's, where it is no caller
}

// interruptible is a Source that a caller may read from, because it can be called back. A *frame.Reader over a
// pipe is one.
type interruptible interface {
	// Interruptible reports whether Interrupt works.
	Interruptible() bool
	// Interrupt makes a Next that waits return frame.ErrInterrupted. It may be called at any time.
	Interrupt()
}

const (
	roleFree = 1 << 63 // nobody reads
	roleLent = 1 << 62 // a caller reads
)

// afterTurn is the even turn behind an even one.
func afterTurn(turn uint64) uint64 { return turn&^(roleFree|roleLent) + 2 }

// lendable has callers of a host read where they can. An extension lends nothing: what its host sends next may
// be a request, which must not wait for a tick.
func (c *Conn) lendable() {
	if source, ok := c.opt.Source.(interruptible); ok && c.opt.Profile.host() && source.Interruptible() {
		c.role.source = source
	}
}

// leaveRole is for the holder that reads, behind each frame. It reports whether it has left the role free: where
// calls come one after the other without a pause.
func (c *Conn) leaveRole() bool {
	o := &c.role
	if o.source == nil || !o.settled {
		return false
	}
	now := o.ticks.Load()
	recent := !c.startWatch() && now-o.answered <= 1
	o.answered = now
	return recent && c.freeRole(o.turn.Load())
}

// freeRole leaves the role free, unless there is something to read or a call to wait for, and reports whether it has.
// The caller holds the role by the given turn; where it keeps it, the turn is without a mark.
func (c *Conn) freeRole(turn uint64) bool {
	o := &c.role
	free := afterTurn(turn) | roleFree
	if c.moreArrived() || !o.turn.CompareAndSwap(turn, free) {
		o.turn.CompareAndSwap(turn, afterTurn(turn)) // else it was called back
		return false
	}
	if o.watching.Load() && !c.callsLive() {
		return true
	}
	// The watch has ended, or a call waits that may not have seen the turn.
	return !o.turn.CompareAndSwap(free, afterTurn(free))
}

func (c *Conn) callsLive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls.live) > 0
}

// recallRole has a goroutine of the connection read on where nobody does, or a caller does.
func (c *Conn) recallRole(turn uint64) {
	if !c.role.turn.CompareAndSwap(turn, afterTurn(turn)) {
		return
	}
	if turn&roleFree != 0 {
		c.passRole()
	} else {
		c.role.source.Interrupt()
	}
}

// readFor reads until k is settled, if the role is free, and at most until it is called back. It reports whether o
// is the outcome. What arrives for others is dealt with, and requests are served elsewhere.
func (c *Conn) readFor(k *call) (o outcome, settled bool) {
	turn, lent := c.borrowRole()
	if !lent {
		return o, false
	}
	defer c.wg.Done()
	for {
		payload, err := c.opt.Source.Next()
		if err == nil {
			var r *Request
			if r, err = c.dispatch(payload); err != nil {
				c.end(err)
			} else if r != nil {
				c.wg.Add(1)
				go func() {
					defer c.wg.Done()
					c.serve(r)
				}()
			}
		}
		select {
		case o = <-k.done:
			settled = true
		default:
		}
		switch {
		case settled && err == nil:
			if !c.freeRole(turn) {
				c.passRole()
			}
			return o, true
		case err != nil && err != frame.ErrInterrupted, c.role.turn.Load() != turn:
			c.role.turn.CompareAndSwap(turn, afterTurn(turn))
			c.passRole() // to one who meets the error again
			return o, settled
		}
	}
}

// borrowRole takes the role if it is free. The caller then counts as a goroutine of the connection.
func (c *Conn) borrowRole() (turn uint64, lent bool) {
	free := c.role.turn.Load()
	if free&roleFree == 0 {
		return 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	turn = afterTurn(free) | roleLent
	if c.ended || !c.role.turn.CompareAndSwap(free, turn) {
		return 0, false
	}
	c.wg.Add(1)
	return turn, true
}
