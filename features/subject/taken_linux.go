package subject

import (
	"io"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Waits for a reader that has not come yet grow up to lookSlowest.
const (
	lookFirst   = 20 * time.Microsecond
	lookSlowest = 2 * time.Millisecond
)

// AwaitTaken waits until the reader of a pipe has taken everything out of it, so that what is written next
// reaches it by another read. A pipe tells nobody when it becomes empty, so it is asked.
func AwaitTaken(w io.Writer, until time.Time) {
	conn, ok := w.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	runtime.Gosched()
	for pause := lookFirst; ; pause = min(2*pause, lookSlowest) {
		left := 0
		if raw.Control(func(fd uintptr) { left, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }) != nil || err != nil {
			return
		}
		if left == 0 || time.Now().After(until) {
			return
		}
		time.Sleep(pause)
	}
}
