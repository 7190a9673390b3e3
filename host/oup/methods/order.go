package methods

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"github.com/octet-dev/octet/generated/wirejson"
)

// order keeps what is done to a session, and takes its time, in the order in which it was asked for. The zero value
// is ready.
type order struct {
	mu   sync.Mutex
	last map[string]chan struct{} // by session, closed when the last one is done
}

// join stands behind everything that was asked for. begin waits for that; done lets the next one begin, once what was in
// front of this one is done.
func (o *order) join(session string) (begin func(context.Context) error, done func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last == nil {
		o.last = map[string]chan struct{}{}
	}
	before, mine := cmp.Or(o.last[session], nothing), make(chan struct{})
	o.last[session] = mine
	leave := func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.last[session] == mine {
			delete(o.last, session)
		}
		close(mine)
	}
	return func(ctx context.Context) error { return await(ctx, before) }, func() {
		select {
		case <-before:
			leave()
		default: // it was given up
			go func() {
				<-before
				leave()
			}()
		}
	}
}

// nothing is in front of who waits for it.
var nothing = func() chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}()

// wait waits for everything that was asked for.
func (o *order) wait(ctx context.Context, session string) error {
	o.mu.Lock()
	last := cmp.Or(o.last[session], nothing)
	o.mu.Unlock()
	return await(ctx, last)
}

func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// waits reports whether something is in front of what is asked for next.
func (o *order) waits(session string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last[session] != nil
}

// behind makes what is done behind everything that was asked for, beside the requests that follow it: it may wait for
// the end of a turn, whose approvals are answered on the same connection. The context is that of the connection.
func (o *order) behind(ctx context.Context, session string, do func(context.Context) (wirejson.Encoder, error)) func(context.Context) (wirejson.Encoder, error) {
	begin, done := o.join(session)
	var taken atomic.Bool
	context.AfterFunc(ctx, func() { // a connection that ends may never come to it
		if taken.CompareAndSwap(false, true) {
			done()
		}
	})
	return func(ctx context.Context) (wirejson.Encoder, error) {
		if !taken.CompareAndSwap(false, true) {
			return nil, context.Cause(ctx)
		}
		defer done()
		if err := begin(ctx); err != nil {
			return nil, err
		}
		return do(ctx)
	}
}
