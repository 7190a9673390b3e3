package extension

import (
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/runtime/peer"
)

// Bounds on the events that wait for their handlers. A host that sends faster than the handlers work loses
// what is above.
const (
	mostWaitingEvents = 4096
	mostWaitingBytes  = 16 << 20
)

// events runs the handlers of events, one at a time, in the order in which the events arrived. It has a
// goroutine only while there is something to do.
type events struct {
	arrived atomic.Uint64 // events that were queued, ever

	mu      sync.Mutex
	queue   []queued
	bytes   int
	working bool
	handled uint64          // events whose handlers have returned
	waiting []chan struct{} // closed when handled has grown
	lost    bool            // an event was dropped since the queue was last empty
}

// queued is one event with the size it counts for.
type queued struct {
	run  func(context.Context)
	size int
}

// notice takes a notification on the reading goroutine.
func (s *server) notice(n *peer.Notice) {
	if s.life.Err() != nil {
		return
	}
	var runs []func(context.Context)
	if n.Method == featurewire.MethodShortcutTrigger {
		if run := s.trigger(n.Params); run != nil {
			runs = append(runs, run)
		}
	}
	if n.Method == featurewire.MethodSessionSettled {
		if settled, err := featurewire.DecodeSessionSettledParams(n.Params); err == nil {
			runs = append(runs, func(context.Context) { s.memory.forgetSession(settled.SessionID) })
		}
	}
	if n.Method == canonicalwire.MethodProviderCancel {
		s.cancelStream(n.Params)
	}
	if n.Method == canonicalwire.MethodBusLifecycle {
		s.busNotice(n.Params)
	}
	for _, handle := range s.plan.events[n.Method] {
		run, err := handle(n.Params)
		if err != nil {
			s.ext.log.printf("%s dropped, it is malformed: %v", n.Method, err)
			break
		}
		runs = append(runs, run)
	}
	for _, run := range runs {
		s.queue(n.Method, run, len(n.Params))
	}
}

func (s *server) queue(method string, run func(context.Context), size int) {
	e := &s.events
	e.mu.Lock()
	if len(e.queue) >= mostWaitingEvents || e.bytes+size > mostWaitingBytes {
		first := !e.lost
		e.lost = true
		e.mu.Unlock()
		if first {
			s.ext.log.printf("%s dropped: too many events wait for their handlers", method)
		}
		return
	}
	e.queue = append(e.queue, queued{run, size})
	e.bytes += size
	e.arrived.Add(1)
	start := !e.working
	e.working = true
	e.mu.Unlock()
	if start && !s.spawn("events", s.handleEvents) {
		e.mu.Lock()
		e.working = false
		e.mu.Unlock()
	}
}

// handleEvents runs handlers until none waits.
func (s *server) handleEvents(ctx context.Context) error {
	e := &s.events
	for {
		e.mu.Lock()
		if len(e.queue) == 0 || ctx.Err() != nil {
			e.working, e.lost, e.queue, e.bytes = false, false, nil, 0
			e.mu.Unlock()
			return nil
		}
		next := e.queue[0]
		e.queue[0] = queued{}
		e.queue = e.queue[1:]
		e.bytes -= next.size
		e.mu.Unlock()
		s.apart("event handler", func() { next.run(ctx) })
		e.mu.Lock()
		e.handled++
		for _, w := range e.waiting {
			close(w)
		}
		e.waiting = nil
		e.mu.Unlock()
	}
}

// wait waits until so many events have been handled.
func (e *events) wait(ctx context.Context, count uint64) error {
	for {
		e.mu.Lock()
		if e.handled >= count {
			e.mu.Unlock()
			return nil
		}
		w := make(chan struct{})
		e.waiting = append(e.waiting, w)
		e.mu.Unlock()
		select {
		case <-w:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// protect runs a function of the author and writes its panic to the log.
func (s *server) protect(what string, f func()) {
	defer func() {
		if value := recover(); value != nil {
			s.ext.log.printf("%s panicked: %v\n%s", what, value, debug.Stack())
		}
	}()
	f()
}

// apart is protect for a caller that goes on behind the function, also where it ends its goroutine.
func (s *server) apart(what string, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		returned := false
		defer func() {
			if !returned {
				s.ext.log.printf("%s %v", what, errExited)
			}
		}()
		s.protect(what, f)
		returned = true
	}()
	<-done
}

// spawn runs a function of the author on a goroutine of its own. Its context ends with the session, and
// Serve returns behind it. It reports whether the session still lives.
func (s *server) spawn(what string, f func(ctx context.Context) error) bool {
	s.spawning.Lock()
	defer s.spawning.Unlock()
	if s.life.Err() != nil {
		return false
	}
	s.wg.Go(func() {
		s.protect(what, func() {
			if err := f(s.life); err != nil && s.life.Err() == nil {
				s.ext.log.printf("%s: %v", what, err)
			}
		})
	})
	return true
}

// retire ends what spawn has begun.
func (s *server) retire() {
	s.spawning.Lock()
	defer s.spawning.Unlock()
	s.die()
}
