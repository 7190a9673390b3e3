package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// compacting is hooks around a compaction.
type compacting struct {
	NoHooks
	before, after error
	frames        func(text string) (Frames, bool, error)
	plans         []CompactionPlan
	stored        []session.Stored
	sources       []string
}

func (c *compacting) BeforeCompact(_ context.Context, _ Scope, p CompactionPlan) error {
	c.plans = append(c.plans, p)
	return c.before
}

func (c *compacting) AfterCompact(_ context.Context, _ Scope, s session.Stored) error {
	c.stored = append(c.stored, s)
	return c.after
}

func (c *compacting) CompactionStrategy(_ context.Context, _ Scope, text string) (Frames, bool, error) {
	c.sources = append(c.sources, text)
	if c.frames == nil {
		return Frames{}, false, nil
	}
	return c.frames(text)
}

// talked is a desk with a conversation of three runs.
func talked(t *testing.T, steps ...step) *desk {
	t.Helper()
	d := sit(t, append([]step{says("one"), calls("echo", `{}`), says("two"), says("three")}, steps...)...)
	d.tools(echo("echo", tool.None, false))
	for _, text := range []string{"a", "b", "c"} {
		d.run(context.Background(), text)
	}
	d.events = nil
	return d
}

func TestCompact_onDemand(t *testing.T) {
	d := talked(t, says("They said a and b."), says("four"))
	h := &compacting{}
	d.agent.options.Hooks = h
	c, err := d.agent.Compact(context.Background(), " keep names ")
	if err != nil || c.Summary != "They said a and b." || c.FirstKept != "e-7" || c.Entry != "e-9" {
		t.Fatalf("%+v %v", c, err)
	}
	if got := d.types(); got != "compaction_started usage compaction_settled" {
		t.Errorf("events: %s", got)
	}
	if p := h.plans[0]; p.Trigger != "manual" || p.Entries != 6 || p.Instructions != "keep names" || p.TokensBefore <= 0 {
		t.Errorf("plan: %+v", p)
	}
	if len(h.stored) != 1 || h.stored[0].ID != "e-9" || h.stored[0].Parent != "e-8" || len(h.sources) != 0 {
		t.Errorf("stored: %+v", h.stored)
	}
	r := d.provider.requests[4]
	asked := r.Messages[0].PlainText()
	for _, part := range []string{"keep names", "[user]\na", "[assistant]\none", "[call of echo]\n{}", "[result of echo]\necho {}", "[assistant]\ntwo"} {
		if !strings.Contains(asked, part) {
			t.Errorf("the model is asked to sum up\n%s\nwithout %q", asked, part)
		}
	}
	if strings.Contains(asked, "three") || len(r.Tools) > 0 {
		t.Errorf("what stays is summed up: %s", asked)
	}
	d.wantStatus(d.run(context.Background(), "d"), Completed, "")
	var got []string
	for _, m := range d.provider.requests[5].Messages {
		got = append(got, line(m))
	}
	want := []string{"user: This is a summary of the conversation so far:\n\nThey said a and b.", "user: c", "assistant: three", "user: d"}
	if !slices.Equal(got, want) {
		t.Errorf("sent behind it: %q, want %q", got, want)
	}
	if u := d.journal.used; u[4].Kind != session.UsageCompaction {
		t.Errorf("usage: %+v", u)
	}
}

func TestCompact_again(t *testing.T) {
	d := talked(t, says("first summary"), says("four"), says("second summary"))
	if _, err := d.agent.Compact(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	d.run(context.Background(), "d")
	if _, err := d.agent.Compact(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	asked := d.provider.requests[6].Messages[0].PlainText()
	if !strings.Contains(asked, "first summary") || !strings.Contains(asked, "three") || strings.Contains(asked, "[user]\na\n") {
		t.Errorf("summed up the second time: %s", asked)
	}
}

func TestCompact_nothing(t *testing.T) {
	d := sit(t, says("one"), says("sum"))
	if _, err := d.start().Compact(context.Background(), ""); !errors.Is(err, ErrNothingToCompact) {
		t.Errorf("an empty conversation: %v", err)
	}
	d.run(context.Background(), "a")
	if _, err := d.agent.Compact(context.Background(), ""); err != nil {
		t.Errorf("one answer: %v", err)
	}
	if _, err := d.agent.Compact(context.Background(), ""); !errors.Is(err, ErrNothingToCompact) {
		t.Errorf("summed up already: %v", err)
	}
	d = sit(t, says("one"), says("sum"))
	if err := d.start().SetModel(context.Background(), d.provider, model.Info{Model: "m2"}, ""); err != nil {
		t.Fatal(err)
	}
	d.run(context.Background(), "a")
	if _, err := d.agent.Compact(context.Background(), ""); err != nil {
		t.Errorf("one answer behind a change of the model: %v", err)
	}
}

// Whatever fails, the conversation is as it was, and that is told.
//
// EXT04-HOOK-074, EXT04-HOOK-089.
func TestCompact_fails(t *testing.T) {
	veto := errors.New("not now")
	png := []byte("\x89PNG\r\n\x1a\n")
	draws := func(f Frames, err error) *compacting {
		return &compacting{frames: func(string) (Frames, bool, error) { return f, true, err }}
	}
	for name, c := range map[string]struct {
		hooks *compacting
		step  step
	}{
		"a veto":       {&compacting{before: veto}, says("sum")},
		"the provider": {&compacting{}, fails(model.Error{Message: "no"}, "")},
		"no text":      {&compacting{}, says(" ")},
		"half a summary": {&compacting{}, func(ctx context.Context, r model.Request, e func(model.Delta)) (*model.Response, error) {
			response, err := says("half")(ctx, r, func(model.Delta) {})
			response.Stop = model.StopLength
			return response, err
		}},
		"the artist":     {draws(Frames{}, veto), says("sum")},
		"no picture":     {draws(Frames{Source: "x"}, nil), says("sum")},
		"no PNG":         {draws(Frames{PNG: [][]byte{[]byte("GIF89a")}}, nil), says("sum")},
		"too many":       {draws(Frames{PNG: slices.Repeat([][]byte{png}, featurewire.MaxCompactionFrames+1)}, nil), says("sum")},
		"too many bytes": {draws(Frames{PNG: [][]byte{append(bytes.Clone(png), make([]byte, featurewire.MaxCompactionImageBytes)...)}}, nil), says("sum")},
	} {
		d := talked(t, c.step)
		d.agent.options.Hooks, d.agent.options.Model.Input = c.hooks, []string{"text", "image"}
		before := d.journal.said()
		_, err := d.agent.Compact(context.Background(), "")
		if err == nil || d.journal.said() != before || len(c.hooks.stored) > 0 {
			t.Errorf("%s: %v\n%s", name, err, d.journal.said())
		}
		if f := find[CompactionFailed](d); len(f) != 1 || f[0].Stored != "" || f[0].Reason == "" || len(find[CompactionSettled](d)) > 0 {
			t.Errorf("%s: %s", name, d.types())
		}
		if len(find[TextDelta](d)) > 0 {
			t.Errorf("%s: the summary is told as an answer", name)
		}
	}
}

// EXT04-HOOK-086, EXT04-HOOK-087, EXT04-HOOK-090.
func TestCompact_frames(t *testing.T) {
	png := append([]byte("\x89PNG\r\n\x1a\n"), 1)
	h := &compacting{frames: func(string) (Frames, bool, error) { return Frames{Source: "snap", PNG: [][]byte{png}}, true, nil }}
	d := talked(t, says("four"))
	d.agent.options.Hooks, d.agent.options.Model.Input = h, []string{"text", "image"}
	c, err := d.agent.Compact(context.Background(), "")
	if err != nil || c.Source != "snap" || len(d.provider.requests) != 4 {
		t.Fatalf("%+v %v", c, err)
	}
	if kept := d.journal.entries[len(d.journal.entries)-1].Value.(session.Compaction); len(kept.Frames) != 1 || kept.FirstKept != c.FirstKept {
		t.Errorf("kept: %+v", kept)
	}
	d.run(context.Background(), "d")
	if m := d.provider.requests[4].Messages[0]; len(m.Parts) != 2 || !bytes.Equal(m.Parts[1].Data, png) {
		t.Errorf("%+v", m)
	}
	// More text than may be drawn is summed up.
	for size, want := range map[int]bool{featurewire.MaxCompactionSourceBytes: true, featurewire.MaxCompactionSourceBytes + 1: false} {
		drawn, err := d.agent.begin(context.Background()).draw(&session.Compaction{}, strings.Repeat("x", size))
		if err != nil || drawn != want {
			t.Errorf("%d bytes are drawn: %v %v", size, drawn, err)
		}
	}
	// A model that does not see is sent what the pictures stand for, and that is what a summary is made of.
	d.agent.options.Model.Input = []string{"text"}
	d.provider.steps = []step{says("five"), says("sum")}
	d.run(context.Background(), "e")
	if r := d.provider.requests[5]; len(r.Messages) != 11 || r.Messages[0].PlainText() != "a" {
		t.Errorf("sent to a model that does not see: %d messages, %s first", len(r.Messages), line(r.Messages[0]))
	}
	if _, err := d.agent.Compact(context.Background(), ""); err != nil || !strings.Contains(d.provider.requests[6].Messages[0].PlainText(), "[assistant]\none") {
		t.Errorf("summed up behind pictures: %v %s", err, d.provider.requests[6].Messages[0].PlainText())
	}
	// A model that sees nothing gets a summary.
	d = talked(t, says("sum"))
	d.agent.options.Hooks, d.agent.options.Model.Input = h, []string{"text"}
	if c, err := d.agent.Compact(context.Background(), ""); err != nil || c.Summary != "sum" {
		t.Errorf("%+v %v", c, err)
	}
}

// EXT04-HOOK-075: the summary stays, and the operation counts as failed.
func TestCompact_afterHookFails(t *testing.T) {
	d := talked(t, says("sum"))
	d.agent.options.Hooks = &compacting{after: errors.New("no")}
	c, err := d.agent.Compact(context.Background(), "")
	if err == nil || c.Entry == "" {
		t.Errorf("%+v %v", c, err)
	}
	if f := find[CompactionFailed](d); len(f) != 1 || f[0].Stored != c.Entry || !strings.HasSuffix(d.journal.said(), "\ncompaction") {
		t.Errorf("%s\n%s", d.types(), d.journal.said())
	}
}

func TestCompact_cancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		d := talked(t, func(ctx context.Context, _ model.Request, _ func(model.Delta)) (*model.Response, error) {
			cancel()
			return nil, ctx.Err()
		})
		before := d.journal.said()
		if _, err := d.agent.Compact(ctx, ""); err == nil || d.journal.said() != before {
			t.Errorf("%v\n%s", err, d.journal.said())
		}
	})
}

// EXT04-HOOK-062: a compaction in the middle of a turn does not start another.
func TestCompact_nearTheWindow(t *testing.T) {
	long := func(tokens int64) step {
		return func(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Response, error) {
			response, err := calls("echo", `{}`)(ctx, r, emit)
			response.Usage = conversation.Usage{Input: tokens}
			return response, err
		}
	}
	for name, c := range map[string]struct {
		used int64
		want string
	}{
		"room":    {700, "user: go\nassistant: echo#c1\ntool: c1=echo {}\nassistant: done"},
		"no room": {760, "user: go\nassistant: echo#c1\ntool: c1=echo {}\ncompaction\nassistant: done"},
	} {
		d := sit(t, long(c.used)).tools(echo("echo", tool.None, true))
		d.options.Model.ContextWindow = 1000
		d.options.Compaction = CompactionOptions{Keep: 1}
		h := &recorder{}
		d.options.Hooks = h
		if strings.Contains(c.want, "compaction") {
			d.provider.steps = append(d.provider.steps, says("sum"))
		}
		d.provider.steps = append(d.provider.steps, says("done"))
		d.wantStatus(d.run(context.Background(), "go"), Completed, "")
		if got := d.journal.said(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
		if text := strings.Join(h.log, "\n"); strings.Count(text, "start ") != 2 {
			t.Errorf("%s: hooks\n%s", name, text)
		}
	}
}

func TestCompact_overflow(t *testing.T) {
	tooMuch := model.Error{Status: 400, Message: "prompt is too long: 250000 tokens > 200000 maximum"}
	d := talked(t, fails(tooMuch, ""), says("sum"), says("done"))
	d.wantStatus(d.run(context.Background(), "d"), Completed, "")
	if !strings.HasSuffix(d.journal.said(), "user: d\ncompaction\nassistant: done") || find[CompactionStarted](d)[0].Trigger != "overflow" {
		t.Errorf("%s", d.journal.said())
	}
	// What the provider has found out counts, whatever the server's words are.
	d = talked(t, fails(model.Error{Status: 400, Overflow: true, Message: "shorten it"}, ""), says("sum"), says("done"))
	d.wantStatus(d.run(context.Background(), "d"), Completed, "")
	d = talked(t, fails(tooMuch, ""), says("sum"), fails(tooMuch, ""))
	d.wantStatus(d.run(context.Background(), "d"), Failed, CodeContext)
	d = talked(t, fails(tooMuch, ""), fails(model.Error{Message: "no"}, ""))
	d.wantStatus(d.run(context.Background(), "d"), Failed, CodeContext)
	d = talked(t, fails(tooMuch, ""))
	d.agent.options.Compaction.Off = true
	d.wantStatus(d.run(context.Background(), "d"), Failed, CodeProvider)
	d = talked(t, fails(model.Error{Status: 400, Message: "bad image"}, ""))
	d.wantStatus(d.run(context.Background(), "d"), Failed, CodeProvider)
}

// One result that is as long as the window does not end a conversation: the model is told a part of it, and the
// next compaction leaves it behind.
func TestCompact_hugeResult(t *testing.T) {
	huge := gadgetOf("huge", tool.Read, true, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Said("begin " + strings.Repeat("x", 3_000_000) + " end"), nil
	})
	d := sit(t, calls("huge", `{}`), says("done"), says("sum"), says("again")).tools(huge)
	d.options.Model.ContextWindow = 40_000
	d.options.Compaction.Off = true
	d.run(context.Background(), "go")
	result := d.provider.requests[1].Messages[2].Parts[0]
	text := result.PlainText()
	if len(text) > 40_100 || !strings.HasPrefix(text, "begin ") || !strings.HasSuffix(text, " end") || !strings.Contains(text, "left out") {
		t.Errorf("the model is told %d bytes: %.20s ... %s", len(text), text, text[len(text)-20:])
	}
	if kept := d.journal.entries[2].Value.(session.Message).Message.Parts[0].PlainText(); len(kept) < 3_000_000 {
		t.Errorf("%d bytes are kept", len(kept))
	}
	if _, err := d.agent.Compact(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	d.run(context.Background(), "on")
	if got := len(fmt.Sprint(d.provider.requests[3].Messages)); got > 1000 {
		t.Errorf("%d bytes are sent behind the compaction", got)
	}
}

func TestShortened(t *testing.T) {
	content := []conversation.Part{conversation.TextPart(strings.Repeat("a", 600)), conversation.TextPart(strings.Repeat("b", 400))}
	if got := shortened(content, 1000); len(got[0].Text) != 600 || len(got[1].Text) != 400 {
		t.Errorf("at the bound: %d and %d bytes", len(got[0].Text), len(got[1].Text))
	}
	got := shortened(content, 999)
	if !strings.Contains(got[0].Text, "left out") || !strings.Contains(got[1].Text, "left out") || strings.Contains(content[0].Text, "left out") {
		t.Errorf("one over: %v", got)
	}
}

// After a failed compaction the request is sent as it is, and none is begun by itself any more.
func TestCompact_failedInRun(t *testing.T) {
	d := talked(t, fails(model.Error{Message: "no"}, ""), calls("echo", `{}`), says("done"))
	d.agent.options.Model.ContextWindow = 20
	d.wantStatus(d.run(context.Background(), "d"), Completed, "")
	if len(find[CompactionFailed](d)) != 1 {
		t.Errorf("%s", d.types())
	}
}

// EXT04-HOOK-085.
func TestSource_bounds(t *testing.T) {
	result := func(n int) []session.Stored {
		return []session.Stored{{Value: session.Message{Message: conversation.Message{Role: conversation.Tool, Parts: []conversation.Part{{
			Kind: conversation.ToolResult, Name: "x", Content: []conversation.Part{conversation.TextPart(strings.Repeat("ä", n)), {Kind: conversation.Image, Text: "a cat"}},
		}}}}}}
	}
	if text := source(result(featurewire.MaxCompactionToolCharacters-len("[image: a cat]")), "e-9"); !strings.Contains(text, "[image: a cat]") {
		t.Errorf("at the bound: %s", text)
	}
	text := source(result(featurewire.MaxCompactionToolCharacters), "e-9")
	if n := utf8.RuneCountInString(strings.TrimPrefix(text, "[result of x]\n")); n != featurewire.MaxCompactionToolCharacters || !strings.HasSuffix(text, "...") {
		t.Errorf("%d characters of one result", n)
	}
	if got := middleOut("abcdefghi", 9); got != "abcdefghi" {
		t.Errorf("%q", got)
	}
	if got := middleOut("abcdefghij", 9); !strings.HasPrefix(got, "abc\n[") || !strings.HasSuffix(got, "]\nefghij") {
		t.Errorf("%q", got)
	}
}

// No cut ever stands between a call and its results.
func TestCut_neverSplits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var entries []session.Stored
		add := func(v session.Value) {
			entries = append(entries, session.Stored{ID: session.EntryID(fmt.Sprint("e-", len(entries)+1)), Value: v})
		}
		text := rapid.StringN(0, 200, -1)
		n := 0
		for range rapid.IntRange(0, 20).Draw(t, "messages") {
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				add(session.Message{Message: conversation.Say(conversation.User, text.Draw(t, "user"))})
			case 1:
				add(session.Injected{Message: conversation.Say(conversation.System, text.Draw(t, "injected"))})
			case 2:
				add(session.Extension{Kind: "x"})
			case 3:
				m := conversation.Message{Role: conversation.Assistant}
				var results []session.Value
				for range rapid.IntRange(0, 3).Draw(t, "calls") {
					n++
					id := fmt.Sprint("c", n)
					m.Parts = append(m.Parts, conversation.Part{Kind: conversation.ToolCall, CallID: id, Name: "x", Arguments: []byte("{}")})
					results = append(results, session.Message{Message: conversation.Message{Role: conversation.Tool, Parts: []conversation.Part{{Kind: conversation.ToolResult, CallID: id}}}})
					if rapid.Bool().Draw(t, "between") {
						results = append(results, session.Injected{Message: conversation.Say(conversation.System, "between")})
					}
				}
				m.Parts = append(m.Parts, conversation.TextPart(text.Draw(t, "said")))
				add(session.Message{Message: m})
				for _, v := range results {
					add(v)
				}
			}
		}
		r := &run{Options: &Options{Compaction: CompactionOptions{Keep: int64(rapid.IntRange(1, 400).Draw(t, "keep"))}}}
		r.Model.ContextWindow = int64(rapid.SampledFrom([]int{0, 400, 4000}).Draw(t, "window"))
		cut := r.cut(entries, rapid.SampledFrom([]string{triggerManual, triggerThreshold}).Draw(t, "trigger"))
		if cut == 0 {
			return
		}
		open := map[string]bool{}
		for _, e := range entries[:cut] {
			m, _ := messageOf(e.Value)
			for _, p := range m.Parts {
				switch p.Kind {
				case conversation.ToolCall:
					open[p.CallID] = true
				case conversation.ToolResult:
					delete(open, p.CallID)
				}
			}
		}
		if len(open) > 0 || spoken(entries[:cut]) == 0 || cut >= len(entries) {
			t.Fatalf("cut at %d of %d: %v are open", cut, len(entries), open)
		}
		branch := append(slices.Clone(entries), session.Stored{ID: "e-c", Value: session.Compaction{Summary: "s", FirstKept: entries[cut].ID}})
		if problem := illegal(assemble(branch, view{result: maxResultText})); problem != "" {
			t.Fatal(problem)
		}
	})
}
