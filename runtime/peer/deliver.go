package peer

import (
	"context"
	"errors"
)

// ErrTorn is what Deliver returns when its context ends while the frame is being written: how much of it
// the other side will see is unknown. Nothing but the end of the connection makes that certain.
var ErrTorn = errors.New("peer: given up in the middle of a frame")

// delivery is a notification whose sender wants to know what became of its frame.
type delivery struct {
	begin func() bool
	done  chan struct{} // closed when err is set
	err   error
}

func (d *delivery) settle(err error) {
	d.err = err
	close(d.done)
}

// Deliver sends a notification and waits until its frame has left this program, unlike Notify. Right
// before the frame is begun it asks begin, if there is one, whether the frame is still wanted; begin must
// not block. The error is nil for a frame that was written; wraps ErrNotSent for one that never was begun,
// because begin or the end of ctx forbade it; ErrTorn if ctx ended later than that; and else that of the
// connection, as for Notify.
func (c *Conn) Deliver(ctx context.Context, method string, params Value, begin func() bool) error {
	f, err := c.prepareNotification(method, params)
	if err != nil {
		return err
	}
	if c.waitRoom(ctx) != nil {
		f.release()
		return notSent(ctx)
	}
	d := &delivery{begin: begin, done: make(chan struct{})}
	c.mu.Lock()
	if err := c.tooLateLocked(method); err != nil {
		c.mu.Unlock()
		f.release()
		return err
	}
	c.queueLaterLocked(outgoing{frame: f, delivery: d})
	c.mu.Unlock()
	return c.await(ctx, d)
}

// await returns what became of a delivery.
func (c *Conn) await(ctx context.Context, d *delivery) error {
	select {
	case <-d.done:
		return d.err
	case <-c.done:
		select {
		case <-d.done:
			return d.err
		default:
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.whyLocked()
		}
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.out.queue {
		if c.out.queue[i].delivery == d {
			c.out.queue[i].frame.release()
			c.out.queue = append(c.out.queue[:i], c.out.queue[i+1:]...)
			return notSent(ctx)
		}
	}
	select {
	case <-d.done:
		return d.err
	default:
		return ErrTorn
	}
}
