// Package call measures one tool call between two processes over real pipes: ours, with full validation on both
// sides, and the JSON-RPC libraries that people would use instead.
//
// The program plays the served side itself: it starts itself again with the word that Child looks for. Every subject
// has a tool that gives its text back, typed parameters and a typed result, in the way its documentation recommends.
package call

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/octet-dev/octet/bench/load"
	"github.com/octet-dev/octet/bench/sample"
)

// Row is the row of the report.
const Row = "call"

// Ours and Echo are the subjects that budgets speak of.
const (
	Ours  = "octet"
	Whole = "octet, whole host"
	Echo  = "bare echo"
)

// client is the calling side of a subject.
type client interface {
	// Call sends text and demands that it comes back.
	Call(ctx context.Context, text string) error
	Close() error
}

// subject is one library on both sides.
type subject struct {
	name  string
	serve func(in io.ReadCloser, out io.WriteCloser) error
	dial  func(ctx context.Context, in io.WriteCloser, out io.ReadCloser) (client, error)
}

var subjects = []subject{
	{Ours, serveOctet, dialOctet},
	{Echo, serveEcho, dialEcho},
	{"jrpc2", serveJrpc2, dialJrpc2},
	{"sourcegraph/jsonrpc2", serveSourcegraph, dialSourcegraph},
	{"x/exp/jsonrpc2", serveExp, dialExp},
	{"MCP go-sdk", serveMCP, dialMCP},
}

// childWord starts the program as the served side of a subject: childWord, the name, a file for what it has allocated.
const childWord = "call-child"

// Child plays the served side and does not return, if the program was started for that.
func Child() {
	if len(os.Args) < 4 || os.Args[1] != childWord {
		return
	}
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, s := range append(subjects, subject{name: loudName, serve: serveLoud}) {
		if s.name != os.Args[2] {
			continue
		}
		err := s.serve(os.Stdin, os.Stdout)
		var after runtime.MemStats
		runtime.ReadMemStats(&after)
		_ = os.WriteFile(os.Args[3], []byte(strconv.FormatUint(after.Mallocs-before.Mallocs, 10)), 0o600) // else no figure
		if err != nil && !errors.Is(err, io.EOF) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	fmt.Fprintf(os.Stderr, "no subject %q\n", os.Args[2])
	os.Exit(2)
}

// shape is one case.
type shape struct {
	size     int
	inFlight int
}

func (s shape) String() string {
	size := fmt.Sprint(s.size, " B")
	if s.size >= 1<<10 {
		size = fmt.Sprint(s.size>>10, " KiB")
	}
	return fmt.Sprintf("%s, %d in flight", size, s.inFlight)
}

var shapes = []shape{{100, 1}, {10 << 10, 1}, {500 << 10, 1}, {100, 64}, {10 << 10, 64}}

// Runs are the subjects.
func Runs() []sample.Run {
	var runs []sample.Run
	for _, s := range subjects {
		runs = append(runs, sample.Run{Row: Row, Subject: s.name, Do: s.run})
	}
	return append(runs, sample.Run{Row: Row, Subject: Whole, Do: runWhole})
}

func (s subject) run(ctx context.Context, lasts time.Duration, emit func(sample.Sample)) error {
	for _, shape := range shapes {
		if err := s.measure(ctx, shape, lasts/time.Duration(len(shapes)), emit); err != nil {
			return fmt.Errorf("%s: %w", shape, err)
		}
	}
	return nil
}

// measure starts the other process anew, so that one case leaves nothing to the next.
func (s subject) measure(ctx context.Context, shape shape, lasts time.Duration, emit func(sample.Sample)) error {
	dir, err := os.MkdirTemp("", "octet-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	allocated := filepath.Join(dir, "allocated")
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.CommandContext(ctx, self, childWord, s.name, allocated)
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		return err
	}
	out, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	ended := false
	defer func() {
		if !ended {
			_ = child.Process.Kill()
			_ = child.Wait()
		}
	}()
	c, err := s.dial(ctx, in, out)
	if err != nil {
		return err
	}
	m := &meter{shape: shape, emit: emit}
	if err := m.run(ctx, c, child.Process.Pid, lasts); err != nil {
		return err
	}
	err = c.Close()
	_ = in.Close()
	ended = true
	if err := errors.Join(err, child.Wait()); err != nil {
		return fmt.Errorf("end: %w", err)
	}
	return m.allocations(allocated)
}

// meter measures one case.
type meter struct {
	shape shape
	emit  func(sample.Sample)
	calls int
	mine  uint64
}

func (m *meter) run(ctx context.Context, c client, pid int, lasts time.Duration) error {
	text := strings.Repeat("octet ", m.shape.size/6+1)[:m.shape.size]
	var before, after runtime.MemStats
	loop := load.Loop{For: lasts * 4 / 5, InFlight: m.shape.inFlight, PID: pid}
	runtime.ReadMemStats(&before)
	found, err := loop.Run(func() error { return c.Call(ctx, text) })
	if err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	m.mine = after.Mallocs - before.Mallocs
	for _, one := range found {
		m.calls = one.Count
		m.say(one)
	}
	return nil
}

func (m *meter) say(one sample.Sample) {
	one.Case = m.shape.String()
	m.emit(one)
}

// allocations adds up what both sides have allocated for one call. The warm up, a quarter of the time before, counts
// as so many calls.
func (m *meter) allocations(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	theirs, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return err
	}
	m.say(sample.Sample{Metric: sample.Allocs, Value: float64(m.mine+theirs) / (1.25 * float64(m.calls)), Count: m.calls})
	return nil
}

// same demands that a text came back as it was sent.
func same(got, sent string) error {
	if got != sent {
		return fmt.Errorf("%d bytes were sent and %d other ones came back", len(sent), len(got))
	}
	return nil
}

// pipes are two streams as one.
type pipes struct {
	io.Reader
	io.Writer
	close func() error
}

func (p pipes) Close() error { return p.close() }

func joined(in io.ReadCloser, out io.WriteCloser) pipes {
	return pipes{in, out, func() error { return errors.Join(out.Close(), in.Close()) }}
}
