package edit

import (
	"context"
	"errors"
	"strings"
)

// Lender stops reading the terminal, so that a program other than this one can use it.
type Lender interface {
	// Stop returns once nothing is read, and the terminal belongs to a process group; it has so many columns
	// and rows.
	Stop(ctx context.Context, group int) (columns, rows int, err error)
	// Resume takes the terminal back, in the mode that it was in.
	Resume()
}

// ErrUnlendable says that the terminal cannot be lent now.
var ErrUnlendable = errors.New("the terminal cannot be lent now")

// maxHeld is how much of what is printed is kept while the terminal is lent.
const maxHeld = 256 << 10

// Lendable reports whether the terminal can be lent at all.
func (e *Editor) Lendable() bool { return e.options.Terminal && e.options.Lend != nil }

// Cede hands the terminal to a process group and returns its size. What is printed meanwhile is held back, and
// a line that is edited goes on behind Reclaim. ErrUnlendable while the person chooses from a list.
func (e *Editor) Cede(ctx context.Context, group int) (columns, rows int, err error) {
	e.mu.Lock()
	if !e.Lendable() || e.lent != nil || e.choosing {
		e.mu.Unlock()
		return 0, 0, ErrUnlendable
	}
	if e.active {
		var b strings.Builder
		e.backLocked(&b)
		e.write(b.String() + "\x1b[?2004l")
		e.cursor = place{}
		e.restore()
		e.restore = nil
	} else {
		e.write("\r\x1b[K")
	}
	e.lent = make(chan struct{})
	e.mu.Unlock()
	columns, rows, err = e.options.Lend.Stop(ctx, group)
	if err != nil {
		e.Reclaim()
	}
	return columns, rows, err
}

// Reclaim uses the terminal again.
func (e *Editor) Reclaim() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lent == nil {
		return
	}
	e.options.Lend.Resume()
	close(e.lent)
	e.lent = nil
	if e.active {
		restore, err := e.options.Raw()
		if err != nil {
			restore = func() {} // it is read in the mode that it is in
		}
		e.restore = restore
		e.write("\x1b[?2004h")
		e.drawLocked()
	}
	if e.held.Len() > 0 {
		text := e.held.String()
		e.held.Reset()
		e.printLocked(text)
	}
}

// ownLocked waits until the terminal is not lent.
func (e *Editor) ownLocked(ctx context.Context) error {
	for e.lent != nil {
		back := e.lent
		e.mu.Unlock()
		select {
		case <-back:
		case <-ctx.Done():
		}
		e.mu.Lock()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// holdLocked keeps what is printed while the terminal is lent.
func (e *Editor) holdLocked(text string) {
	if room := maxHeld - e.held.Len(); len(text) <= room {
		e.held.WriteString(text)
	}
}
