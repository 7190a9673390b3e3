package peer

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/octet-dev/octet/runtime/frame"
)

// out is the one writer of a connection. Whoever finds it idle writes its own frame, and what is queued with
// it; frames that come meanwhile queue, and a goroutine that lives as long as the queue writes them. Frames
// that are queued together leave in one write.
type out struct {
	writing bool // somebody writes, or is about to
	held    bool // nobody does: the holder of the reader's role owes a call of flush. Never both
	queue   []outgoing
	batch   []outgoing      // being written; the writer's
	texts   [][]byte        // so
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

const (
	batchFrames = 32       // in one write
	batchBytes  = 16 << 10 // so: together with unprovenMost they fit a pipe
)

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
	o.queue, o.spaces, o.held = nil, nil, false
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

// addLocked gives a frame its place.
func (c *Conn) addLocked(o outgoing) {
	c.out.sent += int64(len(o.frame.b)) + 1
	c.out.sealed = c.out.sealed || o.last
	if o.call != nil {
		o.call.offset = c.out.sent
	}
	c.out.queue = append(c.out.queue, o)
}

// queueLocked takes a frame over. It reports true if the caller is to write now: it then owes a call of write,
// behind the lock.
func (c *Conn) queueLocked(o outgoing) (mine bool) {
	c.addLocked(o)
	return c.seizeLocked()
}

// seizeLocked makes the caller the writer, unless there is one.
func (c *Conn) seizeLocked() bool {
	if c.out.writing {
		return false
	}
	c.out.writing, c.out.held = true, false
	return true
}

// queueLaterLocked takes a frame over for another goroutine to write.
func (c *Conn) queueLaterLocked(o outgoing) {
	c.addLocked(o)
	c.wakeWriterLocked()
}

// holdLocked takes a frame over that others will soon follow. The holder of the reader's role calls it, who then
// owes a call of flush.
func (c *Conn) holdLocked(o outgoing) {
	c.addLocked(o)
	c.out.held = !c.out.writing
}

// flush writes what is held.
func (c *Conn) flush() {
	c.mu.Lock()
	mine := c.out.held && c.seizeLocked()
	c.mu.Unlock()
	if mine {
		c.write()
	}
}

// flushLater has another goroutine write what is held.
func (c *Conn) flushLater() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.out.held {
		c.wakeWriterLocked()
	}
}

// write writes the caller's own frame, with those that are queued around it, and leaves a longer queue to drain.
func (c *Conn) write() {
	c.mu.Lock()
	c.takeBatchLocked()
	c.mu.Unlock()
	if !c.writeBatch() {
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
	if len(c.out.queue) > 0 && !c.ended && c.seizeLocked() {
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
		c.takeBatchLocked()
		c.mu.Unlock()
		if !c.writeBatch() {
			return
		}
	}
}

// takeBatchLocked takes what leaves in one write out of the queue. What somebody waits for, and a last frame, goes
// alone.
func (c *Conn) takeBatchLocked() {
	o := &c.out
	n, size := 0, 0
	for ; n < min(len(o.queue), batchFrames); n++ {
		next := &o.queue[n]
		alone := next.delivery != nil || next.last
		if size += len(next.frame.b) + 1; n > 0 && (alone || size > batchBytes) {
			break
		}
		if alone {
			n++
			break
		}
	}
	o.batch = append(o.batch[:0], o.queue[:n]...)
	rest := copy(o.queue, o.queue[n:])
	clear(o.queue[rest:])
	o.queue = o.queue[:rest]
	for _, w := range o.spaces {
		close(w)
	}
	o.spaces = nil
}

// writeBatch writes the batch and reports whether the connection lives on.
func (c *Conn) writeBatch() bool {
	o := &c.out
	defer clear(o.batch)
	if sink, ok := c.opt.Sink.(batcher); ok && len(o.batch) > 1 {
		o.texts = o.texts[:0]
		for i := range o.batch {
			o.texts = append(o.texts, o.batch[i].frame.b)
		}
		err := sink.WriteFrames(o.texts)
		clear(o.texts)
		if err == nil || !refused(err) {
			for i := range o.batch {
				o.batch[i].written()
				o.batch[i].frame.release()
			}
			if err != nil {
				c.end(err)
			}
			return err == nil
		}
	}
	for i := range o.batch {
		if !c.writeOne(o.batch[i]) {
			return false
		}
	}
	return true
}

// refused reports an error of a Sink that has not begun what it was given.
func refused(err error) bool {
	var fault *frame.Error
	return errors.As(err, &fault)
}

// batcher is a Sink that writes several frames at once, or none of them where it refuses one.
type batcher interface {
	WriteFrames(payloads [][]byte) error
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
	if err == nil {
		if o.last {
			c.end(o.end)
		}
		return !o.last
	}
	var fault *frame.Error
	switch {
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
