package hooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/hooks"
	"github.com/octet-dev/octet/host/session"
)

var turn = agent.ModelTurn{Index: 3, Time: time.UnixMilli(1234)}

// stored is an answer with metadata of two extensions, and the result of a tool.
func stored(t *testing.T) (answer session.Stored, results []session.Stored) {
	t.Helper()
	var m session.Metadata
	for namespace, public := range map[string]bool{"a": false, "b": false, "open": true} {
		if err := m.Add(namespace, session.MetadataValue{Value: json.RawMessage(`1`), Public: public}); err != nil {
			t.Fatal(err)
		}
	}
	said := conversation.Message{Role: conversation.Assistant, Parts: []conversation.Part{
		conversation.TextPart("I look"), {Kind: conversation.ToolCall, CallID: "c1", Name: "grep", Arguments: json.RawMessage(`{}`)},
	}}
	given := conversation.Message{Role: conversation.Tool, Parts: []conversation.Part{
		{Kind: conversation.ToolResult, CallID: "c1", Name: "grep", Content: []conversation.Part{conversation.TextPart("found")}, IsError: true},
	}}
	return session.Stored{ID: "e2", Parent: "e1", Time: time.UnixMilli(7), Value: session.Message{Message: said}, Metadata: m},
		[]session.Stored{{ID: "e3", Parent: "e2", Time: time.UnixMilli(8), Value: session.Message{Message: given}}}
}

// run calls one of the awaited hooks.
func run(t *testing.T, ctx context.Context, c *crew, hook string) error {
	t.Helper()
	answer, results := stored(t)
	switch hook {
	case featurewire.HookModelTurnStart:
		return c.ModelTurnStart(ctx, scope, turn)
	case featurewire.HookModelTurnEnd:
		return c.ModelTurnEnd(ctx, scope, turn, answer, results)
	case featurewire.HookSessionBeforeCompact:
		return c.BeforeCompact(ctx, scope, agent.CompactionPlan{Trigger: "manual", FirstKept: "e9", Entries: 4, TokensBefore: 100, Instructions: "short"})
	default:
		return c.AfterCompact(ctx, scope, session.Stored{ID: "e5", Time: time.UnixMilli(9), Value: session.Compaction{Summary: "so far", FirstKept: "e9", TokensBefore: 100}})
	}
}

var awaited = []string{
	featurewire.HookModelTurnStart, featurewire.HookModelTurnEnd, featurewire.HookSessionBeforeCompact, featurewire.HookSessionCompact,
}

// EXT04-HOOK-067, EXT04-HOOK-073: in order, and the first
// failure is the end.
func TestAwait_orderAndFailure(t *testing.T) {
	for _, hook := range awaited {
		t.Run(hook, func(t *testing.T) {
			c := assemble(t, hook, options{}, says(`{}`), says(`{"session_operation":{"action":"continue"}}`))
			if err := run(t, t.Context(), c, hook); err != nil || c.order() != "ab" {
				t.Errorf("%v, asked %q", err, c.order())
			}
			c = assemble(t, hook, options{}, says(`{}`), fails, says(`{}`))
			err := run(t, t.Context(), c, hook)
			if err == nil || !strings.Contains(err.Error(), `of extension "b"`) || c.order() != "ab" {
				t.Errorf("%v, asked %q", err, c.order())
			}
		})
	}
}

// EXT04-HOOK-068, EXT04-HOOK-076: what such a hook may not answer.
func TestAwait_invalidAnswers(t *testing.T) {
	for _, hook := range awaited {
		for _, bad := range []string{
			`{"session_operation":{"action":"replace_compaction"}}`, `{"cache_warming_decision":"stop"}`, `{"context":{}}`,
			denial(""),
		} {
			c := assemble(t, hook, options{}, says(bad))
			if err := run(t, t.Context(), c, hook); err == nil {
				t.Errorf("%s: %s is taken", hook, bad)
			}
		}
		c := assemble(t, hook, options{}, says(`{"session_operation":{"action":"cancel"}}`))
		if err := run(t, t.Context(), c, hook); err == nil {
			t.Errorf("%s: a cancel is taken", hook)
		}
	}
	for _, hook := range awaited[:2] {
		c := assemble(t, hook, options{}, says(`{"context":[{"label":"l","content":"c"}]}`))
		if err := run(t, t.Context(), c, hook); err == nil {
			t.Errorf("%s: context is taken", hook)
		}
	}
}

// EXT04-HOOK-059, EXT04-HOOK-060, EXT04-HOOK-065.
func TestAwait_payloads(t *testing.T) {
	for hook, want := range map[string]string{
		featurewire.HookModelTurnStart: `{"kind":"model_turn_start","run_id":"run:e1","timestamp_ms":1234,"turn_index":3}`,
		featurewire.HookModelTurnEnd: `{"assistant_entry":{"id":"e2","metadata":{"a":{"value":1},"open":{"public":true,"value":1}},"parent":"e1","timestamp_unix_ms":7,` +
			`"value":{"Assistant":{"content":[{"Text":{"text":"I look"}},{"ToolCall":{"arguments":"{}","id":"c1","name":"grep"}}]},"type":"message"}},` +
			`"kind":"model_turn_end","run_id":"run:e1","timestamp_ms":1234,` +
			`"tool_result_entries":[{"id":"e3","parent":"e2","timestamp_unix_ms":8,"value":{"User":{"content":[{"ToolResult":{"content":[{"Text":{"text":"found"}}],"is_error":true,"name":"grep","tool_call_id":"c1"}}]},"type":"message"}}],"turn_index":3}`,
		featurewire.HookSessionBeforeCompact: `{"entries":4,"first_kept":"e9","instructions":"short","tokens_before":100,"trigger":"manual"}`,
		featurewire.HookSessionCompact:       `{"entry":{"first_kept":"e9","id":"e5","parent":null,"summary":"so far","timestamp_unix_ms":9,"tokens_before":100}}`,
	} {
		t.Run(hook, func(t *testing.T) {
			var payload string
			c := assemble(t, hook, options{}, func(p json.RawMessage) (any, error) {
				payload = string(p)
				return json.RawMessage(`{}`), nil
			})
			if err := run(t, t.Context(), c, hook); err != nil || payload != want {
				t.Errorf("payload\n%s (%v), want\n%s", payload, err, want)
			}
		})
	}
}

// EXT04-HOOK-067: one deadline for all, and one cancellation.
func TestAwait_deadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(json.RawMessage) (any, error) {
			time.Sleep(20 * time.Second)
			return json.RawMessage(`{}`), nil
		}
		c := assemble(t, featurewire.HookModelTurnStart, options{}, slow, slow, slow)
		start := time.Now()
		if err := c.ModelTurnStart(t.Context(), scope, turn); err == nil || time.Since(start) != 30*time.Second || c.order() != "ab" {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start = time.Now()
		if err := c.ModelTurnStart(ctx, scope, turn); !errors.Is(err, context.Canceled) || time.Since(start) != time.Second || c.order() != "a" {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		time.Sleep(time.Minute)
		c.close()
	})
}

// EXT04-HOOK-066: what exceeds a frame fails and is not cut.
func TestAwait_tooLarge(t *testing.T) {
	c := assemble(t, featurewire.HookModelTurnEnd, options{}, says(`{}`))
	answer, _ := stored(t)
	answer.Value = session.Message{Message: conversation.Say(conversation.Assistant, strings.Repeat("x", featurewire.MaxLineBytes))}
	if err := c.ModelTurnEnd(t.Context(), scope, turn, answer, nil); err == nil || !strings.Contains(err.Error(), "exceeds 1048576 bytes") || c.order() != "" {
		t.Errorf("got %v", err)
	}
	if err := c.ModelTurnStart(t.Context(), scope, turn); err != nil {
		t.Errorf("the extension does not live on: %v", err)
	}
}

// EXT04-HOOK-071: a grant is made for each that is asked, and taken back behind it.
func TestAwait_grant(t *testing.T) {
	var open []string
	grant := func(x *extension.Extension, s agent.Scope) (json.RawMessage, func()) {
		open = append(open, x.Name()+" "+s.Owner)
		return json.RawMessage(`{"for":"` + x.Name() + `"}`), func() { open = append(open, "end "+x.Name()) }
	}
	c := assemble(t, featurewire.HookModelTurnStart, options{more: hooks.Options{Grant: grant}}, says(`{}`), fails)
	_ = c.ModelTurnStart(t.Context(), scope, turn)
	if got := strings.Join(open, ", "); got != "a session-1, end a, b session-1, end b" {
		t.Errorf("grants %q", got)
	}
	if string(c.leafs[0]) != `{"for":"a"}` || string(c.leafs[1]) != `{"for":"b"}` {
		t.Errorf("leaves %s", c.leafs)
	}
}

// EXT04-HOOK-016: a leaf of its own for every invocation, fenced by the owner; other hooks have none.
func TestAwait_leaf(t *testing.T) {
	for _, hook := range awaited {
		c := assemble(t, hook, options{}, says(`{}`))
		for range 2 {
			if err := run(t, t.Context(), c, hook); err != nil {
				t.Fatal(err)
			}
		}
		var leaf struct {
			Session json.RawMessage `json:"session"`
		}
		err := json.Unmarshal(c.leafs[0], &leaf)
		if owner := c.rigs[0].Owner(scope.Owner); err != nil || string(leaf.Session) != owner || string(c.leafs[0]) == string(c.leafs[1]) {
			t.Errorf("%s: leaves %s, want the owner %s", hook, c.leafs, owner)
		}
	}
	c := assemble(t, featurewire.HookBeforePrompt, options{}, says(`{}`))
	if c.BeforePrompt(t.Context(), scope, "x"); c.leafs[0] != nil {
		t.Errorf("before_prompt carries the leaf %s", c.leafs[0])
	}
}
