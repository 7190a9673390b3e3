package oup

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Turn is a turn that this client has started. Read its events, or ask for its result: until either is done, events
// of the session wait.
type Turn struct {
	session *Session
	id      string
	sink    *sink
	done    chan struct{}
	once    sync.Once

	mu      sync.Mutex
	started bool // the server has taken it
	reads   bool // an Events runs
	result  Result
	order   []string // segments by their first piece
	pieces  map[string]string
	err     error
}

// Result is what a turn came to.
type Result struct {
	Text    string              // the segments of the answer, a blank line between them
	Outcome oupwire.TurnOutcome // how it ended
	Failure *oupwire.TurnFailure
	Usage   *oupwire.TokenUsage // nil where the server does not know
	Tools   []ToolCall          // in the order in which they began
	Files   []File
}

// ToolCall is one tool at work.
type ToolCall struct {
	ID, Name  string
	Arguments string // to be shown, cut
	Status    oupwire.ToolEndStatus
	Output    string // to be shown, cut
	Error     string
}

// Turn starts a turn by a text. When it returns, the server has taken the turn, or the error says why not.
func (s *Session) Turn(ctx context.Context, text string) (*Turn, error) {
	return s.Start(ctx, oupwire.TurnStartParams{Input: []oupwire.InputItem{TextInput(text)}})
}

// TextInput returns a text as an item of input.
func TextInput(text string) oupwire.InputItem {
	return oupwire.InputItem{Kind: oupwire.InputKindText, Text: wirejson.Some(text)}
}

// Start starts a turn. The session is filled in, and the id where it is empty. Where the connection is lost before
// the answer, the turn is started again by the same id, which the server carries out once.
func (s *Session) Start(ctx context.Context, params oupwire.TurnStartParams) (*Turn, error) {
	params.SessionID = s.Key()
	if params.TurnID == "" {
		params.TurnID = newID()
	}
	t := &Turn{session: s, id: params.TurnID, sink: newSink(), done: make(chan struct{}), pieces: map[string]string{}}
	s.mu.Lock()
	_, taken := s.turns[t.id]
	switch {
	case s.err != nil:
		defer s.mu.Unlock()
		return nil, s.err
	case taken:
		s.mu.Unlock()
		return nil, fmt.Errorf("the turn %q runs already; give every turn an id of its own", t.id)
	}
	s.turns[t.id] = t
	s.mu.Unlock()
	if err := s.start(ctx, t, params); err != nil {
		s.mu.Lock()
		if s.turns[t.id] == t {
			delete(s.turns, t.id)
		}
		s.mu.Unlock()
		t.finish(err)
		return nil, err
	}
	return t, nil
}

func (s *Session) start(ctx context.Context, t *Turn, params oupwire.TurnStartParams) error {
	for again := false; ; again = true {
		_, err := s.client.Methods.TurnStart(ctx, params)
		var lost *Disconnected
		switch {
		case err == nil, again && taken(err, t.id):
			t.accept()
			return nil
		case !errors.As(err, &lost) || !s.client.reconnects() || ctx.Err() != nil:
			return err
		case t.accepted(): // its events have come
			return nil
		}
	}
}

// The kinds of refusals that say that a turn has been started.
const (
	kindInUse      = "turn_id_in_use"
	kindInProgress = "turn_in_progress"
)

// taken reports whether a refusal means that the turn was started before.
func taken(err error, id string) bool {
	var refused *ServerError
	if !errors.As(err, &refused) {
		return false
	}
	running, _ := refused.Detail.(oupwire.TurnInProgressErrorData)
	return refused.Kind == kindInUse || refused.Kind == kindInProgress && running.TurnID.Or("") == id
}

// ID returns the id of the turn.
func (t *Turn) ID() string { return t.id }

// Steer adds to the turn while it runs.
func (t *Turn) Steer(ctx context.Context, text string) (oupwire.TurnSteerResult, error) {
	return t.session.client.Methods.TurnSteer(ctx, oupwire.TurnSteerParams{
		SessionID: t.session.Key(), ExpectedTurnID: wirejson.Some(t.id), Input: []oupwire.InputItem{TextInput(text)},
	})
}

// Interrupt stops the turn. Its end comes as an event.
func (t *Turn) Interrupt(ctx context.Context) (oupwire.TurnInterruptResult, error) {
	return t.session.client.Methods.TurnInterrupt(ctx, oupwire.TurnInterruptParams{SessionID: t.session.Key(), TurnID: t.id})
}

// Events gives what the turn tells, Ended last. It may be left early: the turn runs on, and Result still gathers it.
// An error ends it before the turn does.
func (t *Turn) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		t.mu.Lock()
		if t.reads || t.sink.left() {
			t.mu.Unlock()
			yield(Event{}, errors.New("the events of the turn are read already, or were left; let one reader do it"))
			return
		}
		t.reads = true
		t.mu.Unlock()
		defer t.sink.leave()
		t.sink.each(ctx, t.done, t.reason, yield)
	}
}

// Result waits for the end of the turn and returns what it came to. Events that nobody reads go into it alone. The
// error says why the end is not known; how the turn itself went is in the result.
func (t *Turn) Result(ctx context.Context) (Result, error) {
	t.mu.Lock()
	if !t.reads {
		t.sink.leave()
	}
	t.mu.Unlock()
	select {
	case <-t.done:
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.result, t.err
}

func (t *Turn) reason() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

func (t *Turn) finish(err error) {
	t.once.Do(func() {
		t.mu.Lock()
		t.err = err
		t.mu.Unlock()
		close(t.done)
	})
}

func (t *Turn) accept() {
	t.mu.Lock()
	t.started = true
	t.mu.Unlock()
}

func (t *Turn) accepted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.started
}

// gather adds an event to the result, and reports whether it is the last one.
func (t *Turn) gather(ev Event) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.started = true
	switch body := ev.Body.(type) {
	case Delta:
		t.segment(body.AssistantSegmentID, t.pieces[body.AssistantSegmentID]+body.Text)
	case Message:
		t.segment(body.AssistantSegmentID, body.Text)
	case ToolStart:
		t.result.Tools = append(t.result.Tools, ToolCall{ID: body.ToolCallID, Name: body.Name, Arguments: body.ArgumentsPreview.Or("")})
	case ToolEnd:
		for i := range t.result.Tools {
			if call := &t.result.Tools[i]; call.ID == body.ToolCallID {
				call.Status, call.Output, call.Error = body.Status, body.OutputPreview.Or(""), body.Error.Or("")
			}
		}
	case File:
		t.result.Files = append(t.result.Files, body)
	case Ended:
		t.result.Outcome = body.Outcome
		if failure, failed := body.Error.Get(); failed {
			t.result.Failure = &failure
		}
		if usage, known := body.TokenUsage.Get(); known {
			t.result.Usage = &usage
		}
		var said []string
		for _, segment := range t.order {
			if text := t.pieces[segment]; text != "" {
				said = append(said, text)
			}
		}
		t.result.Text = strings.Join(said, "\n\n")
		return true
	}
	return false
}

func (t *Turn) segment(id, text string) {
	if _, known := t.pieces[id]; !known {
		t.order = append(t.order, id)
	}
	t.pieces[id] = text
}

// newID returns a UUID of version 7: the time, and what nobody guesses.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[6:]) // never fails
	binary.BigEndian.PutUint64(b[:8], uint64(time.Now().UnixMilli())<<16|uint64(binary.BigEndian.Uint16(b[6:8])))
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	text := hex.EncodeToString(b[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}
