package hooks_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/service/promptcontext"
	"github.com/octet-dev/octet/host/tool"
)

const note = `{"context":[{"label":"l","content":"%s"}],"notifications":[{"message":"%s"}]}`

func noting(text string) answer { return says(fmt.Sprintf(note, text, text)) }

// denial is a result that says no, and has further members.
func denial(further string) string {
	return `{"disposition":` + string(featurewire.DispositionDeny{Reason: "not today"}.AppendJSON(nil)) + further + `}`
}

// withContext is a further member of a denial.
const withContext = `,"context":[{"label":"l","content":"d"}]`

// What no frame carries is denied: nobody gets round a hook by showing it less than it would judge.
func TestOpinion_whatCannotBeShownIsDenied(t *testing.T) {
	for _, api := range []string{"0.1", "0.2", "0.4"} {
		for name, arguments := range map[string]string{
			"too large":                 `{"command":"` + strings.Repeat("x", 2<<20) + `"}`,
			"a member that comes twice": `{"command":"ls","command":"rm"}`,
		} {
			t.Run(api+" "+name, func(t *testing.T) {
				c := assemble(t, featurewire.HookBeforeToolCall, options{api: api}, says(`{}`), noting("b"))
				got := c.BeforeToolCall(t.Context(), scope, tool.Call{ID: "c1", Name: "shell", Arguments: json.RawMessage(arguments)})
				if got.Deny == nil || !strings.Contains(*got.Deny, `extension "a" has a say in this and cannot be shown it`) {
					t.Errorf("denial %v", got.Deny)
				}
				if order := c.order(); order != "" {
					t.Errorf("asked %q, want nobody", order)
				}
			})
		}
	}
}

// Order, the first denial, and context of everybody who was asked.
//
// EXT04-HOOK-024, EXT04-HOOK-025, EXT04-HOOK-017, EXT04-HOOK-019,
// EXT04-HOOK-020.
func TestOpinion_orderAndFirstDenial(t *testing.T) {
	for _, api := range []string{"0.1", "0.2", "0.4"} {
		for _, hook := range []string{featurewire.HookBeforePrompt, featurewire.HookBeforeToolCall} {
			t.Run(api+" "+hook, func(t *testing.T) {
				var payload string
				first := func(p json.RawMessage) (any, error) {
					payload = string(p)
					return json.RawMessage(fmt.Sprintf(note, "a", "a")), nil
				}
				c := assemble(t, hook, options{api: api}, first, fails, says(`{}`), says(denial(withContext)), noting("e"))
				var got agent.Opinion
				want := `{"prompt":"hello"}`
				if hook == featurewire.HookBeforePrompt {
					got = c.BeforePrompt(t.Context(), scope, "hello")
				} else {
					want = `{"arguments":{"n":1},"name":"grep"}`
					got = c.BeforeToolCall(t.Context(), scope, tool.Call{ID: "c1", Name: "grep", Arguments: json.RawMessage(`{"n":1}`)})
				}
				if payload != want {
					t.Errorf("payload %s, want %s", payload, want)
				}
				if order := c.order(); order != "abcd" {
					t.Errorf("asked %q, want abcd", order)
				}
				if got.Deny == nil || *got.Deny != "not today" {
					t.Errorf("denial %v", got.Deny)
				}
				if len(got.Context) != 2 || got.Context[0].Source+got.Context[0].Content != "aa" || got.Context[1].Source+got.Context[1].Content != "dd" ||
					got.Context[0].Placement != agent.PromptSuffix {
					t.Errorf("context %+v", got.Context)
				}
				if len(got.Notifications) != 1 || got.Notifications[0] != (agent.Notification{Source: "a", Level: "info", Message: "a"}) {
					t.Errorf("notifications %+v", got.Notifications)
				}
				if !c.diagnosed("b", "no idea") || !c.diagnosed("b", "no opinion") {
					t.Errorf("diagnostics %q", c.told)
				}
			})
		}
	}
}

// What the manifest does not declare is dropped out of a result.
//
// EXT04-NOTE-007.
func TestOpinion_undeclared(t *testing.T) {
	c := assemble(t, featurewire.HookBeforePrompt, options{declare: "menu = false"}, noting("a"))
	if got := c.BeforePrompt(t.Context(), scope, "hello"); got.Context != nil || got.Notifications != nil {
		t.Errorf("got %+v", got)
	}
	c.rigs[0].X.Close()
	if !c.rigs[0].Diagnosed("undeclared context") || !c.rigs[0].Diagnosed("undeclared notification") {
		t.Errorf("diagnostics %q", c.rigs[0].Diagnostics())
	}
}

// EXT04-HOOK-018, EXT04-HOOK-029: malformed is no opinion, and so is the member of another hook.
func TestOpinion_malformed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, bad := range []string{`[]`, `{"disposition":"deny"}`, `{"disposition":{}}`, `{"provider_retry":"stop"}`, `{"context":{}}`} {
			c := assemble(t, featurewire.HookBeforePrompt, options{}, says(bad), noting("b"))
			got := c.BeforePrompt(t.Context(), scope, "hello")
			if got.Deny != nil || len(got.Context) != 1 || c.order() != "ab" || !c.diagnosed("a", "is refused") {
				t.Errorf("%s: %+v, diagnostics %q", bad, got, c.told)
			}
		}
	})
}

// EXT04-HOOK-021, EXT04-HOOK-022, EXT04-HOOK-023, EXT04-HOOK-029, MAN-SUPER-006: to the moment, and the round goes on.
func TestWaits(t *testing.T) {
	for hook, c := range map[string]struct {
		wait time.Duration
		run  func(*crew, *testing.T)
	}{
		featurewire.HookBeforePrompt:  {5 * time.Second, func(c *crew, t *testing.T) { c.BeforePrompt(t.Context(), scope, "x") }},
		featurewire.HookAfterResponse: {2 * time.Second, func(c *crew, t *testing.T) { c.AfterResponse(t.Context(), scope, "x") }},
		featurewire.HookBeforeToolCall: {30 * time.Second, func(c *crew, t *testing.T) {
			c.BeforeToolCall(t.Context(), scope, tool.Call{Name: "x", Arguments: json.RawMessage(`{}`)})
		}},
		featurewire.HookAfterToolCall: {30 * time.Second, func(c *crew, t *testing.T) {
			c.AfterToolCall(t.Context(), scope, tool.Call{Name: "x", Arguments: json.RawMessage(`{}`)}, tool.Said("o"))
		}},
	} {
		t.Run(hook, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				crew := assemble(t, hook, options{}, silent, says(`{}`))
				start := time.Now()
				c.run(crew, t)
				if took := time.Since(start); took != c.wait {
					t.Errorf("took %v, want %v", took, c.wait)
				}
				if len(crew.order()) != 2 || !crew.diagnosed("a", "timed out after "+c.wait.String()) {
					t.Errorf("diagnostics %q", crew.told)
				}
				crew.close()
			})
		})
	}
}

// EXT04-HOOK-028, EXT04-HOOK-030.
func TestObserve(t *testing.T) {
	for _, hook := range []string{featurewire.HookAfterResponse, featurewire.HookAfterToolCall} {
		t.Run(hook, func(t *testing.T) {
			payloads := make(chan string, 1)
			first := func(p json.RawMessage) (any, error) {
				payloads <- string(p)
				return json.RawMessage(denial(withContext)), nil
			}
			pool := &promptcontext.Pool{}
			c := assemble(t, hook, options{more: poolOf(pool)}, first, fails, noting("c"))
			var got []agent.Notification
			want := `{"response":"done"}`
			if hook == featurewire.HookAfterResponse {
				got = c.AfterResponse(t.Context(), scope, "done")
			} else {
				want = `{"arguments":{},"is_error":true,"name":"grep","output":"one\ntwo"}`
				result := tool.Result{Content: []conversation.Part{conversation.TextPart("one"), conversation.TextPart("two")}, IsError: true}
				got = c.AfterToolCall(t.Context(), scope, tool.Call{Name: "grep", Arguments: json.RawMessage(`{}`)}, result)
			}
			if payload := <-payloads; payload != want {
				t.Errorf("payload %s, want %s", payload, want)
			}
			if len(got) != 1 || got[0].Source != "c" || !c.diagnosed("b", "no idea") || len(c.order()) != 3 {
				t.Errorf("notifications %+v, diagnostics %q", got, c.told)
			}
			if waits := pool.Take(); len(waits) != 2 || waits[0].Content != "d" || waits[1].Content != "c" {
				t.Errorf("%+v waits for the next prompt", waits)
			}
		})
	}
}

// EXT04-HOOK-013, EXT01-HOOK-001: nobody is asked who does not declare the hook.
func TestSet_undeclaredHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := assemble(t, featurewire.HookBeforePrompt, options{api: "0.1"}, says(`{}`))
		c.AfterResponse(t.Context(), scope, "x")
		c.ProviderRetry(t.Context(), scope, agent.RetryPlan{Kind: "stream_start", Delay: time.Second})
		c.PostMutation(t.Context(), scope, agent.Mutation{ID: "m", Kind: "resource", State: "committed"})
		if order := c.order(); order != "" {
			t.Errorf("asked %q", order)
		}
		if c.BeforePrompt(t.Context(), scope, "x"); c.order() != "a" {
			t.Error("the declared hook is not run")
		}
	})
}

// Context waits in the pool, and is asked for, within the bounds of a turn.
func TestCollectContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := &promptcontext.Pool{}
		c := assemble(t, featurewire.HookBeforePrompt, options{more: poolOf(pool)}, says(`{}`), says(`{}`), says(`{}`))
		big := strings.Repeat("x", featurewire.MaxContextBytes-2)
		answers := []answer{
			says(`[{"label":"l","content":"` + big[:len(big)-2] + `"}]`),
			fails,
			says(`[{"label":"l","content":"1"},{"label":"l","content":"23"},{"label":"l","content":"4"}]`),
		}
		for n, r := range c.rigs {
			r.Serve(featurewire.MethodContextCollect, func(_ int64, params json.RawMessage) (any, error) {
				if !strings.Contains(string(params), `"prompt":"hi"`) {
					t.Errorf("params %s", params)
				}
				return answers[n](params)
			})
		}
		got, _ := c.CollectContext(t.Context(), scope, "hi")
		if len(got) != 2 || got[0].Source != "a" || got[1].Content != "1" || !c.diagnosed("c", "2 contributions are dropped") || !c.diagnosed("b", "no idea") {
			t.Errorf("%d contributions, diagnostics %q", len(got), c.told)
		}
		pool.Put(c.rigs[1].X, []featurewire.ContextContribution{{Label: "w", Content: "waited"}})
		got, _ = c.CollectContext(t.Context(), scope, "hi")
		if len(got) == 0 || got[0].Content != "waited" {
			t.Errorf("the pool is not asked first: %d contributions", len(got))
		}
	})
}
