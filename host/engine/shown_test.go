package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
)

// definitions are definitions of tools with these members besides.
func definitions(members ...string) []json.RawMessage {
	var list []json.RawMessage
	for _, each := range members {
		list = append(list, json.RawMessage(`{"description":"A tool.","parameters":{"type":"object"},`+each+`}`))
	}
	return list
}

// What a tool adds to the prompt reaches the model.
//
// EXT04-TOOL-016, EXT04-TOOL-017.
func TestShown_promptMetadata(t *testing.T) {
	g := onStage(t, "0.4", `tools = ["a", "b"]`, script{Tools: definitions(
		`"name":"a","prompt_snippet":"do a","prompt_guidelines":["Prefer a."," "]`, `"name":"b","prompt_snippet":" "`,
	)}, nil)
	g.say(t, "go")
	system := g.requests[0].System
	for _, want := range []string{"- a: do a", "- Prefer a."} {
		if !strings.Contains(system, want) {
			t.Errorf("the prompt has no %q: %s", want, system)
		}
	}
	if strings.Contains(system, "- b:") {
		t.Errorf("a blank snippet is in the prompt: %s", system)
	}
	// A tool that is not active adds nothing.
	if err := g.services.SetActive(t.Context(), g.c.session.Owner(), []string{"b"}); err != nil {
		t.Fatal(err)
	}
	g.say(t, "on")
	if system := g.requests[1].System; strings.Contains(system, "do a") || strings.Contains(system, "Prefer a.") {
		t.Errorf("a tool that is not active is in the prompt: %s", system)
	}
}

// Where a tool composes with mode only, the model is shown nothing else.
//
// EXT04-NEST-007.
func TestShown_composingToolsAlone(t *testing.T) {
	g := onStage(t, "0.4", `tools = ["a", "b"]`, script{
		Tools: definitions(`"name":"a","composition":{"mode":"only","inline_budget":1000}`, `"name":"b"`),
		Asks:  map[string][]ask{"tool/call:a": {{featurewire.MethodCompositionCall, map[string]any{"name": "b", "arguments": map[string]any{}}}}},
	}, nil)
	g.deck(calling("b", `{}`, "read", `{"path":"x"}`, "a", `{}`))
	g.say(t, "go")
	if tools := g.requests[0].Tools; len(tools) != 1 || tools[0].Name != "a" {
		t.Errorf("the model is shown %+v", tools)
	}
	results := g.requests[1].Messages[2].Parts
	for n, want := range []string{`There is no tool "b"`, `There is no tool "read"`, "done"} {
		if got := results[n].PlainText(); !strings.HasPrefix(got, want) {
			t.Errorf("call %d is answered with %q, want %q", n, got, want)
		}
	}
	if got := g.of("answered"); len(got) != 1 || got[0] != `{"value":"done"}` {
		t.Errorf("the nested call is answered with %q", got)
	}
}

// contextOf reads the context of the params of a request.
func contextOf(t *testing.T, params string) (host struct {
	SessionID string `json:"session_id"`
	Name      string `json:"session_name"`
}, owner *featurewire.ResourceOwner,
) {
	t.Helper()
	var p struct {
		Context struct {
			Host  json.RawMessage            `json:"host"`
			Owner *featurewire.ResourceOwner `json:"resource_owner"`
		} `json:"context"`
	}
	if err := json.Unmarshal([]byte(params), &p); err != nil {
		t.Fatalf("%v: %s", err, params)
	}
	if err := json.Unmarshal(p.Context.Host, &host); err != nil {
		t.Fatalf("%v: %s", err, params)
	}
	return host, p.Context.Owner
}

// The owner that extensions are told is opaque and lasts as long as the session; what they are shown of the
// session is its own id.
//
// EXT04-OWNER-006.
func TestShown_ownerIsNotTheSession(t *testing.T) {
	g := onStage(t, "0.4", `
tools = ["a"]
commands = ["c"]
context = true
menu = true
hooks = ["before_prompt", "after_response", "before_tool_call", "after_tool_call", "model_turn_start", "before_persistence"]`, script{
		Tools: definitions(`"name":"a"`), Commands: []json.RawMessage{json.RawMessage(`{"name":"c","description":"C."}`)},
	}, nil)
	g.deck(calling("a", `{}`))
	g.say(t, "go")
	if _, err := g.c.Command(t.Context(), Command{Extension: demo, Name: "c"}, nil, nil); err != nil {
		t.Error(err)
	}
	if _, err := g.c.Menu(t.Context(), demo); err != nil {
		t.Error(err)
	}
	var owner string
	look := func() (seen int) {
		for _, method := range []string{
			featurewire.MethodToolCall, featurewire.MethodHookRun, featurewire.MethodCommandExecute, featurewire.MethodContextCollect,
			featurewire.MethodMenuCollect,
		} {
			list := g.of(method)
			if len(list) == 0 {
				t.Errorf("%s was not asked for", method)
			}
			for _, params := range list {
				host, told := contextOf(t, params)
				if told == nil || host.SessionID != g.c.ID() || told.SessionID == g.c.ID() || len(told.SessionID) != 64 {
					t.Errorf("%s shows %s owned by %+v, want the session %s and another owner", method, host.SessionID, told, g.c.ID())
					continue
				}
				if owner == "" {
					owner = told.SessionID
				}
				if told.SessionID != owner {
					t.Errorf("%s is owned by %s, want %s", method, told.SessionID, owner)
				}
				seen++
			}
		}
		return seen
	}
	before := look()
	// The same session, opened again, has the same owner.
	id := g.c.ID()
	if err := g.c.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if g.c, err = g.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	g.say(t, "again")
	if after := look(); after <= before {
		t.Errorf("%d requests were seen, and %d behind the resumption", before, after)
	}
	if other := begin(t, g.scene); other.session.Owner() == owner {
		t.Error("another session has the same owner")
	}
}
