package session

import (
	"context"
	"fmt"
)

// Fork makes a session that begins with the branch that ends in an entry; an empty entry stands for the
// head. Entries keep their ids, labels and metadata. Costs stay with the session that caused them. It
// needs no lease. ErrNotFound, ErrNoEntry; a *DamageError if the branch cannot be read.
func (s *Store) Fork(ctx context.Context, id string, at EntryID) (Info, error) {
	return s.ForkAs(ctx, id, at, "")
}

// ForkAs is Fork with a key for the new session. ErrExists if a session has it.
func (s *Store) ForkAs(ctx context.Context, id string, at EntryID, key string) (Info, error) {
	now := s.now().UnixMilli()
	var fork sessionRow
	err := s.db.update(ctx, func(r rows) error {
		source, err := s.lookup(r, id)
		if err != nil {
			return err
		}
		head := source.head
		if at != "" {
			rec, err := s.entry(r, source, at)
			if err != nil {
				return err
			}
			head = rec.seq
		}
		branch, err := s.branch(r, source, head)
		if err != nil {
			return err
		}
		fork = sessionRow{
			id: newID(), workspace: source.workspace, name: source.name, model: source.model, title: source.title,
			created: now, updated: now, entries: int64(len(branch)), head: head, last: head,
			origin: &Origin{Session: source.id, Entry: entryID(head)}, key: key,
			profile: source.profile, messages: said(branch),
		}
		if err := s.free(r, key); err != nil {
			return err
		}
		if err := r.addSession(fork); err != nil {
			return err
		}
		if fork, err = r.session(fork.id); err != nil {
			return err
		}
		return copyBranch(r, source, fork, branch)
	})
	if err != nil {
		return Info{}, fmt.Errorf("fork: %w", err)
	}
	return s.info(fork), nil
}

// copyBranch writes the records of a branch, and their labels, into another session.
func copyBranch(r rows, source, fork sessionRow, branch []record) error {
	labels, err := r.labels(source.num)
	if err != nil {
		return err
	}
	for _, rec := range branch {
		rec.session = fork.num
		rec.sum = rec.checksum(fork.id)
		if err := r.addRecord(rec); err != nil {
			return err
		}
		if label := labels[rec.seq]; label != "" {
			if err := r.setLabel(fork.num, rec.seq, label); err != nil {
				return err
			}
		}
	}
	return nil
}
