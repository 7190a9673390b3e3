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
			if _, err := r.X.Execute(t.Context(), extension.Execution{Command: "other"}); !errors.As(err, &undeclared) || err.Error() != "extension `demo` does not declare the command \"other\"" {
				t.Errorf("an unknown command: %v", err) // MAN-DIAG-008
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
			wantTimeout(t, err, true)
			wantTook(t, start, c.wait)
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

// bubble runs a test with a clock of its own.
func bubble(f func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) { synctest.Test(t, f) }
}

// EXT04-STATUS-003, EXT04-MENU-003, EXT04-RENDER-002: what is declared is asked for, and nothing else.
func TestCollectStatusMenuAndRender(t *testing.T) {
	for _, api := range features {
		t.Run(api, bubble(func(t *testing.T) {
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
		}))
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
				wantTimeout(t, err, true)
				wantTook(t, start, c.wait)
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
		_, err := r.X.CollectContext(t.Context(), whole, nil)
		wantTimeout(t, err, true)
		start := time.Now()
		<-r.X.Done()
		wantTook(t, start, cancellationGrace)
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
