package ledger

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/octet-dev/octet/generated/oupwire"
)

const (
	// ringEvents is how many of the newest events of a stream are in memory while somebody follows it, for
	// all its readers together, and ringBytes how large their bodies are; the newest one always is.
	ringEvents = oupwire.SessionFanoutEvents
	ringBytes  = 4 << 20
	// pageEvents is how many events a reader gets at once, and pageBytes from which size of bodies on it
	// gets no more.
	pageEvents = oupwire.SessionFanoutEvents
	pageBytes  = 4 << 20
)

// feed is the newest part of a stream in memory. It has no queues: each reader knows where it is.
type feed struct {
	mu      sync.Mutex
	readers int
	head    int64         // newest event that is known to be on disk
	ring    []Stored      // without a gap, ascending
	size    int           // of the bodies in it
	moved   chan struct{} // closed when head or ring change
}

// Reader follows one stream. Its methods may be called by one goroutine at a time, but for Close.
type Reader struct {
	ledger *Ledger
	feed   *feed
	stream string
	after  int64
	window Window

	ended   chan struct{}
	endOnce sync.Once
}

// Follow follows a stream behind a cursor, or behind what is its newest event now if there is none: first
// what is kept, then what is new, each event once, in order and without a gap. Window says what was kept at
// that moment. Errors as of Replay. The reader must be closed.
func (l *Ledger) Follow(ctx context.Context, stream string, after *Cursor) (*Reader, error) {
	// The feed is there before the window is read: what is committed in between is in one of them.
	r := &Reader{ledger: l, stream: stream, feed: l.join(stream), ended: make(chan struct{})}
	window, err := l.Window(ctx, stream)
	if err == nil && after != nil {
		err = after.check(window)
	}
	if err != nil {
		l.leave(stream, r.feed)
		return nil, err
	}
	r.window, r.after = window, window.Head
	if after != nil {
		r.after = after.Seq
	}
	r.feed.mu.Lock()
	r.feed.head = max(r.feed.head, window.Head)
	r.feed.mu.Unlock()
	return r, nil
}

// join finds or makes the feed of a stream.
func (l *Ledger) join(stream string) *feed {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.feeds[stream]
	if f == nil {
		f = &feed{moved: make(chan struct{})}
		l.feeds[stream] = f
	}
	f.readers++
	return f
}

// leave gives a feed back; the last reader takes it out of memory.
func (l *Ledger) leave(stream string, f *feed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.readers--; f.readers == 0 {
		delete(l.feeds, stream)
	}
}

// publish shows readers what is on disk now. What is forgotten stays in the ring: whoever follows the stream is
// told how it ended.
func (l *Ledger) publish(group []*request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range group {
		if r.err != nil {
			continue
		}
		for _, e := range r.stored {
			if f := l.feeds[e.Stream]; f != nil {
				f.add(e)
			}
		}
	}
}

// add puts an event into the ring, and the oldest ones out.
func (f *feed) add(e Stored) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.head = e.Seq
	f.ring, f.size = append(f.ring, e), f.size+len(e.Body)
	gone := 0
	for len(f.ring)-gone > 1 && (len(f.ring)-gone > ringEvents || f.size > ringBytes) {
		f.size -= len(f.ring[gone].Body)
		gone++
	}
	clear(f.ring[:gone]) // the array stays, what was in it must not
	f.ring = f.ring[gone:]
	f.wake()
}

func (f *feed) wake() {
	close(f.moved)
	f.moved = make(chan struct{})
}

// behind returns what the ring has behind a position, whether it has all there is, and what to wait for.
func (f *feed) behind(after int64) (page []Stored, complete bool, moved <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.head <= after {
		return nil, true, f.moved
	}
	// Behind the end of the ring there may be what is on disk and about to be put into it.
	if len(f.ring) == 0 || f.ring[0].Seq > after+1 || f.ring[len(f.ring)-1].Seq <= after {
		return nil, false, f.moved
	}
	size := 0
	for _, e := range f.ring[after+1-f.ring[0].Seq:] {
		if page, size = append(page, e), size+len(e.Body); len(page) == pageEvents || size >= pageBytes {
			break
		}
	}
	return page, true, f.moved
}

// Window is what was kept when the reader was made. What is behind its Head was new since.
func (r *Reader) Window() Window { return r.window }

// Position is the newest event that the reader was given, or told to be lost.
func (r *Reader) Position() Cursor { return Cursor{Stream: r.stream, Seq: r.after} }

// Next waits for the next events and returns at most oupwire.SessionFanoutEvents of them. A *LostError says
// that the reader was overtaken by what is dropped, or has come to what cannot be read; the next call goes on
// behind the gap. ErrClosed when reader or ledger are closed.
func (r *Reader) Next(ctx context.Context) ([]Stored, error) {
	for {
		select {
		case <-r.ended:
			return nil, ErrClosed
		case <-r.ledger.done:
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		default:
		}
		page, complete, moved := r.feed.behind(r.after)
		if !complete {
			var err error
			if page, err = r.page(ctx); err != nil {
				return nil, err
			}
		}
		if len(page) > 0 {
			r.after = page[len(page)-1].Seq
			return page, nil
		}
		if !complete {
			continue
		}
		select {
		case <-moved:
		case <-r.ended:
		case <-r.ledger.done:
		case <-ctx.Done():
		}
	}
}

// page reads the next events from the file.
func (r *Reader) page(ctx context.Context) (page []Stored, err error) {
	err = r.ledger.view(ctx, func(conn *sql.Conn) error {
		row, err := findStream(ctx, conn, r.stream)
		if err != nil {
			return err
		}
		if row.floor > r.after {
			lost := &LostError{Stream: r.stream, After: r.after, Oldest: row.floor + 1}
			r.after = row.floor
			return lost
		}
		size := 0
		err = r.ledger.scan(ctx, conn, row.window(r.stream), row.num, r.after, min(row.last, r.after+pageEvents), func(e Stored) bool {
			page, size = append(page, e), size+len(e.Body)
			return size < pageBytes
		})
		var damage *DamageError
		switch {
		case !errors.As(err, &damage):
			return err
		case len(page) > 0:
			return nil // told by the next call, behind what is whole
		}
		lost := &LostError{Stream: r.stream, After: r.after, Oldest: past(ctx, conn, row, damage) + 1, Damage: damage}
		r.after = lost.Oldest - 1
		return lost
	})
	return page, err
}

// Close ends the reader: a Next that waits returns ErrClosed. It may be called by any goroutine and more
// than once.
func (r *Reader) Close() {
	r.endOnce.Do(func() {
		close(r.ended)
		r.ledger.leave(r.stream, r.feed)
	})
}
