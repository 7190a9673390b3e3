package peer

import (
	"sync/atomic"
	"time"

	"github.com/octet-dev/octet/runtime/envelope"
)

// role says what the holder of the reader's role does. There is one holder at a time, or none.
//
// A request could be served on the goroutine that read it only after the role was handed over: waking
// another goroutine costs as much as all the rest of a short call. So a short request is served while
// the role is kept, and a watch looks on, ticking as long as requests come: when it finds the same
// request served at two ticks, it takes the role away and has another goroutine read on. Whatever
// arrives behind a slow request, its cancellation included, waits for two ticks at most, and as soon
// as one was slow, the following are handed over at once.
//
// On the side of the caller the hand-over would be that of the answer. So where a host makes one call after the
// other, the goroutine that read an answer leaves the role free, the next caller takes it and reads its answer
// by itself: see lend.go. The same watch bounds this: a caller reads for two ticks at most, and the role is free for
// two ticks at most.
type role struct {
	turn     atomic.Uint64 // even: the holder reads; odd: it serves a request. Taking the role away makes it even
	eager    atomic.Int32  // so many requests more are handed over at once
	watching atomic.Bool   // a watch runs
	ticks    atomic.Uint64 // of all watches
	holding
	lending
	message envelope.Envelope // that was read last; the holder's, kept because it would be made anew for each
}

const (
	watchTick   = 500 * time.Microsecond
	watchIdle   = 40                     // ticks without a request until the watch ends
	eagerRun    = 64                     // requests handed over at once behind a slow one
	busyServe   = 100 * time.Microsecond // too slow to keep the role while others wait already
	quickSpares = 8                      // so many of them less for each that was quick after all
	roleServes  = 1                      // the lowest bit of a turn
)

// serveHolding serves r and reports whether this goroutine still has the reader's role.
func (c *Conn) serveHolding(r *Request) bool {
	hold := c.mayHold()
	turn, kept := c.keepRole()
	if !kept {
		c.passRole()
	}
	r.hold = hold && kept
	start := time.Now()
	c.serve(r)
	took := time.Since(start)
	if eager := c.role.eager.Load(); !kept && eager > 0 && took < busyServe {
		// One slow request among quick ones is no reason to go on so.
		c.role.eager.CompareAndSwap(eager, max(0, eager-quickSpares))
	}
	if !kept || !c.role.turn.CompareAndSwap(turn, turn+1) {
		c.flush()
		return false
	}
	c.noteHeld(hold, took)
	c.judgePace(took)
	return true
}

// keepRole marks the holder as serving, unless the request is to be handed over at once. It returns
// the turn that the holder must find again.
func (c *Conn) keepRole() (turn uint64, kept bool) {
	o := &c.role
	if o.eager.Load() > 0 {
		o.eager.Add(-1)
		return 0, false
	}
	if c.startWatch() {
		return 0, false // a request after a pause: the watch is not ticking yet
	}
	turn = o.turn.Add(1)
	if !o.watching.Load() {
		// The watch has ended between the two looks; had it seen this turn, it would have stayed. Where the
		// role is gone already, the turn says so when the request has been served.
		return turn, !o.turn.CompareAndSwap(turn, turn+1)
	}
	return turn, true
}

// judgePace hands the next requests over at once when this one took long enough to be worth it and
// others wait already. The caller holds the role, so it may ask the source.
func (c *Conn) judgePace(took time.Duration) {
	if took < busyServe {
		return
	}
	if c.moreArrived() {
		c.role.eager.Store(eagerRun)
	}
}

// moreArrived reports whether bytes behind the last frame are there already. The caller holds the role.
func (c *Conn) moreArrived() bool {
	source, ok := c.opt.Source.(interface{ Buffered() bool })
	return ok && source.Buffered()
}

// frameArrived reports whether the next frame is there already. The caller holds the role.
func (c *Conn) frameArrived() bool {
	source, ok := c.opt.Source.(interface{ Ready() bool })
	return ok && source.Ready()
}

// passRole has another goroutine read on.
func (c *Conn) passRole() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.wg.Add(1)
		go c.lead()
	}
}

// takeRole takes the role from a holder that serves the request of the given turn.
func (c *Conn) takeRole(turn uint64) {
	if turn%2 == roleServes && c.role.turn.CompareAndSwap(turn, turn+1) {
		c.role.eager.Store(eagerRun)
		c.passRole()
	}
}

// startWatch reports whether there was no watch, and starts one. The caller holds the role.
func (c *Conn) startWatch() bool {
	if !c.role.watching.CompareAndSwap(false, true) {
		return false
	}
	c.wg.Add(1)
	go c.watch()
	return true
}

// watch takes the role away from slow requests and from callers that wait long, gives it to a goroutine of the
// connection where nobody has taken it, and ends when nothing has come for a while.
func (c *Conn) watch() {
	defer c.wg.Done()
	tick := time.NewTimer(watchTick)
	defer tick.Stop()
	last := c.role.turn.Load()
	for idle := 0; ; {
		select {
		case <-c.done:
			return
		case <-tick.C:
		}
		tick.Reset(watchTick)
		c.role.ticks.Add(1)
		turn := c.role.turn.Load()
		switch {
		case turn != last:
			idle = 0
		case turn%2 == roleServes:
			c.takeRole(turn)
			idle = 0
		case turn&(roleFree|roleLent) != 0:
			c.recallRole(turn)
			idle = 0
		default:
			idle++
		}
		last = turn
		if idle < watchIdle {
			continue
		}
		c.role.watching.Store(false)
		if c.role.turn.Load() == last || !c.role.watching.CompareAndSwap(false, true) {
			return
		}
		idle = 0
	}
}
