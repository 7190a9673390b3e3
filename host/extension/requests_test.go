package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/runtime/peer"
)

var features = []string{"0.1", "0.2", "0.4"}

// everything declares what makes the host ask.
const everything = `tools = ["work"]
commands = ["do"]
context = true
notifications = true
ui = ["status"]
tool_renderers = ["work"]
hooks = ["before_prompt"]`

// recorded starts an extension that keeps the params of a method and answers as it is told.
func recorded(t *testing.T, api, contributes, method, answer string) (*extensiontest.Rig, func() map[string]any) {
	t.Helper()
	var seen json.RawMessage
	if api != "0.1" && strings.Contains(contributes, "tool_renderers") {
		contributes += "\nmenu = true"
	}
	r := extensiontest.Start(t, extensiontest.Setup{API: api, Contributes: contributes, Serve: map[string]func(int64, json.RawMessage) (any, error){
		method: func(_ int64, params json.RawMessage) (any, error) {
			seen = slices.Clone(params)
			return json.RawMessage(answer), nil
		},
	}})
	return r, func() map[string]any {
		var params map[string]any
		if err := json.Unmarshal(seen, &params); err != nil {
			t.Errorf("params %s: %v", seen, err)
		}
		return params
	}
}

// wantContext checks the context of a scope: an owner where the version has any, the state of the host.
func wantContext(t *testing.T, api string, r *extensiontest.Rig, params map[string]any) {
	t.Helper()
	c, _ := params["context"].(map[string]any)
	host, _ := c["host"].(map[string]any)
	if c["workspace"] != r.X.Workspace() || c["execution_scope"] != "exec-7" || host["session_id"] != "s1" || host["session_name"] != "Mine" ||
		host["model"] != "m/x" || host["reasoning"] != "high" || fmt.Sprint(host["active_skills"]) != "[map[id:k name:K version:<nil>]]" {
		t.Errorf("context %v", c)
	}
	owner, has := c["resource_owner"]
	want := map[string]any{"session_id": "session-1", "extension_instance_id": r.X.Instance(), "process_generation": 0.0}
	if has != (api != "0.1") || has && fmt.Sprint(owner) != fmt.Sprint(want) {
		t.Errorf("owner %v (present: %v), want %v", owner, has, want)
	}
}

var whole = extension.Scope{
	Owner: "session-1", Execution: "exec-7",
	Host: extension.HostState{
		SessionID: "s1", SessionName: "Mine", Model: "m/x", Reasoning: json.RawMessage(`"high"`), Skills: []extension.Skill{{ID: "k", Name: "K"}},
	},
}

// EXT04-CMD-004, EXT04-CMD-005, EXT04-OWNER-004, EXT04-OWNER-005, EXT04-NOTE-007.
func TestExecute(t *testing.T) {
	for _, api := range features {
		t.Run(api, func(t *testing.T) {
			r, params := recorded(t, api, everything, featurewire.MethodCommandExecute,
				`{"text":"done","context":[{"label":"l","content":"c"}],"notifications":[{"message":"hello"}]}`)
			got, err := r.X.Execute(t.Context(), extension.Execution{Command: "do", Arguments: []string{"a", "b c"}, Scope: whole})
			if err != nil || got.Text != "done" || len(got.Context) != 1 || got.Context[0].Content != "c" {
				t.Fatalf("%+v, %v", got, err)
			}
			if p := params(); p["name"] != "do" || fmt.Sprint(p["arguments"]) != "[a b c]" {
				t.Errorf("params %v", p)
			}
			wantContext(t, api, r, params())
			var undeclared *extension.UndeclaredError
			if _, err := r.X.Execute(t.Context(), extension.Execution{Command: "other"}); !errors.As(err, &undeclared) {
				t.Errorf("an unknown command: %v", err)
			}
			r.Serve(featurewire.MethodCommandExecute, func(int64, json.RawMessage) (any, error) { return json.RawMessage(`{"text":""}`), nil })
			if got, err := r.X.Execute(t.Context(), extension.Execution{Command: "do"}); err != nil || got.Context != nil {
				t.Errorf("a bare result: %+v, %v", got, err)
			}
			r, _ = recorded(t, api, "tools = [\"work\"]\ncommands = [\"do\"]", featurewire.MethodCommandExecute,
				`{"text":"done","context":[{"label":"l","content":"c"}],"notifications":[{"message":"hello"}]}`)
			if got, err := r.X.Execute(t.Context(), extension.Execution{Command: "do"}); err != nil || got.Context != nil {
				t.Errorf("undeclared context: %+v, %v", got, err)
			}
			r.X.Close()
			if !r.Diagnosed("undeclared context") || !r.Diagnosed("undeclared notification") {
				t.Errorf("diagnostics %q", r.Diagnostics())
			}
		})
	}
}

// EXT04-CMD-006: 30 min from a menu, 30 s otherwise, to the moment.
func TestExecute_menuTakesHalfAnHour(t *testing.T) {
	for _, c := range []struct {
		menu bool
		wait time.Duration
	}{{true, 30 * time.Minute}, {false, 30 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			r := extensiontest.Start(t, extensiontest.Setup{})
			r.Serve(featurewire.MethodCommandExecute, func(int64, json.RawMessage) (any, error) {
				r.WaitTold(featurewire.MethodCancelRequest, 1)
				return nil, &extensiontest.RefuseError{Code: featurewire.CodeRequestCancelled, Message: "request cancelled"}
			})
			start := time.Now()
			_, err := r.X.Execute(t.Context(), extension.Execution{Command: "do", Menu: c.menu})
			if took := time.Since(start); !extension.IsLate(err) || took != c.wait {
				t.Errorf("menu %v: %v after %v, want a timeout after %v", c.menu, err, took, c.wait)
			}
			r.X.Close()
		})
	}
}

// EXT04-CTX-004, EXT04-CTX-005.
func TestCollectContext(t *testing.T) {
	for _, api := range features {
		t.Run(api, func(t *testing.T) {
			r, params := recorded(t, api, everything, featurewire.MethodContextCollect, `[{"label":"l","content":"c","placement":"system_prefix"}]`)
			prompt := "say it"
			got, err := r.X.CollectContext(t.Context(), whole, &prompt)
			if err != nil || len(got) != 1 || got[0].Label != "l" {
				t.Fatalf("%+v, %v", got, err)
			}
			if params()["prompt"] != "say it" {
				t.Errorf("params %v", params())
			}
			wantContext(t, api, r, params())
			if _, err := r.X.CollectContext(t.Context(), whole, nil); err != nil || params()["prompt"] != nil {
				t.Errorf("without a prompt: %v, %v", params(), err)
			}
			for _, bad := range []string{`{}`, `[{"label":"l"}]`, `null`} {
				r.Serve(featurewire.MethodContextCollect, func(int64, json.RawMessage) (any, error) { return json.RawMessage(bad), nil })
				if _, err := r.X.CollectContext(t.Context(), whole, nil); err == nil {
					t.Errorf("the answer %s is taken", bad)
				}
			}
			r, _ = recorded(t, api, `tools = ["work"]`, featurewire.MethodContextCollect, `[]`)
			var undeclared *extension.UndeclaredError
			if _, err := r.X.CollectContext(t.Context(), whole, nil); !errors.As(err, &undeclared) {
				t.Errorf("undeclared: %v", err)
			}
		})
	}
}

// EXT04-STATUS-003, EXT04-MENU-003, EXT04-RENDER-002: what is declared is asked for, and nothing else.
func TestCollectStatusMenuAndRender(t *testing.T) {
	for _, api := range features {
		t.Run(api, func(t *testing.T) {
			var undeclared *extension.UndeclaredError
			r, params := recorded(t, api, everything, featurewire.MethodStatusCollect, `{"surface":"status","text":"ok"}`)
			status, err := r.X.CollectStatus(t.Context(), whole, featurewire.UiSurfaceStatus)
			if err != nil || status == nil || status.Text != "ok" || params()["surface"] != "status" {
				t.Errorf("status %+v, %v, params %v", status, err, params())
			}
			r.Serve(featurewire.MethodStatusCollect, func(int64, json.RawMessage) (any, error) { return nil, nil })
			if status, err := r.X.CollectStatus(t.Context(), whole, featurewire.UiSurfaceStatus); err != nil || status != nil {
				t.Errorf("no status: %+v, %v", status, err)
			}
			if _, err := r.X.CollectStatus(t.Context(), whole, featurewire.UiSurfaceHeader); !errors.As(err, &undeclared) {
				t.Errorf("undeclared surface: %v", err)
			}

			r, params = recorded(t, api, everything, featurewire.MethodToolRender, `{"segments":[]}`)
			if _, err := r.X.Render(t.Context(), extension.Rendering{Tool: "work", Arguments: json.RawMessage(`{}`), Output: "o", IsError: true, Scope: whole}); err != nil {
				t.Errorf("render: %v", err)
			}
			if p := params(); p["name"] != "work" || p["output"] != "o" || p["is_error"] != true {
				t.Errorf("params %v", p)
			}
			if _, err := r.X.Render(t.Context(), extension.Rendering{Tool: "other"}); !errors.As(err, &undeclared) {
				t.Errorf("undeclared renderer: %v", err)
			}

			r, params = recorded(t, api, everything, featurewire.MethodMenuCollect, `{"items":[]}`)
			menu, err := r.X.CollectMenu(t.Context(), whole)
			if api == "0.1" {
				if !errors.As(err, &undeclared) {
					t.Errorf("a menu on 0.1: %v", err)
				}
				return
			}
			if err != nil || menu == nil || len(params()) != 1 {
				t.Errorf("menu %+v, %v, params %v", menu, err, params())
			}
			wantContext(t, api, r, params())
		})
	}
}

// The short waits end at their deadline, whatever the extension does, and one that settles in time lives on.
//
// EXT04-CTX-005, EXT04-MENU-005, EXT04-RENDER-003.
func TestShortWaits(t *testing.T) {
	ask := map[string]struct {
		wait time.Duration
		call func(*extension.Extension) error
	}{
		featurewire.MethodContextCollect: {5 * time.Second, func(x *extension.Extension) error {
			_, err := x.CollectContext(context.Background(), whole, nil)
			return err
		}},
		featurewire.MethodMenuCollect: {5 * time.Second, func(x *extension.Extension) error {
			_, err := x.CollectMenu(context.Background(), whole)
			return err
		}},
		featurewire.MethodToolRender: {500 * time.Millisecond, func(x *extension.Extension) error {
			_, err := x.Render(context.Background(), extension.Rendering{Tool: "work", Arguments: json.RawMessage(`{}`)})
			return err
		}},
	}
	for method, c := range ask {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := extensiontest.Start(t, extensiontest.Setup{Contributes: everything + "\nmenu = true", Serve: map[string]func(int64, json.RawMessage) (any, error){
					method: func(int64, json.RawMessage) (any, error) {
						time.Sleep(c.wait + time.Second) // within the grace
						return nil, &extensiontest.RefuseError{Code: featurewire.CodeRequestCancelled, Message: "request cancelled"}
					},
				}})
				start := time.Now()
				err := c.call(r.X)
				if took := time.Since(start); !extension.IsLate(err) || took != c.wait {
					t.Errorf("%v after %v, want a timeout after %v", err, took, c.wait)
				}
				if told := r.WaitTold(featurewire.MethodCancelRequest, 1); len(told) != 1 {
					t.Errorf("%d cancellations", len(told))
				}
				time.Sleep(5 * time.Second)
				if _, err := r.X.Call(t.Context(), extension.Request{Tool: "work"}); err != nil {
					t.Errorf("the extension does not live on: %v", err)
				}
				r.X.Close()
			})
		})
	}
}

// Nobody waits for the settling of a detached request, but one that never settles costs the process.
func TestDetached_unsettledEndsTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := extensiontest.Start(t, extensiontest.Setup{Contributes: everything, Serve: map[string]func(int64, json.RawMessage) (any, error){
			featurewire.MethodContextCollect: func(int64, json.RawMessage) (any, error) { return nil, extensiontest.Silence },
		}})
		if _, err := r.X.CollectContext(t.Context(), whole, nil); !extension.IsLate(err) {
			t.Errorf("got %v", err)
		}
		start := time.Now()
		<-r.X.Done()
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("the process was ended after %v, want the grace of 2s", took)
		}
		r.X.Close()
	})
}

// EXT04-EVENT-002, EXT04-EVENT-003: only what is subscribed leaves this host.
func TestNotify_lifecycle(t *testing.T) {
	all := []string{
		featurewire.MethodSessionStarted, featurewire.MethodSessionSettled, featurewire.MethodTurnStarted,
		featurewire.MethodTurnSettled, featurewire.MethodToolStarted, featurewire.MethodToolSettled,
	}
	binding := extension.Binding{Features: []string{featurewire.FeatureLifecycleEvents}}
	for _, c := range []struct {
		name     string
		bindings []extension.Binding
		list     any
		want     []string
	}{
		{"no list", []extension.Binding{binding}, nil, all},
		{"an empty list", []extension.Binding{binding}, []string{}, all},
		{"two of them", []extension.Binding{binding}, []string{"turn/started", "tool/settled"}, []string{"turn/started", "tool/settled"}},
		{"not offered", nil, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := extensiontest.Start(t, extensiontest.Setup{
				Options: extension.Options{Bindings: c.bindings},
				Initialize: func(result map[string]any) {
					if c.list != nil {
						result["protocol"].(map[string]any)["lifecycle_events"] = c.list
					}
				},
			})
			var sent []string
			for _, method := range append(slices.Clone(all), featurewire.MethodModelSelected) {
				err := r.X.Notify(t.Context(), method, peer.Raw(`{"session_id":"s"}`))
				var unopened *extension.UnopenedError
				switch {
				case err == nil:
					sent = append(sent, method)
				case !errors.As(err, &unopened) || unopened.Method != method:
					t.Errorf("%s: %v", method, err)
				}
			}
			if !slices.Equal(sent, c.want) {
				t.Errorf("sent %q, want %q", sent, c.want)
			}
			r.Flush()
			for _, method := range all {
				if told := r.Told(method); len(told) > 0 != slices.Contains(c.want, method) {
					t.Errorf("%s arrived %d times", method, len(told))
				}
			}
			r.X.Close()
			if !r.Diagnosed("has not negotiated `" + featurewire.MethodModelSelected + "`") {
				t.Errorf("diagnostics %q", r.Diagnostics())
			}
		})
	}
}

// artifacts is a binding whose media are the ids, n bytes each.
func artifacts(bytes int) extension.Binding {
	return extension.Binding{
		Features: []string{featurewire.FeatureArtifacts},
		Media: func(_ context.Context, m extension.MediaRef) (conversation.Part, error) {
			image, ok := m.Part.(featurewire.ImagePart)
			if !ok || image.ArtifactID == "foreign" {
				return conversation.Part{}, errors.New("the artifact is not this owner's")
			}
			return conversation.Part{Kind: conversation.Image, MediaType: string(image.MimeType), Data: make([]byte, bytes), Text: m.Owner.SessionID}, nil
		},
	}
}

// EXT04-RESULT-013: 64 MiB together, each repeat counted.
func TestCall_media(t *testing.T) {
	image := func(id string) any {
		return map[string]any{"type": "image", "artifact_id": id, "mime_type": "image/png"}
	}
	for _, c := range []struct {
		name  string
		bytes int
		parts []any
		words string
	}{
		{"one", 5, []any{image("a")}, ""},
		{"foreign", 5, []any{image("a"), image("foreign")}, "not this owner's"},
		{"at the limit", featurewire.MaxResultMediaBytes / 2, []any{image("a"), image("a")}, ""},
		{"one over", featurewire.MaxResultMediaBytes/2 + 1, []any{image("a"), image("a")}, "exceed 67108864 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := extensiontest.Start(t, extensiontest.Setup{Options: extension.Options{Bindings: []extension.Binding{artifacts(c.bytes)}}})
			r.Serve(featurewire.MethodToolCall, func(int64, json.RawMessage) (any, error) {
				result := r.ToolText("see")
				result["content"] = append(result["content"].([]any), c.parts...)
				return result, nil
			})
			got, err := r.X.Call(t.Context(), extension.Request{Tool: "work", Scope: front})
			if c.words != "" {
				if err == nil || !strings.Contains(err.Error(), c.words) {
					t.Errorf("got %v, want %q", err, c.words)
				}
				return
			}
			if err != nil || len(got.Content) != 1+len(c.parts) {
				t.Fatalf("%+v, %v", got, err)
			}
			if p := got.Content[1]; p.Type != "image" || p.MediaType != "image/png" || len(p.Data) != c.bytes || p.Text != front.Owner {
				t.Errorf("part %+v", p.MediaType)
			}
			if got.Text() != "see\n" {
				t.Errorf("text %q", got.Text())
			}
		})
	}
}

// EXT04-ORDER-013: a shortcut is registered in front of the answer to initialize, and never behind it.
func TestEarly_shortcut(t *testing.T) {
	var incoming *extension.Incoming
	shortcuts := extension.Binding{
		Features: []string{featurewire.FeatureShortcuts},
		Requests: map[string]extension.Handler{featurewire.MethodShortcutRegister: func(_ context.Context, r *extension.Incoming) (peer.Value, error) {
			incoming = r
			return featurewire.ShortcutRegisterResult{}, nil
		}},
	}
	params := func(parent int64) string {
		return fmt.Sprintf(`{"parent_request_id":%d,"id":"a","key":"ctrl+a","description":"d"}`, parent)
	}
	early := func(r *extensiontest.Rig, id int64, _ json.RawMessage) {
		r.Ask(featurewire.MethodShortcutRegister, params(id)).OK(t, "{}")
		r.Ask(featurewire.MethodShortcutRegister, params(id+1)).Refused(t, featurewire.CodeInvalidParams, "invalid_request")
		r.Ask(featurewire.MethodComposerGet, params(id)).Refused(t, featurewire.CodeUnknownMethod, "unsupported_feature")
	}
	r := extensiontest.Start(t, extensiontest.Setup{Early: early, Options: extension.Options{Bindings: []extension.Binding{shortcuts}}})
	if incoming == nil || incoming.Parent != nil || !incoming.Owner.IsZero() {
		t.Errorf("incoming %+v, want one of the process", incoming)
	}
	r.Ask(featurewire.MethodShortcutRegister, params(1)).Refused(t, featurewire.CodeInvalidParams, "invalid_request")

	without := func(r *extensiontest.Rig, id int64, _ json.RawMessage) {
		r.Ask(featurewire.MethodShortcutRegister, params(id)).Refused(t, featurewire.CodeUnknownMethod, "unsupported_feature")
	}
	extensiontest.Start(t, extensiontest.Setup{Early: without})
}

// Bindings hear of the beginning in front of everything else, and of the end once.
func TestBinding_startedAndEnded(t *testing.T) {
	var heard []string
	b := extension.Binding{
		Started: func(x *extension.Extension) { heard = append(heard, "started "+x.Agreement().API) },
		Ended:   func(*extension.Extension) { heard = append(heard, "ended") },
	}
	other := extension.Binding{
		Offer:   func(s *extension.Source) bool { return s.Manifest.Name == "somebody-else" },
		Started: func(*extension.Extension) { t.Error("a binding that does not apply was told") },
	}
	r := extensiontest.Start(t, extensiontest.Setup{Options: extension.Options{Bindings: []extension.Binding{b, other}}})
	r.X.Close()
	r.X.Close()
	if !slices.Equal(heard, []string{"started 0.4", "ended"}) {
		t.Errorf("heard %q", heard)
	}
	heard = nil
	_, err := extensiontest.TryStart(t, extensiontest.Setup{
		Options: extension.Options{Bindings: []extension.Binding{b}}, Initialize: func(result map[string]any) { result["api_version"] = "0.2" },
	})
	if err == nil || !slices.Equal(heard, []string{"ended"}) {
		t.Errorf("a failed start: %v, heard %q", err, heard)
	}
}

// EXT04-NEG-023, EXT04-NEG-024, EXT04-NEG-025, EXT04-AGENT-011, EXT04-HOOK-093 and dynamic catalogs.
func TestAccept_matrix(t *testing.T) {
	hook := func(name string) string { return "tools = [\"work\"]\nhooks = [\"" + name + "\"]" }
	for _, c := range []struct {
		name, extension, contributes string
		features                     []string // bound
		without                      string   // not selected
		change                       func(map[string]any)
		words                        string
	}{
		{"strategy", "", hook("compaction_strategy"), []string{featurewire.FeatureCompactionStrategy}, "", nil, ""},
		{"strategy not selected", "", hook("compaction_strategy"), []string{featurewire.FeatureCompactionStrategy}, featurewire.FeatureCompactionStrategy, nil, "select it"},
		{"strategy not offered", "", hook("compaction_strategy"), nil, "", nil, "does not offer"},
		{"warming not selected", "", hook("cache_warming_decision"), []string{featurewire.FeatureCacheWarmingDecision}, featurewire.FeatureCacheWarmingDecision, nil, "select it"},
		{"paths not offered", "", hook("resources_discover"), nil, "", nil, "does not offer"},
		{"turns", "", hook("model_turn_start"), []string{featurewire.FeatureSessionEntries}, "", nil, ""},
		{"turns not selected", "", hook("model_turn_end"), []string{featurewire.FeatureSessionEntries}, featurewire.FeatureSessionEntries, nil, "select it"},
		{"compactions not offered", "", hook("session_before_compact"), nil, "", nil, "does not offer"},
		{"compactions not selected", "", hook("session_compact"), []string{featurewire.FeatureSessionEntries}, featurewire.FeatureSessionEntries, nil, "select it"},
		{"telemetry", "octet-subagents", "", []string{featurewire.FeatureAgentSessions, featurewire.FeatureDelegationTelemetryV1}, "", nil, ""},
		{"no telemetry", "octet-subagents", "", []string{featurewire.FeatureAgentSessions, featurewire.FeatureDelegationTelemetryV1}, featurewire.FeatureDelegationTelemetryV1, nil, "reinstall"},
		{"other tools", "", "", []string{featurewire.FeatureDynamicTools}, "", func(r map[string]any) { r["tools"] = []any{} }, ""},
		{"other tools without the feature", "", "", nil, "", func(r map[string]any) { r["tools"] = []any{} }, "lacks the declared tool"},
		{"other commands", "", "", []string{featurewire.FeatureRuntimeCommands}, "", func(r map[string]any) { r["commands"] = []any{} }, ""},
		{"other commands without the feature", "", "", nil, "", func(r map[string]any) { r["commands"] = []any{} }, "lacks the declared command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := extensiontest.TryStart(t, extensiontest.Setup{
				Name: c.extension, Contributes: c.contributes, Initialize: c.change,
				Select:  func(name string) bool { return name != c.without },
				Options: extension.Options{Bindings: []extension.Binding{{Features: c.features}}},
			})
			if c.words == "" && err != nil || c.words != "" && (err == nil || !strings.Contains(err.Error(), c.words)) {
				t.Errorf("got %v, want %q", err, c.words)
			}
		})
	}
}

// EXT04-TOOL-012, EXT04-RES-006, and what else a definition may hold only with its feature.
func TestAccept_definitions(t *testing.T) {
	operations := featurewire.FeatureOperationDescriptorsV1
	for _, c := range []struct {
		member, value string
		without, with []string
	}{
		{"prompt_snippet", `"use it"`, nil, []string{featurewire.FeatureToolPromptMetadataV1}},
		{"prompt_guidelines", `["use it"]`, nil, []string{featurewire.FeatureToolPromptMetadataV1}},
		{"composition", `{"mode":"on","inline_budget":10}`, nil, []string{featurewire.FeatureToolCompositionV1}},
		{"operation", `{"id":"op","resource_inputs":[],"resource_outputs":[]}`, nil, []string{operations}},
		{"operation", `{"id":"op","resource_inputs":[],"resource_outputs":[{"path":"/a","type":"t"}]}`,
			[]string{operations}, []string{operations, featurewire.FeatureResourceRefsV1}},
	} {
		t.Run(c.member, func(t *testing.T) {
			if err := defined(t, c.member, c.value, c.with); err != nil {
				t.Errorf("with %q: %v", c.with, err)
			}
			if err := defined(t, c.member, c.value, c.without); err == nil || !strings.Contains(err.Error(), "without the feature") {
				t.Errorf("with %q: %v", c.without, err)
			}
		})
	}
}

// defined starts an extension whose tool has one more member.
func defined(t *testing.T, member, value string, bound []string) error {
	_, err := extensiontest.TryStart(t, extensiontest.Setup{
		Options: extension.Options{Bindings: []extension.Binding{{Features: bound}}},
		Initialize: func(result map[string]any) {
			result["tools"].([]any)[0].(map[string]any)[member] = json.RawMessage(value)
		},
	})
	return err
}

// EXT04-RES-005.
func TestOffer_terms(t *testing.T) {
	b := extension.Binding{
		Features: []string{featurewire.FeatureResourceRefsV1, featurewire.FeatureBulkObjectsV1},
		Terms: func(x *extension.Extension, o *featurewire.ProtocolOffer) {
			if slices.Contains(o.OptionalFeatures, featurewire.FeatureBulkObjectsV1) {
				o.Unknown = nil
			}
		},
	}
	for _, api := range []string{"0.2", "0.4"} {
		r := extensiontest.Start(t, extensiontest.Setup{API: api, Options: extension.Options{Bindings: []extension.Binding{b}}})
		has := strings.Contains(string(r.Offer()), `"resource_refs_v1":{"max_records":256,"max_registrations_per_parent":32}`)
		if has != (api == "0.4") {
			t.Errorf("the offer of %s is %s", api, r.Offer())
		}
	}
}

// A catalog epoch goes along only where dynamic tools were negotiated.
func TestCall_catalogRevision(t *testing.T) {
	for _, dynamic := range []bool{false, true} {
		var bound []string
		if dynamic {
			bound = []string{featurewire.FeatureDynamicTools}
		}
		var params string
		r := extensiontest.Start(t, extensiontest.Setup{Options: extension.Options{Bindings: []extension.Binding{{Features: bound}}}})
		r.Serve(featurewire.MethodToolCall, func(_ int64, p json.RawMessage) (any, error) {
			params = string(p)
			return r.ToolText("x"), nil
		})
		if _, err := r.X.Call(t.Context(), extension.Request{Tool: "work", Revision: 4}); err != nil {
			t.Error(err)
		}
		if strings.Contains(params, `"catalog_revision":4`) != dynamic {
			t.Errorf("dynamic %v: params %s", dynamic, params)
		}
	}
}

func TestCanonical_requests(t *testing.T) {
	b := extension.Binding{Capabilities: []string{
		canonicalwire.CapabilityMigrationAdapterV1, canonicalwire.CapabilityProviderStream, canonicalwire.CapabilityEventBus,
	}}
	r := extensiontest.Start(t, extensiontest.Setup{API: "0.3", Options: extension.Options{Bindings: []extension.Binding{b}}})
	r.Serve(canonicalwire.MethodMigrationDetect, func(int64, json.RawMessage) (any, error) {
		return json.RawMessage(`{"detected":true,"config_paths":["a"],"diagnostics":[]}`), nil
	})
	if got, err := r.X.DetectMigration(t.Context(), canonicalwire.MigrationDetectParams{SourceRoot: "/old"}); err != nil || !got.Detected {
		t.Errorf("detect: %+v, %v", got, err)
	}
	r.Serve(canonicalwire.MethodMigrationImport, func(int64, json.RawMessage) (any, error) {
		return json.RawMessage(`{"models":[],"skills":[],"mcp_servers":[],"diagnostics":[]}`), nil
	})
	if _, err := r.X.ImportMigration(t.Context(), canonicalwire.MigrationImportParams{SourceRoot: "/old", ConfigPaths: []string{"a"}}); err != nil {
		t.Errorf("import: %v", err)
	}
	stream := canonicalwire.ProviderStreamRequest{StreamID: "s-1", ProviderID: "p", ModelID: "m", Request: json.RawMessage(`{}`)}
	for answer, ok := range map[string]bool{
		`{"stream_id":"s-1","accepted":true}`: true, `{"stream_id":"s-2","accepted":true}`: false, `{"stream_id":"s-1"}`: false,
	} {
		r.Serve(canonicalwire.MethodProviderStream, func(int64, json.RawMessage) (any, error) { return json.RawMessage(answer), nil })
		if _, err := r.X.Stream(t.Context(), stream); (err == nil) != ok {
			t.Errorf("%s: %v", answer, err)
		}
	}
	if err := r.X.Notify(t.Context(), canonicalwire.MethodProviderCancel, canonicalwire.ProviderStreamCancelParams{StreamID: "s-1"}); err != nil {
		t.Error(err)
	}
	if told := r.WaitTold(canonicalwire.MethodProviderCancel, 1); !strings.Contains(string(told[0].Params), "s-1") {
		t.Errorf("told %s", told[0].Params)
	}
	bare := extensiontest.Start(t, extensiontest.Setup{API: "0.3"})
	var undeclared *extension.UndeclaredError
	if _, err := bare.X.Stream(t.Context(), stream); !errors.As(err, &undeclared) {
		t.Errorf("not selected: %v", err)
	}
	if err := bare.X.Notify(t.Context(), canonicalwire.MethodBusEvent, peer.Raw("{}")); err == nil {
		t.Error("an event of no bus was sent")
	}
}
