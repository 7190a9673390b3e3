package peer

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/octet-dev/octet/runtime/frame"
)

// out is the one writer of a connection. Whoever finds it idle writes its own frame; frames that come
// meanwhile queue, and a goroutine that lives as long as the queue writes them.
type out struct {
	writing bool
	queue   []outgoing
	spaces  []chan struct{} // closed when the queue has room again, or the connection ended
	sealed  bool            // a last frame was queued
	sent    int64           // bytes given to the writer, ever
}

// outgoing is one frame on its way.
type outgoing struct {
	frame *buffer
	call  *call  // whose request this is, or nil; not to be touched once the frame was begun
	id    string // of call
	last  bool   // nothing may follow it: behind it the connection ends
	end   error  // so

	delivery *delivery   // whose sender waits for the frame, or nil
	overdue  *time.Timer // runs until the frame is written, or nil
}

// buffer is reused memory for one frame.
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// keepBuffer is the largest frame whose memory is kept for the next one, at most until the garbage collector has run
// twice: making a megabyte anew for each large frame costs more than all else that is done with it.
const keepBuffer = 2 << 20

func newBuffer() *buffer { return buffers.Get().(*buffer) }

func (b *buffer) release() {
	if cap(b.b) <= keepBuffer {
		b.b = b.b[:0]
		buffers.Put(b)
	}
}

func (o *out) dropLocked() {
	for _, w := range o.spaces {
		close(w)
	}
	for i := range o.queue {
		o.queue[i].written()
	}
	o.queue, o.spaces = nil, nil
}

// roomLocked returns nil if a frame may be queued, else a channel to wait for.
func (c *Conn) roomLocked() chan struct{} {
	if len(c.out.queue) < c.profile.MaxQueue || c.ended {
		return nil
	}
	w := make(chan struct{})
	c.out.spaces = append(c.out.spaces, w)
	return w
}

// waitRoom blocks until the writer's queue has room, the connection ended, or ctx did.
func (c *Conn) waitRoom(ctx context.Context) error {
	for {
		c.mu.Lock()
		w := c.roomLocked()
		c.mu.Unlock()
		if w == nil {
			return nil
		}
		select {
		case <-w:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// queueLocked takes a frame over. It reports true if the caller is to write it now: it then owes a
// call of write, behind the lock.
func (c *Conn) queueLocked(o outgoing) (mine bool) {
	c.out.sent += int64(len(o.frame.b)) + 1
	c.out.sealed = c.out.sealed || o.last
	if o.call != nil {
		o.call.offset = c.out.sent
	}
	if c.out.writing {
		c.out.queue = append(c.out.queue, o)
		return false
	}
	c.out.writing = true
	return true
}

// write writes the caller's own frame and leaves a queue that has built up to drain.
func (c *Conn) write(o outgoing) {
	if !c.writeOne(o) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.writing = false
	c.wakeWriterLocked()
	c.restLocked()
}

// wakeWriterLocked sees to it that a queue has a writer.
func (c *Conn) wakeWriterLocked() {
	if !c.out.writing && len(c.out.queue) > 0 && !c.ended {
		c.out.writing = true
		c.wg.Add(1)
		go c.drain()
	}
}

// drain writes until the queue is empty.
func (c *Conn) drain() {
	defer c.wg.Done()
	for {
		c.mu.Lock()
		if len(c.out.queue) == 0 || c.ended {
			c.out.writing = false
			c.restLocked()
			c.mu.Unlock()
			return
		}
		o := c.out.queue[0]
		c.out.queue[0] = outgoing{}
		c.out.queue = c.out.queue[1:]
		for _, w := range c.out.spaces {
			close(w)
		}
		c.out.spaces = nil
		c.mu.Unlock()
		if !c.writeOne(o) {
			return
		}
	}
}

// writeOne writes one frame and reports whether the connection lives on. A frame that the sink
// refuses was not begun; any other error leaves the stream in pieces.
func (c *Conn) writeOne(o outgoing) bool {
	if d := o.delivery; d != nil && d.begin != nil && !d.begin() {
		o.frame.release()
		d.settle(ErrNotSent)
		return true
	}
	err := c.opt.Sink.WriteFrame(o.frame.b)
	o.written()
	o.frame.release()
	if o.delivery != nil {
		o.delivery.settle(err)
	}
	var fault *frame.Error
	switch {
	case err == nil && o.last:
		c.end(o.end)
		return false
	case err == nil:
		return true
	case !errors.As(err, &fault):
		c.end(err)
		return false
	case o.call != nil:
		c.settle(o.id, outcome{err: err})
	default:
		c.diagnose(Diagnostic{Rule: fault.Rule(), Blame: Local, Text: "frame not sent", Err: err})
	}
	return true
}

// withdrawLocked takes the request of k out of the queue, unless its frame was begun: then it has left
// the queue.
func (c *Conn) withdrawLocked(k *call) bool {
	for i := range c.out.queue {
		if c.out.queue[i].call == k {
			c.out.queue[i].frame.release()
			c.out.queue = append(c.out.queue[:i], c.out.queue[i+1:]...)
			return true
		}
	}
	return false
}
