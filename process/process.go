// Package process owns one child program and everything that program starts.
//
// Start puts the child into a group of its own (a process group on Unix, a job object on Windows) with
// three pipes and exactly the environment it is given. Standard error is drained from the first byte to
// the last, so that a talkative child never blocks. End takes the whole tree down in stages and never
// waits without a bound, not even for a pipe that an escaped descendant still holds open.
package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// busyWaits are the pauses before another attempt at an executable that somebody still has open for
// writing, which is common right after a build or an installation.
var busyWaits = []time.Duration{10 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond, 40 * time.Millisecond}

// Options say what to start. Path is required.
type Options struct {
	// Path is the executable: an absolute path. No search and no shell take place.
	Path string
	// Args are the arguments after the program name.
	Args []string
	// Dir is the working directory; empty means ours.
	Dir string
	// Env is the complete environment as NAME=value entries. Nothing is inherited; nil means empty.
	Env []string
	// Tag is one entry of Env that no other program has. Where the system shows environments (Linux),
	// descendants that left the group are found by it and ended with the rest. Empty: group only.
	Tag string
	// Stderr bounds and watches standard error.
	Stderr StderrOptions
	// After is the clock: it behaves like time.After. Nil means time.After.
	After func(time.Duration) <-chan time.Time
}

// Process is a started child. Its methods may be called from any goroutine. Whoever starts a Process
// must End it; until then its resources stay held.
type Process struct {
	pid    int
	stdin  *os.File
	stdout *os.File
	stderr *drain
	group  *group
	after  func(time.Duration) <-chan time.Time

	exited chan struct{} // closed once the child has ended
	reap   chan struct{} // closed to allow the child's identity to be given back to the system
	reaped chan struct{} // closed once it has been; state is set before
	state  State

	key    uint64 // of its Tree
	tag    string
	mu     sync.Mutex
	over   bool // the child's id may belong to somebody else by now
	killed bool // Kill found it alive

	leaveOnce sync.Once
	endOnce   sync.Once
	report    Report
}

// Start launches the child and returns once it runs. An executable that is busy is tried again a few
// times within 100 ms. The error wraps the cause from the operating system.
func Start(opts Options) (*Process, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	var pipes pipes
	if err := pipes.open(); err != nil {
		return nil, fmt.Errorf("pipes for %q: %w", opts.Path, err)
	}
	g, err := newGroup(opts.Tag)
	if err != nil {
		pipes.closeAll()
		return nil, fmt.Errorf("process group for %q: %w", opts.Path, err)
	}
	p := &Process{
		stdin:  pipes.stdin.write,
		stdout: pipes.stdout.read,
		group:  g,
		tag:    opts.Tag,
		after:  opts.After,
		exited: make(chan struct{}),
		reap:   make(chan struct{}),
		reaped: make(chan struct{}),
	}
	if p.after == nil {
		p.after = time.After
	}
	p.enroll()
	started := make(chan error)
	go p.attend(opts, &pipes, started)
	if err := <-started; err != nil {
		p.strikeOff()
		pipes.closeAll()
		g.release()
		return nil, fmt.Errorf("start %q: %w", opts.Path, err)
	}
	p.announce()
	pipes.closeChildEnds()
	p.stderr = newDrain(pipes.stderr.read, opts.Stderr)
	return p, nil
}

func (o *Options) check() error {
	if !filepath.IsAbs(o.Path) {
		return fmt.Errorf("executable %q is not an absolute path", o.Path)
	}
	if o.Tag != "" && !slices.Contains(o.Env, o.Tag) {
		return errors.New("the tag is not an entry of the environment")
	}
	return nil
}

// attend starts the child and waits for it on one operating system thread. On Linux the child is told
// to die with the thread that made it, so that thread must live exactly as long as the child does.
func (p *Process) attend(opts Options, pipes *pipes, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	cmd, err := p.launch(opts, pipes)
	if err != nil {
		started <- err
		return
	}
	p.pid = cmd.Process.Pid
	started <- nil

	p.group.await(cmd)
	close(p.exited)
	<-p.reap
	// The error repeats what the state says.
	_ = cmd.Wait()
	p.state = stateOf(cmd.ProcessState)
	close(p.reaped)
}

func (p *Process) launch(opts Options, pipes *pipes) (*exec.Cmd, error) {
	for attempt := 0; ; attempt++ {
		cmd := &exec.Cmd{
			Path: opts.Path,
			Args: append([]string{opts.Path}, opts.Args...),
			Dir:  opts.Dir,
			// A nil slice would mean our own environment.
			Env:    append([]string{}, opts.Env...),
			Stdin:  pipes.stdin.read,
			Stdout: pipes.stdout.write,
			Stderr: pipes.stderr.write,
		}
		p.group.prepare(cmd)
		err := cmd.Start()
		if err == nil {
			return cmd, p.group.adopt(cmd)
		}
		if !busy(err) || attempt == len(busyWaits) {
			return nil, err
		}
		<-p.after(busyWaits[attempt])
	}
}

// PID is the child's process id. It stays reserved until End where the system allows it (Linux).
func (p *Process) PID() int { return p.pid }

// Stdin is the pipe to the child. Closing it is allowed; a blocked write returns once it is closed.
func (p *Process) Stdin() io.WriteCloser { return p.stdin }

// Stdout is the pipe from the child. It ends at EOF, or with os.ErrClosed after End: a descendant may
// keep the pipe open after the child has gone, so a reader must not rely on EOF alone.
func (p *Process) Stdout() io.Reader { return p.stdout }

// Hangup closes our ends of standard input and output, which makes a blocked read or write return. The
// child is told nothing else.
func (p *Process) Hangup() { closeFiles(p.stdin, p.stdout) }

// Exited is closed once the child itself has ended. Its descendants may still run.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Stderr returns what is kept of standard error so far.
func (p *Process) Stderr() Tail { return p.stderr.tail() }

// Descendants counts the members of the tree that run now, the child not included. It is zero after
// End.
func (p *Process) Descendants() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return 0
	}
	return p.group.members(p.pid)
}

// RunDelay is how long the members of the tree that run now have been ready to run while other work had the processors,
// all of their threads added up. What waits because the machine is busy waits that long, what is stuck does not. It is 0
// behind End and where the system keeps no such account: everywhere but on Linux.
func (p *Process) RunDelay() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return 0
	}
	return p.group.runDelay(p.pid)
}

// Interrupt asks the child alone to stop what it does, where the system has a signal for that. After the end of the
// child it does nothing.
func (p *Process) Interrupt() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.leaderGone() {
		return
	}
	if child, err := os.FindProcess(p.pid); err == nil {
		_ = child.Signal(os.Interrupt)
		_ = child.Release()
	}
}

// Kill ends the whole tree at once and returns without waiting. End must still be called; one that is
// under way finishes early. After End it does nothing.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.killed = p.killed || !p.leaderGone()
		p.group.kill(p.pid)
	}
}

type pipe struct{ read, write *os.File }

type pipes struct{ stdin, stdout, stderr pipe }

func (s *pipes) open() error {
	for _, p := range []*pipe{&s.stdin, &s.stdout, &s.stderr} {
		var err error
		if p.read, p.write, err = os.Pipe(); err != nil {
			s.closeAll()
			return err
		}
	}
	return nil
}

func (s *pipes) closeChildEnds() {
	closeFiles(s.stdin.read, s.stdout.write, s.stderr.write)
}

func (s *pipes) closeAll() {
	s.closeChildEnds()
	closeFiles(s.stdin.write, s.stdout.read, s.stderr.read)
}

// closeFiles ignores errors: these pipes hold nothing that could be lost.
func closeFiles(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
