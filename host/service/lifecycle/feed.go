package lifecycle

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/runtime/peer"
)

const (
	// patience is how old an observation may grow before its frame is begun.
	patience = featurewire.LifecycleEventMs * time.Millisecond
	// maxWaiting is how many observations wait for one listener. Source: manifest and host sheet 9.2.
	maxWaiting = 128
)

// listener is an extension as observations need it. An *extension.Extension is one.
type listener interface {
	Opens(method string) bool
	Deliver(ctx context.Context, method string, params peer.Value, begin func() bool) error
	Diagnose(text string)
}

// observation is one notification on its way.
type observation struct {
	method string
	params peer.Value
	born   time.Time
}

// feed carries observations to one listener, in order, and never holds up whoever observes: what finds no
// room, or is too old when its turn comes, is dropped.
//
// Rules: EXT04-EVENT-007, EXT04-EVENT-008, EXT04-LIMIT-008.
type feed struct {
	to     listener
	cancel context.CancelFunc
	done   chan struct{} // closed when run has returned

	mu      sync.Mutex
	changed sync.Cond // queue or closed has changed; its lock is mu
	queue   []observation
	closed  bool
	dropped int
}

func newFeed(to listener) *feed {
	ctx, cancel := context.WithCancel(context.Background())
	f := &feed{to: to, cancel: cancel, done: make(chan struct{})}
	f.changed.L = &f.mu
	go f.run(ctx)
	return f
}

// put queues an observation. It never blocks.
func (f *feed) put(method string, params peer.Value) {
	if !f.to.Opens(method) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	if len(f.queue) >= maxWaiting {
		f.dropped++
		return
	}
	f.queue = append(f.queue, observation{method, params, time.Now()})
	f.changed.Broadcast()
}

func (f *feed) run(ctx context.Context) {
	defer close(f.done)
	for {
		o, more := f.next()
		if !more {
			return
		}
		if !f.deliver(ctx, o) {
			f.mu.Lock()
			f.dropped++
			f.mu.Unlock()
		}
	}
}

// deliver reports whether the frame has left.
func (f *feed) deliver(ctx context.Context, o observation) bool {
	due := o.born.Add(patience)
	ctx, cancel := context.WithDeadline(ctx, due)
	defer cancel()
	return f.to.Deliver(ctx, o.method, o.params, func() bool { return time.Now().Before(due) }) == nil
}

// next waits for an observation; there is none once the feed is closed and empty.
func (f *feed) next() (o observation, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.queue) == 0 && !f.closed {
		f.changed.Wait()
	}
	if len(f.queue) == 0 {
		return observation{}, false
	}
	o = f.queue[0]
	f.queue = append(f.queue[:0], f.queue[1:]...)
	return o, true
}

// close takes nothing further and waits until what is queued has left or grown too old. When ctx ends it
// gives up on the rest.
func (f *feed) close(ctx context.Context) {
	f.mu.Lock()
	f.closed = true
	f.changed.Broadcast()
	f.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
		f.abandon()
	}
	f.cancel()
	f.mu.Lock()
	dropped := f.dropped
	f.dropped = 0
	f.mu.Unlock()
	if dropped > 0 {
		f.to.Diagnose(fmt.Sprintf("%d lifecycle observations were dropped because they could not be delivered in %s", dropped, patience))
	}
}

// abandon drops what is queued, and returns when nothing runs any more.
func (f *feed) abandon() {
	f.cancel()
	f.mu.Lock()
	f.closed = true
	f.dropped += len(f.queue)
	f.queue = nil
	f.changed.Broadcast()
	f.mu.Unlock()
	<-f.done
}
