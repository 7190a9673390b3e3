package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

func TestContext_placements(t *testing.T) {
	d := sit(t, calls("echo", `{}`), says("done")).tools(echo("echo", tool.None, false))
	d.options.System = "You are octet."
	h := &recorder{contexts: []Context{
		{Label: "front", Content: "A", Placement: SystemPrefix, Source: "ext"},
		{Label: "back", Content: "B", Placement: SystemSuffix},
		{Label: "before", Content: "C", Placement: PromptPrefix},
		{Content: "D"},
		{Label: "odd", Content: "E", Placement: "elsewhere"},
		{Label: "blank", Content: " \n"},
	}}
	h.call = Opinion{Context: []Context{{Label: "hint", Content: "F"}}}
	d.options.Hooks = h
	d.run(context.Background(), "go")
	r := d.provider.requests[1]
	if want := "[front (from ext)]\nA\n\nYou are octet.\n\n[back]\nB"; r.System != want {
		t.Errorf("system: %q, want %q", r.System, want)
	}
	if want := "user: [before]\nC | go | [context]\nD | [odd]\nE"; line(r.Messages[0]) != want {
		t.Errorf("prompt: %q, want %q", line(r.Messages[0]), want)
	}
	if want := "tool: c1=echo {}\n[hint]\nF"; line(r.Messages[2]) != want {
		t.Errorf("result: %q, want %q", line(r.Messages[2]), want)
	}
	if s := find[RunStarted](d)[0]; s.Prompt.PlainText() != "go" {
		t.Errorf("people are shown %q", s.Prompt.PlainText())
	}
	if m := d.journal.entries[0].Value.(session.Message); m.Display != "go" {
		t.Errorf("kept for people: %q", m.Display)
	}
}

// MAN-SUPER-007, at the bound and one over.
func TestContext_bounds(t *testing.T) {
	full := func(n int) Context { return Context{Label: "l", Content: strings.Repeat("x", n-1)} }
	many := func(n int) (all []Context) {
		for range n {
			all = append(all, full(2))
		}
		return all
	}
	label := func(n int) Context { return Context{Label: strings.Repeat("l", n), Content: "x"} }
	for name, c := range map[string]struct {
		context []Context
		kept    int
		told    int
	}{
		"all of it":      {[]Context{full(featurewire.MaxContextBytes)}, 1, 0},
		"one byte more":  {[]Context{full(featurewire.MaxContextBytes + 1), full(5)}, 1, 1},
		"in sum":         {[]Context{full(featurewire.MaxContextBytes - 5), full(5), full(2)}, 2, 1},
		"items":          {many(featurewire.MaxPendingContexts), featurewire.MaxPendingContexts, 0},
		"one item more":  {many(featurewire.MaxPendingContexts + 1), featurewire.MaxPendingContexts, 1},
		"label":          {[]Context{label(featurewire.MaxContextLabelBytes)}, 1, 0},
		"longer a label": {[]Context{label(featurewire.MaxContextLabelBytes + 1)}, 0, 1},
	} {
		d := sit(t, says("done"))
		d.options.Hooks = &recorder{contexts: c.context}
		d.run(context.Background(), "go")
		if got := len(d.provider.requests[0].Messages[0].Parts) - 1; got != c.kept {
			t.Errorf("%s: %d pieces, want %d", name, got, c.kept)
		}
		if got := len(find[Notified](d)) - 1; got != c.told {
			t.Errorf("%s: %d notifications, want %d", name, got, c.told)
		}
	}
}

func TestPermission_deniedAndAsked(t *testing.T) {
	d := sit(t, calls("change", `{"n":1}`, "change", `{"n":2}`, "look", `{}`), says("done"))
	d.tools(echo("change", tool.Write, false), echo("look", tool.Read, true))
	var asked []permission.Request
	d.options.Permission = gate(func(_ context.Context, r permission.Request) permission.Ruling {
		asked = append(asked, r)
		if len(asked) == 1 {
			return permission.Ruling{Decision: permission.Allow}
		}
		return permission.Ruling{Decision: permission.Deny, Reason: "the user does not want it"}
	})
	d.wantStatus(d.run(context.Background(), "go"), Completed, "")
	d.wantSaid("user: go", "assistant: change#c1 | change#c2 | look#c3", `tool: c1=change {"n":1}`,
		"tool: c2!The call was denied: the user does not want it", "tool: c3=look {}", "assistant: done")
	if len(asked) != 2 || asked[0].Summary.Subject != `{"n":1}` || asked[0].Run != "run:e-1" || asked[0].CallID != "c1" {
		t.Errorf("asked: %+v", asked)
	}
	a, b := find[PermissionAsked](d), find[PermissionDecided](d)
	if len(a) != 2 || len(b) != 2 || b[0].Decision != permission.Allow || b[1].Decision != permission.Deny || a[0].Effect != tool.Write || len(a[0].Scopes) != 1 {
		t.Errorf("told: %+v %+v", a, b)
	}
	if f := find[ToolFinished](d); f[1].Status != ToolDenied {
		t.Errorf("%+v", f[1])
	}
}

// Overlapping calls ask one after the other, and an answer that holds for both is asked for once.
func TestPermission_oneQuestionAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, calls("ext", `{}`, "ext", `{}`, "ext", `{}`), says("done")).tools(echo("ext", tool.External, true))
		count, open := 0, false
		d.options.Permission = &once{ask: func() {
			if open {
				t.Error("two questions at a time")
			}
			open = true
			count++
			synctest.Wait()
			open = false
		}}
		d.wantStatus(d.run(context.Background(), "go"), Completed, "")
		if count != 1 {
			t.Errorf("asked %d times", count)
		}
	})
}

// once asks until there was an answer.
type once struct {
	allowAll
	ask func()
}

func (o *once) Judge(r permission.Request) permission.Ruling {
	if o.ask == nil || r.CallID == "" {
		return permission.Ruling{Decision: permission.Allow}
	}
	return permission.Ruling{Decision: permission.Ask}
}

func (o *once) Ask(context.Context, permission.Request) permission.Ruling {
	o.ask()
	o.ask = nil
	return permission.Ruling{Decision: permission.Allow}
}

// changing is a source whose tools come and go.
type changing struct{ snapshots []tool.Snapshot }

func (c *changing) Snapshot(context.Context) (tool.Snapshot, error) {
	if len(c.snapshots) == 0 {
		return nil, errors.New("no tools")
	}
	next := c.snapshots[0]
	if len(c.snapshots) > 1 {
		c.snapshots = c.snapshots[1:]
	}
	return next, nil
}

func of(t *testing.T, tools ...tool.Tool) tool.Snapshot {
	s, err := tool.Of(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func names(r model.Request) string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// Each request has its own snapshot, and the calls of its answer are looked up there; what tools add to the
// system prompt is that of the first.
//
// EXT04-TOOL-016, EXT04-TOOL-018, EXT04-TOOL-019.
func TestTools_snapshotPerRequest(t *testing.T) {
	first := gadgetOf("first", tool.None, true, func(context.Context, tool.Call) (tool.Result, error) { return tool.Said("x"), nil }).(gadget)
	first.definition.Snippet, first.definition.Guidelines = "be first", []string{"Always.", " ", "Always."}
	second := echo("second", tool.None, true).(gadget)
	second.definition.Snippet = "be second"
	d := sit(t, calls("first", `{}`, "second", `{}`), calls("first", `{}`), says("done"))
	d.options.Tools = &changing{[]tool.Snapshot{of(t, first), of(t, second)}}
	d.run(context.Background(), "go")
	if a, b := names(d.provider.requests[0]), names(d.provider.requests[1]); a != "first" || b != "second" {
		t.Errorf("offered: %s, then %s", a, b)
	}
	if want := "Tools:\n- first: be first\n\nGuidelines:\n- Always."; d.provider.requests[0].System != want || d.provider.requests[1].System != want {
		t.Errorf("system: %q, then %q", d.provider.requests[0].System, d.provider.requests[1].System)
	}
	if got := line(d.provider.requests[1].Messages[2]); !strings.HasPrefix(got, `tool: c1=x | c2!There is no tool "second"`) {
		t.Errorf("first: %s", got)
	}
	d = sit(t, says("one"), says("two"))
	d.options.Tools = &changing{[]tool.Snapshot{of(t, first), of(t)}}
	d.run(context.Background(), "go")
	d.run(context.Background(), "on")
	if got := d.provider.requests[1].System; got != "" {
		t.Errorf("a run without tools: %q", got)
	}
	d = sit(t)
	d.options.Tools = &changing{}
	d.wantStatus(d.run(context.Background(), "go"), Failed, CodeTools)
}

// A tool that the policy denies in any case is not offered, and not run either.
//
// EXT04-TOOL-017.
func TestTools_hiddenByPolicy(t *testing.T) {
	shell := echo("shell", tool.Command, false).(gadget)
	shell.definition.Snippet, shell.definition.Guidelines = "run", []string{"Run it."}
	d := sit(t, calls("shell", `{}`), says("done")).tools(shell, echo("look", tool.Read, true))
	d.options.Permission = never{}
	d.run(context.Background(), "go")
	if got := d.provider.requests[0].System; got != "" {
		t.Errorf("system: %q", got)
	}
	if got := names(d.provider.requests[0]); got != "look" {
		t.Errorf("offered: %s", got)
	}
	d.wantSaid("user: go", "assistant: shell#c1", "tool: c1!The call was denied: no commands", "assistant: done")
}

type never struct{ allowAll }

func (never) Judge(r permission.Request) permission.Ruling {
	if r.Tool.Effect == tool.Command {
		return permission.Ruling{Decision: permission.Deny, Reason: "no commands"}
	}
	return permission.Ruling{Decision: permission.Allow}
}

func TestProgress_endsWithTheCall(t *testing.T) {
	var late func(tool.Progress)
	n := int64(3)
	d := sit(t, calls("talk", `{}`, "after", `{}`), says("done")).tools(gadgetOf("after", tool.None, false, func(context.Context, tool.Call) (tool.Result, error) {
		late(tool.Progress{Message: "late"})
		return tool.Said("x"), nil
	}), gadgetOf("talk", tool.None, true, func(_ context.Context, c tool.Call) (tool.Result, error) {
		c.Progress(tool.Progress{Message: "working", Current: &n, Unit: "files"})
		c.Progress(tool.Progress{Stream: "stdout", Data: []byte("a\xff")})
		late = c.Progress
		return tool.Said("x"), nil
	}))
	d.run(context.Background(), "go")
	late(tool.Progress{Message: "late"})
	p := find[ToolProgress](d)
	if len(p) != 2 || p[0].Message != "working" || *p[0].Current != 3 || p[1].Data != "a\uFFFD" || p[1].CallID != "c1" {
		t.Errorf("%+v", p)
	}
	if got := d.types(); strings.Index(got, "tool_progress") > strings.Index(got, "tool_finished") {
		t.Errorf("events: %s", got)
	}
}

func TestNested(t *testing.T) {
	var kept tool.Dispatcher
	outer := gadgetOf("outer", tool.External, false, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		kept = c.Nested
		var texts []string
		for _, name := range []string{"inner", "denied", "nobody"} {
			r, err := c.Nested.Call(ctx, name, json.RawMessage(`{"n":1}`))
			if err != nil {
				return tool.Result{}, err
			}
			texts = append(texts, conversation.Part{Content: r.Content}.PlainText())
		}
		if len(c.Nested.Tools().Tools()) != 3 {
			t.Error("a nested call sees other tools")
		}
		return tool.Said(strings.Join(texts, "; ")), nil
	})
	h := &recorder{}
	d := sit(t, calls("outer", `{}`), says("done")).tools(outer, echo("inner", tool.None, true), echo("denied", tool.Command, true))
	d.options.Permission, d.options.Hooks = never{}, h
	d.wantStatus(d.run(context.Background(), "go"), Completed, "")
	if got := d.journal.said(); !strings.Contains(got, `tool: c1=inner {"n":1}; The call was denied: no commands; There is no tool "nobody"`) {
		t.Errorf("%s", got)
	}
	f := find[ToolFinished](d)
	if len(f) != 4 || f[0].Parent != "c1" || f[0].CallID != "c1/1" || f[3].CallID != "c1" || f[1].Status != ToolDenied {
		t.Errorf("told: %+v", f)
	}
	if text := strings.Join(h.log, "\n"); !strings.Contains(text, `before inner {"n":1} c1/1`) || strings.Count(text, "persist") != 2 {
		t.Errorf("hooks:\n%s", text)
	}
	if _, err := kept.Call(context.Background(), "inner", nil); err == nil {
		t.Error("a nested call behind the end of its parent")
	}
}
