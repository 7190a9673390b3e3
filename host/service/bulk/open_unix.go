//go:build unix

package bulk

import "syscall"

// nonblocking keeps the opening of a pipe that took the place of a file from waiting for a writer.
const nonblocking = syscall.O_NONBLOCK
