package subject

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/process"
)

// Reasons for which a wait ends without what it waited for.
var (
	// ErrNoAnswer: the deadline passed and the subject's output is still open.
	ErrNoAnswer = errors.New("no answer within the deadline")
	// ErrEnded: the subject's output ended first.
	ErrEnded = errors.New("the output of the extension ended")
	// ErrStuck: the subject does not read its input.
	ErrStuck = errors.New("the extension does not read its input")
	// ErrHeld: another process holds our end of the subject's output.
	ErrHeld = errors.New("another process can still read what the extension writes")
)

// Bounds of a Conversation.
const (
	// MaxFrame is how much of one line is read at a time. It is over any bound that a wire allows.
	MaxFrame = 2 << 20
	// maxInbox and maxInboxBytes bound the frames that nobody has waited for yet.
	maxInbox      = 1 << 14
	maxInboxBytes = 64 << 20
)

// Observer sees every frame of both lanes in the order of the recording, and the end of the subject's
// input. Calls do not overlap.
type Observer interface {
	Observe(wire.Frame)
	InputEnded()
}

// Responder answers a request of the subject. It returns the frames to write, in this order, or nil.
type Responder func(Message) [][]byte

// Conversation owns both pipes of a subject. Its methods may be called from several goroutines.
type Conversation struct {
	run      Running
	rec      *wire.Recorder
	observer Observer
	respond  Responder
	replies  replies
	pen      pen
	gate     *gate
	moment   time.Duration // how long the subject may take to write something while nobody reads
	answered int           // belongs to the reader
	delays   Delays

	order sync.Mutex // held while a frame is recorded and observed, so that both see one order

	mu     sync.Mutex // guards the fields below
	inbox  []Message
	held   int // payload bytes of the inbox
	lost   int // frames over the bounds of the inbox
	pieces int // of lines that were too long to be read at once
	ended  bool
	closed bool          // our side of the input
	news   chan struct{} // closed and replaced whenever a field above changes

	readDone chan struct{}
}

// Converse starts reading. Requests of the subject are answered by the responder as they come. The
// conversation must be closed.
func Converse(run Running, rec *wire.Recorder, observer Observer, respond Responder) *Conversation {
	c := &Conversation{run: run, rec: rec, observer: observer, respond: respond, news: make(chan struct{}), readDone: make(chan struct{})}
	c.pen, c.gate = newPen(), newGate(run.Stdout())
	c.replies.write = func(frame []byte) {
		c.record(wire.ToSubject, frame, true)
		// A subject that does not read its input will be found out by a request that it owes.
		c.pen.put(c.run.Stdin(), append(frame, '\n'))
	}
	go c.read()
	return c
}

func (c *Conversation) read() {
	defer close(c.readDone)
	lines := wire.NewSplitter(c.gate, MaxFrame)
	var together []Message // what one read brought, as far as it holds whole lines
	for {
		payload, ended, err := lines.Next()
		if err != nil {
			c.change(func() { c.ended = true })
			return
		}
		if together = append(together, read(c.record(wire.FromSubject, payload, ended))); lines.Waiting() {
			continue // A slow host would find all of them unanswered, too.
		}
		for _, m := range together {
			c.answer(m)
		}
		// Not before: whoever has seen a message may count on the host having taken it.
		c.change(func() {
			for _, m := range together {
				c.keep(m)
			}
		})
		together = together[:0]
	}
}

// keep puts a message into the inbox. It is called with the lock.
func (c *Conversation) keep(m Message) {
	size := len(m.Frame.Bytes)
	if !m.Frame.Ended && m.Frame.Size == MaxFrame {
		c.pieces++
	}
	// Behind its first piece a line without end says nothing new.
	if len(c.inbox) >= maxInbox || c.held+size > maxInboxBytes || !m.Frame.Ended && c.pieces > 1 {
		c.lost++
		return
	}
	c.held += size
	c.inbox = append(c.inbox, m)
}

// maxAnswers bounds the requests of a subject that are answered: a flood of them is not worth more.
const maxAnswers = 1 << 10

// answer writes the response to a request of the subject, without holding up the reader.
func (c *Conversation) answer(m Message) {
	if c.respond == nil || m.Method == "" || m.ID == "" || c.answered >= maxAnswers {
		return
	}
	frames := c.respond(m)
	if len(frames) == 0 {
		return
	}
	c.answered++
	c.replies.send(frames...)
}

// Replied waits until every answer given so far has been written, at most as long as the limit says.
func (c *Conversation) Replied(limit time.Duration) error {
	return c.write(limit, 0, c.replies.wait)
}

// Reply writes frames as answers are written: behind those given before, and without holding up the caller.
func (c *Conversation) Reply(frames ...[]byte) { c.replies.send(frames...) }

func (c *Conversation) record(lane wire.Lane, payload []byte, ended bool) wire.Frame {
	c.order.Lock()
	defer c.order.Unlock()
	f := c.rec.Add(lane, payload, ended)
	c.observer.Observe(f)
	return f
}

func (c *Conversation) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	close(c.news)
	c.news = make(chan struct{})
}

// Send writes one frame, the line feed added. It is recorded before it is written, because the answer
// can arrive before the write returns. An input that the subject has closed is no error: what follows
// from it shows in what the subject writes or in its end.
func (c *Conversation) Send(payload []byte, limit time.Duration) error {
	return c.write(limit, len(payload), func() {
		c.record(wire.ToSubject, payload, true)
		c.pen.put(c.run.Stdin(), append(append(make([]byte, 0, len(payload)+1), payload...), '\n'))
	})
}

// SendBytes writes bytes as they are, in one write. They are recorded as the lines they hold; what stands
// behind the last line feed is a frame without one.
func (c *Conversation) SendBytes(b []byte, limit time.Duration) error {
	err := c.write(limit, len(b), func() {
		c.replies.hold()
		rest := b
		for len(rest) > 0 {
			line, behind, ended := bytes.Cut(rest, []byte{'\n'})
			c.record(wire.ToSubject, line, ended)
			rest = behind
		}
		c.pen.put(c.run.Stdin(), b)
	})
	if err == nil && bytes.HasSuffix(b, []byte{'\n'}) {
		c.replies.release()
	}
	return err
}

// write does the writing of so many bytes within a limit.
func (c *Conversation) write(limit time.Duration, size int, writing func()) error {
	c.gate.held(c.moment)
	done := make(chan struct{})
	go func() {
		defer close(done)
		writing()
	}()
	patience := c.patience(limit)
	defer patience.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-patience.C:
			if patience.Extended() {
				continue
			}
			c.closeInput()
			<-done
			return fmt.Errorf("%d bytes were not taken within %v: %w", size, limit, ErrStuck)
		}
	}
}

// closeLimit bounds the writing of what was kept until the input is closed.
const closeLimit = time.Second

// CloseInput ends the subject's input behind every frame that has been begun. Further calls do nothing.
func (c *Conversation) CloseInput() {
	// One that does not read has its input closed all the same.
	_ = c.flush(closeLimit)
	c.pen.set(c.closeInput)
}

// closeInput ends the subject's input at once.
func (c *Conversation) closeInput() {
	c.order.Lock()
	c.observer.InputEnded()
	c.order.Unlock()
	c.change(func() {
		if !c.closed {
			c.closed = true
			_ = c.run.Stdin().Close()
		}
	})
}

// Await takes the first message that the predicate accepts out of those nobody has taken yet, waiting
// for one at most as long as the limit says.
func (c *Conversation) Await(accept func(Message) bool, limit time.Duration) (Message, error) {
	if err := c.flush(limit); err != nil {
		return Message{}, err
	}
	c.gate.release()
	patience := c.patience(limit)
	defer patience.Stop()
	for {
		m, found, ended, news := c.take(accept)
		switch {
		case found:
			return m, nil
		case ended:
			return Message{}, ErrEnded
		}
		select {
		case <-news:
		case <-patience.C:
			if !patience.Extended() {
				return Message{}, ErrNoAnswer
			}
		}
	}
}

func (c *Conversation) take(accept func(Message) bool) (m Message, found, ended bool, news <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, m := range c.inbox {
		if accept(m) {
			c.inbox = append(c.inbox[:i:i], c.inbox[i+1:]...)
			c.held -= len(m.Frame.Bytes)
			return m, true, c.ended, c.news
		}
	}
	return Message{}, false, c.ended, c.news
}

// Poll takes the first message that the predicate accepts, if there is one already.
func (c *Conversation) Poll(accept func(Message) bool) (Message, bool) {
	m, found, _, _ := c.take(accept)
	return m, found
}

// drainLimit bounds the wait for the end of the output once the subject has exited. Only a descendant that holds the
// pipe open makes it last that long; restLimit is how much longer it may take to read what is in the pipe by then.
const (
	drainLimit = 250 * time.Millisecond
	restLimit  = 2 * time.Second
)

// AwaitEnd waits for the subject to exit and for the rest of what it wrote. A pipe that a descendant keeps
// open after the subject has gone is not waited for.
func (c *Conversation) AwaitEnd(limit time.Duration) error {
	if err := c.flush(limit); err != nil {
		return err
	}
	defer c.gate.release()
	patience := c.patience(limit)
	defer patience.Stop()
	for running := true; running; {
		select {
		case <-c.run.Exited():
			running = false
		case <-patience.C:
			if !patience.Extended() {
				return ErrNoAnswer
			}
		}
	}
	c.gate.release()
	drain := time.NewTimer(drainLimit)
	defer drain.Stop()
	select {
	case <-c.readDone:
	case <-drain.C:
		process.AwaitRead(c.run.Stdout(), c.readDone, restLimit)
	}
	return nil
}

// Ended reports whether the subject's output has ended.
func (c *Conversation) Ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// Lost counts frames that were recorded but not kept for waiting, because there were too many.
func (c *Conversation) Lost() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

// StopReading closes our end of the subject's output and returns once nobody else holds that end either,
// as far as the system tells: from then on, whatever the subject writes meets a broken pipe. If somebody
// still holds it after the limit, the error is ErrHeld.
func (c *Conversation) StopReading(limit time.Duration) error {
	out := c.run.Stdout()
	awaitUnread := watchReaders(out)
	_ = out.Close()
	c.gate.release()
	<-c.readDone
	return awaitUnread(limit)
}

// Close ends the subject with everything it started and returns once nothing of it is left to wait for.
func (c *Conversation) Close() Ended {
	c.gate.release()
	ended := c.run.End()
	<-c.readDone
	c.replies.wait()
	return ended
}
