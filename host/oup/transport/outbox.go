package transport

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
)

// Class is what becomes of a frame that does not fit into the queue of a connection.
type Class uint8

// The classes.
const (
	Lifecycle Class = iota // answers and ends of turns: the connection is given up
	Durable                // what is kept elsewhere: dropped, counted and announced
	Ephemeral              // dropped
)

// Frame is one frame on its way out.
type Frame struct {
	Data   []byte // only read, so several connections may share it
	Class  Class
	Stream string // the stream a durable frame belongs to
	Seq    uint64 // its number there
}

// Loss is what a connection did not get of one stream, in one go.
type Loss struct {
	Stream  string
	Dropped uint32
	Before  uint64 // number of the last durable frame in front of the gap; 0 for none
}

// Outcome is what became of a frame.
type Outcome uint8

// The outcomes.
const (
	Queued  Outcome = iota
	Dropped         // there was no room
	Gone            // the connection is given up, closing or closed
)

// OutboxOptions bound an Outbox. Zero fields get the defaults.
type OutboxOptions struct {
	Frames int // frames that wait; the limit writer_queue_frames
	Bytes  int // their bytes; 16 MiB
	// Lossy returns the frame that announces a loss, or nil for none. It is called from the goroutine that
	// writes, right where the lost frames would have stood.
	Lossy func(Loss) []byte
	Grace time.Duration // how long Close waits for a client that does not read; 5 s
}

const (
	defaultBytes = 16 << 20
	defaultGrace = 5 * time.Second
	// stuckGrace is how long Close waits for a write that the end of the connection should end, at most.
	stuckGrace = time.Second
)

// Outbox is the bounded queue in front of a connection: who sends never waits for the client. What waits is
// bounded in frames and in bytes, plus one announcement of losses.
type Outbox struct {
	conn Conn
	opts OutboxOptions

	mu    sync.Mutex
	queue []entry
	bytes int
	taken uint64            // entries that the client was written, one that is being written included
	last  map[string]uint64 // number of the newest queued durable frame, by stream
	state outboxState
	err   error
	wake  chan struct{} // there is something to write, or the state changed; room for one
	room  chan struct{} // closed and renewed when the queue is half empty again

	done chan struct{} // the writer has ended
}

type outboxState uint8

const (
	open    outboxState = iota
	closing             // what waits is written, nothing more is taken
	ended
)

// entry is a frame, or an announcement of losses.
type entry struct {
	data   []byte
	losses []Loss // ordered by their first loss; not nil for an announcement
}

// ErrGivenUp is why a connection ended whose client does not read.
var ErrGivenUp = errors.New("oup connection is given up: the client does not read its answers (OUP-QUEUE-007)")

// ErrStuck is the error of Close where the transport did not let go of a write.
var ErrStuck = errors.New("oup connection is stuck in a write that closing does not end")

// NewOutbox starts writing to the connection, which it closes in the end. Call Close.
func NewOutbox(conn Conn, opts OutboxOptions) *Outbox {
	if opts.Frames == 0 {
		opts.Frames = oupwire.WriterQueueFrames
	}
	if opts.Bytes == 0 {
		opts.Bytes = defaultBytes
	}
	if opts.Grace == 0 {
		opts.Grace = defaultGrace
	}
	if opts.Lossy == nil {
		opts.Lossy = func(Loss) []byte { return nil }
	}
	o := &Outbox{
		conn: conn, opts: opts, last: map[string]uint64{},
		wake: make(chan struct{}, 1), room: make(chan struct{}), done: make(chan struct{}),
	}
	go o.write()
	return o
}

// Send queues a frame and never waits.
func (o *Outbox) Send(f Frame) Outcome {
	o.mu.Lock()
	if o.state != open {
		o.mu.Unlock()
		return Gone
	}
	if len(o.queue) >= o.opts.Frames || o.bytes > 0 && o.bytes+len(f.Data) > o.opts.Bytes {
		if f.Class == Lifecycle {
			o.end(ErrGivenUp)
			o.mu.Unlock()
			_ = o.conn.Close(GivenUp) // an error of an end that nobody waits for says nothing
			return Gone
		}
		if f.Class == Durable {
			o.lose(f)
		}
		o.mu.Unlock()
		return Dropped
	}
	o.queue = append(o.queue, entry{data: f.Data})
	o.bytes += len(f.Data)
	if f.Class == Durable {
		o.last[f.Stream] = f.Seq
	}
	o.mu.Unlock()
	o.signal()
	return Queued
}

// lose counts a dropped frame in the announcement at the end of the queue. A full queue gets at most one, because
// nothing stands behind it before there is room again.
func (o *Outbox) lose(f Frame) {
	if n := len(o.queue); n == 0 || o.queue[n-1].losses == nil {
		o.queue = append(o.queue, entry{losses: []Loss{}})
	}
	notice := &o.queue[len(o.queue)-1]
	for i := range notice.losses {
		if notice.losses[i].Stream == f.Stream {
			notice.losses[i].Dropped++
			return
		}
	}
	notice.losses = append(notice.losses, Loss{Stream: f.Stream, Dropped: 1, Before: o.last[f.Stream]})
}

// Ready waits until at most half of the queue is in use. Who reads requests waits here before the next one, so a
// client that does not read its answers is read no further. The error is that of the context, or why the
// connection ended.
func (o *Outbox) Ready(ctx context.Context) error {
	for {
		o.mu.Lock()
		room, state, half := o.room, o.state, o.half()
		o.mu.Unlock()
		switch {
		case state != open:
			return o.Err()
		case half:
			return nil
		}
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Taken is how many frames were taken from the queue to be written: it stands still where the client reads nothing.
func (o *Outbox) Taken() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.taken
}

// GiveUp ends a connection whose client does not read, and returns ErrGivenUp.
func (o *Outbox) GiveUp() error {
	o.mu.Lock()
	o.end(ErrGivenUp)
	o.mu.Unlock()
	_ = o.conn.Close(GivenUp) // an error of an end that nobody waits for says nothing
	return ErrGivenUp
}

func (o *Outbox) half() bool { return len(o.queue) <= o.opts.Frames/2 && o.bytes <= o.opts.Bytes/2 }

// Err returns why the connection takes no more frames: ErrGivenUp, the error of a write, net.ErrClosed behind
// Close, or nil while it does.
func (o *Outbox) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Ended is closed when nothing is written any more.
func (o *Outbox) Ended() <-chan struct{} { return o.done }

func (o *Outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// end takes no more frames and forgets what waits. The caller holds the lock.
func (o *Outbox) end(err error) {
	if o.state == ended {
		return
	}
	o.state, o.queue, o.bytes = ended, nil, 0
	if o.err == nil {
		o.err = err
	}
	close(o.room)
	o.room = make(chan struct{})
	o.signal()
}

// next takes the oldest entry; more is false at the end, and both are false where there is nothing to write yet.
func (o *Outbox) next() (e entry, got, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state == ended || o.state == closing && len(o.queue) == 0 {
		return entry{}, false, false
	}
	if len(o.queue) == 0 {
		return entry{}, false, true
	}
	wasHalf := o.half()
	e = o.queue[0]
	o.queue[0] = entry{}
	o.taken++
	o.queue = o.queue[1:]
	o.bytes -= len(e.data)
	if len(o.queue) == 0 {
		o.queue = nil
	}
	if !wasHalf && o.half() {
		close(o.room)
		o.room = make(chan struct{})
	}
	return e, true, true
}

func (o *Outbox) write() {
	defer close(o.done)
	for {
		e, got, more := o.next()
		switch {
		case !more:
			return
		case !got:
			<-o.wake
			continue
		}
		if err := o.put(e); err != nil {
			o.mu.Lock()
			o.end(err)
			o.mu.Unlock()
			_ = o.conn.Close(GivenUp) // the write already said what is wrong
			return
		}
	}
}

func (o *Outbox) put(e entry) error {
	if e.losses == nil {
		return o.conn.Write(e.data)
	}
	for _, loss := range e.losses {
		frame := o.opts.Lossy(loss)
		if frame == nil {
			continue
		}
		if err := o.conn.Write(frame); err != nil {
			return err
		}
	}
	return nil
}

// Close writes what waits, closes the connection with the reason, and returns when nothing is written any more.
// A client that does not read is given up after the grace.
func (o *Outbox) Close(reason Reason) error {
	o.mu.Lock()
	if o.state == open {
		o.state, o.err = closing, net.ErrClosed
		close(o.room)
		o.room = make(chan struct{})
	}
	o.mu.Unlock()
	o.signal()
	if !o.wait(o.opts.Grace) {
		reason = GivenUp
	}
	err := o.conn.Close(reason)
	if !o.wait(min(o.opts.Grace, stuckGrace)) {
		return ErrStuck
	}
	return err
}

// wait reports whether the writer ended in time.
func (o *Outbox) wait(limit time.Duration) bool {
	grace := time.NewTimer(limit)
	defer grace.Stop()
	select {
	case <-o.done:
		return true
	case <-grace.C:
		return false
	}
}
