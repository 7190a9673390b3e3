// Package sessions lets extensions control the session that is active: wait until it is idle, create, fork,
// switch and reload sessions, and compact the active one. API 0.4 asks with session_control_v1 and
// session_compaction_v1, API 0.3 with session_lifecycle.
//
// All work goes through one Controller: it is queued in order, bounded, and carried out one by one, each at an
// idle boundary. Work belongs to an epoch, the time that one session is active in one opening; what is still
// queued when the epoch ends is not done. Source: sheet feature 12.10, 12.11; canonical 5.7, 10.6.
package sessions

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Driver is the product's hold of its active session. Methods are called one at a time, from one goroutine,
// and at an idle boundary where that is said.
type Driver interface {
	// Idle returns when nothing runs in the active session, with its id, and keeps it so until the next method
	// of the driver has returned or release is called.
	Idle(ctx context.Context) (id string, release func(), err error)
	// Create and Fork make a durable session and do not switch to it. Fork forks the active one at its head.
	Create(ctx context.Context) (id string, err error)
	Fork(ctx context.Context) (id string, err error)
	// Switch makes an existing session of the workspace active; Reload opens the active one anew from disk.
	// Both end the epoch: they call Controller.Rebind.
	Switch(ctx context.Context, id string) (active string, err error)
	Reload(ctx context.Context) (active string, err error)
}

// Compactor is a driver whose active session can be compacted while it is idle.
type Compactor interface {
	// Compact returns behind the durable commit and behind the hooks that follow it. Its error may come after
	// the commit, which then stays.
	Compact(ctx context.Context, instructions string) (Compaction, error)
	// Compacting reports whether a compaction is going on, its hooks included.
	Compacting() bool
}

// Compaction is a checkpoint that was made.
type Compaction struct{ EntryID, Summary, FirstKept string }

// Errors of Do.
var (
	// ErrExhausted: the queue is full.
	ErrExhausted = errors.New("too many session operations are queued")
	// ErrFenced: the session it was queued for is not active any more.
	ErrFenced = errors.New("the session that the operation was queued for is not active any more")
	// ErrClosed: no driver is bound.
	ErrClosed = errors.New("no session can be controlled now")
)

// queueMost is how many operations wait at most. The sheets name a bounded queue and no number.
const queueMost = 32

// Controller carries out work on the active session. Make it with New.
type Controller struct {
	driver Driver
	life   context.Context
	end    context.CancelFunc
	wake   chan struct{}
	worker sync.WaitGroup

	mu     sync.Mutex
	epoch  int64
	queue  []*work
	closed bool
}

// work is one queued operation.
type work struct {
	ctx   context.Context
	epoch int64
	do    func(ctx context.Context, active string) (string, error)
	done  chan struct{}
	id    string
	err   error
}

// New returns a controller that works until Close.
func New(d Driver) *Controller {
	c := &Controller{driver: d, wake: make(chan struct{}, 1)}
	c.life, c.end = context.WithCancel(context.Background())
	c.worker.Add(1)
	go c.run()
	return c
}

// Close refuses what is queued, cancels what runs and returns when nothing does.
func (c *Controller) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.worker.Wait()
}

// Rebind begins a new epoch: another session is active, or the same one was opened anew. What was queued
// before is not done for it. The operation that is being carried out and caused it goes on.
func (c *Controller) Rebind() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
}

// WaitForIdle returns the id of the active session once it is idle and everything queued before is done.
func (c *Controller) WaitForIdle(ctx context.Context) (string, error) {
	return c.do(ctx, func(_ context.Context, active string) (string, error) { return active, nil })
}

// Create makes a session and returns its id.
func (c *Controller) Create(ctx context.Context) (string, error) {
	return c.do(ctx, func(ctx context.Context, _ string) (string, error) { return c.driver.Create(ctx) })
}

// Fork forks the active session at its head and returns the id of the fork.
func (c *Controller) Fork(ctx context.Context) (string, error) {
	return c.do(ctx, func(ctx context.Context, _ string) (string, error) { return c.driver.Fork(ctx) })
}

// Switch makes a session active and returns its id.
func (c *Controller) Switch(ctx context.Context, id string) (string, error) {
	return c.do(ctx, func(ctx context.Context, _ string) (string, error) { return c.driver.Switch(ctx, id) })
}

// Reload opens the active session anew and returns its id.
func (c *Controller) Reload(ctx context.Context) (string, error) {
	return c.do(ctx, func(ctx context.Context, _ string) (string, error) { return c.driver.Reload(ctx) })
}

// compact makes one checkpoint of the active session.
func (c *Controller) compact(ctx context.Context, k Compactor, instructions string) (Compaction, error) {
	var made Compaction
	_, err := c.do(ctx, func(ctx context.Context, _ string) (string, error) {
		var err error
		made, err = k.Compact(ctx, instructions)
		return "", err
	})
	return made, err
}

// do queues work and waits until it is done. When ctx ends, work that was not begun is withdrawn; work that was
// is told by its own context, and waited for: it may already be committed.
func (c *Controller) do(ctx context.Context, do func(ctx context.Context, active string) (string, error)) (string, error) {
	w := &work{ctx: ctx, do: do, done: make(chan struct{})}
	c.mu.Lock()
	switch {
	case c.closed:
		c.mu.Unlock()
		return "", ErrClosed
	case len(c.queue) >= queueMost:
		c.mu.Unlock()
		return "", ErrExhausted
	}
	w.epoch = c.epoch
	c.queue = append(c.queue, w)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		if c.withdraw(w) {
			return "", context.Cause(ctx)
		}
		<-w.done
	}
	return w.id, w.err
}

// withdraw takes work out of the queue and reports whether it was still in it.
func (c *Controller) withdraw(w *work) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, queued := range c.queue {
		if queued == w {
			c.queue = append(c.queue[:i], c.queue[i+1:]...)
			return true
		}
	}
	return false
}

// take returns the next work, nil if there is none.
func (c *Controller) take() *work {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return nil
	}
	w := c.queue[0]
	c.queue = c.queue[1:]
	return w
}

func (c *Controller) run() {
	defer c.worker.Done()
	for {
		w := c.take()
		if w == nil {
			select {
			case <-c.wake:
				continue
			case <-c.life.Done():
				c.refuseRest()
				return
			}
		}
		w.id, w.err = c.carryOut(w)
		close(w.done)
	}
}

// refuseRest answers what came while the controller closed.
func (c *Controller) refuseRest() {
	for w := c.take(); w != nil; w = c.take() {
		w.err = ErrClosed
		close(w.done)
	}
}

// carryOut does one piece of work at an idle boundary, unless its epoch is over.
func (c *Controller) carryOut(w *work) (id string, err error) {
	ctx, cancel := context.WithCancelCause(w.ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.life, func() { cancel(ErrClosed) })()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the session driver panicked: %v", v)
		}
	}()
	if !c.current(w) {
		return "", ErrFenced
	}
	active, release, err := c.driver.Idle(ctx)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return "", cause
		}
		return "", err
	}
	defer release()
	if !c.current(w) { // it was rebound by the person while the work waited
		return "", ErrFenced
	}
	return w.do(ctx, active)
}

func (c *Controller) current(w *work) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return w.epoch == c.epoch
}
