package ledger

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/octet-dev/octet/host/oup/again"
)

// debts are events that have to be told and could not be stored yet, by stream, in their order.
type debts struct {
	paying sync.Mutex // orders attempts

	mu     sync.Mutex
	events map[string][]Event
	closed bool

	plan again.Plan // its lock is taken in front of the other
}

// Owe takes over events that have to be told and that Append could not store: they are tried again until they are on
// disk, and come in front of whatever is appended to their streams later. One that its subject refuses is dropped. If
// the ledger closes before, they are lost.
func (l *Ledger) Owe(events ...Event) {
	if l.debts.add(events) {
		l.debts.plan.Want()
	}
}

// add reports whether anything is owed.
func (d *debts) add(events []Event) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	for _, e := range events {
		if checkEvent(e) == nil {
			e.Body = slices.Clone(e.Body)
			d.events[e.Stream] = append(d.events[e.Stream], e)
		}
	}
	return len(d.events) > 0
}

// left reports whether anything is owed.
func (d *debts) left() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.events) > 0
}

// Owes reports whether events of a stream are not stored yet.
func (l *Ledger) Owes(stream string) bool {
	l.debts.mu.Lock()
	defer l.debts.mu.Unlock()
	return len(l.debts.events[stream]) > 0
}

// Settle stores what is owed of a stream now. The error is that of Append; then it is still owed.
func (l *Ledger) Settle(ctx context.Context, stream string) error {
	if !l.Owes(stream) {
		return nil
	}
	d := &l.debts
	d.paying.Lock()
	defer d.paying.Unlock()
	d.mu.Lock()
	owed := slices.Clone(d.events[stream])
	d.mu.Unlock()
	if len(owed) == 0 {
		return nil
	}
	_, err := l.append(ctx, owed...)
	if errors.As(err, new(*SubjectError)) { // somebody was faster with one of them
		for err = nil; err == nil && len(owed) > 0; owed = owed[1:] {
			if _, err = l.append(ctx, owed[0]); errors.As(err, new(*SubjectError)) {
				err = nil
			}
			if err == nil {
				l.paid(stream, 1)
			}
		}
		return err
	}
	if err == nil {
		l.paid(stream, len(owed))
	}
	return err
}

// paid drops the oldest debts of a stream.
func (l *Ledger) paid(stream string, n int) {
	d := &l.debts
	d.mu.Lock()
	defer d.mu.Unlock()
	if rest := d.events[stream]; n < len(rest) {
		d.events[stream] = rest[n:]
		return
	}
	delete(d.events, stream)
}

// retry stores what can be stored.
func (l *Ledger) retry() {
	d := &l.debts
	d.mu.Lock()
	streams := make([]string, 0, len(d.events))
	for stream := range d.events {
		streams = append(streams, stream)
	}
	d.mu.Unlock()
	for _, stream := range streams {
		_ = l.Settle(background, stream) // whoever owes it has said why
	}
}

// forgive drops what is owed of a stream, once nobody is storing it.
func (l *Ledger) forgive(stream string) {
	l.debts.paying.Lock()
	defer l.debts.paying.Unlock()
	l.debts.mu.Lock()
	defer l.debts.mu.Unlock()
	delete(l.debts.events, stream)
}

// writeOff drops everything that is owed, and takes no more.
func (l *Ledger) writeOff() {
	d := &l.debts
	d.mu.Lock()
	d.closed = true
	clear(d.events)
	d.mu.Unlock()
	d.plan.Close()
}
