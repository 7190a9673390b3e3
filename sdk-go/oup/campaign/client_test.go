package campaign

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/octet-dev/octet/sdk-go/oup"
)

// watcher is a client of one session: it folds what it is told, and stores that with its cursor, as an application does.
type watcher struct {
	t      *testing.T
	name   string
	key    string
	url    string
	until  string // the turn whose end is the end
	chaos  *rand.Rand
	steady bool   // nothing is done to it by itself
	tick   func() // called for each event; nil for nothing

	mu      sync.Mutex
	seen    int           // events
	changed chan struct{} // closed and renewed when there is an event, or another session
	session *oup.Session
	stored  []*state // what it could go on from, the newest last
	renewed int      // how often it went on from there
	calm    bool
	done    chan struct{}
	final   *state
	err     error
}

// mostStored is how many stored states a watcher may go back to.
const mostStored = 8

func watch(t *testing.T, ctx context.Context, w *watcher) *watcher {
	w.t, w.done, w.changed, w.stored = t, make(chan struct{}), make(chan struct{}), []*state{newState()}
	go func() {
		defer close(w.done)
		w.err = w.run(ctx)
	}()
	return w
}

var errAgain = errors.New("the client is closed, and another goes on")

func (w *watcher) run(ctx context.Context) error {
	for {
		err := w.live(ctx)
		if !errors.Is(err, errAgain) {
			return err
		}
		w.renewed++
	}
}

// live is one client from its first connection to its end.
func (w *watcher) live(ctx context.Context) error {
	client, err := oup.WebSocket(ctx, w.url, oup.Options{
		Reconnect: oup.Backoff{First: 20 * time.Millisecond, Longest: 100 * time.Millisecond, Attempts: 10_000},
		OnApproval: func(context.Context, oup.Approval) (oup.Decision, error) {
			return oup.Decision{Approve: true, Note: "by " + w.name}, nil
		},
	})
	if err != nil {
		return w.again(ctx, err)
	}
	defer client.Close()
	now := w.pick()
	after := now.cursor
	if after.Stream == "" {
		after = oup.Cursor{Stream: w.key}
	}
	session, err := client.Open(ctx, w.key, oup.OpenOptions{After: &after, Listen: true})
	if err != nil {
		return w.again(ctx, err)
	}
	w.set(session)
	defer w.set(nil)
	left := w.lifetime()
	for ev, err := range session.Events(ctx) {
		if err != nil {
			return err
		}
		if w.tick != nil {
			w.tick()
		}
		w.mu.Lock()
		w.seen++
		w.change()
		w.mu.Unlock()
		if now.apply(ev) {
			now.cursor = session.Cursor()
			w.store(now)
		}
		if _, ended := now.ended[w.until]; ended {
			w.final = now
			return nil
		}
		if left--; left == 0 {
			return errAgain
		}
	}
	return ctx.Err()
}

// again says whether another client is to follow one that did not get as far as its session: behind a proxy always, else
// where the server went away.
func (w *watcher) again(ctx context.Context, err error) error {
	var lost *oup.Disconnected
	var network net.Error
	if ctx.Err() == nil && (!w.steady || errors.As(err, &lost) || errors.As(err, &network)) {
		return errAgain
	}
	return err
}

func (w *watcher) set(session *oup.Session) {
	w.mu.Lock()
	w.session = session
	w.change()
	w.mu.Unlock()
}

// change wakes who waits for the watcher. The caller holds the lock.
func (w *watcher) change() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// at returns the session of the watcher's client, and waits for one.
func (w *watcher) at(ctx context.Context) (*oup.Session, error) {
	for {
		w.mu.Lock()
		session, changed := w.session, w.changed
		w.mu.Unlock()
		if session != nil {
			return session, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// position returns how many events the watcher has seen.
func (w *watcher) position() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

// passes waits until the watcher has seen more than that, or over is closed.
func (w *watcher) passes(ctx context.Context, position int, over <-chan struct{}) {
	for {
		w.mu.Lock()
		seen, changed := w.seen, w.changed
		w.mu.Unlock()
		if seen > position {
			return
		}
		select {
		case <-changed:
		case <-over:
			return
		case <-w.done:
			return
		case <-ctx.Done():
			return
		}
	}
}

// pick returns a stored state to go on from: the newest, or an older one.
func (w *watcher) pick() *state {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := len(w.stored) - 1
	if !w.steady && w.chaos.IntN(3) == 0 {
		at = w.chaos.IntN(len(w.stored))
	}
	w.stored = w.stored[:at+1]
	return w.stored[at].copied()
}

func (w *watcher) store(now *state) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.steady {
		return
	}
	w.stored = append(w.stored, now.copied())
	if len(w.stored) > mostStored {
		w.stored = w.stored[1:]
	}
}

// lifetime draws how many events this client sees before it is closed; 0 is all.
func (w *watcher) lifetime() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.steady || w.calm || w.chaos.IntN(2) == 0 {
		return 0
	}
	return 5 + w.chaos.IntN(60)
}

func (w *watcher) soothe() {
	w.mu.Lock()
	w.calm = true
	w.mu.Unlock()
}
