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

	exited chan struct{} // closed at the end
	once   sync.Once
	mu     sync.Mutex
	stage  process.Stage
	state  process.State
}

func newProgram() *program {
	p := &program{exited: make(chan struct{})}
	p.input, p.stdin = io.Pipe()
	p.stdout, p.output = io.Pipe()
	return p
}

func (p *program) Stdin() io.WriteCloser   { return p.stdin }
func (p *program) Stdout() io.Reader       { return p.stdout }
func (p *program) Stderr() process.Tail    { return process.Tail{} }
func (p *program) Exited() <-chan struct{} { return p.exited }

// Hangup makes the host's reading and writing return.
func (p *program) Hangup() {
	p.stdin.Close()
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
		p.input.Close()
		close(p.exited)
	})
}
