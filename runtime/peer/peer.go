// Package peer is a JSON-RPC peer for both octet wires and both sides: a host's connection to an
// extension, and an extension's to its host.
//
// It does no I/O of its own: frames come from a Source and go to a Sink, time is that of package
// time, so a conversation runs in memory and in a testing/synctest bubble. It starts no request by
// itself and knows no method but the three that the protocol gives it: it answers what is not open,
// carries $/cancelRequest both ways, and closes the door behind shutdown.
//
// The life of a frame:
//
//	lead        holds the reader's role; one goroutine at a time
//	  dispatch  envelope.Read, then by kind
//	    request       gate, register, run the handler right here; see role for who reads meanwhile
//	    notification  $/cancelRequest, or Options.Notice, right here and before the next frame
//	    response      settle the call it names
//	answer      the outcome is claimed once, composed, queued
//	send        whoever finds the writer idle writes; what queues meanwhile goes to drain, and what is
//	            queued together leaves in one write
//
// A lone request is thus read, served and answered on one goroutine. A lone call is written by its caller
// and, where calls come one after the other, its answer is read by the caller as well: see lend.go. No lock
// is held during reading, writing or a callback.
package peer

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/octet-dev/octet/runtime/envelope"
)

// Source yields the payloads of frames. A *frame.Reader is one.
type Source interface {
	// Next returns the next payload, valid until the next call; io.EOF at the ordinary end. It is called
	// from one goroutine at a time. A Source that has Interruptible and Interrupt, as a *frame.Reader has, may
	// be read by the callers of a host.
	Next() ([]byte, error)
	// SetBound replaces the bound for frames that Next has not returned. It may be called at any time.
	SetBound(bytes int)
}

// Sink takes the payloads of frames. A *frame.Writer is one.
type Sink interface {
	// Check returns why payload cannot be one frame under the bound in force, or nil. It may be called at
	// any time.
	Check(payload []byte) error
	// WriteFrame writes one frame. It is called from one goroutine at a time and keeps nothing. A Sink that has
	// WriteFrames, as a *frame.Writer has, is given frames that are ready together at once.
	WriteFrame(payload []byte) error
	// SetBound replaces the bound for the frames to come. It may be called at any time.
	SetBound(bytes int)
}

// Value is something that writes itself as JSON: every generated model does.
type Value interface {
	AppendJSON(dst []byte) []byte
}

// Raw is a Value that is JSON already, in the spelling of the wire.
type Raw []byte

// AppendJSON appends the text.
func (r Raw) AppendJSON(dst []byte) []byte { return append(dst, r...) }

// Notice is a notification that arrived.
type Notice struct {
	Method string
	Params []byte // JSON; nil where absent, which only the feature wire allows; valid during the call
}

// Handler serves one request. See Request for what its results become.
type Handler func(ctx context.Context) (Value, error)

// Options configure a Conn. Profile, Source and Sink are required.
type Options struct {
	Profile *Profile
	Source  Source
	Sink    Sink

	// Hangup is called once, when the connection ends. It must make a blocked Next and a blocked
	// WriteFrame return, for Wait and Close wait for both.
	Hangup func()

	// Handle serves a request that is open and legal; nil refuses every one. Each runs on a goroutine of
	// its own, started in the order of arrival. See Request for what its results become.
	Handle func(ctx context.Context, r *Request) (Value, error)

	// Arrived, if set, takes the requests that Handle would serve as they arrive, on the reading goroutine, so that
	// it finds everything as it was in front of the frames behind them; what it returns serves the request. It must
	// not block. Handle is not called then.
	Arrived func(r *Request) Handler

	// Notice takes the notifications that are open, in order of arrival, on the reading goroutine: what
	// arrives later waits, so that no answer overtakes a notification in front of it. It must not block,
	// and must not wait for a Call.
	Notice func(n *Notice)

	// Diagnose takes diagnostics, from any goroutine. It must not block.
	Diagnose func(d Diagnostic)

	// Early lists the methods of the extension that a host takes while initialize is in flight. Only such
	// count as the spec ties to initialize. Handle serves them.
	Early []string

	// IDPrefix makes the ids of calls strings: prefix, then 1, 2, … Empty: the integers 1, 2, …
	IDPrefix string

	// Grace is how long a cancelled call waits for its answer. 0: that of the profile.
	Grace time.Duration

	// HandlerGrace is how long the handler of a cancelled request may take to return. Then the request is
	// answered as cancelled in its place, and what it returns later is dropped. 0: as long as it takes.
	HandlerGrace time.Duration

	// EndGrace is how long requests may go on being served, and their answers be written, once the other
	// side has ended its stream in an orderly way. 0: not at all.
	EndGrace time.Duration

	// Context is the parent of the handlers' contexts. nil: context.Background().
	Context context.Context
}

// Conn is one connection. Its methods may be called from any goroutine.
//
// mu guards all state behind it, and nothing that can block is done under it.
type Conn struct {
	opt  Options
	base context.Context
	done chan struct{}
	wg   sync.WaitGroup

	mu      sync.Mutex
	profile *Profile
	phase   phase
	open    map[string]bool // methods that Install opened
	ended   bool            // done is closed, or about to be
	err     error           // why; nil after Close and after a final answer

	calls  calls
	served served
	out    out

	role role // needs no lock
}

// phase is how far the session has come, as far as this side has seen.
type phase uint8

const (
	opening    phase = iota // initialize was neither sent nor received
	initialing              // it is being answered
	running                 // Install was called
	draining                // no new work: shutdown was sent or is being served
)

// New returns a connection that reads nothing before Start. It panics if a required option is absent.
func New(o Options) *Conn {
	if o.Profile == nil || o.Source == nil || o.Sink == nil {
		panic("peer: Profile, Source and Sink are required")
	}
	if o.Grace == 0 {
		o.Grace = o.Profile.Grace
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	c := &Conn{opt: o, base: o.Context, done: make(chan struct{}), profile: o.Profile}
	c.calls.init(o.Profile.MaxConcurrent)
	c.served.init()
	return c
}

// Start begins to read. Call it once.
func (c *Conn) Start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.lendable()
		c.wg.Add(1)
		go c.lead()
	}
}

// Done is closed when the connection has ended. Goroutines of it may still be returning.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns nil while the connection lives, and then what Wait returns.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Wait blocks until the connection has ended and its last goroutine returned. It returns nil after
// Close and after a final answer, io.EOF when the other side ended the stream in an orderly way, a
// *ProtocolError for a broken rule, a *frame.Error inside one included, and else the error of Source
// or Sink. Do not call it from a handler.
func (c *Conn) Wait() error {
	<-c.done
	c.wg.Wait()
	return c.Err()
}

// Close ends the connection: pending calls fail with ErrClosed, handlers' contexts are cancelled, and
// nothing further is sent. It returns after the last goroutine, so do not call it from a handler.
// Closing twice is harmless.
func (c *Conn) Close() error {
	c.end(nil)
	if err := c.Wait(); err != nil && err != io.EOF {
		return err
	}
	return nil
}

// end ends the connection once.
func (c *Conn) end(err error) {
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		return
	}
	c.ended, c.err = true, err
	why := err
	if why == nil {
		why = ErrClosed
	}
	pending := c.calls.takeAllLocked()
	requests := c.served.takeAllLocked()
	var waiting []func(result bool)
	for _, r := range requests {
		waiting = append(waiting, r.giveLocked(errorGiven)...)
	}
	c.stopGravesLocked()
	c.out.dropLocked()
	close(c.done)
	c.mu.Unlock()

	for _, k := range pending {
		k.settle(outcome{err: why})
	}
	for _, r := range requests {
		r.cancel(why)
	}
	run(waiting, errorGiven)
	if c.opt.Hangup != nil {
		c.opt.Hangup()
	}
}

// whyLocked is what calls return on a connection that has ended.
func (c *Conn) whyLocked() error {
	if c.err == nil {
		return ErrClosed
	}
	return c.err
}

func (c *Conn) diagnose(d Diagnostic) {
	if c.opt.Diagnose != nil {
		c.opt.Diagnose(d)
	}
}

// blame diagnoses something the other side did.
func (c *Conn) blame(rule, text string, e *envelope.Envelope) {
	c.diagnose(Diagnostic{Rule: rule, Blame: Remote, Text: text, Method: clip(e.Method), ID: envelope.RawID(e.ID)})
}

// clip bounds a name that is quoted in a diagnostic or a message.
func clip(name []byte) string {
	const most = 128
	if len(name) <= most {
		return string(name)
	}
	return string(name[:most]) + "…"
}

// asFault wraps a framing fault of the other side, which ends the connection.
func asFault(err error) error {
	type ruled interface{ Rule() string }
	if f := ruled(nil); errors.As(err, &f) {
		return &ProtocolError{Rule: f.Rule(), Blame: Remote, Text: "framing fault", Err: err}
	}
	return err
}
