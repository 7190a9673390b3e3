package subject_test

import (
	"context"
	"errors"
	"io"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/octet-dev/octet/features/subject"
)

// held starts a subject that writes once it is told to and reports how that went. The start of another
// program is played by a copy of our end of its output, which the test must release.
func held(t *testing.T) (c *subject.Conversation, wrote <-chan error, release func()) {
	t.Helper()
	outcome := make(chan error, 1)
	run, c := converse(t, subject.Func(func(_ context.Context, _ []string, in io.Reader, out, _ io.Writer) int {
		_, _ = in.Read(make([]byte, 1))
		_, err := io.WriteString(out, "{}\n")
		outcome <- err
		return 0
	}))
	conn, ok := run.Stdout().(syscall.Conn)
	if !ok {
		t.Fatalf("%T has no descriptor", run.Stdout())
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var descriptor int
	var copied error
	err = raw.Control(func(fd uintptr) { descriptor, copied = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err := errors.Join(err, copied); err != nil {
		t.Fatal(err)
	}
	return c, outcome, func() {
		if err := unix.Close(descriptor); err != nil {
			t.Error(err)
		}
	}
}

// TestStopReading_noticesACopy: EXT04-PROC-002, EXT03-PROC-004. A subject whose only answer went into a
// pipe that was still open would be accused of staying.
func TestStopReading_noticesACopy(t *testing.T) {
	c, _, release := held(t)
	defer release()
	if err := c.StopReading(time.Millisecond); !errors.Is(err, subject.ErrHeld) {
		t.Errorf("got %v, want %v", err, subject.ErrHeld)
	}
}

func TestStopReading_waitsForTheLastCopy(t *testing.T) {
	c, wrote, release := held(t)
	stopped := make(chan error)
	go func() { stopped <- c.StopReading(time.Minute) }()
	release()
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if err := c.Send([]byte("go"), patience); err != nil {
		t.Fatal(err)
	}
	if err := <-wrote; !errors.Is(err, unix.EPIPE) {
		t.Errorf("the subject wrote: got %v, want %v", err, unix.EPIPE)
	}
}
