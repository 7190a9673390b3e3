package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// attach holds a new conversation beside others.
func attach(t *testing.T, s *scene, o Opening) *Conversation {
	t.Helper()
	info, err := s.Store().Create(t.Context(), session.New{Workspace: s.Workspace()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Attach(t.Context(), info.ID, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// commanding answers with a call of the shell, once in a run.
func commanding(_ context.Context, r model.Request) (*model.Response, error) {
	last := r.Messages[len(r.Messages)-1]
	if last.Role != conversation.User {
		return said(last.Parts[0].PlainText()), nil
	}
	return &model.Response{
		Message: conversation.Message{Role: conversation.Assistant, Parts: []conversation.Part{{
			Kind: conversation.ToolCall, CallID: "c-" + last.PlainText(), Name: "shell", Arguments: []byte(`{"command":"echo ` + last.PlainText() + `"}`),
		}}},
		Stop: model.StopTools, UsageKnown: true,
	}, nil
}

// TestAttach_keepsFrontendsApart: each conversation of one engine has its own events, is asked on its own behalf,
// and is bounded by its own profile.
func TestAttach_keepsFrontendsApart(t *testing.T) {
	s := open(t, nil)
	s.brain.answer = commanding
	narrow, wide := &witness{}, &witness{}
	first := attach(t, s, Opening{Frontend: narrow, Profile: func() permission.Profile { return permission.Profile{Mode: permission.ReadOnly} }})
	second := attach(t, s, Opening{Frontend: wide, Profile: func() permission.Profile { return permission.Profile{Mode: permission.FullAccess} }})
	for _, c := range []*Conversation{first, second} {
		outcome, err := c.Prompt(t.Context(), agent.Prompt{Text: "one", Run: "run-" + c.ID()})
		if err != nil || outcome.Status != agent.Completed || outcome.Run != "run-"+c.ID() {
			t.Fatalf("%+v, %v", outcome, err)
		}
		settled, found, err := s.Store().Settled(t.Context(), c.ID(), "run-"+c.ID())
		if err != nil || !found || settled.Outcome != session.Completed {
			t.Errorf("%+v, %v, %v", settled, found, err)
		}
	}
	if narrow.asked != 1 || wide.asked != 0 || s.witness.asked != 0 {
		t.Errorf("asked were %d, %d and %d", narrow.asked, wide.asked, s.witness.asked)
	}
	for w, want := range map[*witness]int{narrow: 1, wide: 1, s.witness: 0} {
		if got := strings.Count(w.types(), "run_settled"); got != want {
			t.Errorf("a frontend saw %d runs end, want %d: %s", got, want, w.types())
		}
	}
	for _, e := range narrow.events {
		if f, ok := e.(agent.ToolFinished); ok && f.Status != agent.ToolDenied {
			t.Errorf("the command ended %s", f.Status)
		}
	}
}

// own is a tool of one conversation.
type own struct{}

func (own) Definition() tool.Definition {
	return tool.Definition{Name: "own", Description: "d", Parameters: []byte(`{"type":"object"}`), Effect: tool.None}
}
func (own) Run(context.Context, tool.Call) (tool.Result, error) { return tool.Said("mine"), nil }

func TestAttach_withToolsOfItsOwn(t *testing.T) {
	s := open(t, nil)
	var offered []string
	s.brain.answer = func(_ context.Context, r model.Request) (*model.Response, error) {
		names := ""
		for _, d := range r.Tools {
			names += d.Name + " "
		}
		offered = append(offered, names)
		return said("x"), nil
	}
	for _, c := range []*Conversation{attach(t, s, Opening{Tools: []tool.Tool{own{}}}), attach(t, s, Opening{})} {
		if _, err := c.Prompt(t.Context(), agent.Prompt{Text: "one"}); err != nil {
			t.Fatal(err)
		}
	}
	if len(offered) != 2 || !strings.Contains(offered[0], "own ") || strings.Contains(offered[1], "own ") {
		t.Errorf("offered were %q", offered)
	}
}

func TestConversation_isRewoundAndAddedTo(t *testing.T) {
	s := open(t, nil)
	c := attach(t, s, Opening{})
	for _, text := range []string{"one", "two"} {
		if _, err := c.Prompt(t.Context(), agent.Prompt{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	branch, err := c.Branch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	to := branch[len(branch)-3].ID // the answer to the first
	if err := c.Rewind(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	if err := c.Rewind(t.Context(), "e-999"); !errors.Is(err, session.ErrNoEntry) {
		t.Errorf("to nowhere: %v", err)
	}
	ids, err := c.Add(t.Context(), func(branch []session.Stored) ([]session.Entry, error) {
		if branch[len(branch)-1].ID != to {
			t.Errorf("the branch ends with %s", branch[len(branch)-1].ID)
		}
		return []session.Entry{{Value: session.Message{Message: conversation.Say(conversation.User, "added")}}}, nil
	})
	if err != nil || len(ids) != 1 {
		t.Fatalf("%v, %v", ids, err)
	}
	refused := errors.New("no")
	if _, err := c.Add(t.Context(), func([]session.Stored) ([]session.Entry, error) { return nil, refused }); !errors.Is(err, refused) {
		t.Errorf("a refused addition: %v", err)
	}
	var heard []string
	s.brain.answer = func(_ context.Context, r model.Request) (*model.Response, error) {
		for _, m := range r.Messages {
			heard = append(heard, m.PlainText())
		}
		return said("x"), nil
	}
	if _, err := c.Prompt(t.Context(), agent.Prompt{Text: "three"}); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(heard, ", "), "one, heard one, added, three"; got != want {
		t.Errorf("the model heard %s", got)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Rewind(t.Context(), to); !errors.Is(err, ErrClosed) {
		t.Errorf("of a closed conversation: %v", err)
	}
}

// TestInject_isHandedOver: what an extension says in the user's name goes to whoever wants to begin the run itself.
func TestInject_isHandedOver(t *testing.T) {
	s := open(t, nil)
	var spoken []string
	c := attach(t, s, Opening{Say: func(text string) { spoken = append(spoken, text) }})
	if err := (store{s.Engine}).Inject(t.Context(), c.session.Owner(), "ext", conversation.Say(conversation.User, "hello")); err != nil {
		t.Fatal(err)
	}
	if len(spoken) != 1 || spoken[0] != "hello" || strings.Contains(s.witness.types(), "run_started") {
		t.Errorf("said was %q, shown %s", spoken, s.witness.types())
	}
}

// TestAttach_isToldOfWhatBelongsToNobody: news of the engine reach every frontend once.
func TestAttach_isToldOfWhatBelongsToNobody(t *testing.T) {
	s := open(t, nil)
	apart := &witness{}
	attach(t, s, Opening{Frontend: apart})
	attach(t, s, Opening{})
	s.failed("something", errors.New("broken"))
	for _, w := range []*witness{apart, s.witness} {
		if got := strings.Count(w.types(), "diagnostic"); got != 1 {
			t.Errorf("told %d times: %s", got, w.types())
		}
	}
}
