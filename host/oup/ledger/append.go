package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/oupwire"
)

const (
	maxStreamBytes = 1024
	maxMethodBytes = 128
	maxKindBytes   = 64
	maxIDBytes     = 512
	// maxGroup is how many requests share one commit, and maxGroupBytes from which size of bodies on no
	// further one joins.
	maxGroup      = 256
	maxGroupBytes = 8 << 20
)

// request is what one caller wants written, all of it or nothing.
type request struct {
	ctx    context.Context // has no effect once the request is being written
	events []Event
	size   int // of the bodies
	forget string
	stored []Stored
	err    error
	done   chan struct{}
}

// Append appends events in one transaction and returns them as they are stored, in the same order. When it
// returns nil they are on disk, and only then do readers see them. Callers that come together share a
// commit. A context that ends before the transaction began means that nothing is written; one that ends
// later has no effect.
//
// A *SubjectError if an event does not fit to what its subject has come to, ErrEvent if it is not as it must
// be, ErrClosed; then nothing of this call is written, and nobody else is disturbed. What is owed of a stream is stored
// first; where that cannot be done, nor is this.
func (l *Ledger) Append(ctx context.Context, events ...Event) ([]Stored, error) {
	if len(events) == 0 {
		return nil, fmt.Errorf("append nothing: %w; give at least one event", ErrEvent)
	}
	for _, e := range events {
		if err := l.Settle(ctx, e.Stream); err != nil {
			return nil, err
		}
	}
	return l.append(ctx, events...)
}

// append is Append whatever is owed.
func (l *Ledger) append(ctx context.Context, events ...Event) ([]Stored, error) {
	r := &request{ctx: ctx, events: make([]Event, len(events))}
	for i, e := range events {
		if err := checkEvent(e); err != nil {
			return nil, err
		}
		e.Body = bytes.Clone(e.Body)
		r.events[i], r.size = e, r.size+len(e.Body)
	}
	if err := l.submit(r); err != nil {
		return nil, err
	}
	return r.stored, nil
}

// Forget deletes the events of a stream; readers that follow it are still given what is in memory. Its numbers go
// on where they are, and the ids of its subjects stay used; a subject that has not ended is waited for no longer. What
// is owed of it is dropped. A stream that never had an event stays as it is.
func (l *Ledger) Forget(ctx context.Context, stream string) error {
	l.forgive(stream)
	return l.submit(&request{ctx: ctx, forget: stream})
}

// submit hands a request over and waits until it is carried out.
func (l *Ledger) submit(r *request) error {
	r.done = make(chan struct{})
	if err := r.ctx.Err(); err != nil {
		return context.Cause(r.ctx)
	}
	l.closing.RLock()
	if l.closed {
		l.closing.RUnlock()
		return ErrClosed
	}
	select {
	case l.requests <- r:
		l.closing.RUnlock()
	case <-r.ctx.Done():
		l.closing.RUnlock()
		return context.Cause(r.ctx)
	}
	<-r.done
	return r.err
}

// checkEvent refuses an event that could not be told or read again.
func checkEvent(e Event) error {
	for _, text := range []struct {
		what  string
		value string
		least int
		most  int
	}{
		{"stream", e.Stream, 1, maxStreamBytes},
		{"method", e.Method, 1, maxMethodBytes},
		{"kind of the subject", e.Subject.Kind, 0, maxKindBytes},
		{"id of the subject", e.Subject.ID, 0, maxIDBytes},
	} {
		if n := len(text.value); n < text.least || n > text.most || !utf8.ValidString(text.value) {
			return fmt.Errorf("%w: %s %.40q has %d bytes, want %d to %d of UTF-8", ErrEvent, text.what, text.value, n, text.least, text.most)
		}
	}
	switch {
	case (e.Subject.Kind == "") != (e.Subject.ID == ""):
		return fmt.Errorf("%w: subject %q %q needs both a kind and an id", ErrEvent, e.Subject.Kind, e.Subject.ID)
	case e.Step > Begins|Ends:
		return fmt.Errorf("%w: step %d does not exist", ErrEvent, e.Step)
	case e.Step != Within && e.Subject == Subject{}:
		return fmt.Errorf("%w: %s begins or ends nothing; name its subject", ErrEvent, e.Method)
	case len(e.Body) > oupwire.MaxTextFrameBytes:
		return fmt.Errorf("%w: the body of %s has %d bytes, at most %d", ErrEvent, e.Method, len(e.Body), oupwire.MaxTextFrameBytes)
	case !utf8.Valid(e.Body) || !json.Valid(e.Body) || bytes.TrimLeft(e.Body, " \t\r\n")[0] != '{':
		return fmt.Errorf("%w: the body of %s is no JSON object", ErrEvent, e.Method)
	}
	return nil
}

// write carries requests out until the ledger is closed, those that wait together in one transaction.
func (l *Ledger) write(w *writer) {
	defer close(l.written)
	defer w.close()
	for first := range l.requests {
		group := l.gather(first)
		w.carryOut(group)
		l.publish(group)
		for _, r := range group {
			close(r.done)
		}
	}
}

// gather takes what waits behind a request.
func (l *Ledger) gather(first *request) []*request {
	group, size := []*request{first}, first.size
	for len(group) < maxGroup && size < maxGroupBytes {
		select {
		case r, open := <-l.requests:
			if !open {
				return group
			}
			group, size = append(group, r), size+r.size
		default:
			return group
		}
	}
	return group
}
