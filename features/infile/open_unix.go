//go:build unix

package infile

import "syscall"

const nonblock = syscall.O_NONBLOCK
