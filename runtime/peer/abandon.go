package peer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/octet-dev/octet/runtime/canonical"
)

// abandon ends a call whose context has ended.
func (c *Conn) abandon(ctx context.Context, k *call, q Call) outcome {
	moot := q.Moot != nil && q.Moot()
	c.mu.Lock()
	if c.calls.live[k.id] != k {
		c.mu.Unlock()
		return <-k.done
	}
	if c.withdrawLocked(k) {
		delete(c.calls.live, k.id)
		c.calls.putLocked(k.permit)
		c.mu.Unlock()
		return outcome{err: notSent(ctx)}
	}
	if c.profile.Cancel == "" || moot {
		c.buryLocked(k)
		c.mu.Unlock()
		return outcome{err: unsettled(ctx)}
	}
	c.queueLaterLocked(outgoing{frame: notificationFrame(c.profile.Cancel, cancelParams{k.id, reasonOf(ctx)})})
	if q.Hasty {
		c.buryLocked(k)
		c.mu.Unlock()
		return outcome{err: unsettled(ctx)}
	}
	c.mu.Unlock()

	grace := time.NewTimer(c.opt.Grace)
	defer grace.Stop()
	select {
	case o := <-k.done:
		return o
	case <-grace.C:
	}
	c.mu.Lock()
	if c.calls.live[k.id] != k {
		c.mu.Unlock()
		return <-k.done
	}
	c.buryLocked(k)
	c.mu.Unlock()
	return outcome{err: unsettled(ctx)}
}

func unsettled(ctx context.Context) error {
	return fmt.Errorf("%w: %w", ErrUnsettled, context.Cause(ctx))
}

// cancelParams is the params of $/cancelRequest: an id that is JSON already, and a reason.
type cancelParams struct{ id, reason string }

// AppendJSON implements Value.
func (p cancelParams) AppendJSON(dst []byte) []byte {
	dst = append(append(dst, `{"id":`...), p.id...)
	return append(canonical.AppendString(append(dst, `,"reason":`...), p.reason), '}')
}

// reasonOf is what $/cancelRequest says of the end of ctx.
func reasonOf(ctx context.Context) string {
	const most = 256
	var r Reason
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &r) && r != "":
		return string(r[:min(len(r), most)])
	case errors.Is(cause, context.DeadlineExceeded):
		return "timeout"
	}
	return "cancelled"
}
