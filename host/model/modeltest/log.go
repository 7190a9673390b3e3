package modeltest

import (
	"io"
	"log"
)

// discard is a log for servers whose complaints are what a test provokes.
func discard() *log.Logger { return log.New(io.Discard, "", 0) }
