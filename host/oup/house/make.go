package house

import (
	"context"
	"errors"

	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/oup/place"
	"github.com/octet-dev/octet/host/session"
)

// New says what a session is made with.
type New struct {
	Workspace string // a folder as a client names it, absolute; empty: the default one
	Profile   string // whom it belongs to; empty: whom its key names
	// First is called with a session that was made, before anybody else finds it. One that it refuses is not made. May
	// be nil.
	First func(*live.Session) error
}

// Make returns the session that has a key, and makes it where there is none. made says which. A workspace is looked
// at for a new session alone: that of another one never moves. Errors are *place.Error, ErrClosed, or of the store; a
// *key.ScopeError says that the session belongs to another profile.
func (h *House) Make(ctx context.Context, k key.Key, n New) (s *live.Session, made bool, err error) {
	s, made, err = h.loadFirst(ctx, k, n.First, func() error {
		root := h.o.Workspace
		if n.Workspace != "" {
			var err error
			if root, err = place.Resolve(n.Workspace, ""); err != nil {
				return err
			}
			if h.o.Private != "" {
				if err := place.Apart(root, h.o.Private); err != nil {
					return err
				}
			}
		}
		if err := h.clear(ctx, k); err != nil {
			return err
		}
		_, err := h.o.Store.Create(ctx, session.New{Workspace: root, Key: k.String(), Profile: n.Profile})
		return err
	})
	if err == nil && n.Profile != "" && n.Profile != s.Owner() {
		return nil, false, &key.ScopeError{Kind: key.ForeignProfile, Expected: s.Owner(), Actual: n.Profile}
	}
	return s, made, err
}

// clear forgets what was told of a session that is not there any more: the process ended while it was deleted. The
// caller has claimed the key.
func (h *House) clear(ctx context.Context, k key.Key) error {
	window, err := h.o.Ledger.Window(ctx, k.String())
	if err != nil || window.Oldest > window.Head {
		return err
	}
	return h.o.Ledger.Forget(ctx, k.String())
}

// load is loadFirst without anything that comes first.
func (h *House) load(ctx context.Context, k key.Key, create func() error) (s *live.Session, made bool, err error) {
	return h.loadFirst(ctx, k, nil, create)
}

// loadFirst returns a session, from memory or from the store. create is called where it is in neither, and first with
// what that has made.
func (h *House) loadFirst(ctx context.Context, k key.Key, first func(*live.Session) error, create func() error) (s *live.Session, made bool, err error) {
	h.mu.Lock()
	s, busy, closed := h.sessions[k.String()], h.making[k.String()], h.closed
	h.mu.Unlock()
	if closed {
		return nil, false, ErrClosed
	}
	if s != nil && busy == nil {
		return s, false, nil
	}
	release, err := h.claim(ctx, k)
	if err != nil {
		return nil, false, err
	}
	defer release()
	if err := h.settleLeft(ctx, k.String()); err != nil {
		return nil, false, err
	}
	info, err := h.o.Store.Keyed(ctx, k.String())
	if errors.Is(err, session.ErrNotFound) {
		if err := create(); err != nil {
			return nil, false, err
		}
		made = true
		info, err = h.o.Store.Keyed(ctx, k.String())
	}
	if err != nil {
		return nil, false, err
	}
	s, err = h.take(info)
	if err == nil && made && first != nil {
		if err = first(s); err != nil {
			return nil, false, errors.Join(err, h.unmake(context.WithoutCancel(ctx), s))
		}
	}
	return s, made, err
}

// unmake takes a session back that nobody else has found. The caller has claimed its key.
func (h *House) unmake(ctx context.Context, s *live.Session) error {
	err := s.Retire(ctx, live.ErrDeleted)
	h.mu.Lock()
	delete(h.sessions, s.Key())
	h.mu.Unlock()
	_, gone := h.o.Store.Delete(ctx, s.ID())
	return errors.Join(err, gone)
}

// take puts a session of the store into memory. The caller has claimed its key.
func (h *House) take(info session.Info) (*live.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	if s := h.sessions[info.Key]; s != nil {
		return s, nil
	}
	owner := Owner(info)
	s := live.New(live.Options{
		Key: info.Key, ID: info.ID, Workspace: info.Workspace, Owner: owner, Ledger: h.o.Ledger, Store: h.o.Store, Now: h.o.Now,
		Engine: func(ctx context.Context) (*engine.Engine, error) {
			return h.Engine(ctx, Place{Workspace: info.Workspace, Profile: owner})
		},
		Room: h.makeRoom, Relieve: h.Relieve,
		Model: func() string {
			if h.o.Model == nil {
				return ""
			}
			return h.o.Model(owner)
		},
		Preview: h.o.Preview, Spread: h.o.Spread, Tools: h.o.Tools, Ended: h.o.Ended, Failed: h.o.Failed,
	})
	h.sessions[info.Key] = s
	return s, nil
}
