//go:build unix

package artifact

import "syscall"

// noWait keeps the opening of a pipe, put in the place of a file, from waiting for a writer.
const noWait = syscall.O_NONBLOCK
