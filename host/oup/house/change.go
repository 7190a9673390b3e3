package house

import (
	"context"
	"errors"
	"fmt"

	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/session"
)

// claim makes the caller the only one who makes or deletes a session of a key, until release.
func (h *House) claim(ctx context.Context, k key.Key) (release func(), err error) {
	for {
		h.mu.Lock()
		busy := h.making[k.String()]
		switch {
		case h.closed:
			h.mu.Unlock()
			return nil, ErrClosed
		case busy == nil:
			mine := make(chan struct{})
			h.making[k.String()] = mine
			h.mu.Unlock()
			return func() {
				h.mu.Lock()
				delete(h.making, k.String())
				h.mu.Unlock()
				close(mine)
			}, nil
		}
		h.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Parting is what is done on the way of a deletion, while nobody can make a session under its key. Its members may be
// nil.
type Parting struct {
	// Retired is called once nothing runs in the session any more. Where it fails, the session stays.
	Retired func() error
	// Gone is called once the conversation is gone, with the number of the last event, before the events are.
	Gone func(last int64)
}

// Delete ends what runs in a session, and removes its conversation for good and what was told of it. The numbers of
// its stream and the ids of its turns stay used. The error is an *UnknownError, ErrClosed, or of store or ledger; then
// the session is there.
//
// Rules: OUP-SESSION-016, OUP-SESSION-017, OUP-SESSION-018.
func (h *House) Delete(ctx context.Context, k key.Key, parting Parting) error {
	release, err := h.claim(ctx, k)
	if err != nil {
		return err
	}
	defer release()
	info, err := h.o.Store.Keyed(ctx, k.String())
	if errors.Is(err, session.ErrNotFound) {
		return &UnknownError{Key: k.String()}
	}
	if err != nil {
		return err
	}
	h.mu.Lock()
	s := h.sessions[k.String()]
	h.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	if s != nil {
		if err := s.Retire(ctx, live.ErrDeleted); err != nil {
			h.o.Failed(fmt.Errorf("session %q is not given back in order: %w", k, err))
		}
		h.mu.Lock()
		delete(h.sessions, k.String())
		h.mu.Unlock()
	}
	if parting.Retired != nil {
		if err := parting.Retired(); err != nil {
			return err
		}
	}
	window, err := h.o.Ledger.Window(ctx, k.String())
	if err != nil {
		return err
	}
	if _, err := h.o.Store.Delete(ctx, info.ID); err != nil {
		return err
	}
	if parting.Gone != nil {
		parting.Gone(window.Head)
	}
	if err := h.o.Ledger.Forget(ctx, k.String()); err != nil { // nobody gets to it, and the next session of the key has it cleared
		h.o.Failed(fmt.Errorf("session %q is deleted, and what was told of it still lies on the disk: %w", k, err))
	}
	return nil
}

// Forked says what a fork came to.
type Forked struct {
	Key    key.Key
	Copied int // rows
}

// Fork makes a session with what was said in another one: all of it, or its last rows if last is not negative. It is
// not opened. Errors are key.ErrChatID, *ExistsError, *UnknownError, ErrClosed, or of the store.
//
// Rules: OUP-FORK-001 to OUP-FORK-005.
func (h *House) Fork(ctx context.Context, parent key.Key, name string, last int) (Forked, error) {
	child, err := parent.Child(name)
	if err != nil {
		return Forked{}, err
	}
	from, err := h.Find(ctx, parent)
	if err != nil {
		return Forked{}, err
	}
	branch, err := from.Branch(ctx)
	if err != nil {
		return Forked{}, err
	}
	release, err := h.claim(ctx, child) // nobody sees it half made
	if err != nil {
		return Forked{}, err
	}
	defer release()
	if _, err := h.o.Store.Keyed(ctx, child.String()); errors.Is(err, session.ErrNotFound) {
		if err := h.clear(ctx, child); err != nil {
			return Forked{}, err
		}
	}
	rows := live.Rows(branch)
	if last < 0 || last >= len(rows) {
		_, err = h.o.Store.ForkAs(ctx, from.ID(), "", child.String())
		last = len(rows)
	} else {
		err = h.copyLast(ctx, from, child, branch, rows[len(rows)-last:])
	}
	if errors.Is(err, session.ErrExists) {
		err = &ExistsError{Key: child.String()}
	}
	return Forked{Key: child, Copied: last}, err
}

// copyLast makes a session of some rows of another one.
func (h *House) copyLast(ctx context.Context, from *live.Session, child key.Key, branch []session.Stored, rows []int) error {
	info, err := from.Info(ctx)
	if err != nil {
		return err
	}
	made, err := h.o.Store.Create(ctx, session.New{
		Workspace: info.Workspace, Name: info.Name, Model: info.Model, Key: child.String(), Profile: info.Profile,
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	held, err := h.o.Store.Begin(ctx, made.ID)
	if err == nil {
		entries := make([]session.Entry, 0, len(rows))
		for _, i := range rows {
			entries = append(entries, session.Entry{Value: branch[i].Value, Metadata: branch[i].Metadata})
		}
		_, err = held.Append(ctx, entries...)
		err = errors.Join(err, held.Close())
	}
	if err != nil {
		_, undo := h.o.Store.Delete(context.WithoutCancel(ctx), made.ID)
		err = errors.Join(err, undo)
	}
	return err
}
