package hostreferee

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// maxOutput bounds what is kept of each stream of a host.
const maxOutput = 1 << 20

// startedHost is a running adapter.
type startedHost struct {
	cmd            *exec.Cmd          // nil for one that runs in this process
	cancel         context.CancelFunc // interrupts that one
	stdin          io.WriteCloser     // of a conversation; nil for a call
	stdout, stderr bounded
	ended          chan struct{} // closed behind its end
	err            error         // of the end; to be read behind it
}

// startHost starts a host. One that is talked with has a pipe for its input.
func startHost(argv []string, dir string, env []string, talks bool) (*startedHost, error) {
	h := &startedHost{cmd: exec.Command(argv[0], argv[1:]...), ended: make(chan struct{})}
	h.cmd.Dir, h.cmd.Env = dir, env
	h.cmd.Stdout, h.cmd.Stderr = &h.stdout, &h.stderr
	if talks {
		var err error
		if h.stdin, err = h.cmd.StdinPipe(); err != nil {
			return nil, err
		}
	}
	// What a host leaves behind may hold its streams open; it is not waited for.
	h.cmd.WaitDelay = time.Second
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(h.ended)
		h.err = h.cmd.Wait()
	}()
	return h, nil
}

// HostFunc is a host that runs in this process. It gets its arguments, the directory that it works in, and the
// whole of its environment; the end of the context is an interrupt. It returns an exit code.
type HostFunc func(ctx context.Context, argv []string, dir string, env []string, stdout, stderr io.Writer) int

// exitError is the exit code of a host that ran in this process.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func startInside(host HostFunc, argv []string, dir string, env []string) *startedHost {
	ctx, cancel := context.WithCancel(context.Background())
	h := &startedHost{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(h.ended)
		if code := host(ctx, argv, dir, env, &h.stdout, &h.stderr); code != 0 {
			h.err = exitError(code)
		}
	}()
	return h
}

// interrupt asks the host to stop what it does.
func (h *startedHost) interrupt() {
	if h.cmd == nil {
		h.cancel()
		return
	}
	_ = h.cmd.Process.Signal(os.Interrupt)
}

// kill makes an end. A host that runs in this process is only asked to: it is one of ours.
func (h *startedHost) kill() {
	if h.cmd == nil {
		h.cancel()
		return
	}
	_ = h.cmd.Process.Kill()
}

// wait waits for the end, interrupts once when it is told to, and kills what hangs.
func (h *startedHost) wait(ctx context.Context, limit time.Duration, interrupt <-chan struct{}) *hostRun {
	r := &hostRun{}
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	for {
		select {
		case <-interrupt:
			h.interrupt()
			continue
		case <-ctx.Done():
			h.kill()
			<-h.ended
		case <-deadline.C:
			r.hung = true
			h.kill()
			<-h.ended
		case <-h.ended:
		}
		var exit *exec.ExitError
		var code exitError
		switch {
		case errors.As(h.err, &exit):
			r.code = exit.ExitCode()
		case errors.As(h.err, &code):
			r.code = int(code)
		}
		r.stdout, r.stderr = h.stdout.String(), h.stderr.String()
		return r
	}
}

// bounded keeps the beginning of a stream.
type bounded struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept.Write(p[:min(len(p), maxOutput-b.kept.Len())])
	return len(p), nil
}

func (b *bounded) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept.String()
}
