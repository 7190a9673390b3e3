package peer

import (
	"context"
	"io"
	"time"
)

// Notify sends a notification that belongs to the request, as Conn.Notify does. It never comes behind the
// answer: once the request has been answered, by whomever, it returns ErrAnswered and sends nothing.
func (r *Request) Notify(ctx context.Context, method string, params Value) error {
	return r.conn.notify(ctx, method, params, r)
}

// arm sees to it that a cancelled request is answered in time. The first cancellation counts.
func (c *Conn) arm(r *Request, why *CancelledError) {
	if c.opt.HandlerGrace <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.overdue != nil || c.ended || c.served.live[r.ID.String()] != r {
		return
	}
	c.wg.Add(1)
	r.overdue = time.AfterFunc(c.opt.HandlerGrace, func() {
		defer c.wg.Done()
		if r.claimed.CompareAndSwap(false, true) {
			c.diagnose(Diagnostic{Blame: Local, Method: r.Method, ID: r.ID, Text: "handler of a cancelled request has not returned in time, answered in its place"})
			c.deliver(r, composeError(r.ID, c.cancellation(why)), errorGiven, false)
		}
	})
}

// disarmLocked calls off what arm has prepared, if it has not begun.
func (c *Conn) disarmLocked(r *Request) {
	if r.overdue != nil && r.overdue.Stop() {
		c.wg.Done()
	}
}

// finish ends the connection because reading has ended. Behind an orderly end what has arrived is still
// served, within bounds.
func (c *Conn) finish(err error) {
	if err == io.EOF && c.opt.EndGrace > 0 {
		c.settleRest()
	}
	c.end(err)
}

// settleRest waits until every request has been answered and every answer written, or the grace is over.
func (c *Conn) settleRest() {
	grace := time.NewTimer(c.opt.EndGrace)
	defer grace.Stop()
	for {
		c.mu.Lock()
		if len(c.served.live) == 0 && !c.out.writing && len(c.out.queue) == 0 {
			c.mu.Unlock()
			return
		}
		w := make(chan struct{})
		c.served.idle = append(c.served.idle, w)
		c.mu.Unlock()
		select {
		case <-w:
		case <-c.done:
			return
		case <-grace.C:
			return
		}
	}
}

// restLocked wakes those who wait for the writer to come to rest.
func (c *Conn) restLocked() {
	if !c.out.writing && len(c.out.queue) == 0 {
		c.served.wakeLocked()
	}
}
