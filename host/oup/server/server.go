// Package server is an OUP server: connections of any transport, each with its requests, its lanes and its
// heartbeat, from the first byte to the end. What a request does is the business of the handlers it is given.
//
// Sheet: OUP core 2, 9.1; settled S70, S76, S78.
package server

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/access"
	"github.com/octet-dev/octet/host/oup/lane"
	"github.com/octet-dev/octet/host/oup/negotiation"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/transport"
)

// Options make a server.
type Options struct {
	Handlers map[string]rpc.Handler // by method
	Features []string               // that the server stands behind
	Reasons  map[string]string      // why a method is not served
	Gate     *access.Gate
	Lanes    *lane.Book // the same that the handlers use
	// Shutdown ends the program; it is called once, some time after a client asked for it. Nil: no client may.
	Shutdown func()
	// Spell is that of rpc.Options.
	Spell func(*rpc.Call, error) *rpc.Error
	// Left is called behind the end of a connection; nil for nothing.
	Left func(*rpc.Connection)

	Connections int           // that may be open at once; 256
	Heartbeat   time.Duration // between two heartbeats of a WebSocket; the limit heartbeat_interval_ms
	Outbox      transport.OutboxOptions
	Log         func(error) // faults of the server, for people; nil drops them
}

const (
	defaultConnections = 256
	// lookAgain is how long a credential that was withdrawn goes on to be told of its session, at most.
	lookAgain = time.Second
)

// Server serves connections. Its methods are for any goroutine.
type Server struct {
	o          Options
	dispatcher *rpc.Dispatcher
	slots      chan struct{}
	stop       sync.Once

	mu      sync.Mutex
	open    map[*rpc.Connection]bool
	closing bool
	serving sync.WaitGroup
}

// New returns a server. An error is a mistake in the options.
func New(o Options) (*Server, error) {
	if o.Gate == nil || o.Lanes == nil {
		return nil, errors.New("oup server: the gate or the lanes are missing")
	}
	if o.Log == nil {
		o.Log = func(error) {}
	}
	o.Heartbeat = cmp.Or(o.Heartbeat, oupwire.HeartbeatIntervalMs*time.Millisecond)
	s := &Server{o: o, open: map[*rpc.Connection]bool{}, slots: make(chan struct{}, cmp.Or(o.Connections, defaultConnections))}
	handlers := map[string]rpc.Handler{}
	for method, handler := range o.Handlers {
		handlers[method] = handler
	}
	if o.Shutdown != nil {
		handlers[oupwire.MethodServerShutdown] = rpc.Handle(oupwire.DecodeServerShutdownParams, s.shutdown)
	}
	var err error
	s.dispatcher, err = rpc.New(rpc.Options{
		Features: o.Features, Handlers: handlers, Reasons: o.Reasons, Closed: o.Gate.Closed, Admit: o.Gate.Admit,
		Outbox: o.Outbox, Spell: o.Spell, Log: o.Log,
	})
	return s, err
}

// ErrFull says that more connections are not served at once.
var ErrFull = errors.New("oup server: too many connections are open; close one, then connect again")

// ErrClosed says that the server has been closed.
var ErrClosed = errors.New("oup server is closed")

// Serve carries a connection through and returns when nothing of it is left. ErrFull and ErrClosed close it at
// once; another error is why it broke.
func (s *Server) Serve(ctx context.Context, conn transport.Conn) error {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		return errors.Join(ErrFull, conn.Close(transport.Restart))
	}
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return errors.Join(ErrClosed, conn.Close(transport.Restart))
	}
	s.serving.Add(1)
	s.mu.Unlock()
	defer s.serving.Done()

	ctx, cancel := context.WithCancel(ctx)
	var beating sync.WaitGroup
	var connection *rpc.Connection
	err := s.dispatcher.Serve(ctx, conn, func(c *rpc.Connection) {
		connection = c
		s.o.Lanes.Open(c)
		s.enter(c)
		if c.Info().Transport == oupwire.TransportWebsocket {
			beating.Go(func() { s.beat(ctx, c) })
		}
	})
	cancel()
	beating.Wait()
	s.o.Lanes.Close(connection)
	s.o.Gate.Forget(connection)
	s.mu.Lock()
	delete(s.open, connection)
	s.mu.Unlock()
	if s.o.Left != nil {
		s.o.Left(connection)
	}
	return err
}

// enter makes a connection one that Close closes.
func (s *Server) enter(c *rpc.Connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[c] = true
	if s.closing {
		go func() { _ = c.Close(transport.Restart) }() // Serve waits for what it does
	}
}

// beat shows a client that the server is there, and sends one away whose credential counts no longer: who asks for
// nothing would be told everything for ever.
//
// Rules: OUP-SOCKET-012, OUP-SOCKET-015, OUP-STDIO-007.
func (s *Server) beat(ctx context.Context, c *rpc.Connection) {
	ticker := time.NewTicker(s.o.Heartbeat)
	defer ticker.Stop()
	var look <-chan time.Time
	holds := c.Info().Identity.Holds
	if holds != nil {
		again := time.NewTicker(lookAgain)
		defer again.Stop()
		look = again.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-look:
			if !holds() {
				_ = c.Close(transport.AuthExpired) // Serve sees the end
				return
			}
		case <-ticker.C:
			c.Notify(rpc.Notice{
				Method: oupwire.MethodServerHeartbeat, Class: transport.Ephemeral,
				Params: func(negotiation.Set) wirejson.Encoder { return wirejson.Raw("{}") },
			})
		}
	}
}

// shutdown answers, and ends the server a little later.
//
// Rules: OUP-SHUTDOWN-001, OUP-SHUTDOWN-003.
func (s *Server) shutdown(_ context.Context, call *rpc.Call, _ oupwire.ServerShutdownParams) (oupwire.ServerShutdownResult, error) {
	call.After(func() {
		s.stop.Do(func() { time.AfterFunc(oupwire.ShutdownDelayMs*time.Millisecond, s.o.Shutdown) })
	})
	return oupwire.ServerShutdownResult{Stopping: true}, nil
}

// Close takes no more connections, closes all with the reason, and returns when nothing of them is left. What waits
// to be sent is sent, to clients that read.
func (s *Server) Close(reason transport.Reason) {
	s.mu.Lock()
	s.closing = true
	var closers sync.WaitGroup
	for c := range s.open {
		closers.Go(func() { _ = c.Close(reason) }) // one that cannot be told is gone anyway
	}
	s.mu.Unlock()
	closers.Wait()
	s.serving.Wait()
}

// Connect connects a program that embeds the server: the frames it writes and reads are those of any client. The
// connection ends with the context, with Close, or when the client closes its end; done is closed behind it.
func (s *Server) Connect(ctx context.Context, features ...string) (client *transport.Memory, done <-chan struct{}) {
	near, far := transport.Pipe(transport.Info{Transport: oupwire.TransportStdio, Features: features, Loopback: true})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.Serve(ctx, near); err != nil {
			s.o.Log(err)
		}
	}()
	return far, ended
}
