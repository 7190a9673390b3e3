package hostreferee

import (
	"context"
	"io"
	"time"

	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/process"
)

// leftoverGrace is how long what a host has left behind may hold its output open once the host has ended.
const leftoverGrace = time.Second

// startedHost is a running adapter.
type startedHost struct {
	process        *process.Process   // nil for one that runs in this process
	cancel         context.CancelFunc // interrupts that one
	stdin          io.WriteCloser     // of a conversation; nil for a call
	stdout, stderr subject.Beginning
	delays         subject.Delays
	ended          chan struct{} // closed behind its end
	code           int           // with which it ended; to be read behind that
}

// startHost starts a host. One that is talked with has a pipe for its input.
func startHost(argv []string, dir string, env []string, talks bool) (*startedHost, error) {
	h := &startedHost{ended: make(chan struct{})}
	// Where this program is killed, its guard ends the host as well.
	p, err := process.Start(process.Options{
		Path: argv[0], Args: argv[1:], Dir: dir, Env: env,
		Stderr: process.StderrOptions{OnLine: func(l process.Line) { _, _ = io.WriteString(&h.stderr, l.Text+"\n") }},
	})
	if err != nil {
		return nil, err
	}
	h.process = p
	if h.stdin = p.Stdin(); !talks {
		_ = h.stdin.Close()
		h.stdin = nil
	}
	said := make(chan struct{})
	go func() {
		defer close(said)
		_, _ = io.Copy(&h.stdout, p.Stdout())
	}()
	go func() {
		defer close(h.ended)
		// What it leaves behind is its fault to be found, and nothing that is waited for.
		h.code = p.Leave().Code
		select {
		case <-said:
		case <-time.After(leftoverGrace):
		}
		p.End(process.Stages{})
		<-said
	}()
	return h, nil
}

// HostFunc is a host that runs in this process. It gets its arguments, the directory that it works in, and the
// whole of its environment; the end of the context is an interrupt. It returns an exit code.
type HostFunc func(ctx context.Context, argv []string, dir string, env []string, stdout, stderr io.Writer) int

func startInside(host HostFunc, argv []string, dir string, env []string) *startedHost {
	ctx, cancel := context.WithCancel(context.Background())
	h := &startedHost{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(h.ended)
		h.code = host(ctx, argv, dir, env, &h.stdout, &h.stderr)
	}()
	return h
}

// interrupt asks the host to stop what it does.
func (h *startedHost) interrupt() {
	if h.process == nil {
		h.cancel()
		return
	}
	h.process.Interrupt()
}

// kill makes an end. A host that runs in this process is only asked to: it is one of ours.
func (h *startedHost) kill() {
	if h.process == nil {
		h.cancel()
		return
	}
	h.process.Kill()
}

// freshDelay is how long the host has stood in line for a processor and was not given time for yet.
func (h *startedHost) freshDelay() time.Duration {
	if h.process == nil {
		return 0
	}
	return h.delays.Fresh(h.process.RunDelay())
}

// wait waits for the end, interrupts once when it is told to, and kills what hangs.
func (h *startedHost) wait(ctx context.Context, limit time.Duration, interrupt <-chan struct{}) *hostRun {
	r := &hostRun{}
	patience := subject.NewPatience(limit, h.freshDelay)
	defer patience.Stop()
	for {
		select {
		case <-interrupt:
			h.interrupt()
			continue
		case <-ctx.Done():
			h.kill()
			<-h.ended
		case <-patience.C:
			if patience.Extended() {
				continue
			}
			r.hung = true
			h.kill()
			<-h.ended
		case <-h.ended:
		}
		r.code = h.code
		r.stdout, r.stderr = h.stdout.String(), h.stderr.String()
		return r
	}
}
