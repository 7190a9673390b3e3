package house

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/again"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/pending"
	"github.com/octet-dev/octet/host/oup/storage"
	"github.com/octet-dev/octet/host/oup/story"
	"github.com/octet-dev/octet/host/session"
)

// leftovers are what was going on when the last process ended and what the disk did not let settle yet, by session, in
// their order.
type leftovers struct {
	settling sync.Mutex // orders attempts

	mu   sync.Mutex
	of   map[string][]ledger.Running
	plan again.Plan // its lock is taken in front of the other
}

func (l *leftovers) add(r ledger.Running) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of[r.Stream] = append(l.of[r.Stream], r)
}

// next is the oldest of a session.
func (l *leftovers) next(session string) (r ledger.Running, is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.of[session]) == 0 {
		return r, false
	}
	return l.of[session][0], true
}

// drop drops the oldest of a session.
func (l *leftovers) drop(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[session] = l.of[session][1:]; len(l.of[session]) == 0 {
		delete(l.of, session)
	}
}

// sessions are those that have any.
func (l *leftovers) sessions() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.of))
}

// clearUp settles what was going on when a process ended that did not end in order: requests are taken back, and
// then each turn gets its one end. Nothing is taken up again. What the disk does not let settle is settled later, and
// its session is not to be had before.
//
// Settled: S62.
func (h *House) clearUp(ctx context.Context) error {
	running, err := h.o.Ledger.Running(ctx)
	if err != nil {
		return err
	}
	var turns []ledger.Running
	for _, r := range running {
		switch r.Subject.Kind {
		case event.Approval:
			h.left.add(r)
		case event.Turn:
			turns = append(turns, r)
		}
	}
	for _, r := range turns {
		h.left.add(r)
	}
	for _, key := range h.left.sessions() {
		err := h.settleLeft(ctx, key)
		if err != nil && storage.Trouble(err) == "" {
			return err
		}
		if err != nil {
			h.o.Failed(fmt.Errorf("session %q: what went on when the last process ended is settled later: %w", key, err))
			h.left.plan.Want()
		}
	}
	return nil
}

// settleAll settles what can be settled.
func (h *House) settleAll() {
	for _, key := range h.left.sessions() {
		_ = h.settleLeft(context.Background(), key) // it was said why, and is tried again
	}
}

// settleLeft settles what is left of a session.
func (h *House) settleLeft(ctx context.Context, key string) error {
	if _, is := h.left.next(key); !is {
		return nil
	}
	h.left.settling.Lock()
	defer h.left.settling.Unlock()
	for {
		r, is := h.left.next(key)
		if !is {
			return nil
		}
		settle := h.orphan
		if r.Subject.Kind == event.Approval {
			settle = h.takeBack
		}
		// One that has an end now was deleted with its session.
		if err := settle(ctx, r); err != nil && !errors.As(err, new(*ledger.SubjectError)) {
			return err
		}
		h.left.drop(key)
	}
}

// takeBack cancels a request that nobody waits for any more.
func (h *House) takeBack(ctx context.Context, r ledger.Running) error {
	turn := ""
	_, err := h.o.Ledger.Replay(ctx, r.Stream, &ledger.Cursor{Stream: r.Stream, Seq: r.State.Begun - 1}, func(s ledger.Stored) error {
		if asked, err := oupwire.DecodeApprovalRequestedEvent(s.Body); err == nil {
			turn = asked.TurnID
		}
		return errEnough
	})
	// What is gone or damaged leaves the turn unnamed.
	if err != nil && !errors.Is(err, errEnough) && !errors.Is(err, ledger.ErrExpired) && !errors.Is(err, ledger.ErrDamaged) {
		return err
	}
	_, err = h.o.Ledger.Append(ctx, pending.Cancelled(r.Stream, r.Subject.ID, turn, oupwire.ApprovalCancelReasonWaiterDropped))
	return err
}

var errEnough = errors.New("enough")

// orphan tells the end of a turn. Where the transcript knows how it ended, that is its end.
func (h *House) orphan(ctx context.Context, r ledger.Running) error {
	end := story.End{Outcome: oupwire.TurnOutcomeErrored, Code: story.CodeOrphaned, Message: "the server ended before the turn did"}
	info, err := h.o.Store.Keyed(ctx, r.Stream)
	switch {
	case errors.Is(err, session.ErrNotFound): // it was being deleted
	case err != nil:
		return err
	default:
		held, err := h.o.Store.Begin(ctx, info.ID) // this settles a run that goes on there
		if err != nil {
			return fmt.Errorf("session %q, whose turn has to be settled: %w", r.Stream, err)
		}
		settled, found, err := h.o.Store.Settled(ctx, info.ID, r.Subject.ID)
		if err = errors.Join(err, held.Close()); err != nil {
			return err
		}
		if found {
			end = story.Stored(settled)
		}
	}
	_, err = h.o.Ledger.Append(ctx, story.Terminal(r.Stream, r.Subject.ID, end))
	return err
}
