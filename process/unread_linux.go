package process

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// unread is how many bytes a pipe holds that nobody has read, 0 where it is not known.
func unread(pipe any) (n int) {
	conn, is := pipe.(syscall.Conn)
	if !is {
		return 0
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	if raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }) != nil || err != nil {
		return 0
	}
	return n
}
