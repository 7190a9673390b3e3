package engine

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/service/dialog"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/supervise"
)

// EXT04-NEG-029.
func TestOwed_offer(t *testing.T) {
	for _, api := range []string{"0.2", "0.4"} {
		g := onStage(t, api, "", script{}, nil)
		var p struct{ Protocol featurewire.ProtocolOffer }
		if err := json.Unmarshal([]byte(g.of(featurewire.MethodInitialize)[0]), &p); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			featurewire.FeatureRequestProgress, featurewire.FeatureArtifacts, featurewire.FeatureLifecycleEvents,
			featurewire.FeaturePolicyIntents, featurewire.FeatureDynamicTools, featurewire.FeatureRuntimeCommands,
		} {
			if !slices.Contains(p.Protocol.OptionalFeatures, want) {
				t.Errorf("API %s is not offered %s", api, want)
			}
		}
	}
}

// entriesOf counts the entries that extensions left in a conversation.
func entriesOf(t *testing.T, c *Conversation) (ids []session.EntryID) {
	t.Helper()
	branch, err := c.Branch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, stored := range branch {
		if _, ok := stored.Value.(session.Extension); ok {
			ids = append(ids, stored.ID)
		}
	}
	return ids
}

func note(text string) ask {
	return ask{featurewire.MethodSessionAppendEntry, map[string]any{"entry_type": "note", "data": text}}
}

// While a hook of a turn is awaited, an entry can be left, and the receipt is that of what is on disk.
//
// EXT04-HOOK-070.
func TestOwed_entryWhileAHookIsAwaited(t *testing.T) {
	g := onStage(t, "0.4", `hooks = ["model_turn_start", "model_turn_end"]`, script{
		Asks: map[string][]ask{"hook/run:model_turn_start": {note("a")}, "hook/run:model_turn_end": {note("b")}},
	}, nil)
	g.say(t, "go")
	kept, told := entriesOf(t, g.c), g.of("answered")
	if len(kept) != 2 || len(told) != 2 {
		t.Fatalf("%d entries are kept, and the answers are %q; diagnosed %q", len(kept), told, g.said(demo))
	}
	for n := range kept {
		if want := `{"entry_id":"` + string(kept[n]) + `"}`; told[n] != want {
			t.Errorf("the receipt is %s, want %s", told[n], want)
		}
	}
}

// reluctant is a frontend whose person never answers.
type reluctant struct {
	*witness
	asked chan struct{}
}

func (r reluctant) Confirm(ctx context.Context, _ dialog.Question) (bool, error) {
	r.asked <- struct{}{}
	<-ctx.Done()
	return false, ctx.Err()
}

// What a call has left before it was cancelled stays, once, and so does all else that was said: the host keeps
// it, whatever becomes of the extension.
//
// EXT04-CANCEL-019, MAN-STORE-008.
func TestOwed_whatIsLeftStays(t *testing.T) {
	asked := make(chan struct{}, 1)
	g := onStage(t, "0.4", "tools = [\"a\"]\nconfirmations = true", script{
		Tools: definitions(`"name":"a"`),
		Asks:  map[string][]ask{"tool/call:a": {note("kept"), {featurewire.MethodConfirmationRequest, map[string]any{"prompt": "well?", "destructive": false, "default": false}}}},
	}, func(c *Config) { c.Frontend = reluctant{c.Frontend.(*witness), asked} })
	g.deck(calling("a", `{}`))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan agent.Outcome, 1)
	go func() {
		outcome, _ := g.c.Prompt(ctx, agent.Prompt{Text: "go"})
		ended <- outcome
	}()
	select {
	case <-asked:
	case outcome := <-ended:
		t.Fatalf("%+v; answered %q", outcome, g.of("answered"))
	}
	cancel()
	if outcome := <-ended; outcome.Status != agent.Cancelled {
		t.Errorf("%+v", outcome)
	}
	id := g.c.ID()
	g.Close(supervise.ProductCap)
	branch, err := g.Store().Branch(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, stored := range branch {
		kind := stored.Value.Type()
		if m, ok := stored.Value.(session.Message); ok {
			kind = string(m.Message.Role)
		}
		kinds = append(kinds, kind)
	}
	if got := strings.Join(kinds, " "); got != "user assistant extension tool" {
		t.Errorf("the session has %s", got)
	}
}

// EXT04-OWNER-010.
func TestOwed_drawingBelongsToTheProcess(t *testing.T) {
	g := onStage(t, "0.4", "tools = [\"a\"]\ntool_renderers = [\"a\"]", script{Tools: definitions(`"name":"a"`)}, nil)
	g.deck(calling("a", `{}`))
	g.say(t, "go")
	drawn := g.of(featurewire.MethodToolRender)
	if len(drawn) != 1 {
		t.Fatalf("%d drawings were asked for", len(drawn))
	}
	if host, owner := contextOf(t, drawn[0]); owner != nil || host.SessionID != g.c.ID() {
		t.Errorf("it is shown %+v and owned by %+v, want no owner", host, owner)
	}
}

// A menu is asked for when somebody wants to see it, and at no other time.
//
// EXT04-MENU-004.
func TestOwed_menu(t *testing.T) {
	g := onStage(t, "0.4", "commands = [\"c\"]\nmenu = true", script{
		Commands: []json.RawMessage{json.RawMessage(`{"name":"c","description":"C."}`)},
		Answers: map[string]json.RawMessage{featurewire.MethodMenuCollect: json.RawMessage(
			`{"items":[{"id":"i","label":"I","command":"c"}]}`)},
	}, nil)
	g.say(t, "go")
	if n := len(g.of(featurewire.MethodMenuCollect)); n != 0 {
		t.Errorf("it was asked for %d times before anybody wants it", n)
	}
	for n := range 2 {
		opened, err := g.c.Menu(t.Context(), demo)
		if err != nil || len(opened.Items) != 1 {
			t.Fatalf("%+v, %v; diagnosed %q", opened, err, g.said(demo))
		}
		if _, err := g.c.Choose(t.Context(), demo, opened.Items[0], nil); err != nil {
			t.Error(err)
		}
		if got := len(g.of(featurewire.MethodMenuCollect)); got != n+1 {
			t.Errorf("it was asked for %d times, want %d", got, n+1)
		}
	}
}

// The turns of a child are not observed; its parent's are.
//
// EXT04-EVENT-010.
func TestOwed_childrenAreNotObserved(t *testing.T) {
	g := onStage(t, "0.4", `tools = ["a"]`, script{
		Name: subagents, Tools: definitions(`"name":"a"`),
		Asks: map[string][]ask{"tool/call:a": {
			{featurewire.MethodAgentSpawn, map[string]any{"task_name": "t", "message": "be", "idempotency_key": "k", "policy": childPolicy()}},
			{featurewire.MethodAgentWait, map[string]any{}},
		}},
	}, nil)
	g.deck(calling("a", `{}`))
	g.say(t, "go")
	if got := g.of("answered"); len(got) != 2 || !strings.Contains(got[1], `"state":"completed"`) || len(g.requests) != 3 {
		t.Fatalf("%d requests; answered %q", len(g.requests), got)
	}
	g.Close(supervise.ProductCap)
	if n := len(g.of(featurewire.MethodTurnStarted)); n != 1 {
		t.Errorf("%d turns are told of, want one", n)
	}
	if n := len(g.of(featurewire.MethodSessionStarted)); n != 1 {
		t.Errorf("%d sessions are told of, want one", n)
	}
}

// The session hooks of API 0.3 have an opaque owner, and the end is told once, before the process goes.
//
// EXT03-HOOK-008, EXT03-HOOK-013.
func TestOwed_sessionPair(t *testing.T) {
	g := onStage(t, "0.3", `hooks = ["session_start", "session_end"]`, script{}, nil)
	owner, id := g.c.session.Owner(), g.c.ID()
	g.say(t, "go")
	if err := g.c.Close(); err != nil {
		t.Fatal(err)
	}
	_ = g.c.Close()
	g.Close(supervise.ProductCap)
	var story []string
	for _, line := range g.seen() {
		words := strings.SplitN(line, " ", 3)
		if words[1] == canonicalwire.MethodBusLifecycle || words[1] == canonicalwire.MethodCancelRequest { // on a machine too slow for a hook
			continue
		}
		if words[1] != canonicalwire.MethodHookRun {
			story = append(story, words[1])
			continue
		}
		var p struct {
			Hook    string
			Payload struct{ Binding canonicalwire.SessionBinding }
		}
		if err := json.Unmarshal([]byte(words[2]), &p); err != nil {
			t.Fatal(err)
		}
		story = append(story, p.Hook)
		b := p.Payload.Binding
		if b.SessionID != owner || b.SessionID == id || len(b.SessionID) != 64 || b.ExtensionInstanceID == "" ||
			len(b.ExtensionInstanceID) > canonicalwire.MaxSessionHookIDBytes {
			t.Errorf("the binding is %+v, want the owner %s", b, owner)
		}
	}
	if got := strings.Join(story, " "); got != "initialize session_start session_end shutdown" {
		t.Errorf("it saw %s", got)
	}
}

// EXT04-ENVIRON-007.
func TestOwed_variablesAreNotStored(t *testing.T) {
	const value = "a-value-that-nobody-keeps"
	g := onStage(t, "0.4", "tools = [\"a\"]\n[capabilities]\nfilesystem = \"none\"\nprocess = false\nnetwork = false\nenvironment = [\"SSH_AUTH_SOCK\"]", script{Tools: definitions(`"name":"a"`)}, func(c *Config) {
		lookup := c.Machine.Lookup
		c.Machine.Lookup = func(name string) (string, bool) {
			if name == "SSH_AUTH_SOCK" {
				return value, true
			}
			return lookup(name)
		}
	})
	g.deck(calling("a", `{}`))
	g.say(t, "go")
	g.Close(supervise.ProductCap)
	if text, err := os.ReadFile(g.notes); err != nil || !strings.Contains(string(text), "SSH_AUTH_SOCK="+value) {
		t.Errorf("the extension was not given it: %v", err)
	}
	looked := 0
	err := filepath.WalkDir(filepath.Dir(g.home), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		looked++
		if strings.Contains(string(text), value) {
			t.Errorf("%s keeps it", path)
		}
		return err
	})
	if err != nil || looked == 0 {
		t.Errorf("%d files: %v", looked, err)
	}
}
