package oup

import (
	"context"
	"sync"
)

// item is an event on its way to who reads it.
type item struct {
	event Event
	give  func()        // moves the cursor
	taken chan struct{} // closed when it was given
}

// sink is where somebody reads events, one by one.
type sink struct {
	items chan item
	gone  chan struct{} // nobody reads any more
	once  sync.Once
}

func newSink() *sink { return &sink{items: make(chan item), gone: make(chan struct{})} }

func (k *sink) leave() { k.once.Do(func() { close(k.gone) }) }

// left reports whether nobody reads any more.
func (k *sink) left() bool {
	select {
	case <-k.gone:
		return true
	default:
		return false
	}
}

// each gives events until the caller has enough, the context ends, or over is closed, whose reason it gives then.
func (k *sink) each(ctx context.Context, over <-chan struct{}, reason func() error, yield func(Event, error) bool) {
	for {
		select {
		case it := <-k.items:
			it.give()
			close(it.taken)
			if !yield(it.event, nil) {
				return
			}
		case <-over:
			if err := reason(); err != nil {
				yield(Event{}, err)
			}
			return
		case <-ctx.Done():
			yield(Event{}, ctx.Err())
			return
		}
	}
}

// dispatch gives what is in the queue to who reads it, one event behind the other, so that the cursor never passes
// what the caller has not got.
func (s *Session) dispatch() {
	defer s.conclude()
	for {
		select {
		case ev := <-s.queue:
			if !s.deliver(ev) {
				return
			}
			continue
		default:
		}
		select {
		case ev := <-s.queue:
			if !s.deliver(ev) {
				return
			}
		case <-s.stop:
			return
		case <-s.client.closed:
			return
		case <-s.last:
			if len(s.queue) == 0 {
				return
			}
		}
	}
}

// conclude ends what waits for events.
func (s *Session) conclude() {
	s.fail(ErrClosed) // the reason where nobody gave another
	s.mu.Lock()
	turns, err := s.turns, s.err
	s.turns = map[string]*Turn{}
	s.mu.Unlock()
	for _, t := range turns {
		t.finish(err)
	}
	close(s.over)
}

// deliver gives one event; false where nobody reads any more.
func (s *Session) deliver(ev Event) bool {
	s.mu.Lock()
	turn, listener := s.turns[ev.Turn], s.sink
	s.mu.Unlock()
	it := item{event: ev, give: func() { s.gave(ev) }, taken: make(chan struct{})}
	ended := false
	to := []*sink{listener}
	if turn != nil {
		ended = turn.gather(ev)
		to = []*sink{turn.sink, listener}
	}
	if !s.hand(it, to) {
		return false
	}
	if ended {
		s.mu.Lock()
		delete(s.turns, ev.Turn)
		s.mu.Unlock()
		turn.finish(nil)
	}
	return true
}

// hand gives the event to the first of the readers that is there and stays until it takes it, or to nobody; false where
// nobody reads any more.
func (s *Session) hand(it item, to []*sink) bool {
	for _, reader := range to {
		if reader == nil || reader.left() {
			continue
		}
		select {
		case reader.items <- it:
			<-it.taken
			return true
		case <-reader.gone:
		case <-s.stop:
			return false
		case <-s.client.closed:
			return false
		}
	}
	it.give()
	return true
}

// gave moves the cursor behind an event that the caller has got.
func (s *Session) gave(ev Event) {
	if ev.Cursor.Seq == 0 {
		return
	}
	s.mu.Lock()
	s.given = ev.Cursor
	s.mu.Unlock()
}
