package oup

import (
	"hash/maphash"
	"slices"

	"github.com/octet-dev/octet/generated/oupwire"
)

// durable is how the method table marks notifications that are kept and sent again.
const durable = "yes"

// mostClosed is how many closed streams are remembered, so that nothing is added to them.
const mostClosed = 256

// verdict is what becomes of an event that has come.
type verdict int

const (
	pass   verdict = iota // it is new
	repeat                // it has been here before
	broken                // a number is missing in front of it
)

// receive takes an event in. It is called by the goroutine that reads, and waits while the queue is full.
func (s *Session) receive(on *conn, ev Event, params []byte) {
	s.mu.Lock()
	if s.on != on || s.deaf {
		s.mu.Unlock()
		return
	}
	if lossy, is := ev.Body.(oupwire.ReplayLossyEvent); is {
		s.mu.Unlock()
		s.recover(on, Gap{Reason: GapLossy, Dropped: lossy.DroppedCount, Replayed: true})
		return
	}
	told := s.asks.note(ev)
	hash := fingerprint(ev.Method, params)
	is := s.judge(ev, hash)
	if told && ev.Cursor.Seq == 0 {
		is = repeat // what is pending is told again at every opening
	}
	// Where opening anew did not bring the number, it is not to be had.
	again := s.missing == ev.Thread
	if is == broken {
		s.missing = ev.Thread
	}
	s.mu.Unlock()
	switch is {
	case broken:
		s.recover(on, Gap{Reason: GapNumber, Replayed: !again})
		return
	case pass:
		if !s.push(on, ev) {
			return // it comes again
		}
		s.asks.told(ev)
	case repeat:
	}
	s.mu.Lock()
	s.commit(ev, hash, is)
	opened, isOpened := ev.Body.(Opened)
	settles := isOpened && !s.settled && opened.Cursor.Or(Cursor{}).Seq >= s.opened.Cursor.Or(Cursor{}).Seq
	s.settled = s.settled || settles
	s.mu.Unlock()
	if settles {
		s.asks.settle()
	}
}

// judge decides whether an event is new. The caller holds the lock.
func (s *Session) judge(ev Event, hash uint64) verdict {
	switch {
	case ev.Cursor.Seq > 0 && ev.Cursor.Seq <= s.reached:
		return repeat
	case ev.Thread != "":
		last, open := s.threads[ev.Thread]
		switch {
		case slices.Contains(s.closed, ev.Thread), open && ev.Number <= last:
			return repeat
		case (open || s.begun[ev.Thread]) && ev.Number > last+1:
			return broken
		}
		return pass
	case ev.Cursor.Seq == 0 && slices.Contains(s.echo, hash):
		return repeat
	}
	return pass
}

// commit remembers an event that is in the queue, or has been before. The caller holds the lock.
func (s *Session) commit(ev Event, hash uint64, is verdict) {
	row := oupwire.LookupNotification(ev.Method)
	switch {
	case ev.Cursor.Seq > s.reached:
		s.reached, s.tail, s.echo = ev.Cursor.Seq, nil, nil
	case ev.Cursor.Seq == 0 && is == repeat:
		// What comes again comes in the same order.
		s.echo = s.echo[slices.Index(s.echo, hash)+1:] // all of it for what stands not there
	case ev.Cursor.Seq == 0 && row != nil && row.Durable == durable:
		s.tail = append(s.tail, hash)
	}
	if ev.Turn != "" && ev.Method == oupwire.MethodTurnStarted {
		s.begun[ev.Turn] = true
	}
	if ev.Thread == "" || is == repeat {
		return
	}
	if s.missing == ev.Thread {
		s.missing = ""
	}
	s.threads[ev.Thread] = ev.Number
	switch ev.Body.(type) {
	case Ended, BackgroundResult:
		delete(s.threads, ev.Thread)
		delete(s.begun, ev.Thread)
		s.closed = append(s.closed, ev.Thread)
		if len(s.closed) > mostClosed {
			s.closed = slices.Delete(s.closed, 0, len(s.closed)-mostClosed)
		}
	}
}

// push puts an event into the queue, and waits for room; false where the connection or the session ended meanwhile.
func (s *Session) push(on *conn, ev Event) bool {
	select {
	case s.queue <- ev:
		return true
	case <-on.done:
	case <-s.last:
	case <-s.stop:
	case <-s.client.closed:
	}
	return false
}

var seed = maphash.MakeSeed()

// fingerprint tells notifications apart that show no position.
func fingerprint(method string, params []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(method) // a hash takes everything
	_ = h.WriteByte(0)
	_, _ = h.Write(params)
	return h.Sum64()
}
