package agent

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

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// recorder is hooks that note when they are called, and may be told what to say.
type recorder struct {
	NoHooks
	mu        sync.Mutex
	log       []string
	prompt    Opinion
	call      Opinion
	contexts  []Context
	turnStart error
	turnEnd   error
	mutation  Mutation
	inside    func() // called from every awaited hook
}

func (r *recorder) note(format string, values ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, fmt.Sprintf(format, values...))
}

func (r *recorder) BeforePrompt(_ context.Context, s Scope, prompt string) Opinion {
	r.note("before_prompt %s %q", prompt, s.Run)
	return r.prompt
}

func (r *recorder) CollectContext(_ context.Context, _ Scope, prompt string) ([]Context, []Notification) {
	r.note("context")
	return r.contexts, nil
}

func (r *recorder) BeforeToolCall(_ context.Context, s Scope, c tool.Call) Opinion {
	r.note("before %s %s %s", c.Name, c.Arguments, s.Execution)
	return r.call
}

func (r *recorder) AfterToolCall(_ context.Context, _ Scope, c tool.Call, result tool.Result) []Notification {
	r.note("after %s %v", c.Name, result.IsError)
	return nil
}

func (r *recorder) AfterResponse(_ context.Context, _ Scope, response string) []Notification {
	r.note("after_response %s", response)
	return []Notification{{Level: "info", Message: "noted"}}
}

func (r *recorder) BeforePersistence(_ context.Context, _ Scope, p Persistence) (m session.Metadata) {
	r.note("persist %s %d %d", p.StopReason, p.TextBytes, p.ToolCalls)
	if err := m.Add("demo", session.MetadataValue{Value: json.RawMessage(`1`)}); err != nil {
		panic(err)
	}
	return m
}

func (r *recorder) PostMutation(_ context.Context, _ Scope, m Mutation) []string {
	r.note("mutation %d", len(m.Resources))
	r.within()
	r.mutation = m
	return nil
}

func (r *recorder) ModelTurnStart(_ context.Context, s Scope, t ModelTurn) error {
	r.note("start %d %s", t.Index, s.Run)
	r.within()
	return r.turnStart
}

func (r *recorder) ModelTurnEnd(_ context.Context, _ Scope, t ModelTurn, answer session.Stored, results []session.Stored) error {
	r.note("end %d %s %d", t.Index, answer.ID, len(results))
	r.within()
	return r.turnEnd
}

func (r *recorder) within() {
	if r.inside != nil {
		r.inside()
	}
}

// EXT04-HOOK-061, EXT04-HOOK-063, EXT04-HOOK-064: a start before the request, an end behind the last result, also
// that of a call that failed, in the order of the turns.
func TestHooks_places(t *testing.T) {
	h := &recorder{}
	d := sit(t, calls("echo", `{}`, "echo", `{"n":"x"}`), says("done")).tools(echo("echo", tool.None, false))
	for i, s := range d.provider.steps {
		d.provider.steps[i] = func(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Response, error) {
			h.note("request %d", i)
			return s(ctx, r, emit)
		}
	}
	d.options.Hooks = h
	d.wantStatus(d.run(context.Background(), "go"), Completed, "")
	want := []string{
		`before_prompt go ""`, "context", "start 0 run:e-1", "request 0", "persist tool_calls 0 2", "before echo {} c1", "after echo false",
		"end 0 e-2 2", "start 1 run:e-1", "request 1", "persist end 4 0", "end 1 e-5 0", "after_response done",
	}
	if !slices.Equal(h.log, want) {
		t.Errorf("hooks:\n%s\nwant:\n%s", strings.Join(h.log, "\n"), strings.Join(want, "\n"))
	}
	if v, ok := d.journal.entries[1].Metadata.Get("demo"); !ok || string(v.Value) != "1" {
		t.Error("metadata of before_persistence is not stored")
	}
	if n := find[Notified](d); len(n) != 1 || n[0].Message != "noted" || n[0].Turn != 1 {
		t.Errorf("notifications: %+v", n)
	}
}

// EXT04-HOOK-062: attempts make no further turn.
func TestHooks_retriesAreOneTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{}
		d := sit(t, fails(busy, ""), fails(busy, ""), calls("echo", `{}`)).tools(echo("echo", tool.None, false))
		d.options.Hooks = h
		d.options.Limits.Turns = 1
		d.wantStatus(d.run(context.Background(), "go"), LimitReached, CodeTurns)
		text := strings.Join(h.log, "\n")
		if strings.Count(text, "start ") != 1 || strings.Count(text, "end 0") != 1 {
			t.Errorf("hooks:\n%s", text)
		}
	})
}

// EXT04-HOOK-031.
func TestHooks_afterResponseOfWholeAnswersAlone(t *testing.T) {
	cut := func(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Response, error) {
		response, err := says("so")(ctx, r, emit)
		response.Stop = model.StopLength
		return response, err
	}
	for _, c := range []struct {
		step   step
		cause  error
		status Status
	}{
		{says("done"), nil, Completed},
		{fails(model.Error{Message: "no"}, "half"), nil, Failed},
		{cut, nil, LimitReached},
		{calls("echo", `{}`), nil, LimitReached},
		{nil, context.Canceled, Cancelled},
		{nil, ErrInterrupted, Interrupted},
		{nil, ErrDisconnected, Disconnected},
		{nil, ErrShutdown, Shutdown},
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		if c.step == nil {
			c.step = func(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Response, error) {
				cancel(c.cause)
				return says("won")(ctx, r, emit)
			}
		}
		h := &recorder{}
		d := sit(t, c.step).tools(echo("echo", tool.None, true))
		d.options.Hooks, d.options.Limits.Turns = h, 1
		o := d.run(ctx, "go")
		if told := strings.Contains(strings.Join(h.log, "\n"), "after_response"); o.Status != c.status || told != (c.status == Completed) {
			t.Errorf("%s, want %s: after_response %v", o.Status, c.status, told)
		}
		cancel(nil)
	}
}

// EXT04-HOOK-072.
func TestHooks_noCompactionInside(t *testing.T) {
	h := &recorder{}
	d := sit(t, calls("echo", `{}`), says("done")).tools(echo("echo", tool.None, true))
	refused := 0
	h.inside = func() {
		if _, err := d.agent.Compact(context.Background(), ""); !errors.Is(err, ErrBusy) {
			t.Errorf("a compaction inside a hook: %v", err)
		}
		refused++
	}
	d.options.Hooks = h
	d.wantStatus(d.run(context.Background(), "go"), Completed, "")
	if refused != 4 {
		t.Errorf("%d hooks", refused)
	}
}

// EXT04-HOOK-026.
func TestHooks_denyPrompt(t *testing.T) {
	reason := "not today"
	d := sit(t)
	d.options.Hooks = &recorder{prompt: Opinion{Deny: &reason, Notifications: []Notification{{Level: "warning", Message: "no"}}}}
	o := d.run(context.Background(), "go")
	d.wantStatus(o, Denied, CodeDenied)
	if len(d.journal.entries) > 0 || d.types() != "notification run_settled" || !strings.Contains(o.Reason, reason) {
		t.Errorf("%+v %s", o, d.types())
	}
}

// EXT04-HOOK-027.
func TestHooks_denyCall(t *testing.T) {
	reason := "hands off"
	d := sit(t, calls("echo", `{}`), says("done")).tools(gadgetOf("echo", tool.None, true, func(context.Context, tool.Call) (tool.Result, error) {
		t.Error("a denied call is run")
		return tool.Result{}, nil
	}))
	h := &recorder{call: Opinion{Deny: &reason}}
	d.options.Hooks = h
	d.wantStatus(d.run(context.Background(), "go"), Completed, "")
	d.wantSaid("user: go", "assistant: echo#c1", "tool: c1!The call was denied: hands off", "assistant: done")
	if f := find[ToolFinished](d); f[0].Status != ToolDenied || len(find[ToolStarted](d)) > 0 {
		t.Errorf("told: %+v", f)
	}
	if strings.Contains(strings.Join(h.log, " "), "after echo") {
		t.Error("after_tool_call of a call that was not run")
	}
}

// EXT04-HOOK-069: the run stops, and what is stored stays.
func TestHooks_turnsFail(t *testing.T) {
	d := sit(t)
	d.options.Hooks = &recorder{turnStart: errors.New("no")}
	d.wantStatus(d.run(context.Background(), "go"), Failed, CodeHook)
	d.wantSaid("user: go")
	d = sit(t, says("hello"))
	h := &recorder{turnEnd: errors.New("no")}
	d.options.Hooks = h
	d.wantStatus(d.run(context.Background(), "go"), Failed, CodeHook)
	d.wantSaid("user: go", "assistant: hello")
	if strings.Contains(strings.Join(h.log, " "), "after_response") {
		t.Error("after_response of a run that failed")
	}
}

// EXT04-HOOK-052, EXT04-RESULT-015, MAN-STORE-004: hooks see what is done already; details are kept and shown to no
// model.
func TestHooks_mutations(t *testing.T) {
	done := false
	change := gadgetOf("change", tool.Write, false, func(context.Context, tool.Call) (tool.Result, error) {
		done = true
		result := tool.Said("ok")
		result.Details = &conversation.Details{Structured: json.RawMessage(`{"secret":1}`)}
		result.Changes = []tool.Change{{Path: "dir/b", Kind: tool.Changed}, {Path: "dir/a", Kind: tool.Created}, {Path: "dir/a", Kind: tool.Changed}}
		return result, nil
	})
	h := &recorder{}
	d := sit(t, calls("change", `{}`), says("done")).tools(change)
	h.inside = func() {
		if len(h.mutation.Resources) > 0 && !done {
			t.Error("a mutation is told before it is done")
		}
	}
	d.options.Hooks = h
	d.run(context.Background(), "go")
	if m := h.mutation; len(m.Resources) != 2 || !slices.IsSorted(m.Resources) || len(m.ID) > featurewire.MaxMutationIDBytes || m.Kind != "resource" || m.State != "committed" {
		t.Errorf("mutation: %+v", m)
	}
	if strings.Contains(fmt.Sprint(h.mutation), "/a") {
		t.Error("a path is disclosed")
	}
	if f := find[ToolFinished](d)[0]; len(f.Changes) != 3 {
		t.Errorf("told: %+v", f)
	}
	var metadata struct{ Changes []tool.Change }
	part := find[Message](d)[1].Message.Parts[0]
	if err := json.Unmarshal(part.Details.Metadata, &metadata); err != nil || len(metadata.Changes) != 3 || string(part.Details.Structured) != `{"secret":1}` {
		t.Errorf("kept: %s %v", part.Details.Metadata, err)
	}
	for _, m := range d.provider.requests[1].Messages {
		for _, p := range m.Parts {
			if p.Details != nil {
				t.Error("the model is shown details")
			}
		}
	}
}
