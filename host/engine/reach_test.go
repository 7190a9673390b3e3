package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/service/dialog"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/supervise"
)

// playVariable makes the test binary play the extension.
const playVariable = "OCTET_TEST_PLAYS_EXTENSION"

func TestMain(m *testing.M) {
	if os.Getenv(playVariable) != "" {
		play()
		return
	}
	os.Exit(m.Run())
}

// play is an extension whose tool reaches for what a session has: each word of its arguments is a method and
// its params, and the answers are its result.
func play() {
	lines := bufio.NewReader(os.Stdin)
	var mu sync.Mutex
	answers := map[string]chan json.RawMessage{}
	send := func(frame map[string]any) {
		frame["jsonrpc"] = "2.0"
		text, err := json.Marshal(frame)
		if err != nil {
			panic(err)
		}
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(string(text))
	}
	ask := func(id, method string, params map[string]any) string {
		answer := make(chan json.RawMessage, 1)
		mu.Lock()
		answers[id] = answer
		mu.Unlock()
		send(map[string]any{"id": id, "method": method, "params": params})
		return string(<-answer)
	}
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Arguments struct{ Steps []map[string]any }
				Protocol  featurewire.ProtocolOffer
			}
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil {
			panic(err)
		}
		switch m.Method {
		case "":
			var id string
			_ = json.Unmarshal(m.ID, &id)
			mu.Lock()
			answer := answers[id]
			mu.Unlock()
			if m.Error != nil {
				m.Result = m.Error
			}
			answer <- m.Result
		case featurewire.MethodInitialize:
			offer := m.Params.Protocol
			send(map[string]any{"id": m.ID, "result": map[string]any{
				"api_version": "0.4", "commands": []any{},
				"tools": []any{map[string]any{"name": "reach", "description": "Reaches.", "parameters": map[string]any{"type": "object"}}},
				"protocol": map[string]any{
					"version": "0.4", "features": append(offer.RequiredFeatures, offer.OptionalFeatures...),
					"limits": map[string]any{"max_concurrent_requests": 8},
				},
			}})
		case featurewire.MethodToolCall:
			go func() {
				var said []string
				for n, step := range m.Params.Arguments.Steps {
					for method, params := range step {
						members := params.(map[string]any)
						members["parent_request_id"] = m.ID
						said = append(said, ask(fmt.Sprint(string(m.ID), "-", n), method, members))
					}
				}
				send(map[string]any{"id": m.ID, "result": map[string]any{
					"content": []any{map[string]any{"type": "text", "text": strings.Join(said, "\n")}}, "is_error": false,
				}})
			}()
		case featurewire.MethodShutdown:
			send(map[string]any{"id": m.ID, "result": map[string]any{}})
			return
		}
	}
}

// person is a frontend that agrees with everything.
type person struct {
	mu   sync.Mutex
	told []string
}

func (p *person) Show(e agent.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, err := agent.MarshalEvent(e)
	p.told = append(p.told, fmt.Sprintf("%s %v", text, err))
}

func (*person) Ask(context.Context, permission.Question) (permission.Answer, error) {
	return permission.Answer{}, nil
}
func (*person) Confirm(context.Context, dialog.Question) (bool, error)    { return true, nil }
func (*person) Input(context.Context, dialog.Input) (string, bool, error) { return "", true, nil }

// mind is a model that calls the tool once with steps, and answers what a child is asked in capitals.
type mind struct{ steps string }

func (mind) Name() string                                 { return "mind" }
func (mind) Protocol() string                             { return "mind" }
func (mind) Models(context.Context) ([]model.Info, error) { return nil, nil }
func (m mind) Open(context.Context, string) (model.Provider, model.Info, error) {
	return m, model.Info{Provider: "mind", Model: "one", ContextWindow: 100000, MaxOutputTokens: 1000}, nil
}
func (mind) Default() string { return "mind:one" }

func (m mind) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (*model.Response, error) {
	last := r.Messages[len(r.Messages)-1]
	answer := conversation.Say(conversation.Assistant, strings.ToUpper(last.PlainText()))
	stop := model.StopEnd
	for _, m := range r.Messages {
		if m.Role == conversation.Tool { // and whatever was injected behind it
			return &model.Response{
				Message: conversation.Say(conversation.Assistant, m.Parts[0].PlainText()), Stop: stop,
				Usage: conversation.Usage{Input: 10, Output: 1}, UsageKnown: true,
			}, nil
		}
	}
	switch {
	case last.PlainText() == "go":
		stop = model.StopTools
		answer.Parts = []conversation.Part{{Kind: conversation.ToolCall, CallID: "c1", Name: "reach", Arguments: json.RawMessage(m.steps)}}
	}
	return &model.Response{Message: answer, Stop: stop, Usage: conversation.Usage{Input: 10, Output: 1}, UsageKnown: true}, nil
}

// reached opens an engine with the extension under a name, says go, and returns what the tool was answered.
func reached(t *testing.T, name, steps string) (said []string, c *Conversation, store *session.Store) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	manifest := fmt.Sprintf("name = %q\nversion = \"1.0.0\"\napi_version = \"0.4\"\n[entrypoint]\ncommand = %q\n[entrypoint.env]\n%s = \"1\"\n[contributes]\ntools = [\"reach\"]\n", name, self, playVariable)
	if err := os.WriteFile(filepath.Join(dir, "extension.toml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	if store, err = (session.Options{}).Open(t.Context(), filepath.Join(t.TempDir(), "sessions.db")); err != nil {
		t.Fatal(err)
	}
	front := &person{}
	e, err := Open(t.Context(), Config{
		Machine:    selection.Machine{Home: t.TempDir(), Lookup: os.LookupEnv, Discoverer: &discovery.Discoverer{}},
		Invocation: selection.Invocation{Workspace: t.TempDir(), Directories: []string{filepath.Dir(dir)}, Enable: []string{name}},
		Surface:    policy.Session, Store: store, Models: mind{steps}, Frontend: front, Require: []string{"reach"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.Close(supervise.ProductCap)
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	if c, err = e.NewSession(t.Context()); err != nil {
		t.Fatalf("%v; told %q", err, front.told)
	}
	outcome, err := c.Prompt(t.Context(), agent.Prompt{Text: "go"})
	if err != nil || outcome.Status != agent.Completed {
		t.Fatalf("%+v, %v; told %q", outcome, err, front.told)
	}
	return strings.Split(outcome.Text, "\n"), c, store
}

// A child is a session of its own, does what it is told, and what it used is booked with its parent before
// the parent's run is settled.
func TestReach_childAgents(t *testing.T) {
	policy := `{"tools":["read"],"max_depth":1,"max_concurrent_children":1,"max_turns":3,"max_tokens":null,"max_cost_microdollars":null,"max_output_bytes":512,"timeout_ms":60000}`
	said, c, store := reached(t, "octet-subagents", `{"steps":[
		{"agent/models":{}},
		{"agent/spawn":{"task_name":"shout","message":"be loud","idempotency_key":"k","policy":`+policy+`}},
		{"agent/wait":{}}]}`)
	if !strings.Contains(said[0], `"model":"one"`) || !strings.Contains(said[2], `"status":{"output":"BE LOUD","state":"completed"}`) {
		t.Errorf("answered %q", said)
	}
	children, err := store.List(t.Context(), session.Filter{Parent: c.ID()})
	if err != nil || len(children) != 1 || children[0].Name != "shout" {
		t.Fatalf("children %+v, %v", children, err)
	}
	branch, err := store.Branch(t.Context(), children[0].ID)
	if err != nil || len(branch) != 2 {
		t.Errorf("the child has %d entries, %v", len(branch), err)
	}
	totals, err := c.session.Usage(t.Context())
	if err != nil || totals.Delegated.Tokens() != 11 || totals.Uncertain {
		t.Errorf("totals %+v, %v", totals, err)
	}
}

// What belongs to a session is there to be reached, and nothing of child agents for just any extension.
func TestReach_sessions(t *testing.T) {
	said, c, _ := reached(t, "demo", `{"steps":[
		{"session/append_entry":{"entry_type":"note","data":{"a":1}}},
		{"session/set_name":{"name":"Named"}},
		{"session/set_label":{"entry_id":"nothing","label":"x"}},
		{"session/send_message":{"role":"system","text":"by the way"}},
		{"composition/context":{}},
		{"composition/store":{"set":{"k":1},"delete":[]}},
		{"resource/register":{"type":"page"}},
		{"bulk/write":{"profile":"local-file.v1","capacity":5,"media_type":"text/plain"}},
		{"agent/list":{}}]}`)
	for n, want := range []string{
		`"entry_id":`, `{}`, "invalid_request ", `{}`, `"limits":{"max_calls":256`, `{}`, `"$resource":`, `"locator":`, "unsupported_feature ",
	} {
		if !strings.Contains(said[n], want) {
			t.Errorf("step %d is answered with %s, want %s", n, said[n], want)
		}
	}
	info, err := c.Info(t.Context())
	if err != nil || info.Name != "Named" {
		t.Errorf("%+v, %v", info, err)
	}
	branch, err := c.Branch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, stored := range branch {
		kinds[stored.Value.Type()] = true
	}
	if !kinds["extension"] || !kinds["injected"] || !kinds["composition"] {
		t.Errorf("the session has %v", kinds)
	}
	values, err := c.session.Composed(t.Context(), "reach")
	if err != nil || string(values["k"]) != "1" {
		t.Errorf("composed %s, %v", values, err)
	}
}
