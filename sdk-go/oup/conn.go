package oup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// wire carries frames. Read and Write are each called by one goroutine at a time, Close by any and more than once;
// it ends a Read and a Write that wait.
type wire interface {
	Read() ([]byte, error)
	Write(frame []byte) error
	Close() error
	// Torn is asked by the goroutine that reads behind a frame that is none: it returns why the wire ended in the middle
	// of it, or nil.
	Torn() error
}

// conn is one connection: what waits for answers on it, and the goroutines that read and write.
type conn struct {
	wire wire
	hear func(c *conn, m message) // takes notifications, in order; while it waits nothing is read
	out  chan []byte

	mu      sync.Mutex
	pending map[string]*call
	next    uint64
	err     error

	done    chan struct{} // the connection has ended, err says why
	threads sync.WaitGroup
	// heard is when the last frame came, or when reading went on behind a hear that waited; 0 while it waits.
	heard atomic.Int64
}

// call is a request that waits for its answer.
type call struct {
	method string
	// settle is called once, by the goroutine that reads, before the next frame is read.
	settle func(result []byte, err error)
}

func newConn(w wire, hear func(*conn, message)) *conn {
	c := &conn{wire: w, hear: hear, out: make(chan []byte, oupwire.ClientSendQueue), pending: map[string]*call{}, done: make(chan struct{})}
	c.heard.Store(time.Now().UnixNano())
	c.threads.Add(2)
	go c.read()
	go c.write()
	return c
}

func (c *conn) read() {
	defer c.threads.Done()
	for {
		frame, err := c.wire.Read()
		var m message
		if err == nil {
			if m, err = readMessage(frame); err != nil {
				err = cmp.Or(c.wire.Torn(), err)
			}
		}
		if err != nil {
			c.fail(err)
			return
		}
		c.heard.Store(0)
		switch {
		case m.asks: // nobody answers a request that the protocol does not have
		case m.isAnswer && !m.stray:
			c.answer(m)
		default:
			c.hear(c, m)
		}
		c.heard.Store(time.Now().UnixNano())
	}
}

func (c *conn) answer(m message) {
	c.mu.Lock()
	waiting := c.pending[m.id]
	delete(c.pending, m.id)
	c.mu.Unlock()
	switch {
	case waiting == nil: // given up meanwhile
	case m.broken != nil:
		waiting.settle(nil, &ProtocolError{Method: waiting.method, Detail: "its error is none", Err: m.broken})
	case m.fault != nil:
		waiting.settle(nil, refusal(waiting.method, *m.fault))
	default:
		if err := unsupported(waiting.method, m.result); err != nil {
			waiting.settle(nil, err)
			return
		}
		waiting.settle(m.result, nil)
	}
}

func (c *conn) write() {
	defer c.threads.Done()
	for {
		select {
		case frame := <-c.out:
			if err := c.wire.Write(frame); err != nil {
				// What was read last says more than a write that failed.
				c.abandon(err)
				return
			}
		case <-c.done:
			return
		}
	}
}

// patienceForReason is how long a failed write waits for reading to say why.
const patienceForReason = time.Second

// abandon ends the connection behind a failed write.
func (c *conn) abandon(err error) {
	patience := time.NewTimer(patienceForReason)
	defer patience.Stop()
	select {
	case <-c.done:
	case <-patience.C:
		c.fail(err)
	}
}

// guard pings, and ends the connection where nothing is heard any more.
func (c *conn) guard() {
	c.threads.Add(1)
	go func() {
		defer c.threads.Done()
		ticks := time.NewTicker(milliseconds(oupwire.ClientPingIntervalMs))
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
			case <-c.done:
				return
			}
			now := time.Now()
			if heard := c.heard.Load(); heard != 0 && now.UnixNano()-heard >= milliseconds(oupwire.ClientSilenceMs).Nanoseconds() {
				c.fail(errSilent)
				return
			}
			stamp := oupwire.PingParams{Ts: wirejson.Some(json.RawMessage(strconv.FormatInt(now.UnixMilli(), 10)))}
			select {
			case c.out <- requestFrame("", oupwire.MethodPing, stamp.AppendJSON(nil)):
			default: // what waits to be written tells as much
			}
		}
	}()
}

// errSilent is why a connection ended that said nothing any more.
var errSilent = errors.New("the server has said nothing for too long")

// fail ends the connection; the first reason counts. It does not wait for the goroutines.
func (c *conn) fail(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	waiting := c.pending
	c.pending = nil
	close(c.done)
	c.mu.Unlock()
	for _, each := range waiting {
		each.settle(nil, &Disconnected{Method: each.method, Err: err})
	}
}

// close ends the connection and returns when nothing of it runs any more.
func (c *conn) close(err error) {
	c.fail(err)
	_ = c.wire.Close() // its end is what was wanted
	c.threads.Wait()
}

// reason returns why the connection ended.
func (c *conn) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// begin sends a request. The error says that it was not sent; else settle is called once, by the goroutine that reads
// or by who ends the connection. The function that is returned gives up waiting.
func (c *conn) begin(ctx context.Context, method string, params []byte, settle func(result []byte, err error)) (giveUp func(), err error) {
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return nil, &notSentError{method, c.err}
	}
	c.next++
	id := strconv.FormatUint(c.next, 10)
	c.mu.Unlock()
	frame := requestFrame(id, method, params)
	if err := fits(method, frame); err != nil {
		return nil, err
	}
	giveUp = func() {
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
	}
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return nil, &notSentError{method, c.err}
	}
	c.pending[id] = &call{method, settle}
	c.mu.Unlock()
	select {
	case c.out <- frame:
		return giveUp, nil
	case <-ctx.Done():
		giveUp()
		return nil, &requestError{method, over(ctx)}
	case <-c.done:
		return giveUp, nil // settled by the end
	}
}

// errTooLarge is the error of a frame over the bound.
var errTooLarge = errors.New("the request exceeds the size of a frame; send less at once")

func fits(method string, frame []byte) error {
	if len(frame) > oupwire.MaxTextFrameBytes {
		return &requestError{method, errTooLarge}
	}
	return nil
}

// requestError says why a request was not sent.
type requestError struct {
	method string
	err    error
}

func (e *requestError) Error() string { return e.method + ": " + e.err.Error() }
func (e *requestError) Unwrap() error { return e.err }

// timedOut says that a bound of this client was reached, and not one of the caller's.
type timedOut struct {
	wait   time.Duration
	remedy string
}

func (e *timedOut) Error() string { return "no answer within " + e.wait.String() + "; " + e.remedy }

// Unwrap returns context.DeadlineExceeded.
func (e *timedOut) Unwrap() error { return context.DeadlineExceeded }

// within bounds a wait, and has over say so.
func within(ctx context.Context, wait time.Duration, remedy string) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, wait, &timedOut{wait, remedy})
}

// over is why a context has ended: which bound was reached, where it is one of this client's.
func over(ctx context.Context) error {
	var bound *timedOut
	if errors.As(context.Cause(ctx), &bound) {
		return bound
	}
	return ctx.Err()
}

const (
	greeting = "name a command or an address that serves OUP"
	longer   = "give the context a later deadline, or set Options.Timeout"
)

// notSentError says that a connection had ended before a request was sent on it.
type notSentError requestError

func (e *notSentError) Error() string { return e.method + ": not sent: " + e.err.Error() }
func (e *notSentError) Unwrap() error { return e.err }

// call sends a request and waits for its result.
func (c *conn) call(ctx context.Context, method string, params []byte) ([]byte, error) {
	type answer struct {
		result []byte
		err    error
	}
	answers := make(chan answer, 1)
	giveUp, err := c.begin(ctx, method, params, func(result []byte, err error) { answers <- answer{result, err} })
	if err != nil {
		return nil, err
	}
	select {
	case a := <-answers:
		return a.result, a.err
	case <-ctx.Done():
		giveUp()
		return nil, &requestError{method, over(ctx)}
	}
}

// tell sends a notification.
func (c *conn) tell(ctx context.Context, method string, params []byte) error {
	frame := requestFrame("", method, params)
	if err := fits(method, frame); err != nil {
		return err
	}
	select {
	case c.out <- frame:
		return nil
	case <-ctx.Done():
		return over(ctx)
	case <-c.done:
		return &Disconnected{Method: method, Err: c.reason()}
	}
}
