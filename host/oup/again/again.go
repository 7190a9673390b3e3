// Package again plans attempts at what could not be done: the first one soon, each one that leaves something over later
// than the one before, up to a bound, and none any more once nothing is left.
package again

import (
	"sync"
	"time"
)

const (
	// First is how long the first attempt waits; each one that fails doubles that, up to Last.
	First = time.Second
	Last  = 16 * time.Second
)

// Plan plans attempts at one kind of work. Try and Left are required. Its methods are for any goroutine, but not for
// one that holds what Left waits for.
type Plan struct {
	// Try does what can be done. One attempt runs at a time.
	Try func()
	// Left reports whether anything is left to do. It must not use the plan.
	Left func() bool
	// After calls a function once later, in a goroutine of its own, unless it is taken back; nil: time.AfterFunc.
	After func(time.Duration, func()) (stop func() bool)

	mu     sync.Mutex
	delay  time.Duration // of the attempt that is planned, or runs; 0 while there is none
	stop   func() bool   // takes that attempt back
	closed bool
}

// Want plans an attempt where none is. Call it behind every addition to what is left.
func (p *Plan) Want() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.delay == 0 && !p.closed {
		p.planLocked(First)
	}
}

// Close plans none any more, and takes back the one that is. One that runs is not waited for; it plans no other.
func (p *Plan) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.stop != nil {
		p.stop()
	}
}

func (p *Plan) planLocked(delay time.Duration) {
	after := p.After
	if after == nil {
		after = func(delay time.Duration, do func()) func() bool { return time.AfterFunc(delay, do).Stop }
	}
	p.delay = delay
	p.stop = after(delay, p.attempt)
}

func (p *Plan) attempt() {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return
	}
	p.Try()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
	case p.Left():
		p.planLocked(min(2*p.delay, Last))
	default:
		p.delay = 0
	}
}
