package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/session"
)

// mind is a brain with a model of its own, which costs eleven tokens a request.
type mind struct{ *brain }

func (m mind) Open(context.Context, string) (model.Provider, model.Info, error) {
	return m, model.Info{Provider: m.name, Model: "one", ContextWindow: 100000, MaxOutputTokens: 1000}, nil
}

func (m mind) Stream(ctx context.Context, r model.Request, _ func(model.Delta)) (*model.Response, error) {
	answer, err := m.answer(ctx, r)
	if err == nil {
		answer.Usage = conversation.Usage{Input: 10, Output: 1}
	}
	return answer, err
}

// reached has the tool of an extension make requests, and returns what they are answered. Whatever else the model
// is told, it answers in capitals.
func reached(t *testing.T, name string, asks ...ask) (answers []string, g *stage) {
	t.Helper()
	g = onStage(t, "0.4", `tools = ["reach"]`, script{
		Name: name, Tools: definitions(`"name":"reach"`), Asks: map[string][]ask{"tool/call:reach": asks},
	}, func(c *Config) { c.Models, c.Require = mind{c.Models.(*brain)}, []string{"reach"} })
	g.brain.answer = func(_ context.Context, r model.Request) (*model.Response, error) {
		for _, m := range r.Messages {
			if m.Role == conversation.Tool { // and whatever was injected behind it
				return said(m.Parts[0].PlainText()), nil
			}
		}
		last := r.Messages[len(r.Messages)-1].PlainText()
		if last == "go" {
			return calling("reach", `{}`)(), nil
		}
		return said(strings.ToUpper(last)), nil
	}
	g.say(t, "go")
	return g.of("answered"), g
}

// childPolicy bounds a child agent that may read.
func childPolicy() map[string]any {
	return map[string]any{
		"tools": []string{"read"}, "max_depth": 1, "max_concurrent_children": 1, "max_turns": 3, "max_tokens": nil,
		"max_cost_microdollars": nil, "max_output_bytes": 512, "timeout_ms": 60000,
	}
}

// A child is a session of its own, does what it is told, and what it used is booked with its parent before
// the parent's run is settled.
func TestReach_childAgents(t *testing.T) {
	answers, g := reached(
		t, subagents,
		ask{featurewire.MethodAgentModels, map[string]any{}},
		ask{featurewire.MethodAgentSpawn, map[string]any{"task_name": "shout", "message": "be loud", "idempotency_key": "k", "policy": childPolicy()}},
		ask{featurewire.MethodAgentWait, map[string]any{}},
	)
	if len(answers) != 3 || !strings.Contains(answers[0], `"model":"one"`) || !strings.Contains(answers[2], `"status":{"output":"BE LOUD","state":"completed"}`) {
		t.Errorf("answered %q", answers)
	}
	children, err := g.Store().List(t.Context(), session.Filter{Parent: g.c.ID()})
	if err != nil || len(children) != 1 || children[0].Name != "shout" {
		t.Fatalf("children %+v, %v", children, err)
	}
	branch, err := g.Store().Branch(t.Context(), children[0].ID)
	if err != nil || len(branch) != 2 {
		t.Errorf("the child has %d entries, %v", len(branch), err)
	}
	totals, err := g.c.session.Usage(t.Context())
	if err != nil || totals.Delegated.Tokens() != 11 || totals.Uncertain {
		t.Errorf("totals %+v, %v", totals, err)
	}
}

// What belongs to a session is there to be reached, and nothing of child agents for just any extension.
func TestReach_sessions(t *testing.T) {
	steps := []struct {
		ask
		want string
	}{
		{ask{featurewire.MethodSessionAppendEntry, map[string]any{"entry_type": "note", "data": map[string]any{"a": 1}}}, `"entry_id":`},
		{ask{featurewire.MethodSessionSetName, map[string]any{"name": "Named"}}, `{}`},
		{ask{featurewire.MethodSessionSetLabel, map[string]any{"entry_id": "nothing", "label": "x"}}, "invalid_request "},
		{ask{featurewire.MethodSessionSendMessage, map[string]any{"role": "system", "text": "by the way"}}, `{}`},
		{ask{featurewire.MethodCompositionContext, map[string]any{}}, `"limits":{"max_calls":256`},
		{ask{featurewire.MethodCompositionStore, map[string]any{"set": map[string]any{"k": 1}, "delete": []string{}}}, `{}`},
		{ask{featurewire.MethodResourceRegister, map[string]any{"type": "page"}}, `"$resource":`},
		{ask{featurewire.MethodBulkWrite, map[string]any{"profile": "local-file.v1", "capacity": 5, "media_type": "text/plain"}}, `"locator":`},
		{ask{featurewire.MethodAgentList, map[string]any{}}, "unsupported_feature "},
	}
	asks := make([]ask, len(steps))
	for n, step := range steps {
		asks[n] = step.ask
	}
	answers, g := reached(t, demo, asks...)
	if len(answers) != len(steps) {
		t.Fatalf("answered %q", answers)
	}
	for n, step := range steps {
		if !strings.Contains(answers[n], step.want) {
			t.Errorf("step %d is answered with %s, want %s", n, answers[n], step.want)
		}
	}
	info, err := g.c.Info(t.Context())
	if err != nil || info.Name != "Named" {
		t.Errorf("%+v, %v", info, err)
	}
	branch, err := g.c.Branch(t.Context())
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
	values, err := g.c.session.Composed(t.Context(), "reach")
	if err != nil || string(values["k"]) != "1" {
		t.Errorf("composed %s, %v", values, err)
	}
}
