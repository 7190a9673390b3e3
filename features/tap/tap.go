// Package tap sits between a host and an extension, passes every byte through as it comes, and judges both
// sides while it does.
package tap

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/octet-dev/octet/features/transcript"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/process"
)

// Options say what is tapped. All but Transcript and Found are required.
type Options struct {
	Command *exec.Cmd // not started; its three streams are ours to set
	// Inside is the extension where it runs in this process; nil: Command is it. It returns an exit code.
	Inside func(stdin io.Reader, stdout, stderr io.Writer) int
	Stdin  io.Reader // of the host
	Stdout io.Writer // to the host
	Stderr *os.File
	// Transcript takes the conversation as a file; nil: nobody wants it.
	Transcript io.Writer
	// Found is called for every finding, in order. It must not block for long: frames wait for it, bytes do
	// not, until frames pile up.
	Found func(Finding)
	// Unjudged is called at the end of a conversation of which nothing was judged, and is told why; nil: nobody is.
	Unjudged func(reason string)
	// Stop, once it is closed, has the command end: it is sent SIGTERM where the system has that, and is killed if it
	// does not heed it. Nil: signals are not the tap's business.
	Stop <-chan struct{}
}

// pieceBytes is the most that is passed on at once.
const pieceBytes = 64 << 10

// waitingFrames bounds the frames that wait to be judged; behind that the bytes wait, too.
const waitingFrames = 1024

// Run starts the command and returns when it has ended and everything it wrote was passed on and judged.
// code is its exit code. The error says that it could not be started, or the transcript not be written.
func Run(o Options) (code int, err error) {
	stdin, stdout, wait, err := o.start()
	if err != nil {
		return 0, err
	}
	t := &tap{frames: make(chan wire.Frame, waitingFrames), recorder: wire.NewRecorder(nil)}
	judged := make(chan error, 1)
	go func() { judged <- t.judge(o) }()

	// The host's end is not waited for: it may keep its pipe open long after the extension is gone, and a
	// read of it cannot be taken back.
	go func() {
		(&lane{tap: t, side: wire.ToSubject, then: stdin}).pass(o.Stdin)
		t.inputEnded.Store(true)
		_ = stdin.Close()
	}()
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		(&lane{tap: t, side: wire.FromSubject, then: o.Stdout}).pass(stdout)
	}()
	over := make(chan struct{})
	go o.heed(stdin, over)
	code, waited := wait()
	close(over)
	select {
	case <-passed:
	case <-time.After(leftoverGrace):
		// A descendant holds the pipe open. The host would see the end of the process, and so it does here.
		process.AwaitRead(stdout, passed, restLimit)
		_ = stdout.Close()
		<-passed
	}
	t.close()
	if err := <-judged; err != nil {
		return 0, fmt.Errorf("transcript: %w", err)
	}
	if waited != nil {
		return 0, waited
	}
	return code, nil
}

// heed takes the command down once it is to stop: as a host does, with the end of its input, then politely, then not.
func (o Options) heed(stdin io.Closer, over <-chan struct{}) {
	select {
	case <-o.Stop:
	case <-over:
		return
	}
	_ = stdin.Close()
	if o.Command == nil || o.Command.Process == nil {
		return
	}
	if o.Command.Process.Signal(syscall.SIGTERM) == nil {
		select {
		case <-time.After(stopGrace):
		case <-over:
			return
		}
	}
	_ = o.Command.Process.Kill()
}

// stopGrace is how long a command may take to heed SIGTERM.
const stopGrace = 2 * time.Second

// exitCode is the code of a shell for the end of a process: 128 and its number for one that a signal has ended.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// start starts the extension, and returns its streams and the way to wait for its end.
func (o Options) start() (stdin io.WriteCloser, stdout io.ReadCloser, wait func() (int, error), err error) {
	if o.Inside != nil {
		return o.startInside()
	}
	if stdin, err = o.Command.StdinPipe(); err != nil {
		return nil, nil, nil, err
	}
	if stdout, err = o.Command.StdoutPipe(); err != nil {
		return nil, nil, nil, err
	}
	o.Command.Stderr = o.Stderr
	if err := o.Command.Start(); err != nil {
		return nil, nil, nil, fmt.Errorf("command %q: %w", o.Command.Path, err)
	}
	return stdin, stdout, func() (int, error) {
		state, err := o.Command.Process.Wait()
		if err != nil {
			return 0, err
		}
		return exitCode(state), nil
	}, nil
}

func (o Options) startInside() (io.WriteCloser, io.ReadCloser, func() (int, error), error) {
	theirs, stdin, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	stdout, said, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	ended := make(chan int, 1)
	go func() {
		code := o.Inside(theirs, said, o.Stderr)
		_, _ = theirs.Close(), said.Close()
		ended <- code
	}()
	return stdin, stdout, func() (int, error) { return <-ended, nil }, nil
}

// args is the command as it is kept.
func (o Options) args() []string {
	if o.Command == nil {
		return nil
	}
	return o.Command.Args
}

// leftoverGrace is how long a pipe stays open whose process has ended, and restLimit how much longer while there is
// something in it that was not passed on.
const (
	leftoverGrace = 250 * time.Millisecond
	restLimit     = 10 * time.Second
)

// tap collects the frames of both lanes in the order in which they passed.
type tap struct {
	frames     chan wire.Frame
	inputEnded atomic.Bool // the host has ended its stream

	mu       sync.Mutex // guards the fields below, and the order of frames
	recorder *wire.Recorder
	closed   bool
}

// add records a frame and hands it to the judge. It is called before the last byte of the frame is passed
// on, so that nothing which follows from the frame can be recorded in front of it.
func (t *tap) add(side wire.Lane, payload []byte, ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.frames <- t.recorder.Add(side, payload, ended)
	}
}

func (t *tap) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	close(t.frames)
}

// judge judges and writes what passes, until there is no more.
func (t *tap) judge(o Options) error {
	var judge Judge
	var w *transcript.Writer
	header := transcript.Header{Command: o.args()}
	for f := range t.frames {
		if t.inputEnded.Load() {
			judge.InputEnded()
		}
		found := judge.Observe(f)
		if o.Found != nil {
			for _, finding := range found {
				o.Found(finding)
			}
		}
		if o.Transcript == nil {
			continue
		}
		if w == nil {
			header.API = judge.API()
			w = transcript.NewWriter(o.Transcript, header)
		}
		w.Add(f)
	}
	if reason := judge.Unjudged(); reason != "" && o.Unjudged != nil {
		o.Unjudged(reason)
	}
	if w != nil {
		return w.Err()
	}
	return nil
}

// lane passes one direction on and cuts it into frames on the side.
type lane struct {
	tap  *tap
	side wire.Lane
	then io.Writer
	line []byte // of the frame that has not ended
	over bool   // it grew over the bound, and its beginning was recorded
}

// pass copies until the source ends or nobody takes the bytes any more.
func (l *lane) pass(from io.Reader) {
	buffer := make([]byte, pieceBytes)
	for {
		n, err := from.Read(buffer)
		l.cut(buffer[:n])
		if n > 0 {
			if _, failed := l.then.Write(buffer[:n]); failed != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	if len(l.line) > 0 {
		l.tap.add(l.side, l.line, false)
	}
}

// maxLine bounds what is kept of one frame: somewhat over what any wire allows.
const maxLine = 2 << 20

func (l *lane) cut(piece []byte) {
	for len(piece) > 0 {
		at := bytes.IndexByte(piece, '\n')
		if at < 0 {
			l.keep(piece)
			return
		}
		l.keep(piece[:at])
		if !l.over {
			l.tap.add(l.side, l.line, true)
		}
		l.line, l.over = nil, false
		piece = piece[at+1:]
	}
}

func (l *lane) keep(piece []byte) {
	if l.over {
		return
	}
	l.line = append(l.line, piece...)
	if len(l.line) > maxLine {
		l.tap.add(l.side, l.line, false)
		l.line, l.over = nil, true
	}
}
