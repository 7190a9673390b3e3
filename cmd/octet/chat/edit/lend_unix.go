//go:build linux || darwin

package edit

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// tty is a terminal whose reading can be stopped. Stopping wakes a read that waits: a program that goes on
// reading would take every other key from the one that has the terminal.
type tty struct {
	in, out    *os.File
	wake, woke *os.File // both ends of a pipe

	mu      sync.Mutex
	changed sync.Cond // any of the following; its lock is mu
	reading bool      // somebody is in Read and not parked
	stopped bool
	state   *term.State // to go back to
	group   int         // that had the terminal before
}

// lendable wraps a terminal. Where that cannot be, it is read as it is and cannot be lent.
func lendable(in, out *os.File) (io.Reader, Lender) {
	woke, wake, err := os.Pipe()
	if err != nil {
		return in, nil
	}
	t := &tty{in: in, out: out, wake: wake, woke: woke}
	t.changed.L = &t.mu
	return t, t
}

// Read reads what is typed while the terminal is not lent.
func (t *tty) Read(p []byte) (int, error) {
	for {
		t.mu.Lock()
		for t.stopped {
			t.reading = false
			t.changed.Broadcast()
			t.changed.Wait()
		}
		t.reading = true
		t.mu.Unlock()
		fds := []unix.PollFd{{Fd: int32(t.in.Fd()), Events: unix.POLLIN}, {Fd: int32(t.woke.Fd()), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return 0, err
		}
		switch {
		case fds[1].Revents != 0:
			var one [1]byte
			if _, err := t.woke.Read(one[:]); err != nil {
				return 0, err
			}
		case fds[0].Revents != 0:
			return t.in.Read(p)
		}
	}
}

// stopTime bounds how long what was typed already may take to be read.
const stopTime = time.Second

// Stop makes the reading stop and puts a group into the foreground of the terminal.
func (t *tty) Stop(ctx context.Context, group int) (columns, rows int, err error) {
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.changed.Broadcast()
	})()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	if _, err := t.wake.Write([]byte{0}); err != nil {
		return 0, 0, err
	}
	for t.reading && ctx.Err() == nil {
		t.changed.Wait()
	}
	if t.reading {
		return 0, 0, ErrUnlendable
	}
	fd := int(t.in.Fd())
	if columns, rows, err = term.GetSize(int(t.out.Fd())); err != nil {
		return 0, 0, err
	}
	if t.state, err = term.GetState(fd); err != nil {
		return 0, 0, err
	}
	if group <= 0 {
		return columns, rows, nil
	}
	if t.group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil {
		t.group = 0
		return 0, 0, err
	}
	// From here on this program is in the background, where changing the terminal would stop it.
	signal.Ignore(unix.SIGTTOU)
	return columns, rows, unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, group)
}

// Resume takes the terminal back, whatever was made of it.
func (t *tty) Resume() {
	t.mu.Lock()
	defer t.mu.Unlock()
	fd := int(t.in.Fd())
	if t.group != 0 {
		_ = unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, t.group)
		t.group = 0
	}
	if t.state != nil {
		_ = term.Restore(fd, t.state)
		t.state = nil
	}
	signal.Reset(unix.SIGTTOU)
	t.stopped = false
	t.changed.Broadcast()
}
