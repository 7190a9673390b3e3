package rpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/negotiation"
	"github.com/octet-dev/octet/host/oup/transport"
)

// Handler carries out the requests of one method. Make it with Handle.
type Handler func(ctx context.Context, call *Call, params []byte) (wirejson.Encoder, error)

// Handle returns the handler of a method, from the generated decoder of its params and what carries it out. An
// *Error it returns is answered as it is; any other error is a fault of the server, logged and answered without
// detail.
func Handle[P any, R wirejson.Encoder](decode func([]byte) (P, error), do func(context.Context, *Call, P) (R, error)) Handler {
	return func(ctx context.Context, call *Call, params []byte) (wirejson.Encoder, error) {
		decoded, err := decode(params)
		if err != nil {
			return nil, call.RefuseParams(err)
		}
		if admit := call.dispatcher.admit; admit != nil {
			if err := admit(ctx, call, params); err != nil {
				return nil, err
			}
		}
		result, err := do(ctx, call, decoded)
		if err != nil {
			return nil, err
		}
		return result, nil
	}
}

// Options make a Dispatcher.
type Options struct {
	Features []string           // that the server stands behind
	Handlers map[string]Handler // by method; what is not here is refused and listed as unsupported
	Reasons  map[string]string  // why a method is not here
	// Closed are the requests that a connection cannot reach, and how they are refused; nil for none.
	Closed func(transport.Info) map[string]negotiation.Refusal
	// Admit judges a request whose params keep their model, in front of its handler, and fills in the scope of the
	// call. An *Error is answered as it is. Nil lets all pass.
	Admit func(ctx context.Context, call *Call, params []byte) error
	// Spell makes an error of a handler one for the client; nil, also as its result, says no more than that the server
	// failed.
	Spell    func(*Call, error) *Error
	Outbox   transport.OutboxOptions
	Later    int           // requests of one connection that may wait beside the others; 64
	Patience time.Duration // how long Deliver waits for a client that does not read; 30 s
	Log      func(error)   // faults of the server, for people; nil drops them
}

// Dispatcher carries connections through: the same for all, and safe for use by many.
type Dispatcher struct {
	server   *negotiation.Server
	handlers map[string]Handler
	outbox   transport.OutboxOptions
	closed   func(transport.Info) map[string]negotiation.Refusal
	admit    func(context.Context, *Call, []byte) error
	spell    func(*Call, error) *Error
	later    int
	patience time.Duration
	log      func(error)
}

const (
	defaultLater    = 64
	defaultPatience = 30 * time.Second
)

// New returns a dispatcher. It answers client_hello and config/capabilities/list itself.
func New(o Options) (*Dispatcher, error) {
	for name := range o.Handlers {
		row := oupwire.LookupRequest(name)
		if row == nil || row.Direction != wirejson.ClientToServer {
			return nil, fmt.Errorf("oup dispatcher: %q is no request of the protocol; take a constant of oupwire", name)
		}
		if name == oupwire.MethodClientHello || name == oupwire.MethodConfigCapabilitiesList {
			return nil, fmt.Errorf("oup dispatcher: %q is answered here; leave its handler out", name)
		}
	}
	d := &Dispatcher{
		server: &negotiation.Server{
			Features: slices.Clone(o.Features), Methods: slices.Sorted(maps.Keys(o.Handlers)), Reasons: maps.Clone(o.Reasons),
		},
		handlers: maps.Clone(o.Handlers), outbox: o.Outbox, closed: o.Closed, admit: o.Admit, spell: o.Spell,
		later: cmp.Or(o.Later, defaultLater), patience: cmp.Or(o.Patience, defaultPatience), log: o.Log,
	}
	if d.log == nil {
		d.log = func(error) {}
	}
	if d.spell == nil {
		d.spell = func(*Call, error) *Error { return nil }
	}
	d.outbox.Lossy = lossy
	return d, nil
}

// lossy announces events that a connection did not get. The stream of a durable frame is the key of its session.
func lossy(l transport.Loss) []byte {
	event := oupwire.ReplayLossyEvent{SessionID: l.Stream, DroppedCount: int64(l.Dropped)}
	if _, topic, has := strings.Cut(l.Stream, "#"); has {
		event.Topic = wirejson.Some(topic)
	}
	if l.Before > 0 {
		event.LastDurableCursor = wirejson.Some(oupwire.Cursor{Stream: l.Stream, Seq: int64(l.Before)})
	}
	return notification(oupwire.MethodProtocolReplayLossy, event)
}

// Serve carries a connection through and returns when nothing of it is left. opened gets the connection before the
// first request is read; it may be nil. The error is nil where the client ended it or this side closed it.
func (d *Dispatcher) Serve(ctx context.Context, conn transport.Conn, opened func(*Connection)) error {
	info := conn.Info()
	c := &Connection{
		dispatcher: d, conn: conn, out: transport.NewOutbox(conn, d.outbox), slots: make(chan struct{}, d.later),
		server: d.server, delivery: make(chan struct{}, 1), set: d.server.Connect(info.Transport, info.Features),
	}
	if d.closed != nil {
		own := *d.server
		own.Closed = d.closed(info)
		c.server = &own
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { _ = c.out.Close(transport.Ended) }) // the loop sees the end
	if opened != nil {
		opened(c)
	}
	reason, err := c.read(ctx)
	stop()
	cancel()
	c.waiting.Wait()
	return errors.Join(err, c.out.Close(reason))
}

// read takes frames until the end, and tells with which reason to close.
func (c *Connection) read(ctx context.Context) (transport.Reason, error) {
	for {
		if err := c.ready(ctx); err != nil {
			return transport.Ended, unlessClosed(ctx, err)
		}
		frame, err := c.conn.Read()
		var large *transport.TooLargeError
		switch {
		case errors.As(err, &large):
			c.send(failure(nil, tooLarge(large.Limit)))
			if c.Info().Transport == oupwire.TransportWebsocket {
				return transport.TooLarge, nil
			}
			continue
		case err != nil:
			return transport.Ended, unlessClosed(ctx, err)
		}
		if reason := c.take(ctx, frame); reason != nil {
			return *reason, nil
		}
	}
}

// ready waits until there is room for the next answer. A client that takes nothing for the whole patience is given up:
// whether it has ended its side shows behind what it does not take alone.
//
// Rule: OUP-QUEUE-007.
func (c *Connection) ready(ctx context.Context) error {
	for {
		taken := c.out.Taken()
		wait, cancel := context.WithTimeout(ctx, c.dispatcher.patience)
		err := c.out.Ready(wait)
		cancel()
		switch {
		case ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded):
			return err
		case c.out.Taken() == taken:
			return c.out.GiveUp()
		}
	}
}

// unlessClosed keeps the errors that are no ordinary end.
func unlessClosed(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// send queues an answer and reports whether it was taken; an end shows in the next Ready.
func (c *Connection) send(frame []byte) bool {
	return c.out.Send(transport.Frame{Data: frame, Class: transport.Lifecycle}) == transport.Queued
}

// take carries out one frame. A reason is why the connection is closed behind it.
func (c *Connection) take(ctx context.Context, frame []byte) *transport.Reason {
	if who := c.Info().Identity; who.Holds != nil && !who.Holds() {
		reason := transport.AuthExpired
		return &reason
	}
	m, fault := Read(frame)
	if fault != nil {
		c.send(failure(nil, fault))
		return nil
	}
	if m.Notification {
		return nil // the one that the protocol has shows that the client is there, which reading it did
	}
	call := &Call{Connection: c, ID: m.ID, Method: m.Method}
	if string(m.Params) == "null" {
		m.Params = []byte("{}")
	}
	if refusal := c.server.Judge(c.Set(), c.Info().Transport, m.Method); refusal != nil {
		c.send(failure(&m.ID, refused(refusal)))
		return nil
	}
	switch m.Method {
	case oupwire.MethodClientHello:
		c.hello(call, m.Params)
		return nil
	case oupwire.MethodConfigCapabilitiesList:
		c.send(success(m.ID, oupwire.ConfigCapabilitiesListResult{Capabilities: c.Capabilities()}))
		return nil
	}
	handler := c.dispatcher.handlers[m.Method]
	result, err := c.run(call, func() (wirejson.Encoder, error) { return handler(ctx, call, m.Params) })
	if call.later == nil || err != nil {
		c.settle(call, result, err)
		return call.leave
	}
	if !c.slot(ctx) {
		c.crowd(call)
		return call.leave
	}
	c.waiting.Go(func() {
		defer func() { <-c.slots }()
		result, err := c.run(call, func() (wirejson.Encoder, error) { return call.later(ctx) })
		c.settle(call, result, call.unfinished(ctx, err))
	})
	return call.leave
}

// unfinished tells what the end of the connection broke off from what went wrong inside: a client that has ended its
// side and still reads learns why it gets no result (OUP-STDIO-008).
func (call *Call) unfinished(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	return Fail(oupwire.ErrRuntimeNotReady, call.Method+": the connection ended before this was done; keep it open until the answer is there")
}

// slotPatience is how long the next request waits for room beside those that wait. What is read of a client may be
// what they wait for, such as an approval.
const slotPatience = 2 * time.Second

// slot takes a place beside the others and reports whether there was one in time. Behind one that did not come, none
// is waited for until there is one again.
func (c *Connection) slot(ctx context.Context) bool {
	select {
	case c.slots <- struct{}{}:
		c.crowded = false
		return true
	default:
	}
	if c.crowded {
		return false
	}
	late := time.NewTimer(slotPatience)
	defer late.Stop()
	select {
	case c.slots <- struct{}{}:
		return true
	case <-late.C:
	case <-ctx.Done():
	}
	c.crowded = true
	return false
}

// crowd answers a request that finds no place: with what it does without waiting, which an interruption can.
func (c *Connection) crowd(call *Call) {
	result, err := c.run(call, func() (wirejson.Encoder, error) { return call.later(over) })
	if errors.Is(err, context.Canceled) {
		err = Fail(oupwire.ErrRuntimeNotReady, fmt.Sprintf("%s: %d requests of this connection wait for something; take their answers first", call.Method, cap(c.slots)))
	}
	c.settle(call, result, err)
}

// hello answers, and puts the new features in force right behind the answer.
func (c *Connection) hello(call *Call, params []byte) {
	p, err := oupwire.DecodeClientHelloParams(params)
	if err != nil {
		c.settle(call, nil, call.RefuseParams(err))
		return
	}
	server, over := c.server, c.Info().Transport
	c.mu.Lock()
	defer c.mu.Unlock()
	set := server.Hello(c.set, &p)
	answer := success(call.ID, server.Greet(set, over, &p))
	if len(answer) > oupwire.MaxTextFrameBytes {
		refusal := Fail(oupwire.ErrInvalidParams, call.Method+": client and transport are sent back and do not fit into a frame; say less of them")
		c.send(failure(&call.ID, refusal))
		return
	}
	c.send(answer)
	c.set = set
}

// refused spells a refusal by the tables.
func refused(r *negotiation.Refusal) *Error {
	e := &Error{Code: r.Error, Message: fmt.Sprintf("%q %s", r.Method, r.Reason)}
	switch {
	case r.Data != nil:
		e.Data = r.Data
	case r.Kind != "":
		e.Data = oupwire.AuthUnavailableErrorData{Method: wirejson.Some(r.Method), Recoverable: true, Recovery: r.Reason}
	case r.Error == oupwire.ErrMethodNotFound:
		e.Message = r.Reason
	case r.Error != oupwire.ErrMethodNotSupported: // its message says all
	default:
		e.Data = oupwire.MethodNotSupportedErrorData{Method: r.Method, Reason: r.Reason}
	}
	return e
}

// run guards the other connections against a handler that panics.
func (c *Connection) run(call *Call, do func() (wirejson.Encoder, error)) (result wirejson.Encoder, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}

// settle answers a request, once.
func (c *Connection) settle(call *Call, result wirejson.Encoder, err error) {
	var told *Error
	switch {
	case errors.As(err, &told):
		call.told = c.send(failure(&call.ID, told))
	case err != nil:
		c.fault(call, err)
	default:
		frame := success(call.ID, result)
		if len(frame) > oupwire.MaxTextFrameBytes {
			c.fault(call, fmt.Errorf("the result has %d bytes and does not fit into a frame; cut it to the newest rows", len(frame)))
			break
		}
		call.told = c.send(frame)
	}
	for _, f := range call.after {
		f()
	}
}

// fault logs what went wrong inside and tells the client no more than it may know.
func (c *Connection) fault(call *Call, err error) {
	c.dispatcher.log(fmt.Errorf("oup request %s: %w", call.Method, err))
	told := c.dispatcher.spell(call, err)
	if told == nil {
		told = Fail(oupwire.ErrInternalError, call.Method+": the server failed; see its log")
	}
	call.told = c.send(failure(&call.ID, told))
}
