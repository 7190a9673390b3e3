package extension_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// offerAll is initialize of a host that offers and declares nearly everything.
func offerAll(api extension.API) string {
	if api == extension.API03 {
		var capabilities, methods []string
		for _, c := range canonicalwire.Capabilities {
			if c.Offer == "optional" {
				capabilities = append(capabilities, c.Name)
			}
		}
		for _, m := range canonicalwire.Methods {
			if m.Offer == "optional" {
				methods = append(methods, m.Name)
			}
		}
		lists, _ := json.Marshal(capabilities) // lists of strings have a JSON form
		names, _ := json.Marshal(methods)
		frame := strings.Replace(initialize(api), `"optional_capabilities":[]`, `"optional_capabilities":`+string(lists), 1)
		frame = strings.Replace(frame, `"optional_methods":[]`, `"optional_methods":`+string(names), 1)
		return strings.Replace(frame, `"hooks":[]`, `"hooks":["session_start","session_end"]`, 1)
	}
	var features []string
	for _, f := range featurewire.Features {
		if !f.Required && f.Name != featurewire.FeatureShortcuts { // whose answers these hosts do not wait for
			features = append(features, f.Name)
		}
	}
	var hooks []string
	for _, h := range featurewire.Hooks {
		hooks = append(hooks, h.Name)
	}
	offered, _ := json.Marshal(features)
	declared, _ := json.Marshal(hooks)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"api_version":"0.4","octet_version":"0.8.0","extension":%s,"workspace":"/w","capabilities":%s,`+
		`"contributes":{"tools":["do","later"],"commands":["go"],"hooks":%s,"ui":["header","footer"],"context":true,"tool_renderers":["tool"],"notifications":true,"confirmations":true,"presentation":true,"menu":true},`+
		`"host":{},"protocol":{"version":"0.4","required_features":["request_cancellation","content_parts"],"optional_features":%s,"limits":{"max_concurrent_requests":64}}}}`,
		identity, grants, declared, offered)
}

// exposed is an extension with a handler for everything, two tools that ask the host, and dynamic tools.
func exposed(api extension.API) *extension.Extension {
	var log lockedBuffer
	ignore := func(ctx context.Context, scope *extension.Scope) error {
		if api == extension.API03 {
			_, err := scope.V03().Session().Fork(ctx)
			return err
		}
		_, err := scope.Composer().Get(ctx)
		_, _ = scope.DynamicTools().Register(ctx, named("more", "x"))
		return err
	}
	if api == extension.API03 {
		ext := eager(api, ignore, make(chan error, 1<<16))
		ext.OnSessionStart(func(context.Context, extension.SessionStart) {})
		ext.OnProviderStream(nil, func(ctx context.Context, stream *extension.Inference) error { <-ctx.Done(); return ctx.Err() })
		ext.EventsV03().BusEvent(func(context.Context, canonicalwire.BusEventParams) {})
		ext.EventsV03().BusLifecycle(func(context.Context, canonicalwire.BusLifecycleParams) {})
		return ext
	}
	ext := whole(api, &log, func() error { return nil })
	ext.Events().MessageUpdated(func(context.Context, featurewire.MessageUpdatedParams) {})
	ext.Events().UIKey(func(context.Context, featurewire.UiKeyParams) {})
	ext.AddShortcut(extension.Shortcut{ID: "a:b", Key: "k", Description: "d", Run: func(context.Context, *extension.Scope) {}})
	for _, name := range []string{"do", "later"} {
		extension.AddTool(ext, name, "Asks the host", func(ctx context.Context, call *extension.Call, _ struct{}) (*extension.Result, error) {
			if name == "later" {
				call.After(ignore)
				return nil, nil
			}
			return nil, ignore(ctx, &call.Scope)
		})
	}
	return ext
}

// hostile are frames of a host that has lost its mind, behind initialize.
var hostile = []string{
	`{"jsonrpc":"2.0","id":"c-1","result":{}}`,
	`{"jsonrpc":"2.0","id":"c-1","result":{"text":7}}`,
	`{"jsonrpc":"2.0","id":"c-1","result":null,"error":{"code":1,"message":"x"}}`,
	`{"jsonrpc":"2.0","id":"c-1","error":{"code":"x"}}`,
	`{"jsonrpc":"2.0","id":"c-2","result":{"revision":9,"tools":["a","a"]}}`,
	`{"jsonrpc":"2.0","id":"c-99","result":{}}`,
	`{"jsonrpc":"2.0","id":99,"result":[]}`,
	`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"c-2"}}`,
	`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}`,
	`{"jsonrpc":"2.0","method":"$/cancelRequest","params":[]}`,
	`{"jsonrpc":"2.0","id":2,"method":"tool/call","params":{"name":"do","arguments":{},"context":{"workspace":"/w","execution_scope":null,"host":{}}}}`,
	`{"jsonrpc":"2.0","id":3,"method":"tool/call","params":{"name":"later","arguments":{},"catalog_revision":9007199254740991,"context":{"workspace":"/w","execution_scope":null,"host":{}}}}`,
	`{"jsonrpc":"2.0","id":"s","method":"tool/call","params":{"name":"later","arguments":{},"context":{"workspace":"/w","execution_scope":null,"resource_owner":{"session_id":"o","extension_instance_id":"i","process_generation":1},"host":{}}}}`,
	`{"jsonrpc":"2.0","id":4,"method":"hook/run","params":{"hook":"model_turn_end","payload":[],"context":{"workspace":"/w","execution_scope":null,"host":{}}}}`,
	`{"jsonrpc":"2.0","id":5,"method":"hook/run","params":{"hook":"before_prompt","payload":{"prompt":{}},"context":{"workspace":"/w","execution_scope":null,"host":{}}}}`,
	`{"jsonrpc":"2.0","id":6,"method":"ui/autocomplete/complete","params":{"text":"é","cursor":1,"revision":0}}`,
	`{"jsonrpc":"2.0","id":7,"method":"resource/dispose","params":{"resources":[{"$resource":"bad","type":"t"}],"reason":"retired"}}`,
	`{"jsonrpc":"2.0","id":8,"method":"menu/collect","params":null}`,
	`{"jsonrpc":"2.0","method":"shortcut/trigger","params":{"id":"nobody"}}`,
	`{"jsonrpc":"2.0","method":"message/updated","params":{"message_id":"m","delta":"d","deltas":-1}}`,
	`{"jsonrpc":"2.0","method":"ui/key"}`,
	`{"jsonrpc":"2.0","method":"session/settled","params":{"session_id":"","outcome":"completed","duration_ms":0}}`,
	`{"jsonrpc":"2.0","method":"provider/cancel","params":{"stream_id":"s"}}`,
	`{"id":2,"jsonrpc":"2.0","method":"provider/stream","params":{"model_id":"m","provider_id":"p","request":{},"stream_id":"s"}}`,
	`{"id":3,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{},"context":{},"name":"do"}}`,
	`{"jsonrpc":"2.0","method":"bus/event","params":{"binding_id":"b"}}`,
	`{"id":9,"jsonrpc":"2.0","method":"shutdown","params":{}}`,
	`[]`, `{`, ``, `null`, "\x00", `{"jsonrpc":"2.0","id":{},"method":"tool/call"}`,
}

// survives opens a session, sends frames and leaves. It fails if the session does not begin, or does not end.
func survives(t *testing.T, api extension.API, frames []byte) {
	synctest.Test(t, func(t *testing.T) {
		in, host := io.Pipe()
		out := &firstLine{first: make(chan string, 1)}
		done := make(chan error, 1)
		go func() { done <- exposed(api).Serve(t.Context(), in, out) }()
		if _, err := io.WriteString(host, offerAll(api)+"\n"); err != nil {
			t.Fatal(err)
		}
		if answer := <-out.first; !strings.Contains(answer, `"id":1,"jsonrpc":"2.0","result":`) {
			t.Errorf("initialize is answered with %s", answer)
		}
		go func() {
			_, _ = host.Write(frames) // it fails where the session has ended by itself
			_ = host.Close()
		}()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Error("the session goes on though the host has left")
		}
	})
}

// firstLine tells the first line that is written and drops the rest.
type firstLine struct {
	first chan string
	text  []byte
	told  bool
}

func (w *firstLine) Write(p []byte) (int, error) {
	if !w.told {
		w.text = append(w.text, p...)
		if line, _, whole := bytes.Cut(w.text, []byte("\n")); whole {
			w.told = true
			w.first <- string(line)
		}
	}
	return len(p), nil
}

func TestServe_survivesHostileHosts(t *testing.T) {
	for _, api := range []extension.API{extension.API04, extension.API03} {
		survives(t, api, []byte(strings.Join(hostile, "\n")+"\n"))
		for _, frame := range hostile {
			survives(t, api, []byte(strings.Repeat(frame+"\n", 300)))
		}
	}
}

func FuzzServe(f *testing.F) {
	for _, frame := range hostile {
		f.Add(true, []byte(frame+"\n"))
		f.Add(false, []byte(frame+"\n"))
	}
	f.Fuzz(func(t *testing.T, canonical bool, frames []byte) {
		api := extension.API04
		if canonical {
			api = extension.API03
		}
		survives(t, api, frames)
	})
}
