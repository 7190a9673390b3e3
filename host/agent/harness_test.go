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

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

var _ Journal = (*session.Session)(nil)

// journal is a conversation in memory with the rules of a session.
type journal struct {
	mu      sync.Mutex
	entries []session.Stored
	running string
	settled []session.Settlement
	used    []session.UsageRecord
	doubts  []session.Uncertainty
	seq     int
	fail    func(session.Batch) error // before anything is written
}

func (j *journal) ID() string    { return "s1" }
func (j *journal) Owner() string { return "owner1" }

func (j *journal) Commit(ctx context.Context, b session.Batch) (session.Receipt, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return session.Receipt{}, err
	}
	if j.fail != nil {
		if err := j.fail(b); err != nil {
			return session.Receipt{}, err
		}
	}
	receipt := session.Receipt{}
	if b.Start != "" {
		if j.running != "" {
			return receipt, errors.New("a run is going on")
		}
		j.running = fmt.Sprintf("run:e-%d", j.seq+1)
		receipt.Run = j.running
	}
	for _, e := range b.Entries {
		if _, err := json.Marshal(e.Value); err != nil {
			return session.Receipt{}, err
		}
		j.seq++
		stored := session.Stored{ID: session.EntryID(fmt.Sprintf("e-%d", j.seq)), Value: e.Value, Metadata: e.Metadata}
		if n := len(j.entries); n > 0 {
			stored.Parent = j.entries[n-1].ID
		}
		j.entries = append(j.entries, stored)
		receipt.Entries = append(receipt.Entries, stored.ID)
	}
	j.used = append(j.used, b.Usage...)
	j.doubts = append(j.doubts, b.Uncertainty...)
	if b.Settle != nil {
		if b.Settle.Run != j.running || j.running == "" {
			return receipt, fmt.Errorf("run %q is not going on", b.Settle.Run)
		}
		j.running = ""
		j.settled = append(j.settled, *b.Settle)
	}
	return receipt, nil
}

func (j *journal) Branch(ctx context.Context) ([]session.Stored, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries), ctx.Err()
}

func (j *journal) Usage(context.Context) (session.Totals, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	totals := session.Totals{Uncertain: len(j.doubts) > 0}
	for _, u := range j.used {
		totals.Usage = totals.Usage.Add(u.Usage)
	}
	return totals, nil
}

// said is the messages of the journal as lines.
func (j *journal) said() string {
	var lines []string
	for _, stored := range j.entries {
		m, ok := messageOf(stored.Value)
		if !ok {
			lines = append(lines, stored.Value.Type())
			continue
		}
		lines = append(lines, line(m))
	}
	return strings.Join(lines, "\n")
}

func line(m conversation.Message) string {
	var parts []string
	for _, p := range m.Parts {
		switch p.Kind {
		case conversation.Text:
			parts = append(parts, p.Text)
		case conversation.ToolCall:
			parts = append(parts, p.Name+"#"+p.CallID)
		case conversation.ToolResult:
			mark := "="
			if p.IsError {
				mark = "!"
			}
			parts = append(parts, p.CallID+mark+p.PlainText())
		default:
			parts = append(parts, string(p.Kind))
		}
	}
	return string(m.Role) + ": " + strings.Join(parts, " | ")
}

// step is one answer of the provider.
type step func(ctx context.Context, request model.Request, emit func(model.Delta)) (*model.Response, error)

// player is a provider that plays steps. Every request must be a legal conversation.
type player struct {
	t        interface{ Errorf(string, ...any) }
	mu       sync.Mutex
	steps    []step
	requests []model.Request
}

func (*player) Name() string                                 { return "fake" }
func (*player) Protocol() string                             { return "fake-wire" }
func (*player) Models(context.Context) ([]model.Info, error) { return nil, nil }

func (p *player) Stream(ctx context.Context, request model.Request, emit func(model.Delta)) (*model.Response, error) {
	if problem := illegal(request.Messages); problem != "" {
		p.t.Errorf("the request is no legal conversation: %s", problem)
	}
	p.mu.Lock()
	p.requests = append(p.requests, request)
	if len(p.steps) == 0 {
		p.mu.Unlock()
		return nil, &model.Error{Provider: "fake", Phase: model.BeforeGeneration, Message: "no step is left"}
	}
	next := p.steps[0]
	p.steps = p.steps[1:]
	p.mu.Unlock()
	return next(ctx, request, emit)
}

// illegal says what both families of providers would refuse.
func illegal(messages []conversation.Message) string {
	if len(messages) == 0 || messages[0].Role != conversation.User {
		return "it does not begin with the user"
	}
	if messages[len(messages)-1].Role == conversation.Assistant {
		return "it ends with the assistant"
	}
	seen := map[string]bool{}
	var open []string
	for i, m := range messages {
		if len(m.Parts) == 0 {
			return fmt.Sprintf("message %d is empty", i)
		}
		if m.Role == conversation.Tool {
			var got []string
			for _, p := range m.Parts {
				got = append(got, p.CallID)
			}
			if !slices.Equal(got, open) {
				return fmt.Sprintf("message %d has results of %v, wanted are %v", i, got, open)
			}
			open = nil
			continue
		}
		if open != nil {
			return fmt.Sprintf("message %d stands between calls and their results", i)
		}
		for _, p := range m.Parts {
			switch {
			case p.Kind == conversation.Text && p.Text == "":
				return fmt.Sprintf("message %d has an empty text", i)
			case p.Kind == conversation.ToolCall && (p.CallID == "" || seen[p.CallID]):
				return fmt.Sprintf("call id %q is used twice or empty", p.CallID)
			case p.Kind == conversation.ToolCall && !json.Valid(p.Arguments):
				return fmt.Sprintf("arguments of %q are no JSON", p.CallID)
			case p.Kind == conversation.ToolCall:
				seen[p.CallID] = true
				open = append(open, p.CallID)
			}
		}
	}
	if open != nil {
		return fmt.Sprintf("calls %v have no results", open)
	}
	return ""
}

var used = conversation.Usage{Input: 10, Output: 5}

func says(text string) step {
	return func(_ context.Context, _ model.Request, emit func(model.Delta)) (*model.Response, error) {
		emit(model.Delta{Kind: conversation.Text, Text: text})
		return &model.Response{Message: conversation.Say(conversation.Assistant, text), Stop: model.StopEnd, Usage: used, UsageKnown: true}, nil
	}
}

// calls asks for tools: name, then arguments, each.
func calls(words ...string) step {
	return func(context.Context, model.Request, func(model.Delta)) (*model.Response, error) {
		m := conversation.Message{Role: conversation.Assistant}
		for i := 0; i < len(words); i += 2 {
			m.Parts = append(m.Parts, conversation.Part{
				Kind: conversation.ToolCall, CallID: fmt.Sprintf("c%d", i/2+1), Name: words[i], Arguments: json.RawMessage(words[i+1]),
			})
		}
		return &model.Response{Message: m, Stop: model.StopTools, Usage: used, UsageKnown: true}, nil
	}
}

func fails(e model.Error, shown string) step {
	return func(_ context.Context, _ model.Request, emit func(model.Delta)) (*model.Response, error) {
		if shown != "" {
			emit(model.Delta{Kind: conversation.Text, Text: shown})
		}
		e.Provider = "fake"
		return nil, &e
	}
}

// hangs waits for the end of the context, having said something.
func hangs(reached chan<- struct{}) step {
	return func(ctx context.Context, _ model.Request, emit func(model.Delta)) (*model.Response, error) {
		emit(model.Delta{Kind: conversation.Text, Text: "I was going to"})
		close(reached)
		<-ctx.Done()
		return nil, ctx.Err()
	}
}

// gadget is a tool of a test.
type gadget struct {
	definition tool.Definition
	run        func(ctx context.Context, c tool.Call) (tool.Result, error)
}

func (g gadget) Definition() tool.Definition                               { return g.definition }
func (g gadget) Run(ctx context.Context, c tool.Call) (tool.Result, error) { return g.run(ctx, c) }
func (g gadget) Describe(arguments json.RawMessage) tool.Summary {
	return tool.Summary{Subject: string(arguments)}
}

func echo(name string, effect tool.Effect, parallel bool) tool.Tool {
	return gadgetOf(name, effect, parallel, func(_ context.Context, c tool.Call) (tool.Result, error) {
		return tool.Said(name + " " + string(c.Arguments)), nil
	})
}

func gadgetOf(name string, effect tool.Effect, parallel bool, run func(context.Context, tool.Call) (tool.Result, error)) tool.Tool {
	return gadget{tool.Definition{
		Name: name, Description: "about " + name, Effect: effect, Parallel: parallel,
		Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
	}, run}
}

// desk is an agent under test.
type desk struct {
	t        *testing.T
	journal  *journal
	provider *player
	options  Options
	agent    *Agent
	mu       sync.Mutex
	events   []Event
	watch    func(Event)
}

func sit(t *testing.T, steps ...step) *desk {
	t.Helper()
	d := &desk{t: t, journal: &journal{}, provider: &player{t: t, steps: steps}}
	d.options = Options{
		Provider: d.provider, Model: model.Info{Provider: "fake", Model: "m1"}, Session: d.journal,
		Permission: allowAll{}, Random: func() float64 { return 1 },
		Emit: func(e Event) {
			d.mu.Lock()
			d.events = append(d.events, e)
			d.mu.Unlock()
			if d.watch != nil {
				d.watch(e)
			}
		},
	}
	d.tools()
	return d
}

func (d *desk) tools(tools ...tool.Tool) *desk {
	snapshot, err := tool.Of(tools...)
	if err != nil {
		d.t.Fatal(err)
	}
	d.options.Tools = tool.Always(snapshot)
	return d
}

// start makes the agent; options are fixed then.
func (d *desk) start() *Agent {
	d.t.Helper()
	if d.agent == nil {
		agent, err := New(d.options)
		if err != nil {
			d.t.Fatal(err)
		}
		d.agent = agent
	}
	return d.agent
}

func (d *desk) run(ctx context.Context, text string) Outcome {
	d.t.Helper()
	outcome, err := d.start().Run(ctx, Prompt{Text: text})
	if err != nil {
		d.t.Fatalf("run: %v", err)
	}
	return outcome
}

// types are the names of the events, without deltas.
func (d *desk) types() string {
	var names []string
	for _, e := range d.events {
		names = append(names, e.Type())
	}
	return strings.Join(names, " ")
}

func find[E Event](d *desk) (found []E) {
	for _, e := range d.events {
		if e, ok := e.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

func (d *desk) wantStatus(o Outcome, status Status, code string) {
	d.t.Helper()
	if o.Status != status || o.Code != code {
		d.t.Errorf("outcome: %+v, want %s %q", o, status, code)
	}
	if settled := find[RunSettled](d); len(settled) == 0 || settled[len(settled)-1].Status != status {
		d.t.Errorf("told at the end: %+v", settled)
	}
	if o.Run != "" && (len(d.journal.settled) == 0 || d.journal.settled[len(d.journal.settled)-1].Run != o.Run) {
		d.t.Errorf("settled in the journal: %+v", d.journal.settled)
	}
}

func (d *desk) wantSaid(lines ...string) {
	d.t.Helper()
	if got, want := d.journal.said(), strings.Join(lines, "\n"); got != want {
		d.t.Errorf("the journal has\n%s\nwant\n%s", got, want)
	}
}

type allowAll struct{}

func (allowAll) Judge(permission.Request) permission.Ruling {
	return permission.Ruling{Decision: permission.Allow}
}

func (allowAll) Ask(context.Context, permission.Request) permission.Ruling {
	return permission.Ruling{Decision: permission.Allow}
}
func (allowAll) Settled(string) {}
