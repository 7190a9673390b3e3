package oup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Client is a connection to a server that outlives single connections. Its methods may be called by many goroutines.
type Client struct {
	// Methods are the requests of the protocol, one method each.
	Methods oupwire.Calls

	options   Options
	transport oupwire.Transport
	dial      func(ctx context.Context) (wire, error)
	// draw returns a wait between nothing and the longest.
	draw func(longest time.Duration) time.Duration

	mu           sync.Mutex
	current      *conn         // nil while there is none, and behind the end
	ready        chan struct{} // closed while there is one
	capabilities oupwire.ServerCapabilities
	sessions     map[string]*Session
	err          error // why the client ended

	life    context.Context // ends with the client
	end     context.CancelFunc
	done    chan struct{} // the manager has ended
	closed  chan struct{} // Close was called: nobody reads any more
	threads sync.WaitGroup
}

// connect makes the first connection and negotiates.
func connect(ctx context.Context, options Options, transport oupwire.Transport, dial func(ctx context.Context) (wire, error)) (*Client, error) {
	c := &Client{
		options: options.completed(), transport: transport, dial: dial, draw: func(longest time.Duration) time.Duration { return rand.N(longest + 1) },
		ready: make(chan struct{}), sessions: map[string]*Session{}, done: make(chan struct{}), closed: make(chan struct{}),
	}
	c.Methods = oupwire.NewCalls(caller{c})
	c.life, c.end = context.WithCancel(context.Background())
	first, err := c.establish(ctx)
	if err != nil {
		c.end()
		return nil, err
	}
	c.publish(first)
	go c.manage(first)
	return c, nil
}

// establish makes a connection and says hello on it.
func (c *Client) establish(ctx context.Context) (*conn, error) {
	ctx, cancel := within(ctx, milliseconds(oupwire.ClientConnectTimeoutMs), greeting)
	defer cancel()
	w, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	made := newConn(w, c.hear)
	if c.transport == oupwire.TransportWebsocket {
		made.guard()
	}
	if err := c.hello(ctx, made); err != nil {
		made.close(err)
		return nil, err
	}
	return made, nil
}

func (c *Client) hello(ctx context.Context, on *conn) error {
	params := oupwire.ClientHelloParams{
		Transport: wirejson.Some(string(c.transport)), SupportedFeatures: wirejson.Some(c.options.features()),
	}
	if c.options.Name != "" {
		params.Client = wirejson.Some(json.RawMessage(append(wirejson.AppendString([]byte(`{"name":`), c.options.Name), '}')))
	}
	if err := params.Validate(); err != nil {
		return fmt.Errorf("%s: %w", oupwire.MethodClientHello, err)
	}
	raw, err := on.call(ctx, oupwire.MethodClientHello, params.AppendJSON(nil))
	if err != nil {
		return err
	}
	result, err := oupwire.DecodeServerHelloResult(raw)
	if err != nil {
		return badResult(oupwire.MethodClientHello, err)
	}
	if spoken, want := result.Capabilities.Version.Protocol, text("identifier"); spoken != want {
		return &ProtocolError{Method: oupwire.MethodClientHello, Detail: fmt.Sprintf("it speaks %q, not %q", spoken, want)}
	}
	if given := result.Capabilities.Version.SchemaVersion; given < oupwire.SchemaVersion {
		return &ProtocolError{Method: oupwire.MethodClientHello, Detail: fmt.Sprintf("its schema_version is %d, and this client needs %d or later", given, oupwire.SchemaVersion)}
	}
	c.mu.Lock()
	c.capabilities = result.Capabilities
	c.mu.Unlock()
	return nil
}

func badResult(method string, err error) error {
	return &ProtocolError{Method: method, Detail: "the result is not what the method gives", Err: err}
}

// Capabilities returns what the server said it can do on the newest connection.
func (c *Client) Capabilities() oupwire.ServerCapabilities {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.capabilities
}

// Done is closed when the client has ended: by Close, because its server process ended, or because it gave up.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns why the client ended; nil while it has not.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the client and everything that waits for it, and returns when nothing of it runs any more, callbacks
// included: so a callback cannot call it. A server process is told, asked and then made to end. Further calls wait for
// the same end.
func (c *Client) Close() error {
	c.mu.Lock()
	select {
	case <-c.closed:
	default:
		close(c.closed)
	}
	c.mu.Unlock()
	c.end()
	<-c.done
	c.threads.Wait()
	return nil
}

// spawn runs something that Close waits for; false where the client is closed.
func (c *Client) spawn(run func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.closed:
		return false
	default:
		c.threads.Go(run)
		return true
	}
}

// caller carries out the typed calls.
type caller struct{ *Client }

func (c caller) Call(ctx context.Context, method string, params []byte, accept func(result []byte) error) error {
	result, err := c.request(ctx, method, params)
	if err != nil {
		return err
	}
	if err := accept(result); err != nil {
		return badResult(method, err)
	}
	return nil
}

func (c caller) Tell(ctx context.Context, method string, params []byte) error {
	for {
		on, err := c.acquire(ctx)
		if err != nil {
			return err
		}
		if err = on.tell(ctx, method, params); err == nil || !c.reconnects() || ctx.Err() != nil {
			return err
		}
	}
}

// Call sends a request that has no typed method, or members that a typed one does not have. Params are written by
// encoding/json.
func (c *Client) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("%s: params: %w", method, err)
	}
	return c.request(ctx, method, text)
}

// request sends a request and waits for its result. Before it was sent, a lost connection is waited for.
func (c *Client) request(ctx context.Context, method string, params []byte) ([]byte, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	for {
		on, err := c.acquire(ctx)
		if err != nil {
			return nil, err
		}
		result, err := on.call(ctx, method, params)
		var unsent *notSentError
		if errors.As(err, &unsent) && c.reconnects() {
			continue
		}
		return result, err
	}
}

// bounded gives a context the usual bound of a wait where it has none.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return ctx, func() {}
	}
	return within(ctx, c.options.Timeout, longer)
}

// acquire returns the connection, and waits for one while a lost one is made again.
func (c *Client) acquire(ctx context.Context) (*conn, error) {
	for {
		c.mu.Lock()
		current, ready, err := c.current, c.ready, c.err
		c.mu.Unlock()
		switch {
		case err != nil:
			return nil, err
		case current != nil:
			return current, nil
		}
		select {
		case <-ready:
		case <-ctx.Done():
			return nil, over(ctx)
		case <-c.life.Done():
			return nil, ErrClosed
		}
	}
}

func (c *Client) reconnects() bool {
	return c.transport == oupwire.TransportWebsocket && c.options.Reconnect.Attempts > 0
}

// hear takes a notification to whom it belongs.
func (c *Client) hear(on *conn, m message) {
	if m.stray && m.broken != nil {
		c.options.Logger.Warn("the server refused a frame with an error that is none", "error", m.broken)
		return
	}
	if m.stray {
		// Which frame could not be read is not said, so nothing that waits can be told.
		c.options.Logger.Warn("the server refused a frame", "error", refusal("(unknown)", *m.fault))
		return
	}
	ev := decodeEvent(m.method, m.params)
	c.mu.Lock()
	session := c.sessions[ev.Session]
	c.mu.Unlock()
	switch {
	case session != nil:
		session.receive(on, ev, m.params)
	case c.options.OnEvent != nil:
		c.options.OnEvent(ev)
	}
}
