package rpc

import (
	"context"
	"errors"
	"sync"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/negotiation"
	"github.com/octet-dev/octet/host/oup/transport"
)

// Connection is one client. Its methods are for any goroutine.
type Connection struct {
	dispatcher *Dispatcher
	conn       transport.Conn
	out        *transport.Outbox
	server     *negotiation.Server
	slots      chan struct{} // of requests that wait beside the others
	waiting    sync.WaitGroup
	crowded    bool // a request waited for a slot in vain; belongs to who reads

	delivery chan struct{} // one delivery at a time, so that nobody takes the room another one waited for
	stuck    bool          // the client has not read for the whole patience; belongs to who delivers

	mu  sync.Mutex // what is sent under one set stands in front of the answer that changes it
	set negotiation.Set
}

// Info tells what came with the connection.
func (c *Connection) Info() transport.Info { return c.conn.Info() }

// Set returns the features in force.
func (c *Connection) Set() negotiation.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.set
}

// Capabilities tells what the client can call.
func (c *Connection) Capabilities() oupwire.ServerCapabilities {
	return c.server.Capabilities(c.Set(), c.Info().Transport)
}

// Close sends what waits and closes the connection with the reason. Its Serve ends.
func (c *Connection) Close(reason transport.Reason) error { return c.out.Close(reason) }

// Notice is a notification to a client.
type Notice struct {
	Method string
	Class  transport.Class
	Stream string // of a durable notice: the key of its session
	Seq    uint64 // its number in the ledger
	// Params are those for the features in force, or nil where the notice is not for this connection. It must not
	// use the connection.
	Params func(negotiation.Set) wirejson.Encoder
}

// Notify queues a notification and never waits. One that is not for this connection counts as queued.
func (c *Connection) Notify(n Notice) transport.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	params := n.Params(c.set)
	if params == nil {
		return transport.Queued
	}
	return c.out.Send(transport.Frame{Data: notification(n.Method, params), Class: n.Class, Stream: n.Stream, Seq: n.Seq})
}

// over is a context that has ended.
var over = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// Deliver queues a notification once there is room for it: who tells stored events goes as fast as the client
// reads. A client that reads nothing for the whole patience is waited for no longer until it does; what it misses
// then is dropped or ends the connection, as its class says. The outcome is Gone too where the context ended first.
func (c *Connection) Deliver(ctx context.Context, n Notice) transport.Outcome {
	select {
	case c.delivery <- struct{}{}:
		defer func() { <-c.delivery }()
	case <-ctx.Done():
		return transport.Gone
	}
	err := c.out.Ready(over) // does not wait
	if errors.Is(err, context.Canceled) && !c.stuck {
		wait, cancel := context.WithTimeout(ctx, c.dispatcher.patience)
		err = c.out.Ready(wait)
		cancel()
	}
	switch {
	case err == nil:
		c.stuck = false
	case ctx.Err() == nil && (c.stuck || errors.Is(err, context.DeadlineExceeded)) && c.out.Err() == nil:
		c.stuck = true
	default:
		return transport.Gone
	}
	return c.Notify(n)
}

// Call is one request while it is carried out.
type Call struct {
	*Connection
	ID     string
	Method string
	Scope  Scope // as Options.Admit filled it in

	told  bool
	after []func()
	later func(context.Context) (wirejson.Encoder, error)
	leave *transport.Reason
}

// Scope is what a request is about.
type Scope struct {
	Session key.Key // with its topic; the zero value where the request names none
	Profile string
}

// Told reports, to what runs after the answer, whether the answer could be queued.
func (c *Call) Told() bool { return c.told }

// After runs f when the answer is queued, in front of everything that the client asks later.
func (c *Call) After(f func()) { c.after = append(c.after, f) }

// Later lets f answer instead of the handler, beside the requests that follow. Without it a request is answered
// before the next one is looked at.
func (c *Call) Later(f func(context.Context) (wirejson.Encoder, error)) { c.later = f }

// Leave closes the connection with the reason, behind the answer.
func (c *Call) Leave(reason transport.Reason) { c.leave = &reason }

// RefuseParams is the refusal of params that break their model; a *wirejson.Violation says where.
func (c *Call) RefuseParams(err error) error {
	var broken *wirejson.Violation
	if errors.As(err, &broken) {
		return badParams(c.Method, broken)
	}
	return Fail(oupwire.ErrInvalidParams, c.Method+": "+err.Error())
}
