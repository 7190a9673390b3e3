package peer

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"

	"github.com/octet-dev/octet/generated/rules"
	"github.com/octet-dev/octet/runtime/canonical"
	"github.com/octet-dev/octet/runtime/envelope"
)

// Call is a request to be made.
type Call struct {
	Method string
	Params Value

	// Issued, if set, is told the id before the frame can be written: whatever refers to the id arrives
	// later.
	Issued func(id envelope.ID)

	// Queued, if set, is called once the frame has its place: what is sent from then on comes behind it.
	// It must not block.
	Queued func()

	// Hasty has Do return at once when ctx ends behind the sending: the other side is still asked to cancel,
	// and its answer is absorbed.
	Hasty bool

	// Moot, if set, is asked when ctx has ended behind the sending. Where it reports that the request is void
	// on the other side as well, Do returns at once and nothing is sent about it.
	Moot func() bool

	// Install, if set, takes the result on the reading goroutine before any later frame is looked at. It
	// must not block. Its error ends the connection and is what Do returns.
	Install func(result []byte) error
}

func (q Call) queued() {
	if q.Queued != nil {
		q.Queued()
	}
}

// calls are the requests of this side.
type calls struct {
	last    uint64
	live    map[string]*call // by id, as JSON
	most    int              // permits; 0: no bound on this side
	taken   int              // permits held by live calls and tombstones
	waiting []chan struct{}  // closed in order: the permit is then the waiter's
	graves  graves
	proven  int64 // of out.sent, what the other side is known to have read
	free    []*call
}

func (s *calls) init(most int) {
	s.live = make(map[string]*call)
	s.most = most
}

// call is one of them. Whoever takes it out of live settles it.
type call struct {
	id      string
	done    chan outcome // takes the one outcome
	permit  bool
	install func([]byte) error
	offset  int64 // of out.sent, behind its frame
}

type outcome struct {
	result []byte
	err    error
}

func (k *call) settle(o outcome) { k.done <- o }

// keepCalls is how many settled calls are kept for reuse.
const keepCalls = 64

// newLocked returns a call with its channel empty.
func (s *calls) newLocked() *call {
	if n := len(s.free); n > 0 {
		k := s.free[n-1]
		s.free = s.free[:n-1]
		return k
	}
	return &call{done: make(chan outcome, 1)}
}

// nextLocked returns the number of the next id. An extension on the feature wire runs out of them.
func (s *calls) nextLocked(p *Profile) (uint64, error) {
	if !p.host() && p.MaxIDs > 0 && s.last >= uint64(p.MaxIDs) {
		return 0, &ProtocolError{
			Rule: rules.EXT04Limit003, Blame: Local,
			Text: fmt.Sprintf("all %d request ids of this extension are used; start it anew", p.MaxIDs),
		}
	}
	s.last++
	return s.last, nil
}

// fullLocked returns why an extension cannot have one more request unanswered, or nil.
func (s *calls) fullLocked(p *Profile) error {
	if p.MaxCalls == 0 || len(s.live) < p.MaxCalls {
		return nil
	}
	e := &ProtocolError{Blame: Local, Text: fmt.Sprintf("%d requests are unanswered, which is the most; wait for some of them", p.MaxCalls)}
	if !p.canonical() {
		e.Rule = rules.EXT04Limit002
	}
	return e
}

// release makes a call fit for reuse. Only the goroutine that received its one outcome, or that never
// registered it, may do so.
func (c *Conn) release(k *call) {
	*k = call{done: k.done}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := &c.calls; len(s.free) < keepCalls {
		s.free = append(s.free, k)
	}
}

// results holds the memory of results that were given back.
var results = sync.Pool{New: func() any { return new([]byte) }}

// copyOf returns a copy of a result, in memory that Recycle may have brought.
func copyOf(result []byte) []byte {
	held := results.Get().(*[]byte)
	if cap(*held) < len(result) {
		return bytes.Clone(result) // what was too small is left behind
	}
	return append((*held)[:0], result...)
}

// Recycle gives the memory of a result back, for results to come. The caller must not use it any more; one who may
// still need it just keeps it.
func (c *Conn) Recycle(result []byte) {
	if cap(result) > 0 && cap(result) <= keepBuffer {
		results.Put(&result)
	}
}

// Call makes a request and returns its result as JSON, which is the caller's; see Recycle. It is Do without
// options.
func (c *Conn) Call(ctx context.Context, method string, params Value) ([]byte, error) {
	return c.Do(ctx, Call{Method: method, Params: params})
}

// Do makes a request and waits for its one outcome.
//
// It waits while as many requests as the session allows are in flight. When ctx ends first, the
// request is withdrawn if its frame was not begun (ErrNotSent); else the other side is asked to
// cancel, once, and Do goes on waiting for the answer, at most the grace (ErrUnsettled). A result
// that won the race is returned without an error.
//
// Other errors: an *Error is the other side's answer; a *ProtocolError says which side broke which
// rule; a *frame.Error or *canonical.Error says that the request itself cannot be written, and then
// nothing was sent; ErrDraining; and what ended the connection.
func (c *Conn) Do(ctx context.Context, q Call) ([]byte, error) {
	k, err := c.begin(ctx, q)
	if err != nil {
		return nil, err
	}
	o, settled := c.readFor(k)
	if !settled {
		select {
		case o = <-k.done:
		case <-ctx.Done():
			o = c.abandon(ctx, k, q)
		}
	}
	c.release(k)
	return o.result, o.err
}

// begin sends the request, or queues it.
func (c *Conn) begin(ctx context.Context, q Call) (*call, error) {
	if ctx.Err() != nil {
		return nil, notSent(ctx)
	}
	// A handler that calls back waits for a frame that it may be keeping others from reading.
	c.takeRole(c.role.turn.Load())
	permit, err := c.admit(ctx, q.Method)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	p := c.profile
	n := uint64(0)
	if err = c.calls.fullLocked(p); err == nil {
		n, err = c.calls.nextLocked(p)
	}
	if err != nil {
		c.calls.putLocked(permit)
		c.mu.Unlock()
		return nil, err
	}
	k := c.calls.newLocked()
	c.mu.Unlock()

	k.permit, k.install = permit, q.Install
	f := newBuffer()
	f.b = append(f.b, `{"id":`...)
	from := len(f.b)
	f.b = c.appendID(f.b, n)
	k.id = string(f.b[from:])
	f.b = appendRequest(f.b, q.Method, q.Params)
	if err = c.checkOutgoing(p, f.b); err == nil && q.Issued != nil {
		q.Issued(envelope.RawID([]byte(k.id)))
	}
	if err == nil {
		err = c.waitRoom(ctx)
		if err != nil {
			err = notSent(ctx)
		}
	}
	if err != nil {
		f.release()
		c.giveBack(permit)
		c.release(k)
		return nil, err
	}
	if err := c.launch(q, k, f); err != nil {
		return nil, err
	}
	return k, nil
}

// launch registers k and gives its frame to the writer. The call is registered first, because the
// answer may be there before the writer returns.
func (c *Conn) launch(q Call, k *call, f *buffer) error {
	c.mu.Lock()
	err := c.maySendLocked(q.Method, false)
	if err == nil {
		err = c.calls.fullLocked(c.profile) // others may have been launched meanwhile
	}
	if err != nil {
		c.calls.putLocked(k.permit)
		c.mu.Unlock()
		f.release()
		c.release(k)
		return err
	}
	switch q.Method {
	case c.profile.Initialize:
		c.phase = initialing
	case c.profile.Shutdown:
		c.phase = draining
	}
	c.calls.live[k.id] = k
	o := outgoing{frame: f, call: k, id: k.id}
	if c.out.sent-c.calls.proven+int64(len(f.b)) > unprovenMost {
		// Another goroutine writes what might block on a full pipe, so that the end of ctx is noticed.
		c.queueLaterLocked(o)
		c.mu.Unlock()
		q.queued()
		return nil
	}
	mine := c.queueLocked(o)
	many := len(c.calls.live) >= manyCalls && len(f.b) <= holdBytes
	c.mu.Unlock()
	q.queued()
	if mine {
		if many {
			runtime.Gosched() // other callers are likely to have a frame soon
		}
		c.write()
	}
	return nil
}

// unprovenMost is how many bytes a caller writes itself beyond those the other side is known to have
// read: half of what a pipe holds.
const unprovenMost = 32 << 10

// manyCalls is how many calls are in flight when a caller lets others queue their frames beside its own, if that is
// a small one.
const manyCalls = 4

func (c *Conn) appendID(dst []byte, n uint64) []byte {
	if c.opt.IDPrefix == "" {
		return strconv.AppendUint(dst, n, 10)
	}
	return canonical.AppendString(dst, c.opt.IDPrefix+strconv.FormatUint(n, 10))
}

// appendRequest appends what follows the id. A nil value leaves params out.
func appendRequest(dst []byte, method string, params Value) []byte {
	dst = append(dst, `,"jsonrpc":"2.0","method":`...)
	dst = canonical.AppendString(dst, method)
	if params != nil {
		dst = params.AppendJSON(append(dst, `,"params":`...))
	}
	return append(dst, '}')
}

// checkOutgoing refuses a frame over the bound and, on the canonical wire, one that has no canonical
// spelling.
func (c *Conn) checkOutgoing(p *Profile, payload []byte) error {
	if err := c.opt.Sink.Check(payload); err != nil {
		return err
	}
	if p.canonical() {
		return canonical.Check(payload)
	}
	return nil
}

func notSent(ctx context.Context) error {
	return fmt.Errorf("%w: %w", ErrNotSent, context.Cause(ctx))
}

// takeAllLocked empties the table at the end of the connection.
func (s *calls) takeAllLocked() []*call {
	all := make([]*call, 0, len(s.live))
	for _, k := range s.live {
		all = append(all, k)
	}
	s.live = nil
	return all
}

// takeLocked takes a live call out of the table, with its permit, or returns nil.
func (s *calls) takeLocked(id []byte) *call {
	k := s.live[string(id)]
	if k == nil {
		return nil
	}
	delete(s.live, k.id)
	s.putLocked(k.permit)
	s.proven = max(s.proven, k.offset)
	return k
}

// InFlight reports whether a call has no outcome yet. Asked inside Options.Notice or Options.Arrived it tells how
// things stood when the message arrived.
func (c *Conn) InFlight(id envelope.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls.live[id.String()] != nil
}

// settle gives the live call of an id its outcome; a call that has one already is left alone. It goes
// by the id, because the memory of a settled call is another call's by then.
func (c *Conn) settle(id string, o outcome) {
	c.mu.Lock()
	k := c.calls.live[id]
	if k != nil {
		delete(c.calls.live, id)
		c.calls.putLocked(k.permit)
	}
	c.mu.Unlock()
	if k != nil {
		k.settle(o)
	}
}

// response settles the call that a response names. It returns what ends the connection.
func (c *Conn) response(e *envelope.Envelope) error {
	c.mu.Lock()
	k := c.calls.takeLocked(e.ID)
	buried := k == nil && c.exhumeLocked(e.ID)
	c.role.settled = k != nil && len(c.calls.live) == 0
	p := c.profile
	c.mu.Unlock()
	switch {
	case k == nil:
		return c.stray(p, e, buried)
	case e.Kind == envelope.Error:
		k.settle(outcome{err: &Error{Code: e.Code, Message: envelope.Unquote(e.Message), Data: bytes.Clone(e.Data)}})
	case k.install != nil:
		err := k.install(e.Result)
		k.settle(outcome{result: copyOf(e.Result), err: err})
		return err
	default:
		k.settle(outcome{result: copyOf(e.Result)})
	}
	return nil
}
