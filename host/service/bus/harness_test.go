package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/peer"
)

// fake is a process whose frames a test reads, one by one if it likes.
type fake struct {
	t          *testing.T
	bus        *Bus
	name       string
	generation int64
	selected   []string
	bound      int

	mu      sync.Mutex
	closed  bool
	retired string
	frames  []string
	block   chan struct{} // each frame takes one token, where it is not nil
	begun   int
}

func newFake(t *testing.T, b *Bus, name string) *fake {
	return &fake{
		t: t, bus: b, name: name, generation: 1, bound: canonicalwire.MaxFrameBytes,
		selected: []string{canonicalwire.MethodBusLifecycle, canonicalwire.MethodBusEvent},
	}
}

// join attaches a process and takes its first notice.
func join(t *testing.T, b *Bus, name string) *fake {
	t.Helper()
	f := newFake(t, b, name)
	f.attach()
	f.wantFrames(`{"binding_id":"` + b.binding + `","binding_revision":` + fmt.Sprint(b.bindingRevision) + `,"kind":"binding"}`)
	return f
}

func (f *fake) attach() {
	f.t.Helper()
	if err := f.bus.Attach(f); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fake) Name() string                { return f.name }
func (f *fake) Instance() string            { return "instance-" + f.name }
func (f *fake) Generation() int64           { return f.generation }
func (f *fake) Selected(method string) bool { return slices.Contains(f.selected, method) }
func (f *fake) FrameBound() int             { return f.bound }

func (f *fake) Open() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.closed
}

func (f *fake) Retire(reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.retired = reason
}

func (f *fake) Deliver(ctx context.Context, method string, params peer.Value, begin func() bool) error {
	if !begin() {
		return peer.ErrNotSent
	}
	f.mu.Lock()
	f.begun++
	block := f.block
	f.mu.Unlock()
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return peer.ErrTorn
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frames = append(f.frames, string(params.AppendJSON(nil)))
	return nil
}

// stall makes every frame wait for a token.
func (f *fake) stall() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.block = make(chan struct{})
}

// wantFrames waits for quiet and takes what was written.
func (f *fake) wantFrames(want ...string) {
	f.t.Helper()
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Equal(f.frames, want) {
		f.t.Errorf("%s was sent\n%s\nwant\n%s", f.name, strings.Join(f.frames, "\n"), strings.Join(want, "\n"))
	}
	f.frames = nil
}

// takeFrames waits for quiet and returns what was written.
func (f *fake) takeFrames() []string {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := f.frames
	f.frames = nil
	return taken
}

func (f *fake) wantRetired(part string) {
	f.t.Helper()
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if part == "" && f.retired != "" || !strings.Contains(f.retired, part) {
		f.t.Errorf("%s was retired for %q, want %q", f.name, f.retired, part)
	}
}

// with puts the current binding in front of other members.
func (f *fake) with(members string) string {
	if members != "" {
		members = "," + members
	}
	return `{"binding_id":"` + f.bus.binding + `"` + members + `}`
}

// ask serves a request whose answer is in front at once.
func (f *fake) ask(method, params string) (string, error) {
	f.t.Helper()
	answer, err := f.bus.Serve(f, method, []byte(params))
	if err != nil {
		return "", err
	}
	answer.Queued(true)
	return string(answer.Result.AppendJSON(nil)), nil
}

// may fails the test unless the request with the current binding is answered as wanted; "*" wants anything.
func (f *fake) may(method, members, want string) string {
	f.t.Helper()
	got, err := f.ask(method, f.with(members))
	if err != nil {
		f.t.Fatalf("%s %.200s: %v", method, members, err)
	}
	if want = strings.ReplaceAll(want, "BINDING", f.bus.binding); want != "*" && got != want {
		f.t.Errorf("%s %.200s is answered with\n%s\nwant\n%s", method, members, got, want)
	}
	return got
}

// mayNot fails the test unless the request with the current binding is refused with the code.
func (f *fake) mayNot(method, members string, code int64) {
	f.t.Helper()
	f.refused(method, f.with(members), code)
}

func (f *fake) refused(method, params string, code int64) {
	f.t.Helper()
	got, err := f.ask(method, params)
	if err == nil {
		f.t.Errorf("%s %.200s is answered with %s, want error %d", method, params, got, code)
		return
	}
	if c := codeOf(f.t, err); c != code {
		f.t.Errorf("%s %.200s is refused with %d (%v), want %d", method, params, c, err, code)
	}
}

// codeOf is the code that the peer answers an error with.
func codeOf(t *testing.T, err error) int64 {
	t.Helper()
	var e *peer.Error
	if errors.As(err, &e) {
		return e.Code
	}
	var v *wirejson.Violation
	if errors.As(err, &v) {
		row, found := canonicalwire.ErrorByName(v.ErrorName)
		if !found {
			t.Fatalf("%v names no error of the wire", err)
		}
		return row.Code
	}
	t.Fatalf("%v becomes an internal error", err)
	return 0
}

// text is a JSON string.
func text(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

const (
	invalid   = canonicalwire.CodeInvalidParams
	foreign   = canonicalwire.CodeCapabilityMismatch
	tooMuch   = canonicalwire.CodeResourceExhausted
	declare   = canonicalwire.MethodBusDeclare
	subscribe = canonicalwire.MethodBusSubscribe
	publish   = canonicalwire.MethodBusPublish
	leave     = canonicalwire.MethodBusUnsubscribe
)
