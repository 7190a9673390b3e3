package subject

import (
	"context"
	"sync/atomic"
)

// Bounded is a starter whose subjects are ended once a context is done, so that whoever waits for one of
// them returns at once. What they did from then on says nothing about them. Once one of them had to be
// killed, the others are not asked politely either.
func Bounded(ctx context.Context, starter Starter) Starter {
	return &bounded{ctx: ctx, starter: starter}
}

type bounded struct {
	ctx      context.Context
	starter  Starter
	stubborn atomic.Bool
}

// Start implements Starter.
func (b *bounded) Start(s Start) (Running, error) {
	if err := b.ctx.Err(); err != nil {
		return nil, err
	}
	run, err := b.starter.Start(s)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(b.ctx, func() { run.End() })
	return guarded{Running: run, stop: stop, stubborn: &b.stubborn}, nil
}

type guarded struct {
	Running
	stop     func() bool
	stubborn *atomic.Bool // of all subjects of the starter
}

// End takes the subject down, and with it the watch on the context.
func (g guarded) End() Ended {
	g.stop()
	select {
	case <-g.Exited():
	default:
		if g.stubborn.Load() {
			g.Hurry()
		}
	}
	ended := g.Running.End()
	if ended.Killed {
		g.stubborn.Store(true)
	}
	return ended
}
