// Package progress carries the live news of a call to the person without ever holding up the call.
//
// A Sink cuts output into bounded chunks and keeps a bounded queue. Whoever puts something in never waits:
// what finds no room is merged with what waits already, or dropped and counted. Nothing is kept, and
// nothing of it reaches a model.
//
// Rules: EXT04-PROG-011, EXT04-PROG-013 to EXT04-PROG-016. Sheet: feature 2, 11.6.
package progress

import (
	"sync"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/tool"
)

// Sink is the way from one running call to the person. Its Put is what tool.Call.Progress asks for.
type Sink struct {
	show func(tool.Progress)
	done chan struct{} // closed when run has returned

	mu      sync.Mutex
	changed sync.Cond // queue or closed has changed; its lock is mu
	queue   []tool.Progress
	dropped int
	closed  bool
}

// NewSink begins to carry news. show is called with one piece at a time, in order, from a goroutine of the
// sink, and may take its time. Close the sink when the call has its result.
func NewSink(show func(tool.Progress)) *Sink {
	s := &Sink{show: show, done: make(chan struct{})}
	s.changed.L = &s.mu
	go s.run()
	return s
}

// Put takes a piece of news. It never blocks, and does nothing after Close.
func (s *Sink) Put(p tool.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if p.Stream == "" {
		s.putLocked(p)
	} else {
		for data := p.Data; len(data) > 0; {
			chunk := data[:min(len(data), featurewire.MaxProgressOutputBytes)]
			data = data[len(chunk):]
			s.putLocked(tool.Progress{Stream: p.Stream, Data: append([]byte(nil), chunk...)})
		}
	}
	s.changed.Signal()
}

// putLocked queues a piece, or merges it with one that waits, or drops it.
func (s *Sink) putLocked(p tool.Progress) {
	if p.Stream == "" {
		// What is newer says everything: a state and a decoration replace their like.
		for i := range s.queue {
			if s.queue[i].Stream == "" && (s.queue[i].Label == "") == (p.Label == "") {
				s.queue = append(s.queue[:i], s.queue[i+1:]...)
				break
			}
		}
	} else if last := len(s.queue) - 1; last >= 0 && s.queue[last].Stream == p.Stream &&
		len(s.queue[last].Data)+len(p.Data) <= featurewire.MaxProgressOutputBytes {
		s.queue[last].Data = append(s.queue[last].Data, p.Data...)
		return
	}
	if len(s.queue) >= featurewire.MaxProgressMessages {
		s.dropped++
		return
	}
	s.queue = append(s.queue, p)
}

func (s *Sink) run() {
	defer close(s.done)
	for {
		p, more := s.next()
		if !more {
			return
		}
		s.show(p)
	}
}

// next waits for a piece; there is none once the sink is closed and empty.
func (s *Sink) next() (p tool.Progress, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && !s.closed {
		s.changed.Wait()
	}
	if len(s.queue) == 0 {
		return tool.Progress{}, false
	}
	p = s.queue[0]
	s.queue = append(s.queue[:0], s.queue[1:]...)
	return p, true
}

// Close takes nothing further, shows what waits, and returns how many pieces were dropped. Closing twice is
// harmless.
func (s *Sink) Close() (dropped int) {
	s.mu.Lock()
	s.closed = true
	s.changed.Signal()
	dropped = s.dropped
	s.mu.Unlock()
	<-s.done
	return dropped
}

// Of is the news of a call to an extension as tools tell them.
func Of(p extension.Progress) tool.Progress {
	return tool.Progress{
		Message: p.Message, Current: p.Current, Total: p.Total, Unit: p.Unit, Stream: p.Stream, Data: p.Data,
		Label: p.Label, Detail: p.Detail,
	}
}
