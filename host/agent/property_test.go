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
	"time"

	"pgregory.net/rapid"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// plan is one random story: what the model answers, what tools do, what the user does meanwhile.
type plan struct {
	steps  []planned
	runs   []planRun
	window int64
	direct bool
	denied bool // whether a person says no
}

type planned struct {
	Kind  string
	Calls []planCall
	After time.Duration
}

type planCall struct{ ID, Name, Arguments string }

type planRun struct {
	Cancel   time.Duration // 0: never
	Steer    int           // at this event
	FollowUp int
	FailAt   int // commit that fails
}

var callNames = []string{"look", "look", "change", "change", "fault", "broken", "mute", "slow", "slowlook", "deaf", "ask", "nest", "nobody", "run_tool", "discover_tools"}

func drawPlan(t *rapid.T) (p plan) {
	kinds := []string{"text", "calls", "calls", "calls", "calls", "length", "silent", "busy", "final", "network", "broken", "hang", "uncounted", "overflow", "empty"}
	pause := rapid.SampledFrom([]time.Duration{0, 0, 0, time.Millisecond, time.Second, 20 * time.Second})
	for range rapid.IntRange(0, 12).Draw(t, "answers") {
		s := planned{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), After: pause.Draw(t, "after")}
		if s.Kind == "calls" || s.Kind == "length" {
			for range rapid.IntRange(1, 5).Draw(t, "calls") {
				s.Calls = append(s.Calls, planCall{
					ID:        rapid.SampledFrom([]string{"a", "b", "", "c"}).Draw(t, "id"),
					Name:      rapid.SampledFrom(callNames).Draw(t, "name"),
					Arguments: rapid.SampledFrom([]string{`{}`, `{"n":1}`, `{"n":"x"}`, `{`, ``, `{"name":"change"}`, `{"name":"slow"}`}).Draw(t, "arguments"),
				})
			}
		}
		p.steps = append(p.steps, s)
	}
	at := rapid.SampledFrom([]time.Duration{0, 0, time.Nanosecond, time.Millisecond, 1500 * time.Millisecond, 7 * time.Second, 30 * time.Second})
	for range rapid.IntRange(1, 4).Draw(t, "runs") {
		r := planRun{Cancel: at.Draw(t, "cancel"), Steer: rapid.IntRange(-5, 20).Draw(t, "steer"), FollowUp: rapid.IntRange(-5, 20).Draw(t, "follow up")}
		if rapid.IntRange(0, 4).Draw(t, "store") == 0 {
			r.FailAt = rapid.IntRange(1, 10).Draw(t, "fails at")
		}
		p.runs = append(p.runs, r)
	}
	p.window = rapid.SampledFrom([]int64{0, 0, 60, 400}).Draw(t, "window")
	p.direct = rapid.Bool().Draw(t, "direct")
	p.denied = rapid.Bool().Draw(t, "denied")
	return p
}

// play is a step of the provider.
func (s planned) play(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Response, error) {
	select {
	case <-time.After(s.After):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	text := conversation.Say(conversation.Assistant, s.Kind)
	response := &model.Response{Message: text, Stop: model.StopEnd, Usage: used, UsageKnown: true}
	switch s.Kind {
	case "calls", "length":
		for _, c := range s.Calls {
			response.Message.Parts = append(response.Message.Parts, conversation.Part{
				Kind: conversation.ToolCall, CallID: c.ID, Name: c.Name, Arguments: json.RawMessage(c.Arguments),
			})
		}
		if response.Stop = model.StopTools; s.Kind == "length" {
			response.Stop = model.StopLength
		}
	case "silent":
		response.Message.Parts = []conversation.Part{{Kind: conversation.Reasoning, Text: "hm"}}
	case "empty":
		response.Message.Parts = nil
	case "uncounted":
		response.UsageKnown = false
	case "hang":
		emit(model.Delta{Kind: conversation.Text, Text: "I"})
		select {
		case <-ctx.Done():
		case <-time.After(time.Hour):
		}
		return nil, errors.Join(ctx.Err(), errors.New("hung"))
	case "busy":
		return nil, &busy
	case "final":
		return nil, &model.Error{Message: "no"}
	case "network":
		return nil, &model.Error{Phase: model.WaitingForNetwork, Message: "no route"}
	case "broken":
		emit(model.Delta{Kind: conversation.Text, Text: "half"})
		return nil, &model.Error{Phase: model.InterruptedInference, Retry: true, UsageUnknown: true, Message: "broken"}
	case "overflow":
		return nil, &model.Error{Status: 400, Message: "prompt is too long"}
	}
	return response, nil
}

// propertyTools do everything that tools can do to an agent.
func propertyTools() []tool.Tool {
	wait := func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		select {
		case <-time.After(5 * time.Second):
			return tool.Said("slept"), nil
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
	}
	return []tool.Tool{
		echo("look", tool.Read, true), echo("change", tool.Write, false), echo("ask", tool.External, true),
		gadgetOf("fault", tool.None, true, func(context.Context, tool.Call) (tool.Result, error) { return tool.Failed("no"), nil }),
		gadgetOf("broken", tool.None, false, func(context.Context, tool.Call) (tool.Result, error) { panic("boom") }),
		gadgetOf("mute", tool.None, true, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, errors.New("none") }),
		gadgetOf("slow", tool.Command, false, wait), gadgetOf("slowlook", tool.Read, true, wait),
		gadgetOf("deaf", tool.Command, false, func(_ context.Context, c tool.Call) (tool.Result, error) {
			<-time.After(25 * time.Second)
			c.Progress(tool.Progress{Message: "still here"})
			return tool.Said("deaf"), nil
		}),
		gadgetOf("nest", tool.External, false, func(ctx context.Context, c tool.Call) (tool.Result, error) {
			if _, err := c.Nested.Call(ctx, "slowlook", json.RawMessage(`{}`)); err != nil {
				return tool.Result{}, err
			}
			return c.Nested.Call(ctx, "nobody", json.RawMessage(`{}`))
		}),
	}
}

// story plays a plan and returns what is wrong with it.
func (p plan) story(t *testing.T) (problems []string) {
	var mu sync.Mutex
	report := func(format string, values ...any) {
		mu.Lock()
		defer mu.Unlock()
		problems = append(problems, fmt.Sprintf(format, values...))
	}
	d := sit(t)
	d.provider.t = reporter(report)
	for _, s := range p.steps {
		d.provider.steps = append(d.provider.steps, s.play)
	}
	d.tools(propertyTools()...)
	d.options.Model.ContextWindow = p.window
	d.options.Compaction.Keep = 5
	if !p.direct {
		d.options.Interface = Fixed
	}
	d.options.Permission = gate(func(ctx context.Context, _ permission.Request) permission.Ruling {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return permission.Ruling{Decision: permission.Deny}
		}
		if p.denied {
			return permission.Ruling{Decision: permission.Deny, Reason: "no"}
		}
		return permission.Ruling{Decision: permission.Allow}
	})
	for i, r := range p.runs {
		d.events = nil
		outcome, failed := d.chapter(r, fmt.Sprintf("prompt %d", i))
		d.judge(outcome, failed, report)
	}
	if problem := illegal(assemble(d.journal.entries, view{result: maxResultText})); problem != "" && len(d.journal.entries) > 0 {
		report("the journal is no legal conversation: %s", problem)
	}
	return problems
}

type reporter func(string, ...any)

func (r reporter) Errorf(format string, values ...any) { r(format, values...) }

// chapter is one run. failed reports whether the store did not work; then the next run is in a new process.
func (d *desk) chapter(r planRun, text string) (o Outcome, failed bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if r.Cancel > 0 {
		ctx, cancel = context.WithTimeout(ctx, r.Cancel)
		defer cancel()
	}
	commits := 0
	d.journal.fail = func(session.Batch) error {
		if commits++; r.FailAt > 0 && commits >= r.FailAt {
			failed = true
			return errors.New("disk full")
		}
		return nil
	}
	agent := d.start()
	events := 0
	d.watch = func(Event) {
		// Too early or too late is for the agent to refuse.
		if events++; events == r.Steer {
			_ = agent.Steer("steered")
		} else if events == r.FollowUp {
			_ = agent.FollowUp("followed")
		}
	}
	o, _ = agent.Run(ctx, Prompt{Text: text})
	if failed {
		d.journal.fail, d.journal.running, d.agent = nil, "", nil
	}
	return o, failed
}

// judge looks for what must hold behind every run.
func (d *desk) judge(o Outcome, failed bool, report reporter) {
	settled := find[RunSettled](d)
	if len(settled) != 1 || d.events[len(d.events)-1].Type() != "run_settled" {
		report("%d ends of a run: %s", len(settled), d.types())
	} else if settled[0].Status != o.Status || settled[0].Run != o.Run {
		report("told is %+v, answered %+v", settled[0], o)
	}
	if o.Status == Completed && o.Code != "" || o.Status != Completed && (o.Code == "" || o.Reason == "") {
		report("outcome: %+v", o)
	}
	if d.journal.running != "" {
		report("the run is not settled in the journal")
	}
	finished := map[string]int{}
	for _, f := range find[ToolFinished](d) {
		finished[f.CallID]++
		if f.Result.IsError != (f.Status != ToolCompleted) {
			report("call %s ends as %s with is error %v", f.CallID, f.Status, f.Result.IsError)
		}
	}
	for _, s := range find[ToolStarted](d) {
		if finished[s.CallID] != 1 && !strings.Contains(s.CallID, "/") {
			report("call %s has %d ends", s.CallID, finished[s.CallID])
		}
	}
	for _, m := range find[Message](d) {
		for _, c := range m.Message.ToolCalls() {
			if finished[c.CallID] != 1 {
				report("call %s has %d ends", c.CallID, finished[c.CallID])
			}
		}
	}
	if !failed {
		d.paired(report)
	}
}

// paired holds that behind every answer with calls stand its results, one for each, in their order.
func (d *desk) paired(report reporter) {
	for i, stored := range d.journal.entries {
		m, ok := stored.Value.(session.Message)
		if !ok {
			continue
		}
		var wanted, got []string
		for _, c := range m.Message.ToolCalls() {
			wanted = append(wanted, c.CallID)
		}
		if wanted == nil {
			continue
		}
		for _, later := range d.journal.entries[i+1:] {
			if m, ok := later.Value.(session.Message); ok {
				for _, p := range m.Message.Parts {
					if p.Kind == conversation.ToolResult && slices.Contains(wanted, p.CallID) {
						got = append(got, p.CallID)
					}
				}
			}
		}
		if !slices.Equal(got, wanted) {
			report("calls %v have results %v", wanted, got)
		}
	}
}

// Whatever the model answers, tools do, the store does and the user does: every call has exactly one result,
// the journal is a conversation that providers take, and every run has exactly one end.
func TestProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		var problems []string
		synctest.Test(t, func(t *testing.T) {
			problems = p.story(t)
			// A tool that was given up comes to its end before the bubble does.
			<-time.After(time.Minute)
		})
		if len(problems) > 0 {
			rt.Fatalf("%s\nplan: %+v", strings.Join(problems, "\n"), p)
		}
	})
}
