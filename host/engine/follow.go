package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/octet-dev/octet/host/agent"
)

// Front is the conversation in front of the person, nil if there is none.
func (e *Engine) Front() *Conversation {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.front
}

// another is a conversation that is open beside the one that was in front, nil where there is none. The caller has
// the mutex.
func (e *Engine) another() *Conversation {
	for c := range e.open {
		return c
	}
	return nil
}

// foreground is the opaque owner of the session in front, for extensions.
func (e *Engine) foreground() string {
	if c := e.Front(); c != nil {
		return c.session.Owner()
	}
	return ""
}

// owned finds the open conversation of an opaque owner, nil if there is none.
func (e *Engine) owned(owner string) *Conversation {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.open {
		if c.session.Owner() == owner {
			return c
		}
	}
	return nil
}

// Reasons why a conversation ends though the person has not left it.
var (
	errSwitched = fmt.Errorf("another session is in front: %w", agent.ErrInterrupted)
	errReread   = fmt.Errorf("the session is read anew: %w", agent.ErrInterrupted)
)

// change is the time in which extensions put another conversation in front.
type change struct {
	mu   sync.Mutex
	over chan struct{} // closed when the change is over; nil while there is none
}

// begin begins a change. There is one at a time.
func (c *change) begin() (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	over := make(chan struct{})
	c.over = over
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.over = nil
		close(over)
	}
}

// going returns what is closed when the change is over, nil while there is none.
func (c *change) going() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

// Next is the conversation that an extension has put in front in place of another one, or is about to. It is
// for whoever was told ErrClosed. ErrClosed if there is none.
func (e *Engine) Next(ctx context.Context, than *Conversation) (*Conversation, error) {
	if over := e.changing.going(); over != nil {
		select {
		case <-over:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if front := e.Front(); front != nil && front != than {
		return front, nil
	}
	return nil, ErrClosed
}
