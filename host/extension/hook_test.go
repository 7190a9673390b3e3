package extension_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// EXT04-HOOK-015, EXT04-OWNER-008.
func TestRunHook_params(t *testing.T) {
	for _, api := range features {
		t.Run(api, func(t *testing.T) {
			r, params := recorded(t, api, everything, featurewire.MethodHookRun, `{}`)
			h := extension.HookRun{Hook: featurewire.HookBeforePrompt, Payload: featurewire.BeforePromptPayload{Prompt: "p"}, Scope: whole}
			if _, err := r.X.RunHook(t.Context(), h); err != nil {
				t.Fatal(err)
			}
			p := params()
			if p["hook"] != "before_prompt" || fmt.Sprint(p["payload"]) != "map[prompt:p]" || len(p) != 3 {
				t.Errorf("params %v", p)
			}
			wantContext(t, api, r, p)
		})
	}
}

// EXT04-HOOK-013, EXT04-HOOK-014, EXT01-HOOK-001: by declaration, version and feature.
func TestDeclares(t *testing.T) {
	all := `tools = ["work"]` + "\nhooks = ["
	for _, c := range []struct {
		api, hooks string
		want       []string
	}{
		{"0.1", `"before_prompt", "after_tool_call"`, []string{"before_prompt", "after_tool_call"}},
		{"0.2", `"before_prompt", "provider_retry"`, []string{"before_prompt", "provider_retry"}},
		{"0.4", `"model_turn_start", "post_mutation"`, []string{"model_turn_start", "post_mutation"}},
		{"0.4", `"session_start", "session_end"`, nil},
	} {
		r := extensiontest.Start(t, extensiontest.Setup{
			API: c.api, Contributes: all + c.hooks + "]",
			Options: extension.Options{Bindings: []extension.Binding{{Features: []string{featurewire.FeatureSessionEntries}}}},
		})
		var got []string
		for _, h := range featurewire.Hooks {
			if r.X.Declares(h.Name) {
				got = append(got, h.Name)
			}
		}
		for _, name := range []string{"session_start", "session_end", "no_such_hook"} {
			var undeclared *extension.UndeclaredError
			h := extension.HookRun{Hook: name, Payload: featurewire.BeforePromptPayload{}}
			if _, err := r.X.RunHook(t.Context(), h); r.X.Declares(name) || !errors.As(err, &undeclared) ||
				err.Error() != fmt.Sprintf("extension `demo` does not declare the hook %q", name) {
				t.Errorf("API %s: %s is run: %v", c.api, name, err) // MAN-DIAG-008
			}
		}
		if len(got) != len(c.want) || fmt.Sprint(got) != fmt.Sprint(inTableOrder(c.want)) {
			t.Errorf("API %s: %q may be run, want %q", c.api, got, c.want)
		}
	}
}

func inTableOrder(names []string) []string {
	var list []string
	for _, h := range featurewire.Hooks {
		for _, name := range names {
			if h.Name == name {
				list = append(list, name)
			}
		}
	}
	return list
}

// The private grant goes along where there is one.
func TestRunHook_leaf(t *testing.T) {
	r, params := recorded(t, "0.4", everything, featurewire.MethodHookRun, `{}`)
	h := extension.HookRun{Hook: featurewire.HookBeforePrompt, Payload: featurewire.BeforePromptPayload{}, Leaf: json.RawMessage(`{"g":1}`)}
	if _, err := r.X.RunHook(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(params()["session_leaf"]); got != "map[g:1]" {
		t.Errorf("leaf %s", got)
	}
}
