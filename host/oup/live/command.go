package live

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
)

// Steered says what became of a steer.
type Steered struct {
	Turn string // that has it
	// Started is the turn that it began, nil where it was given to a running one. Call its Go once the answer is
	// queued.
	Started *Started
}

// Steer says something to the running turn, or starts one with an id of its own where none runs. What is accepted
// is either taken into the turn or told as dropped in front of its end. expected is the turn that the client takes
// for the running one, or empty. Errors are ErrNoInput, *OtherTurnError, and those of Start.
//
// Rules: OUP-STEER-001, OUP-STEER-002, OUP-STEER-003, OUP-STEER-005, OUP-STEER-007.
func (s *Session) Steer(ctx context.Context, input []oupwire.InputItem, expected string) (Steered, error) {
	text := Text(input)
	if text == "" {
		return Steered{}, ErrNoInput
	}
	for {
		t, taken, err := s.steer(steer{text, input}, expected)
		if err != nil {
			return Steered{}, err
		}
		if taken {
			return Steered{Turn: t.id}, nil
		}
		if t != nil { // it is ending: what is said now belongs to the next one
			select {
			case <-t.done:
				continue
			case <-ctx.Done():
				return Steered{}, context.Cause(ctx)
			}
		}
		s.commands.Lock()
		if s.current() != nil { // another start was faster
			s.commands.Unlock()
			continue
		}
		started, err := s.start(ctx, Turn{ID: event.NewID(s.o.Now()), Text: text})
		s.commands.Unlock()
		if err != nil {
			return Steered{}, err
		}
		return Steered{Turn: started.Turn, Started: started}, nil
	}
}

// spoken takes what an extension says in the name of the user: it goes to the running turn, or begins one.
func (s *Session) spoken(text string) {
	go func() {
		steered, err := s.Steer(context.Background(), []oupwire.InputItem{{Kind: oupwire.InputKindText, Text: wirejson.Some(text)}}, "")
		if err == nil && steered.Started != nil {
			steered.Started.Go()
		}
		if !errors.Is(err, ErrRetired) {
			s.failed("what an extension says is not taken", err)
		}
	}()
}

// steer gives an input to the running turn. t is nil where none runs.
func (s *Session) steer(input steer, expected string) (t *turn, taken bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t = s.turn
	if t == nil {
		return nil, false, nil
	}
	if expected != "" && !strings.EqualFold(expected, t.id) {
		return t, false, &OtherTurnError{Expected: expected, Running: t.id}
	}
	if t.closed {
		return t, false, nil
	}
	t.steers = append(t.steers, input)
	s.handLocked(t)
	return t, true, nil
}

// handOver gives the agent what was accepted before it could take it.
func (s *Session) handOver(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.running = true
	s.handLocked(t)
}

// handLocked gives the agent what it does not have yet. What it does not take any more is dropped at the end of
// the turn. The caller has the mutex, so that the agent gets inputs in the order of acceptance.
func (s *Session) handLocked(t *turn) {
	for t.running && t.handed < len(t.steers) {
		if t.with.Steer(t.steers[t.handed].text) != nil {
			return
		}
		t.handed++
	}
}

// taken says that the agent has told the model an input.
func (s *Session) taken(t *turn, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(t.steers) > 0 && t.handed > 0 && t.steers[0].text == text {
		t.steers, t.handed = t.steers[1:], t.handed-1
	}
}

// Interrupted says what became of an interrupt.
type Interrupted struct {
	Interrupted bool
	Mismatch    bool            // it had ended, and another one runs
	Ended       oupwire.TurnEnd // how it had ended; empty while it runs
	Late        bool            // it has not stopped in time
}

// Interrupt stops a turn and waits, no longer than oupwire.InterruptWaitMs, until its end is stored. The error is
// an *UnknownTurnError, or of the ledger.
//
// Rules: OUP-INTERRUPT-001 to OUP-INTERRUPT-005, OUP-APPROVAL-019.
func (s *Session) Interrupt(ctx context.Context, id string) (Interrupted, error) {
	s.mu.Lock()
	t, last := s.turn, s.last
	again := t != nil && t.stopped
	if t != nil && strings.EqualFold(t.id, id) {
		t.stopped = true
	}
	s.mu.Unlock()
	switch {
	case t == nil && last != nil && strings.EqualFold(last.id, id):
		return Interrupted{Interrupted: last.outcome == oupwire.TurnOutcomeInterrupted, Ended: turnEnd(last.outcome)}, nil
	case t == nil || !strings.EqualFold(t.id, id):
		return s.interruptOld(ctx, id, t != nil)
	case again:
		return Interrupted{Interrupted: true}, nil
	}
	t.stop(agent.ErrInterrupted)
	t.launch(func() { go s.run(t) }) // one that nobody has launched yet ends at once
	limit := time.NewTimer(oupwire.InterruptWaitMs * time.Millisecond)
	defer limit.Stop()
	select {
	case <-t.done:
		return Interrupted{Interrupted: true}, nil
	case <-limit.C:
	case <-ctx.Done():
	}
	return Interrupted{Interrupted: true, Late: true}, nil
}

// interruptOld answers for turns from before the one that runs, and from before the session came to work here.
func (s *Session) interruptOld(ctx context.Context, id string, another bool) (Interrupted, error) {
	id, err := s.Spelled(ctx, id)
	if err != nil {
		return Interrupted{}, err
	}
	state, err := s.old(ctx, id)
	if err != nil {
		return Interrupted{}, err
	}
	if state.Outcome != "" {
		stopped := state.Outcome == oupwire.TurnOutcomeInterrupted && !another
		return Interrupted{Interrupted: stopped, Mismatch: another, Ended: turnEnd(state.Outcome)}, nil
	}
	_, known, err := s.o.Ledger.State(ctx, s.o.Key, ledger.Subject{Kind: event.Turn, ID: id})
	if err == nil && !known {
		err = &UnknownTurnError{Turn: id}
	}
	return Interrupted{Mismatch: known}, err // how it ended is no longer kept
}

func turnEnd(o oupwire.TurnOutcome) oupwire.TurnEnd {
	switch o {
	case oupwire.TurnOutcomeCompleted:
		return oupwire.TurnEndCompleted
	case oupwire.TurnOutcomeInterrupted:
		return oupwire.TurnEndInterrupted
	}
	return oupwire.TurnEndErrored
}

// TurnStatus is how a turn stands.
type TurnStatus struct {
	State              oupwire.TurnState
	Outcome            oupwire.TurnOutcome // empty while it runs, and where nothing is known
	Started, Completed time.Time           // zero where they are not known
}

// Turn says how a turn stands. One that was never accepted is unknown, which is no error.
func (s *Session) Turn(ctx context.Context, id string) (TurnStatus, error) {
	s.unsettled(ctx)
	s.mu.Lock()
	t, last := s.turn, s.last
	stopped := t != nil && t.stopped
	s.mu.Unlock()
	switch {
	case t != nil && t.id == id && stopped:
		return TurnStatus{State: oupwire.TurnStateInterrupting, Started: t.started}, nil
	case t != nil && t.id == id:
		return TurnStatus{State: oupwire.TurnStateActive, Started: t.started}, nil
	case last != nil && last.id == id:
		return TurnStatus{State: oupwire.TurnState(turnEnd(last.outcome)), Outcome: last.outcome, Started: last.started, Completed: last.completed}, nil
	}
	return s.old(ctx, id)
}

// Spelled is the id of a turn as it was spelled when the turn began: a UUID is the same in capitals. An id that no turn
// has is returned as it is.
//
// Rules: OUP-TURN-007, OUP-TURN-008.
func (s *Session) Spelled(ctx context.Context, id string) (string, error) {
	return s.o.Ledger.Spelled(ctx, s.o.Key, ledger.Subject{Kind: event.Turn, ID: id})
}

// Running is the id of the turn that runs, empty if none does.
func (s *Session) Running() string {
	if t := s.current(); t != nil && !s.isClosed(t) {
		return t.id
	}
	return ""
}

// old says from the ledger how a turn ended.
func (s *Session) old(ctx context.Context, id string) (TurnStatus, error) {
	unknown := TurnStatus{State: oupwire.TurnStateUnknown}
	state, found, err := s.o.Ledger.State(ctx, s.o.Key, ledger.Subject{Kind: event.Turn, ID: id})
	if err != nil || !found || state.Ended == 0 {
		return unknown, err
	}
	begun, end, err := s.spanned(ctx, state)
	if err != nil || end.Seq == 0 {
		return unknown, err
	}
	envelope, ok, err := event.EnvelopeOf(end)
	if err != nil || !ok {
		return unknown, err
	}
	terminal, ok := envelope.Payload.(oupwire.TurnTerminalPayload)
	if !ok {
		return unknown, nil
	}
	outcome := terminal.Data.Outcome
	return TurnStatus{State: oupwire.TurnState(turnEnd(outcome)), Outcome: outcome, Started: begun.Time, Completed: end.Time}, nil
}

// spanned reads the first and the last event of a subject, as far as they are kept.
func (s *Session) spanned(ctx context.Context, state ledger.State) (begun, end ledger.Stored, err error) {
	if begun, err = s.at(ctx, state.Begun); err != nil {
		return begun, end, err
	}
	end, err = s.at(ctx, state.Ended)
	return begun, end, err
}

// at reads one event; the zero value if it is no longer kept, or damaged.
func (s *Session) at(ctx context.Context, seq int64) (found ledger.Stored, err error) {
	_, err = s.o.Ledger.Replay(ctx, s.o.Key, &ledger.Cursor{Stream: s.o.Key, Seq: seq - 1}, func(e ledger.Stored) error {
		if e.Seq == seq {
			found = e
		}
		return errEnough
	})
	if errors.Is(err, errEnough) || errors.Is(err, ledger.ErrExpired) || errors.Is(err, ledger.ErrDamaged) {
		err = nil
	}
	return found, err
}

var (
	errEnough = errors.New("enough")
	errUntold = errors.New("what the turn does cannot be stored")
)
