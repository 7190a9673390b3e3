package methods

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/rpc"
)

// order keeps what is done to a session, and takes its time, in the order in which it was asked for. The zero value
// is ready.
type order struct {
	mu   sync.Mutex
	last map[string]chan struct{} // by session, closed when the last one is done
}

// join stands behind everything that was asked for. begin waits for that; done lets the next one begin.
func (o *order) join(session string) (begin func(context.Context) error, done func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last == nil {
		o.last = map[string]chan struct{}{}
	}
	before, mine := o.last[session], make(chan struct{})
	o.last[session] = mine
	return func(ctx context.Context) error { return await(ctx, before) }, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.last[session] == mine {
			delete(o.last, session)
		}
		close(mine)
	}
}

// wait waits for everything that was asked for.
func (o *order) wait(ctx context.Context, session string) error {
	o.mu.Lock()
	last := o.last[session]
	o.mu.Unlock()
	return await(ctx, last)
}

func await(ctx context.Context, done <-chan struct{}) error {
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// inTurn makes a handler that answers beside the requests that follow it, as later does, and changes its session
// behind those that came in front of it: also where these wait for the end of a turn, whose approvals are answered
// on the same connection.
func inTurn[P any, R wirejson.Encoder](o *order, do func(context.Context, *rpc.Call, P) (R, error)) func(context.Context, *rpc.Call, P) (wirejson.Encoder, error) {
	return func(ctx context.Context, call *rpc.Call, p P) (wirejson.Encoder, error) {
		begin, done := o.join(call.Scope.Session.String())
		var taken atomic.Bool
		context.AfterFunc(ctx, func() { // a connection that ends may never come to it
			if taken.CompareAndSwap(false, true) {
				done()
			}
		})
		call.Later(func(ctx context.Context) (wirejson.Encoder, error) {
			if !taken.CompareAndSwap(false, true) {
				return nil, context.Cause(ctx)
			}
			defer done()
			if err := begin(ctx); err != nil {
				return nil, err
			}
			result, err := do(ctx, call, p)
			if err != nil {
				return nil, err
			}
			return result, nil
		})
		return nil, nil
	}
}
