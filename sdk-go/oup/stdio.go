package oup

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
)

// stages are the waits of the end of a server process: it is told by the end of its input, then asked, then ended.
type stages struct{ input, ask time.Duration }

var usualStages = stages{5 * time.Second, 2 * time.Second}

// Stdio starts a server process and connects to it over its standard input and output. Its standard error is passed
// through unless Options.Stderr says otherwise. When it ends, the client is at its end. Call Close.
func Stdio(ctx context.Context, argv []string, options Options) (*Client, error) {
	if len(argv) == 0 {
		return nil, errors.New("no program is named; give the command line of a server, as in octet serve --stdio")
	}
	process, err := startProcess(argv, options)
	if err != nil {
		return nil, err
	}
	return connect(ctx, options, oupwire.TransportStdio, func(context.Context) (wire, error) { return process, nil })
}

// process is a server process as a wire.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	lines  *bufio.Reader
	stages stages
	exited chan struct{}
	err    error // how it ended; set when exited is closed
	once   sync.Once
}

func startProcess(argv []string, options Options) (*process, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = options.Directory, options.Environment, options.Stderr
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	waits := options.stages
	if waits == (stages{}) {
		waits = usualStages
	}
	// Somebody who inherited the pipes must not hold up the end.
	cmd.WaitDelay = waits.ask
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", argv[0], err)
	}
	// A pipe of our own: that of the command is closed by Wait, and with it what the server said last.
	stdout, theirs, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", argv[0], err)
	}
	cmd.Stdout = theirs
	err = cmd.Start()
	_ = theirs.Close() // it is the child's
	if err != nil {
		_ = stdout.Close()
		return nil, fmt.Errorf("start %q: %w", argv[0], err)
	}
	p := &process{
		cmd: cmd, stdin: stdin, stdout: stdout, lines: bufio.NewReaderSize(stdout, 64<<10), stages: waits, exited: make(chan struct{}),
	}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// Read returns the next line. One without its end behind which nothing comes is half a frame of a process that was
// ended, and none.
func (p *process) Read() ([]byte, error) {
	var line []byte
	for {
		part, err := p.lines.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > oupwire.MaxTextFrameBytes+2 {
			return nil, &ProtocolError{Detail: fmt.Sprintf("a line exceeds %d bytes", oupwire.MaxTextFrameBytes)}
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, p.ended(err)
		}
	}
}

// ended says why there is nothing to read any more: how the process ended, where that is known in time.
func (p *process) ended(err error) error {
	if !p.gone(p.stages.ask) {
		return fmt.Errorf("the server closed its output: %w", err)
	}
	if p.err != nil {
		return fmt.Errorf("the server process ended: %w", p.err)
	}
	return errors.New("the server process ended: exit status 0")
}

// Torn returns nil: half a line is not given.
func (p *process) Torn() error { return nil }

func (p *process) Write(frame []byte) error {
	_, err := p.stdin.Write(append(frame, '\n'))
	return err
}

// Close ends the process: by the end of its input, which it may take its time for, then by a signal, then for good.
func (p *process) Close() error {
	p.once.Do(func() {
		_ = p.stdin.Close() // what it is told by
		// A process that cannot write cannot end in order.
		go func() { _, _ = io.Copy(io.Discard, p.stdout) }()
		if !p.gone(p.stages.input) {
			_ = p.cmd.Process.Signal(os.Interrupt) // it may have ended meanwhile, or know no signals
			if !p.gone(p.stages.ask) {
				_ = p.cmd.Process.Kill()
				<-p.exited
			}
		}
		_ = p.stdout.Close()
	})
	return nil
}

func (p *process) gone(within time.Duration) bool {
	patience := time.NewTimer(within)
	defer patience.Stop()
	select {
	case <-p.exited:
		return true
	case <-patience.C:
		return false
	}
}
