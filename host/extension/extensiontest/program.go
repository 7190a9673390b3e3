package extensiontest

import (
	"io"
	"sync"

	"github.com/octet-dev/octet/process"
)

// program is a process that is none: two pipes, and an end.
type program struct {
	stdin  *io.PipeWriter // the host writes
	input  *io.PipeReader // the extension reads
	stdout *io.PipeReader
	output *io.PipeWriter

	hung   chan struct{} // closed when nothing is written any more
	hang   sync.Once
	exited chan struct{} // closed at the end
	once   sync.Once
	mu     sync.Mutex
	deaf   chan struct{} // closed when the extension reads again; nil while it reads
	stage  process.Stage
	state  process.State
}

func newProgram() *program {
	p := &program{hung: make(chan struct{}), exited: make(chan struct{})}
	p.input, p.stdin = io.Pipe()
	p.stdout, p.output = io.Pipe()
	return p
}

func (p *program) Stdin() io.WriteCloser   { return hostEnd{p} }
func (p *program) Stdout() io.Reader       { return p.stdout }
func (p *program) Stderr() process.Tail    { return process.Tail{} }
func (p *program) Exited() <-chan struct{} { return p.exited }

// Hangup makes the host's reading and writing return.
func (p *program) Hangup() {
	p.unplug()
	p.stdout.Close()
}

// Kill ends the program at once.
func (p *program) Kill() { p.exit(process.StageKill, process.State{Code: -1, Signal: "killed"}) }

// End closes the input, which ends the program: it has no other reason to live.
func (p *program) End(process.Stages) process.Report {
	p.exit(process.StageClose, process.State{})
	p.mu.Lock()
	defer p.mu.Unlock()
	return process.Report{Stage: p.stage, State: p.state}
}

// exit ends the program, once. Its pipes close with it.
func (p *program) exit(stage process.Stage, state process.State) {
	p.once.Do(func() {
		p.mu.Lock()
		p.stage, p.state = stage, state
		p.mu.Unlock()
		p.output.Close()
		p.unplug()
		p.input.Close()
		close(p.exited)
	})
}

// unplug ends the input, and a write that waits for a deaf extension with it.
func (p *program) unplug() {
	p.hang.Do(func() { close(p.hung) })
	p.stdin.Close()
}

// deafen stops the reading of the extension until hear is called.
func (p *program) deafen() (hear func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	deaf := make(chan struct{})
	p.deaf = deaf
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.deaf == deaf {
			p.deaf = nil
		}
		close(deaf)
	})
}

// hostEnd is the input as the host holds it.
type hostEnd struct{ program *program }

// Write waits while the extension is deaf: its pipe has no room.
func (e hostEnd) Write(b []byte) (int, error) {
	e.program.mu.Lock()
	deaf := e.program.deaf
	e.program.mu.Unlock()
	if deaf != nil {
		select {
		case <-deaf:
		case <-e.program.hung:
		}
	}
	return e.program.stdin.Write(b)
}

// Close ends the input.
func (e hostEnd) Close() error {
	e.program.unplug()
	return nil
}
