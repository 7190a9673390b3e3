// Package live is one session at work: its conversation with a model, the turn that runs, and what is said to it
// meanwhile. Commands come as calls; what becomes of them is told through the ledger and nowhere else.
//
// A turn is told first and carried out then; its end is carried out first and told then. Whatever stops the
// process in between, the next start can tell from the two files which of both is missing.
//
// Sheet: OUP core 9.2, 9.3, 11.12 to 11.19; settled S62, S66, S72 to S75.
package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/pending"
	"github.com/octet-dev/octet/host/oup/storage"
	"github.com/octet-dev/octet/host/oup/story"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// Options are what a session works with. Key, ID, Workspace, Ledger, Store and Engine are required.
type Options struct {
	Key       string // with its topic; the name of its stream
	ID        string // in the store
	Workspace string // its root
	Owner     string // the profile that it belongs to
	Ledger    *ledger.Ledger
	Store     *session.Store
	// Engine returns the engine of the workspace and the owner.
	Engine func(context.Context) (*engine.Engine, error)
	// Room is called before the conversation is opened, which costs a descriptor; nil: nobody has to know.
	Room func()
	// Relieve gives descriptors back where the system has none left, and reports whether it did; nil: there are none.
	Relieve func() bool
	// Preview keeps what a call has changed, or would change, and returns the id of the preview; nil: none is kept.
	Preview func(session string, changes []tool.Change) string
	// Spread tells whoever has the session open now what is not stored; nil: nobody is told.
	Spread func(session, method string, params wirejson.Encoder)
	// Model is the reference of the model that a session is to be answered by from its next turn on; empty, or nil: as
	// before.
	Model func() string
	// Tools are those that the conversation has beside others; nil: none.
	Tools func(s *Session) []tool.Tool
	// Ended is told that a turn has ended, whatever it was; nil: nobody is.
	Ended func(key, turn string)
	// Failed is told what went wrong beside what anybody waits for; nil: nobody is.
	Failed func(error)
	Now    func() time.Time // nil: time.Now
}

// Session is one session. Its methods may be called from any goroutine.
type Session struct {
	o    Options
	book *pending.Book

	// commands orders what changes the session: it is held while a turn is accepted, and not while it runs.
	commands sync.Mutex
	opening  sync.Mutex // orders openings of the conversation

	mu           sync.Mutex
	conversation *engine.Conversation // nil while the session is at rest
	turn         *turn                // nil while none runs
	begun        chan struct{}        // closed, and replaced, when a turn begins
	last         *ended
	used         time.Time
	retired      bool
	profile      permission.Profile
	plan         *oupwire.PlanUpdatedEvent
	borrowed     int       // commands that use the conversation now
	returned     sync.Cond // waits for them; under the mutex
	attending    int       // clients that have the session open
	answering    int       // those of them that take questions
	plain        bool      // it is summed up without a model
	compactions  *story.Compactions
}

// ended is a turn that is over.
type ended struct {
	id                 string
	outcome            oupwire.TurnOutcome
	started, completed time.Time
}

// New makes a session that is at rest.
func New(o Options) *Session {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	s := &Session{
		o: o, book: pending.New(o.Key, o.Ledger, o.Now), used: o.Now(), begun: make(chan struct{}), profile: permission.Profile{Mode: permission.WorkspaceWrite},
	}
	if s.o.Room == nil {
		s.o.Room = func() {}
	}
	if s.o.Relieve == nil {
		s.o.Relieve = func() bool { return false }
	}
	s.returned.L = &s.mu
	s.compactions = story.NewCompactions(o.Key, s.world())
	return s
}

// Key is the key of the session, with its topic.
func (s *Session) Key() string { return s.o.Key }

// ID is the id of the session in the store.
func (s *Session) ID() string { return s.o.ID }

// Workspace is the root of the session's workspace. It never changes.
func (s *Session) Workspace() string { return s.o.Workspace }

// Owner is the profile that the session belongs to. It never changes.
func (s *Session) Owner() string { return s.o.Owner }

// Pending is what the session waits for.
func (s *Session) Pending() *pending.Book { return s.book }

// Info describes the session as the store has it.
func (s *Session) Info(ctx context.Context) (session.Info, error) { return s.o.Store.Info(ctx, s.o.ID) }

// Branch is what was said, without what was rolled back.
func (s *Session) Branch(ctx context.Context) ([]session.Stored, error) {
	return s.o.Store.Branch(ctx, s.o.ID)
}

// Tell stores events of this session that come from elsewhere, such as the news of a task.
func (s *Session) Tell(ctx context.Context, events ...ledger.Event) ([]ledger.Stored, error) {
	return s.o.Ledger.Append(ctx, events...)
}

// Opened stores that somebody has opened the session. Capabilities and cursor of what is told are those of
// each connection and of the event.
func (s *Session) Opened(ctx context.Context, opened oupwire.SessionOpened) (ledger.Stored, error) {
	s.touch()
	opened.SessionID = s.o.Key
	stored, err := s.o.Ledger.Append(ctx, event.Opened(opened))
	if err != nil {
		return ledger.Stored{}, err
	}
	return stored[0], nil
}

// Profile is what tools may do without being asked about.
func (s *Session) Profile() permission.Profile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.profile
}

// SetProfile changes it, from the next call of a tool on, and reports whether that is a change.
//
// Rule: OUP-PERMISSION-008.
func (s *Session) SetProfile(p permission.Profile) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed = s.profile != p
	s.profile = p
	return changed
}

// Model says who answers: the provider, the model and how much it reasons. known is false while the session is at
// rest.
func (s *Session) Model() (provider, model, reasoning string, known bool) {
	s.mu.Lock()
	c := s.conversation
	s.mu.Unlock()
	if c == nil {
		return "", "", "", false
	}
	provider, info, reasoning := c.Model()
	return provider, info.Model, reasoning, true
}

// UnavailableError says that there is nothing that could carry a turn out: no model, no extensions, no lease.
type UnavailableError struct{ Err error }

// Error says why.
func (e *UnavailableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// ErrRetired says that the session was deleted, or has left memory; look it up again.
var ErrRetired = errors.New("the session is no longer at work here")

// open returns the conversation, and opens it where the session is at rest. The session does not rest until
// release is called. The error is an *UnavailableError or ErrRetired.
func (s *Session) open(ctx context.Context) (c *engine.Conversation, release func(), err error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if c, err = s.opened(ctx); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.borrowed++
	return c, s.giveBack, nil
}

// giveBack is the end of a use of the session.
func (s *Session) giveBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.borrowed--
	s.returned.Broadcast()
	s.used = s.o.Now()
}

// Enter keeps the session until leave is called: whoever deletes it waits for that. ErrRetired where it is being
// deleted, or is.
func (s *Session) Enter() (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retired {
		return nil, ErrRetired
	}
	s.borrowed++
	return s.giveBack, nil
}

// opened is open for who has the opening.
func (s *Session) opened(ctx context.Context) (*engine.Conversation, error) {
	s.mu.Lock()
	c, retired := s.conversation, s.retired
	s.used = s.o.Now()
	s.mu.Unlock()
	if retired {
		return nil, ErrRetired
	}
	if c != nil {
		return c, nil
	}
	s.o.Room()
	c, err := s.attach(ctx)
	switch {
	case errors.Is(err, engine.ErrClosed): // it was closed because nobody used it: the next one is open
		c, err = s.attach(ctx)
	case storage.NoDescriptors(err) && s.o.Relieve():
		c, err = s.attach(ctx)
	}
	if err != nil {
		return nil, &UnavailableError{err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conversation = c
	c.SetPlainCompaction(s.plain)
	return c, nil
}

// retiredBy makes the error of a conversation that was closed, or stopped, meanwhile one of the session.
func (s *Session) retiredBy(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(err, engine.ErrClosed) || s.retired && err != nil { // what breaks off has many words for it
		return ErrRetired
	}
	return err
}

// attach opens the conversation on the engine of the workspace.
func (s *Session) attach(ctx context.Context) (*engine.Conversation, error) {
	e, err := s.o.Engine(ctx)
	if err != nil {
		return nil, err
	}
	return e.Attach(ctx, s.o.ID, engine.Opening{Frontend: frontend{s}, Profile: s.Profile, Tools: s.tools(), Say: s.spoken})
}

// AtWork reports whether the session holds a conversation.
func (s *Session) AtWork() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conversation != nil
}

// Attended reports whether a client has the session open.
func (s *Session) Attended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attending > 0
}

// touch says that the session is used.
func (s *Session) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = s.o.Now()
}

// Rest gives the conversation back if nothing runs and the session was not used since. It is opened again by
// itself. It reports whether nothing of the session is in use now.
func (s *Session) Rest(since time.Time) bool {
	if !s.opening.TryLock() {
		return false
	}
	defer s.opening.Unlock()
	s.mu.Lock()
	if s.turn != nil || s.borrowed > 0 || s.used.After(since) || s.o.Ledger.Owes(s.o.Key) {
		s.mu.Unlock()
		return false
	}
	c := s.conversation
	s.conversation = nil
	s.mu.Unlock()
	if c != nil {
		s.failed("the session is not given back in order", c.Close())
	}
	return true
}

// Retire stops what runs, for a reason that the turn is settled with, gives everything back and takes no more
// commands. It returns once the end of the turn is stored, or the context ends.
func (s *Session) Retire(ctx context.Context, reason error) error {
	s.mu.Lock()
	s.retired = true
	s.mu.Unlock()
	s.commands.Lock() // whoever was faster has a turn now
	t := s.current()
	s.commands.Unlock()
	if t != nil {
		t.stop(reason)
		t.launch(func() { go s.run(t) }) // one that nobody has launched is settled all the same
		select {
		case <-t.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	s.opening.Lock()
	defer s.opening.Unlock()
	s.mu.Lock()
	c := s.conversation
	s.conversation = nil
	s.mu.Unlock()
	err := s.o.Ledger.Settle(ctx, s.o.Key)
	if c != nil {
		err = errors.Join(err, c.Close())
	}
	s.mu.Lock()
	for s.borrowed > 0 { // what the conversation was used for is told, or will not be
		s.returned.Wait()
	}
	s.mu.Unlock()
	return err
}

func (s *Session) failed(what string, err error) {
	if err != nil {
		s.o.Failed(fmt.Errorf("session %q: %s: %w", s.o.Key, what, err))
	}
}

// world is what the tellers of this session ask about.
func (s *Session) world() story.World {
	w := story.World{Now: s.o.Now, Size: s.size, Context: func() oupwire.ContextState { return s.contextState(context.Background()) }, Threshold: s.threshold}
	if s.o.Preview != nil {
		w.Preview = func(_ string, change tool.Change) string { return s.o.Preview(s.o.Key, []tool.Change{change}) }
	}
	return w
}

// InProgressError says that the session runs a turn.
//
// Rules: OUP-TURN-005, OUP-ROLLBACK-002.
type InProgressError struct{ Turn string }

// Error names the turn.
func (e *InProgressError) Error() string {
	return fmt.Sprintf("the session runs the turn %q; wait for its end, or interrupt it", e.Turn)
}

// UsedError says that a turn id was used before.
//
// Rules: OUP-TURN-007, OUP-TURN-008.
type UsedError struct{ Turn string }

// Error names the turn.
func (e *UsedError) Error() string {
	return fmt.Sprintf("the turn id %q was used before in this session; make a new one", e.Turn)
}

// UnknownTurnError says that no turn of the session is known.
//
// Rule: OUP-INTERRUPT-001.
type UnknownTurnError struct{ Turn string }

// Error names the turn.
func (e *UnknownTurnError) Error() string {
	return fmt.Sprintf("there is no turn %q in this session", e.Turn)
}

// OtherTurnError says that another turn runs than the one that is expected.
//
// Rule: OUP-STEER-003.
type OtherTurnError struct{ Expected, Running string }

// Error names both.
func (e *OtherTurnError) Error() string {
	return fmt.Sprintf("the turn %q is expected and %q runs", e.Expected, e.Running)
}

// ErrNoInput says that nothing is said: neither text nor audio.
//
// Rule: OUP-TURN-003.
var ErrNoInput = errors.New("the input has neither text nor audio; say something")

// Reasons to retire a session, which its turn is settled with.
var (
	ErrDeleted  = fmt.Errorf("the session is deleted: %w", agent.ErrInterrupted)
	ErrShutdown = agent.ErrShutdown
)

// Used is when the session was used last.
func (s *Session) Used() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}
