package house

import (
	"context"
	"errors"
	"fmt"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/pending"
	"github.com/octet-dev/octet/host/oup/story"
	"github.com/octet-dev/octet/host/session"
)

// clearUp settles what was going on when a process ended that did not end in order: requests are taken back, and
// then each turn gets its one end. Nothing is taken up again.
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
			if err := h.takeBack(ctx, r); err != nil {
				return err
			}
		case event.Turn:
			turns = append(turns, r)
		}
	}
	for _, r := range turns {
		if err := h.orphan(ctx, r); err != nil {
			return err
		}
	}
	return nil
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
