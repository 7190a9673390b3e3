package live

import (
	"context"
	"errors"
	"slices"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/story"
	"github.com/octet-dev/octet/host/session"
)

// RolledBack says what a rollback took out.
type RolledBack struct {
	Turns  int           // no more than there were
	Before ledger.Cursor // the head of the stream before it
	// Event is what was told of it.
	Event ledger.Stored
}

// ErrNoTurns says that a rollback of no turns was asked for.
//
// Rule: OUP-ROLLBACK-001.
var ErrNoTurns = errors.New("a rollback takes out 1 turn or more")

// rolledBack is the kind of the event that tells a rollback.
const rolledBack = "session_rolled_back"

// Rollback takes out the last turns of the conversation: what was said since is still in the ledger, and neither
// listed nor shown to a model. Files stay as they are. Errors are ErrNoTurns, *InProgressError, *UnavailableError,
// or of the store.
//
// Rules: OUP-ROLLBACK-001 to OUP-ROLLBACK-006.
func (s *Session) Rollback(ctx context.Context, turns int) (RolledBack, error) {
	if turns < 1 {
		return RolledBack{}, ErrNoTurns
	}
	s.commands.Lock()
	defer s.commands.Unlock()
	if t := s.unsettled(ctx); t != nil {
		return RolledBack{}, &InProgressError{Turn: t.id}
	}
	if err := s.o.Ledger.Settle(ctx, s.o.Key); err != nil {
		return RolledBack{}, err
	}
	with, release, err := s.open(ctx)
	if err != nil {
		return RolledBack{}, err
	}
	defer release()
	branch, err := s.Branch(ctx)
	if err != nil {
		return RolledBack{}, err
	}
	roots := Roots(branch)
	turns = min(turns, len(roots))
	window, err := s.o.Ledger.Window(ctx, s.o.Key)
	if err != nil {
		return RolledBack{}, err
	}
	done := RolledBack{Turns: turns, Before: ledger.Cursor{Stream: s.o.Key, Seq: window.Head}}
	if turns == 0 {
		return done, nil
	}
	if err := with.Rewind(ctx, branch[roots[len(roots)-turns]].Parent); err != nil {
		return RolledBack{}, s.retiredBy(err)
	}
	told := oupwire.SessionEventBridgedEvent{
		SessionID: s.o.Key, Topic: event.Topic(s.o.Key), Kind: rolledBack, Payload: wirejson.Some(event.Detail(map[string]any{"dropped_turns": turns})),
	}
	stored, err := s.o.Ledger.Append(context.WithoutCancel(ctx), event.Of(s.o.Key, oupwire.MethodSessionEvent, told, ledger.Subject{}, ledger.Within))
	if err != nil {
		return RolledBack{}, err
	}
	done.Event = stored[0]
	return done, nil
}

// Roots are the places in a branch where turns begin: what the user said first in each run, and what was added in
// the user's name without one.
func Roots(branch []session.Stored) []int {
	var roots []int
	seen := map[string]bool{}
	for i, stored := range branch {
		m, ok := stored.Value.(session.Message)
		if !ok || m.Message.Role != conversation.User || m.Run != "" && seen[m.Run] {
			continue
		}
		seen[m.Run] = true
		seen["run:"+string(stored.ID)] = true // of a run that has its name from its first entry
		roots = append(roots, i)
	}
	return roots
}

// Compacted says what a compaction came to.
type Compacted struct {
	Done          bool // false: there was nothing to sum up
	Before, After int64
}

// Compact sums the conversation up, whatever its size, while no turn runs: one that waits for the user could be waited
// for without end. Errors are *InProgressError, *UnavailableError, or why there is no summary; then the conversation
// is as it was, and that is told too.
//
// Rules: OUP-COMPACT-001, OUP-COMPACT-004.
func (s *Session) Compact(ctx context.Context) (Compacted, error) {
	with, release, err := s.open(ctx)
	if err != nil {
		return Compacted{}, err
	}
	defer release()
	before := s.contextState(ctx).TokenEstimate
	for err = engine.ErrBusy; errors.Is(err, engine.ErrBusy); {
		s.mu.Lock()
		begun := s.begun
		s.mu.Unlock()
		if t := s.unsettled(ctx); t != nil {
			return Compacted{}, &InProgressError{Turn: t.id}
		}
		_, err = with.CompactUnless(ctx, begun)
	}
	switch {
	case errors.Is(err, agent.ErrNothingToCompact):
		return Compacted{Before: before, After: before}, s.tellNothing(err)
	case err != nil:
		return Compacted{Before: before}, s.retiredBy(err)
	}
	return Compacted{Done: true, Before: before, After: s.contextState(ctx).TokenEstimate}, nil
}

// tellNothing tells a pass that had nothing to do.
func (s *Session) tellNothing(reason error) error {
	pass := story.NewCompactions(s.o.Key, s.world())
	news := pass.Take(agent.CompactionStarted{Trigger: manual})
	news = append(news, pass.Take(agent.CompactionFailed{Trigger: manual, Reason: reason.Error()})...)
	_, err := s.o.Ledger.Append(context.Background(), news...)
	return err
}

// manual is what sets off a pass that somebody asks for.
const manual = "manual"

// SetCompaction says how the conversation is summed up from here on, by hand and by itself, and returns how.
//
// Rule: OUP-COMPACT-002.
func (s *Session) SetCompaction(mode oupwire.CompactionMode) oupwire.CompactionMode {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plain = mode == oupwire.CompactionModeHeuristic
	if s.conversation != nil {
		s.conversation.SetPlainCompaction(s.plain)
	}
	if s.plain {
		return oupwire.CompactionModeHeuristic
	}
	return oupwire.CompactionModeLlm
}

// Aside asks the model a question beside the conversation, also while a turn runs. Nothing of it is stored or told.
// Errors are *UnavailableError, ErrRetired, or those of the model.
//
// Rules: OUP-ASIDE-001, OUP-ASIDE-002.
func (s *Session) Aside(ctx context.Context, question string) (agent.Aside, error) {
	with, release, err := s.open(ctx)
	if err != nil {
		return agent.Aside{}, err
	}
	defer release()
	answer, err := with.Aside(ctx, question)
	return answer, s.retiredBy(err)
}

// SetTitle names the session. A title that a person gave is replaced by another one of a person alone.
//
// Rule: OUP-SESSION-015.
func (s *Session) SetTitle(ctx context.Context, title string) error {
	s.touch()
	s.mu.Lock()
	c := s.conversation
	s.mu.Unlock()
	if c != nil {
		if err := c.SetName(ctx, title); !errors.Is(err, session.ErrClosed) { // it has come to rest
			return err
		}
	}
	return s.o.Store.SetName(ctx, s.o.ID, title)
}

// reasoning lets the model of the turn reason as much as was asked for, as far as it can.
func (s *Session) reasoning(t *turn) {
	_, info, now := t.with.Model()
	want := t.reason
	if want == string(oupwire.ReasoningEffortMax) && !slices.Contains(info.Reasoning, want) && len(info.Reasoning) > 0 {
		want = info.Reasoning[len(info.Reasoning)-1]
	}
	if want == now || !slices.Contains(info.Reasoning, want) {
		return
	}
	stored, err := s.Info(t.context)
	if err == nil {
		err = t.with.SetModel(t.context, stored.Model, want)
	}
	s.failed("the reasoning is not changed", err)
}

// Rows are the places in a branch of what is listed as a message: what user, assistant and system said, and the
// results of tools.
func Rows(branch []session.Stored) []int {
	var rows []int
	for i, stored := range branch {
		switch stored.Value.(type) {
		case session.Message, session.Injected:
			rows = append(rows, i)
		}
	}
	return rows
}
