package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"syscall"
)

// output is standard output. It remembers that something could not be written, so that Main tells of it once
// whatever command ran. Behind the first failure nothing is written any more.
type output struct {
	to io.Writer

	mu   sync.Mutex
	err  error
	lost func() // called once
}

// Write passes on what can be written.
func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(data)
	if err != nil {
		o.loseLocked(err)
	}
	return n, err
}

// lose says that somebody else could not write to it.
func (o *output) lose(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.loseLocked(err)
	}
}

func (o *output) loseLocked(err error) {
	o.err = err
	if o.lost != nil {
		o.lost()
	}
}

// onLoss has f called when nothing can be written any more, at once if that is so already. It must not write.
func (o *output) onLoss(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost = f; o.err != nil {
		f()
	}
}

// failure says why something could not be written, nil if all was.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// outcome is the exit code of a command that ended with code and err, once its output is counted. It shows what
// went wrong.
func (c *console) outcome(code int, err error) int {
	lost := c.out.failure()
	if err != nil && (lost == nil || !errors.Is(err, lost)) {
		c.errorf("%v", err)
		var usage *usageError
		if errors.As(err, &usage) {
			code = exitUsage
		}
	}
	switch {
	case lost == nil:
		return code
	case errors.Is(lost, syscall.EPIPE):
		return exitPipe // nobody wants to know
	}
	c.errorf("%v", unwritable(lost))
	if code == exitOK || code == exitCancelled { // a run is cancelled where its output is lost
		return exitTool
	}
	return code
}

// unwritable explains a failure of standard output.
func unwritable(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	remedy := "direct it to a place that takes it"
	if errors.Is(err, syscall.ENOSPC) {
		remedy = "make room, or direct it elsewhere"
	}
	return fmt.Errorf("standard output cannot be written: %w; %s", err, remedy)
}
