// Package terminal lends the terminal of the person to one extension at a time.
//
// Whose session it is, and that it is in the foreground, is judged before a request comes here. Source: sheet
// feature 12.6.
package terminal

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/clip"
	"github.com/octet-dev/octet/host/service/refusal"
	"github.com/octet-dev/octet/runtime/peer"
)

// ErrNone is for a frontend that has no terminal to cede now.
var ErrNone = errors.New("no terminal is in the foreground")

// Frontend owns the terminal.
type Frontend interface {
	// Cede stops every use of the terminal in favour of a process group, 0 where it is not known. It returns when
	// that is so, with the size in cells.
	Cede(ctx context.Context, group int) (columns, rows uint16, err error)
	// Reclaim uses the terminal again. It must not block.
	Reclaim()
}

// Holder is a process that may hold the terminal. *extension.Extension is one.
type Holder interface {
	comparable
	// PID is that of the process, which leads its group; 0 where it is not known.
	PID() int
	Notify(ctx context.Context, method string, params peer.Value) error
}

// Loan is the one terminal of a frontend, and who has it. Make it with New.
type Loan = loan[*extension.Extension]

// New returns a terminal that nobody has.
func New(f Frontend) *Loan { return &loan[*extension.Extension]{frontend: f} }

type loan[H Holder] struct {
	frontend Frontend

	mu     sync.Mutex
	ceding bool // Cede runs for somebody
	holder H
	grant  string // empty: nobody holds it
	told   sync.WaitGroup
}

// Binding serves the requests.
func Binding(l *Loan) extension.Binding {
	return extension.Binding{
		Features: []string{featurewire.FeatureTerminalHandoff},
		Requests: map[string]extension.Handler{
			featurewire.MethodTerminalAcquire: func(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
				if _, err := featurewire.DecodeTerminalAcquireParams(r.Params); err != nil {
					return nil, refusal.Of(err)
				}
				r.Waits()
				return l.acquire(ctx, r.Extension)
			},
			featurewire.MethodTerminalRelease: func(_ context.Context, r *extension.Incoming) (peer.Value, error) {
				if _, err := featurewire.DecodeTerminalReleaseParams(r.Params); err != nil {
					return nil, refusal.Of(err)
				}
				return l.release(r.Extension)
			},
		},
		Ended: l.ended,
	}
}

func (l *loan[H]) acquire(ctx context.Context, h H) (peer.Value, error) {
	l.mu.Lock()
	if l.grant != "" || l.ceding {
		l.mu.Unlock()
		return nil, extension.RefuseInvalid("the terminal is lent already")
	}
	l.ceding = true
	l.mu.Unlock()

	columns, rows, err := l.frontend.Cede(ctx, h.PID())

	l.mu.Lock()
	defer l.mu.Unlock()
	l.ceding = false
	switch {
	case errors.Is(err, ErrNone):
		return nil, extension.RefuseOwner(ErrNone.Error())
	case err != nil:
		return nil, err
	case ctx.Err() != nil: // nobody waits for the grant any more
		l.frontend.Reclaim()
		return nil, context.Cause(ctx)
	}
	l.holder, l.grant = h, rand.Text()
	return featurewire.TerminalAcquireResult{GrantID: l.grant, Columns: int64(columns), Rows: int64(rows)}, nil
}

func (l *loan[H]) release(h H) (peer.Value, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grant == "" || l.holder != h {
		return nil, extension.RefuseInvalid("the terminal is not lent to this extension")
	}
	l.returnLocked()
	return featurewire.TerminalReleaseResult{}, nil
}

// returnLocked gives the terminal back to the frontend.
func (l *loan[H]) returnLocked() {
	var nobody H
	l.holder, l.grant = nobody, ""
	l.frontend.Reclaim()
}

// ended takes the terminal from a process that is gone.
func (l *loan[H]) ended(h H) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grant != "" && l.holder == h {
		l.returnLocked()
	}
}

// tellTimeout bounds how long the holder of a lost grant may make its notification wait.
const tellTimeout = 2 * time.Second

// Revoke takes the terminal back and tells its holder why, in at most as many bytes as a reason may have. It
// does not wait for the telling, and is harmless while nobody has the terminal.
func (l *loan[H]) Revoke(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grant == "" {
		return
	}
	holder, lost := l.holder, featurewire.TerminalGrantLostParams{Reason: clip.Text(reason, featurewire.MaxLifecycleReasonBytes), GrantID: wirejson.Some(l.grant)}
	l.returnLocked()
	l.told.Add(1)
	go func() {
		defer l.told.Done()
		ctx, cancel := context.WithTimeout(context.Background(), tellTimeout)
		defer cancel()
		// Where it cannot be told, its process is at an end anyway.
		_ = holder.Notify(ctx, featurewire.MethodTerminalGrantLost, lost)
	}()
}

// Held reports whether an extension has the terminal: it is then told nothing of the terminal.
func (l *loan[H]) Held(h H) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grant != "" && l.holder == h
}

// Ceded reports whether anybody has it.
func (l *loan[H]) Ceded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grant != "" || l.ceding
}

// Close takes the terminal back and returns when nobody is being told anything.
func (l *loan[H]) Close() {
	l.Revoke("the terminal is closed")
	l.told.Wait()
}
