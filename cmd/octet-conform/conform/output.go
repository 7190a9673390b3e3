package conform

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

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

// exitUnread is the exit code of a command whose reader has gone, as shells report it.
const exitUnread = 141

// outliveReader makes a pipe that nobody reads any more an error of the write, and not the end of this process, so
// that what the command has made and started is put away. What the command starts is not told.
func outliveReader() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}

// unread reports whether an error is that of a reader who has seen enough: there is nobody to tell of it.
func (inv *invocation) unread(err error) bool {
	o, is := inv.stdout.(*output)
	return is && errors.Is(err, syscall.EPIPE) && errors.Is(o.lost(), syscall.EPIPE)
}

// outcome is the exit code of a command that ended with code, once its output is counted. A command that could do
// nothing has said why.
func (inv *invocation) outcome(code int, out *output) int {
	if err := out.lost(); err != nil && code != report.ExitUnable && code != exitUnread {
		return inv.unable(err)
	}
	return code
}
