package session

import (
	"context"
	"errors"
	"sync"
)

// Session is the right to write a session. Its methods may be called from several goroutines; batches are
// written one behind the other. When a method that writes has returned nil, what it wrote is on disk. A
// context that ends before the transaction began means that nothing is written; one that ends later has
// no effect.
type Session struct {
	store  *Store
	id     string
	lease  *lease
	orphan *Settlement

	mu     sync.Mutex // held for the length of a transaction
	head   int64
	closed bool
}

// Begin takes a session for this process until Close, or until the process ends, however it does.
// ErrBusy if anybody holds it, ErrNotFound. A run that was going on when its process ended is settled
// first, with the outcome errored and the code orphaned_by_restart.
func (s *Store) Begin(ctx context.Context, id string) (*Session, error) {
	// An unknown id must not leave a lock file behind.
	if _, err := s.Info(ctx, id); err != nil {
		return nil, err
	}
	held, err := s.hold(id)
	if err != nil {
		return nil, err
	}
	session := &Session{store: s, id: id, lease: held}
	if err := session.resume(ctx); err != nil {
		_ = held.release()
		return nil, err
	}
	return session, nil
}

// resume reads where the session stands and settles what a dead process left running.
func (s *Session) resume(ctx context.Context) error {
	info, err := s.store.Info(ctx, s.id)
	if err != nil {
		return err
	}
	s.head, _ = info.Head.seq()
	if info.Running == "" {
		return nil
	}
	orphan := &Settlement{
		Run: info.Running, Outcome: Errored, Code: CodeOrphaned,
		Text: "the process ended before the run did",
	}
	if _, err := s.Commit(ctx, Batch{Settle: orphan}); err != nil {
		return err
	}
	s.orphan = orphan
	return nil
}

// ID is the id of the session.
func (s *Session) ID() string { return s.id }

// Info describes the session as it is now.
func (s *Session) Info(ctx context.Context) (Info, error) { return s.store.Info(ctx, s.id) }

// Owner is what extensions are told instead of the id.
func (s *Session) Owner() string { return s.store.ownerID(s.id) }

// Orphan is the terminal that Begin has written for a run that a dead process left behind; nil if there
// was none.
func (s *Session) Orphan() *Settlement { return s.orphan }

// Head is where the conversation stands; empty in an empty session.
func (s *Session) Head() EntryID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return entryID(s.head)
}

// Append appends entries behind the head, each behind the other, and moves the head to the last.
func (s *Session) Append(ctx context.Context, entries ...Entry) ([]EntryID, error) {
	receipt, err := s.Commit(ctx, Batch{Entries: entries})
	return receipt.Entries, err
}

// Commit writes a batch in one transaction.
func (s *Session) Commit(ctx context.Context, batch Batch) (receipt Receipt, err error) {
	err = s.write(ctx, func(w *writer) (err error) {
		receipt, err = w.batch(batch)
		return err
	})
	if err != nil {
		return Receipt{}, err
	}
	return receipt, nil
}

// SetHead moves the head to an entry of the session, or to the beginning if it is empty. The entries
// behind it stay in the tree. ErrNoEntry.
func (s *Session) SetHead(ctx context.Context, id EntryID) error {
	return s.write(ctx, func(w *writer) error {
		var seq int64
		if id != "" {
			rec, err := s.store.entry(w.rows, w.session, id)
			if err != nil {
				return err
			}
			seq = rec.seq
		}
		branch, err := s.store.branch(w.rows, w.session, seq)
		if err != nil && !errors.Is(err, ErrDamaged) { // what is left of a damaged one is what counts
			return err
		}
		w.session.head, w.session.messages = seq, said(branch)
		return w.add(record{kind: kindHead, parent: seq}, struct {
			Entry EntryID `json:"entry,omitempty"`
		}{id})
	})
}

// write runs one transaction on the session.
func (s *Session) write(ctx context.Context, work func(*writer) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	var head int64
	err := s.store.db.update(ctx, func(r rows) error {
		row, err := s.store.lookup(r, s.id)
		if err != nil {
			return err
		}
		w := &writer{rows: r, session: row, now: s.store.now().UnixMilli()}
		if err := work(w); err != nil {
			return err
		}
		head = w.session.head
		return r.putSession(w.session)
	})
	if err != nil {
		return err
	}
	s.head = head
	return nil
}

// Branch returns the entries from the first to the head. If some of them cannot be read, it returns those
// before them and a *DamageError; SetHead to its Last makes the session whole again.
func (s *Session) Branch(ctx context.Context) ([]Stored, error) { return s.store.Branch(ctx, s.id) }

// Entry returns one entry of any branch. ErrNoEntry.
func (s *Session) Entry(ctx context.Context, id EntryID) (stored Stored, err error) {
	err = s.store.db.view(ctx, func(r rows) error {
		row, err := s.store.lookup(r, s.id)
		if err != nil {
			return err
		}
		rec, err := s.store.entry(r, row, id)
		if err != nil {
			return err
		}
		labels, err := r.labels(row.num)
		if err != nil {
			return err
		}
		stored, err = rec.stored(labels[rec.seq])
		return err
	})
	return stored, err
}

// SetName is Store.SetName.
func (s *Session) SetName(ctx context.Context, name string) error {
	return s.store.SetName(ctx, s.id, name)
}

// Label is Store.SetLabel.
func (s *Session) Label(ctx context.Context, entry EntryID, label string) error {
	return s.store.SetLabel(ctx, s.id, entry, label)
}

// Usage sums what is known to have been used.
func (s *Session) Usage(ctx context.Context) (Totals, error) {
	info, err := s.Info(ctx)
	return info.Usage, err
}

// Children lists the sessions that work for this one, the one with the latest record first.
func (s *Session) Children(ctx context.Context) ([]Info, error) {
	return s.store.List(ctx, Filter{Parent: s.id})
}

// Close gives the session back. It waits for a batch that is being written.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.lease.release()
}

// checkpoint is the payload of a record of that kind: a run begins or ends.
type checkpoint struct {
	State string  `json:"state"` // started or settled
	Head  EntryID `json:"head,omitempty"`
	Settlement
}

const (
	stateStarted = "started"
	stateSettled = "settled"
)
