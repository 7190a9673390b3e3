package guard

import (
	"io"
	"syscall"
)

// needed: a job object ends with the program that made it.
const needed = false

const root = ""

var environment []string

func ownSession() *syscall.SysProcAttr { return nil }

func play(io.Reader, io.WriteCloser) {}
