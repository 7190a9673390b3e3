package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

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
