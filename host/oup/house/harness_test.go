package house_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/service/dialog"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/supervise"
)

// nobody is a frontend for what belongs to no session.
type nobody struct{}

func (nobody) Show(agent.Event) {}
func (nobody) Ask(context.Context, permission.Question) (permission.Answer, error) {
	return permission.Answer{}, nil
}
func (nobody) Confirm(context.Context, dialog.Question) (bool, error)    { return false, nil }
func (nobody) Input(context.Context, dialog.Input) (string, bool, error) { return "", false, nil }

// brain is a model that answers what a function says.
type brain struct {
	mu     sync.Mutex
	answer func(ctx context.Context, r model.Request, say func(string)) (*model.Response, error)
	asked  []model.Request
	// reached gets a value for every request that comes to a gate.
	reached chan struct{}
}

// does changes what is answered.
func (b *brain) does(answer func(ctx context.Context, r model.Request, say func(string)) (*model.Response, error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer = answer
}

// gate lets no answer through until it is closed.
func (b *brain) gate() chan struct{} {
	gate, answer := make(chan struct{}), b.answer
	b.reached = make(chan struct{}, 16)
	b.does(func(ctx context.Context, r model.Request, say func(string)) (*model.Response, error) {
		b.reached <- struct{}{}
		select {
		case <-gate:
			return answer(ctx, r, say)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	})
	return gate
}

// stall answers nothing; the channel gets a value when the model is asked.
func (b *brain) stall() chan struct{} {
	b.gate()
	return b.reached
}

func (b *brain) Name() string                                 { return "brain" }
func (b *brain) Protocol() string                             { return "brain" }
func (b *brain) Models(context.Context) ([]model.Info, error) { return nil, nil }
func (b *brain) Default() string                              { return "brain:one" }
func (b *brain) Open(_ context.Context, reference string) (model.Provider, model.Info, error) {
	return b, model.Info{Provider: "brain", Model: "one", ContextWindow: 100_000, Reasoning: []string{"low", "high"}}, nil
}

func (b *brain) Stream(ctx context.Context, r model.Request, deltas func(model.Delta)) (*model.Response, error) {
	b.mu.Lock()
	b.asked = append(b.asked, r)
	answer := b.answer
	b.mu.Unlock()
	return answer(ctx, r, func(text string) { deltas(model.Delta{Kind: conversation.Text, Text: text}) })
}

// requests is what the model was asked so far.
func (b *brain) requests() []model.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]model.Request{}, b.asked...)
}

func said(text string) *model.Response {
	return &model.Response{
		Message: conversation.Say(conversation.Assistant, text), Stop: model.StopEnd, UsageKnown: true,
		Usage: conversation.Usage{Input: 10, Output: 2},
	}
}

// calls is an answer that calls a tool.
func calls(id, name, arguments string) *model.Response {
	return &model.Response{
		Message: conversation.Message{Role: conversation.Assistant, Parts: []conversation.Part{{
			Kind: conversation.ToolCall, CallID: id, Name: name, Arguments: json.RawMessage(arguments),
		}}},
		Stop: model.StopTools, UsageKnown: true,
	}
}

// place is a data directory with a workspace.
type place struct {
	t         *testing.T
	directory string
	workspace string
	brain     *brain
	ledger    ledger.Options
}

func newPlace(t *testing.T) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, directory: filepath.Join(root, "data"), workspace: filepath.Join(root, "work")}
	if err := os.Mkdir(p.workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	p.brain = &brain{answer: func(_ context.Context, r model.Request, say func(string)) (*model.Response, error) {
		text := "heard " + r.Messages[len(r.Messages)-1].PlainText()
		say(text[:3])
		say(text[3:])
		return said(text), nil
	}}
	return p
}

// newPlaceAt is a place whose workspace is a path, whatever is there.
func newPlaceAt(t *testing.T, workspace string) *place {
	t.Helper()
	p := newPlace(t)
	p.workspace = workspace
	return p
}

// rig is an open house.
type rig struct {
	*house.House
	*place
	ledger *ledger.Ledger
	store  *session.Store
	close  func()
}

func (p *place) open(change func(*house.Options)) *rig {
	p.t.Helper()
	r, err := p.tryOpen(p.t.Context(), change)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(r.close)
	return r
}

func (p *place) tryOpen(ctx context.Context, change func(*house.Options)) (*rig, error) {
	r := &rig{place: p}
	var err error
	if r.ledger, err = p.ledger.Open(ctx, p.directory); err != nil {
		return nil, err
	}
	if r.store, err = session.Open(ctx, filepath.Join(p.directory, "sessions.db")); err != nil {
		_ = r.ledger.Close()
		return nil, err
	}
	o := house.Options{
		Ledger: r.ledger, Store: r.store, Workspace: p.workspace,
		Failed: p.failed,
		Engine: func(ctx context.Context, at house.Place) (*engine.Engine, error) {
			return engine.Open(ctx, engine.Config{
				Machine:    selection.Machine{Home: p.directory, Lookup: func(string) (string, bool) { return "", false }, Discoverer: &discovery.Discoverer{}},
				Invocation: selection.Invocation{Workspace: at.Workspace}, Surface: policy.Session,
				Store: r.store, Models: p.brain, Frontend: nobody{},
			})
		},
	}
	if change != nil {
		change(&o)
	}
	if r.House, err = house.Open(ctx, o); err != nil {
		_, _ = r.store.Close(), r.ledger.Close()
		return nil, err
	}
	r.close = sync.OnceFunc(func() {
		r.Close(supervise.ProductCap)
		_, _ = r.store.Close(), r.ledger.Close()
	})
	return r, nil
}

// session makes a session.
func (r *rig) session(text string) *live.Session {
	r.t.Helper()
	s, _, err := r.Make(r.t.Context(), parse(r.t, text), house.New{})
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func parse(t *testing.T, text string) key.Key {
	t.Helper()
	k, err := key.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// input is what a client says.
func input(text string) []oupwire.InputItem {
	return []oupwire.InputItem{{Kind: oupwire.InputKindText, Text: wirejson.Some(text)}}
}

// waitIdle waits until the session runs no turn, and the last one has let go of it.
func waitIdle(t *testing.T, s *live.Session) {
	t.Helper()
	for s.Running() != "" {
		if t.Context().Err() != nil {
			t.Fatal("the turn does not end")
		}
		runtime.Gosched()
	}
	_, _ = s.Turn(t.Context(), turn(0)) // it waits for the one whose end is being told
}

// turn makes the id of a turn.
func turn(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// begin starts a turn and lets it run.
func begin(t *testing.T, s *live.Session, id, text string) {
	t.Helper()
	started, err := s.Start(t.Context(), live.Turn{ID: id, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	started.Go()
}

// follower reads a stream from its beginning.
type follower struct {
	t      *testing.T
	reader *ledger.Reader
	seen   []ledger.Stored
}

func (r *rig) follow(stream string) *follower {
	r.t.Helper()
	reader, err := r.ledger.Follow(r.t.Context(), stream, &ledger.Cursor{Stream: stream})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(reader.Close)
	return &follower{t: r.t, reader: reader}
}

// until reads until something is told for which is is true, and returns it.
func (f *follower) until(what string, is func(ledger.Stored) bool) ledger.Stored {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 30*time.Second)
	defer cancel()
	for next := 0; ; {
		for ; next < len(f.seen); next++ {
			if is(f.seen[next]) {
				return f.seen[next]
			}
		}
		more, err := f.reader.Next(ctx)
		if err != nil {
			f.t.Fatalf("%s never comes: %v; told was\n%s", what, err, f.told())
		}
		f.seen = append(f.seen, more...)
	}
}

// ended waits for the end of a turn.
func (f *follower) ended(id string) oupwire.TurnTerminalData {
	f.t.Helper()
	s := f.until("the end of "+id, func(s ledger.Stored) bool { return isEnd(s, id) })
	return terminal(f.t, s)
}

func isEnd(s ledger.Stored, id string) bool {
	return s.Subject == ledger.Subject{Kind: event.Turn, ID: id} && s.Step&ledger.Ends != 0
}

func terminal(t *testing.T, s ledger.Stored) oupwire.TurnTerminalData {
	t.Helper()
	e, _, err := event.EnvelopeOf(s)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := e.Payload.(oupwire.TurnTerminalPayload)
	if !ok {
		t.Fatalf("the end of a turn is a %T", e.Payload)
	}
	return p.Data
}

// told is what was read, a line for each event. Pieces of an answer that follow each other are one line.
func (f *follower) told() string { return told(f.t, f.seen) }

func told(t *testing.T, seen []ledger.Stored) string {
	var lines []string
	piece := ""
	flush := func() {
		if piece != "" {
			lines = append(lines, piece)
			piece = ""
		}
	}
	for _, s := range seen {
		params, err := event.Params(s)
		if err != nil {
			t.Fatal(err)
		}
		if raw, ok := params.(wirejson.Raw); ok {
			if params, err = oupwire.DecodeAny(oupwire.LookupNotification(s.Method).Shapes[0].Params, raw); err != nil {
				t.Fatal(err)
			}
		}
		if err := params.Validate(); err != nil {
			t.Errorf("event %d breaks its model: %v\n%s", s.Seq, err, params.AppendJSON(nil))
		}
		e, ok := params.(oupwire.EnvelopeV2)
		if ok {
			if d, ok := e.Payload.(oupwire.AssistantDeltaPayload); ok {
				if piece == "" {
					piece = "delta "
				}
				piece += d.Data.Text
				continue
			}
		}
		flush()
		lines = append(lines, line(s, params))
	}
	flush()
	return strings.Join(lines, "\n") + "\n"
}

// line is what one event says.
func line(s ledger.Stored, params any) string {
	switch p := params.(type) {
	case oupwire.EnvelopeV2:
		switch d := p.Payload.(type) {
		case oupwire.UserMessagePayload:
			return "user " + d.Data.Text
		case oupwire.AssistantPersistedPayload:
			return "persisted " + d.Data.Text
		case oupwire.ToolStartPayload:
			return "tool_start " + d.Data.Name + " " + d.Data.ArgumentsPreview.Or("")
		case oupwire.ToolEndPayload:
			return "tool_end " + string(d.Data.Status)
		case oupwire.TurnTerminalPayload:
			failure, _ := d.Data.Error.Get()
			return strings.TrimSpace("terminal " + string(d.Data.Outcome) + " " + failure.Code)
		default:
			return fmt.Sprintf("%T", d)
		}
	case oupwire.ApprovalDecidedEvent:
		return s.Method + " " + string(p.Decision)
	case oupwire.ApprovalCancelledEvent:
		return s.Method + " " + string(p.Reason)
	case oupwire.TurnSteerDroppedEvent:
		text := ""
		for _, item := range p.Inputs {
			text += " " + item.Text.Or("")
		}
		return s.Method + " " + string(p.Reason) + text
	}
	return s.Method
}

func (p *place) failed(err error) {
	if p.t != nil {
		p.t.Log("failed: ", err)
	}
}
