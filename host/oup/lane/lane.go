// Package lane tells one connection what happens in one session: the events of its ledger behind a cursor, then
// what is new, each once and in order, as fast as the client reads. A lane has no queue, it is a position: a
// client that reads slowly costs what waits in front of its connection and delays nobody.
//
// Sheet: OUP core 2.6, 7.3; settled S51, S54, S65, S70, S75, S77.
package lane

import (
	"context"
	"errors"
	"sync"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/negotiation"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/transport"
)

// Offer is something that is told again when a session is opened: what waits for an answer, the newest plan, the
// tasks there are.
type Offer struct {
	Method string
	Params wirejson.Encoder
	Seq    int64 // of the event that told it first; 0 for what is not in the ledger
}

// Options make a lane.
type Options struct {
	Connection *rpc.Connection
	Ledger     *ledger.Ledger
	Session    string // the key with its topic, which is the name of the stream
	// Reader follows the stream; the lane closes it.
	Reader *ledger.Reader
	// Opened is the number of the event session/open that this lane belongs to.
	Opened int64
	// Replays says that the client gave a cursor, or that a lane before was at the position of the reader: what lies
	// in front of Opened is told too.
	Replays bool
	// Offers are told right in front of that event.
	Offers []Offer
	Events Events
	Left   func()      // called once the lane has ended; nil for nothing
	Log    func(error) // what keeps an event from being told, for people
}

// Lane is one session on one connection. Its methods are for any goroutine.
type Lane struct {
	o      Options
	forms  forms
	from   int64 // where it began
	cancel context.CancelFunc
	gate   chan struct{} // who holds it keeps the lane from telling anything
	done   chan struct{}

	mu       sync.Mutex
	position int64
	ending   bool // behind the event last
	last     int64
	moved    chan struct{}
}

// start begins to tell, once the gate is open.
func start(o Options) *Lane {
	ctx, cancel := context.WithCancel(context.Background())
	l := &Lane{
		o: o, forms: forms{events: o.Events, ledger: o.Ledger}, cancel: cancel, gate: make(chan struct{}, 1), done: make(chan struct{}),
		from: o.Reader.Position().Seq, position: o.Reader.Position().Seq, moved: make(chan struct{}),
	}
	l.gate <- struct{}{}
	go func() {
		defer close(l.done)
		if o.Left != nil {
			defer o.Left()
		}
		defer o.Reader.Close()
		l.run(ctx)
	}()
	return l
}

// release lets a lane tell again.
func (l *Lane) release() { <-l.gate }

// hold waits until the lane tells nothing. The error is that of the context.
func (l *Lane) hold(ctx context.Context) error {
	select {
	case l.gate <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// end stops the lane for good and waits for it. A lane that is held is ended too.
func (l *Lane) end() {
	l.cancel()
	<-l.done
}

// at is the number of the last event that was told or passed over.
func (l *Lane) at() (position int64, moved <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.position, l.moved
}

func (l *Lane) advance(seq int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.position = seq
	close(l.moved)
	l.moved = make(chan struct{})
}

// finish lets the lane end by itself behind an event.
func (l *Lane) finish(last int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ending, l.last = true, last
	if l.position >= last {
		l.cancel()
	}
}

// isEnding reports whether the lane ends by itself.
func (l *Lane) isEnding() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ending
}

// finished reports whether an event is behind the end.
func (l *Lane) finished(seq int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ending && seq > l.last
}

// flush waits until the lane is behind an event, or has ended.
func (l *Lane) flush(ctx context.Context, seq int64) {
	for {
		position, moved := l.at()
		if position >= seq {
			return
		}
		select {
		case <-moved:
		case <-l.done:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (l *Lane) run(ctx context.Context) {
	for {
		page, err := l.o.Reader.Next(ctx)
		var lost *ledger.LostError
		switch {
		case errors.As(err, &lost):
			if lost.Damage != nil {
				l.o.Log(err)
			}
			if !l.guarded(ctx, func() bool { return l.lossy(ctx, lost) }) {
				return
			}
			l.advance(lost.Oldest - 1)
			if l.finished(lost.Oldest) {
				return
			}
		case err != nil:
			if ctx.Err() == nil && !errors.Is(err, ledger.ErrClosed) {
				l.o.Log(err)
				_ = l.o.Connection.Close(transport.Ended) // the client opens again, and is told what is wrong
			}
			return
		}
		for _, stored := range page {
			if l.finished(stored.Seq) || !l.guarded(ctx, func() bool { return l.tell(ctx, stored) }) {
				return
			}
			l.advance(stored.Seq)
			if l.finished(stored.Seq + 1) {
				return
			}
		}
	}
}

// guarded does something while nobody holds the lane. It reports false where the lane ends.
func (l *Lane) guarded(ctx context.Context, do func() bool) bool {
	if l.hold(ctx) != nil {
		return false
	}
	defer l.release()
	return ctx.Err() == nil && do()
}

// lossy says which events are gone from the ledger before the client got them.
func (l *Lane) lossy(ctx context.Context, lost *ledger.LostError) bool {
	event := oupwire.ReplayLossyEvent{
		SessionID: l.o.Session, DroppedCount: lost.Count(), Topic: event.Topic(l.o.Session),
		LastDurableCursor: wirejson.Some(oupwire.Cursor{Stream: l.o.Session, Seq: lost.After}),
	}
	return l.deliver(ctx, rpc.Notice{
		Method: oupwire.MethodProtocolReplayLossy, Class: transport.Lifecycle,
		Params: func(negotiation.Set) wirejson.Encoder { return event },
	})
}

// tell sends the forms of an event. What cannot be read is logged and passed over: the file is whole, so it was
// written that way.
func (l *Lane) tell(ctx context.Context, stored ledger.Stored) bool {
	if stored.Seq < l.o.Opened && !l.o.Replays {
		return true
	}
	if stored.Seq == l.o.Opened && !l.offer(ctx) {
		return false
	}
	forms, err := l.forms.of(ctx, stored)
	if err != nil {
		l.o.Log(err)
		return ctx.Err() == nil
	}
	for _, f := range forms {
		params := f.params
		if opened, is := params.(oupwire.SessionOpened); is {
			opened.Capabilities = l.o.Connection.Capabilities()
			params = opened
		}
		told := l.deliver(ctx, rpc.Notice{
			Method: f.method, Class: class(stored), Stream: stored.Stream, Seq: uint64(stored.Seq),
			Params: func(set negotiation.Set) wirejson.Encoder { return visible(f.method, params, set) },
		})
		if !told {
			return false
		}
	}
	return true
}

// offer tells what a client that opens a session has to know beside its events.
func (l *Lane) offer(ctx context.Context) bool {
	for _, o := range l.o.Offers {
		if replayed := l.o.Replays && o.Seq > l.from; replayed || o.Seq > l.o.Opened {
			continue // it came, or comes, as the event that it is
		}
		told := l.deliver(ctx, rpc.Notice{
			Method: o.Method, Class: transport.Durable, Stream: l.o.Session, Seq: uint64(l.o.Opened),
			Params: func(set negotiation.Set) wirejson.Encoder { return visible(o.Method, o.Params, set) },
		})
		if !told {
			return false
		}
	}
	return true
}

func (l *Lane) deliver(ctx context.Context, n rpc.Notice) bool {
	return l.o.Connection.Deliver(ctx, n) != transport.Gone
}

// class is what becomes of a form of an event that finds no room: the beginning and the end of a turn are not lost.
func class(stored ledger.Stored) transport.Class {
	begins := stored.Method == oupwire.MethodTurnStarted
	if ends := stored.Subject.Kind == event.Turn && stored.Step&ledger.Ends != 0; begins || ends {
		return transport.Lifecycle
	}
	return transport.Durable
}
