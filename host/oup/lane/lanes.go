package lane

import (
	"context"
	"sync"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/negotiation"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/transport"
)

// Lanes are the lanes of one connection, one for each session that it has open. Its methods are for any goroutine.
type Lanes struct {
	mu    sync.Mutex
	lanes map[string]*Lane
	ended bool
}

// Hold keeps the connection from being told anything of a session until release is called: what a request causes
// there comes behind its answer. Without a lane of that session nothing is held. The error is that of the context.
func (l *Lanes) Hold(ctx context.Context, session string) (release func(), err error) {
	lane := l.Of(session)
	if lane == nil {
		return func() {}, nil
	}
	if err := lane.hold(ctx); err != nil {
		return nil, err
	}
	return sync.OnceFunc(lane.release), nil
}

// Of is the lane of a session, or nil. One that ends by itself is that of a session that is gone.
func (l *Lanes) Of(session string) *Lane {
	if lane := l.any(session); lane != nil && !lane.isEnding() {
		return lane
	}
	return nil
}

// any is the lane of a session, whether it ends or not, or nil.
func (l *Lanes) any(session string) *Lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lanes[session]
}

// Has reports whether the connection has a session open.
func (l *Lanes) Has(session string) bool { return l.Of(session) != nil }

// Position is the number of the last event of a session that the connection was told, and whether it has it open.
func (l *Lanes) Position(session string) (seq int64, open bool) {
	lane := l.Of(session)
	if lane == nil {
		return 0, false
	}
	seq, _ = lane.at()
	return seq, true
}

// Flush waits until the connection was told the event of a session with this number. It does not wait where the
// session is not open here, or for a lane that has ended.
func (l *Lanes) Flush(ctx context.Context, session string, seq int64) {
	if lane := l.Of(session); lane != nil {
		lane.flush(ctx, seq)
	}
}

// Prepare puts a lane in the place of the one of the same session, which ends. The new one tells nothing before
// release is called.
func (l *Lanes) Prepare(o Options) (release func()) {
	lane := start(o)
	l.mu.Lock()
	before := l.lanes[o.Session]
	if l.lanes == nil {
		l.lanes = map[string]*Lane{}
	}
	l.lanes[o.Session] = lane
	ended := l.ended
	l.mu.Unlock()
	if before != nil {
		before.end()
	}
	if ended {
		lane.end()
	}
	return sync.OnceFunc(lane.release)
}

// Leave ends the lane of a session, if there is one.
func (l *Lanes) Leave(session string) {
	l.mu.Lock()
	lane := l.lanes[session]
	delete(l.lanes, session)
	l.mu.Unlock()
	if lane != nil {
		lane.end()
	}
}

// finish lets the lane of a session, if there is one, end behind an event: the session is not open here any more.
func (l *Lanes) finish(session string, last int64) {
	lane := l.Of(session)
	if lane == nil {
		return
	}
	lane.finish(last)
	go func() {
		<-lane.done
		l.drop(session, lane)
	}()
}

// drop forgets a lane that has ended, unless another one has its place.
func (l *Lanes) drop(session string, lane *Lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lanes[session] == lane {
		delete(l.lanes, session)
	}
}

// Ending reports whether the lane of a session that is gone still tells how it ended.
func (l *Lanes) Ending(session string) bool {
	lane := l.any(session)
	return lane != nil && lane.isEnding()
}

// Await waits for the lane of a session that ends by itself: what is sent next comes behind its last event. The error
// is that of the context.
func (l *Lanes) Await(ctx context.Context, session string) error {
	lane := l.any(session)
	if lane == nil || !lane.isEnding() {
		return nil
	}
	select {
	case <-lane.done:
		l.drop(session, lane)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// End ends all lanes, and those that are made later. It returns when none tells anything any more.
func (l *Lanes) End() {
	l.mu.Lock()
	l.ended = true
	lanes := l.lanes
	l.lanes = nil
	l.mu.Unlock()
	for _, lane := range lanes {
		lane.cancel()
	}
	for _, lane := range lanes {
		lane.end()
	}
}

// Book finds the lanes of a connection. The zero value is ready.
type Book struct {
	mu    sync.Mutex
	lanes map[*rpc.Connection]*Lanes
}

// Open begins the lanes of a connection.
func (b *Book) Open(c *rpc.Connection) *Lanes {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lanes == nil {
		b.lanes = map[*rpc.Connection]*Lanes{}
	}
	lanes := &Lanes{}
	b.lanes[c] = lanes
	return lanes
}

// Of are the lanes of an open connection.
func (b *Book) Of(c *rpc.Connection) *Lanes {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lanes[c]
}

// Finish lets every lane of a session end behind an event: nobody has it open any more. It waits for none of them: who
// has it open may read slowly.
func (b *Book) Finish(session string, last int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, lanes := range b.lanes {
		lanes.finish(session, last)
	}
}

// Spread tells what is not stored to whoever has a session open now, where the features there allow it. It never
// waits: a client that does not read misses it.
func (b *Book) Spread(session, method string, params wirejson.Encoder) {
	b.mu.Lock()
	var open []*rpc.Connection
	for c, lanes := range b.lanes {
		if lanes.Has(session) {
			open = append(open, c)
		}
	}
	b.mu.Unlock()
	for _, c := range open {
		c.Notify(rpc.Notice{
			Method: method, Class: transport.Ephemeral,
			Params: func(set negotiation.Set) wirejson.Encoder { return visible(method, params, set) },
		})
	}
}

// Lossy says to whoever has a session open that something of it was not told, and where they are in it. What it was is
// in no ledger.
func (b *Book) Lossy(session string) {
	b.mu.Lock()
	open := map[*rpc.Connection]int64{}
	for c, lanes := range b.lanes {
		if at, has := lanes.Position(session); has {
			open[c] = at
		}
	}
	b.mu.Unlock()
	for c, at := range open {
		c.Notify(rpc.Notice{
			Method: oupwire.MethodProtocolReplayLossy, Class: transport.Ephemeral,
			Params: func(negotiation.Set) wirejson.Encoder {
				return oupwire.ReplayLossyEvent{
					SessionID: session, Topic: event.Topic(session), DroppedCount: 1,
					LastDurableCursor: wirejson.Some(oupwire.Cursor{Stream: session, Seq: at}),
				}
			},
		})
	}
}

// Close ends the lanes of a connection.
func (b *Book) Close(c *rpc.Connection) {
	b.mu.Lock()
	lanes := b.lanes[c]
	delete(b.lanes, c)
	b.mu.Unlock()
	if lanes != nil {
		lanes.End()
	}
}
