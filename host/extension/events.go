package extension

import (
	"fmt"
	"sync"
)

const (
	// maxEvents is how many events wait for their functions.
	maxEvents = 128
	// maxDiagnostics is how many diagnostics of one extension are passed on.
	maxDiagnostics = 100
)

// events calls the functions of the options, one after the other, away from the goroutine that reads
// frames: that one must not wait for anybody.
type events struct {
	diagnose func(string)
	done     chan struct{} // closed when run has returned

	mu          sync.Mutex
	changed     sync.Cond // queue or closed has changed; its lock is mu
	queue       []func()
	busy        bool // an event is being delivered
	closed      bool
	dropped     int
	diagnostics int
}

func newEvents(diagnose func(string)) *events {
	e := &events{diagnose: diagnose, done: make(chan struct{})}
	e.changed.L = &e.mu
	go e.run()
	return e
}

func (e *events) run() {
	defer close(e.done)
	for {
		event, more := e.next()
		if !more {
			return
		}
		event()
	}
}

// next waits for an event; there is none once the queue is closed and empty.
func (e *events) next() (event func(), more bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.busy = false
	for len(e.queue) == 0 && !e.closed {
		e.changed.Wait()
	}
	if len(e.queue) == 0 {
		return nil, false
	}
	event, e.busy = e.queue[0], true
	e.queue[0] = nil
	e.queue = e.queue[1:]
	return event, true
}

// post queues an event and never waits; without room the event is dropped.
func (e *events) post(event func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.queue) >= maxEvents {
		e.dropped++
		return
	}
	e.addLocked(event)
}

// addLocked queues an event whatever the room, unless the end has come.
func (e *events) addLocked(event func()) {
	if !e.closed {
		e.queue = append(e.queue, event)
		e.changed.Signal()
	}
}

// diagnostic queues a diagnostic.
func (e *events) diagnostic(text string) {
	if e.diagnose == nil {
		return
	}
	e.mu.Lock()
	e.diagnostics++
	count := e.diagnostics
	e.mu.Unlock()
	if count == maxDiagnostics {
		text += "; further diagnostics are not shown"
	}
	if count <= maxDiagnostics {
		e.post(func() { e.diagnose(text) })
	}
}

// flush waits until everything queued so far has been delivered. It costs nothing where there is nothing.
func (e *events) flush() {
	e.mu.Lock()
	if e.closed || len(e.queue) == 0 && !e.busy && e.dropped == 0 {
		e.mu.Unlock()
		return
	}
	delivered := make(chan struct{})
	if e.dropped > 0 && e.diagnose != nil {
		text := fmt.Sprintf("%d events were dropped because too many waited", e.dropped)
		e.addLocked(func() { e.diagnose(text) })
	}
	e.dropped = 0
	e.addLocked(func() { close(delivered) })
	e.mu.Unlock()
	<-delivered
}

// close delivers what is queued and ends.
func (e *events) close() {
	e.flush()
	e.mu.Lock()
	e.closed = true
	e.changed.Signal()
	e.mu.Unlock()
	<-e.done
}
