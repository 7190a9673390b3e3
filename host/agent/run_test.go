package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

func TestRun_answer(t *testing.T) {
	d := sit(t, says("hello"))
	o := d.run(context.Background(), "hi")
	d.wantStatus(o, Completed, "")
	d.wantSaid("user: hi", "assistant: hello")
	if got, want := d.types(), "run_started turn_started text_delta message usage turn_finished run_settled"; got != want {
		t.Errorf("events: %s\nwant: %s", got, want)
	}
	if o.Text != "hello" || o.Turns != 1 || o.Usage.Tokens() != 15 || o.Run != "run:e-1" {
		t.Errorf("outcome: %+v", o)
	}
	if s := find[RunStarted](d)[0]; s.Entry != "e-1" || s.Run != "run:e-1" || s.Prompt.PlainText() != "hi" {
		t.Errorf("started: %+v", s)
	}
	if len(d.journal.used) != 1 || d.journal.used[0].Run != o.Run || d.journal.used[0].Kind != session.UsageTurn {
		t.Errorf("usage: %+v", d.journal.used)
	}
}

func TestRun_nothingIsToldBeforeItIsStored(t *testing.T) {
	d := sit(t, calls("echo", `{}`), says("done"))
	d.tools(echo("echo", tool.None, false))
	d.watch = func(e Event) {
		d.journal.mu.Lock()
		defer d.journal.mu.Unlock()
		var entry session.EntryID
		switch e := e.(type) {
		case RunStarted:
			entry = e.Entry
		case Message:
			entry = e.Entry
		case Usage:
			if len(d.journal.used) == 0 {
				t.Error("usage is told before it is stored")
			}
			return
		case RunSettled:
			if len(d.journal.settled) != 1 {
				t.Error("the end is told before it is stored")
			}
			return
		default:
			return
		}
		for _, stored := range d.journal.entries {
			if stored.ID == entry {
				return
			}
		}
		t.Errorf("%s tells of entry %q, which is not stored", e.Type(), entry)
	}
	d.wantStatus(d.run(context.Background(), "go"), Completed, "")
}

// The JSON of events is an interface of the command line: one object a line, the type first.
func TestMarshalEvent(t *testing.T) {
	for _, c := range []struct {
		e    Event
		want string
	}{
		{TextDelta{At{"run:e-1", 2}, "a"}, `{"type":"text_delta","run":"run:e-1","turn":2,"text":"a"}`},
		{TurnStarted{At{"run:e-1", 0}}, `{"type":"turn_started","run":"run:e-1","turn":0}`},
		{RunSettled{Outcome{Run: "r", Status: Completed, Text: "x", Turns: 1}, 5}, `{"type":"run_settled","run":"r","status":"completed","text":"x","turns":1,"calls":0,"usage":{"input":0,"output":0,"cache_read":0,"cache_write":0,"reasoning":0},"duration_ms":5}`},
		{Notified{At{}, Notification{Level: "info", Message: "m"}}, `{"type":"notification","turn":0,"level":"info","message":"m"}`},
	} {
		line, err := MarshalEvent(c.e)
		if err != nil || string(line) != c.want {
			t.Errorf("%s %v\nwant %s", line, err, c.want)
		}
	}
}

func TestRun_toolResultsGoBack(t *testing.T) {
	d := sit(t, calls("echo", `{"n":1}`), says("done"))
	d.tools(echo("echo", tool.None, false))
	o := d.run(context.Background(), "go")
	d.wantStatus(o, Completed, "")
	d.wantSaid("user: go", "assistant: echo#c1", `tool: c1=echo {"n":1}`, "assistant: done")
	if o.Turns != 2 || o.Calls != 1 {
		t.Errorf("outcome: %+v", o)
	}
	if got := line(d.provider.requests[1].Messages[2]); got != `tool: c1=echo {"n":1}` {
		t.Errorf("the model is told %s", got)
	}
	want := "run_started turn_started message usage tool_started tool_finished message turn_finished turn_started text_delta message usage turn_finished run_settled"
	if got := d.types(); got != want {
		t.Errorf("events: %s\nwant: %s", got, want)
	}
}

// A tool that needs two calls to meet ends only if they overlap; an exclusive one must find nobody else.
func TestRun_overlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running := make(chan int, 1)
		running <- 0
		enter := func(n int) int {
			now := <-running + n
			running <- now
			return now
		}
		meet := make(chan struct{})
		look := gadgetOf("look", tool.Read, true, func(ctx context.Context, c tool.Call) (tool.Result, error) {
			enter(1)
			defer enter(-1)
			select {
			case meet <- struct{}{}:
			case <-meet:
			case <-ctx.Done():
				return tool.Result{}, ctx.Err()
			}
			return tool.Said(c.ID), nil
		})
		var order []string
		change := gadgetOf("change", tool.Write, false, func(_ context.Context, c tool.Call) (tool.Result, error) {
			if n := enter(1); n != 1 {
				t.Errorf("%d calls beside a change", n-1)
			}
			defer enter(-1)
			order = append(order, c.ID)
			return tool.Said(c.ID), nil
		})
		d := sit(t, calls("look", `{}`, "look", `{}`, "change", `{}`, "change", `{}`, "look", `{}`, "look", `{}`), says("done")).tools(look, change)
		d.wantStatus(d.run(context.Background(), "go"), Completed, "")
		if strings.Join(order, " ") != "c3 c4" {
			t.Errorf("changes in the order %v", order)
		}
		d.wantSaid("user: go", "assistant: look#c1 | look#c2 | change#c3 | change#c4 | look#c5 | look#c6",
			"tool: c1=c1", "tool: c2=c2", "tool: c3=c3", "tool: c4=c4", "tool: c5=c5", "tool: c6=c6", "assistant: done")
	})
}

// The second call is over first; results are stored in the order of the calls all the same.
func TestRun_resultsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := make(chan struct{})
		look := gadgetOf("look", tool.Read, true, func(_ context.Context, c tool.Call) (tool.Result, error) {
			if c.ID == "c2" {
				defer close(second)
			} else {
				<-second
			}
			return tool.Said("x"), nil
		})
		d := sit(t, calls("look", `{}`, "look", `{}`), says("done")).tools(look)
		d.run(context.Background(), "go")
		d.wantSaid("user: go", "assistant: look#c1 | look#c2", "tool: c1=x", "tool: c2=x", "assistant: done")
		if f := find[ToolFinished](d); f[0].CallID != "c2" || f[1].CallID != "c1" {
			t.Errorf("finished in the order %s %s", f[0].CallID, f[1].CallID)
		}
	})
}

func TestRun_callsThatCannotBe(t *testing.T) {
	broken := gadgetOf("broken", tool.None, true, func(context.Context, tool.Call) (tool.Result, error) { panic("boom") })
	mute := gadgetOf("mute", tool.None, true, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{}, errors.New("the machine failed")
	})
	d := sit(t, calls("eco", `{}`, "echo", `{"n":"x"}`, "echo", `{"n":`, "echo", `{"n":1,"n":2}`, "echo", ``, "broken", `{}`, "mute", `{}`, "zzzzzzzzz", `[]`), says("done"))
	d.tools(echo("echo", tool.None, true), broken, mute)
	d.wantStatus(d.run(context.Background(), "go"), Completed, "")
	var texts []string
	for _, f := range find[Message](d) {
		for _, p := range f.Message.Parts {
			if p.Kind == conversation.ToolResult {
				texts = append(texts, fmt.Sprintf("%v %s", p.IsError, p.PlainText()))
			}
		}
	}
	for i, want := range []string{
		`true There is no tool "eco". Did you mean "echo"?`,
		`true The arguments of echo do not fit: at "/n"`,
		`true The arguments of echo are no JSON: byte`,
		`true The arguments of echo are no JSON: byte 7: the member "n" comes twice`,
		`false echo {}`,
		`true broken gave no result: the tool broke: boom`,
		`true mute gave no result: the machine failed`,
		`true There is no tool "zzzzzzzzz". The tools are: broken, echo, mute.`,
	} {
		if i >= len(texts) || !strings.HasPrefix(texts[i], want) {
			t.Errorf("result %d of %q, want %q", i, texts, want)
		}
	}
}

func TestRun_tidiesAnswers(t *testing.T) {
	odd := func(context.Context, model.Request, func(model.Delta)) (*model.Response, error) {
		call := func(id, arguments string) conversation.Part {
			return conversation.Part{Kind: conversation.ToolCall, CallID: id, Name: "echo", Arguments: json.RawMessage(arguments)}
		}
		return &model.Response{Message: conversation.Message{Role: conversation.User, Parts: []conversation.Part{
			conversation.TextPart("\xff"), call("", `{}`), call("c1", `{`), call("c1", `{}`), {Kind: conversation.ToolResult, CallID: "c9"},
		}}, Stop: model.StopTools, Usage: used, UsageKnown: true}, nil
	}
	d := sit(t, calls("echo", `{}`), odd, says("done")).tools(echo("echo", tool.None, true))
	d.wantStatus(d.run(context.Background(), "go"), Completed, "")
	m := find[Message](d)[2].Message
	if got := line(m); got != "assistant: \uFFFD | echo#call_1 | echo#c1_1 | echo#c1_2" {
		t.Errorf("kept as %s", got)
	}
	if string(m.Parts[2].Arguments) != `"{"` {
		t.Errorf("arguments that are no JSON are kept as %s", m.Parts[2].Arguments)
	}
}

func TestRun_limits(t *testing.T) {
	price := int64(100)
	dear := func(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Response, error) {
		response, err := calls("echo", `{}`)(ctx, r, emit)
		response.Usage.CostMicrodollars = &price
		return response, err
	}
	for _, c := range []struct {
		limits Limits
		code   string
		turns  int
	}{
		{Limits{Turns: 2}, CodeTurns, 2},
		{Limits{Tokens: 30}, CodeTokens, 2},
		{Limits{Tokens: 31}, CodeTokens, 3},
		{Limits{CostMicrodollars: 200}, CodeCost, 2},
		{Limits{CostMicrodollars: 201}, CodeCost, 3},
	} {
		d := sit(t, dear, dear, dear, dear).tools(echo("echo", tool.None, true))
		d.options.Limits = c.limits
		o := d.run(context.Background(), "go")
		d.wantStatus(o, LimitReached, c.code)
		if o.Turns != c.turns {
			t.Errorf("%+v: %d turns, want %d", c.limits, o.Turns, c.turns)
		}
	}
	d := sit(t, says("done"))
	d.options.Limits.Turns = 1
	d.wantStatus(d.run(context.Background(), "an answer within the limit"), Completed, "")
}

func TestRun_stopReasons(t *testing.T) {
	stops := func(reason model.StopReason, words ...string) step {
		return func(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Response, error) {
			response, err := calls(words...)(ctx, r, emit)
			response.Message.Parts = append(response.Message.Parts, conversation.TextPart("so far"))
			response.Stop = reason
			return response, err
		}
	}
	for _, c := range []struct {
		reason model.StopReason
		status Status
		code   string
	}{
		{model.StopEnd, Completed, ""},
		{model.StopLength, LimitReached, CodeLength},
		{model.StopFiltered, Failed, CodeFiltered},
		{model.StopCancelled, Failed, CodeProvider},
	} {
		d := sit(t, stops(c.reason))
		d.wantStatus(d.run(context.Background(), "go"), c.status, c.code)
		d.wantSaid("user: go", "assistant: so far")
	}
	d := sit(t, stops(model.StopLength, "echo", `{}`), says("again")).tools(gadgetOf("echo", tool.None, true, func(context.Context, tool.Call) (tool.Result, error) {
		t.Error("a call that may be incomplete is run")
		return tool.Result{}, nil
	}))
	d.wantStatus(d.run(context.Background(), "go"), Completed, "")
	d.wantSaid("user: go", "assistant: echo#c1 | so far", "tool: c1!"+cutCall, "assistant: again")
}

func TestRun_promptsThatCannotBe(t *testing.T) {
	d := sit(t)
	d.options.Model.Input = []string{"text"}
	agent := d.start()
	for _, p := range []Prompt{{}, {Text: " \n"}, {Text: "x", Media: []conversation.Part{{Kind: conversation.Image}}}, {Text: "x", Media: []conversation.Part{{Kind: conversation.ToolResult}}}} {
		o, err := agent.Run(context.Background(), p)
		if err != nil || o.Status != Failed || o.Code != CodeBadRequest || o.Reason == "" {
			t.Errorf("%+v: %+v %v", p, o, err)
		}
	}
	if len(d.journal.entries) > 0 || len(find[RunSettled](d)) != 4 {
		t.Errorf("stored: %s; events: %s", d.journal.said(), d.types())
	}
}

func TestRun_oneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reached := make(chan struct{})
		d := sit(t, hangs(reached), says("after"))
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan Outcome)
		agent := d.start()
		go func() { done <- d.run(ctx, "one") }()
		<-reached
		if agent.Running() != "run:e-1" {
			t.Errorf("running: %q", agent.Running())
		}
		if _, err := agent.Run(context.Background(), Prompt{Text: "two"}); !errors.Is(err, ErrBusy) {
			t.Errorf("a second run: %v", err)
		}
		if _, err := agent.Compact(context.Background(), ""); !errors.Is(err, ErrBusy) {
			t.Errorf("a compaction beside a run: %v", err)
		}
		if err := agent.SetModel(context.Background(), d.provider, model.Info{Model: "m2"}, ""); !errors.Is(err, ErrBusy) {
			t.Errorf("another model beside a run: %v", err)
		}
		if err := agent.SetSession(&journal{}); !errors.Is(err, ErrBusy) {
			t.Errorf("another session beside a run: %v", err)
		}
		if _, err := agent.Warm(context.Background()); !errors.Is(err, ErrBusy) {
			t.Errorf("warming beside a run: %v", err)
		}
		short, stop := context.WithCancel(context.Background())
		stop()
		if err := agent.Idle(short); err == nil {
			t.Error("idle beside a run")
		}
		idle := make(chan error)
		go func() { idle <- agent.Idle(context.Background()) }()
		cancel()
		<-done
		if err := <-idle; err != nil {
			t.Errorf("idle: %v", err)
		}
		d.wantStatus(d.run(context.Background(), "three"), Completed, "")
	})
}

func TestAgent_switches(t *testing.T) {
	d := sit(t, says("one"), says("two"), says("three"))
	d.run(context.Background(), "a")
	agent := d.start()
	if err := agent.SetModel(context.Background(), d.provider, model.Info{Model: "m2"}, "high"); err != nil {
		t.Fatal(err)
	}
	d.run(context.Background(), "b")
	if r := d.provider.requests[1]; r.Model != "m2" || r.Reasoning != "high" || len(r.Messages) != 3 {
		t.Errorf("the request after the change: %+v", r)
	}
	d.wantSaid("user: a", "assistant: one", "model_change", "user: b", "assistant: two")
	other := &journal{}
	if err := agent.SetSession(other); err != nil || agent.Session() != Journal(other) {
		t.Fatal(err)
	}
	d.run(context.Background(), "c")
	if got := other.said(); got != "user: c\nassistant: three" {
		t.Errorf("the other session: %s", got)
	}
	if err := agent.SetModel(context.Background(), nil, model.Info{}, ""); err == nil {
		t.Error("no model is taken")
	}
	if err := agent.SetSession(nil); err == nil {
		t.Error("no session is taken")
	}
}

func TestNew_names(t *testing.T) {
	for i, change := range []func(*Options){
		func(o *Options) { o.Provider = nil }, func(o *Options) { o.Model.Model = "" }, func(o *Options) { o.Tools = nil },
		func(o *Options) { o.Session = nil }, func(o *Options) { o.Permission = nil },
	} {
		d := sit(t)
		change(&d.options)
		if _, err := New(d.options); err == nil {
			t.Errorf("case %d: an option that is missing is not named", i)
		}
	}
}
