package oup

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// OpenOptions say how a session is opened.
type OpenOptions struct {
	Workspace string // working directory; empty leaves it to the server
	Topic     string // where the key does not carry it
	Profile   string // empty is that of the client
	Sandbox   *oupwire.SandboxRequest
	// After is the cursor behind which events are wanted, as Session.Cursor gave it once; nil wants new ones alone.
	After *Cursor
	// Listen makes events that belong to no Turn wait for Session.Events, and what is behind them too: so keep one
	// running. Without it, they are let go while none runs.
	Listen bool
	// Commands are slash commands that this client carries out by itself.
	Commands []string
}

// Session is an open session. It goes on where it was when the connection is made again.
type Session struct {
	client *Client
	params oupwire.SessionOpenParams // as it is opened again, but for the cursor
	asks   *asks

	opening sync.Mutex // one opening at a time, also over two connections

	mu     sync.Mutex
	opened oupwire.SessionOpened
	// What has come so far. It is touched by the goroutine that reads, and by who opens anew while that one lets
	// everything pass.
	on      *conn            // whose events count
	deaf    bool             // a new opening is under way, which brings everything anew
	settled bool             // everything that the opening brought has come
	reached int64            // position up to which everything is in the queue
	threads map[string]int64 // number of the last envelope, by stream that is open
	begun   map[string]bool  // streams whose beginning came
	tail    []uint64         // what came behind reached and shows no position, by hash
	echo    []uint64         // of tail, what the opening may bring again
	missing string           // the stream in which a number was missing last
	closed  []string         // streams that are over, the newest last

	queue  chan Event
	given  Cursor // what the caller has been given
	turns  map[string]*Turn
	sink   *sink // who listens to the session; nil for nobody
	listen bool
	reads  bool // an Events runs
	err    error

	last chan struct{} // nothing more comes into the queue, err says why
	stop chan struct{} // nor is it read
	over chan struct{} // everything that came has been given, or nobody reads
	fall sync.Once
	halt sync.Once
}

// Open opens a session under a key such as local:notes, or makes it. Where the events behind options.After are no
// longer kept, the session is read anew and a Gap comes first.
func (c *Client) Open(ctx context.Context, key string, options OpenOptions) (*Session, error) {
	s := &Session{
		client: c, params: openParams(c, key, options), threads: map[string]int64{}, begun: map[string]bool{}, reached: -1,
		queue: make(chan Event, c.options.Queue), turns: map[string]*Turn{}, listen: options.Listen,
		last: make(chan struct{}), stop: make(chan struct{}), over: make(chan struct{}),
	}
	s.asks = newAsks(s)
	if options.Listen {
		s.sink = newSink()
	}
	if options.After != nil {
		s.reached, s.given = options.After.Seq, *options.After
	}
	if err := s.params.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", oupwire.MethodSessionOpen, err)
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	on, err := c.acquire(ctx)
	if err != nil {
		return nil, err
	}
	if !c.spawn(s.dispatch) {
		return nil, ErrClosed
	}
	if err := s.resume(ctx, on); err != nil {
		s.fail(err)
		s.Close()
		return nil, err
	}
	return s, nil
}

func openParams(c *Client, key string, options OpenOptions) oupwire.SessionOpenParams {
	params := oupwire.SessionOpenParams{SessionID: key, Topic: given(options.Topic), ProfileID: given(options.Profile), Cwd: given(options.Workspace)}
	if options.Profile == "" {
		params.ProfileID = given(c.options.Profile)
	}
	if options.Sandbox != nil {
		params.Sandbox = wirejson.Some(*options.Sandbox)
	}
	if options.Commands != nil {
		params.ClientCommands = wirejson.Some(options.Commands)
	}
	return params
}

// given returns a text that is there unless it is empty.
func given(text string) wirejson.Opt[string] {
	if text == "" {
		return wirejson.Opt[string]{}
	}
	return wirejson.Some(text)
}

// Key returns the key of the session as the server confirmed it, its topic included.
func (s *Session) Key() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened.SessionID
}

// Opened returns what the server said of the session when it was opened last.
func (s *Session) Opened() oupwire.SessionOpened {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// Cursor returns the position up to which the caller has been given everything: events, or what a Turn gathers of
// them. Store it to go on from there later, also in another process.
func (s *Session) Cursor() Cursor {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given
}

// Hydrate reads how the session stands; no sections means all of them. It does not move the cursor.
func (s *Session) Hydrate(ctx context.Context, sections ...oupwire.HydrateSection) (oupwire.SessionHydrateResult, error) {
	return s.client.Methods.SessionHydrate(ctx, hydrateParams(s.Key(), sections))
}

func hydrateParams(key string, sections []oupwire.HydrateSection) oupwire.SessionHydrateParams {
	params := oupwire.SessionHydrateParams{SessionID: key}
	if len(sections) > 0 {
		params.Include = wirejson.Some(sections)
	}
	return params
}

// Events gives what the session tells and no Turn of this client streams: the turns of others, approvals, warnings.
// It ends with an error. Only one may run.
func (s *Session) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		mine, err := s.read()
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer s.leave(mine)
		mine.each(ctx, s.over, s.reason, yield)
	}
}

func (s *Session) read() (*sink, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reads {
		return nil, errors.New("the events of the session are read already; let one reader do it")
	}
	s.reads = true
	if s.sink == nil {
		s.sink = newSink()
	}
	return s.sink, nil
}

func (s *Session) leave(mine *sink) {
	s.mu.Lock()
	s.reads = false
	if !s.listen {
		s.sink = nil
		mine.leave()
	}
	s.mu.Unlock()
}

// Close lets go of the session and returns when no callback of it runs any more: so none can call it. The server keeps
// the session and its turn.
func (s *Session) Close() {
	s.fail(ErrClosed)
	s.halt.Do(func() { close(s.stop) })
	<-s.over
	s.asks.wait()
}

// reason returns why the session ended.
func (s *Session) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// fail ends the session; the first reason counts. What has come already is still given.
func (s *Session) fail(err error) {
	s.fall.Do(func() {
		s.mu.Lock()
		s.err, s.on, s.deaf = err, nil, true
		key := s.opened.SessionID
		s.mu.Unlock()
		s.client.mu.Lock()
		if s.client.sessions[key] == s {
			delete(s.client.sessions, key)
		}
		s.client.mu.Unlock()
		s.asks.end()
		close(s.last)
	})
}
