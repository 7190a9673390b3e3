//go:build unix

package process

import (
	"errors"
	"os"
	"syscall"
)

// busy reports whether an executable could not be run because it is open for writing.
func busy(err error) bool { return errors.Is(err, syscall.ETXTBSY) }

func signalName(ps *os.ProcessState) string {
	if ws, ok := ps.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}

// signalGroup ignores errors: a group without members is what the caller wants.
func signalGroup(leader int, sig syscall.Signal) {
	if leader > 0 {
		_ = syscall.Kill(-leader, sig)
	}
}
