package extension

import (
	"io"

	"github.com/octet-dev/octet/process"
)

// Program is a running program as an Extension uses it. A *process.Process is one; tests have others. All
// methods may be called from any goroutine, and mean what they mean there.
type Program interface {
	Stdin() io.WriteCloser
	Stdout() io.Reader
	Stderr() process.Tail
	Exited() <-chan struct{}
	Hangup()
	Kill()
	End(process.Stages) process.Report
}

var _ Program = (*process.Process)(nil)

// StartProgram starts a program, as Options do where they do not say otherwise.
func StartProgram(o process.Options) (Program, error) {
	p, err := process.Start(o)
	if err != nil {
		return nil, err
	}
	return p, nil
}
