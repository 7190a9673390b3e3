package peer

import (
	"context"
	"errors"
	"hash/maphash"
	"sync/atomic"
	"time"

	"github.com/octet-dev/octet/generated/rules"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/canonical"
	"github.com/octet-dev/octet/runtime/envelope"
)

// served are the requests of the other side.
type served struct {
	live map[string]*Request // by id, as JSON, until the answer is queued
	idle []chan struct{}     // closed when a request has left live, or the writer came to rest
	seed maphash.Seed
	seen map[uint64]struct{} // hashes of all ids, where the profile bounds them
}

func (s *served) init() {
	s.live = make(map[string]*Request)
	s.seed = maphash.MakeSeed()
}

func (s *served) takeAllLocked() []*Request {
	all := make([]*Request, 0, len(s.live))
	for _, r := range s.live {
		all = append(all, r)
	}
	s.wakeLocked()
	return all
}

func (s *served) wakeLocked() {
	for _, w := range s.idle {
		close(w)
	}
	s.idle = nil
}

// Request is one request of the other side while it is served.
//
// What its handler returns becomes its one answer: a value the result; an *Error that error; a
// *wirejson.Violation or *wirejson.SyntaxError the wire's error for it, with the place in data; the
// error or cause of a context that was cancelled the wire's cancellation. Any other error, a panic and
// a runtime.Goexit become an internal error, and their text goes to Options.Diagnose alone.
type Request struct {
	ID     envelope.ID
	Method string
	Params []byte // JSON, valid until the handler returns; nil where absent, which only the feature wire allows

	conn    *Conn
	ctx     context.Context
	cancel  context.CancelCauseFunc
	buffer  *buffer
	before  func()
	instead func(error) Value
	exited  func() (Value, error)
	handler Handler // of Options.Arrived
	final   bool
	hold    bool                // the answer need not be written at once; set by whom serves
	given   given               // under mu of the connection
	behind  []func(result bool) // so
	claimed atomic.Bool         // the answer is settled
	overdue *time.Timer         // answers in place of the handler; under mu of the connection
	within  time.Duration       // see WrittenWithin; under mu of the connection
	unread  func()              // so
}

// Conn returns the connection the request came from.
func (r *Request) Conn() *Conn { return r.conn }

// BeforeAnswer has f run once the answer is settled and before its frame is written, if the handler
// gives it: the place to call Install when initialize is answered. Call it from the handler.
func (r *Request) BeforeAnswer(f func()) { r.before = f }

// Instead has f give another result where the settled one is too large for a frame: err says how. Call it
// from the handler. Without it the answer is an error.
func (r *Request) Instead(f func(err error) Value) { r.instead = f }

// Exited has f give the outcome where the handler ends its goroutine with runtime.Goexit. Call it from the
// handler. Without it the answer is an internal error.
func (r *Request) Exited(f func() (Value, error)) { r.exited = f }

// given is what a request was answered with.
type given uint8

const (
	nothingGiven given = iota
	errorGiven         // or the connection has ended
	resultGiven
)

// Behind has f run once the answer has its place in front of whatever is sent from then on, by whomever it was
// given; result tells whether it is a result. Behind an answer that was given already f runs at once. Where
// the connection ends first, f runs then, with false. It must not block. Call it from any goroutine.
func (r *Request) Behind(f func(result bool)) {
	r.conn.mu.Lock()
	g := r.given
	if g == nothingGiven {
		r.behind = append(r.behind, f)
	}
	r.conn.mu.Unlock()
	if g != nothingGiven {
		f(g == resultGiven)
	}
}

// Answered reports whether the answer has been given to the writer, or the connection has ended.
func (r *Request) Answered() bool {
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	return r.given != nothingGiven
}

// giveLocked notes the answer and returns what is to be run behind it.
func (r *Request) giveLocked(g given) []func(result bool) {
	if r.given != nothingGiven {
		return nil
	}
	r.given = g
	list := r.behind
	r.behind = nil
	return list
}

func run(list []func(result bool), g given) {
	for _, f := range list {
		f(g == resultGiven)
	}
}

// Final makes the answer the last frame: behind it nothing is sent, and the connection ends. Call it
// from the handler: of shutdown, and of an initialize that is refused.
func (r *Request) Final() { r.final = true }

// Drain stops the serving around this request, which is then the last one: new requests are refused,
// every other one is cancelled with the reason, and Drain returns when each has been answered. At the
// end of ctx those that are still running are answered as cancelled, and what their handlers return
// later is dropped. Call it from the handler, and return soon after it.
func (r *Request) Drain(ctx context.Context, reason string) {
	c := r.conn
	c.mu.Lock()
	c.phase = draining
	others := c.othersLocked(r)
	c.mu.Unlock()
	for _, o := range others {
		o.cancel(&CancelledError{Reason: reason})
	}
	for {
		c.mu.Lock()
		others = c.othersLocked(r)
		if len(others) == 0 || c.ended {
			c.mu.Unlock()
			return
		}
		w := make(chan struct{})
		c.served.idle = append(c.served.idle, w)
		c.mu.Unlock()
		select {
		case <-w:
			continue
		case <-ctx.Done():
		}
		for _, o := range others {
			if o.claimed.CompareAndSwap(false, true) {
				c.deliver(o, composeError(o.ID, c.cancellation(&CancelledError{Reason: reason})), errorGiven, false)
			}
		}
		ctx = context.Background() // the rest is being answered by its own handler right now
	}
}

func (c *Conn) othersLocked(r *Request) []*Request {
	var others []*Request
	for _, o := range c.served.live {
		if o != r {
			others = append(others, o)
		}
	}
	return others
}

// request judges a request and registers it, or answers it. It returns what ends the connection.
func (c *Conn) request(e *envelope.Envelope) (*Request, error) {
	c.mu.Lock()
	p := c.profile
	m := p.methods[string(e.Method)]
	refusal, rule, last := c.refusalLocked(m, e)
	if refusal != nil {
		early := c.phase < running
		c.mu.Unlock()
		if early && p.canonical() && p.host() {
			return nil, &ProtocolError{Rule: rules.EXT03Order002, Blame: Remote, Text: "request of " + clip(e.Method) + " before the contract stands"}
		}
		c.blame(rule, "request refused: "+refusal.Message, e)
		var end error
		if last {
			end = &ProtocolError{Rule: rule, Blame: Remote, Text: "request of " + clip(e.Method) + " refused for good"}
		}
		c.reply(composeError(envelope.RawID(e.ID), refusal), end)
		return nil, nil
	}
	if m.Name == p.Initialize {
		c.phase = initialing
	}
	r := &Request{ID: envelope.RawID(e.ID), Method: m.Name, conn: c, buffer: newBuffer()}
	if e.Params != nil {
		r.buffer.b = append(r.buffer.b, e.Params...)
		r.Params = r.buffer.b
	}
	r.ctx, r.cancel = context.WithCancelCause(c.base)
	c.served.live[r.ID.String()] = r
	ended := c.ended
	c.mu.Unlock()
	if ended {
		r.cancel(ErrClosed)
	}
	c.arrived(r)
	return r, nil
}

// arrived finds what serves a request. A panic on the way is what its serving ends with.
func (c *Conn) arrived(r *Request) {
	if c.opt.Arrived == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			err := panicked(v)
			r.handler = func(context.Context) (Value, error) { return nil, err }
		}
	}()
	r.handler = c.opt.Arrived(r)
}

// refusalLocked returns why a request is answered with an error right away, the rule that the other
// side broke if it broke one, and whether that answer ends the session.
func (c *Conn) refusalLocked(m *wirejson.Method, e *envelope.Envelope) (refusal *Error, rule string, last bool) {
	p := c.profile
	isInit := m != nil && m.Name == p.Initialize && p.takes(m)
	reused, crowded := c.idFaultLocked(e.ID)
	switch {
	case reused:
		return Fail(p.Errors.InvalidRequest, nil), p.reuseRule(), false
	case isInit && c.phase == opening:
		return nil, "", false
	case c.earlyLocked(m) && !crowded:
		return nil, "", false
	case isInit:
		// The canonical wire forgives no second initialize.
		return p.disorder(), "", p.canonical()
	case c.phase < running && !p.canonical() && !p.host():
		return p.disorder(), "", false
	case c.phase < running:
		return p.unopened(e.Method, m), p.strayRule(true), p.canonical()
	case c.phase == draining:
		return Fail(p.Errors.Draining, nil), "", false
	case !c.mayReceiveLocked(m, false):
		return p.unopened(e.Method, m), p.strayRule(false), false
	case crowded && m.Name != p.Shutdown:
		return p.crowded(), "", false
	}
	return nil, "", false
}

// idFaultLocked judges the id of a request: in use, or used before where that is forbidden, and
// whether there are too many of them.
func (c *Conn) idFaultLocked(id []byte) (reused, crowded bool) {
	p, s := c.profile, &c.served
	if s.live[string(id)] != nil {
		return true, false
	}
	crowded = !p.host() && len(s.live) >= c.calls.most || p.MaxServed > 0 && len(s.live) >= p.MaxServed
	if p.MaxIDs == 0 || !p.host() {
		return false, crowded
	}
	h := maphash.Bytes(s.seed, id)
	if _, used := s.seen[h]; used {
		return true, crowded
	}
	if len(s.seen) >= p.MaxIDs {
		return false, true
	}
	if s.seen == nil {
		s.seen = make(map[uint64]struct{})
	}
	s.seen[h] = struct{}{}
	return false, crowded
}

func (p *Profile) reuseRule() string {
	switch {
	case p.canonical() && !p.host():
		return rules.EXT03Env022
	case p.canonical():
		return rules.EXT03Env025
	case p.host():
		return rules.EXT04Env010
	}
	return rules.EXT04Env014
}

// disorder is the refusal of a request before initialize, and of another initialize.
func (p *Profile) disorder() *Error {
	e := Fail(p.Errors.InvalidRequest, nil)
	if !p.canonical() { // which fixes the messages
		e.Message = p.Initialize + " must be the first request"
	}
	return e
}

// unopened is the refusal of a method that is unknown, deferred, not selected, or not this side's.
func (p *Profile) unopened(name []byte, m *wirejson.Method) *Error {
	if p.canonical() {
		return Fail(p.Errors.UnknownMethod, methodData(clip(name)))
	}
	e := Fail(p.Errors.UnknownMethod, nil)
	if p.host() || m != nil {
		e.Message = tokenUnsupported + " " + clip(name)
	} else {
		e.Message += ": " + clip(name)
	}
	return e
}

// crowded is the refusal of one request more than the session allows.
func (p *Profile) crowded() *Error {
	if p.canonical() {
		return Fail(p.Errors.Exhausted, nil)
	}
	if p.host() {
		e := Fail(p.Errors.InvalidParams, nil)
		e.Message = tokenBounds + " too many requests"
		return e
	}
	e := Fail(p.Errors.Exhausted, nil)
	e.Message = "extension request queue is full"
	return e
}

// methodData is error data that names a method.
type methodData string

// AppendJSON implements Value.
func (m methodData) AppendJSON(dst []byte) []byte {
	return append(canonical.AppendString(append(dst, `{"method":`...), m), '}')
}

// serve runs the handler and answers.
func (c *Conn) serve(r *Request) {
	returned := false
	defer func() {
		if !returned {
			r.hold = false // this goroutine may end, and the role with it
			// A panic, or a runtime.Goexit that ends this goroutine behind the answer.
			if v := recover(); v != nil || r.exited == nil {
				c.answer(r, nil, panicked(v))
			} else {
				v, err := r.exited()
				c.answer(r, v, err)
			}
		}
		r.cancel(context.Canceled)
		r.buffer.release()
	}()
	var v Value
	err := errNoHandler
	switch {
	case r.handler != nil:
		v, err = r.handler(r.ctx)
	case c.opt.Handle != nil:
		v, err = c.opt.Handle(r.ctx, r)
	}
	returned = true
	c.answer(r, v, err)
}

var errNoHandler = errors.New("this program serves no requests")

// answer claims the outcome of a request and sends it. Whoever comes second is dropped.
func (c *Conn) answer(r *Request, v Value, err error) {
	if !r.claimed.CompareAndSwap(false, true) {
		return
	}
	var f *buffer
	g := errorGiven
	if err == nil && v != nil {
		f, g = c.composeResult(r, v)
	} else {
		f = c.composeFailure(r, err)
	}
	if r.before != nil {
		r.before()
	}
	c.deliver(r, f, g, r.hold)
}

// deliver queues the answer of a claimed request and takes the request out of the table, in one step,
// so that a drain never sees the one without the other. Hold leaves the writing to flush.
func (c *Conn) deliver(r *Request, f *buffer, g given, hold bool) {
	c.mu.Lock()
	delete(c.served.live, r.ID.String())
	c.disarmLocked(r)
	c.served.wakeLocked()
	if mute := c.muteLocked(); mute || c.sealedLocked() != nil {
		waiting := r.giveLocked(errorGiven)
		c.mu.Unlock()
		run(waiting, errorGiven)
		f.release()
		if mute {
			c.diagnose(Diagnostic{Blame: Local, Method: r.Method, ID: r.ID, Text: "answer dropped, shutdown was sent before it"})
		}
		return
	}
	o := outgoing{frame: f, last: r.final, overdue: c.watchLocked(r)}
	mine := false
	if hold && len(f.b) <= holdBytes {
		c.holdLocked(o)
	} else {
		mine = c.queueLocked(o)
	}
	waiting := r.giveLocked(g)
	c.mu.Unlock()
	run(waiting, g)
	if mine {
		c.write()
	}
}

// reply queues an answer of the peer itself, from the reading goroutine. The writing is left to
// another, so that a full pipe does not stop the reading. Behind an answer with an end the connection
// ends so.
func (c *Conn) reply(f *buffer, end error) {
	c.mu.Lock()
	sealed := c.sealedLocked() != nil || c.muteLocked()
	flooded := len(c.out.queue) >= maxReplies
	if sealed || flooded {
		f.release()
	} else {
		c.out.sealed = end != nil
		c.queueLaterLocked(outgoing{frame: f, last: end != nil, end: end})
	}
	c.mu.Unlock()
	if flooded {
		c.end(&ProtocolError{Blame: Remote, Text: "answers are not read, too many of them wait"})
	}
}

// maxReplies bounds the queue against a side that sends what is refused and never reads the refusals.
const maxReplies = 4096

// refuse is reply of an error behind which the connection lives on.
func (c *Conn) refuse(id envelope.ID, e *Error) { c.reply(composeError(id, e), nil) }
