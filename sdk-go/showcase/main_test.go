package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

type object = map[string]any

var (
	every    = []extension.API{extension.API01, extension.API02, extension.API03, extension.API04}
	owner    = extension.Owner{SessionID: "o1", ExtensionInstanceID: "i1", ProcessGeneration: 1}
	services = map[string]exttest.Service{
		"composer.get":      exttest.Answer(object{"text": "draft"}),
		"composer.set":      exttest.Refuse(featurewire.CodeInvalidParams, "invalid_request no"),
		"composer.insert":   exttest.Hang(),
		"confirmations.ask": exttest.Answer(object{"confirmed": true}),
		"artifacts.publish": exttest.Answer(object{"artifact_id": "art-7"}),
		"session.compact":   exttest.Answer(object{"entry_id": "e", "summary": "s", "first_kept": "f"}),
		"theme.select":      exttest.Answer(object{"status": "denied"}),
	}
)

// start runs the showcase under a host that answers the services above.
func start(t *testing.T, api extension.API) *exttest.Host {
	t.Helper()
	options := &exttest.Options{Services: services, SessionHooks: true}
	if api != extension.API01 {
		options.Owner = &owner
	}
	return exttest.StartWith(t, build(api), options)
}

func TestManifests_agreeWithTheProgram(t *testing.T) {
	for _, api := range every {
		exttest.CheckManifest(t, build(api), "api-"+string(api)+"/showcase")
	}
}

// toolCall is what a tool answers in some versions.
type toolCall struct {
	tool   string
	args   object
	want   string
	failed bool
	on     []extension.API
}

// calls are what each tool answers, in the versions that have it.
var calls = []toolCall{
	{"use", object{"service": "composer.get"}, `{"text":"draft"}`, false, later},
	{"use", object{"service": "composer.get", "with": object{}}, `{"text":"draft"}`, false, later},
	{"use", object{"service": "composer.set", "with": object{"text": "x"}}, "HostError -32602 invalid_request no", true, later},
	{"use", object{"service": "composer.set", "with": object{"text": "\u001b"}}, "Invalid /text pattern", true, later},
	{"use", object{"service": "session.compact"}, "NoParent session/compact", true, []extension.API{extension.API04}},
	{"use", object{"service": "composer.get"}, "NotNegotiated composer/get", true, []extension.API{extension.API01, extension.API03}},
	{"use", object{"service": "confirmations.ask", "with": object{"prompt": "p", "detail": nil, "destructive": false, "default": false}}, `{"confirmed":true}`, false, feature},
	{"use", object{"service": "notifications.show", "with": object{"message": "m"}}, `{}`, false, feature},
	{"use", object{"service": "theme.select", "with": object{"namespace": "n", "theme_id": "t", "role": "dim", "scope": "extension"}}, `{"status":"denied"}`, false, []extension.API{extension.API03}},
	{"later", object{"service": "composer.get"}, "later", false, feature},
	{"fail", object{"message": "boom"}, `tool "fail": boom`, true, every},
	{"refuse", object{"message": "not today"}, "not today", true, every},
	{"print", object{"text": "hello"}, "printed", false, every},
	{"big", object{"bytes": 3}, "xxx", false, every},
	{"count", object{"word": "aé😀"}, "3 letters", false, every},
	{"remember", nil, "1", false, every},
	{"seen", nil, "[]", false, every},
	{"report", nil, "ok", false, feature}, // also where nobody takes the progress
	{"media", nil, "one pixel", false, later},
	{"learn", object{"name": "x"}, "epoch 1: big, child, count, fail, forget, later, learn, media, print, ready, refuse, remember, report, seen, use, wait, x", false, later},
	{"x", nil, "x in epoch 0", false, later},
	{"forget", object{"name": "x"}, "epoch 2: big, child, count, fail, forget, later, learn, media, print, ready, refuse, remember, report, seen, use, wait", false, later},
	{"learn", object{"name": "x"}, "NotNegotiated tools/register", true, []extension.API{extension.API01}},
	{"forget", object{"name": "x"}, "NotNegotiated tools/unregister", true, []extension.API{extension.API01}},
	{"media", nil, "NotNegotiated artifact/publish", true, []extension.API{extension.API01}},
	{"ready", nil, "shown", false, feature},
}

var (
	later   = []extension.API{extension.API02, extension.API04}
	feature = []extension.API{extension.API01, extension.API02, extension.API04}
)

func checkCalls(t *testing.T, api extension.API, host *exttest.Host) {
	t.Helper()
	for _, c := range calls {
		if !slices.Contains(c.on, api) {
			continue
		}
		if c.args == nil {
			c.args = object{}
		}
		result, err := host.TryCall(c.tool, c.args)
		if err != nil || result.Text != c.want || result.IsError != c.failed {
			t.Errorf("API %s: %s %v gives %+v, %v; want %q", api, c.tool, c.args, result, err, c.want)
		}
	}
	for _, tool := range host.Tools() {
		called := slices.ContainsFunc(calls, func(c toolCall) bool { return c.tool == tool.Name && slices.Contains(c.on, api) })
		if !called && !(tool.Name == "later" && api == extension.API03) && !slices.Contains([]string{"wait", "child"}, tool.Name) {
			t.Errorf("API %s: nothing calls %s", api, tool.Name)
		}
	}
}

func TestTools(t *testing.T) {
	for _, api := range every {
		checkCalls(t, api, start(t, api))
	}
}

// The program as a host starts it answers the same.
func TestProcess(t *testing.T) {
	program := filepath.Join(t.TempDir(), "showcase")
	if output, err := exec.Command("go", "build", "-race", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	for _, api := range every {
		options := &exttest.Options{Services: services, SessionHooks: true}
		if api != extension.API01 {
			options.Owner = &owner
		}
		run := exec.Command(program)
		run.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
		checkCalls(t, api, exttest.StartCommand(t, run, build(api), options))
	}
}

func TestTools_waitAndChildAreCancelled(t *testing.T) {
	for _, api := range []extension.API{extension.API02, extension.API03, extension.API04} {
		synctest.Test(t, func(t *testing.T) {
			host := start(t, api)
			pending := []*exttest.Pending{host.Begin("wait", nil)}
			if api != extension.API03 {
				pending = append(pending, host.Begin("child", object{"service": "composer.insert", "with": object{"text": "x"}}))
			}
			synctest.Wait()
			for _, p := range pending {
				p.Cancel("user")
				if _, err := p.Wait(); !exttest.IsCancelled(err) {
					t.Errorf("API %s: %v", api, err)
				}
			}
		})
	}
}

func TestLater_reportsBehindTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := start(t, extension.API04)
		host.Call("later", object{"service": "session.compact"})
		host.Call("later", object{"service": "input.ask", "with": object{"prompt": "p", "secret": false}})
		synctest.Wait()
		var got []string
		for _, n := range host.Notifications() {
			got = append(got, n.Title+": "+n.Message)
		}
		slices.Sort(got)
		if want := `[later: NoParent input/request later: {"entry_id":"e","first_kept":"f","summary":"s"}]`; fmt.Sprint(got) != want {
			t.Errorf("got %v, want %s", got, want)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		host := start(t, extension.API03)
		host.Call("later", object{"service": "theme.select"})
		synctest.Wait()
		if got := host.Call("seen", nil).Text; got != `[["notification",{"level":"info","message":"Invalid /namespace missing","title":"later"}]]` {
			t.Errorf("seen %s", got)
		}
	})
}

// hooks are the answers of every hook.
var hooks = []struct {
	hook    string
	payload object
	want    string
	since   extension.API
}{
	{"before_prompt", object{"prompt": "my secret"}, `{"disposition":{"action":"deny","reason":"no secrets"}}`, extension.API01},
	{"before_prompt", object{"prompt": "hi"}, `{"context":[{"content":"seen","label":"hook"}],"disposition":{"action":"continue"}}`, extension.API01},
	{"after_response", object{"response": "r"}, `{"notifications":[{"level":"info","message":"heard"}]}`, extension.API01},
	{"before_tool_call", object{"name": "bash", "arguments": object{}}, `{"disposition":{"action":"deny","reason":"deletes files"}}`, extension.API01},
	{"before_tool_call", object{"name": "read", "arguments": object{}}, `{"disposition":{"action":"continue"}}`, extension.API01},
	{"after_tool_call", object{"name": "read", "arguments": object{}, "output": "", "is_error": false}, `{"disposition":{"action":"continue"}}`, extension.API01},
	{"provider_retry", object{"kind": "before_generation", "max_attempts": 4, "operation": nil}, `{"provider_retry":"retry"}`, extension.API02},
	{"provider_retry", object{"kind": "stream_start", "max_attempts": 4, "operation": nil}, `{"provider_retry":{"delay":{"additional_delay_ms":500}}}`, extension.API02},
	{"provider_retry", object{"kind": "waiting_for_network", "max_attempts": nil, "operation": nil}, `{"provider_retry":"stop"}`, extension.API02},
	{"before_persistence", object{
		"run_id": "r1", "model": "m", "protocol": "p", "stop_reason": "s", "text_bytes": 1, "tool_call_count": 0, "reasoning_part_count": 0, "media_part_count": 0,
	}, `{"persistence_metadata":{"public":true,"value":{"run":"r1"}}}`, extension.API02},
	{"post_mutation", mutation("committed"), `{"post_mutation":{"action":"request_rescan","resource_ids":["resource:settings"]}}`, extension.API02},
	{"post_mutation", mutation("rolled_back"), `{"post_mutation":{"action":"no_rescan"}}`, extension.API02},
	{"model_turn_start", object{"kind": "model_turn_start", "run_id": "run:1", "turn_index": 0, "timestamp_ms": 1}, `{"session_operation":{"action":"continue"}}`, extension.API04},
	{"session_before_compact", object{}, `{"session_operation":{"action":"continue"}}`, extension.API04},
	{"session_compact", object{}, `{"session_operation":{"action":"continue"}}`, extension.API04},
	{"cache_warming_decision", warming("warm"), `{"cache_warming_decision":"stop"}`, extension.API04},
	{"cache_warming_decision", warming("stop"), `{"cache_warming_decision":null}`, extension.API04},
	{"compaction_strategy", object{"model_id": "m", "text": "t"}, `{"compaction_frames":["` + dot + `"]}`, extension.API04},
	{"resources_discover", object{"cwd": "/w", "reason": "startup"}, `{"resource_paths":{"skill_paths":["/w/skills"]}}`, extension.API04},
}

func mutation(state string) object {
	return object{"mutation_id": "mutation:7", "kind": "configuration", "affected_resources": []string{"resource:settings"}, "generation": 1, "state": state}
}

func warming(action string) object {
	return object{"model": "m", "decision": object{
		"phase": "idle", "warm_cost_microdollars": 1, "miss_cost_microdollars": 2, "continuation_probability": json.Number("0.5"),
		"expected_savings_microdollars": -1, "economics_available": true, "action": action,
	}}
}

func TestHooks(t *testing.T) {
	for _, api := range feature {
		host := start(t, api)
		for _, h := range hooks {
			if api < h.since {
				continue
			}
			got, err := host.Ask(featurewire.MethodHookRun, object{"hook": h.hook, "payload": h.payload})
			if err != nil || string(got) != h.want {
				t.Errorf("API %s: %s %v\ngot  %s, %v\nwant %s", api, h.hook, h.payload, got, err, h.want)
			}
		}
	}
}

func TestRequests(t *testing.T) {
	host := start(t, extension.API04)
	for _, q := range []struct {
		method string
		params object
		want   string
	}{
		{featurewire.MethodCommandExecute, object{"name": "echo", "arguments": []string{"a", "b"}}, `{"context":[{"content":"a b","label":"echo"}],"notifications":[{"level":"info","message":"echoed"}],"text":"a b"}`},
		{featurewire.MethodCommandExecute, object{"name": "fail", "arguments": []string{}}, `-32603`},
		{featurewire.MethodContextCollect, object{"prompt": nil}, `[{"content":"none","label":"showcase","placement":"system_suffix"}]`},
		{featurewire.MethodStatusCollect, object{"surface": "status"}, `{"priority":1,"surface":"status","text":"ready"}`},
		{featurewire.MethodStatusCollect, object{"surface": "header"}, `null`},
		{featurewire.MethodStatusCollect, object{"surface": "footer"}, `-32603`},
		{featurewire.MethodMenuCollect, object{}, `{"items":[{"arguments":["hi"],"command":"echo","destructive":false,"id":"echo","label":"Echo","recommended":true},{"id":"more","items":[{"arguments":[],"command":"fail","destructive":true,"id":"fail","label":"Fail","recommended":false}],"label":"More"}],"title":"Showcase"}`},
		{featurewire.MethodToolRender, object{"name": "count", "arguments": object{}, "output": "o", "is_error": false}, `{"segments":[{"style_role":null,"text":"o"}]}`},
		{featurewire.MethodUIAutocompleteComplete, object{"text": "x /hex", "cursor": 5, "revision": 1}, `{"items":[{"description":null,"label":"/hello","value":"/hello"}],"prefix":"/he"}`},
		{featurewire.MethodUIAutocompleteComplete, object{"text": "x /hex", "cursor": 6, "revision": 1}, `{"items":[],"prefix":""}`},
		{featurewire.MethodUITerminalInputIntercept, object{"data": "q", "resource_owner": wired()}, `{"data":""}`},
		{featurewire.MethodUITerminalInputIntercept, object{"data": "w", "resource_owner": wired()}, `{"data":"w"}`},
	} {
		got, err := host.Ask(q.method, q.params)
		if err != nil {
			got = []byte(fmt.Sprint(err))
		}
		if string(got) != q.want && !(err != nil && strings.Contains(string(got), q.want)) {
			t.Errorf("%s %v\ngot  %s\nwant %s", q.method, q.params, got, q.want)
		}
	}
}

func wired() object {
	return object{"session_id": owner.SessionID, "extension_instance_id": owner.ExtensionInstanceID, "process_generation": owner.ProcessGeneration}
}

func TestSeen_recordsInOrder(t *testing.T) {
	host := start(t, extension.API04)
	host.Tell(featurewire.MethodTurnStarted, object{"session_id": "s", "run_id": "r", "turn_id": "t"})
	host.Tell(featurewire.MethodShortcutTrigger, object{"id": "showcase:hello"})
	host.Tell(featurewire.MethodUIResize, object{"surface_id": "s", "columns": 1, "rows": 2})
	resources := []object{{"$resource": "a", "type": "t"}, {"$resource": "b", "type": "t"}}
	host.Call("seen", nil) // so that the events are behind us
	if _, err := host.Ask(featurewire.MethodResourceDispose, object{"resources": resources, "reason": "retired"}); err != nil {
		t.Error(err)
	}
	host.Tell(featurewire.MethodDialogStarted, object{"extra": 1})
	want := `[["resource/dispose",{"reason":"retired","resources":[{"$resource":"a","type":"t"},{"$resource":"b","type":"t"}]}],["dialog/started",{"extra":1}]]`
	if got := host.Call("seen", nil).Text; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSeen_onTheCanonicalWire(t *testing.T) {
	host := start(t, extension.API03)
	host.StartSession(extension.SessionStart{Owner: owner})
	host.Tell(canonicalwire.MethodBusLifecycle, object{"kind": "binding", "binding_id": "b", "binding_revision": 1})
	got := host.Call("seen", nil).Text
	want := `[["hook/run",{"hook":"session_start","payload":{"binding":{"extension_instance_id":"i1","process_generation":1,"session_id":"o1"}}}],["bus/lifecycle",{"binding_id":"b","binding_revision":1,"kind":"binding"}]]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCanonical_servesMigrationAndStream(t *testing.T) {
	host := start(t, extension.API03)
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, settingsFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for method, q := range map[string][2]any{
		canonicalwire.MethodMigrationDetect: {object{"source_root": root}, `{"config_paths":["settings.json"],"detected":true,"diagnostics":[]}`},
		canonicalwire.MethodMigrationImport: {object{"source_root": root, "config_paths": []string{settingsFile}}, `{"diagnostics":[],"mcp_servers":[],"models":[],"skills":[]}`},
		canonicalwire.MethodProviderStream:  {object{"stream_id": "s", "provider_id": "p", "model_id": "m", "request": object{}}, `{"accepted":true,"stream_id":"s"}`},
	} {
		if got, err := host.Ask(method, q[0]); err != nil || string(got) != q[1] {
			t.Errorf("%s: %s, %v", method, got, err)
		}
	}
	var kinds []string
	for range 3 {
		m, ok := host.NextSent(context.Background())
		event, err := canonicalwire.DecodeProviderStreamEvent(m.Params)
		if !ok || err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, string(event.Kind))
	}
	if fmt.Sprint(kinds) != "[started text_delta finished]" {
		t.Errorf("sent %v", kinds)
	}
}
