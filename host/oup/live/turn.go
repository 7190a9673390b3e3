package live

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/story"
)

// Turn is what a client starts.
type Turn struct {
	ID              string // a UUID that no turn of the session had
	Text            string // see Text
	Files           []oupwire.FileRef
	ClientMessageID string // may be empty
	Reasoning       string // one of oupwire.ReasoningEffort; empty: as before
}

// Text joins the texts of an input. Kinds that are not known are left out.
//
// Rule: OUP-TURN-004.
func Text(input []oupwire.InputItem) string {
	var texts []string
	for _, item := range input {
		text, _ := item.Text.Get()
		if text = strings.TrimSpace(text); item.Kind == oupwire.InputKindText && text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// Started is a turn that was accepted: its first events are on disk, and no model is asked yet.
type Started struct {
	Turn  string
	Again bool // it was accepted before, and runs: nothing new was stored
	// Events are turn/started and user_message as they were stored.
	Events []ledger.Stored

	session *Session
	turn    *turn
}

// Go lets the turn run. Call it once the answer is queued.
func (a *Started) Go() {
	if !a.Again {
		a.turn.launch(func() { go a.session.run(a.turn) })
	}
}

// GiveUp ends a turn whose answer could not be queued. No model is asked.
//
// Rule: OUP-TURN-012.
func (a *Started) GiveUp() {
	if !a.Again {
		a.turn.launch(func() {
			a.session.settle(a.turn, story.End{
				Outcome: oupwire.TurnOutcomeErrored, Code: story.CodeGone, Message: "the connection was gone before the turn was acknowledged",
				Usage: &conversation.Usage{},
			})
		})
	}
}

// turn is the one that runs.
type turn struct {
	id       string
	prompt   agent.Prompt
	reason   string // how much the model is to reason, empty: as before
	started  time.Time
	with     *engine.Conversation
	context  context.Context
	cancel   context.CancelCauseFunc
	launched sync.Once
	done     chan struct{} // closed once its end is stored

	// Under the mutex of the session.
	steers  []steer // that were accepted and not taken yet, in the order of acceptance
	handed  int     // so many of them the agent has
	running bool    // the agent takes steers
	closed  bool    // no steer is accepted any more
	stopped bool    // it was told to stop

	telling sync.Mutex // orders what is told
	teller  *story.Teller
	timer   *time.Timer // nil while nothing waits
	broken  bool        // an event could not be stored
	answer  string      // the last message that was stored
}

// steer is one input that was accepted.
type steer struct {
	text  string
	items []oupwire.InputItem
}

// launch does something once for the turn: whoever comes first decides what.
func (t *turn) launch(do func()) { t.launched.Do(do) }

// stop ends the run. The first reason counts.
func (t *turn) stop(reason error) { t.cancel(reason) }

// Start accepts a turn. When it returns, the turn is on disk; Go lets it run. Errors are ErrNoInput,
// *InProgressError, *UsedError, *UnavailableError, *FileError, ErrRetired, or of the ledger; then nothing has
// changed.
//
// Rules: OUP-TURN-003, OUP-TURN-005, OUP-TURN-006, OUP-TURN-007, OUP-TURN-008.
func (s *Session) Start(ctx context.Context, want Turn) (*Started, error) {
	s.commands.Lock()
	defer s.commands.Unlock()
	return s.start(ctx, want)
}

func (s *Session) start(ctx context.Context, want Turn) (_ *Started, err error) {
	if want.ID, err = s.Spelled(ctx, want.ID); err != nil {
		return nil, err
	}
	if t := s.unsettled(ctx); t != nil {
		if t.id == want.ID && !s.isClosed(t) {
			return &Started{Turn: t.id, Again: true, session: s, turn: t}, nil
		}
		return nil, &InProgressError{Turn: t.id}
	}
	_, used, err := s.o.Ledger.State(ctx, s.o.Key, ledger.Subject{Kind: event.Turn, ID: want.ID})
	if err != nil {
		return nil, err
	}
	if used {
		return nil, &UsedError{Turn: want.ID}
	}
	if err := s.o.Ledger.Settle(ctx, s.o.Key); err != nil {
		return nil, err
	}
	media, mentions, err := s.media(want.Files)
	if err != nil {
		return nil, err
	}
	note, err := Note{ClientMessageID: want.ClientMessageID, Files: want.Files}.metadata()
	if err != nil { // their names are longer than an entry can hold
		return nil, &FileError{Path: "", Err: err}
	}
	prompt := agent.Prompt{Text: want.Text, Media: media, Metadata: note, Run: want.ID}
	if mentions != "" {
		prompt.Display = want.Text
		prompt.Text = strings.TrimSpace(want.Text + "\n" + mentions)
	}
	if strings.TrimSpace(want.Text) == "" && !audible(media) {
		return nil, ErrNoInput
	}
	with, release, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer release() // from then on the turn keeps it
	t := &turn{
		id: want.ID, prompt: prompt, reason: want.Reasoning, started: s.o.Now(), with: with, done: make(chan struct{}),
		teller: story.New(s.o.Key, want.ID, s.world()),
	}
	t.context, t.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	stored, err := s.o.Ledger.Append(context.WithoutCancel(ctx), t.teller.Begun(want.Text, want.ClientMessageID, want.Files)...)
	if errors.Is(err, ledger.ErrUsed) {
		return nil, &UsedError{Turn: want.ID}
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.turn = t
	close(s.begun)
	s.begun = make(chan struct{})
	s.mu.Unlock()
	return &Started{Turn: t.id, Events: stored, session: s, turn: t}, nil
}

// unsettled is the turn that runs. One whose end is being told is waited for: whoever was told may go on at once.
func (s *Session) unsettled(ctx context.Context) *turn {
	t := s.current()
	if t == nil || !s.isClosed(t) {
		return t
	}
	select {
	case <-t.done:
		return s.current()
	case <-ctx.Done():
		return t
	}
}

// isClosed reports whether a turn has come to its end, though it may not be told yet.
func (s *Session) isClosed(t *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return t.closed
}

func (s *Session) current() *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn
}

// run carries the turn out.
func (s *Session) run(t *turn) {
	s.choose(t)
	if t.reason != "" {
		s.reasoning(t)
	}
	outcome, err := t.with.Prompt(t.context, t.prompt)
	s.mu.Lock()
	stopped := t.stopped
	s.mu.Unlock()
	if err != nil && outcome.Status == "" {
		outcome = agent.Outcome{Status: agent.Failed, Reason: err.Error(), Uncertain: true}
		if errors.Is(err, engine.ErrClosed) {
			outcome.Status = agent.Shutdown
		}
	}
	end := story.Settled(outcome, stopped)
	if end.Partial {
		t.telling.Lock()
		end.Answer = t.answer
		t.telling.Unlock()
		end.Row = s.row(end.Answer)
	}
	s.settle(t, end)
}

// settle tells the end of a turn, with what must be told in front of it, and lets the next one begin.
//
// Rules: OUP-TURN-015, OUP-STEER-005, OUP-STEER-006, OUP-STREAM-009, OUP-STREAM-010, OUP-APPROVAL-011.
func (s *Session) settle(t *turn, end story.End) {
	t.cancel(nil)
	s.mu.Lock()
	t.closed = true
	dropped := t.steers
	t.steers = nil
	s.mu.Unlock()

	t.telling.Lock()
	if t.timer != nil {
		t.timer.Stop()
	}
	rest := t.teller.Rest()
	t.telling.Unlock()
	s.failed("what the turn "+t.id+" asked for is not taken back", s.book.CancelTurn(t.id))
	var last []ledger.Event
	if len(dropped) > 0 {
		reason := oupwire.SteerDropReasonTurnEnded
		if end.Outcome == oupwire.TurnOutcomeInterrupted {
			reason = oupwire.SteerDropReasonInterrupted
		}
		var inputs []oupwire.InputItem
		for _, d := range dropped {
			inputs = append(inputs, d.items...)
		}
		last = append(last, story.Dropped(s.o.Key, t.id, inputs, reason))
	}
	s.book.TurnEnded(t.id) // in front of the end: whoever is told it may ask at once
	s.tellLast(t, rest, append(last, story.Terminal(s.o.Key, t.id, end)))

	s.mu.Lock()
	s.turn = nil
	s.last = &ended{id: t.id, outcome: end.Outcome, started: t.started, completed: s.o.Now()}
	s.used = s.o.Now()
	s.mu.Unlock()
	close(t.done)
	if s.o.Ended != nil {
		s.o.Ended(s.o.Key, t.id)
	}
}
