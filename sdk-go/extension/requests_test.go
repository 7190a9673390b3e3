package extension_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

// failing are the ways in which a handler can fail, and what the host and the log hear.
var failing = map[string]struct {
	act  func() error
	line string
}{
	"error": {func() error { return errors.New("secret detail") }, "secret detail"},
	"panic": {func() error { panic("secret detail") }, "panicked: secret detail\ngoroutine"},
}

// checkFailure holds an answer to: internal error, no detail, one line in the log.
func checkFailure(t *testing.T, name string, err error, log *lockedBuffer, line string) {
	t.Helper()
	var answer *exttest.Error
	if !errors.As(err, &answer) || answer.Code != featurewire.CodeInternalError || answer.Data != nil || strings.Contains(answer.Message, "secret") {
		t.Errorf("%s: the host hears %v", name, err)
	}
	if !strings.Contains(log.String(), line) {
		t.Errorf("%s: the log says %q", name, log.String())
	}
}

// whole registers a handler for everything the host of the feature wire can ask; each calls act.
func whole(api extension.API, log *lockedBuffer, act func() error) *extension.Extension {
	ext := extension.New(&extension.Options{API: api, Log: log, UsesAll: true})
	ext.AddCommand(extension.Command{Name: "go", Description: "Goes", Usage: "/go [where]", Run: func(_ context.Context, call *extension.CommandCall, args []string) (*extension.CommandResult, error) {
		return &extension.CommandResult{
			Text: call.Command() + fmt.Sprint(args), Notifications: []extension.Notification{{Title: "t", Message: "m"}, {Level: extension.LevelError, Message: "e"}},
			Context: []extension.Contribution{{Label: "l", Content: "c", Placement: featurewire.ContextPlacementSystemPrefix}},
		}, act()
	}})
	ext.Hooks().BeforePrompt(func(_ context.Context, call *extension.HookCall, p featurewire.BeforePromptPayload) (r featurewire.BeforePromptHookResult, err error) {
		r.Disposition = wirejson.Some[featurewire.Disposition](featurewire.DispositionDeny{Reason: call.Hook() + " " + p.Prompt})
		return r, act()
	})
	ext.OnContext(func(_ context.Context, _ *extension.Scope, prompt string) ([]extension.Contribution, error) {
		return []extension.Contribution{{Label: "p", Content: prompt}}, act()
	})
	ext.OnStatus(featurewire.UiSurfaceHeader, func(context.Context, *extension.Scope) (*extension.Status, error) {
		return &extension.Status{Text: "s", StyleRole: "accent", Priority: 2}, act()
	})
	ext.OnStatus(featurewire.UiSurfaceFooter, func(context.Context, *extension.Scope) (*extension.Status, error) { return nil, act() })
	ext.OnRender("tool", func(_ context.Context, _ *extension.Scope, what extension.Rendering) ([]featurewire.ToolRenderSegment, error) {
		return []featurewire.ToolRenderSegment{{Text: fmt.Sprint(what.Tool, string(what.Arguments), what.Output, what.IsError)}}, act()
	})
	if api == extension.API01 {
		return ext
	}
	ext.OnMenu(func(context.Context, *extension.Scope) (featurewire.MenuCollectResult, error) {
		return featurewire.MenuCollectResult{Items: []featurewire.MenuItem{{ID: "i", Label: "I", Command: wirejson.Some("go")}}}, act()
	})
	ext.OnAutocomplete(func(_ context.Context, _ *extension.Scope, asked featurewire.UiAutocompleteCompleteParams) (featurewire.UiAutocompleteCompleteResult, error) {
		item := featurewire.AutocompleteItem{Value: asked.Text, Label: "l", Description: wirejson.Null[string]()}
		if asked.Revision == 9 {
			item.ReplaceAfterBytes = wirejson.Some(int64(1))
		}
		return featurewire.UiAutocompleteCompleteResult{Items: []featurewire.AutocompleteItem{item}}, act()
	})
	if api == extension.API02 {
		return ext
	}
	ext.OnIntercept(func(_ context.Context, scope *extension.Scope, data string) (string, error) {
		return data + scope.Owner().SessionID, act()
	})
	ext.OnDispose(func(_ context.Context, _ *extension.Scope, r featurewire.ResourceRef) error {
		if r.Resource == "bad" {
			panic("cannot")
		}
		return nil
	})
	return ext
}

type object = map[string]any

// asked are one request of each kind with the answer to it.
var asked = []struct {
	method string
	params object
	want   string
	since  extension.API
}{
	{
		featurewire.MethodCommandExecute,
		object{"name": "go", "arguments": []string{"a", "b"}},
		`{"context":[{"content":"c","label":"l","placement":"system_prefix"}],"notifications":[{"level":"info","message":"m","title":"t"},{"level":"error","message":"e"}],"text":"go[a b]"}`, extension.API01,
	},
	{
		featurewire.MethodHookRun,
		object{"hook": "before_prompt", "payload": object{"prompt": "hi"}},
		`{"disposition":{"action":"deny","reason":"before_prompt hi"}}`, extension.API01,
	},
	{featurewire.MethodContextCollect, object{"prompt": "hi"}, `[{"content":"hi","label":"p"}]`, extension.API01},
	{featurewire.MethodContextCollect, object{"prompt": nil}, `[{"content":"","label":"p"}]`, extension.API01},
	{featurewire.MethodStatusCollect, object{"surface": "header"}, `{"priority":2,"style_role":"accent","surface":"header","text":"s"}`, extension.API01},
	{featurewire.MethodStatusCollect, object{"surface": "footer"}, `null`, extension.API01},
	{
		featurewire.MethodToolRender,
		object{"name": "tool", "arguments": object{"a": 1}, "output": "o", "is_error": true},
		`{"segments":[{"text":"tool{\"a\":1}otrue"}]}`, extension.API01,
	},
	{featurewire.MethodMenuCollect, object{}, `{"items":[{"command":"go","id":"i","label":"I"}]}`, extension.API02},
	{
		featurewire.MethodUIAutocompleteComplete,
		object{"text": "x", "cursor": 1, "revision": 1},
		`{"items":[{"description":null,"label":"l","value":"x"}],"prefix":""}`, extension.API02,
	},
	{
		featurewire.MethodUITerminalInputIntercept, object{"data": "q", "resource_owner": someOwnerWire()}, `{"data":"qo1"}`, extension.API04,
	},
}

func someOwnerWire() object {
	return object{"session_id": someOwner.SessionID, "extension_instance_id": someOwner.ExtensionInstanceID, "process_generation": someOwner.ProcessGeneration}
}

func TestRequests_areServed(t *testing.T) {
	for _, api := range []extension.API{extension.API01, extension.API02, extension.API04} {
		var log lockedBuffer
		host := exttest.Start(t, whole(api, &log, func() error { return nil }))
		for _, q := range asked {
			if api < q.since {
				continue
			}
			if got, err := host.Ask(q.method, q.params); err != nil || string(got) != q.want {
				t.Errorf("API %s: %s %v\ngot  %s, %v\nwant %s", api, q.method, q.params, got, err, q.want)
			}
		}
		if log.String() != "" {
			t.Errorf("API %s: log %s", api, log.String())
		}
	}
}

// A handler that fails is told to the log alone.
func TestRequests_failWithoutDetail(t *testing.T) {
	for name, f := range failing {
		for _, q := range asked {
			var log lockedBuffer
			host := exttest.Start(t, whole(extension.API04, &log, f.act))
			_, err := host.Ask(q.method, q.params)
			checkFailure(t, name+" in "+q.method, err, &log, f.line)
			if _, err := host.Ask(featurewire.MethodCommandExecute, object{"name": "other", "arguments": []string{}}); err == nil || !strings.Contains(err.Error(), "unknown command") {
				t.Errorf("behind %s in %s: %v", name, q.method, err)
			}
		}
	}
}

// A cancelled request is answered as such, whatever it is.
func TestRequests_areCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ext := extension.New(quietOptions(extension.API04))
		ext.AddCommand(extension.Command{Name: "wait", Description: "Waits", Run: func(ctx context.Context, _ *extension.CommandCall, _ []string) (*extension.CommandResult, error) {
			<-ctx.Done()
			return nil, errors.New("given up")
		}})
		host := exttest.Start(t, ext)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := host.AskContext(ctx, featurewire.MethodCommandExecute, object{"name": "wait", "arguments": []string{}})
			done <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-done; !exttest.IsCancelled(err) {
			t.Errorf("answered with %v", err)
		}
	})
}

// TestRequests_refuse names what is wrong with a request; the session lives on.
func TestRequests_refuse(t *testing.T) {
	var log lockedBuffer
	host := exttest.StartWith(t, whole(extension.API04, &log, func() error { return nil }), &exttest.Options{Undeclared: []string{"context", "ui", "menu", "tool_renderers"}})
	for _, q := range []struct {
		method string
		params object
		want   string
	}{
		{featurewire.MethodCommandExecute, object{"name": "stay", "arguments": []string{}}, "unknown command: stay (-32601)"},
		{featurewire.MethodCommandExecute, object{"name": "go"}, `Invalid params (-32602) {"detail":"the required member \"arguments\" is absent; add it","pointer":"/arguments","violation":"missing"}`},
		{featurewire.MethodHookRun, object{"hook": "before_prompt", "payload": object{}}, `"pointer":"/payload/prompt","violation":"missing"`},
		{featurewire.MethodHookRun, object{"hook": "after_response", "payload": object{"response": "x"}}, `the manifest declares no hook \"after_response\"`},
		{featurewire.MethodHookRun, object{"hook": "before_lunch", "payload": object{}}, `(-32602)`},
		{featurewire.MethodContextCollect, object{"prompt": nil}, "(-32601)"},
		{featurewire.MethodStatusCollect, object{"surface": "header"}, "(-32601)"},
		{featurewire.MethodStatusCollect, object{"surface": "status"}, "(-32601)"},
		{featurewire.MethodMenuCollect, object{}, "(-32601)"},
		{featurewire.MethodToolRender, object{"name": "tool", "arguments": object{}, "output": "", "is_error": false}, "(-32601)"},
		{featurewire.MethodToolRender, object{"name": "other", "arguments": object{}, "output": "", "is_error": false}, "(-32601)"},
	} {
		if _, err := host.Ask(q.method, q.params); err == nil || !strings.Contains(err.Error(), q.want) {
			t.Errorf("%s %v: %v, want %s", q.method, q.params, err, q.want)
		}
	}
}

func TestRequests_malformedResultsStayHere(t *testing.T) {
	var log lockedBuffer
	ext := extension.New(&extension.Options{Log: &log})
	ext.OnMenu(func(context.Context, *extension.Scope) (featurewire.MenuCollectResult, error) {
		return featurewire.MenuCollectResult{Items: []featurewire.MenuItem{{ID: "i", Label: strings.Repeat("x", 257)}}}, nil
	})
	ext.AddCommand(extension.Command{Name: "go", Description: "Goes", Run: func(context.Context, *extension.CommandCall, []string) (*extension.CommandResult, error) {
		return &extension.CommandResult{Notifications: []extension.Notification{{Level: "loud", Message: "m"}}}, nil
	}})
	host := exttest.Start(t, ext)
	_, err := host.Ask(featurewire.MethodMenuCollect, object{})
	checkFailure(t, "menu", err, &log, `menu handler: the result is refused: MenuCollectResult at "/items/0/label"`)
	_, err = host.Ask(featurewire.MethodCommandExecute, object{"name": "go", "arguments": []string{}})
	checkFailure(t, "command", err, &log, `level "loud" is none of`)
}

// Members for edits go only to a host that takes them.
func TestAutocomplete_edits(t *testing.T) {
	edit := object{"text": "x", "cursor": 1, "revision": 9}
	var log lockedBuffer
	host := exttest.Start(t, whole(extension.API04, &log, func() error { return nil }))
	if got, err := host.Ask(featurewire.MethodUIAutocompleteComplete, edit); err != nil || !strings.Contains(string(got), `"replace_after_bytes":1`) {
		t.Errorf("negotiated: %s, %v", got, err)
	}
	for _, api := range []extension.API{extension.API02, extension.API04} {
		host := exttest.StartWith(t, whole(api, &log, func() error { return nil }), &exttest.Options{Withhold: withheld(api)})
		_, err := host.Ask(featurewire.MethodUIAutocompleteComplete, edit)
		checkFailure(t, "not negotiated on "+string(api), err, &log, "autocomplete_edit_v1 was not negotiated")
	}
}

func withheld(api extension.API) []string {
	if api == extension.API02 {
		return nil
	}
	return []string{featurewire.FeatureAutocompleteEditV1}
}

func TestDispose_answersForEachResource(t *testing.T) {
	resources := object{"resources": []object{{"$resource": "good", "type": "t"}, {"$resource": "bad", "type": "t"}}, "reason": "retired"}
	var log lockedBuffer
	host := exttest.Start(t, whole(extension.API04, &log, func() error { return nil }))
	got, err := host.Ask(featurewire.MethodResourceDispose, resources)
	if want := `{"results":[{"resource":{"$resource":"good","type":"t"},"status":"completed"},{"resource":{"$resource":"bad","type":"t"},"status":"failed"}]}`; string(got) != want || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	options := quietOptions(extension.API04)
	options.Uses = []string{featurewire.FeatureResourceRefsV1}
	got, err = exttest.Start(t, extension.New(options)).Ask(featurewire.MethodResourceDispose, resources)
	if strings.Count(string(got), `"completed"`) != 2 || err != nil {
		t.Errorf("without a handler: %s, %v", got, err)
	}
}

func TestArtifacts_inResults(t *testing.T) {
	ext := func(api extension.API, kind string) *extension.Extension {
		options := quietOptions(api)
		if api == extension.API02 || api == extension.API04 {
			options.Uses = []string{featurewire.FeatureArtifacts}
		}
		e := extension.New(options)
		extension.AddTool(e, "show", "Shows", func(ctx context.Context, call *extension.Call, _ struct{}) (*extension.Result, error) {
			result := extension.Text("see")
			id := "art-0"
			if api != extension.API03 && api != extension.API01 {
				var err error
				if id, err = call.Publish(ctx, "image/png", []byte("abc")); err != nil {
					id = err.Error()
				}
			}
			result.Media = []extension.Media{{ArtifactID: id, MimeType: kind, Text: "what"}}
			return result, nil
		})
		return e
	}
	services := map[string]exttest.Service{"artifacts.publish": exttest.Answer(object{"artifact_id": "art-7"})}
	for kind, want := range map[string]string{
		"image/png": `{"content":[{"text":"see","type":"text"},{"alt":"what","artifact_id":"art-7","mime_type":"image/png","type":"image"}],"is_error":false}`,
		"audio/wav": `{"content":[{"text":"see","type":"text"},{"artifact_id":"art-7","mime_type":"audio/wav","transcript":"what","type":"audio"}],"is_error":false}`,
		"text/html": `{"content":[{"text":"tool \"show\": media of type \"text/html\" is neither a picture nor a recording","type":"text"}],"is_error":true}`,
	} {
		host := exttest.StartWith(t, ext(extension.API04, kind), &exttest.Options{Services: services})
		got, err := host.Ask(featurewire.MethodToolCall, object{"name": "show", "arguments": object{}})
		if err != nil || string(got) != want {
			t.Errorf("%s\ngot  %s, %v\nwant %s", kind, got, err, want)
		}
		if sent := host.Sent(); len(sent) != 1 || string(sent[0].Params) != `{"data":{"data":"YWJj","encoding":"base64"},"mime_type":"image/png","parent_request_id":2,"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","size":3}` {
			t.Errorf("sent %s", sent)
		}
	}
	for api, want := range map[extension.API]string{extension.API01: "artifacts was not negotiated", extension.API03: "which API 0.3 has not"} {
		if result := exttest.Start(t, ext(api, "image/png")).Call("show", nil); !result.IsError || !strings.Contains(result.Text, want) {
			t.Errorf("API %s: %q", api, result.Text)
		}
	}
	withheld := exttest.StartWith(t, ext(extension.API04, "image/png"), &exttest.Options{Withhold: []string{featurewire.FeatureArtifacts}})
	if result := withheld.Call("show", nil); !result.IsError || !strings.Contains(result.Text, "artifacts was not negotiated") {
		t.Errorf("not offered: %q", result.Text)
	}
}
