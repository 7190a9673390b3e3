package subject

import (
	"errors"
	"io"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watchReaders returns a wait for the last reader of a pipe to go. It must be called once, when our own
// end is closed.
//
// To close that end is not enough. A program that we are starting has a copy of it until its exec returns,
// close-on-exec or not, and syscall.ForkLock is released long before: on a busy machine the copy can
// outlive our end by a tenth of a second. What the subject writes meanwhile goes into the pipe, the subject
// learns nothing, and it has no reason to write again. Only the other end tells when the last copy is gone.
func watchReaders(pipe io.Reader) (wait func(limit time.Duration) error) {
	writer := -1
	if conn, ok := pipe.(syscall.Conn); ok {
		writer = openWriter(conn)
	}
	return func(limit time.Duration) error {
		if writer < 0 { // no pipe, or no /proc: nobody can tell
			return nil
		}
		defer func() { _ = unix.Close(writer) }()
		return awaitError(writer, limit)
	}
}

// openWriter opens a writing end for a reading one; -1 if it cannot.
func openWriter(reader syscall.Conn) int {
	writer := -1
	raw, err := reader.SyscallConn()
	if err != nil {
		return -1
	}
	err = raw.Control(func(fd uintptr) {
		path := "/proc/self/fd/" + strconv.FormatUint(uint64(fd), 10)
		// Without O_NONBLOCK the open of a pipe that nobody reads would wait for a reader.
		if opened, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
			writer = opened
		}
	})
	if err != nil {
		return -1
	}
	return writer
}

// awaitError waits for the error condition of a writing end: its pipe has no reader.
func awaitError(writer int, limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for {
		left := max(time.Until(deadline).Milliseconds(), 0)
		// Errors are reported without being asked for.
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(writer)}}, int(left))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case n == 0:
			return ErrHeld
		default:
			return nil
		}
	}
}
