package supervise

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/process"
)

// fake is an Instance without a process.
type fake struct {
	launch    Launch
	agreement *extension.Agreement
	farewell  time.Duration // how long its orderly end takes
	journal   *journal

	done chan struct{}
	once sync.Once

	mu     sync.Mutex
	err    error
	killed bool
}

func (f *fake) Agreement() *extension.Agreement { return f.agreement }
func (f *fake) Done() <-chan struct{}           { return f.done }
func (f *fake) Drain()                          { f.journal.add("drain %d", f.launch.Generation) }

func (f *fake) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// crash ends it as if the process had died.
func (f *fake) crash(text string) {
	f.mu.Lock()
	f.err = errors.New(text)
	f.mu.Unlock()
	f.end()
}

func (f *fake) end() { f.once.Do(func() { close(f.done) }) }

func (f *fake) Kill() {
	f.mu.Lock()
	f.killed = true
	f.mu.Unlock()
	f.journal.add("kill %d", f.launch.Generation)
	f.end()
}

func (f *fake) Close() extension.Ending {
	select {
	case <-f.done:
		return extension.Ending{Process: process.Report{Stage: process.StageKill}}
	default:
	}
	f.journal.add("shutdown %d", f.launch.Generation)
	select {
	case <-f.done:
		return extension.Ending{Asked: true, Process: process.Report{Stage: process.StageKill}}
	case <-time.After(f.farewell):
	}
	f.end()
	f.journal.add("closed %d", f.launch.Generation)
	return extension.Ending{Asked: true, Answered: true}
}

// Call plays the tools: "echo" answers at once, "slow" when its context or the process ends, any other
// after the duration that its name is.
func (f *fake) Call(ctx context.Context, r extension.Request) (*extension.ToolResult, error) {
	f.journal.add("call %s on %d", r.Tool, f.launch.Generation)
	var over <-chan time.Time
	if took, err := time.ParseDuration(r.Tool); err == nil {
		over = time.After(took)
	}
	switch r.Tool {
	case "echo":
		return &extension.ToolResult{}, nil
	case "unsettled":
		<-ctx.Done()
		time.AfterFunc(time.Millisecond, f.end)
		return nil, &extension.Failure{Kind: extension.Cancelled, Unsettled: true, Message: "not settled"}
	}
	select {
	case <-over:
		return &extension.ToolResult{}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-f.done:
		return nil, fmt.Errorf("extension process closed: %w", f.Err())
	}
}

// journal is what happened, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(format string, values ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, values...))
}

// take returns the lines so far and forgets them.
func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

// plan is a Starter of fakes.
type plan struct {
	journal journal
	takes   time.Duration // a start
	deaf    bool          // a start ends when its process is killed, not with its context
	errs    []error       // of the next starts; nil or none: it works

	mu        sync.Mutex
	agreement extension.Agreement // of the next start
	farewell  time.Duration
	made      []*fake
	starts    int
}

func (p *plan) start(ctx context.Context, launch Launch) (Instance, error) {
	p.mu.Lock()
	var err error
	if len(p.errs) > 0 {
		err, p.errs = p.errs[0], p.errs[1:]
	}
	p.starts++
	agreement := p.agreement
	f := &fake{launch: launch, agreement: &agreement, farewell: p.farewell, journal: &p.journal, done: make(chan struct{})}
	p.mu.Unlock()
	launch.Launched(f.Kill)
	if p.deaf {
		<-f.done
		return nil, errBroken
	}
	select {
	case <-time.After(p.takes):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made = append(p.made, f)
	p.journal.add("start %d", launch.Generation)
	return f, nil
}

// last is the newest instance that was started.
func (p *plan) last() *fake {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.made[len(p.made)-1]
}

func (p *plan) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.starts
}

func (p *plan) offer(change func(*extension.Agreement)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.agreement)
}

func (p *plan) fail(errs ...error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errs = errs
}

func tools(names ...string) []*extension.Tool {
	list := make([]*extension.Tool, len(names))
	for i, name := range names {
		list[i] = &extension.Tool{Name: name, Description: "Does " + name, Parameters: []byte(`{"type":"object"}`)}
	}
	return list
}

// one makes a supervisor with a plan that offers the tool echo on API 0.4.
func one(t *testing.T, options Options) (*Supervisor, *plan) {
	t.Helper()
	p := &plan{agreement: extension.Agreement{API: "0.4", Tools: tools("echo")}}
	s := New(Member{Name: "demo", Start: p.start}, options)
	t.Cleanup(func() { s.Close() })
	return s, p
}

func wantState(t *testing.T, s *Supervisor, want State) {
	t.Helper()
	if got := s.Status(); got.State != want {
		t.Errorf("state %s, want %s (last error %q)", got.State, want, got.LastError)
	}
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("happened\n%q\nwant\n%q", got, want)
	}
}

var errBroken = errors.New("it does not start")

// pass lets time pass, and whatever was due in it happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
