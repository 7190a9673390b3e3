package peer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/runtime/frame"
)

// TestMain fails the run when goroutines of the package outlive the tests.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		playRole(role)
		return
	}
	code := m.Run()
	left := leftover()
	for late := time.Now().Add(time.Minute); left != "" && time.Now().Before(late); left = leftover() {
		runtime.Gosched() // what a test has let go of may not have had a processor yet
	}
	if code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines are left of the tests:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leftover returns the stacks that run in this package, save the caller's.
func leftover() string {
	buf := make([]byte, 1<<20)
	var left []string
	for n, stack := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if n > 0 && strings.Contains(stack, "octet/runtime/peer.") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}

// rig is one Conn with a test in the place of the other side, which speaks in literal frames.
type rig struct {
	t     *testing.T
	conn  *Conn
	in    *frame.Reader
	hang  func()
	bytes *stream // towards the Conn
	out   *stream // from it, what in has not read
	mu    sync.Mutex
	notes []string
}

func profile(t *testing.T, side frame.Side, version string) *Profile {
	t.Helper()
	if version == "0.3" {
		return CanonicalProfile(side)
	}
	p, err := FeatureProfile(side, version)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// newRig starts a Conn of the given side and version inside a synctest bubble, running, with the
// methods of its core open.
func newRig(t *testing.T, side frame.Side, version string, o Options) *rig {
	t.Helper()
	r := newOpeningRig(t, side, version, o)
	open := []string{"tool/call", "shutdown", "$/cancelRequest", "$/progress", "notification", "theme/select", "provider/event"}
	r.conn.Install(Session{Open: open})
	return r
}

// newOpeningRig is newRig before initialize.
func newOpeningRig(t *testing.T, side frame.Side, version string, o Options) *rig {
	t.Helper()
	p := profile(t, side, version)
	to, from := newStream(), newStream()
	mine := newLink(p, to, from)
	if o.Source != nil { // stands for a stream that can be interrupted
		mine.Source = frame.NewReader(&pokable{stream: to}, p.Wire, side.Other(), p.MaxFrameBytes)
	}
	if counts, ok := o.Sink.(*tally); ok {
		counts.stream = from
		mine.Sink = frame.NewWriter(counts, p.Wire, side, p.MaxFrameBytes)
	}
	r := &rig{t: t, in: frame.NewReader(from, p.Wire, side, p.MaxFrameBytes), bytes: to, out: from, hang: mine.Hangup}
	o.Profile, o.Source, o.Sink, o.Hangup = p, mine.Source, mine.Sink, mine.Hangup
	if o.Diagnose == nil {
		o.Diagnose = r.note
	}
	r.conn = New(o)
	r.conn.Start()
	t.Cleanup(func() { r.conn.Close() })
	return r
}

func (r *rig) note(d Diagnostic) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := d.Rule + " " + d.Blame.String() + " " + d.Text
	if d.Err != nil {
		text += ": " + d.Err.Error()
	}
	r.notes = append(r.notes, text)
}

// noted waits for quiet and reports whether a diagnostic holds every part.
func (r *rig) noted(parts ...string) {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.notes {
		all := true
		for _, p := range parts {
			all = all && strings.Contains(n, p)
		}
		if all {
			return
		}
	}
	r.t.Errorf("no diagnostic holds %q; there are %q", parts, r.notes)
}

// send writes frames as the other side, in one piece.
func (r *rig) send(frames ...string) {
	r.t.Helper()
	r.sendRaw(strings.Join(frames, "\n") + "\n")
}

// sendRaw writes bytes as the other side, at once.
func (r *rig) sendRaw(text string) {
	r.t.Helper()
	if _, err := r.bytes.Write([]byte(text)); err != nil {
		r.t.Fatal(err)
	}
}

// want reads frames as the other side and compares them with literal text.
func (r *rig) want(frames ...string) {
	r.t.Helper()
	for _, f := range frames {
		got, err := r.in.Next()
		if err != nil || string(got) != f {
			r.t.Fatalf("got  %s (%v)\nwant %s", got, err, f)
		}
	}
}

// silent checks that the Conn, once it has come to rest, has written nothing but what was read.
func (r *rig) silent() {
	r.t.Helper()
	synctest.Wait()
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	if len(r.out.b) > 0 || r.in.Buffered() {
		r.t.Errorf("the conn wrote %.100s, want nothing yet", r.out.b)
	}
}

// quiet checks that the Conn has written nothing but what was read, once it has come to rest.
func (r *rig) quiet() {
	r.t.Helper()
	synctest.Wait()
	if r.in.Buffered() {
		r.t.Error("the conn wrote a frame that nobody expects")
	}
	probe := make(chan string, 1)
	go func() {
		b, err := r.in.Next()
		if err == nil {
			probe <- string(b)
		}
		close(probe)
	}()
	synctest.Wait()
	select {
	case f, ok := <-probe:
		if ok {
			r.t.Errorf("the conn wrote %s, want nothing", f)
		}
	default:
	}
	// The probe holds the reader from now on: quiet is the last look at the stream.
	r.hang()
	<-probe
}

// ended waits for the end and returns it.
func (r *rig) ended() error {
	r.t.Helper()
	err := r.conn.Wait()
	if _, more := r.in.Next(); more == nil {
		r.t.Error("the conn wrote a frame that nobody expects before its end")
	}
	return err
}

// endedBy checks that the connection ended by a broken rule of the given side.
func (r *rig) endedBy(rule string, blame Blame) {
	r.t.Helper()
	var e *ProtocolError
	if err := r.ended(); !errors.As(err, &e) || e.Rule != rule || e.Blame != blame {
		r.t.Errorf("ended with %v, want rule %s, blame %v", err, rule, blame)
	}
}

// pending is a call that was started on its own goroutine.
type pending struct {
	t      *testing.T
	done   chan struct{}
	result []byte
	err    error
	took   time.Duration
}

func (r *rig) call(ctx context.Context, q Call) *pending {
	p := &pending{t: r.t, done: make(chan struct{})}
	start := time.Now()
	go func() {
		defer close(p.done)
		p.result, p.err = r.conn.Do(ctx, q)
		p.took = time.Since(start)
	}()
	synctest.Wait()
	return p
}

// gives waits for the call and compares its result.
func (p *pending) gives(result string) {
	p.t.Helper()
	<-p.done
	if p.err != nil || string(p.result) != result {
		p.t.Errorf("the call gives %s, %v, want %s", p.result, p.err, result)
	}
}

// fails waits for the call and checks its error.
func (p *pending) fails(targets ...error) {
	p.t.Helper()
	<-p.done
	for _, target := range targets {
		if !errors.Is(p.err, target) {
			p.t.Errorf("the call gives %s, %v, want %v", p.result, p.err, target)
		}
	}
}

// in runs a test in a synctest bubble.
func in(f func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) { synctest.Test(t, f) }
}

var toolCall = Call{Method: "tool/call", Params: Raw(`{"name":"t"}`)}
