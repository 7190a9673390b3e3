package composition

import (
	"context"
	"slices"
	"sync"

	"github.com/octet-dev/octet/generated/featurewire"
)

// gate lets safe reads overlap, a few at a time, and everything else run alone. Whoever waits has its turn in
// order, so that reads never keep a mutation out.
type gate struct {
	mu      sync.Mutex
	reads   int  // that are inside
	alone   bool // something else is
	waiting []*turn
}

// turn is one that waits.
type turn struct {
	read bool
	in   chan struct{} // closed when it is inside
}

// enter waits until the call may run, and returns what ends it. The error is the cause of ctx.
func (g *gate) enter(ctx context.Context, read bool) (leave func(), err error) {
	t := &turn{read: read, in: make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, t)
	g.admitLocked()
	g.mu.Unlock()
	leave = func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if read {
			g.reads--
		} else {
			g.alone = false
		}
		g.admitLocked()
	}
	select {
	case <-t.in:
	case <-ctx.Done():
	}
	if ctx.Err() == nil {
		return leave, nil
	}
	g.mu.Lock()
	i := slices.Index(g.waiting, t)
	if i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
		g.admitLocked()
	}
	g.mu.Unlock()
	if i < 0 { // it came in at the same moment
		leave()
	}
	return nil, context.Cause(ctx)
}

// admitLocked lets in who can be, in order.
func (g *gate) admitLocked() {
	for len(g.waiting) > 0 && !g.alone {
		next := g.waiting[0]
		if next.read && g.reads >= featurewire.MaxCompositionReads || !next.read && g.reads > 0 {
			return
		}
		if next.read {
			g.reads++
		} else {
			g.alone = true
		}
		g.waiting = g.waiting[1:]
		close(next.in)
	}
}
