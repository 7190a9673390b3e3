package subject_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/wire"
)

// queued is a subject whose run delay is made up: each time it is asked for, something may happen too.
type queued struct {
	subject.Running
	in, out *os.File
	asked   int
	delay   func(asked int) time.Duration
}

func (q *queued) Stdin() io.WriteCloser   { return q.in }
func (q *queued) Stdout() io.ReadCloser   { return q.out }
func (q *queued) Exited() <-chan struct{} { return nil }
func (q *queued) End() subject.Ended      { return subject.Ended{} }

func (q *queued) RunDelay() time.Duration {
	q.asked++
	return q.delay(q.asked)
}

// queue converses with a subject that reads nothing; what it says is written to the file that comes back.
func queue(t *testing.T, delay func(says io.Writer, asked int) time.Duration) (*subject.Conversation, *queued) {
	t.Helper()
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	q := &queued{in: inWrite, out: outRead, delay: func(asked int) time.Duration { return delay(outWrite, asked) }}
	c := subject.Converse(q, wire.NewRecorder(nil), nobody{}, nil)
	t.Cleanup(func() {
		for _, f := range []*os.File{outWrite, inWrite, inRead} {
			_ = f.Close()
		}
		c.Close()
	})
	return c, q
}

const short = 20 * time.Millisecond

func TestPatience_isProlongedByTheRunDelay(t *testing.T) {
	c, q := queue(t, func(says io.Writer, asked int) time.Duration {
		if asked == 3 {
			fmt.Fprintln(says, `{"id":1,"result":{}}`)
		}
		return time.Duration(asked) * time.Second / 20
	})
	if _, err := c.Await(subject.Any, short); err != nil {
		t.Errorf("the answer of a subject that stood in line: %v", err)
	}
	if q.asked != 3 {
		t.Errorf("the run delay was asked for %d times, want 3", q.asked)
	}
}

func TestPatience_hasAnEnd(t *testing.T) {
	for name, delay := range map[string]func(io.Writer, int) time.Duration{
		"sleeps":            func(io.Writer, int) time.Duration { return 0 },
		"stood there once":  func(io.Writer, int) time.Duration { return short },
		"stands there ever": func(_ io.Writer, asked int) time.Duration { return time.Duration(asked) * time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := queue(t, delay)
			if _, err := c.Await(subject.Any, short); !errors.Is(err, subject.ErrNoAnswer) {
				t.Errorf("a wait for nothing: %v", err)
			}
			if err := c.AwaitEnd(short); !errors.Is(err, subject.ErrNoAnswer) {
				t.Errorf("a wait for the end: %v", err)
			}
			if err := c.Send(make([]byte, 1<<20), short); !errors.Is(err, subject.ErrStuck) {
				t.Errorf("a write that nobody reads: %v", err)
			}
		})
	}
}

func TestPatience_ofAWriteIsProlonged(t *testing.T) {
	var c *subject.Conversation
	var q *queued
	c, q = queue(t, func(_ io.Writer, asked int) time.Duration {
		if asked == 2 {
			_ = q.in.Close() // as good as having been read: the write is over
		}
		return time.Duration(asked) * time.Second / 20
	})
	if err := c.Send(make([]byte, 1<<20), short); err != nil {
		t.Errorf("a write to a subject that stood in line: %v", err)
	}
}
