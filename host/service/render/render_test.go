package render

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

const drawing = "tools = [\"work\"]\ntool_renderers = [\"work\", \"read\"]"

// EXT04-RENDER-002, EXT04-RENDER-004.
func TestDraw(t *testing.T) {
	for _, api := range []string{featurewire.Version01, featurewire.Version02, featurewire.Version04} {
		plain := extensiontest.Start(t, extensiontest.Setup{API: api, Name: "plain"})
		rig := extensiontest.Start(t, extensiontest.Setup{API: api, Contributes: drawing})
		all := []*extension.Extension{plain.X, rig.X}
		if Find(all, "read") != rig.X || Find(all, "write") != nil {
			t.Error("the wrong extension draws")
		}
		var sent map[string]json.RawMessage
		answer := `{"segments":[{"text":"1","style_role":"good"},{"text":"2","style_role":null}]}`
		rig.Serve(featurewire.MethodToolRender, func(_ int64, params json.RawMessage) (any, error) {
			err := json.Unmarshal(params, &sent)
			return json.RawMessage(answer), err
		})
		asked := extension.Rendering{Tool: "read", Arguments: json.RawMessage(`{"path":"a"}`), Output: "text", IsError: true}
		segments, drawn := Draw(t.Context(), rig.X, asked)
		if !drawn || fmt.Sprint(segments) != "[{1 good} {2 }]" {
			t.Errorf("API %s: %v %t", api, segments, drawn)
		}
		if string(sent["name"]) != `"read"` || string(sent["arguments"]) != `{"path":"a"}` || string(sent["output"]) != `"text"` || string(sent["is_error"]) != "true" || sent["context"] == nil {
			t.Errorf("API %s: sent %s", api, sent)
		}
		for _, answer = range []string{`{}`, `{"segments":[{"text":7}]}`, `[]`, `{"segments":[{}]}`} {
			if segments, drawn := Draw(t.Context(), rig.X, asked); drawn || segments != nil {
				t.Errorf("API %s: %s is taken as %v", api, answer, segments)
			}
		}
		sent = nil
		asked.Tool = "write"
		if _, drawn := Draw(t.Context(), rig.X, asked); drawn || sent != nil {
			t.Error("an undeclared renderer was asked")
		}
	}
}

// EXT04-RENDER-003.
func TestDraw_waitsHalfASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := extensiontest.Start(t, extensiontest.Setup{Contributes: drawing})
		rig.Serve(featurewire.MethodToolRender, func(int64, json.RawMessage) (any, error) {
			rig.WaitTold(featurewire.MethodCancelRequest, 1)
			return nil, &extensiontest.RefuseError{Code: featurewire.CodeRequestCancelled, Message: "cancelled"}
		})
		begun := time.Now()
		_, drawn := Draw(context.Background(), rig.X, extension.Rendering{Tool: "work", Arguments: json.RawMessage(`{}`)})
		if took := time.Since(begun); drawn || took != featurewire.ToolRenderMs*time.Millisecond {
			t.Errorf("drawn %t after %s", drawn, took)
		}
	})
}
