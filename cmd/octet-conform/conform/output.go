package conform

import (
	"io"
	"sync"

	"github.com/octet-dev/octet/features/report"
)

// output is standard output. It remembers that something could not be written, so that Main tells of it once,
// whatever command ran: a report of which a part is lost is none. Behind the first failure nothing is written any
// more.
type output struct {
	to io.Writer

	mu  sync.Mutex
	err error
}

// Write passes on what can be written.
func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(data)
	o.err = err
	return n, err
}

// lost says why something could not be written, nil if all was.
func (o *output) lost() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// outcome is the exit code of a command that ended with code, once its output is counted. A command that could do
// nothing has said why.
func (inv *invocation) outcome(code int, out *output) int {
	if err := out.lost(); err != nil && code != report.ExitUnable {
		return inv.unable(err)
	}
	return code
}
