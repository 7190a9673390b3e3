package extension

import (
	"errors"
	"sync"
)

// Ignored sums up the messages of an extension that were of no use: they were ignored or refused, and the
// connection lived on.
type Ignored struct {
	Count int
	Last  string // what was wrong with the last one
}

// ignored counts such messages. Its zero value is ready.
type ignored struct {
	mu  sync.Mutex
	sum Ignored
}

func (i *ignored) add(text string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.sum = Ignored{Count: i.sum.Count + 1, Last: text}
}

func (i *ignored) get() Ignored {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.sum
}

// ignore tells about one message that was of no use.
func (x *Extension) ignore(text string) {
	x.ignored.add(text)
	x.events.diagnostic(text)
}

// explained adds to a Failure what was ignored before it: that may be what should have been right.
func (x *Extension) explained(err error) error {
	var failure *Failure
	if errors.As(err, &failure) {
		failure.Ignored = x.ignored.get()
	}
	return err
}
