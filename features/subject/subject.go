// Package subject starts what is judged and talks to it.
//
// A subject is a program in a process tree of its own, or a function that stands for one in the
// referee's own tests: both have three pipes and an end. A Conversation reads everything the subject
// writes, at all times, and hands single frames to whoever waits for one.
package subject

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/octet-dev/octet/process"
)

// Start says how one scenario wants its subject started.
type Start struct {
	Env []string // NAME=value entries on top of the starter's, later ones win; NAME alone removes it
	Dir string   // the working directory; empty means the starter's
}

// Starter starts one fresh subject.
type Starter interface {
	Start(Start) (Running, error)
}

// Running is a started subject. Whoever started it must call End.
type Running interface {
	// Stdin is the subject's input. A blocked write returns once it is closed.
	Stdin() io.WriteCloser
	// Stdout is the subject's output. A descendant may hold it open after the subject has gone.
	Stdout() io.ReadCloser
	// Stderr returns what is kept of standard error, oldest first.
	Stderr() string
	// Exited is closed once the subject has ended.
	Exited() <-chan struct{}
	// Descendants counts the other processes of its tree that run now.
	Descendants() int
	// RunDelay is how long its processes have been ready to run while other work had the processors; 0 where that is
	// not known.
	RunDelay() time.Duration
	// Hurry makes End ask for nothing: what still runs is killed. End must still be called.
	Hurry()
	// End takes the whole tree down within a bound and reports how it went.
	End() Ended
}

// Ended is how a subject ended.
type Ended struct {
	Code   int    // exit code; -1 if a signal ended it
	Signal string // the signal that ended it, if one did
	Self   bool   // it had ended before End was called
	Killed bool   // it ignored every polite way to end it
	Left   int    // descendants that ran when it had ended
	Alive  int    // members of the tree that could not be ended
}

// String is a phrase for reports.
func (e Ended) String() string {
	switch {
	case e.Alive > 0:
		return fmt.Sprintf("%d processes could not be ended", e.Alive)
	case e.Signal != "":
		return "signal " + e.Signal
	default:
		return fmt.Sprintf("exit code %d", e.Code)
	}
}

// Command starts a program. Path is absolute.
type Command struct {
	Path string
	Args []string
	Dir  string
	Env  []string
}

// stages bound the end of a tree: a scenario that is over waits for nobody.
var stages = process.Stages{Close: 50 * time.Millisecond, Terminate: 100 * time.Millisecond, Kill: 2 * time.Second}

var tags struct {
	sync.Mutex
	n int
}

// tag is an environment entry that no other program has, so that descendants which left the process
// group can still be found and ended.
func tag() string {
	tags.Lock()
	defer tags.Unlock()
	tags.n++
	return fmt.Sprintf("OCTET_CONFORM_RUN=%d-%d", os.Getpid(), tags.n)
}

// Start implements Starter.
func (c Command) Start(s Start) (Running, error) {
	mark := tag()
	dir := c.Dir
	if s.Dir != "" {
		dir = s.Dir
	}
	p, err := process.Start(process.Options{
		Path: c.Path,
		Args: c.Args,
		Dir:  dir,
		Env:  append(Environment(c.Env, s.Env), mark),
		Tag:  mark,
	})
	if err != nil {
		return nil, err
	}
	return child{p}, nil
}

// Environment lays changes over a base: NAME=value sets, NAME alone removes.
func Environment(base, changes []string) []string {
	env := append([]string(nil), base...)
	for _, change := range changes {
		name, _, set := strings.Cut(change, "=")
		kept := env[:0]
		for _, entry := range env {
			if !strings.HasPrefix(entry, name+"=") {
				kept = append(kept, entry)
			}
		}
		env = kept
		if set {
			env = append(env, change)
		}
	}
	return env
}

type child struct{ p *process.Process }

func (c child) Stdin() io.WriteCloser   { return c.p.Stdin() }
func (c child) Stderr() string          { return c.p.Stderr().String() }
func (c child) Exited() <-chan struct{} { return c.p.Exited() }
func (c child) Descendants() int        { return c.p.Descendants() }
func (c child) RunDelay() time.Duration { return c.p.RunDelay() }
func (c child) Hurry()                  { c.p.Kill() }

func (c child) Stdout() io.ReadCloser {
	out := c.p.Stdout()
	if closer, ok := out.(io.ReadCloser); ok {
		return closer
	}
	return io.NopCloser(out)
}

func (c child) End() Ended {
	r := c.p.End(stages)
	return Ended{Code: r.State.Code, Signal: r.State.Signal, Self: r.Stage == process.StageSelf, Killed: r.Stage == process.StageKill, Left: r.Left, Alive: r.Alive}
}

// Func is a subject inside this process: a main function with its pipes as parameters. It must return
// once its input ends or its context is done.
type Func func(ctx context.Context, env []string, stdin io.Reader, stdout, stderr io.Writer) int

// Start implements Starter.
func (f Func) Start(s Start) (Running, error) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		_ = inRead.Close()
		_ = inWrite.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &routine{stdin: inWrite, stdout: outRead, cancel: cancel, exited: make(chan struct{})}
	go func() {
		defer close(r.exited)
		r.code = f(ctx, s.Env, inRead, outWrite, &r.stderr)
		_ = inRead.Close()
		_ = outWrite.Close()
	}()
	return r, nil
}

type routine struct {
	stdin, stdout *os.File
	stderr        tail
	cancel        context.CancelFunc
	exited        chan struct{}
	code          int // readable once exited is closed
}

func (r *routine) Stdin() io.WriteCloser   { return r.stdin }
func (r *routine) Stdout() io.ReadCloser   { return r.stdout }
func (r *routine) Stderr() string          { return r.stderr.String() }
func (r *routine) Exited() <-chan struct{} { return r.exited }
func (r *routine) Descendants() int        { return 0 }
func (r *routine) RunDelay() time.Duration { return 0 }
func (r *routine) Hurry()                  { r.cancel() }

func (r *routine) End() Ended {
	self := false
	select {
	case <-r.exited:
		self = true
	default:
	}
	// Errors of a second close say nothing new.
	_ = r.stdin.Close()
	r.cancel()
	_ = r.stdout.Close()
	<-r.exited
	return Ended{Code: r.code, Self: self}
}

// tail keeps the newest bytes written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const tailBytes = 64 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if len(t.kept) > 2*tailBytes {
		t.kept = append([]byte(nil), t.kept[len(t.kept)-tailBytes:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
